//! Variances of noise, in units of the torus (Chillotti, Gama, Georgieva and Izabachène 2020 §4; the
//! constant of the Fourier transform's rounding is the `tfhe` crate's).
//!
//! Sums add deviations, not variances. Ciphertexts of one key are rarely independent: a bit may be added to
//! itself, to its copy with fresh randomness or to what the same lookup gave a second time, and even fresh
//! encryptions under one public key share a quarter of their variance, the mean of their binary masks times
//! the key's noise. By the triangle inequality deviations bound all of these.

use super::params::Decomposition;
use super::{GRID, Spec};

/// By how much the variance of a bootstrap may be above the formula: one of single bootstraps, each with
/// its key, scatters around it.
const MARGIN: f64 = 1.25;

/// Deviations that noise must stay below its limit by: beyond that, any of 2^32 values lies with
/// probability below 2^-128.
const DEVIATIONS: f64 = 15.0;

/// Bits of a double that count in the Fourier transforms.
const MANTISSA: f64 = 53.0;

/// What encrypted bits and bootstraps do to noise: variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Of a bit, fresh or from a bootstrap, whichever is larger.
    pub bit: f64,
    /// What a bootstrap adds before it looks up one table, and two.
    pub lookup: [f64; 2],
    /// What packing adds to a bit.
    pub(super) packing: f64,
    /// Of a bit fresh from the secret key.
    pub(super) secret: f64,
    /// Of a bit fresh from the public key.
    pub(super) public: f64,
}

impl Noise {
    pub(super) fn of(spec: &Spec) -> Self {
        let (ring, lwe) = (square(spec.log2_ring_noise), square(spec.log2_lwe_noise));
        let (n, big) = (spec.lwe_dimension as f64, spec.ring_degree as f64);
        // `r e + s e' + e''` with binary `r` and `s`.
        let public = ring * (big + 1.0);
        let switched = digits(spec.keyswitch, big, 1.0, lwe);
        let rounded = |positions: f64| n / 48.0 / (positions * positions);
        Self {
            bit: public.max(MARGIN * n * external_product(spec.bootstrap, big, ring)),
            // The exponents of the ring's unit are its positions; two tables lie side by side.
            lookup: [2.0 * big, big].map(|positions| switched + rounded(positions)),
            packing: switched + digits(spec.packing, n, big, ring),
            secret: ring,
            public,
        }
    }
}

fn square(log2_deviation: f64) -> f64 {
    (2.0 * log2_deviation).exp2()
}

/// What a switch of keys adds: `terms` digits of a secret's bits each, `sums` of them in a position, and
/// the rounding below the last digit of half of the secret's bits.
fn digits(decomposition: Decomposition, terms: f64, sums: f64, key: f64) -> f64 {
    let (base, levels) = (decomposition.base(), f64::from(decomposition.levels));
    levels * terms * sums * key * (base * base / 12.0 + 1.0 / 6.0)
        + terms / 24.0 * base.powf(-2.0 * levels)
}

/// What one step of a blind rotation adds.
fn external_product(decomposition: Decomposition, ring_degree: f64, key: f64) -> f64 {
    let (base, levels) = (decomposition.base(), f64::from(decomposition.levels));
    let transform = 0.00705
        * (2.0 * (64.0 - MANTISSA) + 2.0 * f64::from(decomposition.base_log) - 128.0).exp2()
        * levels.powf(1.01827)
        * ring_degree.powf(2.22003)
        * 2f64.powf(1.01827);
    let key = levels * ring_degree * key * (base * base / 12.0 + 1.0 / 6.0) * 2.0;
    let rounding = (ring_degree / 2.0 + 1.0) / 24.0 * base.powf(-2.0 * levels);
    transform + key + rounding
}

/// Half of half of the distance between two plaintexts: noise beyond that is refused.
pub(super) fn limit(plain_modulus: u64) -> f64 {
    0.25 / plain_modulus as f64
}

/// The variance of a weighted sum, at most: of each term the weight and the variance.
pub(super) fn of_sum(terms: impl IntoIterator<Item = (u64, f64)>) -> f64 {
    let deviation = |(weight, variance): (u64, f64)| weight as f64 * variance.sqrt();
    terms.into_iter().map(deviation).sum::<f64>().powi(2)
}

/// Bits of room: `log2` of the limit over [`DEVIATIONS`] of the noise.
pub(super) fn budget(variance: f64, plain_modulus: u64) -> f64 {
    (limit(plain_modulus) / (DEVIATIONS * variance.sqrt())).log2()
}

/// What rounding a ring element to so many bits adds, for a binary secret.
pub(super) fn rounding(ring_degree: usize, bits: u32) -> f64 {
    (ring_degree as f64 / 2.0 + 1.0) / 12.0 * (-2.0 * f64::from(bits)).exp2()
}

/// The weight that makes a parity of a count.
pub(super) const PARITY_WEIGHT: u64 = GRID / super::PARITY;

#[cfg(test)]
mod tests {
    use ::tfhe::core_crypto::commons::noise_formulas::{
        centered_mean_shifted_modulus_switch::centered_binary_shifted_modulus_switch_additive_variance_impl as rounded,
        lwe_keyswitch::keyswitch_additive_variance_132_bits_security_gaussian_impl as switched,
        lwe_packing_keyswitch::packing_keyswitch_additive_variance_132_bits_security_gaussian_impl as packed,
        lwe_programmable_bootstrap::pbs_variance_132_bits_security_gaussian_fft_mul_impl as bootstrapped,
    };

    use super::*;

    #[test]
    fn formulas_are_those_of_the_crate() {
        let spec = crate::streams::tfhe::tests::secure();
        let noise = Noise::of(&spec);
        let (n, big, q) = (spec.lwe_dimension as f64, spec.ring_degree as f64, 64f64.exp2());
        let digits = |d: Decomposition| (d.base(), f64::from(d.levels));
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        let (base, levels) = digits(spec.bootstrap);
        close(noise.bit, MARGIN * bootstrapped(n, 1.0, big, base, levels, MANTISSA, q));
        let (base, levels) = digits(spec.keyswitch);
        let switch = switched(big, n, base, levels, q, q);
        close(noise.lookup[0], switch + rounded(n, q, 2.0 * big));
        close(noise.lookup[1], switch + rounded(n, q, big));
        let (base, levels) = digits(spec.packing);
        close(noise.packing, switch + packed(n, 1.0, big, base, levels, big, q));
    }
}
