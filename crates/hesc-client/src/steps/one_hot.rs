//! Numbers that become a row of several: bins, edges, categories and their tables.

use crate::table::Cells;

/// A one for the bin that a column, or a pair of columns, is in.
///
/// A column with the edges `e_0 <= e_1 <= ...` is in bin `i` if `e_(i-1) < x <= e_i`. A pair is in one of the cells that the
/// bins of both make, those of the second side by side.
#[derive(Debug)]
pub(super) struct Bins {
    pub(super) inputs: usize,
    pub(super) blocks: Vec<Block>,
    pub(super) edges: Vec<f64>,
    pub(super) outputs: usize,
}

/// A column or two, each with where its edges begin and how many they are.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) first: [usize; 3],
    pub(super) second: Option<[usize; 3]>,
}

impl Block {
    /// How many cells there are.
    pub(super) fn cells(&self) -> usize {
        (self.first[2] + 1) * self.second.map_or(1, |[.., edges]| edges + 1)
    }
}

impl Bins {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    pub(super) fn apply(&self, numbers: &[f64]) -> Vec<f64> {
        let rows = numbers.chunks_exact(self.inputs);
        let mut found = vec![0.0; rows.len() * self.outputs];
        for (row, mut found) in rows.zip(found.chunks_exact_mut(self.outputs)) {
            let bin = |[column, start, count]: [usize; 3]| {
                self.edges[start..start + count].partition_point(|&edge| edge < row[column])
            };
            for block in &self.blocks {
                let (own, others) = found.split_at_mut(block.cells());
                let second = block.second.map_or(0, bin);
                let beside = block.second.map_or(1, |[.., count]| count + 1);
                own[bin(block.first) * beside + second] = 1.0;
                found = others;
            }
        }
        found
    }
}

/// A one for each edge that a column exceeds, and where it may be missing a one for that.
#[derive(Debug)]
pub(super) struct Exceeds {
    pub(super) inputs: usize,
    pub(super) columns: Vec<Edged>,
    pub(super) edges: Vec<f64>,
    pub(super) outputs: usize,
}

/// A column, where its edges begin, and how many they are.
#[derive(Debug)]
pub(super) struct Edged {
    pub(super) column: usize,
    pub(super) start: usize,
    pub(super) count: usize,
    /// Whether cells without a value are taken: they exceed no edge, and have a one of their own.
    pub(super) missing: bool,
}

impl Exceeds {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.inputs, self.outputs)
    }

    /// Ones and zeros, or the row and column of the first cell that is missing where it may not.
    pub(super) fn apply(&self, cells: &Cells<'_>) -> Result<Vec<f64>, (usize, usize)> {
        let mut found = Vec::with_capacity(cells.rows * self.outputs);
        for (place, row) in cells.numbers.chunks_exact(self.inputs).enumerate() {
            for edged in &self.columns {
                let x = row[edged.column];
                if x.is_nan() && !edged.missing {
                    return Err((place, edged.column));
                }
                let edges = &self.edges[edged.start..edged.start + edged.count];
                found.extend(edges.iter().map(|&edge| f64::from(u8::from(x > edge))));
                found.extend(edged.missing.then_some(f64::from(u8::from(x.is_nan()))));
            }
        }
        Ok(found)
    }
}

/// A one for each box that a row lies in: all of whose conditions on columns of ones and zeros hold.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) inputs: usize,
    /// Where the conditions of each box end.
    pub(super) ends: Vec<usize>,
    /// Whether each condition asks for a one, and where its columns end.
    pub(super) conditions: Vec<(bool, usize)>,
    /// Columns of the conditions: one of them has a one, or none has.
    pub(super) columns: Vec<usize>,
}

impl Inside {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.inputs, self.ends.len())
    }

    pub(super) fn apply(&self, numbers: &[f64]) -> Vec<f64> {
        let rows = numbers.chunks_exact(self.inputs);
        let mut found = Vec::with_capacity(rows.len() * self.ends.len());
        for row in rows {
            let (mut condition, mut column) = (0, 0);
            found.extend(self.ends.iter().map(|&end| {
                let mut inside = true;
                for &(wanted, last) in &self.conditions[condition..end] {
                    let any = self.columns[column..last].iter().any(|&at| row[at] != 0.0);
                    inside &= any == wanted;
                    column = last;
                }
                condition = end;
                f64::from(u8::from(inside))
            }));
        }
        found
    }
}

/// The row that each code stands for.
#[derive(Debug)]
pub(super) struct Lookup {
    /// Rows and columns of each table, and its numbers.
    pub(super) tables: Vec<([usize; 2], Vec<f64>)>,
}

impl Lookup {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.tables.len(), self.tables.iter().map(|([_, columns], _)| columns).sum())
    }

    /// The rows of a row of codes one after the other, or the first column whose code is none of its table's.
    pub(super) fn row(&self, codes: &[f64], found: &mut Vec<f64>) -> Result<(), usize> {
        for (column, (code, ([rows, columns], table))) in codes.iter().zip(&self.tables).enumerate()
        {
            let place = code_below(*code, *rows).ok_or(column)?;
            found.extend_from_slice(&table[place * columns..][..*columns]);
        }
        Ok(())
    }
}

/// A code as a place among so many, if it is one.
pub(super) fn code_below(code: f64, count: usize) -> Option<usize> {
    (code >= 0.0 && code < count as f64 && code == code.floor()).then_some(code as usize)
}
