//! Residues in the forms that butterflies take them in.

use super::layers::{Arithmetic, Root};

/// `2^52`: adding it to an integer below leaves the integer in the low bits.
const TOP: f64 = 4_503_599_627_370_496.0;

/// Doubles of integers modulo `q < 2^50`, multiplied by fused operations, which tell the low half of a product. Words are
/// their bits.
///
/// Every second layer of a forward transform leaves its first argument unreduced. With `q = 2^50`, what odd
/// layers take is at most `2.6 q` in absolute value and what even ones take `1.7 q`: a quotient errs by less than 1.2,
/// sums are below `2^53`, and so is the distance of a product from the multiple of `q` that is taken from it.
#[derive(Debug, Clone, Copy)]
pub struct Doubles {
    q: f64,
    reciprocal: f64,
}

impl Doubles {
    pub fn new(q: u64) -> Self {
        assert!(q < 1 << 50, "doubles hold sums of residues of 50 bits");
        Self { q: q as f64, reciprocal: 1.0 / q as f64 }
    }

    /// Into `[-q/2 - 1, q/2 + 1]`.
    #[inline(always)]
    fn reduce(self, x: f64) -> f64 {
        (x * self.reciprocal).round_ties_even().mul_add(-self.q, x)
    }

    #[inline(always)]
    fn scaled(self, x: f64, root: Root<u64>) -> f64 {
        let (word, aid) = (f64::from_bits(root.word), f64::from_bits(root.aid));
        self.rest(x, word, (x * aid).round_ties_even())
    }

    /// `x y - quotient q`.
    #[inline(always)]
    fn rest(self, x: f64, y: f64, quotient: f64) -> f64 {
        let high = x * y;
        let low = x.mul_add(y, -high);
        quotient.mul_add(-self.q, high) + low
    }
}

impl Arithmetic for Doubles {
    type Word = u64;
    const SINGLE: bool = false;

    fn root(self, root: u64) -> Root<u64> {
        let word = root as f64;
        Root { word: word.to_bits(), aid: (word / self.q).to_bits() }
    }

    #[inline(always)]
    fn enter(self, x: u64) -> u64 {
        (f64::from_bits(x | TOP.to_bits()) - TOP).to_bits()
    }

    #[inline(always)]
    fn leave(self, x: u64) -> u64 {
        let rest = self.reduce(f64::from_bits(x));
        let positive = if rest < 0.0 { rest + self.q } else { rest };
        (positive + TOP).to_bits() ^ TOP.to_bits()
    }

    #[inline(always)]
    fn forward<const EVEN: bool>(self, a: u64, b: u64, root: Root<u64>) -> (u64, u64) {
        let a = f64::from_bits(a);
        let a = if EVEN { a } else { self.reduce(a) };
        let b = self.scaled(f64::from_bits(b), root);
        ((a + b).to_bits(), (a - b).to_bits())
    }

    #[inline(always)]
    fn inverse(self, a: u64, b: u64, root: Root<u64>) -> (u64, u64) {
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        (self.reduce(a + b).to_bits(), self.scaled(a - b, root).to_bits())
    }

    #[inline(always)]
    fn product(self, a: u64, b: u64) -> u64 {
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        self.rest(a, b, (a * b * self.reciprocal).round_ties_even()).to_bits()
    }

    #[inline(always)]
    fn scale(self, x: u64, root: Root<u64>) -> u64 {
        self.scaled(f64::from_bits(x), root).to_bits()
    }
}

macro_rules! words {
    ($name:ident, $word:ident, $wide:ident, $lazy:literal) => {
        /// Words modulo `q`, multiplied with roots as Shoup does. Where two bits are to spare, forward
        /// transforms take residues below `4 q` and inverse ones below `2 q` (Harvey 2014, section 3).
        #[derive(Debug, Clone, Copy)]
        pub struct $name {
            q: $word,
            bits: u32,
            /// `floor(2^(bits + w - 1) / q)` for words of w bits.
            barrett: $word,
        }

        impl $name {
            const LAZY: bool = $lazy;

            pub fn new(q: $word) -> Self {
                let bits = q.ilog2() + 1;
                let barrett = ((1 as $wide) << (bits + $word::BITS - 1)) / q as $wide;
                Self { q, bits, barrett: barrett as $word }
            }

            #[inline(always)]
            fn once(x: $word, q: $word) -> $word {
                x.min(x.wrapping_sub(q))
            }

            /// Below `2 q`.
            #[inline(always)]
            fn scaled(self, x: $word, root: Root<$word>) -> $word {
                let quotient = ((x as $wide * root.aid as $wide) >> $word::BITS) as $word;
                x.wrapping_mul(root.word).wrapping_sub(quotient.wrapping_mul(self.q))
            }
        }

        impl Arithmetic for $name {
            type Word = $word;
            const SINGLE: bool = $word::BITS == 64;

            fn root(self, root: $word) -> Root<$word> {
                let aid = ((root as $wide) << $word::BITS) / self.q as $wide;
                Root { word: root, aid: aid as $word }
            }

            #[inline(always)]
            fn enter(self, x: $word) -> $word {
                x
            }

            #[inline(always)]
            fn leave(self, x: $word) -> $word {
                if Self::LAZY { Self::once(Self::once(x, 2 * self.q), self.q) } else { x }
            }

            #[inline(always)]
            fn forward<const EVEN: bool>(
                self,
                a: $word,
                b: $word,
                root: Root<$word>,
            ) -> ($word, $word) {
                let (q, b) = (self.q, self.scaled(b, root));
                if Self::LAZY {
                    let a = Self::once(a, 2 * q);
                    (a + b, a + (2 * q - b))
                } else {
                    let b = Self::once(b, q);
                    (Self::once(a + b, q), Self::once(a + (q - b), q))
                }
            }

            #[inline(always)]
            fn inverse(self, a: $word, b: $word, root: Root<$word>) -> ($word, $word) {
                let q = self.q;
                if Self::LAZY {
                    (Self::once(a + b, 2 * q), self.scaled(a + (2 * q - b), root))
                } else {
                    (Self::once(a + b, q), Self::once(self.scaled(a + (q - b), root), q))
                }
            }

            #[inline(always)]
            fn product(self, a: $word, b: $word) -> $word {
                let product = a as $wide * b as $wide;
                let upper = (product >> (self.bits - 1)) as $word;
                let quotient = ((upper as $wide * self.barrett as $wide) >> $word::BITS) as $word;
                // The quotient is at most 2 too small: with three times 2^31 the rest fits no word.
                let rest = product - quotient as $wide * self.q as $wide;
                let twice = 2 * self.q as $wide;
                let rest = rest.min(rest.wrapping_sub(twice)) as $word;
                Self::once(rest, self.q)
            }

            #[inline(always)]
            fn scale(self, x: $word, root: Root<$word>) -> $word {
                Self::once(self.scaled(x, root), self.q)
            }
        }
    };
}

words!(Words32, u32, u64, false);
words!(Words64, u64, u128, true);
