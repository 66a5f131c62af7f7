use crate::plans::PlanError;
use hesc_math::is_prime;

/// Bits of a query, leaves of a model, and outputs, at most.
const MOST_EDGES: u32 = 1 << 15;
const MOST_LEAVES: u64 = 1 << 20;
pub(super) const MOST_OUTPUTS: usize = 1 << 10;
/// Conditions of a leaf, at most.
const MOST_CONDITIONS: u32 = 1 << 10;
/// Numbers that are encrypted are below this.
const MOST_NUMBERS: u64 = 1 << 31;

/// What everybody knows of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Trees.
    pub trees: u32,
    /// Leaves of all its trees.
    pub leaves: u32,
}

/// What both sides know. Padded by trees of one leaf of value zero, and by leaves that nothing reaches, the numbers tell less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Bits of a sample: whether features exceed edges that are public.
    pub edges: u32,
    /// Trees and leaves of each output.
    pub outputs: Vec<Shape>,
    /// Conditions of a leaf, at most.
    pub most_conditions: u32,
    /// Bound on the absolute value of an output: what its trees' largest values add up to.
    pub reach: u64,
}

impl Declared {
    /// Leaves of all outputs.
    pub(super) fn leaves(&self) -> usize {
        self.outputs.iter().map(|shape| shape.leaves as usize).sum()
    }

    /// The primes of zero tests and of values: above the largest cost, and above twice the reach.
    pub(super) fn moduli(&self) -> (u64, u64) {
        let next = |least: u64| (least..).find(|&x| is_prime(x)).unwrap_or(least);
        let of_costs = next(u64::from(self.most_conditions).max(1) + 1);
        (of_costs, next((2 * self.reach).max(of_costs) + 1))
    }

    /// Refuses what cannot be declared.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        if !(1..=MOST_EDGES).contains(&self.edges) {
            return refuse("edges", "1 to 32768 bits are encrypted; fit the trees on fewer bins");
        }
        if !(1..=MOST_OUTPUTS).contains(&self.outputs.len()) {
            return refuse(
                "outputs",
                "there are 1 to 1024; score groups of them under other plans",
            );
        }
        if self.outputs.iter().any(|shape| shape.trees == 0 || shape.leaves < shape.trees) {
            return refuse("outputs", "each has a tree at least, and each tree a leaf");
        }
        if self.outputs.iter().map(|shape| u64::from(shape.leaves)).sum::<u64>() > MOST_LEAVES {
            return refuse("leaves", "2^20 are answered at once; serve fewer or smaller trees");
        }
        if self.most_conditions > MOST_CONDITIONS {
            return refuse("most_conditions", "a leaf has 1024 at most; fit shallower trees");
        }
        let (of_costs, of_values) = match self.reach {
            0..MOST_NUMBERS => self.moduli(),
            _ => (MOST_NUMBERS, MOST_NUMBERS),
        };
        if of_costs.saturating_mul(of_values) >= MOST_NUMBERS {
            return refuse(
                "reach",
                "costs times values stay below 2^31; round values to fewer bits",
            );
        }
        Ok(())
    }
}
