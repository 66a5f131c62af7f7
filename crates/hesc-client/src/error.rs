use std::fmt;

use hesc_circuits::plans::PlanError;

/// What a client refuses. Texts name places and remedies, and no value of a sample.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// A document that is damaged, of another kind, or says what cannot be.
    #[error("{problem}")]
    Document {
        /// What is wrong, and what was expected.
        problem: String,
    },
    /// Steps that this build leaves out.
    #[error(
        "this build of hesc leaves out texts: a step that takes words apart needs the feature `words` of the crate \
         hesc-py, which wheels have"
    )]
    NoWords,
    /// Numbers that are infinite, or that a step makes so.
    #[error("features that are no finite numbers, or become so; remove or impute them first: {at}")]
    NotFinite {
        /// The first of them.
        at: Place,
    },
    /// A cell without a value, where nothing fills it.
    #[error(
        "features that are no finite numbers: {at} has no value, and the model fills none there; give one, or plan a \
         model that imputes it (SimpleImputer)"
    )]
    Missing {
        /// The first of them.
        at: Place,
    },
    /// A category that the model was not fitted with.
    #[error(
        "{at} is a {what} that the model does not know; give one that it was fitted with, or plan a model that takes \
         others (handle_unknown=)"
    )]
    Unknown {
        /// The first of them.
        at: Place,
        /// Word or number.
        what: &'static str,
    },
    /// A number that is no code of a category.
    #[error(
        "{at} is no whole number where a category's code is wanted; check the steps of the plan"
    )]
    NoCode {
        /// The first of them.
        at: Place,
    },
    /// A feature beyond its range.
    #[error(
        "feature {feature}{} of sample {sample} is beyond the plan's range for it; {values} of {all} values are. \
         clip=True, or --clip, brings them to the ends; the model's owner can plan wider ranges=",
        bracketed(name.as_deref())
    )]
    Beyond {
        /// The first of them.
        feature: usize,
        /// Its column in the table, where steps take columns one by one.
        column: Option<usize>,
        /// Name of the column, where the plan has names.
        name: Option<String>,
        /// Its sample.
        sample: usize,
        /// How many values are.
        values: usize,
        /// Of how many.
        all: usize,
    },
    /// A feature that the model's own library refuses.
    #[error(
        "{at} is too large: this model's library compares float32, and refuses what is beyond {most:.4e}. clip=True, or \
         --clip, takes the largest number that it compares"
    )]
    TooLarge {
        /// The first of them.
        at: Place,
        /// The largest absolute value that it takes.
        most: f64,
    },
    /// A vector that a search does not take.
    #[error("sample {sample} {problem}")]
    Vector {
        /// The first of them.
        sample: usize,
        /// What is wrong with it, and what to do.
        problem: &'static str,
    },
    /// Distances from samples that are not at hand.
    #[error("Euclidean distances are from the samples of the query: give query=, or --query")]
    NoQuery,
    /// A search whose clients give the server keys.
    #[error(
        "clients of this search give the server keys of megabytes, which this client does not make: plan it with \
         keys=False, or take Python's client"
    )]
    Keys,
    /// What the plan of a ring product, of trees or of a search, or the key, refuses.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A message of other sizes than any reader takes.
    #[error("{problem}")]
    Size {
        /// What is wrong.
        problem: String,
    },
    /// More samples than a query takes.
    #[error("{samples} samples in a query of {most} at most; send them as several")]
    Samples {
        /// How many there are.
        samples: usize,
        /// How many it takes.
        most: usize,
    },
    /// Scores that say no probabilities.
    #[error("the scores of this model give no probabilities; LogisticRegression's do")]
    NoProbabilities,
    /// A table of another shape.
    #[error("samples are rows of {inputs} features; got {found}")]
    Shape {
        /// Columns of a sample.
        inputs: usize,
        /// What there is instead.
        found: String,
    },
}

impl ClientError {
    /// The same, which says what columns are called that the plan has names for.
    #[must_use]
    pub fn with_names(mut self, names: &[String]) -> Self {
        match &mut self {
            Self::NotFinite { at: Place { column, name, .. } }
            | Self::Missing { at: Place { column, name, .. } }
            | Self::Unknown { at: Place { column, name, .. }, .. }
            | Self::NoCode { at: Place { column, name, .. } }
            | Self::TooLarge { at: Place { column, name, .. }, .. }
            | Self::Beyond { column, name, .. } => {
                *name = column.and_then(|column| names.get(column)).cloned();
            }
            _ => {}
        }
        self
    }

    /// Refuses a document.
    pub(crate) fn document(problem: impl Into<String>) -> Self {
        Self::Document { problem: problem.into() }
    }
}

/// Where a value stands: its sample, and its column in the table, or none where steps have mixed columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Row of the table.
    pub sample: usize,
    /// Column of the table, by its number.
    pub column: Option<usize>,
    /// Name of the column, where it is known: see [`ClientError::with_names`].
    pub name: Option<String>,
    /// The step that refused it.
    pub step: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sample, column, name, step } = self;
        match (column, name) {
            (_, Some(name)) => write!(f, "sample {sample} in column {}", quoted(name)),
            (Some(column), None) => write!(f, "sample {sample} in column {column}"),
            (None, None) => write!(f, "sample {sample} ({step})"),
        }
    }
}

fn bracketed(name: Option<&str>) -> String {
    name.map(|name| format!(" ({})", quoted(name))).unwrap_or_default()
}

/// A name as Python writes it.
pub(crate) fn quoted(name: &str) -> String {
    let mark = if name.contains('\'') && !name.contains('"') { '"' } else { '\'' };
    let mut found = String::from(mark);
    for letter in name.chars() {
        if letter == mark || letter == '\\' {
            found.push('\\');
        }
        found.push(letter);
    }
    found.push(mark);
    found
}
