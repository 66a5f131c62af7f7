//! The field of `p = 2^256 - 2^224 + 2^192 + 2^96 - 1`: five limbs of 52 bits, in Montgomery's form
//! with `R = 2^260`. Values stay below `1.1 p` through all operations: sums and differences give the
//! bits above 2^256 back as multiples of `2^256 - p`, and products of such values end below
//! `1.1^2 p^2 / R + p`.

#![expect(
    clippy::needless_range_loop,
    reason = "an index is a limb, and means the same in several numbers"
)]

use crate::lanes::{LIMB_BITS, LIMB_MASK, Lanes, Octet};

/// Limbs of an element.
pub const LIMBS: usize = 5;
/// Bits of the top limb below 2^256.
const TOP_BITS: u32 = 256 - 4 * LIMB_BITS;

/// The prime.
pub const PRIME: [u64; LIMBS] = [LIMB_MASK, (1 << 44) - 1, 0, 1 << 36, ((1 << 32) - 1) << 16];

/// An element of eight fields.
#[derive(Clone, Copy)]
pub struct Element<V>(pub [V; LIMBS]);

#[inline(always)]
pub fn load<L: Lanes>(l: L, x: &[Octet]) -> Element<L::Vector> {
    Element([l.load(&x[0]), l.load(&x[1]), l.load(&x[2]), l.load(&x[3]), l.load(&x[4])])
}

#[inline(always)]
pub fn store<L: Lanes>(l: L, out: &mut [Octet], x: &Element<L::Vector>) {
    for i in 0..LIMBS {
        l.store(&mut out[i], x.0[i]);
    }
}

#[inline(always)]
pub fn splat<L: Lanes>(l: L, x: &[u64; LIMBS]) -> Element<L::Vector> {
    Element([l.splat(x[0]), l.splat(x[1]), l.splat(x[2]), l.splat(x[3]), l.splat(x[4])])
}

/// `b` where the mask is set, `a` elsewhere.
#[inline(always)]
pub fn select<L: Lanes>(
    l: L,
    mask: L::Mask,
    a: &Element<L::Vector>,
    b: &Element<L::Vector>,
) -> Element<L::Vector> {
    let mut out = *a;
    for i in 0..LIMBS {
        out.0[i] = l.select(mask, a.0[i], b.0[i]);
    }
    out
}

/// Carries through signed limbs of a number that is not negative.
#[inline(always)]
fn carry<L: Lanes>(l: L, x: &mut [L::Vector; LIMBS]) {
    let mask = l.splat(LIMB_MASK);
    for i in 0..LIMBS - 1 {
        x[i + 1] = l.add(x[i + 1], l.sar::<LIMB_BITS>(x[i]));
        x[i] = l.and(x[i], mask);
    }
}

/// The bits above 2^256 folded: `2^256 = 2^224 - 2^192 - 2^96 + 1` modulo `p`.
#[inline(always)]
fn fold<L: Lanes>(l: L, x: &mut [L::Vector; LIMBS]) {
    l.shared(
        #[inline(always)]
        || {
            // The top limb needs its carry first, or its high bits are not all there.
            carry(l, x);
            let top = l.shr::<TOP_BITS>(x[4]);
            x[4] = l.and(x[4], l.splat((1 << TOP_BITS) - 1));
            x[0] = l.add(x[0], top);
            x[1] = l.sub(x[1], l.shl::<44>(top));
            x[3] = l.sub(x[3], l.shl::<36>(top));
            x[4] = l.add(x[4], l.shl::<16>(top));
            carry(l, x);
        },
    );
}

/// `a + b`.
#[inline(always)]
pub fn add<L: Lanes>(l: L, a: &Element<L::Vector>, b: &Element<L::Vector>) -> Element<L::Vector> {
    let mut out = a.0;
    for i in 0..LIMBS {
        out[i] = l.add(a.0[i], b.0[i]);
    }
    fold(l, &mut out);
    Element(out)
}

/// `a - b`.
#[inline(always)]
pub fn sub<L: Lanes>(l: L, a: &Element<L::Vector>, b: &Element<L::Vector>) -> Element<L::Vector> {
    let mut out = a.0;
    for i in 0..LIMBS {
        // 2 p is more than b.
        out[i] = l.sub(l.add(a.0[i], l.splat(2 * PRIME[i])), b.0[i]);
    }
    fold(l, &mut out);
    Element(out)
}

/// `a b R^-1`. The prime is -1 modulo 2^52, so that a column is its own factor in Montgomery's
/// reduction, and the lowest limb's product with it is a shift.
#[inline(always)]
pub fn mul<L: Lanes>(l: L, a: &Element<L::Vector>, b: &Element<L::Vector>) -> Element<L::Vector> {
    l.shared(
        #[inline(always)]
        || {
            let mut c = [l.zero(); 2 * LIMBS];
            for i in 0..LIMBS {
                for j in 0..LIMBS {
                    c[i + j] = l.add_low(c[i + j], a.0[i], b.0[j]);
                    c[i + j + 1] = l.add_high(c[i + j + 1], a.0[i], b.0[j]);
                }
            }
            let mask = l.splat(LIMB_MASK);
            for i in 0..LIMBS {
                let m = l.and(c[i], mask);
                c[i + 1] = l.add(c[i + 1], l.add(l.shr::<LIMB_BITS>(c[i]), m));
                // Limb 2 of the prime is zero.
                for j in [1, 3, 4] {
                    let limb = l.splat(PRIME[j]);
                    c[i + j] = l.add_low(c[i + j], m, limb);
                    c[i + j + 1] = l.add_high(c[i + j + 1], m, limb);
                }
            }
            let mut out = [c[5], c[6], c[7], c[8], c[9]];
            carry(l, &mut out);
            Element(out)
        },
    )
}

/// `a^(2^n)`.
#[inline(always)]
fn square_times<L: Lanes>(l: L, a: &Element<L::Vector>, n: u32) -> Element<L::Vector> {
    let mut out = *a;
    for _ in 0..n {
        out = mul(l, &out, &out);
    }
    out
}

/// `a^(2^k - 1)` for k = 2, 4, 8, 16, 32.
#[inline(always)]
fn ones<L: Lanes>(l: L, a: &Element<L::Vector>) -> [Element<L::Vector>; 5] {
    let mut powers = [*a; 5];
    let mut last = *a;
    let mut k = 1;
    for power in &mut powers {
        last = mul(l, &square_times(l, &last, k), &last);
        *power = last;
        k *= 2;
    }
    powers
}

/// `a^(p - 2)`: the inverse, or zero of zero.
#[inline(always)]
pub fn invert<L: Lanes>(l: L, a: &Element<L::Vector>) -> Element<L::Vector> {
    // p - 2 = (2^32 - 1) 2^224 + 2^192 + (2^94 - 1) 2^2 + 1.
    let [o2, o4, o8, o16, o32] = ones(l, a);
    let mut x = mul(l, &square_times(l, &o32, 32), a);
    x = square_times(l, &x, 96);
    // 94 ones: 32, 32, 16, 8, 4, 2.
    x = mul(l, &square_times(l, &x, 32), &o32);
    x = mul(l, &square_times(l, &x, 32), &o32);
    x = mul(l, &square_times(l, &x, 16), &o16);
    x = mul(l, &square_times(l, &x, 8), &o8);
    x = mul(l, &square_times(l, &x, 4), &o4);
    x = mul(l, &square_times(l, &x, 2), &o2);
    mul(l, &square_times(l, &x, 2), a)
}

/// `a^((p + 1) / 4)`: a root of `a`, if there is one.
#[inline(always)]
pub fn square_root<L: Lanes>(l: L, a: &Element<L::Vector>) -> Element<L::Vector> {
    // (p + 1) / 4 = (2^32 - 1) 2^222 + 2^190 + 2^94.
    let [.., o32] = ones(l, a);
    let x = mul(l, &square_times(l, &o32, 32), a);
    let x = mul(l, &square_times(l, &x, 96), a);
    square_times(l, &x, 94)
}

/// The value below `p`.
#[inline(always)]
pub fn reduce<L: Lanes>(l: L, a: &Element<L::Vector>) -> Element<L::Vector> {
    let mut difference = a.0;
    for i in 0..LIMBS {
        difference[i] = l.sub(a.0[i], l.splat(PRIME[i]));
    }
    carry(l, &mut difference);
    let negative = l.sar::<63>(difference[4]);
    select(l, l.test(negative, negative), &Element(difference), a)
}

/// Whether reduced elements are equal.
#[inline(always)]
pub fn equal<L: Lanes>(l: L, a: &Element<L::Vector>, b: &Element<L::Vector>) -> L::Mask {
    let mut different = l.zero();
    for i in 0..LIMBS {
        different = l.or(different, l.xor(a.0[i], b.0[i]));
    }
    l.equal(different, l.zero())
}
