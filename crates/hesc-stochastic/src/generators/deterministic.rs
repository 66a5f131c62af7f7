//! Deterministic streams whose products are exact: every combination of the factors' bits meets
//! once (Jenson and Riedel, ICCAD 2016). The price is resolution: `k` factors of `L` bits have
//! about `L^(1/k)` levels each.

use rand_core::Rng;

use super::round_at_random;
use crate::{Generator, StochasticError};

/// Most factors of a product.
pub const MAX_FACTORS: u32 = 16;

/// One factor of a deterministic product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deterministic {
    /// Bits of the stream that is repeated.
    levels: usize,
    /// Bits for which a clock-divided factor holds still, or a rotated one does not rotate; 0 if
    /// it never does either.
    period: usize,
    rotates: bool,
}

impl Deterministic {
    /// Factor `dimension` of `factors`.
    pub fn new(
        generator: Generator,
        dimension: u32,
        factors: u32,
        length: usize,
    ) -> Result<Self, StochasticError> {
        if !(1..=MAX_FACTORS).contains(&factors) {
            return Err(StochasticError::Factors { factors, max: MAX_FACTORS });
        }
        if dimension >= factors {
            return Err(StochasticError::Dimension { generator, dimension, available: factors });
        }
        let parts = split(generator, factors, length).ok_or_else(|| {
            let fits = |candidate: &usize| split(generator, factors, *candidate).is_some();
            StochasticError::Structure {
                generator,
                factors,
                stream_length: length,
                below: (1..length).rev().find(fits).unwrap_or(1),
                above: (length + 1..).find(fits).unwrap_or(usize::MAX),
            }
        })?;
        let levels = parts[dimension as usize];
        let period = match generator {
            Generator::CoprimeLengths => 0,
            _ if dimension == 0 => 0,
            _ => levels.pow(dimension),
        };
        Ok(Self { levels, period, rotates: generator == Generator::Rotation })
    }

    /// Sets the bits of a zeroed row: the first `p levels` bits (rounded at random) of a stream of
    /// `levels` bits, repeated in the factor's way.
    pub fn fill(self, row: &mut [u64], length: usize, p: f64, rng: &mut impl Rng) {
        let ones = round_at_random(p * self.levels as f64, rng) as usize;
        for i in 0..length {
            let at = match (self.period, self.rotates) {
                (0, _) => i,
                (period, true) => i + i / period,
                (period, false) => i / period,
            };
            row[i / 64] |= u64::from(at % self.levels < ones) << (i % 64);
        }
    }
}

/// The levels of each factor, if streams of this length have a deterministic product.
pub(crate) fn split(generator: Generator, factors: u32, length: usize) -> Option<Vec<usize>> {
    if generator != Generator::CoprimeLengths {
        let root = (length as f64).powf(1.0 / f64::from(factors)).round() as usize;
        let exact = root >= 2 && root.checked_pow(factors) == Some(length);
        return exact.then(|| vec![root; factors as usize]);
    }
    // Each prime power goes to one factor, the largest first to the factor that is least so far.
    let mut powers = prime_powers(length);
    powers.sort_unstable_by(|a, b| b.cmp(a));
    let mut parts = vec![1; factors as usize];
    for power in powers {
        let least = parts.iter_mut().min()?;
        *least *= power;
    }
    parts.sort_unstable_by(|a, b| b.cmp(a));
    // Factors of very different lengths waste the longer ones.
    let (least, most) = (*parts.iter().min()?, *parts.iter().max()?);
    (least >= 2 && most <= 2 * least).then_some(parts)
}

fn prime_powers(mut n: usize) -> Vec<usize> {
    let mut powers = Vec::new();
    let mut prime = 2;
    while n > 1 {
        if prime * prime > n {
            prime = n;
        }
        let mut power = 1;
        while n.is_multiple_of(prime) {
            n /= prime;
            power *= prime;
        }
        if power > 1 {
            powers.push(power);
        }
        prime += 1;
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::row_rng;

    #[test]
    fn every_combination_of_levels_meets_once() {
        for (generator, factors, length) in [
            (Generator::ClockDivision, 2, 1024),
            (Generator::ClockDivision, 3, 512),
            (Generator::Rotation, 2, 1024),
            (Generator::Rotation, 3, 1000),
            (Generator::CoprimeLengths, 2, 1056),
            (Generator::CoprimeLengths, 3, 1001),
        ] {
            let all: Vec<Deterministic> = (0..factors)
                .map(|d| Deterministic::new(generator, d, factors, length).unwrap())
                .collect();
            for step in 0..20 {
                let mut product = vec![u64::MAX; length.div_ceil(64)];
                let mut expected = 1;
                for (i, factor) in all.iter().enumerate() {
                    let ones = (step * (i + 3)) % (factor.levels + 1);
                    expected *= ones;
                    let mut row = vec![0; length.div_ceil(64)];
                    let p = ones as f64 / factor.levels as f64;
                    factor.fill(&mut row, length, p, &mut row_rng(0, 0, 0));
                    product.iter_mut().zip(row).for_each(|(a, b)| *a &= b);
                }
                let ones: u32 = product.iter().map(|word| word.count_ones()).sum();
                assert_eq!(ones as usize, expected, "{generator} {factors}");
            }
        }
    }

    #[test]
    fn lengths_without_a_structure_name_their_neighbours() {
        let refused = Deterministic::new(Generator::CoprimeLengths, 0, 2, 1024).unwrap_err();
        assert!(matches!(refused, StochasticError::Structure { below: 1023, above: 1025, .. }));
        let refused = Deterministic::new(Generator::Rotation, 0, 2, 1000).unwrap_err();
        assert!(matches!(refused, StochasticError::Structure { below: 961, above: 1024, .. }));
        assert!(Deterministic::new(Generator::Rotation, 2, 2, 1024).is_err());
        assert!(Deterministic::new(Generator::Rotation, 0, 0, 1024).is_err());
    }
}
