use hesc_schemes::SchemeError;

/// What products by logarithms refuse. Texts name the remedy, and no number.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogarithmError {
    /// The scheme refused.
    #[error(transparent)]
    Scheme(#[from] SchemeError),
    /// What was declared is impossible.
    #[error("{name} cannot be declared so: {remedy}")]
    Declared {
        /// Its name.
        name: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// No set has room for it.
    #[error(
        "no set reaches this error: the nearest has a root mean square of {nearest:.1e}; ask for a larger error, \
         declare narrower bounds, or multiply in the clear what one side knows"
    )]
    NoRoom {
        /// The least error that there is, in units of the outputs.
        nearest: f64,
    },
    /// Numbers of another count than the plan has.
    #[error(
        "operand {operand}: {found} numbers are not {expected}; give what the plan was made for"
    )]
    Count {
        /// Which operand.
        operand: usize,
        /// How many there should be, in one sample.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// More samples than a message takes, or none.
    #[error("{samples} samples are not in 1 to {most}; send several uploads")]
    Samples {
        /// Samples given.
        samples: usize,
        /// Samples that an upload of this plan takes.
        most: usize,
    },
    /// A number beyond its bound, or one that is no number.
    #[error(
        "element {element} in sample {sample} of operand {operand} is no number within the declared bound; clip it, or \
         make a plan with a larger bound"
    )]
    Number {
        /// Which operand.
        operand: usize,
        /// The first sample with one.
        sample: usize,
        /// The first of its elements.
        element: usize,
    },
    /// An operand that the plan does not have.
    #[error("the plan has operands 0 to {last}, and no {operand}")]
    NoOperand {
        /// What was asked for.
        operand: usize,
        /// The last that there is.
        last: usize,
    },
    /// An operand that comes in another way.
    #[error("operand {operand} {declared} by the plan; {remedy}")]
    Source {
        /// Which operand.
        operand: usize,
        /// How it comes.
        declared: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// Not one of each operand.
    #[error("operand {operand} {problem}; give each operand of the plan once")]
    Operands {
        /// Which operand.
        operand: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// Uploads of different numbers of samples.
    #[error(
        "operand {operand} has {found} samples where others have {expected}; encrypt the same samples"
    )]
    Lengths {
        /// Which operand.
        operand: usize,
        /// Samples of the others.
        expected: usize,
        /// Its samples.
        found: usize,
    },
}
