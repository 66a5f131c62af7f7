//! Sums, and products with what is not encrypted.

use hesc_math::ring::{Coeff, Eval};
use zeroize::Zeroize as _;

use super::buffer::Buffer;
use super::ciphertext::{State, rounded_up};
use super::domain::Domain;
use super::parallel;
use super::residues::{AtRest, Residues, Row, RowMut};
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
        Self::check_levels(&a.state, &b.state)
    }

    pub(crate) fn check_levels(a: &State, b: &State) -> Result<(), SchemeError> {
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

    pub(crate) fn require_two_components(
        a: &State,
        operation: &'static str,
    ) -> Result<(), SchemeError> {
        if a.components == 2 { Ok(()) } else { Err(SchemeError::NotRelinearised { operation }) }
    }

    /// The residues of a ciphertext, in the scheme's domain.
    pub(crate) fn residues<'a>(&self, a: &'a Ciphertext) -> Residues<'a, AtRest> {
        Residues::assume(&a.words, a.components(), self.ring_degree())
    }

    /// The residues of a ciphertext of a scheme whose ciphertexts rest as evaluations.
    pub(crate) fn evaluations_of<'a>(&self, a: &'a Ciphertext) -> Residues<'a, Eval> {
        assert_eq!(self.domain(), Domain::Evaluations, "these ciphertexts rest as coefficients");
        self.residues(a).assume_domain()
    }

    /// The residues of a ciphertext of a scheme whose ciphertexts rest as coefficients.
    pub(crate) fn coefficients_of<'a>(&self, a: &'a Ciphertext) -> Residues<'a, Coeff> {
        assert_eq!(self.domain(), Domain::Coefficients, "these ciphertexts rest as evaluations");
        self.residues(a).assume_domain()
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

    fn combine<'a>(
        &self,
        a: &'a Ciphertext,
        b: &'a Ciphertext,
        subtract: bool,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        Self::check_scales(a.scale(), b.scale())?;
        if a.state.factor != b.state.factor {
            let (a, b) = self.common_factor(a, b)?;
            return self.combine(&a, &b, subtract);
        }
        let state = self.sum_state(&a.state, &b.state)?;
        let (n, primes) = (self.ring_degree(), self.chain().level(state.level));
        let (x, y) = (self.residues(a), self.residues(b));
        let mut words = Buffer::take(primes.len() * state.components * n);
        for (index, out) in RowMut::all(&mut words, n).enumerate() {
            let (prime, component) = (index / state.components, index % state.components);
            let row = |of: Residues<'a, AtRest>| {
                (component < of.components()).then(|| of.row(prime, component))
            };
            let (q, mut out) = (&primes[prime], out);
            match (row(x), row(y)) {
                (Some(x), Some(y)) if subtract => out.set_difference(x, y, q),
                (Some(x), Some(y)) => out.set_sum(x, y, q),
                (Some(x), None) => out.copy(x),
                (None, Some(y)) => {
                    out.copy(y);
                    if subtract {
                        out.negate(q);
                    }
                }
                (None, None) => {}
            }
        }
        Ok(Ciphertext { tag: a.tag, state, words })
    }

    /// The state of a sum or difference of ciphertexts of one level, factor and scale.
    pub(crate) fn sum_state(&self, a: &State, b: &State) -> Result<State, SchemeError> {
        let scales = (a.scale, b.scale);
        let noise = a.noise.plus(self.with_scale_error(b.noise, b.noise.magnitude, scales));
        self.checked(State { components: a.components.max(b.components), noise, ..*a })
    }

    /// `-a`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let mut result = a.clone();
        let length = a.components() * self.ring_degree();
        for (words, q) in result.words.chunks_exact_mut(length).zip(self.chain().level(a.level())) {
            RowMut::<AtRest>::assume(words).negate(q);
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
        let message = self.message(plaintext, a.level(), a.state.factor)?;
        let state = self.plus_plain_state(&a.state, plaintext)?;
        let n = self.ring_degree();
        let mut result = Ciphertext { state, ..a.clone() };
        parallel::for_each_chunk(&mut result.words, a.components() * n, n, |row, prime, words| {
            let q = &self.chain().level(state.level)[prime];
            Self::add_message(&mut words[..n], row, &message, prime, q);
        });
        Ok(result)
    }

    /// The state of [`Self::add_plain`].
    pub(crate) fn plus_plain_state(
        &self,
        a: &State,
        plaintext: &Plaintext,
    ) -> Result<State, SchemeError> {
        self.check_params(plaintext.params)?;
        Self::check_scales(a.scale, plaintext.scale())?;
        let bound = plaintext.bound.value();
        let own = self.operations().plain_noise(self, bound, plaintext.scale());
        let scales = (a.scale, plaintext.scale());
        let noise = a.noise.plus(self.with_scale_error(own, bound, scales));
        self.checked(State { noise, ..*a })
    }

    /// `a * plaintext`: slot by slot for what was encoded into slots, as polynomials otherwise.
    /// CKKS: scales multiply. Cost: in BFV a transform back and forth for each component and prime.
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
        let state = self.times_plain_state(&a.state, plaintext)?;
        Ok(Ciphertext { tag: a.tag, state, words: self.times_plain_words(a, plaintext) })
    }

    /// The words of [`Self::multiply_plain`].
    pub(crate) fn times_plain_words(&self, a: &Ciphertext, plaintext: &Plaintext) -> Buffer {
        let n = self.ring_degree();
        let plain_modulus = self.spec().plaintext.modulus();
        let own = self.residues(a);
        let mut words = Buffer::take(a.words.len());
        parallel::for_each_chunk(&mut words, a.components() * n, n, |scratch, prime, out| {
            let q = &self.chain().level(a.level())[prime];
            let factor = match plaintext.level {
                None => {
                    let mut lifted = RowMut::assume(&mut *scratch);
                    lifted.lift_centred(&plaintext.words, plain_modulus, q);
                    Row::assume(lifted.forward(q).words())
                }
                Some(_) => Residues::assume(&plaintext.words, 1, n).row(prime, 0),
            };
            let evaluated = self.domain().evaluated(own);
            for (component, out) in out.chunks_exact_mut(n).enumerate() {
                if let Some(own) = evaluated {
                    RowMut::assume(out).set_product(own.row(prime, component), factor, q);
                } else {
                    let mut row = RowMut::assume(out);
                    row.copy(own.row(prime, component));
                    let mut row = self.domain().evaluations(row, q);
                    row.multiply(factor, q);
                    self.domain().rest_evaluations(row, q);
                }
            }
            // Weights of a model may be its owner's secret; scratch space is used again.
            scratch.zeroize();
        });
        words
    }

    /// The state of [`Self::multiply_plain`].
    pub(crate) fn times_plain_state(
        &self,
        a: &State,
        plaintext: &Plaintext,
    ) -> Result<State, SchemeError> {
        self.check_params(plaintext.params)?;
        Self::check_plain_level(plaintext, a.level)?;
        let noise = self.operations().plain_product_noise(self, a, plaintext);
        self.checked(State { scale: a.scale * plaintext.scale, noise, ..*a })
    }

    /// `a * scalar`, an integer: the cheapest product there is, one pass.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`]; in exact schemes [`SchemeError::Value`] for an integer outside
    /// [`Self::integer_range`].
    pub fn multiply_scalar(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, SchemeError> {
        if let Some(integers) = self.operations().integers() {
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
        let state = self.times_integer_state(&a.state, scalar)?;
        Ok(Ciphertext { tag: a.tag, state, words: self.scaled_words(a, scalar) })
    }

    /// The state of a product with an integer.
    fn times_integer_state(&self, a: &State, scalar: i64) -> Result<State, SchemeError> {
        let noise = a.noise.times(rounded_up(scalar.unsigned_abs() as f64));
        self.checked(State { noise, ..*a })
    }

    /// All words times an integer.
    pub(crate) fn scaled_words(&self, a: &Ciphertext, scalar: i64) -> Buffer {
        let (n, own) = (self.ring_degree(), self.residues(a));
        let mut words = Buffer::take(a.words.len());
        let primes = self.chain().level(a.level()).iter().enumerate();
        for (out, (prime, q)) in words.chunks_exact_mut(a.components() * n).zip(primes) {
            let factor = q.factor(q.modulus().reduce_signed(scalar));
            RowMut::all(out, n)
                .zip(own.rows(prime))
                .for_each(|(mut out, row)| out.set_scaled(row, factor, q));
        }
        words
    }
}
