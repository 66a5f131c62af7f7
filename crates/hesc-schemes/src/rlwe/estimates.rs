//! What operations do to noise, and whether what is left decrypts: [`super::noise`] says what is estimated.

use super::noise::{
    LIMIT, Noise, PRODUCT_MARGIN, PlainSize, ROOT_TAILS, SLOT_TAILS, TAILS, correction,
    public_key_deviation, rounding_deviation, secret_key_deviation,
};
use super::{Ciphertext, Rlwe};
use crate::SchemeError;

/// Bits that a refusal names, at most: noise beyond the range of doubles has no number of them.
const MOST_NEEDED_BITS: f64 = 2048.0;

impl Rlwe {
    pub(crate) fn degree(&self) -> f64 {
        self.ring_degree() as f64
    }

    /// `log2` of the product of the primes of a level.
    pub(crate) fn log2_level(&self, level: usize) -> f64 {
        self.chain().log2(level)
    }

    /// The factor on all noise: `t` in BGV.
    pub(crate) fn noise_factor(&self) -> f64 {
        self.chain().noise_factor() as f64
    }

    /// Noise whose coefficients are independent and alike.
    pub(crate) fn white(&self, deviation: f64) -> Noise {
        Noise {
            deviation,
            values: self.degree().sqrt() * deviation,
            peak: TAILS * deviation * self.ring().coefficient_factor(),
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// The deviation of an encryption under the public key.
    pub(crate) fn public_key_deviation(&self) -> f64 {
        public_key_deviation(self.ring_degree()) * self.ring().embedding_factor()
    }

    /// The deviation of an encryption under the secret key.
    pub(crate) fn secret_key_deviation(&self) -> f64 {
        secret_key_deviation() * self.ring().embedding_factor()
    }

    /// The least deviation that a ciphertext can have: of an encryption under the secret key, or, in the smallest
    /// rings, of a rounding that left nothing else.
    pub(crate) fn least_deviation(&self) -> f64 {
        (self.noise_factor() * self.secret_key_deviation()).min(self.rounding(2))
    }

    /// The deviation that a set has to have room for: of an encryption and one rounding.
    pub(crate) fn least_room(&self) -> f64 {
        self.public_key_deviation() + rounding_deviation(self.ring_degree())
    }

    /// The noise of an encryption with this deviation: from the parameters and the declared bound.
    pub(crate) fn fresh(&self, deviation: f64, bound: f64, scale: f64) -> Noise {
        self.white(self.noise_factor() * deviation)
            .plus(self.differences().plain_noise(self, bound, scale))
    }

    /// What rounding each of `size` parts adds, in units of the noise: deviations of
    /// `r_0 + r_1 s + r_2 s^2 + ...`, `r` uniform in [-1/2, 1/2]. A power `s^i` at a root of unity has
    /// the mean square `i! (2N/3)^i`, as that of a complex Gaussian number.
    pub(crate) fn rounding(&self, size: usize) -> f64 {
        let variance = 2.0 / 3.0 * self.degree();
        let powers = (1..size).scan(1.0, |power, i| {
            *power *= i as f64 * variance;
            Some(*power)
        });
        self.noise_factor() * ((1.0 + powers.sum::<f64>()) / 12.0).sqrt()
    }

    /// The noise after a division by a prime, or a quotient of products of some. What was there keeps its
    /// degree unless the rounding covers even a power's tails and the peak of a product.
    pub(crate) fn divided_noise(&self, a: &Ciphertext, prime: f64) -> Noise {
        let rounding = self.rounding(a.size);
        let before = a.noise.times_exactly(1.0 / prime);
        let tails: f64 = (1..=a.noise.degree.min(64)).map(f64::from).product::<f64>().sqrt();
        let covered = before.deviation * tails.max(self.degree().sqrt() / TAILS) < rounding;
        // The rounding itself has the powers of the secret that the parts have.
        let own = a.size as u32 - 1;
        let degree = if covered { own } else { a.noise.degree.max(own) };
        let magnitude = self.differences().divided_magnitude(a.noise.magnitude, prime);
        Noise { magnitude, degree, ..before.plus(self.white(rounding)) }
    }

    /// The noise of key switching a polynomial at a level.
    pub(crate) fn switching_noise(&self, level: usize) -> Noise {
        self.white(self.key_deviation(level) + self.rounding(2))
    }

    /// What the errors of a key contribute to it, before the sum is rounded; those of other keys are independent.
    pub(crate) fn key_deviation(&self, level: usize) -> f64 {
        let chain = self.chain();
        let special: f64 = chain.special().iter().map(|p| p.value() as f64).product();
        let digits = chain.digits(level).iter().map(|digit| {
            let primes = &chain.level(level)[digit.limbs.clone()];
            let size: f64 = primes.iter().map(|q| q.value() as f64).product();
            size * size / 12.0
        });
        let variance = self.degree() * digits.sum::<f64>();
        self.noise_factor() * variance.sqrt() * self.secret_key_deviation() / special
    }

    /// Bound on the dual of the basis at the roots, times `N`: a coefficient is the mean of the values times
    /// those of the dual.
    fn dual_factor(&self) -> f64 {
        self.ring().coefficient_factor().powi(2)
    }

    /// The product of two noises, which may depend on each other.
    pub(crate) fn convolved(&self, x: Noise, y: Noise) -> Noise {
        let n = self.degree();
        let factor = PRODUCT_MARGIN * correction(x.degree, y.degree);
        let norms = (self.norm_excess(x.degree) * self.norm_excess(y.degree)).sqrt();
        Noise {
            deviation: factor * (x.values * y.deviation).min(x.deviation * y.values),
            values: factor * x.values * y.values,
            peak: norms * n * x.deviation * y.deviation * self.dual_factor(),
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// How far the squared Euclidean norm of noise of this degree may be beyond `N` squared deviations. The
    /// squares at the roots scatter about their mean, and those of a power have so heavy a tail that in a
    /// small ring one root may have most of the norm: [`SLOT_TAILS`] deviations of each factor, while the
    /// deviation has grown by margin and correction at each product.
    fn norm_excess(&self, degree: u32) -> f64 {
        let (n, margin) = (self.degree(), PRODUCT_MARGIN * PRODUCT_MARGIN);
        let ratio = SLOT_TAILS * SLOT_TAILS / margin;
        let largest = (1..=degree.min(64))
            .fold(margin, |largest, factor| largest * (ratio / f64::from(factor)).max(1.0));
        1.0 + TAILS * (2.0 / n).sqrt() + 2.0 / n * largest
    }

    /// Noise times a plaintext of which the size of a coefficient is known and no more.
    pub(crate) fn times_message(&self, noise: Noise, magnitude: f64) -> Noise {
        let n = self.degree();
        let size = PlainSize {
            norm: n.sqrt() * magnitude * self.ring().embedding_factor(),
            sum: n * magnitude,
            value: n * magnitude,
        };
        self.times_plain(noise, size).of_message(0.0)
    }

    /// Noise, and in BGV the message, after a product with an integer plaintext, which may have
    /// been a factor before.
    pub(crate) fn times_plain(&self, noise: Noise, plain: PlainSize) -> Noise {
        let (n, ring, dual) = (self.degree(), self.ring(), self.dual_factor());
        // What a term of the plaintext makes of coefficients.
        let sum = plain.sum * ring.monomial_growth();
        let deviation = (noise.values * plain.norm / n.sqrt()).min(noise.deviation * plain.value);
        let peak = if noise.degree == 1 {
            // Gaussian but for what the largest root contributes, a product of two such numbers.
            TAILS * deviation * ring.coefficient_factor()
                + 2.0 * ROOT_TAILS * noise.values * plain.value * dual / n
        } else {
            n.sqrt() * noise.deviation * plain.norm * dual
        };
        Noise {
            deviation,
            values: noise.values * plain.value,
            peak: peak.min(noise.peak * sum),
            magnitude: noise.magnitude * sum,
            degree: noise.degree,
        }
    }

    /// `log2` of how often the noise, with the message in BGV and CKKS, fits below what decrypts.
    pub(crate) fn budget(&self, noise: Noise, level: usize, scale: f64) -> f64 {
        let modulus = LIMIT.log2() + self.log2_level(level);
        modulus - self.differences().largest(noise, scale).log2()
    }

    /// Refuses noise that would not decrypt.
    pub(crate) fn check_noise(
        &self,
        noise: Noise,
        level: usize,
        scale: f64,
    ) -> Result<(), SchemeError> {
        let (budget, modulus) = (self.budget(noise, level, scale), self.log2_level(level));
        // Numbers of a scale below 1 or beyond the modulus are none, however small they claim to be.
        if !(1.0..=modulus.exp2()).contains(&scale) {
            let needed_bits = if scale < 1.0 { -scale.log2() } else { scale.log2() - modulus };
            let needed_bits = needed_bits.min(MOST_NEEDED_BITS);
            return Err(SchemeError::NoiseBudget { needed_bits });
        }
        // A deviation that overflowed gives no number, or an infinite one.
        let needed_bits = (-budget).min(MOST_NEEDED_BITS);
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits }) }
    }

    /// The error that CKKS slots have, at most, the transform of decoding included. Zero for exact
    /// schemes.
    ///
    /// A slot is a sum of `N` coefficients; that of noise times secret is a product of two complex
    /// Gaussian numbers, beyond `r` deviations with probability `exp(-2 r)` about.
    pub fn error_bound(&self, a: &Ciphertext) -> f64 {
        self.differences().error_bound(self, a)
    }

    /// Bits of room left before an operation is refused, from public data.
    pub fn noise_budget(&self, a: &Ciphertext) -> f64 {
        self.budget(a.noise, a.level, a.scale)
    }
}
