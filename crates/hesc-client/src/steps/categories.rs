//! Steps that take words and missing cells: categories as codes, what is missing filled or told.

use std::collections::HashMap;

use super::range::Range;
use crate::Kind;
use crate::document::same;
use crate::table::Cells;

/// What a cell that has no code becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Else {
    Refused,
    Code(f64),
    Missing,
}

/// Categories of a column by their codes.
#[derive(Debug)]
pub(super) enum Categories {
    Words(HashMap<Box<str>, f64>),
    Numbers(HashMap<u64, f64>),
}

/// A column of categories.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) categories: Categories,
    pub(super) unknown: Else,
    pub(super) missing: Else,
}

impl Column {
    pub(super) fn kind(&self) -> Kind {
        match self.categories {
            Categories::Words(_) => Kind::Word,
            Categories::Numbers(_) => Kind::Number,
        }
    }

    pub(super) fn limits(&self) -> Range {
        let codes: Vec<f64> = match &self.categories {
            Categories::Words(codes) => codes.values().copied().collect(),
            Categories::Numbers(codes) => codes.values().copied().collect(),
        };
        let others = [self.unknown, self.missing].into_iter().filter_map(|other| match other {
            Else::Code(code) => Some(code),
            Else::Refused | Else::Missing => None,
        });
        Range::around(codes.into_iter().chain(others)).unwrap_or(Range::UNKNOWN)
    }
}

/// Why a cell has no code.
pub(super) enum NoCode {
    Missing,
    Unknown(&'static str),
}

/// Columns of categories, each by its codes.
#[derive(Debug)]
pub(super) struct Codes {
    pub(super) columns: Vec<Column>,
}

impl Codes {
    /// Codes in place of cells; otherwise the row and column of the first that has none.
    pub(super) fn apply(&self, cells: &mut Cells<'_>) -> Result<(), (usize, usize, NoCode)> {
        let width = cells.width;
        for (at, column) in self.columns.iter().enumerate() {
            let words = cells.words.get_mut(at).and_then(Option::take);
            for row in 0..cells.rows {
                let place = &mut cells.numbers[row * width + at];
                let (missing, code, what) = match &column.categories {
                    Categories::Words(codes) => {
                        let word = words.as_ref().and_then(|words| words[row]);
                        (word.is_none(), word.and_then(|word| codes.get(word)), "word")
                    }
                    Categories::Numbers(codes) => {
                        (place.is_nan(), codes.get(&same(*place)), "number")
                    }
                };
                let other = if missing { column.missing } else { column.unknown };
                *place = match (code, other) {
                    (Some(code), _) => *code,
                    (None, Else::Code(code)) => code,
                    (None, Else::Missing) => f64::NAN,
                    (None, Else::Refused) if missing => return Err((row, at, NoCode::Missing)),
                    (None, Else::Refused) => return Err((row, at, NoCode::Unknown(what))),
                };
            }
        }
        cells.words = Vec::new();
        cells.missing = cells.numbers.iter().any(|x| x.is_nan());
        Ok(())
    }
}

/// A cell of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Number(f64),
    Word(Box<str>),
}

impl Cell {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Number(_) => Kind::Number,
            Self::Word(_) => Kind::Word,
        }
    }
}

/// What stands in for cells that are missing, or that equal what says so.
#[derive(Debug)]
pub(super) struct Fill {
    pub(super) columns: Vec<Cell>,
    /// None: those that are missing.
    pub(super) missing: Option<Cell>,
}

impl Fill {
    pub(super) fn apply<'a>(&'a self, cells: &mut Cells<'a>) {
        let width = cells.width;
        for (at, value) in self.columns.iter().enumerate() {
            match (value, &self.missing) {
                (Cell::Number(value), missing) => {
                    let numbers = cells.numbers.iter_mut().skip(at).step_by(width);
                    let wanted = |x: f64| match missing {
                        Some(Cell::Number(missing)) => x == *missing,
                        _ => x.is_nan(),
                    };
                    numbers.filter(|x| wanted(**x)).for_each(|x| *x = *value);
                }
                (Cell::Word(value), missing) => {
                    let missing = match missing {
                        Some(Cell::Word(word)) => Some(&**word),
                        _ => None,
                    };
                    if let Some(Some(words)) = cells.words.get_mut(at) {
                        let cells = words.iter_mut().filter(|word| **word == missing);
                        cells.for_each(|word| *word = Some(value));
                    }
                }
            }
        }
        cells.missing = cells.numbers.iter().any(|x| x.is_nan());
    }
}

/// Ones where cells are missing, or equal what says so.
#[derive(Debug)]
pub(super) struct IsMissing {
    pub(super) inputs: usize,
    pub(super) missing: Option<Cell>,
}

impl IsMissing {
    pub(super) fn apply(&self, cells: &mut Cells<'_>) {
        for at in 0..cells.width {
            let words = cells.words.get_mut(at).and_then(Option::take);
            let numbers = cells.numbers.iter_mut().skip(at).step_by(cells.width);
            for (row, place) in numbers.enumerate() {
                let is = match (&self.missing, &words) {
                    (None, Some(words)) => words[row].is_none(),
                    (None, None) => place.is_nan(),
                    (Some(Cell::Number(missing)), _) => *place == *missing,
                    (Some(Cell::Word(missing)), Some(words)) => words[row] == Some(missing),
                    (Some(Cell::Word(_)), None) => false,
                };
                *place = f64::from(u8::from(is));
            }
        }
        cells.words = Vec::new();
        cells.missing = false;
    }
}
