//! Independent bits, 64 at a time.

use rand_core::Rng;

/// A probability in [0, 1] as a binary fraction of 64 digits; 1 is all of them and a flag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probability {
    digits: u64,
    certain: bool,
}

impl Probability {
    /// From a number in [0, 1].
    pub fn new(p: f64) -> Self {
        // The conversion saturates; only 1 itself does.
        Self { digits: (p * 64f64.exp2()) as u64, certain: p >= 1.0 }
    }

    /// 64 independent bits that are one with this probability, exactly.
    ///
    /// Compares 64 random binary fractions with `p` digit by digit, all at once, until every
    /// comparison is decided: about seven random words, whatever the precision.
    pub fn word(self, rng: &mut impl Rng) -> u64 {
        if self.certain {
            return u64::MAX;
        }
        let (mut below, mut undecided) = (0, u64::MAX);
        // No digit set is left: a fraction equal to `p` so far is not below it.
        let mut digits = self.digits;
        while undecided != 0 && digits != 0 {
            let random = rng.next_u64();
            if digits >> 63 == 1 {
                below |= undecided & !random;
                undecided &= random;
            } else {
                undecided &= !random;
            }
            digits <<= 1;
        }
        below
    }
}

/// Fills whole words of a row.
pub(crate) fn fill(row: &mut [u64], p: f64, rng: &mut impl Rng) {
    let p = Probability::new(p);
    row.fill_with(|| p.word(rng));
}
