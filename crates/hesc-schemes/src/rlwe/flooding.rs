//! Noise flooding: Gaussian noise that hides what an error would tell. Li, Micciancio, Schultz and Sorrell 2022 ("Securing
//! Approximate Homomorphic Encryption Using Differential Privacy"). With a deviation of `sqrt(12 tau) 2^(s/2)`
//! bounds, `tau` numbers that are shown in all tell the errors from none with a divergence of `2^-s / 24`.

use hesc_math::ring::Prime;
use rand_core::CryptoRng;

use crate::gaussian::{self, gaussian_pair};

/// Bits of statistical security, at least.
pub const LEAST_STATISTICAL_BITS: u32 = 40;
/// Deviations that no number of a flood is beyond.
pub const LARGEST_GAUSSIAN: f64 = gaussian::LARGEST;
/// The same of noise whose radius comes from 64 bits.
pub const LARGEST_LONG_GAUSSIAN: f64 = gaussian::LARGEST_LONG;

/// The deviation that hides so many numbers' errors, each within one bound, in units of that bound.
pub fn flooding_factor(answers: u64, statistical_bits: u32) -> f64 {
    (12.0 * answers as f64).sqrt() * (f64::from(statistical_bits) / 2.0).exp2()
}

/// `words += round(deviation x)`, `x` normal, modulo primes that leave room for [`LARGEST_GAUSSIAN`] of them: words modulo
/// one prime after the other, and one `x` for the residues of a number.
pub(crate) fn flood(words: &mut [u64], deviation: f64, primes: &[Prime], rng: &mut impl CryptoRng) {
    let numbers = words.len() / primes.len();
    for first in (0..numbers).step_by(2) {
        let noise = gaussian_pair(rng);
        for (at, x) in (first..numbers).zip([noise.re, noise.im]) {
            let x = (x * deviation).round_ties_even() as i64;
            for (prime, q) in primes.iter().enumerate() {
                let word = &mut words[prime * numbers + at];
                let sum = *word + (x as u64).wrapping_add(q.value() & (x >> 63) as u64);
                *word = sum.min(sum.wrapping_sub(q.value()));
            }
        }
    }
}
