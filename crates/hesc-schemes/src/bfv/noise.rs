use super::Bfv;
use crate::rlwe::ciphertext::State;
use crate::rlwe::noise::{Noise, PRODUCT_MARGIN, correction};
use crate::rlwe::scheme_operations::NoiseModel;
use crate::rlwe::{Plaintext, Rlwe};

impl Bfv {
    fn plain_modulus(&self) -> f64 {
        self.integers.modulus().value() as f64
    }
}

impl NoiseModel for Bfv {
    /// The rounding of `(Q / t) m`.
    fn plain_noise(&self, scheme: &Rlwe, _bound: f64, _scale: f64) -> Noise {
        scheme.white(0.5)
    }

    fn plain_product_noise(&self, scheme: &Rlwe, a: &State, plaintext: &Plaintext) -> Noise {
        scheme.times_plain(a.noise, self.integers.plain_size(plaintext))
    }

    /// `t (v_1 k_2 + v_2 k_1) + m_1 v_2 + m_2 v_1 + t v_1 v_2 / Q`, `k` the multiples of `Q` that
    /// `c_0 + c_1 s + ...` exceeds it by: coefficients as those of a rounding, independent of the
    /// noise since the components of a ciphertext are uniform.
    fn product_noise(&self, scheme: &Rlwe, a: &State, b: &State) -> Noise {
        let (n, t) = (scheme.degree(), self.plain_modulus());
        let cross = |x: &State, y: &State| {
            let (noise, powers) = (x.noise, y.components as u32 - 1);
            let factor = PRODUCT_MARGIN * correction(noise.degree, powers) * t * n.sqrt();
            // Coefficients of a message may be a half of t, all of them, with any signs.
            let exceeding = scheme.rounding(y.components) + 0.5 * scheme.norms().embedding_factor;
            let deviation = factor * exceeding * noise.deviation;
            // A plaintext may have all of its norm at one root.
            let values = (factor * exceeding + n * t / 2.0) * noise.canonical_norm;
            Noise { canonical_norm: values, ..scheme.white(deviation) }
        };
        // Divided first: the product of two noises of a large modulus exceeds what doubles hold.
        let divided = a.noise.times_exactly(t / scheme.log2_level(a.level).exp2());
        let both = scheme.convolved(divided, b.noise);
        let rounding = scheme.rounding(a.components + b.components - 1) + scheme.rounding(2);
        let degree = (a.noise.degree + b.components as u32 - 1)
            .max(b.noise.degree + a.components as u32 - 1);
        let sum = cross(a, b).plus(cross(b, a)).plus(both).plus(scheme.white(rounding));
        Noise { degree, ..sum }
    }

    /// The message takes no part in what the modulus has to hold.
    fn admits_magnitude(&self, magnitude: f64) -> bool {
        magnitude == 0.0
    }

    fn largest(&self, noise: Noise, _scale: f64) -> f64 {
        self.plain_modulus() * noise.infinity_norm
    }

    /// `[t x]_Q` is `t` times the noise.
    fn phase_factor(&self) -> u64 {
        self.integers.modulus().value()
    }
}
