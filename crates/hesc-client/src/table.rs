//! Tables of numbers and words.

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, NaN where one is missing.
    Number,
    /// Texts.
    Word,
    /// Whatever they are: only whether they are missing is asked, if anything.
    Any,
}

impl Kind {
    /// What Python calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Word => "word",
            Self::Any => "any",
        }
    }
}

/// A column of words, some of which may be missing.
#[derive(Debug, Clone, Default)]
pub struct Words {
    text: String,
    /// Where each begins and ends.
    cells: Vec<Option<(usize, usize)>>,
}

impl Words {
    /// Adds a cell.
    pub fn push(&mut self, word: Option<&str>) {
        let start = self.text.len();
        self.cells.push(word.map(|word| {
            self.text.push_str(word);
            (start, self.text.len())
        }));
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The word of a row, if it is there.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.cells[row].map(|(start, end)| &self.text[start..end])
    }
}

impl<'a> FromIterator<Option<&'a str>> for Words {
    fn from_iter<T: IntoIterator<Item = Option<&'a str>>>(words: T) -> Self {
        let mut found = Self::default();
        words.into_iter().for_each(|word| found.push(word));
        found
    }
}

/// Samples as their owner has them.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// How many there are.
    pub rows: usize,
    /// A row of all columns for each: those of kind [`Kind::Any`] hold NaN where a cell is missing and any number where it
    /// is not, those of words are not looked at.
    pub numbers: &'a [f64],
    /// The columns of kind [`Kind::Word`], in their order.
    pub words: &'a [Words],
}

/// Some rows on their way through steps.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    /// A row of all columns for each.
    pub(crate) numbers: Vec<f64>,
    /// The words of each column, or none where a column has numbers; nothing where all have.
    pub(crate) words: Vec<Option<Vec<Option<&'a str>>>>,
    /// Whether numbers may be missing.
    pub(crate) missing: bool,
}

impl<'a> Cells<'a> {
    /// Numbers of so many columns, none missing.
    pub(crate) fn full(rows: usize, width: usize, numbers: Vec<f64>) -> Self {
        Self { rows, width, numbers, words: Vec::new(), missing: false }
    }

    /// The words of a column.
    pub(crate) fn words_of(&self, column: usize) -> Option<&[Option<&'a str>]> {
        self.words.get(column)?.as_deref()
    }

    /// These columns, in this order.
    pub(crate) fn select(&self, columns: &[usize]) -> Self {
        let rows = self.numbers.chunks_exact(self.width);
        let numbers = rows.flat_map(|row| columns.iter().map(|&column| row[column])).collect();
        let words = if self.words.is_empty() {
            Vec::new()
        } else {
            columns.iter().map(|&column| self.words[column].clone()).collect()
        };
        Self { rows: self.rows, width: columns.len(), numbers, words, missing: self.missing }
    }
}
