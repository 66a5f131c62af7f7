//! Sums, and products with what is not encrypted.

use hesc_math::ring::{Coeff, Eval};

use super::ciphertext::{State, rounded_up};
use super::polys::Polys;
use super::residues::{Residues, Stored};
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

    pub(crate) fn check_scales(a: f64, b: f64) -> Result<(), SchemeError> {
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

    /// The components of a ciphertext of a scheme whose ciphertexts are evaluations.
    pub(crate) fn evaluations_of<'a>(&self, a: &'a Ciphertext) -> Residues<'a, Eval> {
        let evaluations = self.domain().as_evaluations(a.residues());
        evaluations.expect("these ciphertexts are evaluations")
    }

    /// The components of a ciphertext of a scheme whose ciphertexts are coefficients.
    pub(crate) fn coefficients_of<'a>(&self, a: &'a Ciphertext) -> Residues<'a, Coeff> {
        let coefficients = self.domain().as_coefficients(a.residues());
        coefficients.expect("these ciphertexts are coefficients")
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
        Self::check_scales(a.scale(), b.scale())?;
        if a.state.factor != b.state.factor {
            let (a, b) = self.common_factor(a, b)?;
            return self.combine(&a, &b, subtract);
        }
        let state = self.sum_state(&a.state, &b.state)?;
        let polys = self.sum_polys(a.residues(), b.residues(), state.level, subtract);
        Ok(Ciphertext { tag: a.tag, state, polys })
    }

    /// `a + b` or `a - b`, of any numbers of components at a level.
    pub(crate) fn sum_polys<'a>(
        &self,
        a: Residues<'a, Stored>,
        b: Residues<'a, Stored>,
        level: usize,
        subtract: bool,
    ) -> Polys<Stored> {
        let primes = self.chain().level(level);
        let components = a.components().max(b.components());
        let sum = Polys::take(primes.len(), components, a.ring_degree());
        sum.map_primes_in_pass(0, |_, prime, out| {
            let q = &primes[prime];
            let row = |of: Residues<'a, Stored>, component: usize| {
                (component < of.components()).then(|| of.row(prime, component))
            };
            out.map(|component, out| match (row(a, component), row(b, component)) {
                (Some(a), Some(b)) if subtract => out.difference(a, b, q),
                (Some(a), Some(b)) => out.sum(a, b, q),
                (Some(a), None) => out.copy(a),
                (None, Some(b)) => {
                    let mut out = out.copy(b);
                    if subtract {
                        out.negate(q);
                    }
                    out
                }
                (None, None) => out.zero(),
            })
        })
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
        let primes = self.chain().level(a.level());
        let polys = a.polys.clone().map_primes_in_pass(0, |_, prime, rows| {
            rows.map(|_, mut row| {
                row.negate(&primes[prime]);
                row
            })
        });
        Ok(Ciphertext { polys, ..*a })
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
        let primes = self.chain().level(state.level);
        let polys = a.polys.clone().map_primes(1, |scratch, prime, rows| {
            let scratch = scratch.row();
            rows.map_first(|c_0| self.add_message(c_0, scratch, &message, prime, &primes[prime]))
        });
        Ok(Ciphertext { tag: a.tag, state, polys })
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
        Ok(Ciphertext { tag: a.tag, state, polys: self.times_plain_polys(a, plaintext) })
    }

    /// The components of [`Self::multiply_plain`].
    pub(crate) fn times_plain_polys(&self, a: &Ciphertext, plaintext: &Plaintext) -> Polys<Stored> {
        let (own, n) = (a.residues(), self.ring_degree());
        let (primes, plain_modulus) =
            (self.chain().level(a.level()), self.spec().plaintext.modulus());
        let products = Polys::take(primes.len(), own.components(), n);
        products.map_primes(1, |mut scratch, prime, out| {
            let q = &primes[prime];
            let factor = match plaintext.level {
                None => {
                    let lifted = scratch.reborrow().row();
                    lifted.lift_centred(&plaintext.words, plain_modulus, q).forward(q).into_row()
                }
                Some(_) => plaintext.evaluations(n).row(prime, 0),
            };
            let evaluations = self.domain().as_evaluations(own);
            let products = out.map(|component, out| {
                let product = if let Some(own) = evaluations {
                    out.product(own.row(prime, component), factor, q)
                } else {
                    let row = out.copy(own.row(prime, component));
                    let mut row = self.domain().evaluations(row, q);
                    row.multiply(factor, q);
                    row
                };
                self.domain().store_evaluations(product, q)
            });
            // Weights of a model may be its owner's secret; scratch space is used again.
            scratch.row().wipe();
            products
        })
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
        Ok(Ciphertext { tag: a.tag, state, polys: self.scaled_polys(a, scalar) })
    }

    /// The state of a product with an integer, which may be a secret of its owner's: noise, which travels, grows by the
    /// next power of two. Circuits have public integers and count them as they are: [`Rlwe::planned_combination`].
    pub(crate) fn times_integer_state(&self, a: &State, scalar: i64) -> Result<State, SchemeError> {
        let noise = a.noise.times(rounded_up(scalar.unsigned_abs() as f64));
        self.checked(State { noise, ..*a })
    }

    /// All components times an integer.
    pub(crate) fn scaled_polys(&self, a: &Ciphertext, scalar: i64) -> Polys<Stored> {
        let (own, primes) = (a.residues(), self.chain().level(a.level()));
        let scaled = Polys::take(primes.len(), own.components(), own.ring_degree());
        scaled.map_primes_in_pass(0, |_, prime, out| {
            let q = &primes[prime];
            let factor = q.factor(q.modulus().reduce_signed(scalar));
            out.map(|component, out| out.scaled(own.row(prime, component), factor, q))
        })
    }
}
