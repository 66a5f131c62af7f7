use std::fmt;

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
        /// The encoder's tag.
        source: u128,
        /// The number of the draw.
        draw: u64,
    },
}

impl Origin {
    /// Whether a product of streams of the two is wrong.
    pub fn correlated_with(&self, other: &Self) -> bool {
        self == other
    }

    /// Wire form.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        match self {
            Self::Dimension { generator, dimension } => {
                bytes[1] = generator as u8;
                bytes[8..12].copy_from_slice(&dimension.to_le_bytes());
            }
            Self::Draw { source, draw } => {
                bytes[0] = 1;
                bytes[8..24].copy_from_slice(&source.to_le_bytes());
                bytes[24..].copy_from_slice(&draw.to_le_bytes());
            }
        }
        bytes
    }

    /// Reads the wire form.
    ///
    /// # Errors
    /// [`StochasticError::Origin`] for bytes that [`Origin::to_bytes`] does not give.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, StochasticError> {
        let [.., a, b, c, d, e, f, g, h] = bytes;
        let origin = if bytes[0] == 1 {
            let mut source = [0; 16];
            source.copy_from_slice(&bytes[8..24]);
            Self::Draw {
                source: u128::from_le_bytes(source),
                draw: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            }
        } else {
            let generator = Generator::ALL
                .into_iter()
                .find(|generator| *generator as u8 == bytes[1])
                .ok_or(StochasticError::Origin)?;
            let dimension = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
            Self::Dimension { generator, dimension }
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
            Self::Draw { source, draw } => write!(f, "draw {draw} of source {:08x}", source >> 96),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wire_form_returns(source: u128, draw: u64, dimension: u32, kind in 0usize..4) {
            let generator = Generator::ALL[kind];
            for origin in
                [Origin::Draw { source, draw }, Origin::Dimension { generator, dimension }]
            {
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
}
