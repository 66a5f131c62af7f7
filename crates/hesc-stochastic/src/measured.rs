//! Measures the errors of products of given dimensions, once for each combination.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::generators::dimensions::any_dimension;
use crate::generators::rows::{Rows, each_row};
use crate::generators::sobol::Sobol;
use crate::generators::{joint, row_rng, uniform};
use crate::laws::{Factor, UNKNOWN_ROW};
use crate::{BitStreams, Generator, Origin, Representation};

/// Bits of each factor that are encoded, and how many streams at least and at most.
const BITS: usize = 1 << 19;
const STREAMS: (usize, usize) = (32, 1024);

/// Most factors that are measured, and positions in a jointly encoded product; products of more
/// factors are as good as random arrangements.
const MOST_FACTORS: usize = 16;

/// Combinations that are kept.
const KEPT: usize = 1 << 14;

/// Products whose variance is so many times that of random arrangements are of streams so alike that
/// what is read says little about the value: their law is the same for all values.
const ALIKE: f64 = 2.0;

/// The random state of all measurements: laws are the same in every process.
const STATE: u64 = 0x6865_7363;

/// A factor as far as its errors go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Source {
    Random {
        exact_weight: bool,
    },
    Dimension {
        generator: Generator,
        dimension: u32,
    },
    Deterministic {
        generator: Generator,
        factors: u32,
        factor: u32,
    },
    /// `product` tells jointly encoded products apart.
    Joint {
        product: u32,
        first: u32,
        factor: u32,
        dimension: u32,
    },
}

impl Source {
    /// The factors of a product, in order.
    pub fn of(factors: &[Factor]) -> Vec<Self> {
        let mut products = Vec::new();
        let mut sorted = factors.to_vec();
        sorted.sort_unstable();
        let mut sources: Vec<Self> = sorted
            .into_iter()
            .map(|Factor { origin, row }| match origin {
                Origin::Draw { generator, .. } => {
                    Self::Random { exact_weight: generator == Generator::ExactWeight }
                }
                Origin::Dimension { generator, dimension } => {
                    Self::Dimension { generator, dimension }
                }
                Origin::Deterministic { generator, factors, factor } => {
                    Self::Deterministic { generator, factors, factor }
                }
                Origin::Joint { source, first, .. } if may_belong(factors, source, first, row) => {
                    Self::Random { exact_weight: true }
                }
                Origin::Joint { source, first, factor, dimension } => {
                    let of = (source, first, row);
                    let product = products.iter().position(|p| *p == of).unwrap_or_else(|| {
                        products.push(of);
                        products.len() - 1
                    });
                    Self::Joint { product: product as u32, first, factor, dimension }
                }
            })
            .collect();
        sources.sort_unstable();
        sources
    }

    /// What encodes it, for all but joint factors.
    fn rows(self, length: usize) -> Option<Rows> {
        let (generator, dimension, factors) = match self {
            Self::Random { .. } => (Generator::ExactWeight, 0, 1),
            Self::Dimension { generator, dimension } => (generator, dimension, 1),
            Self::Deterministic { generator, factors, factor } => (generator, factor, factors),
            Self::Joint { .. } => return None,
        };
        Rows::of(generator, dimension, factors, length).ok()
    }

    /// Whether all rows compare with the same points.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Dimension { generator: Generator::PlainSobol, .. })
    }
}

/// Whether a jointly encoded factor is one of several of its product's encoding, and it is not told
/// whether their rows are equal.
fn may_belong(factors: &[Factor], source: u128, first: u32, row: u32) -> bool {
    let mut alike = factors.iter().filter(|other| {
        matches!(other.origin, Origin::Joint { source: s, first: f, .. } if (s, f) == (source, first))
    });
    alike.clone().count() > 1 && (row == UNKNOWN_ROW || alike.any(|other| other.row == UNKNOWN_ROW))
}

/// The constants of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sizes {
    /// Independent bits.
    Binomial,
    /// The same for all values.
    Even { variance: f64 },
    /// One factor: a part for all values, and one in proportion to the variance of its bits.
    Single { rounding: f64, spread: f64 },
    /// The sum of the factors' own variances, and the shares of random arrangements' variance in
    /// parts of two and of more factors.
    Product { singles: f64, pairs: f64, more: f64 },
}

type Key = (Vec<Source>, Representation, usize, usize);

static KNOWN: LazyLock<RwLock<HashMap<Key, Sizes>>> = LazyLock::new(RwLock::default);

/// The constants of a product of these factors, streams of `encoded` bits of which pieces of
/// `length` bits are taken. What has to be measured takes the bits that are encoded from the budget;
/// where they are not left the law is that of independent bits.
pub(crate) fn sizes(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    length: usize,
    budget: &mut u64,
) -> Sizes {
    let whole = length == encoded;
    // A part of an arrangement is a sample of it.
    let binomial = |source: &Source| matches!(source, Source::Random { exact_weight } if !(*exact_weight && whole));
    if sources.is_empty() || sources.iter().any(binomial) {
        return Sizes::Binomial;
    }
    let key = (sources.to_vec(), representation, encoded, length);
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(known) = known {
        return known;
    }
    // A product is measured, and each of its factors by itself: paid at once, so that nothing is kept
    // that was measured by half.
    let rounds = if sources.len() > 1 { 2 } else { 1 };
    let Some(left) =
        budget.checked_sub((rounds * sources.len() * samples(encoded) * encoded) as u64)
    else {
        return Sizes::Binomial;
    };
    *budget = left;
    let new = measured(sources, representation, encoded, length);
    let mut table = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if table.len() >= KEPT {
        table.clear();
    }
    table.insert(key, new);
    new
}

/// How many streams of so many bits are measured.
fn samples(encoded: usize) -> usize {
    (BITS / encoded).clamp(STREAMS.0, STREAMS.1)
}

/// The variance of the rounding of one weight to whole bits, at random and averaged over all weights.
pub(crate) fn rounding(representation: Representation, length: f64) -> f64 {
    let slope = match representation {
        Representation::Unipolar => 1.0,
        Representation::InvertedBipolar => 2.0,
    };
    slope * slope / 6.0 / length.powi(2)
}

fn measured(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    length: usize,
) -> Sizes {
    let least = rounding(representation, length as f64);
    // The mean variance of a bit over all values.
    let bit = match representation {
        Representation::Unipolar => 1.0 / 6.0,
        Representation::InvertedBipolar => 2.0 / 3.0,
    };
    let [source] = sources else {
        return product(sources, representation, encoded, length);
    };
    if matches!(source, Source::Random { .. }) {
        return Sizes::Single { rounding: least, spread: 0.0 };
    }
    let Some(sample) = Sample::new(sources, representation, encoded, length) else {
        return Sizes::Binomial;
    };
    let mean = sample.mean_square();
    if let Source::Deterministic { .. } = source {
        // Values are rounded to the same few levels wherever they lie, next to one as well.
        return Sizes::Single { rounding: mean, spread: 0.0 };
    }
    Sizes::Single { rounding: mean.min(least), spread: (mean - least).max(0.0) / bit }
}

fn product(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    length: usize,
) -> Sizes {
    // Already paid for.
    let mut paid = u64::MAX;
    let own = |source: &Source| match sizes(&[*source], representation, encoded, length, &mut paid)
    {
        Sizes::Single { rounding, spread } => match representation {
            Representation::Unipolar => rounding + spread / 6.0,
            Representation::InvertedBipolar => rounding + spread * 2.0 / 3.0,
        },
        _ => rounding(representation, length as f64),
    };
    let own: Vec<f64> = sources.iter().map(own).collect();
    let arranged = Sizes::Product { singles: own.iter().sum(), pairs: 1.0, more: 1.0 };
    if sources.iter().all(|source| matches!(source, Source::Random { .. })) {
        return arranged;
    }
    let Some(sample) = Sample::new(sources, representation, encoded, length) else {
        return arranged;
    };
    // Roundings to few levels count most where the other factors are large, which the product's value
    // does not tell.
    let levels = sources.iter().any(|source| matches!(source, Source::Deterministic { .. }));
    if levels || is_prefix(sources) {
        return Sizes::Even { variance: sample.mean_square() };
    }

    // The squares left by the roundings are `pairs` and `more` times the parts: two equations from
    // values that are spread evenly and from products that are.
    let mut sums = [[0.0; 3]; 2];
    for (i, values) in sample.values.iter().enumerate() {
        let [singles, pairs, more] = parts(values, &own, representation, length);
        let sums = &mut sums[i % 2];
        for (sum, part) in sums.iter_mut().zip([sample.squares[i] - singles, pairs, more]) {
            *sum += part;
        }
    }
    let [[e, p, m], [f, q, n]] = sums;
    let together = ((e + f) / (p + q + m + n)).max(0.0);
    if together > ALIKE {
        return Sizes::Even { variance: sample.mean_square() };
    }
    let determinant = p * n - q * m;
    let (pairs, more) = ((e * n - f * m) / determinant, (p * f - q * e) / determinant);
    let separate = sources.len() > 2 && pairs >= 0.0 && more >= 0.0;
    let (pairs, more) = if separate { (pairs, more) } else { (together, together) };
    Sizes::Product { singles: own.iter().sum(), pairs, more }
}

/// Whether these are the first factors of one jointly encoded product and no others.
fn is_prefix(sources: &[Source]) -> bool {
    sources.iter().enumerate().all(|(k, source)| {
        matches!(source, Source::Joint { product: 0, factor, .. } if *factor as usize == k)
    })
}

/// The parts of the variance of a product: what the roundings of its factors give, and for random
/// arrangements those of two and of more factors.
fn parts(values: &[f64], own: &[f64], representation: Representation, length: usize) -> [f64; 3] {
    // Elementary symmetric sums: the first of roundings, the others of the variances of bits.
    let mut orders = [1.0, 0.0, 0.0, 0.0];
    let mut singles = 0.0;
    for (value, own) in values.iter().zip(own) {
        let square = value * value;
        let variance = match representation {
            Representation::Unipolar => value * (1.0 - value),
            Representation::InvertedBipolar => 1.0 - square,
        };
        singles = singles * square + orders[0] * own;
        let [none, one, two, more] = orders;
        orders = [
            none * square,
            one * square + none * variance,
            two * square + one * variance,
            more * (square + variance) + two * variance,
        ];
    }
    [singles, orders[2] / length as f64, orders[3] / length as f64]
}

/// Products of random values, and their squared errors.
struct Sample {
    values: Vec<Vec<f64>>,
    squares: Vec<f64>,
}

impl Sample {
    /// `None` where there is nothing to measure: too many factors, or origins that no encoder makes.
    fn new(
        sources: &[Source],
        representation: Representation,
        encoded: usize,
        length: usize,
    ) -> Option<Self> {
        if sources.len() > MOST_FACTORS {
            return None;
        }
        let count = samples(encoded);
        let values = random_values(count, sources.len(), representation);
        let encoded_factors = (0..sources.len()).map(|k| {
            if let Source::Joint { .. } = sources[k] {
                return joint_streams(sources, k, &values, representation, encoded);
            }
            let of_factor: Vec<f64> = values.iter().map(|values| values[k]).collect();
            let mut streams = BitStreams::zeros(count, encoded);
            let probabilities = representation.probabilities(&of_factor).ok()?;
            sources[k].rows(encoded)?.fill(&mut streams, &probabilities, STATE, k as u64);
            Some(streams)
        });
        let mut product: Option<BitStreams> = None;
        for streams in encoded_factors {
            let streams = streams?;
            product = Some(match product {
                None => streams,
                Some(product) => match representation {
                    Representation::Unipolar => product.and(&streams).ok()?,
                    Representation::InvertedBipolar => product.xor(&streams).ok()?,
                },
            });
        }
        let product = product?;
        let squares = values
            .iter()
            .enumerate()
            .map(|(i, values)| {
                let exact: f64 = values.iter().product();
                let pieces = encoded / length;
                let square = |piece: usize| {
                    let ones = ones(product.row(i), piece * length, length);
                    (representation.value(ones as f64 / length as f64) - exact).powi(2)
                };
                (0..pieces).map(square).sum::<f64>() / pieces as f64
            })
            .collect();
        Some(Self { values, squares })
    }

    fn mean_square(&self) -> f64 {
        self.squares.iter().sum::<f64>() / self.squares.len() as f64
    }
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
fn ones(row: &[u64], start: usize, length: usize) -> u64 {
    let end = start + length;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever states factors by the thousand, or streams of millions of bits, has the law of
    /// independent bits for most of them, and what is known costs nothing.
    #[test]
    fn measuring_stays_within_its_budget() {
        let (representation, length) = (Representation::InvertedBipolar, 1 << 20);
        let sources = |dimension| {
            let generator = Generator::Sobol;
            let of = |dimension| Source::Dimension { generator, dimension };
            [of(dimension), of(dimension + 1)]
        };
        let one = 2 * (samples(length) * length) as u64;
        let mut budget = 3 * one - 1;
        let mut measure = |dimension: u32| {
            sizes(&sources(dimension), representation, length, length, &mut budget)
        };
        // The product, and each factor by itself.
        assert_ne!(measure(40), Sizes::Binomial);
        assert_ne!(measure(40), Sizes::Binomial);
        assert_eq!(measure(50), measure(50));
        assert_eq!(measure(60), Sizes::Binomial);
        assert!(budget < one);
    }
}
