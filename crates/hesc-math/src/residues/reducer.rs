use crate::Modulus;
use crate::lanes::{self, Hardware, Lanes};

/// Primes are below `2^MAX_PRIME_BITS`: 128 bits then hold the sum of
/// 64 products.
pub const MAX_PRIME_BITS: u32 = 61;
/// Primes below `2^LANE_BITS` take the 52-bit multipliers.
const LANE_BITS: u32 = 50;

/// A modulus below 2^61 with the constants of its reductions.
#[derive(Debug, Clone, Copy)]
pub struct Reducer {
    q: u64,
    /// `floor(2^128 / q)`, low and high.
    ratio: [u64; 2],
    /// Bits of `q`.
    bits: u32,
    /// `floor(2^(bits + 51) / q)`.
    barrett: u64,
    /// `floor(2^(bits + 63) / q)`.
    barrett64: u64,
    /// `floor(2^52 / q)`.
    reciprocal: u64,
    /// `2^52 mod q`, and its factor for [`Reducer::lanes_product`].
    top: [u64; 2],
}

impl Reducer {
    /// The modulus `q`, 2 to `2^61`.
    ///
    /// # Panics
    /// If it is outside.
    pub const fn new(q: u64) -> Self {
        assert!(q >= 2 && q >> MAX_PRIME_BITS == 0, "a modulus is at least 2 and below 2^61");
        let q_wide = q as u128;
        let bits = q.ilog2() + 1;
        // 2^128 - 1 has the same quotient unless q divides 2^128.
        let exact = q.is_power_of_two() as u128;
        let ratio = u128::MAX / q_wide + exact;
        let top = ((1u128 << 52) % q_wide) as u64;
        Self {
            q,
            ratio: [ratio as u64, (ratio >> 64) as u64],
            bits,
            // 2^52 and 2^64 themselves have a bit too many.
            barrett: ((1u128 << (bits + 51)) / q_wide - exact) as u64,
            barrett64: ((1u128 << (bits + 63)) / q_wide - exact) as u64,
            reciprocal: ((1u64 << 52) / q),
            top: [top, (((top as u128) << 52) / q_wide) as u64],
        }
    }

    /// Lanes in hardware, if there are any and the modulus is small enough for their 52-bit multipliers.
    pub(crate) fn lanes(&self) -> Option<Hardware> {
        lanes::hardware().filter(|_| self.bits <= LANE_BITS)
    }

    /// How many words of a row such lanes take, so many at once, and the lanes if it is any.
    pub(crate) fn lanes_of(&self, length: usize, at_once: usize) -> (usize, Option<Hardware>) {
        let hardware = self.lanes().filter(|_| length >= at_once);
        (hardware.map_or(0, |_| length - length % at_once), hardware)
    }

    /// Products of residues that a pair of 52-bit accumulators holds the sum of, with one more residue: for moduli
    /// that lanes have.
    pub(crate) const fn lane_terms(&self) -> usize {
        match self.bits {
            LANE_BITS.. => 16,
            46.. => 1 << (103 - 2 * self.bits),
            _ => 1 << 11,
        }
    }

    /// The modulus itself.
    pub const fn value(&self) -> u64 {
        self.q
    }

    /// Scalar arithmetic.
    pub const fn modulus(&self) -> Modulus {
        Modulus::new(self.q)
    }

    /// The constant `w mod q` as a factor for [`super::kernels`].
    pub const fn factor(&self, w: u64) -> Factor {
        let w = w % self.q;
        let wide = w as u128;
        Factor {
            w,
            shoup64: ((wide << 64) / self.q as u128) as u64,
            shoup52: ((wide << 52) / self.q as u128) as u64,
        }
    }

    #[inline(always)]
    pub(crate) fn once(&self, x: u64) -> u64 {
        x.min(x.wrapping_sub(self.q))
    }

    /// `x mod q` for any `x`, by Barrett's reduction with 128-bit quotient.
    #[inline(always)]
    pub(crate) fn reduce(&self, x: u128) -> u64 {
        let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let (low, high) = (x as u64, (x >> 64) as u64);
        let carry = wide(low, self.ratio[0]) >> 64;
        let middle = wide(low, self.ratio[1]) + carry;
        let other = wide(high, self.ratio[0]) + u128::from(middle as u64);
        let quotient = high
            .wrapping_mul(self.ratio[1])
            .wrapping_add((middle >> 64) as u64)
            .wrapping_add((other >> 64) as u64);
        self.once(low.wrapping_sub(quotient.wrapping_mul(self.q)))
    }

    /// `x mod q` for any word.
    #[inline(always)]
    pub(crate) fn remainder(&self, x: u64) -> u64 {
        let quotient = ((u128::from(x) * u128::from(self.ratio[1])) >> 64) as u64;
        // At most 1 too small.
        self.once(x.wrapping_sub(quotient.wrapping_mul(self.q)))
    }

    /// `x mod q`; the sign as a mask, for encoded plaintexts are secret.
    #[inline(always)]
    pub(crate) fn reduce_signed(&self, x: i64) -> u64 {
        let negative = (x >> 63) as u64;
        let size = self.remainder(x.unsigned_abs());
        self.once((size ^ negative).wrapping_sub(negative).wrapping_add(self.q & negative))
    }

    /// `a b mod q` for reduced `a`, `b`, by Barrett's reduction: the quotient of the product's upper
    /// half is at most 2 too small.
    #[inline(always)]
    pub(crate) fn product(&self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        let upper = (product >> (self.bits - 1)) as u64;
        let quotient = ((u128::from(upper) * u128::from(self.barrett64)) >> 64) as u64;
        let rest = (product as u64).wrapping_sub(quotient.wrapping_mul(self.q));
        self.once(rest.min(rest.wrapping_sub(2 * self.q)))
    }

    /// `a w mod q` for any `a` (Shoup).
    #[inline(always)]
    pub(crate) fn scaled(&self, a: u64, factor: Factor) -> u64 {
        let quotient = ((u128::from(a) * u128::from(factor.shoup64)) >> 64) as u64;
        self.once(a.wrapping_mul(factor.w).wrapping_sub(quotient.wrapping_mul(self.q)))
    }

    #[inline(always)]
    pub(crate) fn lanes_once<L: Lanes>(&self, l: L, x: L::Vector) -> L::Vector {
        l.min(x, l.sub(x, l.splat(self.q)))
    }

    /// `low + 2^52 high mod q`, both of any size up to 2^64, `high + low / 2^52` below 2^52.
    #[inline(always)]
    pub(crate) fn lanes_reduce<L: Lanes>(
        &self,
        l: L,
        low: L::Vector,
        high: L::Vector,
    ) -> L::Vector {
        let high = l.add(high, l.shr::<52>(low));
        let low = l.and(low, l.splat(crate::lanes::LIMB_MASK));
        let top = self.lanes_lazy_product(l, high, self.top);
        let rest = self.lanes_remainder(l, low);
        // Both are below 2q < 2^51.
        let sum = l.add(top, rest);
        let sum = l.min(sum, l.sub(sum, l.splat(2 * self.q)));
        self.lanes_once(l, sum)
    }

    /// `x mod q` in `[0, 2q)` for `x < 2^52`.
    #[inline(always)]
    pub(crate) fn lanes_remainder<L: Lanes>(&self, l: L, x: L::Vector) -> L::Vector {
        let quotient = l.add_high(l.zero(), x, l.splat(self.reciprocal));
        l.sub(x, l.add_low(l.zero(), quotient, l.splat(self.q)))
    }

    /// `a w mod q` in `[0, 2q)` for `a < 2^52`; `factor` is `w` and `floor(2^52 w / q)`.
    #[inline(always)]
    fn lanes_lazy_product<L: Lanes>(&self, l: L, a: L::Vector, factor: [u64; 2]) -> L::Vector {
        let quotient = l.add_high(l.zero(), a, l.splat(factor[1]));
        let product = l.add_low(l.zero(), a, l.splat(factor[0]));
        let back = l.add_low(l.zero(), quotient, l.splat(self.q));
        l.and(l.sub(product, back), l.splat(crate::lanes::LIMB_MASK))
    }

    /// `a w mod q` for `a < 2^52`.
    #[inline(always)]
    pub(crate) fn lanes_scaled<L: Lanes>(&self, l: L, a: L::Vector, factor: Factor) -> L::Vector {
        self.lanes_once(l, self.lanes_lazy_product(l, a, [factor.w, factor.shoup52]))
    }

    /// `a b mod q` for reduced `a`, `b`, by Barrett's reduction: the quotient of the product's upper
    /// half is at most 2 too small.
    #[inline(always)]
    pub(crate) fn lanes_product<L: Lanes>(&self, l: L, a: L::Vector, b: L::Vector) -> L::Vector {
        let low = l.add_low(l.zero(), a, b);
        let high = l.add_high(l.zero(), a, b);
        let shift = u64::from(self.bits - 1);
        let upper = l.or(l.shl_by(high, l.splat(52 - shift)), l.shr_by(low, l.splat(shift)));
        let quotient = l.add_high(l.zero(), upper, l.splat(self.barrett));
        let back = l.add_low(l.zero(), quotient, l.splat(self.q));
        let rest = l.and(l.sub(low, back), l.splat(crate::lanes::LIMB_MASK));
        let rest = l.min(rest, l.sub(rest, l.splat(2 * self.q)));
        self.lanes_once(l, rest)
    }
}

/// A constant to multiply with; [`Reducer::factor`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Factor {
    pub(crate) w: u64,
    shoup64: u64,
    /// `floor(2^52 w / q)`.
    pub(crate) shoup52: u64,
}
