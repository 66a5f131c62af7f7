/// Residues with fewer bits: modulus switching of one row to a power of two and back. No branch and no division
/// on the data.
#[derive(Debug, Clone, Copy)]
pub struct Truncation {
    modulus: u64,
    bits: u32,
    /// `floor(2^(64 + bits) / modulus)`.
    inverse: u64,
}

impl Truncation {
    /// From residues modulo `modulus` to residues modulo `2^bits`.
    ///
    /// # Panics
    /// Unless `2^bits` is at most half of the next power of two above the modulus, which is below `2^61`.
    pub fn new(modulus: u64, bits: u32) -> Self {
        assert!(modulus >> 61 == 0 && bits >= 1, "a word has room for it");
        assert!(bits <= modulus.ilog2(), "fewer bits than the modulus has");
        let inverse = ((1u128 << (64 + bits)) / u128::from(modulus)) as u64;
        Self { modulus, bits, inverse }
    }

    /// Bits that are left.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// `x 2^bits / modulus`, rounded, modulo `2^bits`: off by `1/2 + modulus / 2^64` at most.
    pub fn truncate(&self, x: u64) -> u64 {
        let scaled = u128::from(x) * u128::from(self.inverse) + (1 << 63);
        (scaled >> 64) as u64 & ((1 << self.bits) - 1)
    }

    /// `x modulus / 2^bits`, rounded: below the modulus for every `x` below `2^bits`.
    pub fn lift(&self, x: u64) -> u64 {
        ((u128::from(x) * u128::from(self.modulus) + (1 << (self.bits - 1))) >> self.bits) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the definition in wide integers, for all sizes and the ends of the range.
        #[test]
        fn rounds_to_the_nearest(modulus in 3u64..1 << 61, bits in 1u32..61, raw: u64) {
            let bits = bits.min(modulus.ilog2());
            let truncation = Truncation::new(modulus, bits);
            let (q, full) = (i128::from(modulus), 1i128 << bits);
            for x in [raw % modulus, 0, 1, modulus / 2, modulus - 1] {
                let short = truncation.truncate(x);
                prop_assert!(short < 1 << bits);
                // (short q - x 2^bits) modulo q 2^bits, centred: at most (1/2 + q / 2^64) q.
                let off = (i128::from(short) * q - i128::from(x) * full).rem_euclid(q * full);
                let off = off.min(q * full - off);
                prop_assert!(off <= q / 2 + ((q * q) >> 64) + 1, "{} of {}", off, q);
                let long = truncation.lift(short);
                prop_assert!(long < modulus);
                let off = i128::from(long) * full - i128::from(short) * q;
                prop_assert!(2 * off.abs() <= full);
            }
        }
    }
}
