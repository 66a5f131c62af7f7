//! Linear feedback shift registers of maximal period.

use rand_core::Rng;

use super::round_at_random;
use crate::{Generator, StochasticError};

/// Registers shorter than this have too few polynomials to multiply with.
const MIN_DEGREE: u32 = 8;

/// A register in Galois form: the feedback word of a primitive polynomial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lfsr {
    degree: u32,
    feedback: u32,
}

impl Lfsr {
    /// The register of this dimension for streams of this length: its period `2^n - 1` is the
    /// first that is at least `length - 1`, and dimensions count the primitive polynomials of
    /// degree `n` from the smallest.
    pub fn new(dimension: u32, length: usize) -> Result<Self, StochasticError> {
        let degree = (length as u32).next_power_of_two().ilog2().max(MIN_DEGREE);
        let order = (1u64 << degree) - 1;
        let primes = prime_factors(order);
        let mut available = 0;
        for low in (1..1u64 << degree).step_by(2) {
            let polynomial = 1 << degree | low;
            if is_primitive(polynomial, degree, order, &primes) {
                if available == dimension {
                    // Shifting right, the feedback is the polynomial reversed, without its
                    // constant term.
                    let reversed = (polynomial.reverse_bits() >> (63 - degree)) as u32;
                    return Ok(Self { degree, feedback: reversed >> 1 | 1 << (degree - 1) });
                }
                available += 1;
            }
        }
        Err(StochasticError::Dimension { generator: Generator::Lfsr, dimension, available })
    }

    /// Sets bit `i` where the state after `i` steps is at most `p (2^n - 1)`, from a random
    /// state on.
    pub fn fill(self, row: &mut [u64], length: usize, p: f64, rng: &mut impl Rng) {
        let period = (1u32 << self.degree) - 1;
        let threshold = round_at_random(p * f64::from(period), rng).min(u64::from(period)) as u32;
        let mut state = 1 + ((u64::from(period) * (rng.next_u64() >> 32)) >> 32) as u32;
        for (w, word) in row.iter_mut().enumerate() {
            for i in 0..(length - 64 * w).min(64) {
                *word |= u64::from(state <= threshold) << i;
                state = self.step(state);
            }
        }
    }

    fn step(self, state: u32) -> u32 {
        state >> 1 ^ (self.feedback & (state & 1).wrapping_neg())
    }
}

/// `a b mod m` for polynomials over GF(2).
fn multiply(mut a: u64, mut b: u64, modulus: u64, degree: u32) -> u64 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        b >>= 1;
        a <<= 1;
        if a >> degree & 1 == 1 {
            a ^= modulus;
        }
    }
    product
}

/// Whether `x` has order `2^n - 1` modulo the polynomial.
fn is_primitive(polynomial: u64, degree: u32, order: u64, primes: &[u64]) -> bool {
    let power = |mut exponent: u64| {
        let (mut result, mut square) = (1, 2);
        while exponent != 0 {
            if exponent & 1 == 1 {
                result = multiply(result, square, polynomial, degree);
            }
            square = multiply(square, square, polynomial, degree);
            exponent >>= 1;
        }
        result
    };
    power(order) == 1 && primes.iter().all(|prime| power(order / prime) != 1)
}

fn prime_factors(mut n: u64) -> Vec<u64> {
    let mut factors = Vec::new();
    let mut candidate = 3;
    while candidate * candidate <= n {
        if n.is_multiple_of(candidate) {
            factors.push(candidate);
            while n.is_multiple_of(candidate) {
                n /= candidate;
            }
        }
        candidate += 2;
    }
    if n > 1 {
        factors.push(n);
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dimension_runs_through_all_states() {
        // Degree 8 has phi(255) / 8 = 16 primitive polynomials, degree 10 has 60.
        for (length, available) in [(256, 16), (1024, 60)] {
            for dimension in 0..available {
                let lfsr = Lfsr::new(dimension, length).unwrap();
                let mut state = 1;
                let period = (1..).find(|_| {
                    state = lfsr.step(state);
                    state == 1
                });
                assert_eq!(period, Some(length as u32 - 1));
            }
            let refused = Lfsr::new(available, length).unwrap_err();
            let generator = Generator::Lfsr;
            let expected =
                StochasticError::Dimension { generator, dimension: available, available };
            assert_eq!(refused, expected);
        }
    }
}
