//! Columns that go different ways.

use super::{Step, width_after};

/// Some columns, and the steps that they go through.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) columns: Vec<usize>,
    pub(super) steps: Vec<Step>,
}

impl Branch {
    /// Columns that come out.
    pub(super) fn width(&self) -> usize {
        width_after(&self.steps, self.columns.len())
    }

    /// Numbers that a row takes on its way through, at most.
    pub(super) fn widest(&self) -> usize {
        self.steps.iter().map(Step::widest).fold(self.columns.len(), usize::max)
    }
}
