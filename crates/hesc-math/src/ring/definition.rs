//! The rings by their definition, for tests: polynomials modulo `Phi_m` in powers of `X`, multiplied term
//! by term.

use super::RingIndex;
use crate::Modulus;

/// Indices that tests run through: powers of two, primes (of Fermat and not) and products of two to four.
pub(crate) const INDICES: [usize; 9] = [512, 3, 17, 31, 67, 15, 21, 255, 1155];

/// The coefficients of `Phi_m`, which is `X^m - 1` divided by `Phi_d` for all smaller divisors `d`.
fn cyclotomic(index: usize) -> Vec<i64> {
    let mut quotient = vec![0; index + 1];
    (quotient[0], quotient[index]) = (-1, 1);
    for d in (1..index).filter(|d| index.is_multiple_of(*d)) {
        let divisor = cyclotomic(d);
        let mut rest = quotient;
        quotient = vec![0; rest.len() - divisor.len() + 1];
        for i in (0..quotient.len()).rev() {
            quotient[i] = rest[i + divisor.len() - 1];
            for (j, c) in divisor.iter().enumerate() {
                rest[i + j] -= quotient[i] * c;
            }
        }
    }
    quotient
}

pub(crate) struct Definition {
    pub index: RingIndex,
    pub q: Modulus,
    phi: Vec<i64>,
}

impl Definition {
    pub fn new(index: usize, q: u64) -> Self {
        let phi = cyclotomic(index);
        Self { index: RingIndex::new(index).unwrap(), q: Modulus::new(q), phi }
    }

    /// The remainder of a sum of terms `c X^e`, in powers of `X`.
    pub fn reduced(&self, terms: impl Iterator<Item = (usize, u64)>) -> Vec<u64> {
        let (m, q) = (self.index.value(), self.q);
        let mut sum = vec![0; m];
        for (e, c) in terms {
            sum[e % m] = q.add(sum[e % m], c);
        }
        let degree = self.phi.len() - 1;
        for top in (degree..m).rev() {
            let quotient = sum[top];
            for (x, &c) in sum[top - degree..=top].iter_mut().zip(&self.phi) {
                *x = q.add(*x, q.neg(q.mul(quotient, q.reduce_signed(c))));
            }
        }
        sum.truncate(degree);
        sum
    }

    /// An element by its coefficients in the ring's basis.
    pub fn element(&self, coefficients: &[u64]) -> Vec<u64> {
        self.image(coefficients, 1)
    }

    /// Its image under `X -> X^element`.
    pub fn image(&self, coefficients: &[u64], element: usize) -> Vec<u64> {
        let exponents = self.index.exponents().into_iter().map(|e| e * element);
        self.reduced(exponents.zip(coefficients.iter().copied()))
    }

    /// The product of two elements.
    pub fn product(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let q = self.q;
        let row = |(i, &x): (usize, &u64)| {
            b.iter().enumerate().map(move |(j, &y)| (i + j, q.mul(x, y))).collect::<Vec<_>>()
        };
        self.reduced(a.iter().enumerate().flat_map(row))
    }
}

/// Residues that nothing is known of.
pub(crate) fn random(count: usize, q: u64, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 2
    };
    (0..count).map(|_| next() % q).collect()
}
