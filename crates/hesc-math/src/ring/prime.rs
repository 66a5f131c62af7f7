use std::ops::Deref;
use std::sync::Arc;

use super::{RingIndex, Transform};
use crate::MathError;
use crate::residues::{MAX_PRIME_BITS, Reducer};

/// A prime of one ring with its transform and constants. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Prime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    ring_degree: usize,
    reducer: Reducer,
    transform: Transform<u64>,
}

impl Prime {
    /// The prime `value` for this ring.
    ///
    /// # Errors
    /// [`MathError::Modulus`] if `value` is no prime below 2^61 that is 1 modulo
    /// [`RingIndex::modulus_step`]; [`MathError::WrongTransform`] for primes of 51 bits.
    pub fn new(index: RingIndex, value: u64) -> Result<Self, MathError> {
        if value >> MAX_PRIME_BITS != 0 {
            return Err(MathError::Modulus {
                modulus: value,
                max_bits: MAX_PRIME_BITS,
                step: index.modulus_step(),
            });
        }
        let transform = Transform::new(index, value)?;
        let reducer = Reducer::new(value);
        Ok(Self(Arc::new(Inner { ring_degree: index.degree(), reducer, transform })))
    }

    /// The ring degree of its transform.
    pub fn ring_degree(&self) -> usize {
        self.0.ring_degree
    }

    /// Coefficients to evaluations, in place. Powers of two: in bit-reversed order, place `i` holds the
    /// value at `root^(2 bitrev(i) + 1)`.
    pub fn forward(&self, row: &mut [u64]) {
        self.0.transform.forward(row);
    }

    /// Evaluations to coefficients, in place.
    pub fn inverse(&self, row: &mut [u64]) {
        self.0.transform.inverse(row);
    }

    /// Evaluations to coefficients times [`Self::unscaled_factor`], in place: where a constant
    /// follows anyway.
    pub fn inverse_unscaled(&self, row: &mut [u64]) {
        self.0.transform.inverse_unscaled(row);
    }

    /// What [`Self::inverse_unscaled`] leaves coefficients multiplied with, the same for all primes
    /// of a ring: `N` for powers of two.
    pub fn unscaled_factor(&self) -> u64 {
        self.0.transform.unscaled_factor()
    }

    /// The primitive `2N`-th root of unity of the transform of a power-of-two ring.
    pub fn root(&self) -> u64 {
        let mut x = vec![0; self.ring_degree()];
        x[1] = 1;
        self.forward(&mut x);
        // Place 0 holds the value of X at root^1.
        x[0]
    }
}

/// A prime reduces as any modulus does.
impl Deref for Prime {
    type Target = Reducer;

    fn deref(&self) -> &Reducer {
        &self.0.reducer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ntt_primes;

    #[test]
    fn transforms_are_evaluations_at_odd_powers_in_bit_reversed_order() {
        for bits in [30, 50, 60] {
            let n = 256;
            let index = RingIndex::power_of_two(n).unwrap();
            let prime = Prime::new(index, ntt_primes(bits, n, 1).unwrap()[0]).unwrap();
            let (q, root) = (prime.modulus(), prime.root());
            assert_eq!(q.pow(root, n as u64), prime.value() - 1);
            let mut words: Vec<u64> = (0..n as u64).map(|i| i * i % prime.value()).collect();
            let coefficients = words.clone();
            prime.forward(&mut words);
            for (i, &word) in words.iter().enumerate() {
                let point = q.pow(root, 2 * ((i as u64).reverse_bits() >> 56) + 1);
                let value = coefficients.iter().rev().fold(0, |v, &c| q.add(q.mul(v, point), c));
                assert_eq!(word, value, "{bits} bits, place {i}");
            }
            prime.inverse(&mut words);
            assert_eq!(words, coefficients);
        }
    }

    #[test]
    fn what_is_no_prime_of_the_ring_is_refused() {
        for index in [2048, 4369] {
            let index = RingIndex::new(index).unwrap();
            assert!(matches!(Prime::new(index, 97), Err(MathError::Modulus { .. })));
            let large = index.ntt_primes(62, 1).unwrap()[0];
            assert!(matches!(Prime::new(index, large), Err(MathError::Modulus { .. })));
        }
    }
}
