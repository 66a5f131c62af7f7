/// A modulus below `2^63` with scalar arithmetic on `u64`.
///
/// These are for set-up and tests; the hot loops are in [`crate::kernels`]. Values passed in must
/// be reduced; debug builds check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modulus(u64);

impl Modulus {
    /// The modulus `value`.
    ///
    /// # Panics
    /// If `value < 2`.
    pub const fn new(value: u64) -> Self {
        assert!(value >= 2, "a modulus is at least 2");
        Self(value)
    }

    /// The modulus itself.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// `a + b`.
    pub const fn add(self, a: u64, b: u64) -> u64 {
        debug_assert!(a < self.0 && b < self.0);
        ((a as u128 + b as u128) % self.0 as u128) as u64
    }

    /// `-a`.
    pub const fn neg(self, a: u64) -> u64 {
        debug_assert!(a < self.0);
        if a == 0 { 0 } else { self.0 - a }
    }

    /// `a * b`.
    pub const fn mul(self, a: u64, b: u64) -> u64 {
        ((a as u128 * b as u128) % self.0 as u128) as u64
    }

    /// `base^exponent`. Variable time in the exponent.
    pub const fn pow(self, base: u64, mut exponent: u64) -> u64 {
        let mut square = base % self.0;
        let mut result = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = self.mul(result, square);
            }
            square = self.mul(square, square);
            exponent >>= 1;
        }
        result
    }

    /// `a^-1` for a prime modulus and `a != 0`, by Fermat.
    pub const fn inverse(self, a: u64) -> u64 {
        self.pow(a, self.0 - 2)
    }

    /// `a^-1` for any modulus, by Euclid's algorithm; none where they have a common divisor. Variable time.
    pub fn inverse_of_unit(self, a: u64) -> Option<u64> {
        let (mut remainders, mut factors) =
            ((i128::from(self.0), i128::from(a % self.0)), (0i128, 1i128));
        while remainders.1 != 0 {
            let quotient = remainders.0 / remainders.1;
            remainders = (remainders.1, remainders.0 - quotient * remainders.1);
            factors = (factors.1, factors.0 - quotient * factors.1);
        }
        (remainders.0 == 1).then(|| factors.0.rem_euclid(i128::from(self.0)) as u64)
    }

    /// The residue of a signed integer.
    pub const fn reduce_signed(self, a: i64) -> u64 {
        (a as i128).rem_euclid(self.0 as i128) as u64
    }

    /// The representative of `a` in `(-q/2, q/2]`.
    pub const fn centre(self, a: u64) -> i64 {
        if a > self.0 / 2 { -((self.0 - a) as i64) } else { a as i64 }
    }
}
