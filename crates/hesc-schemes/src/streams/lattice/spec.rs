//! Which sets are for streams of bits.

use hesc_math::RingIndex;

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::{Packing, PlaintextSpace, SchemeKind, Spec};

impl Spec {
    /// A set for streams of bits: BFV for integers, CKKS for approximate numbers.
    ///
    /// # Errors
    /// [`SchemeError::Math`] for a ring degree that is no power of two within bounds.
    pub fn streams(
        ring_degree: usize,
        coeff_moduli: Vec<u64>,
        packing: Packing,
        plaintext: PlaintextSpace,
    ) -> Result<Self, SchemeError> {
        let ring = RingIndex::power_of_two(ring_degree)?;
        let scheme = match plaintext {
            PlaintextSpace::Integers { .. } => SchemeKind::Bfv,
            PlaintextSpace::Approximate { .. } => SchemeKind::Ckks,
        };
        let (levels, special_moduli, packing) = (Vec::new(), Vec::new(), Some(packing));
        let bound = 1.0;
        Ok(Self { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing })
    }

    /// Where the bits of a block of streams sit; which plaintexts there are is for the encoding to check.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for sets that encrypt vectors, and for what streams do not have.
    pub(super) fn check_streams(&self) -> Result<Packing, SchemeError> {
        if !self.ring.is_power_of_two() {
            return refuse("ring", self.ring.value(), "take a power-of-two ring");
        }
        let Some(packing) = self.packing else {
            return refuse("packing", "none", "say where the bits of a block sit");
        };
        if !self.special_moduli.is_empty() || !self.levels.is_empty() || self.bound != 1.0 {
            let found = format!("{:?}, bound {}", self.special_moduli, self.bound);
            let remedy =
                "give none, no levels and a bound of 1: bits are added, and no keys switched";
            return refuse("special_moduli", found, remedy);
        }
        Ok(packing)
    }
}
