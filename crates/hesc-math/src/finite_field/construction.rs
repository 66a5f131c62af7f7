//! A polynomial whose root generates the ring and is a root of unity.

use super::polynomial;
use super::quotient::{Quotient, candidate};
use crate::Modulus;
use crate::residues::Reducer;

/// The smallest `d > 0` with `p^d = 1` modulo `m`, `p` and `m` without a common divisor.
pub(super) fn order(p: u64, m: u64) -> usize {
    if m == 1 {
        return 1;
    }
    let modulus = Modulus::new(m);
    let powers = std::iter::successors(Some(p % m), |x| Some(modulus.mul(*x, p % m)));
    1 + powers.take_while(|&x| x != 1).count()
}

/// A monic factor of degree `d` of the `m`-th cyclotomic polynomial modulo `p^r`, without its leading coefficient,
/// `d` the order of `p` modulo `m`.
pub(super) fn factor(m: u64, p: u64, reducer: Reducer) -> Vec<u64> {
    let d = order(p, m);
    if crate::is_prime(m) && d as u64 == m - 1 {
        // All of the cyclotomic polynomial.
        return vec![1; d];
    }
    let field = Quotient::new(Reducer::new(p), irreducible(p, d));
    let modulo_p = minimal_polynomial(&field, &root_of_unity(&field, m));
    if reducer.value() == p {
        return modulo_p;
    }
    // Any lift of the polynomial makes the same ring; in it, powers of Y by ever higher powers of p^d come to the root
    // of unity that is Y modulo p (Teichmueller), r - 1 of them at most.
    let ring = Quotient::new(reducer, modulo_p);
    let mut root = ring.root();
    let mut power = reducer.value() / p;
    while power > 1 {
        for _ in 0..d {
            root = ring.power(&root, p);
        }
        power /= p;
    }
    minimal_polynomial(&ring, &root)
}

/// The first irreducible polynomial of this degree, without its leading coefficient.
fn irreducible(p: u64, degree: usize) -> Vec<u64> {
    let reducer = Reducer::new(p);
    let is_irreducible = |candidate: &Vec<u64>| {
        if candidate[0] == 0 {
            return degree == 1;
        }
        let quotient = Quotient::new(reducer, candidate.clone());
        let mut monic = candidate.clone();
        monic.push(1);
        // A factor of degree i divides Y^(p^i) - Y; most candidates have a small one.
        let mut image = quotient.root();
        (0..degree / 2).all(|_| {
            image = quotient.power(&image, p);
            let mut difference = image.clone();
            difference[1] = reducer.modulus().add(difference[1], p - 1);
            polynomial::inverse(&difference, &monic, reducer.modulus()).is_some()
        })
    };
    (1..).map(|number| candidate(number, p, degree)).find(is_irreducible).unwrap_or_default()
}

/// An element of order `m`, a divisor of `p^d - 1`.
fn root_of_unity(field: &Quotient, m: u64) -> Vec<u64> {
    let (p, d) = (field.reducer.value(), field.degree());
    let one = field.constant(1);
    let primes: Vec<u64> =
        (2..=m).filter(|l| m.is_multiple_of(*l) && crate::is_prime(*l)).collect();
    let power_of = |number: u64| {
        let base = candidate(number, p, d);
        // To the power (p^d - 1) / m, whose digits to the base p are those of 1 / m.
        let (mut remainder, mut root) = (1, one.clone());
        for _ in 0..d {
            remainder *= p;
            root = field.multiply(&field.power(&root, p), &field.power(&base, remainder / m));
            remainder %= m;
        }
        root
    };
    let has_order = |root: &Vec<u64>| {
        root.iter().any(|x| *x != 0) && primes.iter().all(|l| field.power(root, m / l) != one)
    };
    (1..).map(power_of).find(has_order).unwrap_or_default()
}

/// The monic polynomial of degree `d` that an element whose first `d` powers are a basis is a root of, without its
/// leading coefficient.
fn minimal_polynomial(ring: &Quotient, root: &[u64]) -> Vec<u64> {
    let (d, q) = (ring.degree(), ring.reducer.modulus());
    let powers = ring.powers(root, d + 1);
    // Column i is the i-th power, the last one negated.
    let row = |place: usize| -> Vec<u64> {
        let entries = powers.iter().enumerate();
        entries.map(|(i, power)| if i < d { power[place] } else { q.neg(power[place]) }).collect()
    };
    let mut rows: Vec<Vec<u64>> = (0..d).map(row).collect();
    solve(&mut rows, &ring.reducer);
    rows.iter().map(|row| row[d]).collect()
}

/// Turns the first columns of a system into the unit matrix, the last one into the solution. Pivots are units, which
/// a matrix that is regular modulo `p` has in every column.
fn solve(rows: &mut [Vec<u64>], reducer: &Reducer) {
    let q = reducer.modulus();
    for column in 0..rows.len() {
        let found = (column..rows.len())
            .find_map(|i| q.inverse_of_unit(rows[i][column]).map(|inverse| (i, inverse)));
        let Some((pivot, inverse)) = found else { return };
        rows.swap(column, pivot);
        for x in &mut rows[column] {
            *x = reducer.product(*x, inverse);
        }
        let pivot = rows[column].clone();
        for row in rows.iter_mut().enumerate().filter(|(i, _)| *i != column).map(|(_, row)| row) {
            let factor = q.neg(row[column]);
            for (x, &y) in row.iter_mut().zip(&pivot).filter(|_| factor != 0) {
                *x = q.add(*x, reducer.product(factor, y));
            }
        }
    }
}
