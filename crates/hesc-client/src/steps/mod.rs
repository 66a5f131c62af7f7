//! Transforms of tables, as data: read strictly, and computed row by row.

mod branches;
mod categories;
mod evaluate;
mod functions;
mod kernels;
mod kinds;
mod letters;
mod limits;
mod numbers;
mod one_hot;
mod quantiles;
mod range;
mod read;
mod tokens;
mod told;

use crate::json::Json;
use crate::{ClientError, Kind};
use branches::Branch;
use categories::{Cell, Codes, Fill, IsMissing};
use kernels::{Kernel, Monomials, Projection};
use numbers::Each;
use one_hot::{Bins, Exceeds, Inside, Lookup};
use range::Range;
use tokens::Tokens;

pub use evaluate::Prepared;
pub(crate) use functions::sigmoid;
pub use letters::Letters;

/// Features between two steps, at most.
pub const WIDEST: usize = 1 << 16;
/// Steps of a plan, those within branches among them, at most.
pub const MOST: usize = 256;
/// Branches within branches, at most.
const DEEPEST: usize = 8;

/// One step.
#[derive(Debug)]
enum Step {
    /// A function of each number by itself.
    Each(Each),
    Projection(Projection),
    Monomials(Monomials),
    Kernel(Box<Kernel>),
    Bins(Bins),
    Exceeds(Exceeds),
    Inside(Inside),
    Branches {
        inputs: usize,
        branches: Vec<Branch>,
    },
    Codes(Codes),
    OneHot(Vec<usize>),
    Lookup(Lookup),
    Fill(Fill),
    IsMissing(IsMissing),
    Normalise {
        inputs: usize,
        norm: Norm,
    },
    Tokens(Box<Tokens>),
}

/// What rows are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Norm {
    L1,
    L2,
    Max,
}

impl Step {
    /// What documents call it.
    fn name(&self) -> &'static str {
        match self {
            Self::Each(each) => each.name(),
            Self::Projection(_) => "projection",
            Self::Monomials(_) => "monomials",
            Self::Kernel(_) => "kernel",
            Self::Bins(_) => "bins",
            Self::Exceeds(_) => "exceeds",
            Self::Inside(_) => "inside",
            Self::Branches { .. } => "branches",
            Self::Codes(_) => "codes",
            Self::OneHot(_) => "one_hot",
            Self::Lookup(_) => "lookup",
            Self::Fill(_) => "fill",
            Self::IsMissing(_) => "is_missing",
            Self::Normalise { .. } => "normalise",
            Self::Tokens(_) => "tokens",
        }
    }

    /// Columns that go in and come out.
    fn widths(&self) -> (usize, usize) {
        let same = |width| (width, width);
        match self {
            Self::Each(each) => same(each.width()),
            Self::Projection(projection) => projection.widths(),
            Self::Monomials(monomials) => monomials.widths(),
            Self::Kernel(kernel) => kernel.widths(),
            Self::Bins(bins) => bins.widths(),
            Self::Exceeds(exceeds) => exceeds.widths(),
            Self::Inside(inside) => inside.widths(),
            Self::Branches { inputs, branches } => {
                (*inputs, branches.iter().map(Branch::width).sum())
            }
            Self::Codes(codes) => same(codes.columns.len()),
            Self::OneHot(sizes) => (sizes.len(), sizes.iter().sum()),
            Self::Lookup(lookup) => lookup.widths(),
            Self::Fill(fill) => same(fill.columns.len()),
            Self::IsMissing(missing) => same(missing.inputs),
            Self::Normalise { inputs, .. } => same(*inputs),
            Self::Tokens(tokens) => (1, tokens.outputs()),
        }
    }

    /// Products and the like that a row takes, about.
    fn work(&self) -> usize {
        let (inputs, outputs) = self.widths();
        let own = match self {
            Self::Projection(_) => inputs.saturating_mul(outputs),
            Self::Kernel(kernel) => {
                kernel.components().saturating_mul(inputs.saturating_add(outputs))
            }
            Self::Monomials(monomials) => monomials.factors.len(),
            Self::Inside(inside) => inside.columns.len(),
            // Texts are of any length.
            Self::Tokens(_) => WIDEST,
            Self::Branches { branches, .. } => {
                let steps = branches.iter().flat_map(|branch| &branch.steps);
                steps.map(Self::work).fold(0, usize::saturating_add)
            }
            _ => 0,
        };
        own.saturating_add(inputs).saturating_add(outputs)
    }

    /// Numbers that a row takes on its way through, at most.
    fn widest(&self) -> usize {
        let (inputs, outputs) = self.widths();
        let inside = match self {
            Self::Kernel(kernel) => kernel.components(),
            Self::Branches { branches, .. } => {
                branches.iter().map(Branch::widest).max().unwrap_or(0)
            }
            _ => 0,
        };
        inputs.max(outputs).max(inside)
    }
}

/// Columns that come out of steps which so many go into.
fn width_after(steps: &[Step], inputs: usize) -> usize {
    steps.last().map_or(inputs, |step| step.widths().1)
}

/// Steps of a plan, checked and ready.
///
/// ```
/// use hesc_client::{Kind, Steps, Table, Words};
/// let text = br#"[{"step": "codes", "columns": [{"categories": ["no", "yes"],
///     "codes": {"shape": [2], "f8": "AAAAAAAAAAAAAAAAAADwPw=="}, "unknown": null, "missing": null}]}]"#;
/// let steps = Steps::from_bytes(text, 1)?;
/// assert_eq!(steps.kinds(), [Kind::Word]);
/// let words = [[Some("yes"), Some("no")].into_iter().collect::<Words>()];
/// let table = Table { rows: 2, numbers: &[f64::NAN; 2], words: &words };
/// assert_eq!(steps.transformed(table)?, [1.0, 0.0]);
/// # Ok::<(), hesc_client::ClientError>(())
/// ```
#[derive(Debug)]
pub struct Steps {
    inputs: usize,
    steps: Vec<Step>,
    kinds: Vec<Kind>,
    limits: Vec<Range>,
}

impl Steps {
    /// Reads steps that take tables of so many columns.
    ///
    /// # Errors
    /// [`ClientError::Document`] for steps that are none, or do not follow upon each other;
    /// [`ClientError::NoWords`] where texts are taken apart and the feature `words` is left out.
    pub fn from_bytes(data: &[u8], inputs: usize) -> Result<Self, ClientError> {
        let document = Json::read(data).ok_or_else(|| {
            ClientError::document(
                "these are no steps of hesc.ml: they are damaged, or something else",
            )
        })?;
        Self::read(&document, inputs)
    }

    /// Reads steps that stand in a document.
    pub(crate) fn read(document: &Json, inputs: usize) -> Result<Self, ClientError> {
        if !(1..=WIDEST).contains(&inputs) {
            let text = format!("a table has from 1 to {WIDEST} columns");
            return Err(ClientError::document(text));
        }
        let mut left = MOST;
        Self::of(read::list(document, inputs, DEEPEST, &mut left)?, inputs)
    }

    fn of(steps: Vec<Step>, inputs: usize) -> Result<Self, ClientError> {
        let width = width_after(&steps, inputs);
        let kinds = kinds::demanded(&steps, vec![Kind::Number; width], inputs)?;
        let limits = limits::after(&steps, vec![Range::UNKNOWN; inputs]);
        Ok(Self { inputs, steps, kinds, limits })
    }

    /// The steps that make the features whose bits later ones are of, and zeros in place of those that are missing.
    pub(crate) fn before_bits(document: &Json, inputs: usize) -> Result<Self, ClientError> {
        let mut left = MOST;
        let mut steps = read::list(document, inputs, DEEPEST, &mut left)?;
        let makes = |step: &Step| matches!(step, Step::Exceeds(_) | Step::Branches { .. });
        steps.truncate(steps.iter().rposition(makes).unwrap_or(steps.len()));
        let columns = vec![Cell::Number(0.0); width_after(&steps, inputs)];
        steps.push(Step::Fill(Fill { columns, missing: None }));
        Self::of(steps, inputs)
    }

    /// Whether the last step finds the boxes that bits are inside.
    pub(crate) fn finds_boxes(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Inside(_)))
    }

    /// Whether no feature is larger than this, whatever the samples are.
    pub(crate) fn are_within(&self, most: f64) -> bool {
        self.limits.iter().all(|range| -range.low <= most && range.high <= most)
    }

    /// The column of a table that a feature is made of, if it is made of one.
    pub(crate) fn column_of(&self, feature: usize) -> Option<usize> {
        evaluate::traced(&self.steps, feature)
    }

    /// Adds what these steps ask of columns to what others ask of them.
    pub(crate) fn demanded_too(&self, kinds: &mut [Kind]) -> Result<(), ClientError> {
        for (column, (kind, own)) in kinds.iter_mut().zip(&self.kinds).enumerate() {
            *kind = kinds::both(*kind, *own, column)?;
        }
        Ok(())
    }

    /// Columns of a table.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// What the cells of each column are.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Features of a sample.
    pub fn width(&self) -> usize {
        self.limits.len()
    }

    /// Products and the like that a sample takes, about: tells moments from what takes longer.
    pub fn work(&self) -> usize {
        self.steps.iter().map(Step::work).fold(self.inputs, usize::saturating_add)
    }

    /// What each feature lies within whatever the samples are; infinite where that depends on them.
    pub fn limits(&self) -> (Vec<f64>, Vec<f64>) {
        self.limits.iter().map(|range| (range.low, range.high)).unzip()
    }
}

/// Refuses parts that do not belong together.
fn unfit(step: &str) -> ClientError {
    ClientError::document(format!("the parts of a transform ({step}) do not fit together"))
}

#[cfg(test)]
mod tests;
