//! CKKS (Cheon, Kim, Kim and Song 2017): complex numbers times a scale, with the noise as their error.

mod encoding;
mod multiplication;
mod noise;
mod sharing;
pub(crate) mod slots;

use hesc_math::rns::Composition;

pub use encoding::Complex64;
pub use sharing::{SharedSoFar, Sharing};
use slots::ComplexSlots;

use crate::rlwe::chain::Chain;

/// What CKKS has of its own.
#[derive(Debug)]
pub(crate) struct Ckks {
    slots: ComplexSlots,
    /// By level, from residues to numbers in full.
    compositions: Vec<Composition>,
}

impl Ckks {
    pub(crate) fn new(ring_degree: usize, chain: &Chain) -> Self {
        let compositions = (1..=chain.levels()).map(|level| Composition::new(chain.level(level)));
        Self { slots: ComplexSlots::new(ring_degree), compositions: compositions.collect() }
    }
}
