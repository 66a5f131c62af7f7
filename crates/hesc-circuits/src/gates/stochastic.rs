//! Circuits on bit streams (`hsiao2022sche` §2, `koseki2022hesc` §2.2): every wire a bit of a stream.

use std::collections::VecDeque;

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

/// A binary number of `width` bits as a stream of `2^width` with as many ones: no gate at all, digits are
/// repeated. Place `j` has the digit that the zeros at the end of `j` choose, as digit selection does
/// it (Gupta and Kumaresan 1988), so that ones spread evenly; place 0 is empty. Its order is that of the
/// first dimension of Sobol's sequence: multiply it with streams of other dimensions.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 20.
pub fn stream(width: usize) -> Result<Netlist, GateError> {
    if !(1..=MOST_LENGTH.ilog2() as usize).contains(&width) {
        let most = MOST_LENGTH.ilog2() as usize;
        return Err(GateError::Size {
            what: "the width of a number",
            value: width,
            least: 1,
            most,
        });
    }
    let (mut builder, inputs) = Builder::new(&[width]);
    let stream = spread(&mut builder, &inputs[0]);
    builder.finish(vec![stream])
}

/// The rectified value of an inverted-bipolar stream, as a stream: counts beyond half its length, which
/// are negative values, become half of it, which is zero.
///
/// # Errors
/// [`GateError::Size`] for a length that is no power of two from 2 to 2^20.
pub fn relu(stream_length: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    if stream_length < 2 || !stream_length.is_power_of_two() {
        let what = "the stream length, a power of two,";
        return Err(GateError::Size { what, value: stream_length, least: 2, most: MOST_LENGTH });
    }
    let (mut builder, inputs) = Builder::new(&[stream_length]);
    let mut count = count_ones(&mut builder, inputs[0].clone());
    // Two digits stand for half of the length and more.
    let negative = match (count.pop(), count.pop()) {
        (Some(all), Some(half)) => builder.or(all, half),
        _ => builder.constant(false),
    };
    let positive = builder.not(negative);
    let mut rectified: Vec<Wire> =
        count.iter().map(|&digit| builder.and(digit, positive)).collect();
    rectified.push(negative);
    let stream = spread(&mut builder, &rectified);
    builder.finish(vec![stream])
}

/// Whether a stream has at least so many ones: what a linear classifier decides by, one bit.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20 or a number of ones outside 1 to the length.
pub fn at_least(stream_length: usize, ones: usize) -> Result<Netlist, GateError> {
    check_length(stream_length)?;
    if !(1..=stream_length).contains(&ones) {
        let what = "the number of ones";
        return Err(GateError::Size { what, value: ones, least: 1, most: stream_length });
    }
    let (mut builder, inputs) = Builder::new(&[stream_length]);
    let count = count_ones(&mut builder, inputs[0].clone());
    // From the lowest digit on: where digits differ from those of `ones - 1`, the higher decides.
    let mut more = builder.constant(false);
    for (place, &digit) in count.iter().enumerate() {
        more = if (ones - 1) >> place & 1 == 1 {
            builder.and(digit, more)
        } else {
            builder.or(digit, more)
        };
    }
    builder.finish(vec![vec![more]])
}

/// Whether the value of an inverted-bipolar stream is zero or less: one bit, itself a stream of length 1
/// with the value 1 or -1.
///
/// # Errors
/// [`GateError::Size`] for a length outside 1 to 2^20.
pub fn sign(stream_length: usize) -> Result<Netlist, GateError> {
    at_least(stream_length, stream_length.div_ceil(2))
}

/// The digits of a number, each as often as it counts.
fn spread(builder: &mut Builder, digits: &[Wire]) -> Vec<Wire> {
    let empty = builder.constant(false);
    let digit = |place: usize| digits.len().checked_sub(1 + place.trailing_zeros() as usize);
    (0..1usize << digits.len())
        .map(|place| if place == 0 { empty } else { digit(place).map_or(empty, |at| digits[at]) })
        .collect()
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

/// Sum and carry of three bits: five gates, a carry two gates behind the last one.
fn full_adder(builder: &mut Builder, a: Wire, b: Wire, carry: Wire) -> [Wire; 2] {
    let difference = builder.xor(a, b);
    let sum = builder.xor(difference, carry);
    let both = builder.and(a, b);
    let passed = builder.and(difference, carry);
    [sum, builder.or(both, passed)]
}
