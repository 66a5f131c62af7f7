use hesc_schemes::SchemeError;

/// What plans, and whoever works under them, refuse. Texts name the remedy, and no number that is hidden.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
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
    /// More places than the largest ring has.
    #[error(
        "{features} features times {outputs} outputs are more than the {most} coefficients of the largest ring; \
         score groups of outputs under plans of their own"
    )]
    Places {
        /// Features of a sample.
        features: usize,
        /// Scores of a sample.
        outputs: usize,
        /// Coefficients.
        most: usize,
    },
    /// No set has room for it.
    #[error("{}: {remedy}", no_room(*nearest))]
    NoRoom {
        /// The least error that there is, in units of the outputs; infinite if no set has room at any error.
        nearest: f64,
        /// What to do instead.
        remedy: &'static str,
    },
    /// Numbers of another count than the plan has.
    #[error("{what}: {found} numbers are not {expected}; give what the plan was made for")]
    Count {
        /// What they are.
        what: String,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// More samples than a message takes, or none.
    #[error("{samples} samples are not in 1 to {most}; send several messages")]
    Samples {
        /// Samples given.
        samples: usize,
        /// Samples that a message of this plan takes.
        most: usize,
    },
    /// A feature beyond its range, or one that is no number.
    #[error(
        "feature {feature} of sample {sample} is no number within the declared range; clip it, or make a plan with \
         a wider range"
    )]
    Feature {
        /// The first sample with one.
        sample: usize,
        /// The first of its features.
        feature: usize,
    },
    /// A vector that is longer than its bound.
    #[error(
        "vector {vector} has a larger sum of squares than the plan declares; scale it down, or make a plan with a \
         larger bound"
    )]
    Norm {
        /// The first such vector.
        vector: usize,
    },
    /// A record that an index does not have.
    #[error("record {record} does not exist; there are {records}")]
    Record {
        /// The record asked for.
        record: usize,
        /// Records there are.
        records: usize,
    },
    /// More records than a plan declares, or none.
    #[error("{records} records are not in 1 to {most}; add some, or make a plan for more records")]
    Records {
        /// Records given.
        records: usize,
        /// Records that the plan declares.
        most: usize,
    },
    /// Weights beyond what the plan declares.
    #[error("{what} beyond what the plan declares, or no numbers; make a plan with larger bounds")]
    Weights {
        /// What of them.
        what: &'static str,
    },
    /// The model has given as many numbers as its noise was made for.
    #[error(
        "{asked} more numbers are beyond the {left} that this model may still give to all who ask: its weights are \
         hidden no longer than that, and answers under a further plan would add to what is known of them. Send fewer \
         samples, or serve these weights unhidden"
    )]
    Spent {
        /// Numbers asked for.
        asked: u64,
        /// Numbers left.
        left: u64,
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

fn no_room(nearest: f64) -> String {
    if nearest.is_finite() {
        format!("no set reaches this error, the nearest has a root mean square of {nearest:.1e}")
    } else {
        "no set has room beside this noise for outputs, whatever their error".to_owned()
    }
}
