//! Circuits on binary numbers, lowest bits first.

use super::{Builder, GateError, Netlist, Wire};

/// Bits of a number, at most.
const MOST_BITS: usize = 4096;

fn check_width(value: usize) -> Result<(), GateError> {
    if (1..=MOST_BITS).contains(&value) {
        return Ok(());
    }
    Err(GateError::Size { what: "the width of a number", value, least: 1, most: MOST_BITS })
}

/// Sum and carry of three bits: five gates, a carry two gates behind the last one.
pub(super) fn full_adder(builder: &mut Builder, a: Wire, b: Wire, carry: Wire) -> [Wire; 2] {
    let difference = builder.xor(a, b);
    let sum = builder.xor(difference, carry);
    let both = builder.and(a, b);
    let passed = builder.and(difference, carry);
    [sum, builder.or(both, passed)]
}

/// Adds two numbers of the same length on existing wires.
pub(super) fn ripple_carry(
    builder: &mut Builder,
    a: &[Wire],
    b: &[Wire],
    mut carry: Wire,
) -> (Vec<Wire>, Wire) {
    let mut sums = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(b) {
        let [sum, next] = full_adder(builder, a, b, carry);
        sums.push(sum);
        carry = next;
    }
    (sums, carry)
}

/// `a + b` of `width` bits each, with one bit more: the ripple-carry adder of `hsiao2022sche` §2,
/// `5 n` gates; its longest path has `2 n + 1` (the paper allows `3 n`).
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn ripple_carry_adder(width: usize) -> Result<Netlist, GateError> {
    check_width(width)?;
    let (mut builder, inputs) = Builder::new(&[width, width]);
    let zero = builder.constant(false);
    let (mut sums, carry) = ripple_carry(&mut builder, &inputs[0], &inputs[1], zero);
    sums.push(carry);
    builder.finish(vec![sums])
}

/// `a b` of `width` bits each, with twice as many bits: the array multiplier of `hsiao2022sche` §2, a
/// square of cells with a product and a full adder in each, `6 n^2` gates; its longest path has
/// `5 n - 1` (the paper allows `8 n`).
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn array_multiplier(width: usize) -> Result<Netlist, GateError> {
    check_width(width)?;
    let (mut builder, inputs) = Builder::new(&[width, width]);
    let zero = builder.constant(false);
    let mut product = Vec::with_capacity(2 * width);
    let mut sums = vec![zero; width];
    for &b in &inputs[1] {
        let row: Vec<Wire> = inputs[0].iter().map(|&a| builder.and(a, b)).collect();
        let (mut next, carry) = ripple_carry(&mut builder, &row, &sums, zero);
        product.push(next.remove(0));
        next.push(carry);
        sums = next;
    }
    product.extend(sums);
    builder.finish(vec![product])
}

/// Whether `a < b` of `width` bits each: two gates a bit, where they differ the higher bit decides.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn comparator(width: usize) -> Result<Netlist, GateError> {
    check_width(width)?;
    let (mut builder, inputs) = Builder::new(&[width, width]);
    let mut less = builder.constant(false);
    for (&a, &b) in inputs[0].iter().zip(&inputs[1]) {
        let differ = builder.xor(a, b);
        less = builder.mux(differ, b, less);
    }
    builder.finish(vec![vec![less]])
}
