use hesc_schemes::SchemeError;

/// What a ring product refuses. Texts name the remedy, and no feature, weight or score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RingProductError {
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
    #[error("{}", no_room(*nearest))]
    NoRoom {
        /// The least error that there is, in units of the scores; infinite if no set has room at any error.
        nearest: f64,
    },
    /// Numbers of another count than the plan has.
    #[error("{what}: {found} are not {expected}; give what the plan was made for")]
    Count {
        /// What they are.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// More samples than a message takes, or none.
    #[error("{samples} samples are not in 1 to {most}; send several queries")]
    Samples {
        /// Samples given.
        samples: usize,
        /// Samples that a query of this plan takes.
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
}

/// What helps where no set has room.
fn no_room(nearest: f64) -> String {
    if nearest.is_finite() {
        format!(
            "no set reaches this error: the nearest has a root mean square of {nearest:.1e}; ask for a larger error, \
             declare narrower ranges, or plan for fewer hidden answers"
        )
    } else {
        "no set has room for scores beside this noise, whatever their error: plan for fewer hidden answers or fewer \
         statistical bits, or score groups of features under plans of their own"
            .to_owned()
    }
}
