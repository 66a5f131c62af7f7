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

/// What rows a product is the sum of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rows {
    /// One number for each bit of the other: a product for each pair of bits. Signed numbers by Baugh and Wooley
    /// (1973): products of one sign and another bit are inverted, and a constant makes up for it.
    Bits,
    /// One number times each digit from -2 to 2 of the other (Booth 1951, MacSorley 1961): half as many rows, each a
    /// product deeper, which a level of carries less makes up for.
    Digits,
}

impl Rows {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Bits, Self::Digits];

    /// The name: `bits`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Digits => "digits",
        }
    }
}

/// `a b` of `width` bits each, modulo `2^result_width`: all rows at once, carries saved, then an adder.
///
/// Up to `width` bits of the result are those of numbers without sign.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 256, or a result's outside 1 to `2 width`.
pub fn multiplier(
    kind: Adder,
    rows: Rows,
    width: usize,
    result_width: usize,
    signs: Signs,
) -> Result<Netlist, GateError> {
    check("the width of a number", width, 1, 256)?;
    check("the width of the result", result_width, 1, 2 * width)?;
    circuit(&[width, width], |builder, numbers| {
        let (a, b) = (&numbers[0], &numbers[1]);
        let mut columns = Columns::new(result_width);
        match rows {
            Rows::Bits => by_bits(builder, &mut columns, a, b, signs),
            Rows::Digits => by_digits(builder, &mut columns, a, b, signs),
        }
        vec![columns.sum(builder, kind)]
    })
}

fn by_bits(builder: &mut Builder, columns: &mut Columns, a: &[Wire], b: &[Wire], signs: Signs) {
    let (width, signed) = (a.len(), signs == Signs::Signed);
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate().take(columns.width().saturating_sub(i)) {
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
}

/// Digits of `a` from -2 to 2, each of two of its bits and the one before them.
fn by_digits(builder: &mut Builder, columns: &mut Columns, a: &[Wire], b: &[Wire], signs: Signs) {
    let (width, zero, one) = (a.len(), builder.constant(false), builder.constant(true));
    let signed = signs == Signs::Signed;
    let behind = |number: &[Wire]| if signed { number[width - 1] } else { zero };
    let bit_of = |number: &[Wire], at: usize| number.get(at).copied().unwrap_or(behind(number));
    // Those without sign have one bit more, which is zero.
    let digits = if signed { width.div_ceil(2) } else { width / 2 + 1 };
    for i in 0..digits {
        let before = if i == 0 { zero } else { bit_of(a, 2 * i - 1) };
        let (low, negative) = (bit_of(a, 2 * i), bit_of(a, 2 * i + 1));
        let single = builder.xor(low, before);
        let alike = builder.not(single);
        let differ = builder.xor(negative, low);
        let double = builder.and(differ, alike);
        // |d| b, and its complement where d is negative: a bit more than b, of which the last is the sign.
        let mut row = |j: usize| {
            let once = builder.and(single, bit_of(b, j));
            let twice = if j == 0 { zero } else { builder.and(double, bit_of(b, j - 1)) };
            let size = builder.xor(once, twice);
            builder.xor(size, negative)
        };
        for j in 0..width {
            if 2 * i + j < columns.width() {
                columns.push(2 * i + j, row(j), 2);
            }
        }
        let sign = if signed {
            row(width)
        } else {
            // One bit more, and behind it only the sign.
            columns.push(2 * i + width, row(width), 2);
            negative
        };
        if negative != zero {
            columns.push(2 * i, negative, 0);
        }
        // The sign stands for minus itself: its inverse, and ones in all places behind, of all digits together.
        let end = 2 * i + if signed { width } else { width + 1 };
        let inverse = builder.not(sign);
        if i == 0 {
            columns.push(end, sign, 2);
            columns.push(end + 1, sign, 2);
            columns.push(end + 2, inverse, 2);
        } else {
            columns.push(end, inverse, 2);
            columns.push(end + 1, one, 0);
        }
    }
}
