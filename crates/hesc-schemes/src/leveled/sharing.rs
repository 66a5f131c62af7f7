//! CKKS results for others' eyes. A decryption's error tells about the secret key, and whoever chose
//! the ciphertext can solve for it (Li and Micciancio 2021). What leaves the key owner is therefore
//! rounded to a grid coarser than the error, so that it is a function of the exact result but at the
//! grid's borders, or drowned in Gaussian noise many times the error.

use rand_core::CryptoRng;

use super::{Complex64, Leveled, Plaintext};
use crate::SchemeError;

/// How much of a CKKS result others may see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sharing {
    /// Rounded to multiples of the least power of two above `2^guard_bits` times the error bound:
    /// a result tells of the error with probability `2^-guard_bits` only.
    Rounded {
        /// 10 by default.
        guard_bits: u32,
    },
    /// Gaussian noise of `2^flood_bits` times the error bound added: one result tells an adversary
    /// about `2^-flood_bits` of what the error would.
    Flooded {
        /// 30 bits are usual for one query.
        flood_bits: u32,
    },
}

impl Default for Sharing {
    fn default() -> Self {
        Self::Rounded { guard_bits: 10 }
    }
}

impl Leveled {
    /// The numbers in the slots as others may see them; `error_bound` is that of the ciphertext
    /// ([`Self::error_bound`]).
    ///
    /// # Errors
    /// As [`Self::decode_complex`]; [`SchemeError::Parameter`] for an error bound that is no
    /// positive number.
    pub fn decode_shared(
        &self,
        plaintext: &Plaintext,
        error_bound: f64,
        sharing: Sharing,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<Complex64>, SchemeError> {
        if !(error_bound > 0.0 && error_bound.is_finite()) {
            return Err(SchemeError::Parameter {
                name: "error_bound",
                value: error_bound.to_string(),
                remedy: "take that of the ciphertext that was decrypted",
            });
        }
        let mut values = self.decode_complex(plaintext)?;
        match sharing {
            Sharing::Rounded { guard_bits } => {
                let grid = (error_bound.log2().ceil() + f64::from(guard_bits)).exp2();
                let round = |x: f64| (x / grid).round_ties_even() * grid;
                for value in &mut values {
                    *value = Complex64::new(round(value.re), round(value.im));
                }
            }
            Sharing::Flooded { flood_bits } => {
                let deviation = error_bound * f64::from(flood_bits).exp2();
                for value in &mut values {
                    *value += gaussian_pair(rng) * deviation;
                }
            }
        }
        Ok(values)
    }
}

/// Two independent normal numbers (Box and Muller), from 53 bits each.
fn gaussian_pair(rng: &mut impl CryptoRng) -> Complex64 {
    let uniform = |word: u64| ((word >> 11) as f64 + 0.5) * 2f64.powi(-53);
    let radius = (-2.0 * uniform(rng.next_u64()).ln()).sqrt();
    Complex64::from_polar(radius, 2.0 * std::f64::consts::PI * uniform(rng.next_u64()))
}
