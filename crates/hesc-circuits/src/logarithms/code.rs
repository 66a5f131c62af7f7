use hesc_kernels::vectorised;
use std::f64::consts::{LN_2, SQRT_2};

/// How numbers in [-1, 1] are coded modulo `2^bits`: `sign 2^(bits - 1) + n`, where `n` is how many steps, of `step` to an
/// octave, the size is below 1. Sizes less than `2^-octaves` are that or zero; a zero is [`Self::zero`], which no sum of
/// other numbers reaches and of which `factors` do not come around.
///
/// Codes are added where numbers are multiplied: signs come around. A number is between two that have codes; it is one of
/// them at random, so that the mean is the number itself, and a product of independent ones has the product as its mean,
/// without a bias to be corrected. A size `x` between `a` and `b` so has the second moment `x (a + b) - a b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `log2` of the plaintext modulus.
    pub bits: u32,
    /// Factors of a product, at most.
    pub factors: u32,
    /// `log2` of how much smaller than 1 the smallest size is.
    pub octaves: u32,
    /// Steps to an octave.
    pub step: u64,
}

/// A size between two that have codes.
pub(super) struct Between {
    /// Steps of the larger.
    pub steps: u64,
    /// The larger one.
    pub upper: f64,
    /// The smaller one.
    pub lower: f64,
}

impl Code {
    /// The finest with so many bits and octaves, if there is one.
    pub(super) fn new(bits: u32, factors: u32, octaves: u32) -> Option<Self> {
        let half = 1u64 << (bits - 1);
        let k = u64::from(factors);
        // k zeros, k (k room + 1), stay below the sign.
        let room = ((half - 1) / k).checked_sub(1)? / k;
        let step = room / u64::from(octaves);
        (step > 0).then_some(Self { bits, factors, octaves, step })
    }

    /// Steps of the smallest size.
    pub fn room(&self) -> u64 {
        self.step * u64::from(self.octaves)
    }

    /// The code of zero.
    pub fn zero(&self) -> u64 {
        u64::from(self.factors) * self.room() + 1
    }

    /// The largest code of a product, without its sign: that of zeros alone.
    pub fn largest(&self) -> u64 {
        u64::from(self.factors) * self.zero()
    }

    /// The smallest size.
    pub fn least(&self) -> f64 {
        exp2(-f64::from(self.octaves))
    }

    /// The sizes with codes on both sides of one in [0, 1]. No branch or index depends on it.
    #[inline(always)]
    pub(super) fn between(&self, size: f64) -> Between {
        let room = self.room();
        let steps = ((-log2(size) * self.step as f64).max(0.0) as u64).min(room);
        let inside = u64::from(steps < room);
        let lower = self.size(steps + 1) * inside as f64;
        Between { steps, upper: self.size(steps), lower }
    }

    #[inline(always)]
    fn size(&self, steps: u64) -> f64 {
        exp2(-(steps as f64 / self.step as f64))
    }

    /// The code of a size in [0, 1] and a sign, 0 or 1: one of two by a random word. No branch or index depends on them.
    #[inline(always)]
    pub(super) fn encode(&self, size: f64, sign: u64, word: u64) -> u64 {
        let Between { steps, upper, lower } = self.between(size);
        let share = ((size - lower) / (upper - lower)).clamp(0.0, 1.0);
        let uniform = (word >> 11) as f64 * UNIT;
        let down = u64::from(uniform >= share);
        let beyond = u64::from(steps == self.room());
        let next = beyond.wrapping_neg() & (self.zero() - self.room() - 1);
        steps + down * (1 + next) + (sign << (self.bits - 1))
    }

    /// What a sum of codes stands for, and whether it is one of that many.
    #[inline(always)]
    pub(super) fn decode(&self, sum: u64) -> (f64, bool) {
        let half = 1 << (self.bits - 1);
        let steps = sum & (half - 1);
        let number = u64::from(steps < self.zero());
        let size = self.size(steps) * number as f64;
        let sign = (sum & half & number.wrapping_neg()) << (64 - self.bits);
        (f64::from_bits(size.to_bits() | sign), steps <= self.largest())
    }

    /// The variance of what a size in [0, 1] becomes: `(x - a) (b - x)`, of which nothing cancels however fine the
    /// steps are.
    pub(super) fn variance(&self, size: f64) -> f64 {
        let Between { upper, lower, .. } = self.between(size);
        let size = size.clamp(lower, upper);
        (size - lower) * (upper - size)
    }

    /// The largest variance that a product of so many sizes in [0, 1] has: where all are 1 by the relative variance
    /// `r = sinh^2(ln 2 / (2 step))` of each, or where one is between zero and the smallest size `m`. For sizes `p_i m` of `j`
    /// such factors it is at most `m^(2 j) (c p - p^2)`, `p` their product, `c = (1 + r)^(k - 1)`.
    pub(super) fn worst(&self, factors: u32) -> f64 {
        if factors == 0 {
            return 0.0;
        }
        let half = LN_2 / (2.0 * self.step as f64);
        let square = half * half;
        // The series of sinh, with sums and products only: machines agree upon it.
        let sinh = half
            * (1.0
                + square / 6.0
                    * (1.0 + square / 20.0 * (1.0 + square / 42.0 * (1.0 + square / 72.0 * 1.01))));
        let each = sinh * sinh;
        let (mut others, mut all) = (0.0, 0.0);
        for _ in 0..factors {
            others = all;
            all += each + all * each;
        }
        let (c, least) = (1.0 + others, self.least());
        let p = (c / 2.0).min(1.0);
        f64::max(all, least * least * (c * p - p * p))
    }
}

vectorised! {
    /// The codes of many sizes, each with a sign and a random word, in the place of the words.
    pub(super) fn encode_all(code: &Code, sizes: &[f64], signs: &[u64], words: &mut [u64]) {
        for ((word, &size), &sign) in words.iter_mut().zip(sizes).zip(signs) {
            *word = code.encode(size, sign, *word);
        }
    }
}

const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;
/// One over the odd numbers below 23, from the largest.
const ODDS: [f64; 11] = {
    let mut odds = [0.0; 11];
    let mut at = 0;
    while at < 11 {
        odds[at] = 1.0 / (21 - 2 * at) as f64;
        at += 1;
    }
    odds
};
/// One over the factorials of 14 to 0.
const FACTORIALS: [f64; 15] = {
    let (mut inverses, mut factorial) = ([1.0; 15], 1.0);
    let mut at = 1;
    while at < 15 {
        factorial *= at as f64;
        inverses[14 - at] = 1.0 / factorial;
        at += 1;
    }
    inverses
};

/// `log2` of a positive number, -1022 or less where it is too small to be normal: within a few units of the last place, no
/// branch or index.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let high = u64::from(mantissa > SQRT_2);
    let mantissa = f64::from_bits(mantissa.to_bits() - (high << 52));
    let exponent = (bits >> 52) as i64 - 1023 + high as i64;
    // 2 atanh((x - 1) / (x + 1)) = ln x, |.| at most 0.1716.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let square = z * z;
    let sum = ODDS.iter().fold(1.0 / 23.0, |sum, odd| sum * square + odd);
    exponent as f64 + 2.0 / LN_2 * z * sum
}

/// `2^x` for `x` at most 0, and at least `2^-1022`: likewise.
#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    // Above 2^52 there are whole numbers only, the last bits of which are those of the nearest to x.
    let shifted = x.max(-1022.0) + ROUNDING;
    let y = (x.max(-1022.0) - (shifted - ROUNDING)) * LN_2;
    let sum = FACTORIALS.iter().fold(0.0, |sum, inverse| sum * y + inverse);
    // 1 or less above 2^-1022: normal, or the next below it.
    sum * f64::from_bits((shifted.to_bits() + 1023) << 52)
}
