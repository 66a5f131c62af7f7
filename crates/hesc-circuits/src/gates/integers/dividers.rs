//! Quotients and remainders of numbers without sign.
//!
//! Division by zero gives the largest quotient and the dividend as the remainder, in all ways.

use super::adders::Adder;
use super::tables::{MOST_OF_TABLE, looked_up};
use super::{check, circuit, extended, flipped, select};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// How digits of a quotient are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Division {
    /// So many bits at a time: what is left is compared with all multiples of the divisor at once.
    Restoring {
        /// Bits of a digit, 1 to 4.
        digit: u32,
    },
    /// The upper half of the quotient by a table: it is zero but for divisors of half the width. The lower half
    /// as above.
    Table {
        /// Bits of a digit, 1 to 4.
        digit: u32,
    },
    /// A bit at a time, what is left may be negative: `xu2016integers` §3.4.
    NonRestoring,
}

/// `a / b` and `a mod b` of `width` bits each.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 256, digits of other than 1 to 4 bits; for [`Division::Table`] a width
/// other than 2, 4, 6, 8 or 10.
pub fn divider(way: Division, kind: Adder, width: usize) -> Result<Netlist, GateError> {
    check("the width of a number", width, 1, 256)?;
    if let Division::Restoring { digit } | Division::Table { digit } = way {
        check("bits of a digit", digit as usize, 1, 4)?;
    }
    if let Division::Table { .. } = way {
        check("the width of a number", width, 2, 2 * MOST_OF_TABLE)?;
        check("odd bits of the width", width % 2, 0, 0)?;
    }
    circuit(&[width, width], |builder, numbers| {
        let (a, b) = (&numbers[0], &numbers[1]);
        let [quotient, remainder] = match way {
            Division::Restoring { digit } => {
                restoring(builder, kind, (a, b), digit as usize, Vec::new())
            }
            Division::Table { digit } => {
                let (low, high) = a.split_at(width / 2);
                let [upper, left] = upper_half(builder, high, b);
                let [mut quotient, remainder] =
                    restoring(builder, kind, (low, b), digit as usize, left);
                quotient.extend(upper);
                [quotient, remainder]
            }
            Division::NonRestoring => non_restoring(builder, kind, a, b),
        };
        vec![quotient, remainder]
    })
}

/// The upper half of the quotient, and what is left of the upper half of the dividend: both by a table for divisors
/// of half the width.
fn upper_half(builder: &mut Builder, high: &[Wire], b: &[Wire]) -> [Vec<Wire>; 2] {
    let half = high.len();
    let (b_low, b_high) = b.split_at(half);
    let mut fits = builder.constant(true);
    for &bit in b_high {
        let clear = builder.not(bit);
        fits = builder.and(fits, clear);
    }
    let largest = (1u64 << half) - 1;
    let both = |a: u64, b: u64| {
        a.checked_div(b).unwrap_or(largest) | a.checked_rem(b).unwrap_or(a) << half
    };
    let found = looked_up(builder, high, b_low, 2 * half, &both);
    let quotient = found[..half].iter().map(|&bit| builder.and(bit, fits)).collect();
    let left = select(builder, fits, &found[half..], high);
    [quotient, left]
}

/// The quotient of `left`, which is less than the divisor, with the bits of `a` behind it, and the remainder.
fn restoring(
    builder: &mut Builder,
    kind: Adder,
    (a, b): (&[Wire], &[Wire]),
    digit: usize,
    mut left: Vec<Wire>,
) -> [Vec<Wire>; 2] {
    let (width, zero) = (b.len(), builder.constant(false));
    // The divisor times 1, 2, 3 and so on.
    let mut multiples = vec![b.to_vec()];
    for factor in 2..1usize << digit.min(a.len()) {
        let multiple = if factor % 2 == 0 {
            std::iter::once(zero).chain(multiples[factor / 2 - 1].iter().copied()).collect()
        } else {
            let below = multiples[factor - 2].clone();
            let b = extended(builder, b, below.len());
            kind.add(builder, &below, &b, zero)
        };
        multiples.push(multiple);
    }
    let mut quotient = vec![zero; a.len()];
    let mut high = a.len();
    while high > 0 {
        // The first digit is the short one.
        let low = (high - 1) / digit * digit;
        left.splice(0..0, a[low..high].iter().copied());
        // Whether each multiple fits, and what is left then: the first fits where the second does.
        let mut fits = Vec::with_capacity(multiples.len());
        for multiple in &multiples[..(1 << (high - low)) - 1] {
            let common = left.len().max(multiple.len());
            let (x, y) = (extended(builder, &left, common), extended(builder, multiple, common));
            let mut difference = kind.subtract(builder, &x, &y);
            let fit = difference.pop().unwrap_or(zero);
            fits.push((fit, difference));
        }
        let none = builder.not(fits[0].0);
        let mut next: Vec<Wire> = left.iter().map(|&bit| builder.and(bit, none)).collect();
        for (at, (fit, difference)) in fits.iter().enumerate() {
            let exactly = match fits.get(at + 1) {
                Some((more, _)) => builder.xor(*fit, *more),
                None => *fit,
            };
            for (sum, &bit) in next.iter_mut().zip(difference) {
                let chosen = builder.and(bit, exactly);
                *sum = builder.xor(*sum, chosen);
            }
            for (bit, out) in quotient[low..high].iter_mut().enumerate() {
                if (at + 1) >> bit & 1 == 1 {
                    *out = builder.xor(*out, exactly);
                }
            }
        }
        // It is smaller than the divisor.
        next.truncate(width);
        left = next;
        high = low;
    }
    [quotient, extended(builder, &left, width)]
}

fn non_restoring(builder: &mut Builder, kind: Adder, a: &[Wire], b: &[Wire]) -> [Vec<Wire>; 2] {
    let (width, zero) = (a.len(), builder.constant(false));
    let divisor = extended(builder, b, width + 1);
    let mut left = vec![zero; width + 1];
    let mut quotient = Vec::with_capacity(width);
    let mut add = zero;
    for &bit in a.iter().rev() {
        left.rotate_right(1);
        left[0] = bit;
        // Added where what was left is negative, subtracted elsewhere.
        let subtract = builder.not(add);
        let operand = flipped(builder, &divisor, subtract);
        left = kind.add(builder, &left, &operand, subtract);
        left.pop();
        add = left[width];
        quotient.push(builder.not(add));
    }
    let correction: Vec<Wire> = divisor.iter().map(|&bit| builder.and(bit, add)).collect();
    let mut remainder = kind.add(builder, &left, &correction, zero);
    remainder.truncate(width);
    quotient.reverse();
    [quotient, remainder]
}
