//! CKKS (Cheon, Kim, Kim and Song 2017): complex numbers times a scale, with the noise as their error.

mod encoding;
mod multiplication;
mod noise;
mod raising;
mod sharing;
pub(crate) mod slots;
mod weighted_sums;

use hesc_math::rns::Composition;

pub use encoding::Complex64;
pub use sharing::{SharedSoFar, Sharing};
use slots::ComplexSlots;

use crate::SchemeError;
use crate::error::refuse;
use crate::rlwe::chain::Chain;
use crate::rlwe::scheme_operations::SchemeDefinition;
use crate::rlwe::{PlaintextSpace, Spec};

/// What CKKS has of its own.
#[derive(Debug)]
pub(crate) struct Ckks {
    slots: ComplexSlots,
    /// By level, from residues to numbers in full.
    compositions: Vec<Composition>,
}

impl SchemeDefinition for Ckks {
    fn check(spec: &Spec) -> Result<(), SchemeError> {
        let PlaintextSpace::Approximate { scale } = spec.plaintext else {
            return refuse("plaintext", "integers", "CKKS has a scale; BFV has integers");
        };
        if !spec.ring.is_power_of_two() {
            let remedy = "the slots of CKKS are those of a power-of-two ring; take one";
            return refuse("ring", spec.ring.value(), remedy);
        }
        if !spec.levels.is_empty() {
            let remedy = "give none for CKKS, which rescales by one prime after the other";
            return refuse("levels", spec.levels.len(), remedy);
        }
        if !(spec.bound > 0.0 && spec.bound.is_finite()) {
            return refuse("bound", spec.bound, "choose a positive number");
        }
        if !(scale > 1.0 && scale.log2() < spec.log2_modulus() - 2.0) {
            return refuse("scale", scale, "choose one above 1 and below a quarter of the modulus");
        }
        Ok(())
    }

    fn new(spec: &Spec, chain: &Chain) -> Result<Self, SchemeError> {
        let compositions = (1..=chain.levels()).map(|level| Composition::new(chain.level(level)));
        let slots = ComplexSlots::new(spec.ring_degree());
        Ok(Self { slots, compositions: compositions.collect() })
    }
}
