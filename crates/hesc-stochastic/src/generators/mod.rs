//! Where the bits come from. Each generator fills one packed row for one probability; the
//! [`Encoder`](crate::Encoder) hands out dimensions, draws and the random state of each row.

pub(crate) mod bernoulli;
pub(crate) mod exact_weight;
pub(crate) mod lfsr;
pub(crate) mod sobol;

use std::fmt;
use std::str::FromStr;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use sobol::{SOBOL_DIMENSIONS, sobol_points};

use crate::StochasticError;

/// How the bits of a stream are drawn. None is a cryptographic generator, and none can be passed
/// where one is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Generator {
    /// Independent bits: error `sqrt(p (1 - p) / L)`. The encoder of `koseki2022hesc`.
    Bernoulli = 1,
    /// A random arrangement of exactly `p L` ones, rounded up or down at random so that the mean
    /// is exact.
    ExactWeight = 2,
    /// Comparison with the states of a linear feedback shift register of maximal period: the
    /// circuit of the hardware literature. A dimension is a feedback polynomial.
    Lfsr = 3,
    /// Comparison with a scrambled Sobol sequence, one dimension per factor: least error.
    Sobol = 4,
}

impl Generator {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bernoulli, Self::ExactWeight, Self::Lfsr, Self::Sobol];

    /// Whether draws are dimensions of a structured sequence, of which there are few.
    pub fn is_structured(self) -> bool {
        matches!(self, Self::Lfsr | Self::Sobol)
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bernoulli => "bernoulli",
            Self::ExactWeight => "exact_weight",
            Self::Lfsr => "lfsr",
            Self::Sobol => "sobol",
        })
    }
}

impl FromStr for Generator {
    type Err = StochasticError;

    fn from_str(name: &str) -> Result<Self, StochasticError> {
        Self::ALL.into_iter().find(|generator| generator.to_string() == name).ok_or_else(|| {
            StochasticError::Name {
                what: "generator",
                name: name.to_owned(),
                known: "bernoulli, exact_weight, lfsr, sobol",
            }
        })
    }
}

/// Random numbers for one row: a stream of its own for each (state, draw, element).
pub(crate) fn row_rng(random_state: u64, draw: u64, element: u64) -> Xoshiro256PlusPlus {
    // SplitMix64's finaliser after each word, so that neighbouring rows share nothing.
    let mix = |state: u64, word: u64| {
        let mut z = (state ^ word).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(mix(0, random_state), draw), element))
}

/// A uniform number in [0, 1).
pub(crate) fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (-53f64).exp2()
}

/// `floor(x + u)`: `x` rounded to an integer neighbour with the right mean.
pub(crate) fn round_at_random(x: f64, rng: &mut impl Rng) -> u64 {
    (x + uniform(rng)) as u64
}
