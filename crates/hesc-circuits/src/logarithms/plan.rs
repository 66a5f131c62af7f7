use std::sync::Arc;

use hesc_schemes::rlwe::{RingProducts, Truncation};
use hesc_schemes::{Fingerprint, SchemeError};
use rand_core::Rng;

use super::code::Code;
use super::declared::{Declared, Operand};
use super::demand::{Demand, laws};
use super::error::LogarithmError;
use super::layout::Layout;
use super::plan_wire::{declared_from_bytes, plan_to_bytes};

/// Outputs of all samples of a message.
const MOST_OUTPUTS: usize = 1 << 22;
/// Bits of a plaintext that are tried.
const BITS: std::ops::RangeInclusive<u32> = 3..=45;

/// What all sides of products by logarithms agree upon. Public. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    declared: Declared,
    fingerprint: Fingerprint,
    products: RingProducts,
    layout: Layout,
    code: Code,
    answer_bits: u32,
    /// What noise and roundings stay within, but for a probability below `2^-128`.
    reach: u64,
    error: f64,
    scales: Vec<f64>,
    truncation: Option<Truncation>,
    /// From residues to plaintexts.
    decoding: Truncation,
}

impl Plan {
    /// The coarsest code with which outputs have the wanted error, whatever numbers there are within the bounds, the
    /// smallest set that has room for it, and in it the fewest bits of an answer: a product decrypts wrongly with a probability
    /// below `2^-128`. Cost: milliseconds.
    ///
    /// # Errors
    /// [`LogarithmError::Declared`], [`LogarithmError::NoRoom`].
    pub fn new(declared: Declared) -> Result<Self, LogarithmError> {
        declared.check()?;
        let demand = Demand::new(&declared);
        let reached = |&(_, error): &(Code, f64)| error <= declared.error;
        let wanted = BITS.filter_map(|bits| demand.code(bits)).find(reached);
        let mut most = 0;
        for (ring_degree, bits) in RingProducts::SIZES {
            let modulus = RingProducts::modulus_of_size(ring_degree, bits)?;
            let answer = |bits| demand.answer_bits(ring_degree, modulus, bits);
            if let Some((code, error)) = wanted
                && let Some(answer) = answer(code.bits)
            {
                let products = RingProducts::of_size(ring_degree, bits)?;
                return Ok(Self::with(declared, products, code, answer, error));
            }
            most = BITS.take_while(|&bits| answer(bits).is_some()).last().unwrap_or(0).max(most);
        }
        let nearest =
            (*BITS.start()..=most).filter_map(|bits| demand.code(bits)).map(|code| code.1);
        Err(LogarithmError::NoRoom { nearest: nearest.fold(f64::INFINITY, f64::min) })
    }

    fn with(
        declared: Declared,
        products: RingProducts,
        code: Code,
        (answer_bits, reach): (u32, u64),
        error: f64,
    ) -> Self {
        let ring_degree = products.scheme().ring_degree();
        let modulus = products.modulus();
        let layout = Layout { ring_degree, products: declared.products() };
        let truncation =
            (answer_bits <= modulus.ilog2()).then(|| Truncation::new(modulus, answer_bits));
        let decoding = Truncation::new(modulus, code.bits);
        let bytes = plan_to_bytes(&declared, ring_degree, modulus, code, answer_bits);
        let fingerprint = Fingerprint::of(&bytes);
        let scales = declared.scales();
        Self(Arc::new(Inner {
            declared,
            fingerprint,
            products,
            layout,
            code,
            answer_bits,
            reach,
            error,
            scales,
            truncation,
            decoding,
        }))
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (ring_degree, modulus) = (self.layout().ring_degree, self.products().modulus());
        plan_to_bytes(self.declared(), ring_degree, modulus, self.code(), self.answer_bits())
    }

    /// Reads a plan, and makes it again: what it says of code and sizes must be what follows from the rest.
    ///
    /// # Errors
    /// [`SchemeError::Wire`]; as [`Self::new`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LogarithmError> {
        let plan = Self::new(declared_from_bytes(bytes)?)?;
        if plan.to_bytes() == bytes {
            return Ok(plan);
        }
        let (what, problem) =
            ("a plan of logarithms", "its code does not follow from what it declares");
        Err(SchemeError::Wire { what, problem }.into())
    }

    /// What it was made from.
    pub fn declared(&self) -> &Declared {
        &self.0.declared
    }

    /// Its hash, which uploads and answers carry.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    /// The set.
    pub fn products(&self) -> &RingProducts {
        &self.0.products
    }

    /// Where products lie.
    pub fn layout(&self) -> Layout {
        self.0.layout
    }

    /// How numbers are coded.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Bits of the coefficients of an answer.
    pub fn answer_bits(&self) -> u32 {
        self.0.answer_bits
    }

    /// How an answer loses bits, if it does.
    pub(super) fn truncation(&self) -> Option<&Truncation> {
        self.0.truncation.as_ref()
    }

    /// The plaintext that is nearest to a centred residue, and whether it is as near as noise leaves it.
    pub(super) fn rounded(&self, residue: i64) -> (u64, bool) {
        let products = self.products();
        let lifted = products.modulus() & (residue >> 63) as u64;
        let residue = (residue as u64).wrapping_add(lifted);
        let plaintext = self.0.decoding.truncate(residue);
        let centre = self.residue_of(plaintext);
        let off = products.centred_sum(residue, products.modulus() - centre);
        (plaintext, off.unsigned_abs() <= self.0.reach)
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
        &self.0.scales
    }

    /// Samples that a message takes, at most: ciphertexts and outputs are in memory at once.
    pub fn most_samples(&self) -> usize {
        self.layout().most_samples().min((MOST_OUTPUTS / self.declared().outputs()).max(1))
    }

    /// The operand of this number.
    ///
    /// # Errors
    /// [`LogarithmError::NoOperand`].
    pub fn operand(&self, operand: usize) -> Result<&Operand, LogarithmError> {
        let operands = &self.declared().operands;
        operands.get(operand).ok_or(LogarithmError::NoOperand { operand, last: operands.len() - 1 })
    }

    /// The root mean square of an output's error, at most, whatever the numbers within the bounds are.
    pub fn error(&self) -> f64 {
        self.0.error
    }

    /// The law itself: the root mean square of the errors of one sample's outputs, for numbers that are given, those of each
    /// operand.
    ///
    /// # Errors
    /// As encryption refuses numbers.
    pub fn errors_of(&self, numbers: &[&[f64]]) -> Result<Vec<f64>, LogarithmError> {
        let (declared, code) = (self.declared(), self.code());
        if numbers.len() != declared.operands.len() {
            let operand = numbers.len().min(declared.operands.len() - 1);
            return Err(LogarithmError::Operands {
                operand,
                problem: "is missing, or one too many",
            });
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
