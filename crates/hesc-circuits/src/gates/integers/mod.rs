//! Circuits on integers for encryptions where exclusive ors cost nothing and products do (`xu2016integers` §3):
//! additions of ciphertexts and products of ciphertexts modulo 2.
//!
//! Numbers are wires from the lowest bit up, two's complement where they are signed. What counts is
//! [`Netlist::products`] and [`Netlist::product_depth`].
//!
//! ```
//! use hesc_circuits::gates::integers::{self, Adder};
//!
//! let adder = integers::adder(Adder::Sklansky, 8)?;
//! assert_eq!((adder.products(), adder.product_depth()), (25, 4));
//! assert_eq!(adder.evaluate_numbers(&[&[200, 3], &[100, 4]])?, [[300, 7]]);
//! # Ok::<(), hesc_circuits::gates::GateError>(())
//! ```

mod adders;
mod columns;
mod comparisons;
mod dividers;
mod multipliers;
mod shifts;
mod sorting;
mod tables;

pub use adders::{Adder, adder, negation, subtractor};
pub use columns::{popcount, sum};
pub use comparisons::{absolute, equal, less, maximum, minimum, selection};
pub use dividers::{Division, divider};
pub use multipliers::{Rows, Signs, multiplier};
pub use shifts::{Shift, shifter};
pub use sorting::{largest, sorter};
pub use tables::table;

use super::{Builder, GateError, Netlist, Wire};

/// Bits of a number, at most.
const MOST_BITS: usize = 4096;
/// Bits of all numbers of a circuit together, at most.
const MOST_INPUTS: usize = 1 << 20;

fn check(what: &'static str, value: usize, least: usize, most: usize) -> Result<(), GateError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(GateError::Size { what, value, least, most })
}

fn check_width(value: usize) -> Result<(), GateError> {
    check("the width of a number", value, 1, MOST_BITS)
}

/// A circuit of numbers of these widths, with constants folded and equal gates shared.
fn circuit(
    widths: &[usize],
    build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Vec<Wire>>,
) -> Result<Netlist, GateError> {
    for &width in widths {
        check_width(width)?;
    }
    check("bits of all numbers", widths.iter().sum(), 1, MOST_INPUTS)?;
    let (mut builder, inputs) = Builder::new(widths);
    let outputs = build(&mut builder, &inputs);
    builder.finish(outputs)?.simplified()
}

/// `one` where `choice` is set, `zero` elsewhere, bit by bit: one product each.
fn select(builder: &mut Builder, choice: Wire, one: &[Wire], zero: &[Wire]) -> Vec<Wire> {
    one.iter().zip(zero).map(|(&one, &zero)| builder.mux(choice, one, zero)).collect()
}

/// Each bit inverted where `bit` is set.
fn flipped(builder: &mut Builder, number: &[Wire], bit: Wire) -> Vec<Wire> {
    number.iter().map(|&wire| builder.xor(wire, bit)).collect()
}

/// Each bit inverted.
fn inverted(builder: &mut Builder, number: &[Wire]) -> Vec<Wire> {
    number.iter().map(|&wire| builder.not(wire)).collect()
}

/// A number with zeros behind its highest bit.
fn extended(builder: &mut Builder, number: &[Wire], width: usize) -> Vec<Wire> {
    let zero = builder.constant(false);
    let zeros = std::iter::repeat(zero);
    number.iter().copied().chain(zeros).take(width).collect()
}
