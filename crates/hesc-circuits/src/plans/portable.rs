//! Logarithms and roots that every platform rounds alike.
//!
//! What follows from a declaration is compared to the byte, by phones as well as by servers, and libraries of mathematics differ
//! in last bits. These are made of the operations that IEEE 754 rounds.

use std::f64::consts::{LN_2, SQRT_2};

/// What `LN_2` is rounded by.
const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
/// `2^27 + 1`, which cuts a double into halves.
const HALVES: f64 = 134_217_729.0;

/// An unrounded sum of two doubles, the second far smaller than the first.
type Pair = (f64, f64);

fn sum(a: f64, b: f64) -> Pair {
    let total = a + b;
    let own = total - a;
    (total, (a - (total - own)) + (b - own))
}

fn product(a: f64, b: f64) -> Pair {
    let halves = |x: f64| {
        let high = HALVES * x - (HALVES * x - x);
        (high, x - high)
    };
    let (total, (a, c), (b, d)) = (a * b, halves(a), halves(b));
    (total, ((a * b - total) + a * d + c * b) + c * d)
}

fn add(a: Pair, b: Pair) -> Pair {
    let (total, rest) = sum(a.0, b.0);
    sum(total, rest + (a.1 + b.1))
}

fn times(a: Pair, b: Pair) -> Pair {
    let (total, rest) = product(a.0, b.0);
    sum(total, rest + (a.0 * b.1 + a.1 * b.0))
}

fn over(a: Pair, b: Pair) -> Pair {
    let first = a.0 / b.0;
    let left = times((-first, 0.0), b);
    let rest = add(a, left);
    sum(first, rest.0 / b.0)
}

/// A positive normal number as `m 2^e`, `m` within a factor of the square root of two of one.
fn parts(x: f64) -> (f64, f64) {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > SQRT_2 { (m / 2.0, f64::from(exponent + 1)) } else { (m, f64::from(exponent)) }
}

/// The natural logarithm of a positive normal number, within a few units of the last place. Cost: some twenty operations.
pub(crate) fn ln_about(x: f64) -> f64 {
    let (m, exponent) = parts(x);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = (0..12).rev().fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    exponent * LN_2 + 2.0 * s * series
}

/// The natural logarithm of a positive normal number, rounded once.
pub(crate) fn ln(x: f64) -> f64 {
    let (m, exponent) = parts(x);
    let s = over((m - 1.0, 0.0), sum(m, 1.0));
    let square = times(s, s);
    let term = |k: i32| over((1.0, 0.0), (f64::from(2 * k + 1), 0.0));
    let series = (0..24).rev().fold((0.0, 0.0), |sum, k| add(times(sum, square), term(k)));
    let twice = times((2.0, 0.0), times(s, series));
    add(times((exponent, 0.0), (LN_2, LN_2_REST)), twice).0
}

/// The square root of a sum of squares, rounded once, of numbers whose squares neither overflow nor vanish.
pub(crate) fn hypot(a: f64, b: f64) -> f64 {
    let squares = add(product(a, a), product(b, b));
    let root = squares.0.sqrt();
    if root == 0.0 {
        return root;
    }
    let (whole, rest) = product(root, root);
    root + ((squares.0 - whole) + (squares.1 - rest)) / (2.0 * root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within a unit of the last place of what the platform has, which is one of its neighbours.
    fn near(found: f64, expected: f64, units: u64) {
        assert!(found.to_bits().abs_diff(expected.to_bits()) <= units, "{found}, {expected}");
    }

    #[test]
    fn logarithms_and_roots_are_those_of_libraries() {
        for x in (1..2000).map(|i| f64::from(i) * 1.37).chain([0.01, 0.7, 1.5, 1e9, 1e300]) {
            near(ln(x), x.ln(), 1);
            assert!((ln_about(x) - x.ln()).abs() <= 8.0 * f64::EPSILON * x.ln().abs().max(1.0));
        }
        for x in (1..2000).map(|i| f64::from(i) * 1.37).chain([0.01, 1e9, 1e150]) {
            near(hypot(x, 1000.0), x.hypot(1000.0), 1);
        }
        assert_eq!((ln(1.0), ln_about(1.0), ln(2.0)), (0.0, 0.0, LN_2));
        assert_eq!((hypot(3.0, 4.0), hypot(0.0, 0.0), hypot(5e7, 1.2e8)), (5.0, 0.0, 1.3e8));
    }
}
