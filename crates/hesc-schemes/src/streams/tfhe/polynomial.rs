//! Arithmetic of ring elements, and noise.

use ::tfhe::core_crypto::algorithms::polynomial_algorithms::polynomial_karatsuba_wrapping_mul;
use ::tfhe::core_crypto::commons::math::random::{DefaultRandomGenerator, RandomGenerator, Seed};
use ::tfhe::core_crypto::prelude::Polynomial;
use rand_core::CryptoRng;

/// `out = a b`, modulo `X^N + 1` and `2^64`. Free of branches on coefficients.
pub(super) fn multiply(out: &mut [u64], a: &[u64], b: &[u64]) {
    polynomial_karatsuba_wrapping_mul(
        &mut Polynomial::from_container(out),
        &Polynomial::from_container(a),
        &Polynomial::from_container(b),
    );
}

/// `out += a`.
pub(super) fn add_assign(out: &mut [u64], a: &[u64]) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = out.wrapping_add(*a));
}

/// `out += weight a`.
pub(super) fn add_scaled(out: &mut [u64], weight: u64, a: &[u64]) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = out.wrapping_add(weight.wrapping_mul(*a)));
}

/// `out += a X^places`, modulo `X^N + 1`; `places` is below `N`.
pub(super) fn add_rotated(out: &mut [u64], a: &[u64], places: usize) {
    let (stay, wrap) = a.split_at(a.len() - places);
    add_assign(&mut out[places..], stay);
    add_scaled(&mut out[..places], u64::MAX, wrap);
}

/// 128 bits for the crate's generators, which give as much security.
pub(super) fn seed(rng: &mut impl CryptoRng) -> u128 {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    u128::from_le_bytes(bytes)
}

/// Random bits, one a word.
pub(super) fn fill_binary(words: &mut [u64], rng: &mut impl CryptoRng) {
    for words in words.chunks_mut(64) {
        let bits = rng.next_u64();
        words.iter_mut().enumerate().for_each(|(i, word)| *word = bits >> i & 1);
    }
}

/// Gaussian noise on the torus.
pub(super) struct Gaussian(RandomGenerator<DefaultRandomGenerator>);

impl Gaussian {
    /// Seeded by a cryptographic generator.
    pub(super) fn new(rng: &mut impl CryptoRng) -> Self {
        Self(RandomGenerator::new(Seed(seed(rng))))
    }

    /// Adds noise of this deviation.
    pub(super) fn add(&mut self, words: &mut [u64], log2_deviation: f64) {
        self.0.unsigned_torus_slice_wrapping_add_random_gaussian_assign(
            words,
            0.0,
            log2_deviation.exp2(),
        );
    }
}
