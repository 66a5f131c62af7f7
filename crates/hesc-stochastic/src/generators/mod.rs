//! Where the bits come from. Each generator fills one packed row for one probability; the
//! [`Encoder`](crate::Encoder) hands out dimensions, draws and the random state of each row.

pub(crate) mod bernoulli;
pub(crate) mod deterministic;
pub(crate) mod dimensions;
pub(crate) mod exact_weight;
pub(crate) mod halton;
pub(crate) mod joint;
pub(crate) mod lattice;
pub(crate) mod lfsr;
pub(crate) mod points;
pub(crate) mod rows;
pub(crate) mod sobol;

use std::fmt;
use std::str::FromStr;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use deterministic::MAX_FACTORS;
pub use halton::HALTON_DIMENSIONS;
pub use lattice::LATTICE_DIMENSIONS;
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
    /// Comparison with a scrambled Sobol sequence, one dimension per factor.
    Sobol = 4,
    /// The Sobol sequence as it is: every stream of a dimension compares with the same points.
    /// For comparisons with the hardware literature; its errors are not random and have a mean.
    PlainSobol = 5,
    /// Comparison with a Halton sequence under random digital shifts; the first dimension is van
    /// der Corput's sequence.
    Halton = 6,
    /// A Hammersley set: the first dimension is `i / L`, the others are Halton's.
    Hammersley = 7,
    /// Comparison with a rank-1 lattice under a random shift.
    Lattice = 8,
    /// Deterministic exact products: factor `j` holds each bit for `n^j` bits, `n^k = L`.
    ClockDivision = 9,
    /// Deterministic exact products: factor `j` rotates by one bit after every `n^j` bits.
    Rotation = 10,
    /// Deterministic exact products: factors of coprime lengths, whose product is `L`, repeat.
    CoprimeLengths = 11,
    /// All factors of a product chosen together, so that every prefix of it has the right weight.
    /// Between streams of different calls as good as Sobol's.
    Joint = 12,
}

impl Generator {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Bernoulli,
        Self::ExactWeight,
        Self::Lfsr,
        Self::Sobol,
        Self::PlainSobol,
        Self::Halton,
        Self::Hammersley,
        Self::Lattice,
        Self::ClockDivision,
        Self::Rotation,
        Self::CoprimeLengths,
        Self::Joint,
    ];

    /// Names of all, as errors list them.
    const NAMES: &'static str = "bernoulli, exact_weight, lfsr, sobol, plain_sobol, halton, \
         hammersley, lattice, clock_division, rotation, coprime_lengths, joint";

    /// Whether products are exact and the streams have a fixed number of factors.
    pub fn is_deterministic(self) -> bool {
        matches!(self, Self::ClockDivision | Self::Rotation | Self::CoprimeLengths)
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bernoulli => "bernoulli",
            Self::ExactWeight => "exact_weight",
            Self::Lfsr => "lfsr",
            Self::Sobol => "sobol",
            Self::PlainSobol => "plain_sobol",
            Self::Halton => "halton",
            Self::Hammersley => "hammersley",
            Self::Lattice => "lattice",
            Self::ClockDivision => "clock_division",
            Self::Rotation => "rotation",
            Self::CoprimeLengths => "coprime_lengths",
            Self::Joint => "joint",
        })
    }
}

impl FromStr for Generator {
    type Err = StochasticError;

    fn from_str(name: &str) -> Result<Self, StochasticError> {
        Self::ALL.into_iter().find(|generator| generator.to_string() == name).ok_or_else(|| {
            StochasticError::Name { what: "generator", name: name.to_owned(), known: Self::NAMES }
        })
    }
}

/// What random numbers are drawn for. Equal random states give each purpose numbers of its own, so
/// that the streams of two generators, or a selection and what it selects from, are independent
/// whatever their states.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Streams of a generator.
    Streams(Generator),
    /// Which of several streams passes.
    Selection,
    /// New orders of bits.
    Shuffle,
}

impl Purpose {
    /// A number for each: generators have theirs.
    fn number(self) -> u64 {
        match self {
            Self::Streams(generator) => generator as u64,
            Self::Selection => 64,
            Self::Shuffle => 65,
        }
    }

    /// The name of its n-th draw among all that use one random state.
    pub fn draw(self, number: u32) -> u64 {
        self.number() << 32 | u64::from(number)
    }

    /// A public name for its draws under a random state: equal ones give equal streams.
    pub fn source(self, random_state: u64) -> u128 {
        let mut rng = row_rng(random_state, u64::MAX, self.number());
        u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())
    }
}

/// Random numbers for one row: a stream of its own for each (state, draw, element). Draws are named
/// by [`Purpose::draw`].
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
