//! Rows through steps, some at a time and on all threads where there are many.

use hesc_schemes::several_threads;
use rayon::prelude::*;

use super::branches::Branch;
use super::categories::NoCode;
use super::one_hot::code_below;
use super::range::clipped;
use super::{Norm, Step, Steps};
use crate::table::Cells;
use crate::{ClientError, Kind, Place, Table, Words};

/// Numbers between two steps that are in memory for each thread, of a few rows at least: what caches hold.
const AT_ONCE: usize = 1 << 15;
/// Rows that are taken at once even so: matrices are read once for all of them.
const FEW: usize = 4;
/// What is no scale for `sklearn.preprocessing.normalize`: it leaves such rows as they are.
const NO_NORM: f64 = 10.0 * f64::EPSILON;

/// Features within their ranges.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// A row for each sample.
    pub features: Vec<f64>,
    /// How many were beyond, and were brought to the end of their range.
    pub values: usize,
    /// Samples that had such values.
    pub which: Vec<bool>,
}

/// Why a cell is refused.
enum Why {
    NotFinite,
    NoCode(NoCode),
    Fraction,
}

/// A refused cell: its row, its column before the steps that were run, if there is one, and the step.
struct Fault {
    row: usize,
    column: Option<usize>,
    step: &'static str,
    why: Why,
}

impl Steps {
    /// Features of samples within their ranges.
    ///
    /// # Errors
    /// As [`Steps::transformed`]; [`ClientError::Beyond`] for a feature beyond its range unless it is to be clipped;
    /// [`ClientError::Document`] for another number of ranges.
    pub fn prepared(
        &self,
        table: Table<'_>,
        [low, high]: [&[f64]; 2],
        clip: bool,
    ) -> Result<Prepared, ClientError> {
        let width = self.width();
        if [low.len(), high.len()] != [width; 2] {
            let text =
                format!("ranges are a least and a greatest value for each of {width} features");
            return Err(ClientError::document(text));
        }
        let mut features = self.transformed(table)?;
        let mut which = vec![false; table.rows];
        let mut values = 0;
        let mut first = None;
        for (sample, (row, which)) in features.chunks_exact_mut(width).zip(&mut which).enumerate() {
            for (feature, (x, (&low, &high))) in
                row.iter_mut().zip(low.iter().zip(high)).enumerate()
            {
                if *x < low || *x > high {
                    first.get_or_insert((sample, feature));
                    *x = clipped(*x, low, high);
                    *which = true;
                    values += 1;
                }
            }
        }
        match first {
            Some((sample, feature)) if !clip => {
                let column = traced(&self.steps, feature);
                let all = features.len();
                Err(ClientError::Beyond { feature, column, name: None, sample, values, all })
            }
            _ => Ok(Prepared { features, values, which }),
        }
    }

    /// Features of samples: a row for each.
    ///
    /// # Errors
    /// [`ClientError::Shape`] for another table; [`ClientError::NotFinite`], [`ClientError::Missing`],
    /// [`ClientError::Unknown`], [`ClientError::NoCode`] for cells that the steps do not take.
    pub fn transformed(&self, table: Table<'_>) -> Result<Vec<f64>, ClientError> {
        self.check_shape(&table)?;
        let width = self.width();
        let rows = self.at_once();
        let mut found = vec![0.0; table.rows * width];
        let chunk = |(place, found): (usize, &mut [f64])| {
            let first = place * rows;
            let count = found.len() / width;
            let done = self.rows(&table, first, count).map_err(|fault| (first, fault))?;
            found.copy_from_slice(&done.numbers);
            Ok(())
        };
        let failed = if table.rows <= rows || !several_threads() {
            found.chunks_mut(rows * width).enumerate().map(chunk).find_map(Result::err)
        } else {
            // The first, whichever thread met another before.
            let chunks = found.par_chunks_mut(rows * width).enumerate();
            chunks.map(chunk).find_map_first(Result::err)
        };
        match failed {
            None => Ok(found),
            Some((first, fault)) => Err(explained(fault, first)),
        }
    }

    /// Rows that are taken at once: a step of few bytes may make many features of them.
    pub(super) fn at_once(&self) -> usize {
        let widest = self.steps.iter().map(Step::widest).fold(self.inputs, usize::max);
        (AT_ONCE / widest).max(FEW)
    }

    fn check_shape(&self, table: &Table<'_>) -> Result<(), ClientError> {
        let inputs = self.inputs;
        let wanted = self.kinds.iter().filter(|kind| **kind == Kind::Word).count();
        let shape = |found: String| Err(ClientError::Shape { inputs, found });
        if table.rows.checked_mul(inputs) != Some(table.numbers.len()) {
            return shape(format!("{} numbers for {} of them", table.numbers.len(), table.rows));
        }
        if table.words.len() != wanted {
            return shape(format!("{} columns of words, where {wanted} are", table.words.len()));
        }
        match table.words.iter().find(|words| words.len() != table.rows) {
            Some(words) => shape(format!("{} words for {} of them", words.len(), table.rows)),
            None => Ok(()),
        }
    }

    /// Some rows after all steps.
    fn rows<'a>(
        &'a self,
        table: &Table<'a>,
        first: usize,
        count: usize,
    ) -> Result<Cells<'a>, Fault> {
        let width = self.inputs;
        let numbers = table.numbers[first * width..][..count * width].to_vec();
        let mut cells = Cells::full(count, width, numbers);
        if !table.words.is_empty() {
            let mut words = table.words.iter();
            cells.words = vec![None; width];
            for (column, kind) in self.kinds.iter().enumerate() {
                if *kind == Kind::Word {
                    let own = words.next().map(|words: &Words| {
                        (first..first + count).map(|row| words.get(row)).collect()
                    });
                    cells.words[column] = own;
                    cells.numbers.iter_mut().skip(column).step_by(width).for_each(|x| *x = 0.0);
                }
            }
        }
        if !all_finite(&cells.numbers) {
            let wrong = |(at, x): (usize, &f64)| {
                let infinite = x.is_infinite() && self.kinds[at % width] == Kind::Number;
                infinite.then(|| fault(at, width, "samples", Why::NotFinite))
            };
            if let Some(fault) = cells.numbers.iter().enumerate().find_map(wrong) {
                return Err(fault);
            }
            cells.missing = true;
        }
        let done = run(&self.steps, cells)?;
        check_there(&done, "the model").map_err(|mut fault| {
            fault.column = fault.column.and_then(|column| traced(&self.steps, column));
            fault
        })?;
        Ok(done)
    }
}

fn all_finite(numbers: &[f64]) -> bool {
    !numbers.iter().fold(false, |wrong, x| wrong | !x.is_finite())
}

fn fault(at: usize, width: usize, step: &'static str, why: Why) -> Fault {
    Fault { row: at / width, column: Some(at % width), step, why }
}

/// Refuses numbers that are missing.
fn check_there(cells: &Cells<'_>, step: &'static str) -> Result<(), Fault> {
    if !cells.missing {
        return Ok(());
    }
    match cells.numbers.iter().position(|x| x.is_nan()) {
        Some(at) => Err(fault(at, cells.width, step, Why::NoCode(NoCode::Missing))),
        None => Ok(()),
    }
}

/// The column before steps that one after them is of, if it is of one.
pub(super) fn traced(steps: &[Step], column: usize) -> Option<usize> {
    steps.iter().rev().try_fold(column, |column, step| match step {
        Step::Each(_) | Step::Codes(_) | Step::Fill(_) | Step::IsMissing(_) => Some(column),
        Step::Branches { branches, .. } => {
            let mut left = column;
            let own = branches.iter().find(|branch| {
                let inside = left < branch.width();
                left -= if inside { 0 } else { branch.width() };
                inside
            })?;
            traced(&own.steps, left).map(|column| own.columns[column])
        }
        _ => None,
    })
}

/// Rows after steps.
fn run<'a>(steps: &'a [Step], mut cells: Cells<'a>) -> Result<Cells<'a>, Fault> {
    for (place, step) in steps.iter().enumerate() {
        cells = step.apply(cells).map_err(|mut fault| {
            fault.column = fault.column.and_then(|column| traced(&steps[..place], column));
            fault
        })?;
    }
    Ok(cells)
}

impl Step {
    /// Rows after this step.
    fn apply<'a>(&'a self, mut cells: Cells<'a>) -> Result<Cells<'a>, Fault> {
        let rows = cells.rows;
        let full = |numbers| Ok(Cells::full(rows, self.widths().1, numbers));
        match self {
            Self::Each(each) => {
                let before: Vec<bool> = match cells.missing {
                    true => cells.numbers.iter().map(|x| x.is_nan()).collect(),
                    false => Vec::new(),
                };
                each.apply(&mut cells.numbers);
                if !all_finite(&cells.numbers) {
                    let wrong = |(at, x): &(usize, &f64)| {
                        !x.is_finite() && !before.get(*at).copied().unwrap_or(false)
                    };
                    if let Some((at, _)) = cells.numbers.iter().enumerate().find(wrong) {
                        return Err(fault(at, cells.width, self.name(), Why::NotFinite));
                    }
                }
                return Ok(cells);
            }
            Self::Branches { branches, .. } => return beside(branches, &cells),
            Self::Codes(codes) => {
                codes.apply(&mut cells).map_err(|(row, column, why)| {
                    let (column, step) = (Some(column), self.name());
                    Fault { row, column, step, why: Why::NoCode(why) }
                })?;
                return Ok(cells);
            }
            Self::Fill(fill) => {
                fill.apply(&mut cells);
                return Ok(cells);
            }
            Self::IsMissing(missing) => {
                missing.apply(&mut cells);
                return Ok(cells);
            }
            Self::Exceeds(exceeds) => {
                let found = exceeds.apply(&cells).map_err(|(row, column)| {
                    let (column, step) = (Some(column), self.name());
                    Fault { row, column, step, why: Why::NoCode(NoCode::Missing) }
                })?;
                return full(found);
            }
            Self::Tokens(tokens) => {
                let width = tokens.outputs();
                let mut counts = vec![0.0; rows * width];
                for (row, counts) in counts.chunks_exact_mut(width).enumerate() {
                    match cells.words_of(0).and_then(|words| words[row]) {
                        Some(text) => tokens.count(text, counts),
                        None => {
                            let why = Why::NoCode(NoCode::Missing);
                            return Err(Fault { row, column: Some(0), step: self.name(), why });
                        }
                    }
                }
                return full(counts);
            }
            _ => check_there(&cells, self.name())?,
        }
        let inputs = cells.width;
        let mut numbers = cells.numbers;
        let found = match self {
            Self::Projection(projection) => projection.apply(&mut numbers),
            Self::Monomials(monomials) => monomials.apply(&numbers),
            Self::Kernel(kernel) => kernel.apply(&numbers),
            Self::Bins(bins) => return full(bins.apply(&numbers)),
            Self::Inside(inside) => return full(inside.apply(&numbers)),
            Self::OneHot(sizes) => return full(self.one_hot(sizes, &numbers)?),
            Self::Lookup(lookup) => {
                let mut found = Vec::with_capacity(rows * self.widths().1);
                for (row, codes) in numbers.chunks_exact(inputs).enumerate() {
                    lookup.row(codes, &mut found).map_err(|column| Fault {
                        row,
                        column: Some(column),
                        step: self.name(),
                        why: Why::NoCode(NoCode::Unknown("code")),
                    })?;
                }
                return full(found);
            }
            Self::Normalise { norm, .. } => {
                numbers.chunks_exact_mut(inputs).for_each(|row| normalise(row, *norm));
                numbers
            }
            _ => numbers,
        };
        match found.iter().position(|x| !x.is_finite()) {
            Some(at) => {
                let row = at / self.widths().1;
                Err(Fault { row, column: None, step: self.name(), why: Why::NotFinite })
            }
            None => full(found),
        }
    }

    fn one_hot(&self, sizes: &[usize], numbers: &[f64]) -> Result<Vec<f64>, Fault> {
        let width = self.widths().1;
        let mut found = vec![0.0; numbers.len() / sizes.len() * width];
        let rows = numbers.chunks_exact(sizes.len()).zip(found.chunks_exact_mut(width));
        for (row, (codes, mut places)) in rows.enumerate() {
            for (column, (&code, &size)) in codes.iter().zip(sizes).enumerate() {
                let (own, others) = places.split_at_mut(size);
                if let Some(at) = code_below(code, size) {
                    own[at] = 1.0;
                } else if code != code.floor() {
                    let (column, step) = (Some(column), self.name());
                    return Err(Fault { row, column, step, why: Why::Fraction });
                }
                places = others;
            }
        }
        Ok(found)
    }
}

/// What all branches give, side by side.
fn beside<'a>(branches: &'a [Branch], cells: &Cells<'a>) -> Result<Cells<'a>, Fault> {
    let width = branches.iter().map(Branch::width).sum();
    let mut all = Cells::full(cells.rows, width, vec![0.0; cells.rows * width]);
    let mut start = 0;
    for branch in branches {
        let own = run(&branch.steps, cells.select(&branch.columns)).map_err(|mut fault| {
            fault.column = fault.column.map(|column| branch.columns[column]);
            fault
        })?;
        let rows = own.numbers.chunks_exact(own.width).zip(all.numbers.chunks_exact_mut(width));
        rows.for_each(|(own, all)| all[start..start + own.len()].copy_from_slice(own));
        all.missing |= own.missing;
        if !own.words.is_empty() {
            all.words.resize(width, None);
            let places = all.words[start..].iter_mut();
            places.zip(own.words).for_each(|(place, words)| *place = words);
        }
        start += own.width;
    }
    Ok(all)
}

/// Divides a row by its norm; roundings do not bring it beyond one.
fn normalise(row: &mut [f64], norm: Norm) {
    let by = match norm {
        Norm::L1 => row.iter().map(|x| x.abs()).sum(),
        Norm::L2 => row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Norm::Max => row.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
    };
    if by >= NO_NORM {
        row.iter_mut().for_each(|x| *x = (*x / by).clamp(-1.0, 1.0));
    }
}

/// The error of a cell of a chunk that begins at this row.
fn explained(fault: Fault, first: usize) -> ClientError {
    let (sample, column) = (first + fault.row, fault.column);
    let at = Place { sample, column, name: None, step: fault.step };
    match fault.why {
        Why::NotFinite => ClientError::NotFinite { at },
        Why::NoCode(NoCode::Missing) => ClientError::Missing { at },
        Why::NoCode(NoCode::Unknown(what)) => ClientError::Unknown { at, what },
        Why::Fraction => ClientError::NoCode { at },
    }
}
