use hesc_schemes::rlwe::noise::{
    NORM_MARGIN, public_key_deviation, secret_key_deviation, square_of_secret,
};

use super::declared::Under;

/// Deviations that a coefficient of one of the factors of a product of noises is not beyond: one of a ring's with a
/// probability below 2^-145.
const FACTOR_TAILS: f64 = 15.0;

/// What it takes that weights are encrypted: `(m + e) (w + f) = m w + m f + e w + e f`.
///
/// Under the secret key `f` is noise as `e`. Under the public key `(b, a)` it is `k u + e_0 + e_1 s` with `k` the noise
/// of `b`: products with a polynomial `m` are then of three factors. Given `u` and `s`, they are sub-Gaussian with the
/// norms of `u m` and `s m`, whose coefficients are within [`FACTOR_TAILS`] norms of `m`; this is far more than they are as a
/// rule, and holds for every `m`.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncryptedWeights {
    pub under: Under,
    pub ring_degree: f64,
    /// Features of a whole ciphertext whose range is not a point.
    pub features: f64,
    /// Whether there is a ciphertext of what is added to scores.
    pub added: bool,
}

impl EncryptedWeights {
    /// The variance of a coefficient of `f`.
    fn variance(self) -> f64 {
        let deviation = match self.under {
            Under::Secret => secret_key_deviation(),
            Under::Public => public_key_deviation(self.ring_degree as usize),
        };
        deviation * deviation
    }

    /// The sub-Gaussian parameter of `m f` for an `m` of norm 1.
    pub fn parameter(self) -> f64 {
        let tails = FACTOR_TAILS * FACTOR_TAILS;
        secret_key_deviation()
            * match self.under {
                Under::Secret => 1.0,
                Under::Public => (2.0 * self.ring_degree * tails + 1.0).sqrt(),
            }
    }

    /// What the norm of `f` stays within.
    pub fn norm(self) -> f64 {
        let n = self.ring_degree;
        let ring = NORM_MARGIN * n;
        let own = secret_key_deviation() * ring.sqrt();
        match self.under {
            Under::Secret => own,
            // Coefficients of k u and e_1 s, with the largest norms of k and s.
            Under::Public => {
                let largest = FACTOR_TAILS * secret_key_deviation() * (ring.sqrt() + n.sqrt());
                own + n.sqrt() * largest
            }
        }
    }

    /// The square of the parameter of the noise that comes with what is added.
    pub fn added_square(self) -> f64 {
        let zero = match self.under {
            Under::Secret => 1.0,
            Under::Public => (1.0 + NORM_MARGIN) * self.ring_degree + 1.0,
        };
        if self.added { secret_key_deviation().powi(2) * zero } else { 0.0 }
    }

    /// The variance of `e f`; and that of `m f` and of the noise that comes with what is added, which are those of a model,
    /// for an `m` of this squared norm.
    pub fn variances_of(self, message: f64) -> [f64; 2] {
        let own = secret_key_deviation().powi(2);
        let added = if self.added { 1.0 } else { 0.0 };
        [self.ring_degree * own, message + added].map(|norm| self.variance() * norm)
    }

    /// Bits that the third part has beyond those of an answer, so that its rounding, times `s^2`, is no larger than
    /// that of the second, times `s`. None where it does not travel.
    pub fn third_bits(self) -> Option<u32> {
        let ratio = (4.0 / 3.0 * self.ring_degree).log2() / 2.0;
        (self.under == Under::Public).then_some(ratio.ceil() as u32)
    }

    /// The variance of the rounding of the third part to units of this square; and the largest parameter that a key
    /// gives it, squared.
    pub fn third_square(self, units: f64) -> [f64; 2] {
        let (mean, most) = square_of_secret(self.ring_degree as usize);
        [mean, most].map(|square| units * square / 12.0)
    }
}
