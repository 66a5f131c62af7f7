use super::Ckks;
use crate::rlwe::ciphertext::State;
use crate::rlwe::noise::{Noise, SLOT_TAILS};
use crate::rlwe::scheme_operations::NoiseModel;
use crate::rlwe::{Plaintext, Rlwe};

/// Relative error of a Fourier transform in doubles and of rounding to them before or after, for
/// each factor of two in its size.
const FLOAT_ERROR: f64 = 4.0 * f64::EPSILON;

impl NoiseModel for Ckks {
    /// The errors of an encoding.
    fn plain_noise(&self, scheme: &Rlwe, bound: f64, scale: f64) -> Noise {
        scheme.in_slots(scheme.encoding_values(bound, scale), bound)
    }

    fn plain_product_noise(&self, scheme: &Rlwe, a: &State, plaintext: &Plaintext) -> Noise {
        let (bound, scale) = (plaintext.bound.value(), plaintext.scale);
        scheme.slot_product_within(a, bound, scale, scheme.encoding_values(bound, scale))
    }

    fn product_noise(&self, scheme: &Rlwe, a: &State, b: &State) -> Noise {
        let (x, y) = (a.noise, b.noise);
        let message = |c: &State| c.noise.magnitude * c.scale;
        // Both errors may be as far out as one.
        let values = message(a) * y.canonical_norm
            + message(b) * x.canonical_norm
            + SLOT_TAILS * x.canonical_norm * y.canonical_norm;
        scheme.in_slots(values, x.magnitude * y.magnitude)
    }

    /// The scale is divided, not the numbers.
    fn divided_magnitude(&self, magnitude: f64, _prime: f64) -> f64 {
        magnitude
    }

    fn largest(&self, noise: Noise, scale: f64) -> f64 {
        let largest = noise.magnitude * scale + noise.infinity_norm;
        // Not `max`, which would take what is no number for 1.
        if largest < 1.0 { 1.0 } else { largest }
    }

    fn error_bound(&self, scheme: &Rlwe, a: &State) -> f64 {
        let error = SLOT_TAILS * a.noise.canonical_norm / a.scale;
        error + scheme.float_error(a.noise.magnitude + error)
    }
}

impl Rlwe {
    /// Noise that is known by its values.
    pub(super) fn in_slots(&self, values: f64, magnitude: f64) -> Noise {
        let deviation = values / self.degree().sqrt();
        Noise { canonical_norm: values, magnitude, ..self.white(deviation) }
    }

    /// The error of encoded numbers within a bound: their Fourier transform in doubles, and
    /// coefficients that are multiples of [`Self::encoding_unit`].
    fn encoding_values(&self, bound: f64, scale: f64) -> f64 {
        let rounding = 0.5 * self.encoding_unit(bound, scale) * self.degree().sqrt();
        rounding + self.float_error(bound) * scale / SLOT_TAILS
    }

    /// The error of a Fourier transform of numbers within a bound.
    fn float_error(&self, bound: f64) -> f64 {
        FLOAT_ERROR * self.degree().log2() * bound
    }

    /// The noise of a product, slot by slot, with an operand in the clear that is `error` off in units
    /// of `1 / scale`.
    pub(super) fn slot_product_within(
        &self,
        a: &State,
        bound: f64,
        scale: f64,
        error: f64,
    ) -> Noise {
        let (noise, message) = (a.noise, a.noise.magnitude * a.scale);
        let values = noise.canonical_norm * (bound * scale + SLOT_TAILS * error) + message * error;
        self.in_slots(values, noise.magnitude * bound)
    }

    /// Noise with the error of numbers within `magnitude` taken for those of a scale that is
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
        let values = noise.canonical_norm + (scales.0 - scales.1).abs() * magnitude;
        Noise { degree: noise.degree, ..self.in_slots(values, noise.magnitude) }
    }
}
