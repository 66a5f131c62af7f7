use super::Bgv;
use crate::rlwe::ciphertext::State;
use crate::rlwe::noise::Noise;
use crate::rlwe::scheme_operations::NoiseModel;
use crate::rlwe::{Plaintext, Rlwe};

impl NoiseModel for Bgv {
    /// The plaintext itself.
    fn plain_noise(&self, _scheme: &Rlwe, _bound: f64, _scale: f64) -> Noise {
        Noise { degree: 1, ..Noise::message(self.plain_modulus() as f64 / 2.0) }
    }

    fn plain_product_noise(&self, scheme: &Rlwe, a: &State, plaintext: &Plaintext) -> Noise {
        scheme.times_plain(a.noise, self.integers.plain_size(plaintext))
    }

    fn product_noise(&self, scheme: &Rlwe, a: &State, b: &State) -> Noise {
        let (x, y) = (a.noise, b.noise);
        let both = Noise { degree: x.degree.saturating_add(y.degree), ..scheme.convolved(x, y) };
        let message = Noise::message(scheme.norms().product_growth * x.magnitude * y.magnitude);
        both.plus(scheme.times_message(x, y.magnitude))
            .plus(scheme.times_message(y, x.magnitude))
            .plus(message)
    }

    fn largest(&self, noise: Noise, _scale: f64) -> f64 {
        noise.magnitude + noise.infinity_norm
    }
}
