use rand_core::Rng;
use rayon::prelude::*;

use crate::bit_streams::check_length;
use crate::generators::{bernoulli, exact_weight, lfsr::Lfsr, row_rng, sobol::Sobol};
use crate::{BitStreams, Generator, Origin, Representation, StochasticError};

/// Bits from which a second thread pays.
const PARALLEL_BITS: usize = 1 << 18;

/// What an [`Encoder`] makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncoderConfig {
    /// Where the bits come from.
    pub generator: Generator,
    /// What a share of ones means.
    pub representation: Representation,
    /// Bits of a stream.
    pub stream_length: usize,
    /// Dimension (or draw) of the first call. Encoders whose streams are to be multiplied start
    /// at different ones.
    pub first_dimension: u32,
    /// Seed. Equal configurations give equal streams. Not a cryptographic secret.
    pub random_state: u64,
}

/// Turns numbers into streams. Each call takes a new dimension or draw, so that the streams of
/// different calls may be multiplied; those of one call may not.
#[derive(Debug, Clone)]
pub struct Encoder {
    config: EncoderConfig,
    next: u32,
}

/// A generator ready for rows.
enum Rows {
    Bernoulli,
    ExactWeight,
    Lfsr(Lfsr),
    Sobol(Sobol),
}

impl Encoder {
    /// An encoder.
    pub fn new(config: EncoderConfig) -> Self {
        Self { config, next: config.first_dimension }
    }

    /// What it makes.
    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// The dimension or draw of the next call.
    pub fn next_dimension(&self) -> u32 {
        self.next
    }

    /// One stream for each value, and the identity of the draw.
    ///
    /// Cost: less than a nanosecond a bit on one thread for streams of 256 bits and more.
    ///
    /// # Errors
    /// [`StochasticError::OutOfRange`], [`StochasticError::Empty`],
    /// [`StochasticError::StreamLength`], and [`StochasticError::Dimension`] when all independent
    /// dimensions are used.
    pub fn encode(&mut self, values: &[f64]) -> Result<(BitStreams, Origin), StochasticError> {
        let EncoderConfig { generator, stream_length: length, random_state, .. } = self.config;
        check_length(length)?;
        let probabilities = self.config.representation.probabilities(values)?;
        let dimension = self.next;
        let rows = match generator {
            Generator::Bernoulli => Rows::Bernoulli,
            Generator::ExactWeight => Rows::ExactWeight,
            Generator::Lfsr => Rows::Lfsr(Lfsr::new(dimension, length)?),
            Generator::Sobol => Rows::Sobol(Sobol::new(dimension)?),
        };
        let next = dimension.checked_add(1).ok_or(StochasticError::Dimension {
            generator,
            dimension,
            available: u32::MAX,
        })?;
        let mut streams = BitStreams::zeros(values.len(), length);
        let words = streams.words_per_stream();
        let last_word = u64::MAX >> ((64 - length % 64) % 64);
        let fill = |(element, (row, &p)): (usize, (&mut [u64], &f64))| {
            let mut rng = row_rng(random_state, u64::from(dimension), element as u64);
            match rows {
                Rows::Bernoulli => {
                    bernoulli::fill(row, p, &mut rng);
                    row[words - 1] &= last_word;
                }
                Rows::ExactWeight => exact_weight::fill(row, length, p, &mut rng),
                Rows::Lfsr(lfsr) => lfsr.fill(row, length, p, &mut rng),
                Rows::Sobol(sobol) => sobol.fill(row, length, p, &mut rng),
            }
        };
        let rows_and_values = streams.words_mut();
        // Even a pool of one thread costs a change of threads.
        if values.len() * length < PARALLEL_BITS || rayon::current_num_threads() == 1 {
            rows_and_values.chunks_exact_mut(words).zip(&probabilities).enumerate().for_each(fill);
        } else {
            rows_and_values
                .par_chunks_exact_mut(words)
                .zip(&probabilities)
                .enumerate()
                .for_each(fill);
        }
        self.next = next;
        Ok((streams, origin(&self.config, dimension)))
    }
}

/// The identity of a call: the dimension alone where streams of one dimension are correlated
/// whatever their scramble, seed and draw elsewhere.
fn origin(config: &EncoderConfig, dimension: u32) -> Origin {
    let generator = config.generator;
    if generator.is_structured() {
        Origin::Dimension { generator, dimension }
    } else {
        Origin::Draw { source: source(config.random_state), draw: u64::from(dimension) }
    }
}

/// A public name for a random state: equal states give equal streams, so they share it.
pub(crate) fn source(random_state: u64) -> u128 {
    let mut rng = row_rng(random_state, u64::MAX, u64::MAX);
    u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())
}
