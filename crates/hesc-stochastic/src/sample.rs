//! Products of random values of given dimensions, encoded to see what they err.

use std::ops::Range;

use crate::bands::BANDS;
use crate::generators::dimensions::any_dimension;
use crate::generators::rows::each_row;
use crate::generators::sobol::Sobol;
use crate::generators::{joint, row_rng, uniform};
use crate::source::Source;
use crate::{BitStreams, Representation};

/// Bits of each factor that are encoded, and how many streams at least and at most.
const BITS: usize = 1 << 19;
const STREAMS: (usize, usize) = (32, 1024);

/// Most factors that are measured, and positions in a jointly encoded product; products of more
/// factors are as good as random arrangements.
const MOST_FACTORS: usize = 16;

/// How far from zero is next to it.
const NEXT: f64 = 0.1;

/// Streams of zeros whose products tell what factors agree in, how many words these products may have,
/// and what is more than laws of products make up for, in units of random arrangements' mean square.
const HALVES: usize = 64;
const MOST_WORDS: f64 = 8e6;
const NOTICED: f64 = 3.0;

/// The random state of all measurements: laws are the same in every process.
pub(crate) const STATE: u64 = 0x6865_7363;

/// How many streams of so many bits are measured.
pub(crate) fn samples(encoded: usize) -> usize {
    (BITS / encoded).clamp(STREAMS.0, STREAMS.1)
}

/// How many of them, of so many bits.
pub(crate) fn zeros(encoded: usize) -> usize {
    samples(encoded).min(HALVES)
}

/// Products of random values.
pub(crate) struct Sample {
    pub values: Vec<Vec<f64>>,
    products: BitStreams,
    representation: Representation,
}

impl Sample {
    /// `None` where there is nothing to measure: too many factors, or origins that no encoder makes.
    pub fn new(sources: &[Source], representation: Representation, encoded: usize) -> Option<Self> {
        let values = random_values(samples(encoded), sources.len(), representation);
        Self::of_values(sources, representation, encoded, values)
    }

    /// As [`Self::new`], for products whose factors are near the ends of the range, where random ones
    /// seldom are.
    pub fn near_the_ends(
        sources: &[Source],
        representation: Representation,
        encoded: usize,
    ) -> Option<Self> {
        let values = extreme_values(samples(encoded), sources.len(), representation);
        Self::of_values(sources, representation, encoded, values)
    }

    /// As [`Self::new`], for products whose factors are next to zero, or to a half in unipolar form, so that
    /// random ones are seldom all of them.
    pub fn next_to_zero(
        sources: &[Source],
        representation: Representation,
        encoded: usize,
    ) -> Option<Self> {
        let small = |row: usize| {
            let mut rng = row_rng(STATE, u64::MAX - MOST_FACTORS as u64 - 3, row as u64);
            let middle = f64::midpoint(1.0, representation.lowest());
            let value = |_| middle + NEXT * (1.0 - middle) * (2.0 * uniform(&mut rng) - 1.0);
            (0..sources.len()).map(value).collect()
        };
        let values = (0..samples(encoded)).map(small).collect();
        Self::of_values(sources, representation, encoded, values)
    }

    fn of_values(
        sources: &[Source],
        representation: Representation,
        encoded: usize,
        values: Vec<Vec<f64>>,
    ) -> Option<Self> {
        if sources.len() > MOST_FACTORS {
            return None;
        }
        let mut products: Option<BitStreams> = None;
        for k in 0..sources.len() {
            let streams = streams(sources, k, &values, representation, encoded)?;
            products = Some(match products {
                None => streams,
                Some(products) => match representation {
                    Representation::Unipolar => products.and(&streams).ok()?,
                    Representation::InvertedBipolar => products.xor(&streams).ok()?,
                },
            });
        }
        Some(Self { values, products: products?, representation })
    }

    /// The error of the mean over these positions, product by product.
    pub fn errors(&self, part: &[Range<usize>]) -> impl Iterator<Item = f64> {
        let length: usize = part.iter().map(Range::len).sum();
        self.values.iter().enumerate().map(move |(row, values)| {
            let ones: u64 = part.iter().map(|run| ones(self.products.row(row), run)).sum();
            let exact: f64 = values.iter().product();
            self.representation.value(ones as f64 / length as f64) - exact
        })
    }

    /// The squared error of each product, its mean over all pieces of `length` positions.
    pub fn squares(&self, length: usize) -> Vec<f64> {
        let pieces = self.products.stream_length() / length;
        let mut squares = vec![0.0; self.values.len()];
        for piece in 0..pieces {
            let run = piece * length..(piece + 1) * length;
            let errors = self.errors(std::slice::from_ref(&run));
            squares.iter_mut().zip(errors).for_each(|(sum, e)| *sum += e * e / pieces as f64);
        }
        squares
    }

    /// The squared error of the mean over these positions, product by product.
    pub fn squared_errors(&self, part: &[Range<usize>]) -> impl Iterator<Item = f64> {
        self.errors(part).map(|error| error * error)
    }

    /// The variance of a bit of each product.
    pub fn bit_variances(&self) -> Vec<f64> {
        let of_product = |values: &Vec<f64>| {
            let product: f64 = values.iter().product();
            self.representation.variance_of_value(product)
        };
        self.values.iter().map(of_product).collect()
    }
}

/// Streams of the `k`-th factor of products of these values. None of origins that no encoder makes.
fn streams(
    sources: &[Source],
    k: usize,
    values: &[Vec<f64>],
    representation: Representation,
    encoded: usize,
) -> Option<BitStreams> {
    if let Source::Joint { .. } = sources[k] {
        return joint_streams(sources, k, values, representation, encoded);
    }
    let of_factor: Vec<f64> = values.iter().map(|values| values[k]).collect();
    let mut streams = BitStreams::zeros(values.len(), encoded);
    let probabilities = representation.probabilities(&of_factor).ok()?;
    sources[k].rows(encoded)?.fill(&mut streams, &probabilities, STATE, k as u64);
    Some(streams)
}

/// The most that products of two and more of some factors err where these are zero in inverted bipolar
/// form and all others are one: the mean square over parts of the streams, each some runs of positions.
/// Streams of zeros are all first digit of their sequence, and what first digits agree in no mean over
/// random values shows. Unipolar streams have it at one half each, where it is as much of their product.
/// Nothing where it is no more than random arrangements have.
pub(crate) fn agreement(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    parts: &[Vec<Range<usize>>],
) -> f64 {
    let count = zeros(encoded);
    let zeros = vec![vec![0.0; sources.len()]; count];
    let all: Option<Vec<BitStreams>> = (0..sources.len())
        .map(|k| streams(sources, k, &zeros, Representation::InvertedBipolar, encoded))
        .collect();
    let Some(all) = all else { return 0.0 };
    let of_part = |part: &Vec<Range<usize>>| part.iter().map(Range::len).sum::<usize>();
    let length = parts.iter().map(of_part).sum::<usize>() as f64 / parts.len() as f64;
    let square = |product: &BitStreams| {
        let of_row = |(row, part): (usize, &Vec<Range<usize>>)| {
            let ones: u64 = part.iter().map(|run| ones(product.row(row), run)).sum();
            (1.0 - 2.0 * ones as f64 / of_part(part) as f64).powi(2)
        };
        let rows = (0..count).flat_map(|row| parts.iter().map(move |part| (row, part)));
        rows.map(of_row).sum::<f64>() / (count * parts.len()) as f64
    };
    // All products of few factors; of many, those of as few as there is time for.
    let words = count * encoded.div_ceil(64);
    let within = |most: &usize| products_of(all.len(), *most) * words as f64 <= MOST_WORDS;
    let most = (2..=all.len()).take_while(within).last().unwrap_or(0);
    let mut worst = 0.0f64;
    let mut left = vec![(0, 0, None::<BitStreams>)];
    while let Some((factors, next, product)) = left.pop() {
        let found = product.as_ref().filter(|_| factors >= 2).map_or(0.0, square);
        if found > NOTICED / length {
            worst = worst.max(match representation {
                Representation::Unipolar => found * 0.25f64.powi(factors),
                Representation::InvertedBipolar => found,
            });
        }
        if (factors as usize) < most {
            for (k, streams) in all.iter().enumerate().skip(next) {
                let with = match &product {
                    None => Some(streams.clone()),
                    Some(product) => product.xor(streams).ok(),
                };
                left.push((factors + 1, k + 1, with));
            }
        }
    }
    worst
}

/// How many products of at most `most` of `factors` factors there are.
fn products_of(factors: usize, most: usize) -> f64 {
    let (mut of_size, mut all) = (1.0, 0.0);
    for size in 1..=most {
        of_size *= (factors + 1 - size) as f64 / size as f64;
        all += of_size;
    }
    all
}

/// Every other row has factors that are spread evenly, the rows between products that are.
fn random_values(count: usize, factors: usize, representation: Representation) -> Vec<Vec<f64>> {
    (0..count)
        .map(|row| {
            let mut rng = row_rng(STATE, u64::MAX, row as u64);
            let root = if row % 2 == 0 { 1.0 } else { 1.0 / factors as f64 };
            let value = |_| {
                let (size, sign) = (uniform(&mut rng).powf(root), uniform(&mut rng));
                let negative = representation == Representation::InvertedBipolar && sign < 0.5;
                if negative { -size } else { size }
            };
            (0..factors).map(value).collect()
        })
        .collect()
}

/// Rows whose factors' geometric mean is as often within a half of the way to an end of the range as
/// within a quarter, an eighth and so on; their logarithms are spread evenly.
fn extreme_values(count: usize, factors: usize, representation: Representation) -> Vec<Vec<f64>> {
    (0..count)
        .map(|row| {
            let mut rng = row_rng(STATE, u64::MAX - MOST_FACTORS as u64 - 2, row as u64);
            let distance = (-f64::from(BANDS as u32) * uniform(&mut rng)).exp2();
            let mean = match representation {
                Representation::InvertedBipolar => 1.0 - distance,
                Representation::Unipolar if uniform(&mut rng) < 0.5 => distance / 2.0,
                Representation::Unipolar => 1.0 - distance / 2.0,
            };
            let shares: Vec<f64> = (0..factors).map(|_| -uniform(&mut rng).ln()).collect();
            let whole = shares.iter().sum::<f64>() / factors as f64;
            let value = |share: &f64| {
                let size = mean.powf(share / whole);
                let negative =
                    representation == Representation::InvertedBipolar && uniform(&mut rng) < 0.5;
                if negative { -size } else { size }
            };
            shares.iter().map(value).collect()
        })
        .collect()
}

/// Streams of the `k`-th factor, which belongs to jointly encoded products: those are encoded with
/// all factors up to it, the ones that are not multiplied having values of their own.
fn joint_streams(
    sources: &[Source],
    k: usize,
    values: &[Vec<f64>],
    representation: Representation,
    length: usize,
) -> Option<BitStreams> {
    let Source::Joint { product, first, factor, .. } = sources[k] else { return None };
    let factors = factor as usize + 1;
    if factors > MOST_FACTORS {
        return None;
    }
    let dimensions: Vec<Sobol> = (0..factors as u32)
        .map(|factor| Sobol::new(any_dimension(first.checked_add(factor)?, length)?).ok())
        .collect::<Option<_>>()?;
    // Where each factor's value is found among those of the product.
    let place = |wanted: usize| {
        sources.iter().position(|source| {
            matches!(source, Source::Joint { product: p, factor, .. }
                if *p == product && *factor as usize == wanted)
        })
    };
    let places: Vec<Option<usize>> = (0..factors).map(place).collect();
    let mut streams = BitStreams::zeros(values.len(), length);
    let words = streams.words_per_stream();
    each_row(streams.words_mut(), words, factors * length, |row, bits| {
        let mut rng = row_rng(STATE, MOST_FACTORS as u64 + u64::from(product), row as u64);
        let mut others = row_rng(STATE, u64::MAX - 1 - u64::from(product), row as u64);
        let probabilities: Vec<f64> = places
            .iter()
            .map(|place| {
                let value = place.map_or(uniform(&mut others), |place| values[row][place]);
                match representation {
                    Representation::Unipolar => value,
                    Representation::InvertedBipolar => (1.0 - value) / 2.0,
                }
            })
            .collect();
        let mut rows = vec![0; factors * words];
        joint::fill(&mut rows, length, probabilities.into_iter(), &dimensions, &mut rng);
        bits.copy_from_slice(&rows[(factors - 1) * words..]);
    });
    Some(streams)
}

/// Ones among some bits of a row.
fn ones(row: &[u64], run: &Range<usize>) -> u64 {
    let Range { start, end } = *run;
    (start / 64..end.div_ceil(64))
        .map(|word| {
            let mut bits = row[word];
            if word == start / 64 {
                bits &= u64::MAX << (start % 64);
            }
            if word == end / 64 {
                bits &= !(u64::MAX << (end % 64));
            }
            u64::from(bits.count_ones())
        })
        .sum()
}
