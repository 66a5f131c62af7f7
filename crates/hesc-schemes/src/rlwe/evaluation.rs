//! Sums, and products with what is not encrypted.

use hesc_math::residues::kernels;
use zeroize::Zeroize;

use super::buffer::Buffer;
use super::ciphertext::rounded_up;
use super::domain::Domain;
use super::key_switching::Limbs;
use super::parallel;
use super::{Ciphertext, Plaintext, Rlwe};
use crate::SchemeError;

/// Scales that differ by less are the same: what rounding of doubles leaves.
pub(crate) const SCALE_TOLERANCE: f64 = 1e-12;

impl Rlwe {
    /// Refuses operands of different sets, keys, levels or scales.
    pub(crate) fn check_operands(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), SchemeError> {
        self.check_ciphertext(a)?;
        self.check_ciphertext(b)?;
        b.tag.check(self.fingerprint(), Some(a.tag))?;
        if a.level != b.level {
            return Err(SchemeError::LevelMismatch { expected: a.level, found: b.level });
        }
        Ok(())
    }

    fn check_scales(a: f64, b: f64) -> Result<(), SchemeError> {
        if (a / b - 1.0).abs() > SCALE_TOLERANCE {
            return Err(SchemeError::ScaleMismatch { expected: a, found: b });
        }
        Ok(())
    }

    pub(crate) fn require_two_parts(
        a: &Ciphertext,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        if a.size == 2 { Ok(()) } else { Err(SchemeError::NotRelinearised { operation }) }
    }

    /// Words of one limb with all parts.
    pub(crate) fn limb_words(&self, a: &Ciphertext) -> usize {
        a.size * self.ring_degree()
    }

    pub(crate) fn part<'a>(&self, a: &'a Ciphertext, part: usize) -> Limbs<'a> {
        let n = self.ring_degree();
        Limbs { words: &a.words, step: a.size * n, at: part * n, ring_degree: n }
    }

    /// `a + b`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::LevelMismatch`], [`SchemeError::ScaleMismatch`], and
    /// [`SchemeError::NoiseBudget`] if the sum could not be decrypted.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.combine(a, b, false)
    }

    /// `a - b`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::LevelMismatch`],
    /// [`SchemeError::ScaleMismatch`], [`SchemeError::NoiseBudget`]
    /// if the difference could not be decrypted.
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.combine(a, b, true)
    }

    fn combine(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        subtract: bool,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        Self::check_scales(a.scale, b.scale)?;
        if a.factor != b.factor {
            let (a, b) = self.common_factor(a, b)?;
            return self.combine(&a, &b, subtract);
        }
        let scales = (a.scale, b.scale);
        let noise = a.noise.plus(self.with_scale_error(b.noise, b.noise.magnitude, scales));
        self.check_noise(noise, a.level, a.scale)?;
        let n = self.ring_degree();
        let size = a.size.max(b.size);
        let primes = self.chain().level(a.level);
        let mut words = Buffer::take(primes.len() * size * n);
        let limbs = words.chunks_exact_mut(size * n).zip(primes);
        for (limb, (out, prime)) in limbs.enumerate() {
            for (part, out) in out.chunks_exact_mut(n).enumerate() {
                let row = |c: &Ciphertext| {
                    let at = (limb * c.size + part) * n;
                    (part < c.size).then_some(at..at + n)
                };
                match (row(a), row(b)) {
                    (Some(x), Some(y)) if subtract => {
                        kernels::subtract_into(out, &a.words[x], &b.words[y], prime);
                    }
                    (Some(x), Some(y)) => {
                        kernels::add_into(out, &a.words[x], &b.words[y], prime);
                    }
                    (Some(x), None) => out.copy_from_slice(&a.words[x]),
                    (None, Some(y)) => {
                        out.copy_from_slice(&b.words[y]);
                        if subtract {
                            kernels::negate(out, prime);
                        }
                    }
                    (None, None) => {}
                }
            }
        }
        Ok(Ciphertext { size, words, noise, ..a.shell() })
    }

    /// `-a`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let mut result = a.clone();
        let (size, primes) = (self.limb_words(a), self.chain().level(a.level));
        for (limb, prime) in result.words.chunks_exact_mut(size).zip(primes) {
            kernels::negate(limb, prime);
        }
        Ok(result)
    }

    /// `a + plaintext`. CKKS: the plaintext has the ciphertext's level and scale.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LevelMismatch`], [`SchemeError::ScaleMismatch`],
    /// [`SchemeError::NoiseBudget`] if the sum could not be decrypted.
    pub fn add_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let message = self.message(plaintext, a.level, a.factor)?;
        Self::check_scales(a.scale, plaintext.scale())?;
        let bound = plaintext.bound.value();
        let own = self.differences().plain_noise(self, bound, plaintext.scale());
        let scales = (a.scale, plaintext.scale());
        let noise = a.noise.plus(self.with_scale_error(own, bound, scales));
        self.check_noise(noise, a.level, a.scale)?;
        let n = self.ring_degree();
        let mut result = Ciphertext { noise, ..a.clone() };
        let size = self.limb_words(a);
        parallel::for_each_chunk(&mut result.words, size, n, |row, limb, words| {
            let prime = &self.chain().level(a.level)[limb];
            Self::add_message(&mut words[..n], row, &message, limb, prime);
        });
        Ok(result)
    }

    /// `a * plaintext`: slot by slot for what was encoded into slots, as polynomials otherwise.
    /// CKKS: scales multiply. Cost: in BFV a transform back and forth for each part and prime.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::LevelMismatch`],
    /// [`SchemeError::NoiseBudget`] if the product could not be decrypted.
    pub fn multiply_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        self.check_params(plaintext.params)?;
        let n = self.ring_degree();
        let noise = self.differences().plain_product_noise(self, a, plaintext);
        let scale = a.scale * plaintext.scale;
        self.check_noise(noise, a.level, scale)?;
        Self::check_level(plaintext, a.level)?;
        let plain_modulus = self.spec().plaintext.modulus();
        let mut words = Buffer::take(a.words.len());
        let size = self.limb_words(a);
        parallel::for_each_chunk(&mut words, size, n, |row, limb, out| {
            let prime = &self.chain().level(a.level)[limb];
            let factor = match plaintext.level {
                None => {
                    kernels::lift_centred(row, &plaintext.words, plain_modulus, prime);
                    prime.forward(row);
                    &*row
                }
                Some(_) => &plaintext.words[limb * n..][..n],
            };
            let parts = a.words[limb * size..][..size].chunks_exact(n);
            for (out, part) in out.chunks_exact_mut(n).zip(parts) {
                if self.domain() == Domain::Evaluations {
                    kernels::multiply(out, part, factor, prime);
                } else {
                    out.copy_from_slice(part);
                    prime.forward(out);
                    kernels::multiply_assign(out, factor, prime);
                    prime.inverse(out);
                }
            }
            // Weights of a model may be its owner's secret; scratch space is used again.
            row.zeroize();
        });
        Ok(Ciphertext { words, noise, scale, ..a.shell() })
    }

    /// `a * scalar`, an integer: the cheapest product there is, one pass.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`]; in exact schemes [`SchemeError::Value`] for an integer outside
    /// [`Self::integer_range`].
    pub fn multiply_scalar(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, SchemeError> {
        if let Some(integers) = self.differences().integers() {
            integers.residue(scalar, 0)?;
        }
        self.multiply_integer(a, scalar)
    }

    pub(crate) fn multiply_integer(
        &self,
        a: &Ciphertext,
        scalar: i64,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let noise = a.noise.times(rounded_up(scalar.unsigned_abs() as f64));
        self.check_noise(noise, a.level, a.scale)?;
        Ok(Ciphertext { words: self.scaled_words(a, scalar), noise, ..a.shell() })
    }

    /// All words times an integer.
    pub(crate) fn scaled_words(&self, a: &Ciphertext, scalar: i64) -> Buffer {
        let mut words = Buffer::take(a.words.len());
        let limb_words = self.limb_words(a);
        let limbs = words.chunks_exact_mut(limb_words).zip(a.words.chunks_exact(limb_words));
        for ((out, limb), prime) in limbs.zip(self.chain().level(a.level)) {
            let factor = prime.factor(prime.modulus().reduce_signed(scalar));
            kernels::scale_into(out, limb, factor, prime);
        }
        words
    }
}

impl Ciphertext {
    /// Everything but the words.
    pub(crate) fn shell(&self) -> Self {
        Self { words: Buffer::default(), ..*self }
    }
}
