//! Circuits on bit streams (`hsiao2022sche` §2, `koseki2022hesc` §2.2): every wire a bit of a stream.

use std::collections::VecDeque;

use super::binary::full_adder;
use super::{BinaryGate, Builder, GateError, Netlist, Wire};

/// Bits of a stream, at most.
const MOST_LENGTH: usize = 1 << 20;

fn check_length(value: usize) -> Result<(), GateError> {
    if (1..=MOST_LENGTH).contains(&value) {
        return Ok(());
    }
    Err(GateError::Size { what: "the stream length", value, least: 1, most: MOST_LENGTH })
}

/// The product of two streams bit by bit: `And` for unipolar streams (the paper's), `Xor` for
/// inverted-bipolar ones. One gate a bit, depth 1.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20.
pub fn multiplier(gate: BinaryGate, stream_length: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    let (mut builder, inputs) = Builder::new(&[stream_length, stream_length]);
    let pairs = inputs[0].iter().zip(&inputs[1]);
    let product = pairs.map(|(&a, &b)| builder.binary(gate, a, b)).collect();
    builder.finish(vec![product])
}

/// `(a + b) / 2` from half of each stream: no gate at all. Even places come from the first, odd ones
/// from the second.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20.
pub fn scaled_adder(stream_length: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    let (builder, inputs) = Builder::new(&[stream_length, stream_length]);
    builder.finish(vec![(0..stream_length).map(|i| inputs[i % 2][i]).collect()])
}

/// `w a + (1 - w) b` with the weight as a third stream of ones with the share `w`: one multiplexer a
/// bit.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20.
pub fn weighted_adder(stream_length: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    let (mut builder, inputs) = Builder::new(&[stream_length; 3]);
    let sum =
        (0..stream_length).map(|i| builder.mux(inputs[2][i], inputs[0][i], inputs[1][i])).collect();
    builder.finish(vec![sum])
}

/// The number of ones of a stream, as a binary number: carry-save adders, three bits of one weight to
/// two of the next, fewer than five gates a bit.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20.
pub fn popcount(stream_length: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    let (mut builder, inputs) = Builder::new(&[stream_length]);
    let count = count_ones(&mut builder, inputs[0].clone());
    builder.finish(vec![count])
}

/// The number of ones among wires, lowest bits first.
fn count_ones(builder: &mut Builder, wires: Vec<Wire>) -> Vec<Wire> {
    let mut count = Vec::new();
    let mut column = VecDeque::from(wires);
    while !column.is_empty() {
        let mut carries = VecDeque::new();
        while column.len() > 1 {
            // First in, first out: all wires of a column are about as deep.
            let (Some(a), Some(b)) = (column.pop_front(), column.pop_front()) else { break };
            let [sum, carry] = match column.pop_front() {
                Some(c) => full_adder(builder, a, b, c),
                None => [builder.xor(a, b), builder.and(a, b)],
            };
            column.push_back(sum);
            carries.push_back(carry);
        }
        count.extend(column.pop_front());
        column = carries;
    }
    count
}
