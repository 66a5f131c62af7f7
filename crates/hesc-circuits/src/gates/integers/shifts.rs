//! Shifts by a number of places that is encrypted too. Shifts by a known one are no gates at all.

use super::{check, circuit, select};
use crate::gates::{GateError, Netlist, Wire};

/// Which way, and what comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shift {
    /// Towards higher bits, zeros behind.
    Left,
    /// Towards lower bits, zeros before.
    Right,
    /// Towards lower bits, copies of the sign before.
    SignedRight,
}

/// A number of `width` bits shifted by another of `amount_width` bits: a selection for each bit of that. Shifts
/// by `width` and more leave what came in.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096, or an amount's outside 1 to 16.
pub fn shifter(way: Shift, width: usize, amount_width: usize) -> Result<Netlist, GateError> {
    check("the width of the amount", amount_width, 1, 16)?;
    circuit(&[width, amount_width], |builder, numbers| {
        let mut number = numbers[0].clone();
        let zero = builder.constant(false);
        let filling = if way == Shift::SignedRight { number[width - 1] } else { zero };
        for (bit, &choice) in numbers[1].iter().enumerate() {
            let places = (1usize << bit).min(width);
            let filled = std::iter::repeat_n(filling, places);
            let shifted: Vec<Wire> = if way == Shift::Left {
                filled.chain(number.iter().copied()).take(width).collect()
            } else {
                number[places..].iter().copied().chain(filled).collect()
            };
            number = select(builder, choice, &shifted, &number);
        }
        vec![number]
    })
}
