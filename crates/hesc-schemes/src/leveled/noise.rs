//! How noise grows, from public data.
//!
//! A ciphertext's noise is described by a *deviation*: every coefficient is sub-Gaussian with this
//! parameter, which adds linearly whatever depends on what. What counts as noise:
//!
//! - BFV: `v` in `c_0 + c_1 s = (Q / t) m + v` modulo `Q`; decrypts while `|v| < Q / 2t`;
//! - BGV: all of `c_0 + c_1 s = m + t e`; decrypts while it is below `Q / 2`;
//! - CKKS: the error of a coefficient of `scale * m`; there is no limit but that message and error
//!   stay below `Q / 2`, which is why the *magnitude*, a bound on the numbers, travels with it.
//!
//! Products follow the average case, with a margin ([`PRODUCT_MARGIN`]) and a correction for factors
//! that are not independent: at a root of unity a polynomial of random coefficients is a complex
//! Gaussian number, whose `k`-th power has `k!` times the variance of a product of `k` independent
//! ones. The *degree* says how many such factors noise may have: powers of the secret in BFV (each
//! product adds one), of the noise itself in BGV (they add up). `tests/leveled.rs` holds the
//! estimates against measured noise over random circuits.

use super::{Ciphertext, Leveled, SchemeKind};
use crate::SchemeError;
use crate::rlwe::Plaintext;
use crate::rlwe::noise::{LIMIT, TAILS};

/// Factor on the average-case noise of a product.
const PRODUCT_MARGIN: f64 = 2.0;

/// Deviations that bound a slot: exceeded with probability 7e-13.
const SLOT_TAILS: f64 = 14.0;

/// What is known of a ciphertext's noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Noise {
    /// Sub-Gaussian parameter of a coefficient.
    pub deviation: f64,
    /// Bound on the absolute value of the numbers in the slots (CKKS; otherwise 0).
    pub magnitude: f64,
    /// Factors that may be the same, see above; at least 1.
    pub degree: u32,
}

impl Noise {
    /// Of a sum, whatever depends on what.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            deviation: self.deviation + other.deviation,
            magnitude: self.magnitude + other.magnitude,
            degree: self.degree.max(other.degree),
        }
    }

    /// After a product with an integer plaintext of this norm, which may have been a factor before,
    /// and noise of its own.
    pub(super) fn times_plain(self, norm: f64, own: f64) -> Self {
        let deviation = correction(self.degree, 1) * norm * self.deviation + own;
        Self { deviation, degree: self.degree.saturating_add(1), ..self }
    }

    /// With further noise of its own.
    pub(super) fn with(self, deviation: f64) -> Self {
        Self { deviation: self.deviation + deviation, ..self }
    }
}

/// The root of `(a + b)! / (a! b!)`: the correction for a product of noises of these degrees.
fn correction(a: u32, b: u32) -> f64 {
    (1..=b.min(a)).map(|i| f64::from(a.max(b) + i) / f64::from(i)).product::<f64>().sqrt()
}

impl Leveled {
    fn degree(&self) -> f64 {
        self.ring_degree() as f64
    }

    /// `log2` of the product of the primes of a level.
    pub(super) fn log2_level(&self, level: usize) -> f64 {
        self.chain().level(level).iter().map(|q| (q.value() as f64).log2()).sum()
    }

    /// The plaintext modulus as a number, 1 for CKKS.
    pub(super) fn plain_factor(&self) -> f64 {
        match self.spec().plaintext {
            Plaintext::Integers { plain_modulus } => plain_modulus as f64,
            Plaintext::Approximate { .. } => 1.0,
        }
    }

    /// The factor on all noise: `t` in BGV.
    pub(super) fn noise_factor(&self) -> f64 {
        if self.scheme() == SchemeKind::Bgv { self.plain_factor() } else { 1.0 }
    }

    /// What a plaintext itself adds to the noise: all of it in BGV, its rounding otherwise.
    pub(super) fn plain_deviation(&self) -> f64 {
        if self.scheme() == SchemeKind::Bgv { self.plain_factor() / 2.0 } else { 0.5 }
    }

    /// What rounding each of `size` parts adds, in units of the noise: deviations of
    /// `r_0 + r_1 s + r_2 s^2 + ...`, `r` uniform in [-1/2, 1/2]. A power `s^i` at a root of unity has
    /// the mean square `i! (2N/3)^i`, as that of a complex Gaussian number.
    pub(super) fn rounding(&self, size: usize) -> f64 {
        let variance = 2.0 / 3.0 * self.degree();
        let powers = (1..size).scan(1.0, |power, i| {
            *power *= i as f64 * variance;
            Some(*power)
        });
        self.noise_factor() * ((1.0 + powers.sum::<f64>()) / 12.0).sqrt()
    }

    /// The noise after a division by a prime. What was there keeps its degree unless the rounding
    /// covers even a power's tails.
    pub(super) fn divided_noise(&self, a: &Ciphertext, prime: f64) -> Noise {
        let (before, rounding) = (a.noise.deviation / prime, self.rounding(a.size));
        let tails: f64 = (1..=a.noise.degree.min(64)).map(f64::from).product::<f64>().sqrt();
        // The rounding itself has the powers of the secret that the parts have.
        let own = a.size as u32 - 1;
        let degree = if before * tails < rounding { own } else { a.noise.degree.max(own) };
        Noise { deviation: before + rounding, degree, ..a.noise }
    }

    /// The noise of key switching a polynomial at a level.
    pub(super) fn switching_deviation(&self, level: usize) -> f64 {
        let chain = self.chain();
        let special: f64 = chain.special().iter().map(|p| p.value() as f64).product();
        let digits = (0..chain.digit_count(level)).map(|digit| {
            let primes = &chain.primes()[chain.digit(digit, level)];
            let size: f64 = primes.iter().map(|q| q.value() as f64).product();
            size * size / 12.0
        });
        let variance = self.degree() * digits.sum::<f64>();
        let noise = variance.sqrt() * hesc_math::sampling::NOISE_STANDARD_DEVIATION / special;
        self.noise_factor() * noise + self.rounding(2)
    }

    /// The noise of a product of ciphertexts before relinearisation.
    pub(super) fn product_noise(&self, a: &Ciphertext, b: &Ciphertext) -> Noise {
        let (n, t) = (self.degree(), self.plain_factor());
        let (x, y) = (a.noise, b.noise);
        match self.scheme() {
            SchemeKind::Bfv => {
                // t (v_1 k_2 + v_2 k_1) + m_1 v_2 + m_2 v_1 + t v_1 v_2 / Q, k the multiples of Q
                // that c_0 + c_1 s + ... exceeds it by: coefficients as those of a rounding.
                let cross = |x: &Ciphertext, y: &Ciphertext| {
                    let (noise, powers) = (x.noise, y.size as u32 - 1);
                    let exceeding = self.rounding(y.size) + 0.5;
                    correction(noise.degree, powers) * exceeding * noise.deviation
                };
                let relative = 1.0 / self.log2_level(a.level).exp2();
                let both = correction(x.degree, y.degree) * relative * x.deviation * y.deviation;
                let product = PRODUCT_MARGIN * t * n.sqrt() * (cross(a, b) + cross(b, a) + both);
                let rounding = self.rounding(a.size + b.size - 1) + self.rounding(2);
                let degree = (x.degree + b.size as u32 - 1).max(y.degree + a.size as u32 - 1);
                Noise { deviation: product + rounding, magnitude: 0.0, degree }
            }
            SchemeKind::Bgv => {
                // Plaintexts need not be random: their product is bounded by its largest value.
                let plain = n * (t / 2.0).powi(2);
                let product = PRODUCT_MARGIN
                    * correction(x.degree, y.degree)
                    * n.sqrt()
                    * x.deviation
                    * y.deviation;
                let degree = x.degree.saturating_add(y.degree);
                Noise { deviation: product + plain, magnitude: 0.0, degree }
            }
            SchemeKind::Ckks => {
                let message = |c: &Ciphertext| c.noise.magnitude * c.scale;
                let deviation = message(a) * y.deviation
                    + message(b) * x.deviation
                    + n.sqrt() * x.deviation * y.deviation;
                Noise {
                    deviation: PRODUCT_MARGIN * deviation,
                    magnitude: x.magnitude * y.magnitude,
                    degree: 1,
                }
            }
        }
    }

    /// `log2` of how often the noise, with the message in CKKS, fits below what decrypts.
    pub(super) fn budget(&self, noise: Noise, level: usize, scale: f64) -> f64 {
        let modulus = self.log2_level(level);
        match self.scheme() {
            SchemeKind::Bfv => {
                let limit = LIMIT.log2() + modulus - self.plain_factor().log2();
                limit - (TAILS * noise.deviation).log2()
            }
            SchemeKind::Bgv => LIMIT.log2() + modulus - (TAILS * noise.deviation).log2(),
            SchemeKind::Ckks => {
                let largest = noise.magnitude * scale + TAILS * noise.deviation;
                LIMIT.log2() + modulus - largest.max(1.0).log2()
            }
        }
    }

    /// Refuses noise that would not decrypt.
    pub(super) fn check_noise(
        &self,
        noise: Noise,
        level: usize,
        scale: f64,
    ) -> Result<(), SchemeError> {
        let budget = self.budget(noise, level, scale);
        // A deviation that overflowed gives no number.
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits: -budget }) }
    }

    /// The error that CKKS slots have, at most. Zero for exact schemes.
    ///
    /// A slot is a sum of `N` coefficients; that of noise times secret is a product of two complex
    /// Gaussian numbers, beyond `r` deviations with probability `exp(-2 r)` about.
    pub fn error_bound(&self, a: &Ciphertext) -> f64 {
        if self.scheme() == SchemeKind::Ckks {
            SLOT_TAILS * a.noise.deviation * self.degree().sqrt() / a.scale
        } else {
            0.0
        }
    }

    /// Bits of room left before an operation is refused, from public data.
    pub fn noise_budget(&self, a: &Ciphertext) -> f64 {
        self.budget(a.noise, a.level, a.scale)
    }
}
