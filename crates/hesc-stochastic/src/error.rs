use crate::{Origin, Representation};

/// What encoding and decoding refuse. Nothing is written when they do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StochasticError {
    /// A value that the representation cannot hold, NaN and infinities included. It may be secret, and is
    /// not repeated.
    #[error(
        "the value at index {index} is not in the {representation} range [{}, 1]; scale the \
         inputs into it and multiply the result back",
        representation.lowest()
    )]
    OutOfRange {
        /// Its place in the array.
        index: usize,
        /// The representation.
        representation: Representation,
    },
    /// No values.
    #[error("an empty array has no streams; give at least one value")]
    Empty,
    /// A stream length outside what is supported.
    #[error("stream_length {stream_length} is not in [1, {max}]; powers of two serve best")]
    StreamLength {
        /// The length asked for.
        stream_length: usize,
        /// The largest.
        max: usize,
    },
    /// Batches of different shapes were combined.
    #[error(
        "{left_streams} streams of {left_length} bits cannot be combined with {right_streams} of \
         {right_length}; encode both alike"
    )]
    Shape {
        /// Streams of the first batch.
        left_streams: usize,
        /// Bits of each.
        left_length: usize,
        /// Streams of the second.
        right_streams: usize,
        /// Bits of each.
        right_length: usize,
    },
    /// An index beyond the last stream.
    #[error("stream {index} of {streams} does not exist")]
    Index {
        /// The index.
        index: usize,
        /// How many there are.
        streams: usize,
    },
    /// Streams that do not divide into groups.
    #[error("{streams} streams do not divide into groups of {group}")]
    Group {
        /// Streams given.
        streams: usize,
        /// Streams of a group.
        group: usize,
    },
    /// Packed words of the wrong number, or with bits beyond the length.
    #[error("packed words do not hold whole streams of {stream_length} bits with zeros after them")]
    Packing {
        /// Bits of a stream.
        stream_length: usize,
    },
    /// All dimensions or draws are used.
    #[error(
        "the {generator} generator has {available} independent dimensions and dimension \
         {dimension} was asked for; make a new Encoder, or use another generator"
    )]
    Dimension {
        /// The generator.
        generator: crate::Generator,
        /// The dimension asked for.
        dimension: u32,
        /// How many there are.
        available: u32,
    },
    /// A length that has no deterministic product of so many factors.
    #[error(
        "the {generator} generator multiplies {factors} factors exactly only at certain lengths; \
         {stream_length} is none, the nearest are {below} and {above}"
    )]
    Structure {
        /// The generator.
        generator: crate::Generator,
        /// Factors of a product.
        factors: u32,
        /// The length asked for.
        stream_length: usize,
        /// The largest possible one below.
        below: usize,
        /// The smallest possible one above.
        above: usize,
    },
    /// A number of factors that no generator has.
    #[error("a product of {factors} factors is not possible here; choose 1 to {max}")]
    Factors {
        /// The number asked for.
        factors: u32,
        /// The largest.
        max: u32,
    },
    /// Joint streams were asked for in unipolar form.
    #[error(
        "jointly encoded factors are inverted bipolar only; choose that representation, or the \
         sobol generator for unipolar streams"
    )]
    JointUnipolar,
    /// An unknown name.
    #[error("unknown {what} {name:?}; choose one of {known}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: &'static str,
    },
    /// Streams whose ones mean different things.
    #[error(
        "{left} and {right} streams are different numbers with the same bits; encode both operands \
         with one representation"
    )]
    Representations {
        /// That of the first operand.
        left: Representation,
        /// That of the second.
        right: Representation,
    },
    /// Streams that share a draw, or sequences that are correlated.
    #[error(
        "correlated product: both factors contain one draw ({origin}); encode an independent copy with \
         another call, or decorrelate one with shuffled()"
    )]
    Correlated {
        /// What both contain.
        origin: Origin,
    },
    /// A product with streams whose bits follow a circuit.
    #[error(
        "correlated product: the bits of a sum, and of structured streams that were delayed, follow an \
         order of their own that other streams may share; give them a random one with shuffled()"
    )]
    Ordered,
    /// Streams that were computed where an encoder's are asked for.
    #[error(
        "these streams were computed and have no draw of their own; encrypt what an Encoder returned, \
         and compute on the ciphertexts"
    )]
    Computed,
    /// Bytes that are no identity.
    #[error("these 32 bytes are no stream identity; the data is damaged")]
    Origin,
    /// Probabilities that select nothing.
    #[error("selection probabilities must be finite, not negative and not all zero; got {value}")]
    Probability {
        /// The offending probability, or the sum.
        value: f64,
    },
}
