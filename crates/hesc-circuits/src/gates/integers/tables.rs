//! Any function of two small numbers, by its polynomial: least depth, many products.

use super::{check, circuit};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// Bits of each number of a table, at most.
pub(super) const MOST_OF_TABLE: usize = 5;

/// A function of two numbers of `width` bits with results of `result_width`: `f = sum_S a^S phi_S(b)` over sets
/// `S` of bits, `phi_S` linear in products of bits of `b`. Depth `1 + log2(width)`.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 5, or a result's outside 1 to 64.
pub fn table(
    width: usize,
    result_width: usize,
    function: impl Fn(u64, u64) -> u64,
) -> Result<Netlist, GateError> {
    check("the width of a number", width, 1, MOST_OF_TABLE)?;
    check("the width of the result", result_width, 1, 64)?;
    circuit(&[width, width], |builder, inputs| {
        vec![looked_up(builder, &inputs[0], &inputs[1], result_width, &function)]
    })
}

/// The same on wires, of two numbers of one width.
pub(super) fn looked_up(
    builder: &mut Builder,
    a: &[Wire],
    b: &[Wire],
    result_width: usize,
    function: &dyn Fn(u64, u64) -> u64,
) -> Vec<Wire> {
    let width = a.len();
    let numbers = 1u64 << width;
    let mut values: Vec<u64> =
        (0..numbers * numbers).map(|at| function(at % numbers, at / numbers)).collect();
    // To coefficients, all bits of the result at once (Möbius).
    for bit in 0..2 * width {
        for at in (0..values.len()).filter(|at| at >> bit & 1 == 1) {
            values[at] ^= values[at ^ 1 << bit];
        }
    }
    let of_a = monomials(builder, a);
    let of_b = SharedSums::new(monomials(builder, b));
    let outputs = 0..result_width;
    let output = outputs.map(|bit| {
        let mut sum = builder.constant(false);
        for (set, &monomial) in of_a.iter().enumerate() {
            let is_term = |other: usize| values[set | other << width] >> bit & 1 == 1;
            let factor = of_b.sum(builder, is_term);
            let product = builder.and(monomial, factor);
            sum = builder.xor(sum, product);
        }
        sum
    });
    output.collect()
}

/// Exclusive ors of some of the same wires, those of four neighbours shared.
struct SharedSums(Vec<Wire>);

impl SharedSums {
    /// Wires of one group.
    const GROUP: usize = 4;

    fn new(wires: Vec<Wire>) -> Self {
        Self(wires)
    }

    /// Equal sums of a group become one when the circuit is simplified.
    fn sum(&self, builder: &mut Builder, chosen: impl Fn(usize) -> bool) -> Wire {
        let mut sum = builder.constant(false);
        for (group, wires) in self.0.chunks(Self::GROUP).enumerate() {
            let mut part = builder.constant(false);
            for (at, &wire) in wires.iter().enumerate() {
                if chosen(group * Self::GROUP + at) {
                    part = builder.xor(part, wire);
                }
            }
            sum = builder.xor(sum, part);
        }
        sum
    }
}

/// The products of all sets of bits, each of two halves.
fn monomials(builder: &mut Builder, bits: &[Wire]) -> Vec<Wire> {
    match *bits {
        [] => vec![builder.constant(true)],
        [bit] => vec![builder.constant(true), bit],
        _ => {
            let (low, high) = bits.split_at(bits.len().div_ceil(2));
            let (low, high) = (monomials(builder, low), monomials(builder, high));
            let pairs = high.iter().flat_map(|&b| low.iter().map(move |&a| (a, b)));
            pairs.map(|(a, b)| builder.and(a, b)).collect()
        }
    }
}
