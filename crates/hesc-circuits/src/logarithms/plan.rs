use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{RingProducts, Truncation};
use hesc_schemes::wire::{Kind, Reader, Writer};
use rand_core::Rng;

use crate::plans::{self, Declaration, PlanError, smallest};

use super::code::Code;
use super::declared::{Declared, Operand};
use super::demand::{Demand, laws};
use super::layout::Layout;
use super::plan_wire;

/// Outputs of all samples of a message.
const MOST_OUTPUTS: usize = 1 << 22;
/// Bits of a plaintext that are tried.
const BITS: std::ops::RangeInclusive<u32> = 3..=45;

/// What all sides of products by logarithms agree upon.
pub type Plan = plans::Plan<Declared>;

/// What follows from bounds, recipes and a wanted error.
#[derive(Debug)]
pub struct Derived {
    layout: Layout,
    code: Code,
    answer_bits: u32,
    /// What noise and roundings stay within, but for a probability below `2^-128`.
    reach: u64,
    error: f64,
    scales: Vec<f64>,
    /// From residues to plaintexts.
    decoding: Truncation,
}

impl Declaration for Declared {
    type Derived = Derived;
    const KIND: Kind = Kind::LogarithmPlan;

    /// The coarsest code with which outputs have the wanted error, whatever numbers there are within the bounds, the
    /// smallest set that has room for it, and in it the fewest bits of an answer: a product decrypts wrongly with a probability
    /// below `2^-128`.
    fn derive(&self) -> Result<(RingProducts, Derived), PlanError> {
        self.check()?;
        let demand = Demand::new(self);
        let reached = |&(_, error): &(Code, f64)| error <= self.error;
        let wanted = BITS.filter_map(|bits| demand.code(bits)).find(reached);
        let mut most = 0;
        let found = smallest(&RingProducts::SIZES, |ring_degree, modulus| {
            let answer = |bits| demand.answer_bits(ring_degree, modulus, bits);
            if let Some((code, error)) = wanted
                && let Some((answer_bits, reach)) = answer(code.bits)
            {
                let layout = Layout { ring_degree, products: self.products() };
                let (scales, decoding) = (self.scales(), Truncation::new(modulus, code.bits));
                return Some(Derived { layout, code, answer_bits, reach, error, scales, decoding });
            }
            most = BITS.take_while(|&bits| answer(bits).is_some()).last().unwrap_or(0).max(most);
            None
        })?;
        found.ok_or_else(|| {
            let errors =
                (*BITS.start()..=most).filter_map(|bits| demand.code(bits)).map(|code| code.1);
            let remedy = "ask for a larger error, declare narrower bounds, or multiply in the clear what one side knows";
            PlanError::NoRoom { nearest: errors.fold(f64::INFINITY, f64::min), remedy }
        })
    }

    fn write(&self, writer: &mut Writer) {
        plan_wire::write(self, writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, SchemeError> {
        plan_wire::read(reader)
    }
}

impl plans::Derived for Derived {
    const BYTES: usize = 1 + 1 + 8;

    fn answer_bits(&self) -> u32 {
        self.answer_bits
    }

    fn write(&self, writer: &mut Writer) {
        writer.u8(self.code.bits as u8).u8(self.code.octaves as u8).u64(self.code.step);
    }
}

impl Plan {
    /// Where products lie.
    pub fn layout(&self) -> Layout {
        self.derived().layout
    }

    /// How numbers are coded.
    pub fn code(&self) -> Code {
        self.derived().code
    }

    /// The plaintext that is nearest to a centred residue, and whether it is as near as noise leaves it.
    pub(super) fn rounded(&self, residue: i64) -> (u64, bool) {
        let products = self.products();
        let lifted = products.modulus() & (residue >> 63) as u64;
        let residue = (residue as u64).wrapping_add(lifted);
        let plaintext = self.derived().decoding.truncate(residue);
        let centre = self.residue_of(plaintext);
        let off = products.centred_sum(residue, products.modulus() - centre);
        (plaintext, off.unsigned_abs() <= self.derived().reach)
    }

    /// A residue for a plaintext, `q m / 2^bits` rounded after two uniform numbers of width 1 have been added. The remainders of
    /// all factors are part of an answer's noise, and would tell of single ones what their sum does not: so they have mean 0 and
    /// variance 1/4 whatever the plaintexts are (Wannamaker and others 2000, "A Theory of Nonsubtractive Dither").
    pub(super) fn dithered(&self, plaintext: u64, rng: &mut impl Rng) -> u64 {
        let (bits, modulus) = (self.code().bits, self.products().modulus());
        let below = (1u64 << bits) - 1;
        let sum = (rng.next_u64() & below) + (rng.next_u64() & below) + 1;
        let scaled = u128::from(plaintext) * u128::from(modulus) + u128::from(sum);
        // From -1 to q: one more, and half of one for the rounding, less than the sum brings in the mean.
        let above = ((scaled + (1 << (bits - 1))) >> bits) as u64;
        let lifted =
            above.wrapping_sub(1).wrapping_add(modulus & u64::from(above == 0).wrapping_neg());
        lifted.min(lifted.wrapping_sub(modulus))
    }

    /// The residue that is nearest to a plaintext's place.
    pub(super) fn residue_of(&self, plaintext: u64) -> u64 {
        let (bits, modulus) = (self.code().bits, self.products().modulus());
        ((u128::from(plaintext) * u128::from(modulus) + (1 << (bits - 1))) >> bits) as u64
    }

    /// What each product of shares of the bounds is multiplied with.
    pub(super) fn scales(&self) -> &[f64] {
        &self.derived().scales
    }

    /// Samples that a message takes, at most: ciphertexts and outputs are in memory at once.
    pub fn most_samples(&self) -> usize {
        self.layout().most_samples().min((MOST_OUTPUTS / self.declared().outputs()).max(1))
    }

    /// The operand of this number.
    ///
    /// # Errors
    /// [`PlanError::NoOperand`].
    pub fn operand(&self, operand: usize) -> Result<&Operand, PlanError> {
        let operands = &self.declared().operands;
        operands.get(operand).ok_or(PlanError::NoOperand { operand, last: operands.len() - 1 })
    }

    /// The root mean square of an output's error, at most, whatever the numbers within the bounds are.
    pub fn error(&self) -> f64 {
        self.derived().error
    }

    /// The law itself: the root mean square of the errors of one sample's outputs, for numbers that are given, those of each
    /// operand.
    ///
    /// # Errors
    /// As encryption refuses numbers.
    pub fn errors_of(&self, numbers: &[&[f64]]) -> Result<Vec<f64>, PlanError> {
        let (declared, code) = (self.declared(), self.code());
        if numbers.len() != declared.operands.len() {
            let operand = numbers.len().min(declared.operands.len() - 1);
            return Err(PlanError::Operands { operand, problem: "is missing, or one too many" });
        }
        let shares: Result<Vec<_>, _> = declared
            .operands
            .iter()
            .zip(numbers)
            .enumerate()
            .map(|(at, (operand, numbers))| operand.shares(at, numbers, 1))
            .collect();
        let shares = shares?;
        let variance = |product: usize| {
            // (1 + relative variance) of all factors, less 1: without cancellation.
            let (mut moment, mut beyond) = (1.0, 0.0);
            for (operand, shares) in declared.operands.iter().zip(&shares) {
                let (size, _) = operand.recipes.factor(product, shares);
                let square = size * size;
                let more = code.variance(size);
                beyond = beyond * (square + more) + moment * more;
                moment *= square;
            }
            beyond
        };
        let products: Vec<f64> = (0..declared.products()).map(variance).collect();
        Ok(laws(declared, self.scales(), |product| products[product]))
    }
}
