//! Carries along slots: the prefixes of an adder whose bits lie beside each other in one ciphertext.

use super::keys::{GaloisKeys, RelinKey};
use super::{Ciphertext, Rlwe};
use crate::SchemeError;

impl Rlwe {
    /// The carries of bits of which some generate and some pass one on, by Kogge and Stone (1973): for each
    /// automorphism `rho` in turn `g + p rho(g)` and `p rho(p)`. Both are brought down to the level of the products
    /// before they are rotated, where that is cheapest, and products to that of the next ones.
    ///
    /// Cost: two rotations and two relinearised products for each automorphism but the last, which takes one each.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`], [`SchemeError::MissingKey`],
    /// [`SchemeError::NotRelinearised`]; [`SchemeError::NoiseBudget`] for more steps than there is room for.
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
        Self::require_two_parts(passes, "a rotation")?;
        let level = self.level_of_carries(generates, passes);
        let mut now = (self.lowered(generates, level)?, self.lowered(passes, level)?);
        for (at, &element) in elements.iter().enumerate() {
            let (generates, passes) = &now;
            let carried = self.apply_galois(generates, element, keys)?;
            let sum = self.sum(&self.multiply(passes, &carried)?, generates, false)?;
            if at + 1 == elements.len() {
                return self.relinearise(&sum, relin);
            }
            let further = self.apply_galois(passes, element, keys)?;
            let product = self.multiply(passes, &further)?;
            let shells = (self.two_parts(&sum)?, self.two_parts(&product)?);
            let next = self.level_of_carries(&shells.0, &shells.1);
            let down = |a: &Ciphertext| self.relinearise_to(a, relin, next);
            now = (down(&sum)?, down(&product)?);
        }
        Ok(now.0)
    }

    /// What is known of a product once it is relinearised.
    pub(super) fn two_parts(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        Ok(Ciphertext { size: 2, noise: self.switched_noise(a)?, ..a.shell() })
    }

    /// The lowest level at which the next carries have as much room as at any other, but for a quarter of a bit.
    pub(super) fn level_of_carries(&self, generates: &Ciphertext, passes: &Ciphertext) -> usize {
        self.roomiest(generates.level.min(passes.level), |level| {
            let generates = self.lowered_shell(generates, level)?;
            let passes = self.lowered_shell(passes, level)?;
            let rotated =
                Ciphertext { noise: self.switched_noise(&generates)?, ..generates.shell() };
            let product = self.product_shell(&passes, &rotated)?;
            let sum = Ciphertext { noise: product.noise.plus(generates.noise), ..product };
            self.two_parts(&sum)
        })
    }
}
