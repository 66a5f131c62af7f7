//! CKKS results for others' eyes. A decryption's error is a linear function of the secret key, and
//! whoever sees enough of them solves for it (Li and Micciancio 2021). What leaves the key owner is
//! hidden by Gaussian noise (noise flooding), as Li, Micciancio, Schultz and Sorrell 2022 ("Securing Approximate
//! Homomorphic Encryption Using Differential Privacy") ask for: with a deviation of
//! `sqrt(12 tau) 2^(s/2)` error bounds, `tau` numbers shown in all tell the errors from none with a
//! divergence of `2^-s / 24`, so that the scheme keeps `s` bits of statistical security, beside those
//! that it has, in their game IND-CPA-D. As a statistical distance that is `2^-(s/2 + 3)` at most.
//!
//! That game is about ciphertexts which honest parties made from honest ones. It promises nothing
//! for ciphertexts that were crafted: what they decrypt to is for the owner alone.

use std::sync::{Mutex, PoisonError};

use rand_core::CryptoRng;

use super::Complex64;
use crate::SchemeError;
use crate::error::refuse;
use crate::gaussian::gaussian_pair;
use crate::rlwe::evaluation::SCALE_TOLERANCE;
use crate::rlwe::flooding::{LEAST_STATISTICAL_BITS, flooding_factor};
use crate::rlwe::{Ciphertext, Rlwe, SecretKey};

/// The noise is at most this share of the bound on the numbers, or nothing is left of them.
const LARGEST_SHARE: f64 = 0.25;
/// Bits of the noise's deviation that shared numbers keep: below, doubles would show which number the
/// noise was added to (Mironov 2012).
const GRID_BITS: f64 = 10.0;

/// What the owner of a secret key has shown of it, as a share of all that it may show. It lives as
/// long as the key stays loaded and never shrinks.
#[derive(Debug, Default)]
pub struct SharedSoFar(Mutex<f64>);

impl SharedSoFar {
    /// Begins with what was shown before, in [0, 1].
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for another number.
    pub fn starting_at(share: f64) -> Result<Self, SchemeError> {
        if !(0.0..=1.0).contains(&share) {
            return refuse(
                "shared",
                share,
                "it is a share: 0 for a key that has shown nothing, 1 for one that is used up",
            );
        }
        Ok(Self(Mutex::new(share)))
    }

    /// The share, 1 when nothing more may be shown.
    pub fn share(&self) -> f64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts before anything is shown; all or nothing.
    fn spend(&self, share: f64) -> Result<(), SchemeError> {
        if share > 1.0 {
            return Err(SchemeError::NotShared {
                problem: "this result alone has more numbers than this key may show in all; count every \
                          number of every result in answers",
            });
        }
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Sums of many shares are rounded.
        if *spent + share > 1.0 + 1e-9 {
            return Err(SchemeError::NotShared {
                problem: "this key has shown as many numbers as was promised at most; make a new \
                          key, and plan for more answers with it",
            });
        }
        *spent += share;
        Ok(())
    }
}

/// How results are shared.
#[derive(Debug, Clone, Copy)]
pub struct Sharing<'a> {
    /// What the owner's own program gives, computed by the owner on data of any kind: its level, scale and
    /// bounds count, and nothing that a ciphertext says of itself.
    pub expected: &'a Ciphertext,
    /// Numbers that this key will show in all, the same for each call: more of them need more noise.
    pub answers: u64,
    /// Bits of statistical security, at least 40: `2^-23` as a statistical distance.
    pub statistical_bits: u32,
}

impl Rlwe {
    /// The first `length` numbers of a ciphertext as others may see them, and the deviation of the
    /// noise in the real and in the imaginary part of each.
    ///
    /// # Errors
    /// [`SchemeError::NotShared`] for a ciphertext of another shape than the one expected, for a set or
    /// program that leaves no noise budget, and for a key that has shown enough; [`SchemeError::Parameter`]
    /// for fewer than 40 bits or no answers; [`SchemeError::NoiseTooLarge`] for numbers that the
    /// program cannot give, which are counted as shown; as [`Self::decrypt`].
    pub fn decrypt_shared(
        &self,
        key: &SecretKey,
        a: &Ciphertext,
        length: usize,
        sharing: Sharing<'_>,
        so_far: &SharedSoFar,
        rng: &mut impl CryptoRng,
    ) -> Result<(Vec<Complex64>, f64), SchemeError> {
        self.ckks(
            "sharing with noise",
            "exact results carry no error; decrypt shows all there is",
        )?;
        let expected = sharing.expected;
        self.check_operands(a, expected)?;
        let same_scale = (a.state.scale / expected.state.scale - 1.0).abs() <= SCALE_TOLERANCE;
        if a.state.components != expected.state.components || !same_scale {
            return Err(SchemeError::NotShared {
                problem: "its scale or number of components is not that of the result which was expected; \
                          it comes from another program",
            });
        }
        let deviation = self.sharing_deviation(sharing)?;
        so_far.spend(length as f64 / sharing.answers as f64)?;
        let mut values = self.decode_complex(&self.decrypt(key, a)?)?;
        values.truncate(length);
        let most = expected.state.noise.magnitude + self.error_bound(expected);
        if values.iter().any(|value| value.norm() > most) {
            return Err(SchemeError::NoiseTooLarge);
        }
        let grid = (deviation.log2().floor() - GRID_BITS).exp2();
        let round = |x: f64| (x / grid).round_ties_even() * grid;
        for value in &mut values {
            *value += gaussian_pair(rng) * deviation;
            *value = Complex64::new(round(value.re), round(value.im));
        }
        Ok((values, deviation))
    }

    fn sharing_deviation(&self, sharing: Sharing<'_>) -> Result<f64, SchemeError> {
        let Sharing { expected, answers, statistical_bits } = sharing;
        if statistical_bits < LEAST_STATISTICAL_BITS {
            return refuse("statistical_bits", statistical_bits, "take at least 40");
        }
        if answers == 0 {
            return refuse("answers", 0, "say how many numbers will be shown in all");
        }
        let factor = flooding_factor(answers, statistical_bits);
        let deviation = factor * self.error_bound(expected);
        if deviation <= LARGEST_SHARE * expected.state.noise.magnitude {
            return Ok(deviation);
        }
        Err(SchemeError::NotShared {
            problem: "the noise that hides the error would exceed the numbers: plan for fewer answers, \
                      take primes and a scale with more bits, or fewer operations",
        })
    }
}
