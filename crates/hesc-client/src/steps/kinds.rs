//! What columns must be, from the last step back to the first.

use super::categories::Cell;
use super::{Step, WIDEST};
use crate::{ClientError, Kind};

/// What so many columns before steps must be, given what those after them must.
pub(super) fn demanded(
    steps: &[Step],
    mut kinds: Vec<Kind>,
    inputs: usize,
) -> Result<Vec<Kind>, ClientError> {
    debug_assert!(inputs <= WIDEST);
    for step in steps.iter().rev() {
        kinds = before(step, &kinds)?;
    }
    Ok(kinds)
}

fn before(step: &Step, after: &[Kind]) -> Result<Vec<Kind>, ClientError> {
    match step {
        Step::Branches { inputs, branches } => {
            let mut kinds = vec![Kind::Any; *inputs];
            let mut rest = after;
            for branch in branches {
                let (own, others) = rest.split_at(branch.width());
                rest = others;
                let columns = branch.columns.len();
                let wanted = demanded(&branch.steps, own.to_vec(), columns)?;
                for (&column, kind) in branch.columns.iter().zip(wanted) {
                    let place = &mut kinds[column];
                    *place = both(*place, kind, column)?;
                }
            }
            Ok(kinds)
        }
        Step::Fill(fill) => {
            let own = fill.columns.iter().map(Cell::kind);
            let kinds = own.zip(after).enumerate();
            kinds.map(|(column, (own, &after))| both(own, after, column)).collect()
        }
        _ if after.contains(&Kind::Word) => Err(ClientError::document(format!(
            "a transform takes words where another ({}) gives numbers",
            step.name()
        ))),
        Step::Codes(codes) => Ok(codes.columns.iter().map(|column| column.kind()).collect()),
        Step::IsMissing(missing) => {
            let kind = missing.missing.as_ref().map_or(Kind::Any, Cell::kind);
            Ok(vec![kind; missing.inputs])
        }
        Step::Tokens(_) => Ok(vec![Kind::Word]),
        _ => Ok(vec![Kind::Number; step.widths().0]),
    }
}

/// What a column must be that two steps ask for.
pub(super) fn both(a: Kind, b: Kind, column: usize) -> Result<Kind, ClientError> {
    match (a, b) {
        (Kind::Any, other) | (other, Kind::Any) => Ok(other),
        _ if a == b => Ok(a),
        _ => Err(ClientError::document(format!(
            "transforms take column {column} for numbers and for words; give them a column each"
        ))),
    }
}
