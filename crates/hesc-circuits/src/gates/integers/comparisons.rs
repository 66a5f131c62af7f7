//! Comparisons, and what is chosen by them.

use super::adders::{Adder, Span, sklansky};
use super::{circuit, flipped, select};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// Numbers for which signed ones compare as those without sign do.
fn shifted_range(builder: &mut Builder, number: &[Wire], signed: bool) -> Vec<Wire> {
    let mut shifted = number.to_vec();
    if let Some(top) = shifted.last_mut().filter(|_| signed) {
        *top = builder.not(*top);
    }
    shifted
}

/// Whether `a < b`: the carry out of `b` and the complement of `a`, which bits generate where `b` alone is set and pass on where
/// both are equal.
pub(super) fn is_less(builder: &mut Builder, a: &[Wire], b: &[Wire], signed: bool) -> Wire {
    let (a, b) = (shifted_range(builder, a, signed), shifted_range(builder, b, signed));
    let mut spans: Vec<Span> = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(&b) {
        let differ = builder.xor(a, b);
        // By the product that the adder of both would take.
        let both = builder.and(a, b);
        spans.push(Span { generates: builder.xor(b, both), passes: builder.not(differ) });
    }
    sklansky(builder, &mut spans);
    spans.last().map_or_else(|| builder.constant(false), |span| span.generates)
}

/// Whether `a < b` of `width` bits each; depth `1 + log2(width)`.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn less(width: usize, signed: bool) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        vec![vec![is_less(builder, &numbers[0], &numbers[1], signed)]]
    })
}

/// Whether `a = b`: `width - 1` products, depth `log2(width)`.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn equal(width: usize) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        let pairs = numbers[0].iter().zip(&numbers[1]);
        let mut same: Vec<Wire> = pairs
            .map(|(&a, &b)| {
                let differ = builder.xor(a, b);
                builder.not(differ)
            })
            .collect();
        while same.len() > 1 {
            let pair = |pair: &[Wire]| match *pair {
                [a, b] => builder.and(a, b),
                _ => pair[0],
            };
            same = same.chunks(2).map(pair).collect();
        }
        vec![same]
    })
}

/// `a` where a bit is set, `b` elsewhere: a product a bit. Inputs: the bit, `a`, `b`.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn selection(width: usize) -> Result<Netlist, GateError> {
    circuit(&[1, width, width], |builder, numbers| {
        vec![select(builder, numbers[0][0], &numbers[1], &numbers[2])]
    })
}

/// The smaller of two numbers.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn minimum(width: usize, signed: bool) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        let less = is_less(builder, &numbers[0], &numbers[1], signed);
        vec![select(builder, less, &numbers[0], &numbers[1])]
    })
}

/// The larger of two numbers.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn maximum(width: usize, signed: bool) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        let less = is_less(builder, &numbers[0], &numbers[1], signed);
        vec![select(builder, less, &numbers[1], &numbers[0])]
    })
}

/// The absolute value of a signed number; of the smallest one itself, as numpy has it.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn absolute(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    circuit(&[width], |builder, numbers| {
        let sign = numbers[0][width - 1];
        let flipped = flipped(builder, &numbers[0], sign);
        let zeros = vec![builder.constant(false); width];
        let mut sum = kind.add(builder, &flipped, &zeros, sign);
        sum.pop();
        vec![sum]
    })
}
