use hesc_schemes::SchemeError;

/// What is wrong with a gate circuit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// Gates that wait for each other.
    #[error(
        "wire {wire} depends on itself: a circuit has no memory; unroll the loop, one copy of its \
         gates for each step"
    )]
    Cycle {
        /// A wire on the cycle.
        wire: u64,
    },
    /// A wire that is read before its gate.
    #[error("wire {wire} is read before its gate; put gates after those they read")]
    Order {
        /// The wire.
        wire: u64,
    },
    /// A wire that nothing drives.
    #[error("wire {wire} is read but nothing drives it; add its gate, or make it an input")]
    Dangling {
        /// The wire.
        wire: u64,
    },
    /// A wire that several gates drive.
    #[error("wire {wire} is driven more than once; give each gate an output of its own")]
    DrivenTwice {
        /// The wire.
        wire: u64,
    },
    /// A gate with the wrong number of operands.
    #[error("{gate} takes {expected} inputs and one output, found {inputs} and {outputs}")]
    Arity {
        /// The gate.
        gate: String,
        /// Inputs it has.
        expected: usize,
        /// Inputs found.
        inputs: usize,
        /// Outputs found.
        outputs: usize,
    },
    /// A gate that does not exist.
    #[error("there is no gate {gate:?}; the format has AND, XOR, INV, EQ and EQW")]
    UnknownGate {
        /// Its name in the file.
        gate: String,
    },
    /// A file that is no circuit.
    #[error("line {line}: {problem}; the file is damaged or in another format")]
    Bristol {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Inputs of another number or length than the circuit has.
    #[error("{what}: the circuit has {expected}, found {found}")]
    Inputs {
        /// What is counted.
        what: &'static str,
        /// What the circuit has.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A number that its wires do not hold.
    #[error("the number {value} does not fit the {width} wires of input {input}")]
    Number {
        /// The number.
        value: u64,
        /// Wires of the input.
        width: usize,
        /// The input.
        input: usize,
    },
    /// A size that makes no circuit.
    #[error("{what} is {value}; it must be between {least} and {most}")]
    Size {
        /// What has the size.
        what: &'static str,
        /// The size.
        value: usize,
        /// The smallest.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// A circuit that the noise of ciphertexts leaves no room for.
    #[error(
        "the circuit has {depth} products in sequence, and the noise leaves room for {room}: take parameters of a \
         larger ring, encrypt the inputs again if they are results or one is there twice, or compute on bits that bootstrap (tfhe), which \
         have no such limit"
    )]
    TooDeep {
        /// Products in sequence.
        depth: usize,
        /// How many of them there is room for.
        room: usize,
    },
    /// An evaluation that was told to stop.
    #[error("the evaluation was cancelled; the inputs are as they were, start it again")]
    Cancelled,
    /// Ciphertexts or keys that the scheme refuses.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// A circuit that the noise leaves no room for.
    #[error("{what}; take parameters with less noise, or allow more failures")]
    NoRoom {
        /// What does not fit.
        what: String,
    },
}
