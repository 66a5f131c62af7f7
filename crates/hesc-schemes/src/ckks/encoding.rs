use std::any::Any;

pub use hesc_math::ring::Complex64;
use hesc_math::ring::wipe;
use zeroize::Zeroizing;

use super::Ckks;
use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::chain::Chain;
use crate::rlwe::ciphertext::Bound;
use crate::rlwe::ciphertext::State;
use crate::rlwe::polys::{Phase, Polys};
use crate::rlwe::scheme_operations::{Encoding, Message, NoiseModel};
use crate::rlwe::{Plaintext, Rlwe};
use hesc_math::ring::pairs;

/// Bits of an encoded coefficient: what a double holds, less one for the sign.
const COEFFICIENT_BITS: i32 = 50;

impl Encoding for Ckks {
    fn slots(&self, ring_degree: usize) -> usize {
        ring_degree / 2
    }

    fn inversion(&self) -> &'static str {
        "complex conjugates"
    }

    fn message<'a>(
        &self,
        chain: &Chain,
        plaintext: &'a Plaintext,
        _level: usize,
        _factor: u64,
    ) -> Message<'a> {
        Message::Evaluated(plaintext.evaluations(chain.ring().degree()))
    }

    /// Nothing is computed: whether the numbers keep the bound that is claimed shows when they are decoded.
    fn decode(&self, scheme: &Rlwe, phase: Phase, a: &State) -> Result<Plaintext, SchemeError> {
        let words = std::mem::take(&mut *phase.into_words());
        let bound = Bound::Claimed(a.noise.magnitude + self.error_bound(scheme, a));
        Ok(Plaintext::numbers(scheme.fingerprint(), words, a.level, a.scale, bound))
    }
}

impl Rlwe {
    /// What encoded coefficients of numbers within this bound are multiples of.
    pub(super) fn encoding_unit(&self, bound: f64, scale: f64) -> f64 {
        2f64.powi(excess_bits(bound, scale))
    }

    /// The scale of the parameter set, for [`Self::encode_complex`]; 1 in exact schemes.
    pub fn default_scale(&self) -> f64 {
        self.spec().plaintext.scale()
    }

    /// CKKS, for an operation that only it has.
    pub(super) fn ckks(
        &self,
        operation: &'static str,
        remedy: &'static str,
    ) -> Result<&Ckks, SchemeError> {
        let scheme = self.scheme().name();
        let other = SchemeError::NotInScheme { operation, scheme, remedy };
        let own: &dyn Any = self.operations();
        own.downcast_ref().ok_or(other)
    }

    /// Complex numbers in the clear into slots, the rest of which are zero, as an operand for
    /// ciphertexts of this level and scale; it cannot be encrypted. Error of a slot: about
    /// `sqrt(N / 12) / scale`. Cost: one Fourier transform of size `N / 2` and one transform a prime.
    ///
    /// A result's public numbers say how large its operands in the clear were, up to a power of two.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::TooManyValues`],
    /// [`SchemeError::Value`] for numbers that are not finite, [`SchemeError::NoSuchLevel`], and
    /// [`SchemeError::NoiseBudget`] for numbers too large for modulus and scale.
    pub fn encode_complex(
        &self,
        values: &[Complex64],
        scale: f64,
        level: usize,
    ) -> Result<Plaintext, SchemeError> {
        let magnitude = values.iter().fold(0.0, |most: f64, v| most.max(v.norm()));
        self.encode_within(values, scale, level, Bound::of_operand(magnitude))
    }

    /// Complex numbers into slots, to be encrypted. `bound`, on their absolute values, is public: it
    /// travels with the ciphertext and must not be chosen by looking at them.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::TooManyValues`],
    /// [`SchemeError::Value`] for numbers that are not finite or beyond the bound,
    /// [`SchemeError::NoSuchLevel`], [`SchemeError::NoiseBudget`], and [`SchemeError::Parameter`] for a bound that is not positive and finite.
    pub fn encode_bounded(
        &self,
        values: &[Complex64],
        scale: f64,
        level: usize,
        bound: f64,
    ) -> Result<Plaintext, SchemeError> {
        if !(bound > 0.0 && bound.is_finite()) {
            return refuse(
                "bound",
                bound,
                "choose a positive number that the absolute values stay within",
            );
        }
        // Numbers on a circle of that radius may be rounded outwards.
        let most = bound * (1.0 + 4.0 * f64::EPSILON);
        if let Some(position) = values.iter().position(|v| v.norm() > most) {
            return Err(SchemeError::Value {
                position,
                remedy: "its absolute value is beyond the bound declared for encrypted numbers, \
                         which is public; declare a larger one with bound=...",
            });
        }
        self.encode_within(values, scale, level, Bound::Declared(bound))
    }

    fn encode_within(
        &self,
        values: &[Complex64],
        scale: f64,
        level: usize,
        bound: Bound,
    ) -> Result<Plaintext, SchemeError> {
        let ckks = self.ckks("encoding real or complex numbers", "encode integers")?;
        let slots = &ckks.slots;
        self.check_level(level)?;
        if !(scale.is_finite() && scale >= 1.0) {
            return refuse("scale", scale, "choose a finite number of at least 1");
        }
        if values.len() > slots.count() {
            return Err(SchemeError::TooManyValues { found: values.len(), slots: slots.count() });
        }
        let is_finite = |v: &Complex64| v.re.is_finite() && v.im.is_finite();
        if let Some(position) = values.iter().position(|v| !is_finite(v)) {
            return Err(SchemeError::Value { position, remedy: "give finite numbers" });
        }
        let noise = self.operations().plain_noise(self, bound.value(), scale);
        self.check_noise(noise, level, scale)?;
        let n = self.ring_degree();
        let mut pairs = vec![Complex64::default(); n / 2];
        slots.interpolate(values.iter().copied(), &mut pairs, &mut slots.scratch());
        let excess = excess_bits(bound.value(), scale);
        let factor = scale * 2f64.powi(-excess);
        let mut rounded = Zeroizing::new(vec![0i64; n]);
        let (low, high) = rounded.split_at_mut(n / 2);
        for ((low, high), pair) in low.iter_mut().zip(high).zip(&pairs) {
            (*low, *high) = (round(pair.re * factor), round(pair.im * factor));
        }
        wipe(&mut pairs);
        let primes = self.chain().level(level);
        let polys = Polys::over(vec![0; level * n], 1, n).map_rows(0, |_, prime, _, row| {
            let q = &primes[prime];
            let mut row = row.reduce_signed(&rounded, q);
            if excess > 0 {
                row.scale(q.factor(q.modulus().pow(2, excess as u64)), q);
            }
            row.forward(q)
        });
        Ok(Plaintext::numbers(self.fingerprint(), polys.into_words(), level, scale, bound))
    }

    /// The numbers in the slots, with their error. Cost: a transform a prime, the numbers in full,
    /// and one Fourier transform.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotInScheme`], and
    /// [`SchemeError::NoiseTooLarge`] for decrypted numbers beyond what their ciphertext claimed: noise
    /// that fills the modulus, another secret's ciphertext, or a lie about its size.
    pub fn decode_complex(&self, plaintext: &Plaintext) -> Result<Vec<Complex64>, SchemeError> {
        let ckks = self.ckks("decoding complex numbers", "decode integers")?;
        self.check_params(plaintext.params)?;
        let n = self.ring_degree();
        let evaluations = plaintext.evaluations(n);
        let level = evaluations.primes();
        let primes = self.chain().level(level);
        let words = Zeroizing::new(vec![0; plaintext.words.len()]);
        let mut words = Polys::over(words, 1, n)
            .map_rows(0, |_, prime, _, row| {
                row.copy(evaluations.row(prime, 0)).inverse(&primes[prime])
            })
            .into_words();
        let mut coefficients = Zeroizing::new(vec![0.0; n]);
        ckks.compositions[level - 1].centred(&mut coefficients, &mut words);
        let mut pairs = pairs(&coefficients, 1.0 / plaintext.scale);
        let slots = &ckks.slots;
        let values: Vec<Complex64> = slots.evaluate(&mut pairs, &mut slots.scratch()).collect();
        wipe(&mut pairs);
        match plaintext.bound {
            // What is no number is beyond it too.
            Bound::Claimed(most) if !values.iter().all(|value| value.norm() <= most) => {
                Err(SchemeError::NoiseTooLarge)
            }
            _ => Ok(values),
        }
    }
}

/// Coefficients larger than a double's integers are multiples of this power of two.
fn excess_bits(bound: f64, scale: f64) -> i32 {
    let bits = (bound * scale).log2().ceil().max(0.0) as i32;
    (bits - COEFFICIENT_BITS).max(0)
}

/// To the nearest integer, for numbers below 2^51. Adding and subtracting 1.5 * 2^52 rounds without
/// a library call.
fn round(x: f64) -> i64 {
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    ((x + ROUNDER) - ROUNDER) as i64
}
