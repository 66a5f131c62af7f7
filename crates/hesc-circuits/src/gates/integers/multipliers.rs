//! Products of two numbers.

use super::adders::Adder;
use super::columns::Columns;
use super::{check, circuit};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// Whether numbers have signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Signs {
    /// Neither has.
    Unsigned,
    /// Both have: two's complement.
    Signed,
}

/// `a b` of `width` bits each, modulo `2^result_width`: all products of bits at once, carries saved.
///
/// Depth `1 + log2(width)` for saving carries, and the last adder's. Signed numbers by Baugh and Wooley (1973):
/// products of one sign and another bit are inverted, and a constant makes up for it. Up to `width` bits of the
/// result are those of numbers without sign.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 256, or a result's outside 1 to `2 width`.
pub fn multiplier(
    kind: Adder,
    width: usize,
    result_width: usize,
    signs: Signs,
) -> Result<Netlist, GateError> {
    check("the width of a number", width, 1, 256)?;
    check("the width of the result", result_width, 1, 2 * width)?;
    circuit(&[width, width], |builder, numbers| {
        let mut columns = Columns::new(result_width);
        let signed = signs == Signs::Signed;
        for (i, &a) in numbers[0].iter().enumerate() {
            for (j, &b) in numbers[1].iter().enumerate().take(result_width.saturating_sub(i)) {
                let product = builder.and(a, b);
                let sign = signed && (i == width - 1) != (j == width - 1);
                let product = if sign { builder.not(product) } else { product };
                columns.push(i + j, product, 1);
            }
        }
        if signed {
            let one = builder.constant(true);
            columns.push(width, one, 0);
            columns.push(2 * width - 1, one, 0);
        }
        vec![columns.sum(builder, kind)]
    })
}

/// `a b` modulo `2^width` as `xu2016integers` has it (algorithm 3): shifted rows, added in pairs by
/// adders of the bits that are not done.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 256.
pub fn multiplier_by_rows(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    check("the width of a number", width, 1, 256)?;
    circuit(&[width, width], |builder, numbers| {
        // A row and the weight of its lowest bit.
        let mut rows: Vec<(usize, Vec<Wire>)> = Vec::with_capacity(width);
        for (shift, &b) in numbers[1].iter().enumerate() {
            let row = numbers[0][..width - shift].iter().map(|&a| builder.and(a, b)).collect();
            rows.push((shift, row));
        }
        while rows.len() > 1 {
            let pairs = rows.chunks(2);
            rows = pairs
                .map(|pair| match pair {
                    [low, high] => (low.0, add_rows(builder, kind, low, high)),
                    _ => pair[0].clone(),
                })
                .collect();
        }
        rows.pop().map(|(_, row)| row).into_iter().collect()
    })
}

/// The lower row keeps the bits below the higher one.
fn add_rows(
    builder: &mut Builder,
    kind: Adder,
    low: &(usize, Vec<Wire>),
    high: &(usize, Vec<Wire>),
) -> Vec<Wire> {
    let (below, above) = low.1.split_at(high.0 - low.0);
    let zero = builder.constant(false);
    let mut sum = kind.add(builder, above, &high.1, zero);
    sum.pop();
    below.iter().copied().chain(sum).collect()
}
