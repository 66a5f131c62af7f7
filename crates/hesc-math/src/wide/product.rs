//! Montgomery's products of eight pairs at once, four rows of the schoolbook at a time: each load
//! of a column then serves sixteen multiplications, which keeps the multipliers busy and not the
//! load ports.
//!
//! A column collects at most `4 limbs + 8 < 2^12` products of 52 bits, so that nothing
//! overflows before the carries run at the end.

#![expect(
    clippy::needless_range_loop,
    reason = "an index is a column, and means the same in several numbers"
)]

use crate::lanes::{LIMB_BITS, LIMB_MASK, Lanes, Octet};

/// Rows done together; the number of limbs is a multiple.
pub const ROWS: usize = 4;

/// What a product needs of its modulus `n`.
#[derive(Clone, Copy)]
pub struct Reduction<'a> {
    /// Limbs of `n`.
    pub modulus: &'a [u64],
    /// `-n^-1` modulo 2^52.
    pub negated_inverse: u64,
}

/// The last [`ROWS`] limbs of a number while a column passes over it.
#[derive(Clone, Copy)]
struct Window<V>([V; ROWS]);

impl<V: Copy> Window<V> {
    #[inline(always)]
    fn push(&mut self, next: V) {
        let [_, b, c, d] = self.0;
        self.0 = [b, c, d, next];
    }
}

/// The limbs of a block of rows. Spelt out, here and below: closures that a library calls are not
/// sure to be compiled for the vector instructions.
#[inline(always)]
fn load_rows<L: Lanes>(l: L, x: &[Octet]) -> [L::Vector; ROWS] {
    [l.load(&x[0]), l.load(&x[1]), l.load(&x[2]), l.load(&x[3])]
}

#[inline(always)]
fn splat_rows<L: Lanes>(l: L, x: &[u64]) -> [L::Vector; ROWS] {
    [l.splat(x[0]), l.splat(x[1]), l.splat(x[2]), l.splat(x[3])]
}

/// The four factors that make the low columns vanish, and the carry out of them. `columns` come
/// without the modulus's part.
#[inline(always)]
fn factors<L: Lanes>(
    l: L,
    n: Reduction<'_>,
    columns: [L::Vector; ROWS],
) -> ([L::Vector; ROWS], L::Vector) {
    let (mask, inverse) = (l.splat(LIMB_MASK), l.splat(n.negated_inverse));
    let low = splat_rows(l, n.modulus);
    let mut m = [l.zero(); ROWS];
    let mut carry = l.zero();
    for j in 0..ROWS {
        let mut sum = l.add(columns[j], carry);
        for k in 0..j {
            sum = l.add_low(sum, low[j - k], m[k]);
            sum = l.add_high(sum, low[j - k - 1], m[k]);
        }
        m[j] = l.and(l.add_low(l.zero(), sum, inverse), mask);
        sum = l.add_low(sum, low[0], m[j]);
        carry = l.shr::<LIMB_BITS>(sum);
    }
    (m, carry)
}

/// `sum_k next_low(j - k) f_k + high(j - k - 1) f_k`: column `j` of four rows, with the limbs up to
/// `j - 1` in the window. Two chains hide the latency.
#[inline(always)]
fn column<L: Lanes>(
    l: L,
    start: L::Vector,
    next: L::Vector,
    window: &Window<L::Vector>,
    factors: &[L::Vector; ROWS],
) -> L::Vector {
    let w = &window.0;
    let mut low = l.add_low(start, next, factors[0]);
    let mut high = l.add_high(l.zero(), w[3], factors[0]);
    for k in 1..ROWS {
        low = l.add_low(low, w[ROWS - k], factors[k]);
        high = l.add_high(high, w[ROWS - 1 - k], factors[k]);
    }
    l.add(low, high)
}

/// Column `len + j` of four rows, beyond the last limb, whose last limbs are the window.
#[inline(always)]
fn last_column<L: Lanes>(
    l: L,
    start: L::Vector,
    j: usize,
    window: &Window<L::Vector>,
    factors: &[L::Vector; ROWS],
) -> L::Vector {
    let w = &window.0;
    let (mut low, mut high) = (start, l.zero());
    for k in j..ROWS {
        if k > j {
            low = l.add_low(low, w[ROWS + j - k], factors[k]);
        }
        high = l.add_high(high, w[ROWS - 1 + j - k], factors[k]);
    }
    l.add(low, high)
}

/// Runs the carries; the columns hold less than 2^64.
#[inline(always)]
fn carry<L: Lanes>(l: L, out: &mut [Octet], columns: &[Octet]) {
    let mask = l.splat(LIMB_MASK);
    let mut carry = l.zero();
    for (out, x) in out.iter_mut().zip(columns) {
        let sum = l.add(l.load(x), carry);
        carry = l.shr::<LIMB_BITS>(sum);
        l.store(out, l.and(sum, mask));
    }
}

/// `out = a b R^-1` below `2 n`, for `a b < R n`. `columns` has `ROWS` octets more than a group.
#[inline(always)]
pub fn mul<L: Lanes>(
    l: L,
    out: &mut [Octet],
    a: &[Octet],
    b: &[Octet],
    n: Reduction<'_>,
    columns: &mut [Octet],
) {
    let len = n.modulus.len();
    assert!(len.is_multiple_of(ROWS) && columns.len() == len + ROWS);
    assert!(out.len() == len && a.len() == len && b.len() == len);
    columns.fill(Octet::ZERO);
    for rows in b.chunks_exact(ROWS) {
        let b = load_rows(l, rows);
        let mut x = Window(load_rows(l, a));
        let mut y = Window(splat_rows(l, n.modulus));
        let mut low = load_rows(l, columns);
        for j in 0..ROWS {
            low[j] = l.add_low(low[j], x.0[0], b[j]);
            for k in 0..j {
                low[j] = l.add_low(low[j], x.0[j - k], b[k]);
                low[j] = l.add_high(low[j], x.0[j - k - 1], b[k]);
            }
        }
        let (m, mut carry) = factors(l, n, low);
        for j in ROWS..len {
            let (next_x, next_y) = (l.load(&a[j]), l.splat(n.modulus[j]));
            let products = column(l, l.add(l.load(&columns[j]), carry), next_x, &x, &b);
            carry = l.zero();
            let multiples = column(l, carry, next_y, &y, &m);
            // Four rows done: everything moves down by four limbs.
            l.store(&mut columns[j - ROWS], l.add(products, multiples));
            x.push(next_x);
            y.push(next_y);
        }
        for j in 0..ROWS {
            let start = l.add(l.load(&columns[len + j]), carry);
            carry = l.zero();
            let products = last_column(l, start, j, &x, &b);
            let multiples = last_column(l, carry, j, &y, &m);
            l.store(&mut columns[len - ROWS + j], l.add(products, multiples));
        }
    }
    self::carry(l, out, &columns[..len]);
}

/// `columns R^-1` modulo `n` for `columns < R n`, below `2 n`: the upper half, without carries.
#[inline(always)]
fn reduce_columns<L: Lanes>(l: L, columns: &mut [Octet], n: Reduction<'_>) {
    let len = n.modulus.len();
    for i in (0..len).step_by(ROWS) {
        let columns = &mut columns[i..i + len + ROWS];
        let mut y = Window(splat_rows(l, n.modulus));
        let (m, mut carry) = factors(l, n, load_rows(l, columns));
        for j in ROWS..len {
            let next_y = l.splat(n.modulus[j]);
            let sum = column(l, l.add(l.load(&columns[j]), carry), next_y, &y, &m);
            carry = l.zero();
            l.store(&mut columns[j], sum);
            y.push(next_y);
        }
        for j in 0..ROWS {
            let start = l.add(l.load(&columns[len + j]), carry);
            carry = l.zero();
            let sum = last_column(l, start, j, &y, &m);
            l.store(&mut columns[len + j], sum);
        }
    }
}

/// `out = a R^-1` modulo `n` for `a < R n` of up to twice the limbs, below `2 n`. `columns` has
/// twice the octets of a group.
#[inline(always)]
pub fn reduce<L: Lanes>(
    l: L,
    out: &mut [Octet],
    a: &[Octet],
    n: Reduction<'_>,
    columns: &mut [Octet],
) {
    let len = n.modulus.len();
    assert!(len.is_multiple_of(ROWS) && columns.len() == 2 * len && a.len() <= 2 * len);
    columns[..a.len()].copy_from_slice(a);
    columns[a.len()..].fill(Octet::ZERO);
    reduce_columns(l, columns, n);
    carry(l, out, &columns[len..]);
}

/// `a = a^2 R^-1` below `2 n`, for `a^2 < R n`: three quarters of the work of [`mul`], because each
/// product of two different limbs is taken once. `columns` has twice the octets of a group.
#[inline(always)]
pub fn square<L: Lanes>(l: L, a: &mut [Octet], n: Reduction<'_>, columns: &mut [Octet]) {
    let len = n.modulus.len();
    assert!(len.is_multiple_of(ROWS) && a.len() == len && columns.len() == 2 * len);
    columns.fill(Octet::ZERO);
    // Rows i to i + 3 meet the limbs from i + 4 on.
    for i in (0..len - ROWS).step_by(ROWS) {
        let b = load_rows(l, &a[i..]);
        let zero = l.zero();
        let mut x = Window([zero; ROWS]);
        for j in i + ROWS..len {
            let next = l.load(&a[j]);
            let sum = column(l, l.load(&columns[i + j]), next, &x, &b);
            l.store(&mut columns[i + j], sum);
            x.push(next);
        }
        for j in 0..ROWS {
            let sum = last_column(l, l.load(&columns[i + len + j]), j, &x, &b);
            l.store(&mut columns[i + len + j], sum);
        }
    }
    // Inside the blocks of four.
    for i in (0..len).step_by(ROWS) {
        for j in 1..ROWS {
            for k in 0..j {
                let (x, y) = (l.load(&a[i + j]), l.load(&a[i + k]));
                let at = 2 * i + j + k;
                let low = l.add_low(l.load(&columns[at]), x, y);
                l.store(&mut columns[at], low);
                let high = l.add_high(l.load(&columns[at + 1]), x, y);
                l.store(&mut columns[at + 1], high);
            }
        }
    }
    // Twice all that, and the squares.
    for (x, pair) in a.iter().zip(columns.as_chunks_mut::<2>().0) {
        let (x, low, high) = (l.load(x), l.load(&pair[0]), l.load(&pair[1]));
        l.store(&mut pair[0], l.add_low(l.add(low, low), x, x));
        l.store(&mut pair[1], l.add_high(l.add(high, high), x, x));
    }
    reduce_columns(l, columns, n);
    carry(l, a, &columns[len..]);
}
