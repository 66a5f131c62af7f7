//! What features lie within whatever the samples are.

use super::Step;
use super::categories::Cell;
use super::range::Range;

/// Limits of columns after steps, given those before them.
pub(super) fn after(steps: &[Step], before: Vec<Range>) -> Vec<Range> {
    steps.iter().fold(before, |before, step| of(step, &before))
}

fn of(step: &Step, before: &[Range]) -> Vec<Range> {
    let outputs = step.widths().1;
    match step {
        Step::Each(each) => {
            before.iter().enumerate().map(|(column, range)| each.limits(column, *range)).collect()
        }
        Step::Projection(_) | Step::Kernel(_) => vec![Range::UNKNOWN; outputs],
        Step::Monomials(monomials) => monomials
            .factors
            .chunks_exact(monomials.degree)
            .map(|factors| {
                let one = Range { low: 1.0, high: 1.0, whole: true };
                let range = |&at: &usize| before.get(at).copied().unwrap_or(one);
                factors.iter().rev().map(range).reduce(product).unwrap_or(one)
            })
            .collect(),
        Step::Bins(_)
        | Step::Exceeds(_)
        | Step::Inside(_)
        | Step::OneHot(_)
        | Step::IsMissing(_) => vec![Range::BIT; outputs],
        Step::Branches { branches, .. } => branches
            .iter()
            .flat_map(|branch| {
                let own = branch.columns.iter().map(|&column| before[column]).collect();
                after(&branch.steps, own)
            })
            .collect(),
        Step::Codes(codes) => codes.columns.iter().map(|column| column.limits()).collect(),
        Step::Lookup(lookup) => lookup
            .tables
            .iter()
            .flat_map(|([_, columns], table)| {
                (0..*columns).map(move |at| {
                    let own = table.iter().skip(at).step_by(*columns).copied();
                    Range::around(own).unwrap_or(Range::UNKNOWN)
                })
            })
            .collect(),
        Step::Fill(fill) => fill
            .columns
            .iter()
            .zip(before)
            .map(|(value, range)| match value {
                Cell::Number(value) => Range::around([*value]).map_or(*range, |own| range.or(own)),
                Cell::Word(_) => *range,
            })
            .collect(),
        Step::Normalise { .. } => before
            .iter()
            .map(|range| Range::of(if range.low >= 0.0 { 0.0 } else { -1.0 }, 1.0))
            .collect(),
        Step::Tokens(tokens) => vec![tokens.limits(); outputs],
    }
}

/// Limits of a product of factors that have no sign; otherwise nothing is known of it.
fn product(a: Range, b: Range) -> Range {
    if a.low >= 0.0 && b.low >= 0.0 && a.high.is_finite() && b.high.is_finite() {
        let (low, high) = (a.low * b.low, a.high * b.high);
        Range { low, high, whole: a.whole && b.whole }
    } else {
        Range::UNKNOWN
    }
}
