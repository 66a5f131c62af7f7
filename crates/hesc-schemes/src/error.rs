use hesc_math::{MathError, RingIndex};

use crate::{Fingerprint, KeyId, Packing};

/// The key of an automorphism, as what asks for it when keys are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AutomorphismKey {
    /// Of a rotation by so many steps.
    #[error("generate_galois_keys for rotation_element({0})")]
    Rotation(usize),
    /// Of the exchange of rows, or of complex conjugates.
    #[error("generate_galois_keys for the ring's index less 1")]
    Inversion,
    /// Of `X -> X^g`.
    #[error("generate_galois_keys for {0}")]
    Exponent(usize),
}

/// What a scheme refuses. Texts name the remedy and no secret data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// The ring refused its parameters.
    #[error(transparent)]
    Math(#[from] MathError),
    /// A parameter is outside what the scheme can do.
    #[error("parameter {name} = {value} is not usable: {remedy}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The value given.
        value: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The modulus is too large for 128-bit security at this ring degree.
    #[error(
        "ring degree {ring_degree} with log2(q) = {log2_modulus:.1} is beyond the {limit} bits \
         that {standard} allows for 128-bit security; use a larger ring degree or a smaller \
         modulus, or name the weaker level explicitly"
    )]
    Security {
        /// The ring degree.
        ring_degree: usize,
        /// Bits of the modulus.
        log2_modulus: f64,
        /// Bits allowed.
        limit: u32,
        /// The document that sets the limit.
        standard: &'static str,
    },
    /// A set without a ring that is below 128-bit security.
    #[error("{set} is below 128-bit security; {remedy}, or name the weaker level explicitly")]
    Weak {
        /// What it is.
        set: &'static str,
        /// What to take instead.
        remedy: &'static str,
    },
    /// Keys, ciphertexts or both come from different parameter sets.
    #[error(
        "parameters differ: expected set {expected}, got {found}; make keys and ciphertexts from \
         the same parameter set"
    )]
    ParameterMismatch {
        /// The set of the operation.
        expected: Fingerprint,
        /// The set of the operand.
        found: Fingerprint,
    },
    /// Ciphertexts or keys belong to different key pairs.
    #[error(
        "key pair {found} does not belong here: expected {expected}; use ciphertexts and keys of \
         one key pair"
    )]
    KeyMismatch {
        /// The pair of the operation.
        expected: KeyId,
        /// The pair of the operand.
        found: KeyId,
    },
    /// Batches of different sizes.
    #[error("{found} blocks cannot be combined with {expected}; give batches of the same size")]
    BlockCount {
        /// Blocks of the first operand.
        expected: usize,
        /// Blocks of the second.
        found: usize,
    },
    /// Nothing to encrypt or to select.
    #[error("an empty batch has no meaning; give at least one block")]
    Empty,
    /// A block that is not there.
    #[error("block {index} does not exist; there are {blocks}")]
    BlockIndex {
        /// The index asked for.
        index: usize,
        /// The number of blocks.
        blocks: usize,
    },
    /// The noise would leave too little room for a correct decryption.
    #[error(
        "the noise would need {needed_bits:.1} more bits than the modulus has; do fewer additions \
         or multiplications before decrypting, or take parameters with a larger modulus"
    )]
    NoiseBudget {
        /// Bits missing.
        needed_bits: f64,
    },
    /// Counts beyond what can be read from a group element.
    #[error(
        "counts up to {count} are beyond the {max_count} that decryption looks for; multiply fewer \
         factors, or take parameters with a larger max_count"
    )]
    CountBound {
        /// Largest count of the result.
        count: u64,
        /// Largest count that decrypts.
        max_count: u64,
    },
    /// Decryption found values between the integers.
    #[error(
        "decryption failed: block {block} holds values that are no counts; the ciphertext was \
         altered, or its noise exceeded the budget"
    )]
    NotACount {
        /// The first bad block.
        block: usize,
    },
    /// Noise beyond what decryption tells from the plaintext.
    #[error(
        "decryption failed: the noise fills the modulus; the ciphertext was altered, or belongs to \
         another key"
    )]
    NoiseTooLarge,
    /// Ciphertexts of different scales were added.
    #[error(
        "the operands' scales differ, by {:.1e} of themselves; add only what was masked, multiplied \
         and rescaled equally often, or what has a level left on which the scale can be adjusted",
        (.found / .expected - 1.0).abs()
    )]
    ScaleMismatch {
        /// Scale of the first operand.
        expected: f64,
        /// Scale of the second.
        found: f64,
    },
    /// An operation this packing cannot do.
    #[error(
        "{operation} works position by position and needs {remedy} packing; this parameter set \
         packs into {packing}"
    )]
    PackingCannot {
        /// The operation.
        operation: &'static str,
        /// The set's packing.
        packing: Packing,
        /// The packing that can.
        remedy: &'static str,
    },
    /// The modulus cannot be switched to a compact one.
    #[error(
        "these ciphertexts cannot be made compact: at ring degree {ring_degree} their noise and \
         plaintext modulus leave no smaller modulus; send them as they are"
    )]
    CannotCompact {
        /// The ring degree.
        ring_degree: usize,
    },
    /// Ciphertexts or plaintexts with different numbers of primes left.
    #[error(
        "operands are at levels {expected} and {found}; bring the higher one down with \
         mod_switch_to"
    )]
    LevelMismatch {
        /// Level of the first operand.
        expected: usize,
        /// Level of the second.
        found: usize,
    },
    /// No prime is left to drop.
    #[error(
        "level {level} cannot be brought to {wanted}: primes are dropped and never come back, and \
         the last one stays; take parameters with more primes in coeff_moduli"
    )]
    LastLevel {
        /// The operand's level.
        level: usize,
        /// The level asked for.
        wanted: usize,
    },
    /// A level that the parameters do not have.
    #[error(
        "level {level} does not exist: these parameters have levels 1 to {levels}, the last that of fresh \
         ciphertexts; choose one of them"
    )]
    NoSuchLevel {
        /// The level asked for.
        level: usize,
        /// Levels there are.
        levels: usize,
    },
    /// A ciphertext of three components where two are needed.
    #[error("{operation} needs ciphertexts of two components; relinearise the product first")]
    NotRelinearised {
        /// The operation.
        operation: &'static str,
    },
    /// A product of more components than an operation takes.
    #[error(
        "{components} components are more than the {most} that {operation} takes: relinearise each product \
         before it is multiplied further, or multiply fewer factors"
    )]
    TooManyComponents {
        /// The operation.
        operation: &'static str,
        /// Components of its operand or result.
        components: usize,
        /// Components it takes.
        most: usize,
    },
    /// A result that cannot be shown to others.
    #[error("this result is not shared: {problem}")]
    NotShared {
        /// Why, and what to do.
        problem: &'static str,
    },
    /// A key that was not made.
    #[error("there is no key for {what}; the owner of the secret key makes it with {key}")]
    MissingKey {
        /// What it would be for.
        what: String,
        /// Which it is.
        key: AutomorphismKey,
    },
    /// An operation of another scheme.
    #[error("{operation} does not exist in {scheme}: {remedy}")]
    NotInScheme {
        /// The operation.
        operation: &'static str,
        /// The scheme.
        scheme: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A value that cannot be encoded. It may be secret, and is not repeated.
    #[error("the value at position {position} cannot be encoded: {remedy}")]
    Value {
        /// Its position.
        position: usize,
        /// What to do instead.
        remedy: &'static str,
    },
    /// More values than slots.
    #[error("{found} values do not fit {slots} slots; split them over several ciphertexts")]
    TooManyValues {
        /// Values given.
        found: usize,
        /// Slots there are.
        slots: usize,
    },
    /// Work that was told to end.
    #[error("interrupted; the operands are as they were, start it again")]
    Interrupted,
    /// A sealed key file that does not open.
    #[error("the passphrase of the secret key: {problem}; give the one it was saved with")]
    Passphrase {
        /// What is wrong.
        problem: &'static str,
    },
    /// Bytes that are no object of this kind.
    #[error("cannot read {what}: {problem}; the bytes are damaged, truncated or of another kind")]
    Wire {
        /// The object expected.
        what: &'static str,
        /// What is wrong with the bytes.
        problem: &'static str,
    },
}

impl SchemeError {
    /// For sets of a scheme that this build leaves out.
    #[cfg(not(all(feature = "classical", feature = "tfhe")))]
    pub(crate) fn left_out(scheme: &str) -> Self {
        Self::Parameter {
            name: "scheme",
            value: scheme.into(),
            remedy: "this build leaves it out, since it takes long to compile: build with the features classical \
                     and tfhe (make build)",
        }
    }

    /// For what rings of odd index do not have.
    pub(crate) fn without_rows(ring: RingIndex) -> Self {
        Self::Parameter {
            name: "ring",
            value: ring.value().to_string(),
            remedy: "its slots are in no rows; take the automorphism that dimension_element gives, or a \
                     power-of-two ring",
        }
    }

    /// For what rings of a power of two do not have.
    pub(crate) fn without_fields(ring: RingIndex) -> Self {
        Self::Parameter {
            name: "ring",
            value: ring.value().to_string(),
            remedy: "its slots hold numbers and nothing else; take a ring of odd index for slots in extensions",
        }
    }
}

/// Refuses a parameter's value and says what to do instead.
pub(crate) fn refuse<T>(
    name: &'static str,
    value: impl ToString,
    remedy: &'static str,
) -> Result<T, SchemeError> {
    Err(SchemeError::Parameter { name, value: value.to_string(), remedy })
}
