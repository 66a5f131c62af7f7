//! What the steps that make bits tell of columns.

use std::collections::BTreeSet;

use super::numbers::Each;
use super::{Step, Steps};

/// Features before the steps that make bits, by their places, each once: those whose categories are told apart, and those in
/// which cells may be missing. With each the column of the table that it is made of, if it is made of one.
pub(crate) struct Told {
    pub(crate) categories: Vec<(usize, Option<usize>)>,
    pub(crate) missing: Vec<(usize, Option<usize>)>,
}

impl Steps {
    /// What the last step but those that find boxes tells.
    pub(crate) fn told(&self) -> Told {
        let bits = &self.steps[..self.steps.len() - usize::from(self.finds_boxes())];
        let (mut categories, mut missing) = (Vec::<usize>::new(), Vec::<usize>::new());
        let Some((last, before)) = bits.split_last() else {
            return Told { categories: Vec::new(), missing: Vec::new() };
        };
        let mut look = |columns: &[usize], own: &[Step]| {
            match own.first() {
                Some(Step::Exceeds(exceeds)) => {
                    let may = exceeds.columns.iter().filter(|edged| edged.missing);
                    missing.extend(may.map(|edged| columns[edged.column]));
                }
                Some(Step::Fill(_)) => missing.extend(columns),
                _ => {}
            }
            if own.iter().any(|step| matches!(step, Step::Bins(_))) {
                categories.extend(columns);
            }
        };
        match last {
            Step::Branches { branches, .. } => {
                branches.iter().for_each(|branch| look(&branch.columns, &branch.steps));
            }
            // A step of few bytes may say that it takes many columns.
            Step::Exceeds(_) | Step::Bins(_) => {
                let columns: Vec<usize> = (0..super::width_after(before, self.inputs)).collect();
                look(&columns, &bits[before.len()..]);
            }
            _ => {}
        }
        let made = made_of(before, self.inputs);
        let sorted = |places: Vec<usize>| {
            let apart: BTreeSet<usize> = places.into_iter().collect();
            apart.into_iter().map(|place| (place, made[place])).collect()
        };
        Told { categories: sorted(categories), missing: sorted(missing) }
    }
}

/// The column that each feature behind steps is a function of by itself; none of others.
fn made_of(steps: &[Step], inputs: usize) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = (0..inputs).map(Some).collect();
    for step in steps {
        match step {
            Step::Branches { branches, .. } => {
                let own = branches.iter().flat_map(|branch| {
                    let made = made_of(&branch.steps, branch.columns.len());
                    made.into_iter().map(|place| found[branch.columns[place?]])
                });
                found = own.collect();
            }
            Step::Fill(_)
            | Step::Codes(_)
            | Step::Each(
                Each::Affine { .. }
                | Each::Standard { .. }
                | Each::Stretch { .. }
                | Each::Clip { .. },
            ) => {}
            _ => return vec![None; super::width_after(steps, inputs)],
        }
    }
    found
}
