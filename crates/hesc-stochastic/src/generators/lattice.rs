//! Rank-1 lattices of Korobov's form, as sequences.

use crate::{Generator, StochasticError};

/// Found by `python -m scripts.lattice_generator`.
const MULTIPLIER: u32 = 307_063_357;

/// Most dimensions, whatever the length.
pub const LATTICE_DIMENSIONS: u32 = 64;

/// One coordinate of the lattice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice {
    factor: u32,
}

impl Lattice {
    /// Coordinate `j` has the factor `a^j`. The powers of `a` repeat modulo `2^m` after `2^(m-2)`
    /// steps, and equal factors would give equal streams: short streams have few dimensions.
    pub fn new(dimension: u32, length: usize) -> Result<Self, StochasticError> {
        let bits = length.next_power_of_two().ilog2();
        let available = (1u32 << bits.saturating_sub(2)).min(LATTICE_DIMENSIONS);
        if dimension >= available {
            let generator = Generator::Lattice;
            return Err(StochasticError::Dimension { generator, dimension, available });
        }
        Ok(Self { factor: MULTIPLIER.wrapping_pow(dimension) })
    }

    /// The first points as fractions of 2^32: point `i` is the radical inverse of `i` times the
    /// factor, modulo 1, so that the first `2^m` points are the lattice of that size (Hickernell
    /// and others 2000).
    pub fn points(self, count: usize) -> Vec<u32> {
        (0..count as u32).map(|i| i.reverse_bits().wrapping_mul(self.factor)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_are_the_lattice() {
        for dimension in [0, 1, 5] {
            let mut points = Lattice::new(dimension, 256).unwrap().points(256);
            points.sort_unstable();
            assert!(points.iter().enumerate().all(|(i, &p)| p == (i as u32) << 24));
        }
    }

    #[test]
    fn equal_coordinates_are_refused() {
        for (length, available) in [(4, 1), (64, 16), (1 << 20, LATTICE_DIMENSIONS)] {
            let mut factors: Vec<u32> = (0..available)
                .map(|d| Lattice::new(d, length).unwrap().factor & (length as u32 - 1))
                .collect();
            factors.sort_unstable();
            factors.dedup();
            assert_eq!(factors.len(), available as usize);
            assert!(Lattice::new(available, length).is_err());
        }
    }
}
