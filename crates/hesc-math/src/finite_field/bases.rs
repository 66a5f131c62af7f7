//! Bases of a ring over its numbers, and those dual to them.

use super::galois_ring::{GaloisRing, lifted};
use super::polynomial;
use super::quotient::{Quotient, candidate, digits};
use crate::Modulus;

/// Powers of the generator whose sums are tried.
const SUMS: usize = 20;

impl GaloisRing {
    /// What the powers `1, Y, ..., Y^(d - 1)` are dual to: `trace(a_i Y^j)` is 1 for `i = j` and 0 otherwise, so
    /// that `trace(a_i x)` is the coefficient of `Y^i` in `x`.
    ///
    /// This is the first column of the inverse of the Vandermonde matrix of the conjugates of `Y`; the others are
    /// its images under the Frobenius map (`carpov2016packing`, equation (4)). With
    /// `f(Z) / (Z - Y) = b_0 + b_1 Z + ...` by Horner's rule, `a_i = b_i / f'(Y)`. Cost: `d` products, and `2 d` by `Y`.
    pub fn dual_basis(&self) -> Vec<Vec<u64>> {
        let polynomial: Vec<_> = self.polynomial().iter().map(|&c| self.constant(c)).collect();
        let (quotient, derivative) = self.divided_by_root(&polynomial, &self.root());
        // Roots of unity of an order without p are simple, so that it is a unit.
        let inverse = self.inverse(&derivative).unwrap_or_default();
        quotient.iter().map(|b| self.multiply(b, &inverse)).collect()
    }

    /// A monic polynomial, given without its leading coefficient, divided by `Z - root`, and the value of the quotient
    /// there, which is the polynomial's derivative. Cost: `2 (d - 1)` products by the root.
    pub(super) fn divided_by_root(
        &self,
        polynomial: &[Vec<u64>],
        root: &[u64],
    ) -> (Vec<Vec<u64>>, Vec<u64>) {
        let mut quotient = vec![self.constant(1); polynomial.len()];
        for i in (1..polynomial.len()).rev() {
            quotient[i - 1] = self.add(&self.multiply(root, &quotient[i]), &polynomial[i]);
        }
        let value = |value: Vec<u64>, b: &Vec<u64>| self.add(&self.multiply(root, &value), b);
        let derivative = quotient.iter().rev().skip(1).fold(self.constant(1), value);
        (quotient, derivative)
    }

    /// An element whose conjugates are a basis, and the one whose conjugates are dual to it. The first of those
    /// that numbers stand for by their digits to the base `p`.
    ///
    /// With `t_k = trace(x sigma^k(x))` the second is `sum_j c_j sigma^j(x)`, `c` the inverse of `t` under cyclic
    /// convolution. Cost: about `d` products for each candidate, of which most will do where the index is squarefree.
    pub fn normal_basis(&self) -> (Vec<u64>, Vec<u64>) {
        let (d, p, q) = (self.degree(), self.prime(), self.modulus());
        let mut minus_one = vec![0; d];
        minus_one[0] = q.value() - 1;
        let cyclic = Quotient::new(self.reducer(), minus_one);
        let pair = |element: Vec<u64>| {
            let conjugates = self.conjugates(&element);
            let traces: Vec<u64> = conjugates
                .iter()
                .map(|image| self.trace(&self.multiply(&element, image)))
                .collect();
            let modulo_p: Vec<u64> = traces.iter().map(|x| x % p).collect();
            let mut circle = vec![0; d + 1];
            (circle[0], circle[d]) = (p - 1, 1);
            let mut inverse = polynomial::inverse(&modulo_p, &circle, Modulus::new(p))?;
            inverse.resize(d, 0);
            let inverse = lifted(&cyclic, &traces, inverse, self.exponent());
            Some((element, self.combination(&conjugates, &inverse)))
        };
        // Numbers have one conjugate: with others than themselves to tell apart, the search begins behind them.
        let first = if d == 1 { 1 } else { 2 };
        // Sums of powers first: elements that differ by a number only may all fail, and large primes have many.
        let sums = (first..1 << d.min(SUMS)).map(|number| digits(number, 2, d));
        let others = (p..).map(|number| candidate(number, p, d));
        sums.chain(others).find_map(pair).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dual_bases_tell_coefficients_apart() {
        for (index, prime, power) in [
            (17, 2, 1),
            (17, 2, 10),
            (31, 3, 4),
            (5, 31, 1),
            (1, 2, 3),
            (255, 2, 1),
            (51, 2, 3),
            (85, 1_000_003, 1),
        ] {
            let ring = GaloisRing::new(index, prime, power).unwrap();
            let powers = std::iter::successors(Some(ring.constant(1)), |x| {
                Some(ring.multiply(x, &ring.root()))
            });
            let powers: Vec<Vec<u64>> = powers.take(ring.degree()).collect();
            let (normal, dual_normal) = ring.normal_basis();
            let bases = [
                (powers, ring.dual_basis()),
                (ring.conjugates(&normal), ring.conjugates(&dual_normal)),
            ];
            for (basis, dual) in bases {
                for (i, a) in dual.iter().enumerate() {
                    for (j, x) in basis.iter().enumerate() {
                        let expected = u64::from(i == j);
                        assert_eq!(ring.trace(&ring.multiply(a, x)), expected, "{index}: {i}, {j}");
                    }
                }
            }
        }
    }
}
