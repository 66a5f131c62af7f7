//! Sums and differences of two numbers: six ways to find the carries.

use super::{circuit, inverted};
use crate::gates::{Builder, GateError, Netlist, Wire};

/// How carries are found. Products and depth for 8, 16, 32 and 64 bits with a carry out:
///
/// | | 8 | 16 | 32 | 64 |
/// |---|---|---|---|---|
/// | ripple | 8, 8 | 16, 16 | 32, 32 | 64, 64 |
/// | Brent-Kung | 23, 5 | 53, 7 | 115, 9 | 241, 11 |
/// | Ladner-Fischer | 23, 5 | 55, 6 | 127, 7 | 287, 8 |
/// | Sklansky | 25, 4 | 65, 5 | 161, 6 | 385, 7 |
/// | Kogge-Stone | 35, 4 | 99, 5 | 259, 6 | 643, 7 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adder {
    /// One after the other, a product each: `xu2016integers` algorithm 1.
    Ripple,
    /// Groups of four bits, groups of four groups and so on: `xu2016integers` algorithm 2.
    Lookahead,
    /// The fewest products of a logarithmic depth, which is twice the least (Brent and Kung 1982).
    BrentKung,
    /// One more than the least depth, and then the fewest products (Ladner and Fischer 1980): Sklansky's on pairs of
    /// bits.
    LadnerFischer,
    /// The least depth with the fewest products (Sklansky 1960).
    Sklansky,
    /// The least depth, each carry read by few others (Kogge and Stone 1973): what rotations of bits in
    /// the slots of one ciphertext can do.
    KoggeStone,
}

impl Adder {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ripple,
        Self::Lookahead,
        Self::BrentKung,
        Self::LadnerFischer,
        Self::Sklansky,
        Self::KoggeStone,
    ];

    /// The name: `sklansky`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ripple => "ripple",
            Self::Lookahead => "lookahead",
            Self::BrentKung => "brent_kung",
            Self::LadnerFischer => "ladner_fischer",
            Self::Sklansky => "sklansky",
            Self::KoggeStone => "kogge_stone",
        }
    }

    /// The carry into each position and out of the last.
    fn carries(self, builder: &mut Builder, a: &[Wire], b: &[Wire], first: Wire) -> Vec<Wire> {
        if self == Self::Ripple {
            return ripple(builder, a, b, first);
        }
        let mut spans: Vec<Span> = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            spans.push(Span { generates: builder.and(a, b), passes: builder.xor(a, b) });
        }
        if self == Self::Lookahead {
            return lookahead(builder, &spans, first);
        }
        if let Some(lowest) = spans.first_mut() {
            lowest.generates = carried(builder, *lowest, first);
        }
        match self {
            Self::BrentKung => brent_kung(builder, &mut spans),
            Self::LadnerFischer => ladner_fischer(builder, &mut spans),
            Self::KoggeStone => kogge_stone(builder, &mut spans),
            _ => sklansky(builder, &mut spans),
        }
        std::iter::once(first).chain(spans.iter().map(|span| span.generates)).collect()
    }

    /// `a + b` and a carry into the lowest bit, of the same width; the last carry behind it.
    pub(super) fn add(
        self,
        builder: &mut Builder,
        a: &[Wire],
        b: &[Wire],
        first: Wire,
    ) -> Vec<Wire> {
        let carries = self.carries(builder, a, b, first);
        let mut sums = Vec::with_capacity(carries.len());
        for ((&a, &b), &carry) in a.iter().zip(b).zip(&carries) {
            let sum = builder.xor(a, b);
            sums.push(builder.xor(sum, carry));
        }
        sums.extend(carries.last());
        sums
    }

    /// `a - b` of the same width, and behind it whether nothing was borrowed: whether `a >= b`.
    pub(super) fn subtract(self, builder: &mut Builder, a: &[Wire], b: &[Wire]) -> Vec<Wire> {
        let complement = inverted(builder, b);
        let one = builder.constant(true);
        self.add(builder, a, &complement, one)
    }
}

/// What neighbouring bits do to a carry.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Whether one leaves them though none came in.
    pub(super) generates: Wire,
    /// Whether one passes through them. Never both.
    pub(super) passes: Wire,
}

/// The carry of the full adder with one product: `(a + c)(b + c) + c` (`xu2016integers` §3.1).
pub(super) fn majority(builder: &mut Builder, a: Wire, b: Wire, c: Wire) -> Wire {
    let (left, right) = (builder.xor(a, c), builder.xor(b, c));
    let product = builder.and(left, right);
    builder.xor(product, c)
}

fn ripple(builder: &mut Builder, a: &[Wire], b: &[Wire], first: Wire) -> Vec<Wire> {
    let mut carries = vec![first];
    let mut carry = first;
    for (&a, &b) in a.iter().zip(b) {
        carry = majority(builder, a, b, carry);
        carries.push(carry);
    }
    carries
}

/// `fg` and `fp` of four spans, or fewer at the end.
fn group(builder: &mut Builder, spans: &[Span]) -> Span {
    match *spans {
        [only] => only,
        [low, high] => joined(builder, high, low),
        [first, second, third] => {
            let high = joined(builder, third, second);
            joined(builder, high, first)
        }
        _ => {
            let (low, high) = spans.split_at(2);
            let (low, high) = (group(builder, low), group(builder, high));
            joined(builder, high, low)
        }
    }
}

/// The carry out of a span from the one into it; both reasons for one at once are impossible.
fn carried(builder: &mut Builder, span: Span, into: Wire) -> Wire {
    let passed = builder.and(span.passes, into);
    builder.xor(span.generates, passed)
}

/// The carry into the first of some spans, and out of each, one after the other.
fn chained(builder: &mut Builder, spans: &[Span], first: Wire) -> Vec<Wire> {
    let mut carries = vec![first];
    for &span in spans {
        carries.push(carried(builder, span, carries[carries.len() - 1]));
    }
    carries
}

/// What both do together.
fn joined(builder: &mut Builder, high: Span, low: Span) -> Span {
    Span {
        generates: carried(builder, high, low.generates),
        passes: builder.and(high.passes, low.passes),
    }
}

/// `xu2016integers` algorithm 2 for any width: carries into groups first, into their bits from those.
fn lookahead(builder: &mut Builder, spans: &[Span], first: Wire) -> Vec<Wire> {
    if spans.len() <= 4 {
        return chained(builder, spans, first);
    }
    let groups: Vec<Span> = spans.chunks(4).map(|spans| group(builder, spans)).collect();
    let into_groups = lookahead(builder, &groups, first);
    let mut carries = Vec::with_capacity(spans.len() + 1);
    for (spans, &into) in spans.chunks(4).zip(&into_groups) {
        carries.extend(chained(builder, &spans[..spans.len() - 1], into));
    }
    carries.extend(into_groups.last());
    carries
}

pub(super) fn sklansky(builder: &mut Builder, spans: &mut [Span]) {
    let mut step = 1;
    while step < spans.len() {
        for i in (0..spans.len()).filter(|i| i & step != 0) {
            let below = i / step * step - 1;
            spans[i] = joined(builder, spans[i], spans[below]);
        }
        step *= 2;
    }
}

fn ladner_fischer(builder: &mut Builder, spans: &mut [Span]) {
    let mut pairs: Vec<Span> =
        spans.chunks_exact(2).map(|pair| joined(builder, pair[1], pair[0])).collect();
    sklansky(builder, &mut pairs);
    for (i, &pair) in pairs.iter().enumerate() {
        spans[2 * i + 1] = pair;
        if let Some(next) = spans.get_mut(2 * i + 2) {
            *next = joined(builder, *next, pair);
        }
    }
}

fn kogge_stone(builder: &mut Builder, spans: &mut [Span]) {
    let mut step = 1;
    while step < spans.len() {
        // From the top, so that those below are still as they were.
        for i in (step..spans.len()).rev() {
            spans[i] = joined(builder, spans[i], spans[i - step]);
        }
        step *= 2;
    }
}

fn brent_kung(builder: &mut Builder, spans: &mut [Span]) {
    let width = spans.len();
    let mut step = 1;
    while step < width {
        for i in (2 * step - 1..width).step_by(2 * step) {
            spans[i] = joined(builder, spans[i], spans[i - step]);
        }
        step *= 2;
    }
    while step > 1 {
        step /= 2;
        for i in (3 * step - 1..width).step_by(2 * step) {
            spans[i] = joined(builder, spans[i], spans[i - step]);
        }
    }
}

/// `a + b` of `width` bits each, with one bit more.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn adder(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        let zero = builder.constant(false);
        vec![kind.add(builder, &numbers[0], &numbers[1], zero)]
    })
}

/// `a - b` of `width` bits each modulo `2^width`, as `a` and the complement of `b` and one, and whether it
/// was borrowed: `a < b` of numbers without sign.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn subtractor(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    circuit(&[width, width], |builder, numbers| {
        let mut difference = kind.subtract(builder, &numbers[0], &numbers[1]);
        let borrowed = difference.pop().map(|carry| builder.not(carry));
        vec![difference, borrowed.into_iter().collect()]
    })
}

/// `-a` modulo `2^width`: the complement and one; with [`Adder::Ripple`] the paper's chain of half adders.
///
/// # Errors
/// [`GateError::Size`] for a width outside 1 to 4096.
pub fn negation(kind: Adder, width: usize) -> Result<Netlist, GateError> {
    circuit(&[width], |builder, numbers| {
        let zeros = vec![builder.constant(false); width];
        let mut difference = kind.subtract(builder, &zeros, &numbers[0]);
        difference.pop();
        vec![difference]
    })
}
