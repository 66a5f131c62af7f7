use std::fmt;

use crate::selection_law::{KNOTS, SelectionLaw};
use crate::{Generator, StochasticError};

/// Which draw a stream comes from.
///
/// A stream multiplied by itself gives 1, not a square, and streams of one Sobol or LFSR
/// dimension are correlated whatever their scramble or phase: the factors of a product must have
/// uncorrelated origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A dimension of a structured generator. Two encoders that use the same dimension collide.
    Dimension {
        /// The generator.
        generator: Generator,
        /// The dimension.
        dimension: u32,
    },
    /// A draw from a pseudo-random generator.
    Draw {
        /// How its bits are distributed. What it shares random numbers with is a matter of source
        /// and draw alone.
        generator: Generator,
        /// The name of the random numbers: a function of what draws them and its random state.
        source: u128,
        /// The number of the draw.
        draw: u64,
    },
    /// A factor of a jointly encoded product.
    Joint {
        /// The encoder's tag.
        source: u128,
        /// The number of the product's first factor among those of the encoder.
        first: u32,
        /// Which factor of the product this is.
        factor: u32,
        /// Its Sobol dimension.
        dimension: u32,
    },
    /// A factor of a deterministic product.
    Deterministic {
        /// The generator.
        generator: Generator,
        /// Factors of the product.
        factors: u32,
        /// Which of them.
        factor: u32,
    },
    /// A selection among other streams, whose bits it passes.
    Selection {
        /// The name of the random numbers, as that of a draw.
        source: u128,
        /// The number of the selection.
        number: u32,
        /// What its sums err.
        law: SelectionLaw,
    },
}

impl Origin {
    /// Whether a product of streams of the two is wrong.
    ///
    /// Deterministic factors go through their levels in an order that structured sequences share:
    /// they multiply only with each other and with random draws.
    pub fn correlated_with(&self, other: &Self) -> bool {
        match (*self, *other) {
            (
                Self::Deterministic { generator, factors, factor },
                Self::Deterministic { generator: g, factors: fs, factor: f },
            ) => (generator, factors) != (g, fs) || factor == f,
            (Self::Deterministic { .. }, Self::Draw { .. } | Self::Selection { .. })
            | (Self::Draw { .. } | Self::Selection { .. }, Self::Deterministic { .. }) => false,
            (Self::Deterministic { .. }, _) | (_, Self::Deterministic { .. }) => true,
            (a, b) => a.sequence() == b.sequence(),
        }
    }

    /// The sequence that it compares with, one name for those that generators share: the first
    /// dimension of Halton's, of Sobol's and of the lattice is van der Corput's in base 2.
    fn sequence(self) -> Self {
        use Generator::{Halton, Hammersley, Lattice, PlainSobol, Sobol};
        match self {
            Self::Dimension { generator: PlainSobol, dimension }
            | Self::Joint { dimension, .. } => Self::Dimension { generator: Sobol, dimension },
            Self::Dimension { generator: Hammersley, dimension } if dimension > 0 => {
                Self::Dimension { generator: Halton, dimension: dimension - 1 }.sequence()
            }
            Self::Dimension { generator: Halton | Lattice, dimension: 0 } => {
                Self::Dimension { generator: Sobol, dimension: 0 }
            }
            Self::Draw { source, draw, .. } => {
                Self::Draw { generator: Generator::Bernoulli, source, draw }
            }
            Self::Selection { source, number, .. } => {
                Self::Draw { generator: Generator::Bernoulli, source, draw: number.into() }
            }
            other => other,
        }
    }

    /// The same selection, whose sums have this law.
    pub fn with_law(self, law: SelectionLaw) -> Self {
        match self {
            Self::Selection { source, number, .. } => Self::Selection { source, number, law },
            other => other,
        }
    }

    /// Wire form.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        match self {
            Self::Dimension { generator, dimension } => {
                bytes[1] = generator as u8;
                bytes[8..12].copy_from_slice(&dimension.to_le_bytes());
            }
            Self::Draw { generator, source, draw } => {
                bytes[..2].copy_from_slice(&[1, generator as u8]);
                bytes[8..24].copy_from_slice(&source.to_le_bytes());
                bytes[24..].copy_from_slice(&draw.to_le_bytes());
            }
            Self::Joint { source, first, factor, dimension } => {
                bytes[..2].copy_from_slice(&[2, Generator::Joint as u8]);
                bytes[4..8].copy_from_slice(&factor.to_le_bytes());
                bytes[8..24].copy_from_slice(&source.to_le_bytes());
                bytes[24..28].copy_from_slice(&first.to_le_bytes());
                bytes[28..].copy_from_slice(&dimension.to_le_bytes());
            }
            Self::Deterministic { generator, factors, factor } => {
                bytes[..2].copy_from_slice(&[3, generator as u8]);
                bytes[8..12].copy_from_slice(&factors.to_le_bytes());
                bytes[12..16].copy_from_slice(&factor.to_le_bytes());
            }
            Self::Selection { source, number, law: SelectionLaw(steps) } => {
                bytes[..2].copy_from_slice(&[4, Generator::Bernoulli as u8]);
                bytes[2..8].copy_from_slice(&steps[..6]);
                bytes[8..24].copy_from_slice(&source.to_le_bytes());
                bytes[24..28].copy_from_slice(&number.to_le_bytes());
                bytes[28..].copy_from_slice(&steps[6..]);
            }
        }
        bytes
    }

    /// Reads the wire form.
    ///
    /// # Errors
    /// [`StochasticError::Origin`] for bytes that [`Origin::to_bytes`] does not give.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, StochasticError> {
        let four = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let eight = |at: usize| u64::from(four(at)) | u64::from(four(at + 4)) << 32;
        let source = u128::from(eight(8)) | u128::from(eight(16)) << 64;
        let generator = Generator::ALL
            .into_iter()
            .find(|generator| *generator as u8 == bytes[1])
            .ok_or(StochasticError::Origin)?;
        let origin = match bytes[0] {
            0 => Self::Dimension { generator, dimension: four(8) },
            1 => Self::Draw { generator, source, draw: eight(24) },
            2 => Self::Joint { source, first: four(24), factor: four(4), dimension: four(28) },
            3 => Self::Deterministic { generator, factors: four(8), factor: four(12) },
            _ => {
                let steps: [u8; KNOTS] =
                    std::array::from_fn(|knot| bytes[if knot < 6 { 2 + knot } else { 22 + knot }]);
                Self::Selection { source, number: four(24), law: SelectionLaw(steps) }
            }
        };
        // One form only: padding that is set is refused.
        if origin.to_bytes() == bytes { Ok(origin) } else { Err(StochasticError::Origin) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimension { generator, dimension } => {
                write!(f, "{generator} dimension {dimension}")
            }
            Self::Draw { source, draw, .. } => {
                write!(f, "draw {draw} of source {:08x}", source >> 96)
            }
            Self::Selection { source, number, .. } => {
                write!(f, "selection {number} of source {:08x}", source >> 96)
            }
            Self::Joint { dimension, .. } => write!(f, "sobol dimension {dimension} (joint)"),
            Self::Deterministic { generator, factors, factor } => {
                write!(f, "factor {factor} of {factors} by {generator}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wire_form_returns(source: u128, draw: u64, a: u32, b: u32, steps: [u8; KNOTS], kind in 0usize..12) {
            let generator = Generator::ALL[kind];
            for origin in [
                Origin::Draw { generator, source, draw },
                Origin::Dimension { generator, dimension: a },
                Origin::Joint { source, first: a, factor: b, dimension: a ^ b },
                Origin::Deterministic { generator, factors: a, factor: b },
                Origin::Selection { source, number: a, law: SelectionLaw(steps) },
            ] {
                prop_assert_eq!(Origin::from_bytes(origin.to_bytes()).unwrap(), origin);
            }
        }

        #[test]
        fn reading_is_strict(bytes: [u8; 32]) {
            if let Ok(origin) = Origin::from_bytes(bytes) {
                prop_assert_eq!(origin.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn shared_sequences_are_correlated_under_every_name() {
        use Generator::{Halton, Hammersley, Lattice, Rotation, Sobol};
        let dimension = |generator, dimension| Origin::Dimension { generator, dimension };
        let joint = |dimension| Origin::Joint { source: 1, first: 0, factor: dimension, dimension };
        let factor =
            |factors, factor| Origin::Deterministic { generator: Rotation, factors, factor };
        let draw = Origin::Draw { generator: Generator::Bernoulli, source: 1, draw: 0 };
        for (a, b, correlated) in [
            (dimension(Sobol, 0), dimension(Halton, 0), true),
            (dimension(Hammersley, 1), dimension(Lattice, 0), true),
            (dimension(Hammersley, 0), dimension(Halton, 0), false),
            (dimension(Hammersley, 2), dimension(Halton, 1), true),
            (joint(3), dimension(Sobol, 3), true),
            (joint(3), dimension(Sobol, 4), false),
            (factor(2, 0), factor(2, 1), false),
            (factor(2, 0), factor(3, 1), true),
            (factor(2, 0), dimension(Sobol, 5), true),
            (factor(2, 0), draw, false),
            (draw, draw, true),
            (draw, Origin::Draw { generator: Generator::ExactWeight, source: 1, draw: 0 }, true),
            (draw, Origin::Draw { generator: Generator::ExactWeight, source: 2, draw: 0 }, false),
            (draw, Origin::Draw { generator: Generator::Bernoulli, source: 1, draw: 1 }, false),
        ] {
            assert_eq!(a.correlated_with(&b), correlated, "{a}, {b}");
            assert_eq!(b.correlated_with(&a), correlated, "{b}, {a}");
        }
    }
}
