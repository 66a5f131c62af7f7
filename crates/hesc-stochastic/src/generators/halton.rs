//! Halton and Hammersley sequences with random digital shifts.

use rand_core::Rng;

use crate::{Generator, StochasticError};

/// Dimensions of the Halton sequence: bases are the first primes, and those of later ones too
/// large for short streams.
pub const HALTON_DIMENSIONS: u32 = 64;

/// Points of the inner table: at least so many, so that the outer digits change rarely.
const INNER: usize = 64;

/// The radical inverse in one base (van der Corput's sequence for base 2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Halton {
    base: u32,
}

impl Halton {
    /// The dimension's base is the prime of that number.
    pub fn new(dimension: u32) -> Result<Self, StochasticError> {
        if dimension >= HALTON_DIMENSIONS {
            return Err(StochasticError::Dimension {
                generator: Generator::Halton,
                dimension,
                available: HALTON_DIMENSIONS,
            });
        }
        let is_prime = |n: &u32| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
        let base = (2..).filter(is_prime).nth(dimension as usize).unwrap_or(2);
        Ok(Self { base })
    }

    /// The base.
    pub fn base(self) -> u32 {
        self.base
    }

    /// The first points as fractions of 2^32, every digit moved by a random one modulo the base:
    /// each interval of digits keeps its share of the points, and the mean over shifts is exact.
    pub fn points(self, count: usize, rng: &mut impl Rng) -> Vec<u32> {
        let base = u64::from(self.base);
        let mut weights = Vec::new();
        let mut power = base;
        while power <= 1 << 32 {
            weights.push((1u64 << 32) / power);
            power *= base;
        }
        let shifts: Vec<u64> = weights
            .iter()
            .map(|_| ((u128::from(rng.next_u64()) * u128::from(base)) >> 64) as u64)
            .collect();
        let digit = |j: usize, d: u64| ((d + shifts[j]) % base) * weights[j];

        // All values of the first digits, then blocks that differ in the later ones.
        let (mut inner, mut used) = (vec![0u64], 0);
        while inner.len() < INNER && used < weights.len() {
            let before = inner.len();
            let mut grown = Vec::with_capacity(before * self.base as usize);
            for d in 0..base {
                grown.extend(inner.iter().map(|point| point + digit(used, d)));
            }
            inner = grown;
            used += 1;
        }
        let mut points = Vec::with_capacity(count + inner.len());
        let mut block = 0u64;
        while points.len() < count {
            let (mut rest, mut outer) = (block, 0);
            for j in used..weights.len() {
                outer += digit(j, rest % base);
                rest /= base;
            }
            points.extend(inner.iter().map(|point| (point + outer) as u32));
            block += 1;
        }
        points.truncate(count);
        points
    }
}

/// `i / L`, the first dimension of a Hammersley set, as fractions of 2^32.
pub(crate) fn ramp(count: usize) -> Vec<u32> {
    (0..count as u64).map(|i| ((i << 32) / count as u64) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::row_rng;

    /// Every elementary interval holds its share: base^k consecutive points, one in each of the
    /// base^k intervals.
    #[test]
    fn points_are_stratified_in_their_base() {
        for (dimension, base) in [(0, 2usize), (1, 3), (2, 5), (5, 13)] {
            let halton = Halton::new(dimension).unwrap();
            assert_eq!(halton.base() as usize, base);
            for strata in [base, base * base] {
                let points = halton.points(3 * strata, &mut row_rng(7, 0, u64::from(dimension)));
                for block in points.chunks(strata) {
                    let mut seen = vec![false; strata];
                    for &point in block {
                        // Weights are rounded down: the middle of the interval is safe.
                        let at = (f64::from(point) + 16.0) * strata as f64 / 32f64.exp2();
                        seen[at as usize] = true;
                    }
                    assert!(seen.iter().all(|s| *s), "base {base}, {strata} strata");
                }
            }
        }
        assert!(Halton::new(HALTON_DIMENSIONS).is_err());
    }
}
