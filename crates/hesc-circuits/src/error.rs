use hesc_schemes::SchemeError;
use hesc_stochastic::{Representation, StochasticError};

use crate::streams::MAX_WEIGHT;

/// What a circuit refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CircuitError {
    /// The scheme refused.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// The encoder refused.
    #[error(transparent)]
    Stochastic(#[from] StochasticError),
    /// Streams of different lengths.
    #[error(
        "stream lengths {left} and {right} differ; encrypt both operands with the same \
         stream_length"
    )]
    StreamLength {
        /// Length of the first operand.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// Streams in different representations, or an operation one of them does not have.
    #[error(
        "{operation} needs inverted bipolar streams on a scheme that adds; encrypt with \
         representation=\"inverted_bipolar\""
    )]
    Representation {
        /// The operation.
        operation: &'static str,
    },
    /// Streams whose ones mean different things.
    #[error(
        "{left} and {right} streams are different numbers with the same bits; encode or encrypt \
         both operands with one representation"
    )]
    Representations {
        /// That of the first operand.
        left: Representation,
        /// That of the second.
        right: Representation,
    },
    /// A product of streams that are not independent.
    #[error(
        "correlated product: both factors contain {origin}, and a stream times itself is no \
         square; encrypt an independent copy with another call (or another `first_dimension` if \
         the factors come from different encryptors)"
    )]
    Correlated {
        /// What both factors contain.
        origin: String,
    },
    /// Streams at different offsets of their blocks.
    #[error(
        "misaligned product: element {left} lies at position {left_offset} of its block, element \
         {right} at {right_offset}; multiply rows of equal shape, or encrypt with \
         layout=\"one_per_block\""
    )]
    Misaligned {
        /// Element of the first operand.
        left: usize,
        /// Its offset.
        left_offset: usize,
        /// Element of the second operand.
        right: usize,
        /// Its offset.
        right_offset: usize,
    },
    /// An element that is not there.
    #[error("element {index} does not exist; the array has {elements}")]
    Element {
        /// The index asked for.
        index: usize,
        /// The number of elements.
        elements: usize,
    },
    /// Nothing to work on.
    #[error("an empty array has no streams; give at least one value")]
    Empty,
    /// A list of the wrong length.
    #[error("{what}: expected {expected} values, got {found}")]
    Length {
        /// What the list is.
        what: &'static str,
        /// The length needed.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// Streams do not fit a block side by side.
    #[error(
        "a stream of {stream_length} bits does not fit a block of {block_length}; use \
         layout=\"one_per_block\", which spreads it over several"
    )]
    DoesNotFit {
        /// Bits of a stream.
        stream_length: usize,
        /// Positions of a block.
        block_length: usize,
    },
    /// Counts would wrap modulo the plaintext modulus and lose their parity.
    #[error(
        "a product of {factors} streams needs counts up to {factors}, the plaintext modulus holds \
         {max_count}; use a larger or an even plain_modulus, or fewer factors"
    )]
    CountOverflow {
        /// Largest count.
        factors: u64,
        /// What fits.
        max_count: u64,
    },
    /// A fusion whose digits do not fit.
    #[error(
        "fusion overflows: {digits} digits in base {base} need values up to {needed}, the \
         plaintext modulus holds {max_count}; fuse at most {most} or take a larger plain_modulus"
    )]
    FusionOverflow {
        /// Ciphertexts in one.
        digits: usize,
        /// The largest base.
        base: u64,
        /// Largest fused value.
        needed: String,
        /// What fits.
        max_count: u64,
        /// How many of this base fit.
        most: usize,
    },
    /// A base that cannot hold its digit.
    #[error("base {base} cannot hold counts up to {max_digit}; use at least {}", max_digit + 1)]
    FusionBase {
        /// The base given.
        base: u64,
        /// The largest digit.
        max_digit: u64,
    },
    /// Fusion by plain addition of positions that are not 0 or 1, or of unequal terms.
    #[error(
        "fusion with base 1 adds positions and needs fresh streams (0 or 1 in every position, \
         equal weights and offsets); {problem}; use a base above the largest count"
    )]
    FusionOfOnes {
        /// What is not met.
        problem: &'static str,
    },
    /// An answer that is fused or compact already.
    #[error("this answer is fused or compact already; fuse once, before compact()")]
    Fused,
    /// A decrypted count that no circuit can have made.
    #[error(
        "decryption gave a count of {count} where at most {max_count} is possible; the answer was \
         altered, or belongs to another computation"
    )]
    Count {
        /// The count.
        count: u32,
        /// The largest possible.
        max_count: u64,
    },
    /// A weight or a constant beyond [`MAX_WEIGHT`], or none.
    #[error(
        "weight {index} is {value}; weights and constants are finite, at most {MAX_WEIGHT:e} in size"
    )]
    Weight {
        /// Its index.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A product with an array that has a public constant added.
    #[error(
        "{operation} works on streams, and these have a public constant added; add constants last, \
         or to the decrypted values"
    )]
    Constant {
        /// The operation.
        operation: &'static str,
    },
    /// An operation on bits with streams that have a weight.
    #[error(
        "{operation} counts every stream as it is, and one of these has the weight {weight}; take the \
         bits before multiplying by numbers, or give weights as streams"
    )]
    Weighted {
        /// The operation.
        operation: &'static str,
        /// The weight.
        weight: f64,
    },
    /// Pieces of streams that say nothing by themselves, or that do not divide the stream.
    #[error(
        "{operands} operands cannot keep {pieces:?} of {granularity} pieces of {stream_length} \
         bits: give each at least one and at most all, pieces of equal length within a block"
    )]
    Pieces {
        /// Number of operands.
        operands: usize,
        /// Pieces asked for.
        pieces: Vec<usize>,
        /// Pieces of a stream.
        granularity: usize,
        /// Bits of a stream.
        stream_length: usize,
    },
    /// Streams of a generator whose parts are biased.
    #[error(
        "parts of these streams are biased: their generator orders the bits; encrypt with another, \
         for example generator=\"sobol\""
    )]
    Ordered,
    /// A sum by selection of elements that are sums themselves.
    #[error(
        "a multiplexed sum selects among single streams of equal weight; element {element} is a \
         concatenated sum or has another weight: multiplex first, or concatenate"
    )]
    NotSingle {
        /// The element.
        element: usize,
    },
}
