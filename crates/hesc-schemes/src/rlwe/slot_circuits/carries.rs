//! Carries along slots: the prefixes of an adder whose bits lie beside each other in one ciphertext.

use super::evaluators::{Evaluator, Keyed};
use crate::SchemeError;
use crate::rlwe::ciphertext::State;
use crate::rlwe::keys::{GaloisKeys, RelinKey};
use crate::rlwe::{Ciphertext, Rlwe};

impl Rlwe {
    /// The carries of bits of which some generate and some pass one on, by Kogge and Stone (1973): for each
    /// automorphism `rho` in turn `g + p rho(g)` and `p rho(p)`. Both are brought down to the level of the products
    /// before they are rotated, where that is cheapest, and products to that of the next ones.
    ///
    /// Cost: two rotations and two relinearised products for each automorphism but the last, which takes one each.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::NoiseBudget`] for more steps than the noise budget allows.
    pub fn carries(
        &self,
        (relin, keys): (&RelinKey, &GaloisKeys),
        generates: &Ciphertext,
        passes: &Ciphertext,
        elements: &[usize],
    ) -> Result<Ciphertext, SchemeError> {
        self.check_pair_of(generates, passes)?;
        relin.0.tag.check(self.fingerprint(), Some(generates.tag))?;
        for &element in elements {
            self.galois_key(generates, element, keys)?;
        }
        Self::require_two_components(&passes.state, "a rotation")?;
        let by = &mut Keyed { scheme: self, relin, galois: Some(keys) };
        self.carries_by(by, generates, passes, elements)
    }

    /// [`Self::carries`] by an evaluator.
    pub(crate) fn carries_by<E: Evaluator>(
        &self,
        by: &mut E,
        generates: &E::Value,
        passes: &E::Value,
        elements: &[usize],
    ) -> Result<E::Value, SchemeError> {
        let level = self.level_of_carries(E::state(generates), E::state(passes));
        let (mut generates, mut passes) =
            (by.lowered(generates, level)?, by.lowered(passes, level)?);
        for (at, &element) in elements.iter().enumerate() {
            let carried = by.image(&generates, element)?;
            let sum = by.sum_of_products(&[(&passes, Some(&carried))], &[&generates])?;
            if at + 1 == elements.len() {
                return by.relinearised(&sum, E::state(&sum).level);
            }
            let further = by.image(&passes, element)?;
            let product = by.sum_of_products(&[(&passes, Some(&further))], &[])?;
            let next = self.level_of_carries(
                &self.switched_state(E::state(&sum))?,
                &self.switched_state(E::state(&product))?,
            );
            generates = by.relinearised(&sum, next)?;
            passes = by.relinearised(&product, next)?;
        }
        Ok(generates)
    }

    /// The lowest level at which the next carries have as much noise budget as at any other, but for a quarter of a bit.
    fn level_of_carries(&self, generates: &State, passes: &State) -> usize {
        self.best_level(generates.level.min(passes.level), |level| {
            let generates = self.lowered_state(generates, level)?;
            let passes = self.lowered_state(passes, level)?;
            let product = self.product_state(&passes, &self.switched_state(&generates)?)?;
            self.switched_state(&self.sum_state(&product, &generates)?)
        })
    }
}
