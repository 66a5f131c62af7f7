//! Noise, from public data.
//!
//! In sets for streams a ciphertext's noise polynomial is described by one number: a *deviation* `d` such that every
//! coefficient is sub-Gaussian with parameter `d`, but for a few per cent by which the key's own norm
//! scatters. Sub-Gaussian parameters obey the triangle inequality, so that adding them bounds a sum even of dependent ciphertexts (`a + a`); for
//! independent ones the true deviation grows with the square root only. A Gaussian value is out by
//! more than [`TAILS`] deviations with probability 2.6e-12: a block of 1024 values whose bound is
//! tight and at its limit decrypts wrongly, or is refused, with probability 2.6e-9.

use hesc_math::sampling::NOISE_STANDARD_DEVIATION;

/// Deviations that must fit below the limit in sets for streams of bits, whose decryption sees most failures;
/// vectors that multiply have the more cautious number of `rlwe::noise`.
pub const TAILS: f64 = 7.0;
/// Share of a count's size that noise may reach. One half would still round correctly; the rest
/// lets decryption tell damaged ciphertexts, whose values fall anywhere, from good ones.
pub const LIMIT: f64 = 0.4375;

/// Deviation of a public-key encryption: `e u + e_0 + e_1 s`, `u` and `s` uniform ternary
/// (variance 2/3).
pub fn public_key_deviation(ring_degree: usize) -> f64 {
    NOISE_STANDARD_DEVIATION * (4.0 / 3.0 * ring_degree as f64 + 1.0).sqrt()
}

/// Deviation of a secret-key encryption: the noise itself.
pub fn secret_key_deviation() -> f64 {
    NOISE_STANDARD_DEVIATION
}

/// Deviation that rounding both parts to integers adds: `r_0 + r_1 s`, `r` uniform in
/// [-1/2, 1/2] (variance 1/12).
pub fn rounding_deviation(ring_degree: usize) -> f64 {
    ((1.0 + 2.0 / 3.0 * ring_degree as f64) / 12.0).sqrt()
}

/// `log2` of how often `reach` deviations fit below the limit; negative if it does not.
pub fn budget(deviation: f64, reach: f64, scale: f64) -> f64 {
    (LIMIT * scale / (reach * deviation)).log2()
}
