use crate::bit_streams::check_length;
use crate::generators::dimensions::{any_dimension, good_dimension};
use crate::generators::rows::{Rows, each_row};
use crate::generators::sobol::Sobol;
use crate::generators::{Purpose, joint, row_rng};
use crate::{BitStreams, Generator, Origin, Representation, SOBOL_DIMENSIONS, StochasticError};

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

    /// The same draws to come, by another generator.
    #[must_use]
    pub fn with_generator(&self, generator: Generator) -> Self {
        Self { config: EncoderConfig { generator, ..self.config }, next: self.next }
    }

    /// Leaves this many dimensions or draws to somebody else.
    pub fn skip(&mut self, draws: u32) {
        // A call at the end of the range is refused.
        self.next = self.next.saturating_add(draws);
    }

    /// Where the streams of the next calls will come from, one origin for each.
    ///
    /// # Errors
    /// As [`Encoder::encode`], when there are not so many.
    pub fn next_origins(&self, calls: u32) -> Result<Vec<Origin>, StochasticError> {
        (0..calls)
            .map(|call| {
                let slot = self.next.saturating_add(call);
                let (first, factor) = if self.config.generator == Generator::Joint {
                    (self.next, call)
                } else {
                    (slot, 0)
                };
                Ok(self.rows(slot, first, factor)?.1)
            })
            .collect()
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
        let slot = self.next;
        let (rows, origin) = self.rows(slot, slot, 0)?;
        let next = self.after(1)?;
        let mut streams = BitStreams::zeros(values.len(), length);
        rows.fill(
            &mut streams,
            &probabilities,
            random_state,
            Purpose::Streams(generator).draw(slot),
        );
        self.next = next;
        Ok((streams, origin))
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
        let (dimensions, origins): (Vec<Sobol>, Vec<Origin>) = (0..factors as u32)
            .map(|factor| match self.rows(first.saturating_add(factor), first, factor)? {
                (Rows::Joint(sobol), origin) => Ok((sobol, origin)),
                _ => Err(self.used_up(first)),
            })
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
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
        Ok(origins
            .into_iter()
            .enumerate()
            .map(|(factor, origin)| {
                let mut streams = BitStreams::zeros(products, length);
                for (row, rows) in streams
                    .words_mut()
                    .chunks_exact_mut(words)
                    .zip(together.chunks_exact(factors * words))
                {
                    row.copy_from_slice(&rows[factor * words..][..words]);
                }
                (streams, origin)
            })
            .collect())
    }

    /// What fills the rows of the `slot`-th call, the `factor`-th of a product whose first is at
    /// `first`, and its identity: the dimension alone where streams of one dimension are correlated
    /// whatever their scramble, seed and draw elsewhere.
    fn rows(&self, slot: u32, first: u32, factor: u32) -> Result<(Rows, Origin), StochasticError> {
        let EncoderConfig { generator, stream_length: length, factors, random_state, .. } =
            self.config;
        let source = || Purpose::Streams(self.config.generator).source(random_state);
        let random = |generator| Origin::Draw { generator, source: source(), draw: slot.into() };
        Ok(match generator {
            Generator::Bernoulli => (Rows::Bernoulli, random(generator)),
            Generator::ExactWeight => (Rows::ExactWeight, random(generator)),
            Generator::Sobol => match good_dimension(slot, length) {
                Some(dimension) => (
                    Rows::Sobol(Sobol::new(dimension)?),
                    Origin::Dimension { generator, dimension },
                ),
                // No dimension is left that goes well with all before it.
                None => (Rows::ExactWeight, random(Generator::ExactWeight)),
            },
            Generator::Joint => {
                let dimension = any_dimension(slot, length).ok_or_else(|| self.used_up(slot))?;
                (
                    Rows::Joint(Sobol::new(dimension)?),
                    Origin::Joint { source: source(), first, factor, dimension },
                )
            }
            Generator::ClockDivision | Generator::Rotation | Generator::CoprimeLengths => (
                Rows::of(generator, slot, factors, length)?,
                Origin::Deterministic { generator, factors, factor: slot },
            ),
            _ => (
                Rows::of(generator, slot, factors, length)?,
                Origin::Dimension { generator, dimension: slot },
            ),
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
}
