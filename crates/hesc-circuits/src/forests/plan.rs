use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::RingProducts;
use hesc_schemes::wire::{Kind, Reader, Writer};

use super::declared::{Declared, MOST_OUTPUTS, Shape};
use super::sizes::Sizes;
use crate::plans::{self, Declaration, PlanError};

/// What both sides agree upon: public numbers of a model, and the sizes that follow.
pub type Plan = plans::Plan<Declared>;

impl Declaration for Declared {
    type Derived = Sizes;
    const KIND: Kind = Kind::ForestPlan;
    const PRIMES: usize = 2;

    /// The set and the cut into ciphertexts with the fewest bytes of a query and its answer, of those whose numbers are wrong
    /// with a probability below `2^-128`.
    fn derive(&self) -> Result<(RingProducts, Sizes), PlanError> {
        self.check()?;
        let found = Sizes::smallest(self).ok_or(PlanError::NoRoom {
            nearest: f64::INFINITY,
            remedy: "round values to fewer bits, fit the trees on fewer bins, or serve fewer leaves",
        })?;
        let products = RingProducts::of_sizes(found.ring_degree, &found.prime_bits, None)?;
        Ok((products, found))
    }

    fn write(&self, writer: &mut Writer) {
        writer.u32(self.edges).u32(self.outputs.len() as u32);
        for shape in &self.outputs {
            writer.u32(shape.trees).u32(shape.leaves);
        }
        writer.u32(self.most_conditions).u64(self.reach);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        let (edges, outputs) = (reader.u32()?, reader.u32()? as usize);
        if outputs > MOST_OUTPUTS {
            return Err(reader.error("it has more outputs than a plan has"));
        }
        let mut shape = || Ok(Shape { trees: reader.u32()?, leaves: reader.u32()? });
        let outputs = (0..outputs).map(|_| shape()).collect::<Result<_, SchemeError>>()?;
        Ok(Self { edges, outputs, most_conditions: reader.u32()?, reach: reader.u64()? })
    }
}

impl Plan {
    /// What follows from what is declared.
    pub(super) fn sizes(&self) -> &Sizes {
        self.derived()
    }

    /// The primes of zero tests and of values, and their product.
    pub fn plain_moduli(&self) -> (u64, u64, u64) {
        let Sizes { of_costs, of_values, .. } = *self.sizes();
        (of_costs, of_values, of_costs * of_values)
    }

    /// Ciphertexts of a query and of its answer.
    pub fn ciphertexts(&self) -> (usize, usize) {
        (self.sizes().blocks, self.sizes().answers)
    }
}
