use super::Ckks;
use crate::SchemeError;
use crate::rlwe::chain::Quotient;
use crate::rlwe::ciphertext::{State, rounded_up};
use crate::rlwe::scheme_operations::Multiplication;
use crate::rlwe::{Ciphertext, Rlwe};

impl Multiplication for Ckks {
    fn admits_scale(&self, scale: f64) -> bool {
        scale > 0.0
    }

    fn divide(&self, a: &mut State, by: &Quotient) {
        a.scale /= by.value();
    }

    fn has_scale(&self) -> bool {
        true
    }
}

impl Rlwe {
    /// CKKS: divides by the last prime, and the scale with it.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::LastLevel`], [`SchemeError::NoiseBudget`].
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.ckks("rescaling", "use mod_switch, which keeps the plaintext")?;
        self.check_ciphertext(a)?;
        let state = self.rescaled_state(&a.state)?;
        Ok(Ciphertext { tag: a.tag, state, polys: self.divided_polys(a, state.level) })
    }

    /// The state of [`Self::rescale`].
    pub(crate) fn rescaled_state(&self, a: &State) -> Result<State, SchemeError> {
        self.divided_state(a, a.level.saturating_sub(1))
    }

    /// CKKS: `a * scalar` for any real number, at the price of `scale`, which is multiplied to the
    /// ciphertext's.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes; [`SchemeError::Value`] for numbers that are
    /// not finite or leave the range of 62 bits with the scale; [`SchemeError::ParameterMismatch`],
    /// [`SchemeError::NoiseBudget`].
    pub fn multiply_real(
        &self,
        a: &Ciphertext,
        scalar: f64,
        scale: f64,
    ) -> Result<Ciphertext, SchemeError> {
        self.ckks("a product with a real number", "scale it to an integer")?;
        let scaled = (scalar * scale).round();
        if !(scale >= 1.0 && scaled.abs() < 2f64.powi(62)) {
            return Err(SchemeError::Value {
                position: 0,
                remedy: "give a finite number and a scale that keep their product below 2^62",
            });
        }
        self.check_ciphertext(a)?;
        let state = self.times_real_state(&a.state, scalar, scale)?;
        Ok(Ciphertext { tag: a.tag, state, polys: self.scaled_polys(a, scaled as i64) })
    }

    /// The state of [`Self::multiply_real`].
    fn times_real_state(&self, a: &State, scalar: f64, scale: f64) -> Result<State, SchemeError> {
        let size = rounded_up(scalar.abs());
        // Rounded twice: as a double and to an integer.
        let error = 0.5 + size * scale * f64::EPSILON;
        let noise = self.slot_product_within(a, size, scale, error);
        self.checked(State { scale: a.scale * scale, noise, ..*a })
    }
}
