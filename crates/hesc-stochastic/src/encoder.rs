use rand_core::Rng;
use rayon::prelude::*;

use crate::bit_streams::check_length;
use crate::generators::deterministic::Deterministic;
use crate::generators::halton::{Halton, ramp};
use crate::generators::lattice::Lattice;
use crate::generators::lfsr::Lfsr;
use crate::generators::sobol::Sobol;
use crate::generators::{Purpose, bernoulli, exact_weight, joint, points, row_rng};
use crate::{
    BitStreams, ErrorLaw, Generator, Origin, Representation, SOBOL_DIMENSIONS, StochasticError,
};

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
    /// Factors of a product of the deterministic generators, which have as many dimensions. The
    /// others ignore it.
    pub factors: u32,
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
    /// Points that all rows share.
    Fixed(Vec<u32>),
    /// Points that rows turn around the circle.
    Turned(Vec<u32>),
    Halton(Halton),
    Deterministic(Deterministic),
    Joint(Sobol),
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

    /// Leaves this many dimensions or draws to somebody else.
    pub fn skip(&mut self, draws: u32) {
        // A call at the end of the range is refused.
        self.next = self.next.saturating_add(draws);
    }

    /// The law of the errors of its streams.
    pub fn law(&self) -> ErrorLaw {
        ErrorLaw::of(&self.origin(self.next, self.next), self.config.stream_length)
    }

    /// One stream for each value, and the identity of the draw.
    ///
    /// Cost: less than a nanosecond a bit on one thread for Bernoulli, exact-weight, Sobol and
    /// lattice streams of 256 bits and more, one to three for Halton, LFSR and deterministic ones,
    /// about ten for joint ones.
    ///
    /// # Errors
    /// [`StochasticError::OutOfRange`], [`StochasticError::Empty`],
    /// [`StochasticError::StreamLength`], [`StochasticError::Structure`] for lengths that have no
    /// deterministic product, and [`StochasticError::Dimension`] when all independent dimensions
    /// are used.
    pub fn encode(&mut self, values: &[f64]) -> Result<(BitStreams, Origin), StochasticError> {
        let EncoderConfig { generator, stream_length: length, random_state, .. } = self.config;
        check_length(length)?;
        let probabilities = self.config.representation.probabilities(values)?;
        let dimension = self.next;
        let rows = self.rows(dimension)?;
        let next = self.after(1)?;
        let mut streams = BitStreams::zeros(values.len(), length);
        let words = streams.words_per_stream();
        let last_word = u64::MAX >> ((64 - length % 64) % 64);
        let draw = Purpose::Streams(generator).draw(dimension);
        let fill = |element: usize, row: &mut [u64]| {
            let p = probabilities[element];
            let mut rng = row_rng(random_state, draw, element as u64);
            match &rows {
                Rows::Bernoulli => {
                    bernoulli::fill(row, p, &mut rng);
                    row[words - 1] &= last_word;
                }
                Rows::ExactWeight => exact_weight::fill(row, length, p, &mut rng),
                Rows::Lfsr(lfsr) => lfsr.fill(row, length, p, &mut rng),
                Rows::Sobol(sobol) => sobol.fill(row, length, p, &mut rng),
                Rows::Fixed(fixed) => points::compare(row, fixed, 0, points::threshold(p)),
                Rows::Turned(turned) => {
                    points::compare(row, turned, rng.next_u64() as u32, points::threshold(p));
                }
                Rows::Halton(halton) => {
                    let shifted = halton.points(length, &mut rng);
                    points::compare(row, &shifted, 0, points::threshold(p));
                }
                Rows::Deterministic(factor) => factor.fill(row, length, p, &mut rng),
                Rows::Joint(sobol) => {
                    joint::fill(row, length, std::iter::once(p), &[*sobol], &mut rng);
                }
            }
        };
        each_row(streams.words_mut(), words, length, fill);
        self.next = next;
        Ok((streams, self.origin(dimension, dimension)))
    }

    /// The factors of products, `values` holding all first factors, then all second ones, and so
    /// on. The joint generator chooses the streams of each product together; for the others this is
    /// a call of [`Encoder::encode`] for each factor.
    ///
    /// # Errors
    /// As [`Encoder::encode`]; [`StochasticError::Empty`] if the values are not the same number
    /// for each factor.
    pub fn encode_factors(
        &mut self,
        values: &[f64],
        factors: usize,
    ) -> Result<Vec<(BitStreams, Origin)>, StochasticError> {
        if factors == 0 || values.is_empty() || !values.len().is_multiple_of(factors) {
            return Err(StochasticError::Empty);
        }
        let products = values.len() / factors;
        let EncoderConfig {
            generator, representation, stream_length: length, random_state, ..
        } = self.config;
        if generator != Generator::Joint {
            let mut trial = self.clone();
            let encoded = values.chunks_exact(products).map(|of_factor| trial.encode(of_factor));
            let encoded = encoded.collect::<Result<_, _>>()?;
            *self = trial;
            return Ok(encoded);
        }
        check_length(length)?;
        if representation != Representation::InvertedBipolar {
            // A conjunction's prefixes need another construction; independent streams serve.
            return Err(StochasticError::JointUnipolar);
        }
        let probabilities = representation.probabilities(values)?;
        let first = self.next;
        let dimensions = (first..)
            .take(factors)
            .map(Sobol::new)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| self.used_up(first.saturating_add(factors as u32 - 1)))?;
        let next = self.after(factors as u32)?;
        let words = length.div_ceil(64);
        let mut together = vec![0; products * factors * words];
        let draw = Purpose::Streams(generator).draw(first);
        each_row(&mut together, factors * words, factors * length, |product, rows| {
            let mut rng = row_rng(random_state, draw, product as u64);
            let of_product = probabilities[product..].iter().step_by(products).copied();
            joint::fill(rows, length, of_product, &dimensions, &mut rng);
        });
        self.next = next;
        Ok((0..factors)
            .map(|factor| {
                let mut streams = BitStreams::zeros(products, length);
                for (row, rows) in streams
                    .words_mut()
                    .chunks_exact_mut(words)
                    .zip(together.chunks_exact(factors * words))
                {
                    row.copy_from_slice(&rows[factor * words..][..words]);
                }
                (streams, self.origin(first + factor as u32, first))
            })
            .collect())
    }

    /// What fills the rows of a dimension.
    fn rows(&self, dimension: u32) -> Result<Rows, StochasticError> {
        let EncoderConfig { generator, stream_length: length, factors, .. } = self.config;
        Ok(match generator {
            Generator::Bernoulli => Rows::Bernoulli,
            Generator::ExactWeight => Rows::ExactWeight,
            Generator::Lfsr => Rows::Lfsr(Lfsr::new(dimension, length)?),
            Generator::Sobol => Rows::Sobol(Sobol::new(dimension)?),
            Generator::PlainSobol => Rows::Fixed(Sobol::new(dimension)?.plain_points(length)),
            Generator::Halton => Rows::Halton(Halton::new(dimension)?),
            Generator::Hammersley => match dimension.checked_sub(1) {
                None => Rows::Turned(ramp(length)),
                Some(dimension) => Rows::Halton(Halton::new(dimension)?),
            },
            Generator::Lattice => Rows::Turned(Lattice::new(dimension, length)?.points(length)),
            Generator::ClockDivision | Generator::Rotation | Generator::CoprimeLengths => {
                Rows::Deterministic(Deterministic::new(generator, dimension, factors, length)?)
            }
            Generator::Joint => {
                Rows::Joint(Sobol::new(dimension).map_err(|_| self.used_up(dimension))?)
            }
        })
    }

    fn used_up(&self, dimension: u32) -> StochasticError {
        let generator = self.config.generator;
        StochasticError::Dimension { generator, dimension, available: SOBOL_DIMENSIONS }
    }

    /// The dimension after so many more.
    fn after(&self, dimensions: u32) -> Result<u32, StochasticError> {
        self.next.checked_add(dimensions).ok_or(StochasticError::Dimension {
            generator: self.config.generator,
            dimension: self.next,
            available: u32::MAX,
        })
    }

    /// The identity of a call: the dimension alone where streams of one dimension are correlated
    /// whatever their scramble, seed and draw elsewhere.
    fn origin(&self, dimension: u32, first: u32) -> Origin {
        let EncoderConfig { generator, factors, random_state, .. } = self.config;
        let source = || Purpose::Streams(generator).source(random_state);
        match generator {
            Generator::Bernoulli | Generator::ExactWeight => {
                Origin::Draw { generator, source: source(), draw: u64::from(dimension) }
            }
            Generator::Joint => Origin::Joint { source: source(), first, dimension },
            _ if generator.is_deterministic() => {
                Origin::Deterministic { generator, factors, factor: dimension }
            }
            _ => Origin::Dimension { generator, dimension },
        }
    }
}

/// Fills rows of `words` words, by several threads where it pays.
fn each_row(
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
