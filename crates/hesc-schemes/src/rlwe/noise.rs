//! How noise grows, from public data: parameters, declared bounds and the sizes of operands in the
//! clear. Nothing here looks at what is encrypted, for all of it travels with ciphertexts.
//!
//! What counts as noise:
//!
//! - BFV: `v` in `c_0 + c_1 s = (Q / t) m + v` modulo `Q`; decrypts while `|v| < Q / 2t`;
//! - BGV: `c_0 + c_1 s = m + t e` stays below `Q / 2`; the noise is `t e`, and the *magnitude* bounds
//!   the coefficients of `m`, which products do not reduce modulo `t`;
//! - CKKS: the error of `scale * m`; message and error stay below `Q / 2`, and the *magnitude* bounds
//!   the numbers in the slots.
//!
//! Three numbers describe noise, because a polynomial whose coefficients are all alike may have a
//! product whose coefficients are not: `e(X) e(1/X)` has the constant coefficient `N d^2`, far above
//! all others, though its root mean square is about `sqrt(N) d^2`; and the polynomial of ones
//! takes almost all of its Euclidean norm from two roots of unity.
//!
//! - the *deviation*: root mean square of the coefficients, a sub-Gaussian parameter where they are
//!   alike;
//! - the same of the *values* at the roots of unity: `sqrt(N)` deviations where they are alike, more
//!   where a product has made some of them larger;
//! - the *peak*: a bound on the coefficients, which is what decryption depends on.
//!
//! All three add, whatever depends on what. Products take the bounds that hold for dependent factors,
//! images under automorphisms included: values multiply, deviations take the other factor's values,
//! and no coefficient exceeds the product of the Euclidean norms (Cauchy and Schwarz). A value is a
//! complex Gaussian number, whose `k`-th power has `k!` times the variance of a product of `k`
//! independent ones; the *degree* says how many such factors noise may have: powers of the secret in
//! BFV (each product adds one), of the noise itself in BGV (they add up). `tests/laws/leveled/noise.rs`
//! holds the estimates against measured noise of factors that depend as much as they can.

use super::{Ciphertext, Rlwe, SchemeKind};
use crate::SchemeError;
use crate::rlwe::PlaintextSpace;
use crate::rlwe::deviations::{LIMIT, TAILS};

/// Factor on the average-case noise of a product.
const PRODUCT_MARGIN: f64 = 2.0;

/// Deviations that bound a slot, a product of two Gaussian numbers: exceeded with probability 7e-13.
pub(crate) const SLOT_TAILS: f64 = 14.0;

/// Relative error of a Fourier transform in doubles and of rounding to them before or after, for
/// each factor of two in its size.
const FLOAT_ERROR: f64 = 4.0 * f64::EPSILON;

/// What is known of a ciphertext's noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    /// Root mean square of the coefficients, at most.
    pub deviation: f64,
    /// Root mean square of the value at a root of unity, at the worst of them.
    pub values: f64,
    /// Bound on the coefficients.
    pub peak: f64,
    /// Bound on the numbers in the slots (CKKS), on the coefficients of the plaintext before it is
    /// reduced (BGV); 0 in BFV.
    pub magnitude: f64,
    /// Factors that may be the same, see above; at least 1.
    pub degree: u32,
}

/// What a product with an integer plaintext does to noise, each to the next power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainSize {
    /// Euclidean norm of the coefficients.
    pub norm: f64,
    /// Sum of their absolute values.
    pub sum: f64,
    /// Largest absolute value at a root of unity.
    pub value: f64,
}

impl Noise {
    /// Of a sum, whatever depends on what.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            deviation: self.deviation + other.deviation,
            values: self.values + other.values,
            peak: self.peak + other.peak,
            magnitude: self.magnitude + other.magnitude,
            degree: self.degree.max(other.degree),
        }
    }

    /// After a product with a number of this size.
    pub(crate) fn times(self, size: f64) -> Self {
        // Noise times zero would be none, which no reader believes.
        let by = size.max(1.0);
        Self {
            deviation: self.deviation * by,
            values: self.values * by,
            peak: self.peak * by,
            magnitude: self.magnitude * size,
            ..self
        }
    }

    /// With another bound on the message.
    pub(crate) fn of_message(self, magnitude: f64) -> Self {
        Self { magnitude, ..self }
    }
}

/// The root of `(a + b)! / (a! b!)`: the correction for a product of noises of these degrees.
fn correction(a: u32, b: u32) -> f64 {
    (1..=b.min(a)).map(|i| f64::from(a.max(b) + i) / f64::from(i)).product::<f64>().sqrt()
}

impl Rlwe {
    fn degree(&self) -> f64 {
        self.ring_degree() as f64
    }

    /// `log2` of the product of the primes of a level.
    pub(crate) fn log2_level(&self, level: usize) -> f64 {
        self.chain().level(level).iter().map(|q| (q.value() as f64).log2()).sum()
    }

    /// The plaintext modulus as a number, 1 for CKKS.
    pub(crate) fn plain_factor(&self) -> f64 {
        match self.spec().plaintext {
            PlaintextSpace::Integers { plain_modulus } => plain_modulus as f64,
            PlaintextSpace::Approximate { .. } => 1.0,
        }
    }

    /// The factor on all noise: `t` in BGV.
    pub(crate) fn noise_factor(&self) -> f64 {
        if self.scheme() == SchemeKind::Bgv { self.plain_factor() } else { 1.0 }
    }

    /// Noise whose coefficients are independent and alike.
    pub(crate) fn white(&self, deviation: f64) -> Noise {
        Noise {
            deviation,
            values: self.degree().sqrt() * deviation,
            peak: TAILS * deviation,
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// CKKS: noise that is known by its values.
    fn in_slots(&self, values: f64, magnitude: f64) -> Noise {
        let deviation = values / self.degree().sqrt();
        Noise { deviation, values, peak: TAILS * deviation, magnitude, degree: 1 }
    }

    /// What a plaintext adds to a ciphertext: in BFV its rounding, in BGV itself, in CKKS the errors
    /// of its encoding ([`Self::encoding_values`]).
    pub(crate) fn plain_noise(&self, bound: f64, scale: f64) -> Noise {
        match self.scheme() {
            SchemeKind::Bfv => self.white(0.5),
            SchemeKind::Bgv => Noise { degree: 1, ..Noise::message(self.plain_factor() / 2.0) },
            SchemeKind::Ckks => self.in_slots(self.encoding_values(bound, scale), bound),
        }
    }

    /// The error of encoded numbers within a bound: their Fourier transform in doubles, and
    /// coefficients that are multiples of [`Self::encoding_unit`].
    pub(crate) fn encoding_values(&self, bound: f64, scale: f64) -> f64 {
        let rounding = 0.5 * self.encoding_unit(bound, scale) * self.degree().sqrt();
        rounding + self.float_error(bound) * scale / SLOT_TAILS
    }

    /// The error of a Fourier transform of numbers within a bound.
    fn float_error(&self, bound: f64) -> f64 {
        FLOAT_ERROR * self.degree().log2() * bound
    }

    /// The noise of an encryption with this deviation: from the parameters and the declared bound.
    pub(crate) fn fresh(&self, deviation: f64, bound: f64, scale: f64) -> Noise {
        self.white(self.noise_factor() * deviation).plus(self.plain_noise(bound, scale))
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

    /// The noise after a division by a prime. What was there keeps its degree unless the rounding
    /// covers even a power's tails and the peak of a product.
    pub(crate) fn divided_noise(&self, a: &Ciphertext, prime: f64) -> Noise {
        let rounding = self.rounding(a.size);
        let before = a.noise.times_exactly(1.0 / prime);
        let tails: f64 = (1..=a.noise.degree.min(64)).map(f64::from).product::<f64>().sqrt();
        let covered = before.deviation * tails.max(self.degree().sqrt() / TAILS) < rounding;
        // The rounding itself has the powers of the secret that the parts have.
        let own = a.size as u32 - 1;
        let degree = if covered { own } else { a.noise.degree.max(own) };
        // CKKS divides the scale, not the numbers.
        let magnitude = match self.scheme() {
            SchemeKind::Ckks => a.noise.magnitude,
            _ => before.magnitude,
        };
        Noise { magnitude, degree, ..before.plus(self.white(rounding)) }
    }

    /// The noise of key switching a polynomial at a level.
    pub(crate) fn switching_noise(&self, level: usize) -> Noise {
        let chain = self.chain();
        let special: f64 = chain.special().iter().map(|p| p.value() as f64).product();
        let digits = (0..chain.digit_count(level)).map(|digit| {
            let primes = &chain.primes()[chain.digit(digit, level)];
            let size: f64 = primes.iter().map(|q| q.value() as f64).product();
            size * size / 12.0
        });
        let variance = self.degree() * digits.sum::<f64>();
        let noise = variance.sqrt() * hesc_math::sampling::NOISE_STANDARD_DEVIATION / special;
        self.white(self.noise_factor() * noise + self.rounding(2))
    }

    /// The noise of a product of ciphertexts before relinearisation.
    pub(crate) fn product_noise(&self, a: &Ciphertext, b: &Ciphertext) -> Noise {
        let (x, y) = (a.noise, b.noise);
        match self.scheme() {
            SchemeKind::Bfv => self.scaled_product(a, b),
            SchemeKind::Bgv => {
                let both =
                    Noise { degree: x.degree.saturating_add(y.degree), ..self.convolved(x, y) };
                let message = Noise::message(self.degree() * x.magnitude * y.magnitude);
                both.plus(self.times_message(x, y.magnitude))
                    .plus(self.times_message(y, x.magnitude))
                    .plus(message)
            }
            SchemeKind::Ckks => {
                let message = |c: &Ciphertext| c.noise.magnitude * c.scale;
                // Both errors may be as far out as one.
                let values = message(a) * y.values
                    + message(b) * x.values
                    + SLOT_TAILS * x.values * y.values;
                self.in_slots(values, x.magnitude * y.magnitude)
            }
        }
    }

    /// The product of two noises, which may depend on each other.
    fn convolved(&self, x: Noise, y: Noise) -> Noise {
        let n = self.degree();
        let factor = PRODUCT_MARGIN * correction(x.degree, y.degree);
        // Norms of N coefficients scatter about their mean.
        let norms = 1.0 + TAILS * (2.0 / n).sqrt();
        Noise {
            deviation: factor * (x.values * y.deviation).min(x.deviation * y.values),
            values: factor * x.values * y.values,
            peak: norms * n * x.deviation * y.deviation,
            magnitude: 0.0,
            degree: 1,
        }
    }

    /// Noise times a plaintext of which the size of a coefficient is known and no more.
    fn times_message(&self, noise: Noise, magnitude: f64) -> Noise {
        let n = self.degree();
        let size =
            PlainSize { norm: n.sqrt() * magnitude, sum: n * magnitude, value: n * magnitude };
        self.times_plain(noise, size).of_message(0.0)
    }

    /// Noise, and in BGV the message, after a product with an integer plaintext, which may have
    /// been a factor before.
    pub(crate) fn times_plain(&self, noise: Noise, plain: PlainSize) -> Noise {
        let n = self.degree();
        let deviation = (noise.values * plain.norm / n.sqrt()).min(noise.deviation * plain.value);
        let peak = if noise.degree == 1 {
            // Gaussian but for what the largest root contributes, a product of two such numbers.
            TAILS * deviation + 2.0 * SLOT_TAILS * noise.values * plain.value / n
        } else {
            n.sqrt() * noise.deviation * plain.norm
        };
        Noise {
            deviation,
            values: noise.values * plain.value,
            peak: peak.min(noise.peak * plain.sum),
            magnitude: noise.magnitude * plain.sum,
            degree: noise.degree,
        }
    }

    /// BFV: `t (v_1 k_2 + v_2 k_1) + m_1 v_2 + m_2 v_1 + t v_1 v_2 / Q`, `k` the multiples of `Q` that
    /// `c_0 + c_1 s + ...` exceeds it by: coefficients as those of a rounding, independent of the
    /// noise since the parts of a ciphertext are uniform.
    fn scaled_product(&self, a: &Ciphertext, b: &Ciphertext) -> Noise {
        let (n, t) = (self.degree(), self.plain_factor());
        let cross = |x: &Ciphertext, y: &Ciphertext| {
            let (noise, powers) = (x.noise, y.size as u32 - 1);
            let factor = PRODUCT_MARGIN * correction(noise.degree, powers) * t * n.sqrt();
            let exceeding = self.rounding(y.size) + 0.5;
            let deviation = factor * exceeding * noise.deviation;
            // A plaintext may have all of its norm at one root.
            let values = (factor * exceeding + n * t / 2.0) * noise.values;
            Noise { values, ..self.white(deviation) }
        };
        let both = self.convolved(a.noise, b.noise);
        let both = both.times_exactly(t / self.log2_level(a.level).exp2());
        let rounding = self.rounding(a.size + b.size - 1) + self.rounding(2);
        let degree = (a.noise.degree + b.size as u32 - 1).max(b.noise.degree + a.size as u32 - 1);
        let sum = cross(a, b).plus(cross(b, a)).plus(both).plus(self.white(rounding));
        Noise { degree, ..sum }
    }

    /// CKKS: the noise of a product with an operand in the clear, slot by slot.
    pub(crate) fn slot_product(&self, a: &Ciphertext, bound: f64, scale: f64) -> Noise {
        self.slot_product_within(a, bound, scale, self.encoding_values(bound, scale))
    }

    /// CKKS: the same with an operand that is `error` off in units of `1 / scale`.
    pub(crate) fn slot_product_within(
        &self,
        a: &Ciphertext,
        bound: f64,
        scale: f64,
        error: f64,
    ) -> Noise {
        let (noise, message) = (a.noise, a.noise.magnitude * a.scale);
        let values = noise.values * (bound * scale + SLOT_TAILS * error) + message * error;
        self.in_slots(values, noise.magnitude * bound)
    }

    /// CKKS: noise with the error of numbers within `magnitude` taken for those of a scale that is
    /// another by the rounding of doubles.
    pub(crate) fn with_scale_error(
        &self,
        noise: Noise,
        magnitude: f64,
        scales: (f64, f64),
    ) -> Noise {
        if scales.0 == scales.1 {
            return noise;
        }
        let values = noise.values + (scales.0 - scales.1).abs() * magnitude;
        Noise { degree: noise.degree, ..self.in_slots(values, noise.magnitude) }
    }

    /// `log2` of how often the noise, with the message in BGV and CKKS, fits below what decrypts.
    pub(crate) fn budget(&self, noise: Noise, level: usize, scale: f64) -> f64 {
        let modulus = LIMIT.log2() + self.log2_level(level);
        match self.scheme() {
            SchemeKind::Bfv => modulus - self.plain_factor().log2() - noise.peak.log2(),
            SchemeKind::Bgv => modulus - (noise.magnitude + noise.peak).log2(),
            SchemeKind::Ckks => {
                let largest = noise.magnitude * scale + noise.peak;
                // Not `max`, which would take what is no number for 1.
                modulus - if largest < 1.0 { 0.0 } else { largest.log2() }
            }
        }
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
        if self.scheme() == SchemeKind::Ckks && !(1.0..=modulus.exp2()).contains(&scale) {
            let needed_bits = if scale < 1.0 { -scale.log2() } else { scale.log2() - modulus };
            return Err(SchemeError::NoiseBudget { needed_bits: needed_bits.min(2048.0) });
        }
        // A deviation that overflowed gives no number.
        if budget >= 0.0 { Ok(()) } else { Err(SchemeError::NoiseBudget { needed_bits: -budget }) }
    }

    /// The error that CKKS slots have, at most, the transform of decoding included. Zero for exact
    /// schemes.
    ///
    /// A slot is a sum of `N` coefficients; that of noise times secret is a product of two complex
    /// Gaussian numbers, beyond `r` deviations with probability `exp(-2 r)` about.
    pub fn error_bound(&self, a: &Ciphertext) -> f64 {
        if self.scheme() == SchemeKind::Ckks {
            let error = SLOT_TAILS * a.noise.values / a.scale;
            error + self.float_error(a.noise.magnitude + error)
        } else {
            0.0
        }
    }

    /// Bits of room left before an operation is refused, from public data.
    pub fn noise_budget(&self, a: &Ciphertext) -> f64 {
        self.budget(a.noise, a.level, a.scale)
    }
}

impl Noise {
    /// A plaintext without noise.
    fn message(magnitude: f64) -> Self {
        Self { deviation: 0.0, values: 0.0, peak: 0.0, magnitude, degree: 1 }
    }

    /// Everything times a number.
    fn times_exactly(self, by: f64) -> Self {
        Self {
            deviation: self.deviation * by,
            values: self.values * by,
            peak: self.peak * by,
            magnitude: self.magnitude * by,
            ..self
        }
    }
}
