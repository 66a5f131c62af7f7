//! Whole batches of streams from one dimension or draw.

use rand_core::Rng;
use rayon::prelude::*;

use super::deterministic::Deterministic;
use super::halton::{Halton, ramp};
use super::lattice::Lattice;
use super::lfsr::Lfsr;
use super::sobol::Sobol;
use super::{bernoulli, exact_weight, joint, points, row_rng};
use crate::{BitStreams, Generator, StochasticError};

/// Bits from which a second thread pays.
const PARALLEL_BITS: usize = 1 << 18;

/// A generator ready for rows.
pub(crate) enum Rows {
    Bernoulli,
    ExactWeight,
    Lfsr(Lfsr),
    Sobol(Sobol),
    /// Points that all rows share.
    Fixed(Vec<u32>),
    /// Points that rows turn around the circle.
    Turned(Vec<u32>),
    Halton(Halton),
    Deterministic(Deterministic),
    Joint(Sobol),
}

impl Rows {
    /// Those of a dimension of a generator.
    ///
    /// # Errors
    /// [`StochasticError::Dimension`], [`StochasticError::Structure`].
    pub fn of(
        generator: Generator,
        dimension: u32,
        factors: u32,
        length: usize,
    ) -> Result<Self, StochasticError> {
        Ok(match generator {
            Generator::Bernoulli => Self::Bernoulli,
            Generator::ExactWeight => Self::ExactWeight,
            Generator::Lfsr => Self::Lfsr(Lfsr::new(dimension, length)?),
            Generator::Sobol => Self::Sobol(Sobol::new(dimension)?),
            Generator::PlainSobol => Self::Fixed(Sobol::new(dimension)?.plain_points(length)),
            Generator::Halton => Self::Halton(Halton::new(dimension)?),
            Generator::Hammersley => match dimension.checked_sub(1) {
                None => Self::Turned(ramp(length)),
                Some(dimension) => Self::Halton(Halton::new(dimension)?),
            },
            Generator::Lattice => Self::Turned(Lattice::new(dimension, length)?.points(length)),
            Generator::ClockDivision | Generator::Rotation | Generator::CoprimeLengths => {
                Self::Deterministic(Deterministic::new(generator, dimension, factors, length)?)
            }
            Generator::Joint => Self::Joint(Sobol::new(dimension)?),
        })
    }

    /// Fills zeroed streams, one for each probability.
    pub fn fill(&self, streams: &mut BitStreams, probabilities: &[f64], state: u64, draw: u64) {
        let (length, words) = (streams.stream_length(), streams.words_per_stream());
        let last_word = u64::MAX >> ((64 - length % 64) % 64);
        each_row(streams.words_mut(), words, length, |element, row| {
            let p = probabilities[element];
            let mut rng = row_rng(state, draw, element as u64);
            match self {
                Self::Bernoulli => {
                    bernoulli::fill(row, p, &mut rng);
                    row[words - 1] &= last_word;
                }
                Self::ExactWeight => exact_weight::fill(row, length, p, &mut rng),
                Self::Lfsr(lfsr) => lfsr.fill(row, length, p, &mut rng),
                Self::Sobol(sobol) => sobol.fill(row, length, p, &mut rng),
                Self::Fixed(fixed) => points::compare(row, fixed, 0, points::threshold(p)),
                Self::Turned(turned) => {
                    points::compare(row, turned, rng.next_u64() as u32, points::threshold(p));
                }
                Self::Halton(halton) => {
                    let shifted = halton.points(length, &mut rng);
                    points::compare(row, &shifted, 0, points::threshold(p));
                }
                Self::Deterministic(factor) => factor.fill(row, length, p, &mut rng),
                Self::Joint(sobol) => {
                    joint::fill(row, length, std::iter::once(p), &[*sobol], &mut rng);
                }
            }
        });
    }
}

/// Fills rows of `words` words, by several threads where it pays.
pub(crate) fn each_row(
    all: &mut [u64],
    words: usize,
    bits_of_row: usize,
    fill: impl Fn(usize, &mut [u64]) + Sync,
) {
    // Even a pool of one thread costs a change of threads.
    if all.len() / words * bits_of_row < PARALLEL_BITS || rayon::current_num_threads() == 1 {
        all.chunks_exact_mut(words).enumerate().for_each(|(i, row)| fill(i, row));
    } else {
        all.par_chunks_exact_mut(words).enumerate().for_each(|(i, row)| fill(i, row));
    }
}
