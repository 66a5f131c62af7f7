//! Any function of two small numbers, by its polynomial: least depth, many products.

use super::{check, circuit};
use crate::gates::{Builder, GateError, Netlist, Wire};

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
    check("the width of a number", width, 1, 5)?;
    check("the width of the result", result_width, 1, 64)?;
    let numbers = 1u64 << width;
    let mut values: Vec<u64> =
        (0..numbers * numbers).map(|at| function(at % numbers, at / numbers)).collect();
    // To coefficients, all bits of the result at once (Möbius).
    for bit in 0..2 * width {
        for at in (0..values.len()).filter(|at| at >> bit & 1 == 1) {
            values[at] ^= values[at ^ 1 << bit];
        }
    }
    circuit(&[width, width], |builder, inputs| {
        let of_a = monomials(builder, &inputs[0]);
        let of_b = monomials(builder, &inputs[1]);
        let outputs = 0..result_width;
        let output = outputs.map(|bit| {
            let mut sum = builder.constant(false);
            for (set, &monomial) in of_a.iter().enumerate() {
                let mut factor = builder.constant(false);
                for (other, &term) in of_b.iter().enumerate() {
                    if values[set | other << width] >> bit & 1 == 1 {
                        factor = builder.xor(factor, term);
                    }
                }
                let product = builder.and(monomial, factor);
                sum = builder.xor(sum, product);
            }
            sum
        });
        vec![output.collect()]
    })
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
