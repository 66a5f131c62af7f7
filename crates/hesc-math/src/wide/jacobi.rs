//! Jacobi's symbol of eight residues at once, in constant time.
//!
//! The binary greatest common divisor on approximations, after T. Pornin, *Optimized Binary GCD for
//! Modular Inversion* (eprint 2020/972), with the symbol carried along: a step subtracts the
//! smaller odd number from the larger and halves; 30 steps at a time are done on 32 high and 32 low
//! bits of both numbers and then applied to the whole numbers as a matrix.
//!
//! Comparisons of approximations can be wrong, and then a number becomes negative. The symbol
//! `(a | |b|)` bears that: it changes under an exchange of odd `a`, `b` if both are 3 modulo 4, as
//! always, *and* if both are negative (Hilbert's product formula). The latter does not happen:
//! with the errors `e_a`, `e_b` of the approximations (units of the lowest of 64 bits), a step turns
//! them into `(e_a - e_b) / 2` and `e_b` or `e_a`, so that they stay at most 2^32; and `a + b` at
//! most halves, so that it is at least 2^63 / 2^30 = 2^33 after 30 steps, and not both can be below
//! the error.

use zeroize::Zeroizing;

use super::modulus::WideModulus;
use super::product::{self, Reduction};
use crate::lanes::{Kernel, LIMB_BITS, LIMB_MASK, Lanes, Octet, dispatch, mask_to_bits};

/// Steps on approximations before the numbers follow.
const STEPS: u32 = 30;

/// The symbol modulo one odd number; Legendre's, if it is a prime. No `Debug`, wiped on drop: some
/// are secret.
pub struct JacobiSymbol {
    modulus: WideModulus,
}

/// A row of the matrix of 30 steps: `f a + g b`, both factors at most 2^30 in absolute value.
#[derive(Clone, Copy)]
struct Row<V> {
    f: V,
    g: V,
    /// All bits of a limb where the factor, or the number it meets, is negative.
    flip_a: V,
    flip_b: V,
}

/// `steps` on approximations. Bit 1 of `symbol` changes with the symbol. Returns `f + 2^32 g` for
/// the new `a` and for the new `b`.
#[inline(always)]
fn steps<L: Lanes>(
    l: L,
    mut a: L::Vector,
    mut b: L::Vector,
    symbol: &mut L::Vector,
) -> [L::Vector; 2] {
    let one = l.splat(1);
    let (mut row_a, mut row_b) = (one, l.splat(1 << 32));
    for _ in 0..STEPS {
        let odd = l.test(a, one);
        let swap = l.both(odd, l.less(a, b));
        // Reciprocity: both 3 modulo 4.
        *symbol = l.select(swap, *symbol, l.xor(*symbol, l.and(a, b)));
        (a, b) = (l.select(swap, a, b), l.select(swap, b, a));
        (row_a, row_b) = (l.select(swap, row_a, row_b), l.select(swap, row_b, row_a));
        a = l.select(odd, a, l.sub(a, b));
        row_a = l.select(odd, row_a, l.sub(row_a, row_b));
        // Halving: 2 is no square modulo b = 3, 5 (mod 8). Not a but b's row is scaled.
        a = l.shr::<1>(a);
        row_b = l.add(row_b, row_b);
        *symbol = l.xor(*symbol, l.xor(b, l.shr::<1>(b)));
    }
    [row_a, row_b]
}

/// `|x|`, and all ones if `x` is negative.
#[inline(always)]
fn absolute<L: Lanes>(l: L, x: L::Vector) -> (L::Vector, L::Vector) {
    let sign = l.sar::<63>(x);
    (l.sub(l.xor(x, sign), sign), sign)
}

/// Unpacks `f + 2^32 g`; `sign_a`, `sign_b` are all ones where the numbers are negative.
#[inline(always)]
fn unpack<L: Lanes>(l: L, row: L::Vector, sign_a: L::Vector, sign_b: L::Vector) -> Row<L::Vector> {
    let f = l.sar::<32>(l.shl::<32>(row));
    let g = l.sar::<32>(l.sub(row, f));
    let ((f, sign_f), (g, sign_g)) = (absolute(l, f), absolute(l, g));
    let mask = l.splat(LIMB_MASK);
    let flip_a = l.and(l.xor(sign_f, sign_a), mask);
    let flip_b = l.and(l.xor(sign_g, sign_b), mask);
    Row { f, g, flip_a, flip_b }
}

/// A row applied limb by limb: `-x = !x + 1`, so that negative factors need no other arithmetic.
struct Apply<V> {
    row: Row<V>,
    last: [V; 2],
    carry: V,
}

impl<V: Copy> Apply<V> {
    #[inline(always)]
    fn new<L: Lanes<Vector = V>>(l: L, row: Row<V>) -> Self {
        let ones = l.add(
            l.and(row.f, l.sar::<63>(l.shl::<12>(row.flip_a))),
            l.and(row.g, l.sar::<63>(l.shl::<12>(row.flip_b))),
        );
        Self { row, last: [l.zero(); 2], carry: ones }
    }

    /// The next limb of `f a + g b`.
    #[inline(always)]
    fn limb<L: Lanes<Vector = V>>(&mut self, l: L, a: V, b: V) -> V {
        let Row { f, g, flip_a, flip_b } = self.row;
        let (a, b) = (l.xor(a, flip_a), l.xor(b, flip_b));
        let low = l.add_low(l.add_low(self.carry, a, f), b, g);
        let high = l.add_high(l.add_high(l.zero(), self.last[0], f), self.last[1], g);
        let sum = l.add(low, high);
        self.last = [a, b];
        self.carry = l.shr::<LIMB_BITS>(sum);
        l.and(sum, l.splat(LIMB_MASK))
    }
}

/// All ones where a number, two's complement in its limbs, is negative.
#[inline(always)]
fn sign<L: Lanes>(l: L, number: &[Octet]) -> L::Vector {
    l.sar::<63>(l.shl::<12>(l.load(&number[number.len() - 1])))
}

/// The two lowest limbs of `|x|`.
#[inline(always)]
fn lowest<L: Lanes>(l: L, x: &[Octet], sign: L::Vector) -> (L::Vector, L::Vector) {
    let mask = l.splat(LIMB_MASK);
    let flip = l.and(sign, mask);
    let low = l.sub(l.xor(l.load(&x[0]), flip), sign);
    let next = l.add(l.xor(l.load(&x[1]), flip), l.shr::<LIMB_BITS>(low));
    (l.and(low, mask), l.and(next, mask))
}

/// 64 bits of a number for the steps: from its top limbs, the longer number of the two having
/// `zeros` leading zeros in its 64-bit word, and from its lowest.
#[inline(always)]
fn window<L: Lanes>(
    l: L,
    top: L::Vector,
    next: L::Vector,
    low: L::Vector,
    zeros: L::Vector,
) -> L::Vector {
    // A limb has 12 leading zeros; 52 - zeros of the next one's bits are not wanted, or it is
    // moved up, if that is negative. Shifts by 64 and more give zero.
    let below = l.sub(l.splat(u64::from(LIMB_BITS)), zeros);
    let above = l.sub(l.zero(), below);
    let high = l.or(l.shl_by(top, zeros), l.or(l.shr_by(next, below), l.shl_by(next, above)));
    l.or(l.shl::<32>(l.shr::<32>(high)), l.and(low, l.splat(u64::from(u32::MAX))))
}

/// 32 high bits, aligned by the longer of the two numbers, and 32 low bits of both; all bits if
/// they have at most 64.
#[inline(always)]
fn approximate<L: Lanes>(
    l: L,
    a: &[Octet],
    b: &[Octet],
    sign_a: L::Vector,
    sign_b: L::Vector,
) -> [L::Vector; 2] {
    let mask = l.splat(LIMB_MASK);
    let (flip_a, flip_b) = (l.and(sign_a, mask), l.and(sign_b, mask));
    // -x = !x + 1: the one is added to the low limbs, and the high bits bear to miss it.
    let ((a_low, a_next), (b_low, b_next)) = (lowest(l, a, sign_a), lowest(l, b, sign_b));
    let (mut a_top, mut a_below, mut b_top, mut b_below) = (a_next, a_low, b_next, b_low);
    let (mut a_last, mut b_last) = (a_next, b_next);
    let mut beyond = l.zero();
    for (a, b) in a.iter().zip(b).skip(2) {
        let (a, b) = (l.xor(l.load(a), flip_a), l.xor(l.load(b), flip_b));
        let either = l.or(a, b);
        let found = l.test(either, either);
        beyond = l.or(beyond, either);
        a_top = l.select(found, a_top, a);
        a_below = l.select(found, a_below, a_last);
        b_top = l.select(found, b_top, b);
        b_below = l.select(found, b_below, b_last);
        (a_last, b_last) = (a, b);
    }
    let either = l.or(a_top, b_top);
    let zeros = l.leading_zeros(either);
    let small = l.equal(l.or(beyond, l.shr::<12>(either)), l.zero());
    let whole_a = l.or(l.shl::<LIMB_BITS>(a_next), a_low);
    let whole_b = l.or(l.shl::<LIMB_BITS>(b_next), b_low);
    [
        l.select(small, window(l, a_top, a_below, a_low, zeros), whole_a),
        l.select(small, window(l, b_top, b_below, b_low, zeros), whole_b),
    ]
}

/// The symbols of `a` modulo `b`, of `bits` bits and one more; `b` is overwritten by what should
/// be 1 or -1. Both have room for 34 more bits. Bit 1 of each lane is set for -1.
#[inline(always)]
fn symbols<L: Lanes>(l: L, a: &mut [Octet], b: &mut [Octet], bits: u32) -> L::Vector {
    let mut symbol = l.zero();
    let (mut sign_a, mut sign_b) = (l.zero(), l.zero());
    let rounds = (2 * bits + 8).div_ceil(STEPS);
    for round in 0..rounds {
        // The lengths of both together shrink by one a step.
        let longest = (bits + 1).min(2 * bits + 8 - (STEPS * round).min(2 * bits));
        let limbs = limbs_for(longest).min(a.len());
        let (a, b) = (&mut a[..limbs], &mut b[..limbs]);
        let [x, y] = approximate(l, a, b, sign_a, sign_b);
        let [row_a, row_b] = steps(l, x, y, &mut symbol);
        let mut to_a = Apply::new(l, unpack(l, row_a, sign_a, sign_b));
        let mut to_b = Apply::new(l, unpack(l, row_b, sign_a, sign_b));
        let (mut last_a, mut last_b) = (l.zero(), l.zero());
        const UP: u32 = LIMB_BITS - STEPS;
        let mask = l.splat(LIMB_MASK);
        for i in 0..limbs {
            let (x, y) = (l.load(&a[i]), l.load(&b[i]));
            let (new_a, new_b) = (to_a.limb(l, x, y), to_b.limb(l, x, y));
            if i > 0 {
                let shifted = l.or(l.shr::<STEPS>(last_a), l.and(l.shl::<UP>(new_a), mask));
                l.store(&mut a[i - 1], shifted);
                let shifted = l.or(l.shr::<STEPS>(last_b), l.and(l.shl::<UP>(new_b), mask));
                l.store(&mut b[i - 1], shifted);
            }
            (last_a, last_b) = (new_a, new_b);
        }
        // The sign comes in from above.
        let top_a = l.sar::<{ 12 + STEPS }>(l.shl::<12>(last_a));
        let top_b = l.sar::<{ 12 + STEPS }>(l.shl::<12>(last_b));
        l.store(&mut a[limbs - 1], l.and(top_a, mask));
        l.store(&mut b[limbs - 1], l.and(top_b, mask));
        (sign_a, sign_b) = (sign(l, a), sign(l, b));
        // From a to |a|: -1 is no square modulo |b| = 3 (mod 4), which is b = 1 (mod 4) for a
        // negative b.
        symbol = l.xor(symbol, l.and(sign_a, l.xor(l.load(&b[0]), sign_b)));
    }
    symbol
}

/// Limbs that hold numbers of this length times a row, with their sign.
fn limbs_for(bits: u32) -> usize {
    ((bits + STEPS + 4).div_ceil(LIMB_BITS) as usize).max(2)
}

impl JacobiSymbol {
    /// The symbol modulo `modulus`.
    pub fn new(modulus: WideModulus) -> Self {
        Self { modulus }
    }

    /// The modulus.
    pub fn modulus(&self) -> &WideModulus {
        &self.modulus
    }

    /// Whose symbol is -1: a byte for each group, bit `i` for residue `i`; `None` if one has a common
    /// factor with the modulus. Residues come in groups of `limbs` octets, of a modulus below `R`
    /// times this one, in Montgomery's form or not: `R` is a square.
    ///
    /// Cost: about `2 bits` steps and `bits^2 / 800` products of limbs.
    pub fn negatives(&self, a: &[Octet], limbs: usize) -> Option<Vec<u8>> {
        let (modulus, bits) = (&self.modulus, self.modulus.bits());
        assert!(a.len().is_multiple_of(limbs), "a batch holds whole groups");
        let len = limbs_for(bits + 1).max(modulus.limbs());
        let mut symbols = vec![0; a.len() / limbs];
        let coprime = dispatch(Symbols {
            symbols: &mut symbols,
            a,
            limbs,
            bits,
            n: modulus.reduction(),
            x: &mut Zeroizing::new(vec![Octet::ZERO; len]),
            y: &mut Zeroizing::new(vec![Octet::ZERO; len]),
            columns: &mut Zeroizing::new(vec![Octet::ZERO; 2 * modulus.limbs()]),
        });
        coprime.then_some(symbols)
    }
}

struct Symbols<'a> {
    symbols: &'a mut [u8],
    a: &'a [Octet],
    limbs: usize,
    bits: u32,
    n: Reduction<'a>,
    x: &'a mut [Octet],
    y: &'a mut [Octet],
    columns: &'a mut [Octet],
}

impl Kernel for Symbols<'_> {
    /// Whether all residues are coprime to the modulus.
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> bool {
        let Self { x, y, n, .. } = self;
        let mut coprime = u8::MAX;
        for (group, symbols) in self.a.chunks_exact(self.limbs).zip(self.symbols) {
            x.fill(Octet::ZERO);
            y.fill(Octet::ZERO);
            product::reduce(l, &mut x[..n.modulus.len()], group, n, self.columns);
            for (y, &limb) in y.iter_mut().zip(n.modulus) {
                l.store(y, l.splat(limb));
            }
            // Zero, or the modulus itself before its last subtraction.
            let (mut zero, mut whole) = (l.zero(), l.zero());
            for (x, p) in x.iter().zip(y.iter()) {
                zero = l.or(zero, l.load(x));
                whole = l.or(whole, l.xor(l.load(x), l.load(p)));
            }
            coprime &= mask_to_bits(l, l.both(l.test(zero, zero), l.test(whole, whole)));
            let symbol = self::symbols(l, x, y, self.bits);
            // What is left of the modulus is 1 or -1, over the limbs of the last round.
            let left = &y[..2];
            let sign = l.and(sign(l, left), l.splat(LIMB_MASK));
            let low = l.xor(l.load(&left[0]), sign);
            let high = l.xor(l.load(&left[1]), sign);
            let expected = l.select(l.test(sign, sign), l.splat(1), l.zero());
            let unit = l.equal(l.or(l.xor(low, expected), high), l.zero());
            coprime &= mask_to_bits(l, unit);
            *symbols = mask_to_bits(l, l.test(symbol, l.splat(2)));
        }
        coprime == u8::MAX
    }
}
