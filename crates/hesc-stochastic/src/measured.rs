//! Measures the errors of products of given dimensions, once for each combination.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::Representation;
use crate::bands::{BANDS, band, of_band};
use crate::sample::{self, Sample, samples};
use crate::selection_law::SelectionLaw;
use crate::source::Source;

/// Combinations that are kept.
const KEPT: usize = 1 << 14;

/// Products whose variance is so many times that of random arrangements are of streams so alike that
/// what is read says little about the value: their law is the same for all values.
const ALIKE: f64 = 2.0;

/// The constants of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sizes {
    /// Independent bits.
    Binomial,
    /// Bits that were selected among those of several streams.
    Selected(SelectionLaw),
    /// The same for all values.
    Even { variance: f64 },
    /// One factor: a part for all values, and one in proportion to the variance of its bits.
    Single { rounding: f64, spread: f64 },
    /// The sum of the factors' own variances, the shares of random arrangements' variance in parts of
    /// two and of more factors, and how many times as large these parts are in each [`band`].
    Product { singles: f64, pairs: f64, more: f64, bands: [f64; BANDS] },
}

/// The share of independent bits' variance from which a stream's own error counts beside theirs.
const COARSE: f64 = 0.5;

/// Least and most that a band's parts are taken for, in units of all values'.
const BAND_LIMITS: (f64, f64) = (0.25, 64.0);

/// How many times its law the mean square next to zero may be: it is not told from that of other products
/// which are as small.
const NEAR_ZERO: f64 = 2.0;

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
    let binomial = |source: &Source| match source {
        Source::Random { exact_weight } => !(*exact_weight && whole),
        // What is multiplied with a selection has errors of its own: together no more than these.
        Source::Selected { .. } => sources.len() > 1,
        _ => false,
    };
    let mut coarse = |source: &Source| {
        source.is_sequence() && is_coarse(*source, representation, encoded, length, budget)
    };
    if sources.is_empty() || sources.iter().any(binomial) && !sources.iter().any(&mut coarse) {
        return Sizes::Binomial;
    }
    if let [Source::Selected { law }] = sources {
        return Sizes::Selected(*law);
    }
    let key = (sources.to_vec(), representation, encoded, length);
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(known) = known {
        return known;
    }
    // A product is measured three times, and each of its factors by itself: paid at once, so that nothing is
    // kept that was measured by half.
    let rounds = if sources.len() > 1 { 4 } else { 1 };
    let Some(left) =
        budget.checked_sub((rounds * sources.len() * samples(encoded) * encoded) as u64)
    else {
        return Sizes::Binomial;
    };
    *budget = left;
    let new = measured(sources, representation, encoded, length);
    keep(&KNOWN, key, new);
    new
}

/// Whether streams of a sequence err about as much as independent bits would, or more: what these are
/// multiplied with has to be measured.
fn is_coarse(
    source: Source,
    representation: Representation,
    encoded: usize,
    length: usize,
    budget: &mut u64,
) -> bool {
    let own = sizes(&[source], representation, encoded, length, budget);
    own.mean_variance(representation, length)
        > COARSE * mean_of_bits(representation) / length as f64
}

impl Sizes {
    /// The variance of one stream, averaged over all values.
    fn mean_variance(self, representation: Representation, length: usize) -> f64 {
        let of_bits = mean_of_bits(representation);
        match self {
            Self::Single { rounding, spread } => rounding + spread * of_bits,
            _ => of_bits / length as f64,
        }
    }
}

/// The variance of a bit, averaged over all values.
fn mean_of_bits(representation: Representation) -> f64 {
    match representation {
        Representation::Unipolar => 1.0 / 6.0,
        Representation::InvertedBipolar => 2.0 / 3.0,
    }
}

type AgreedKey = (Vec<Source>, Representation, usize, Vec<Vec<Range<usize>>>);

static AGREED: LazyLock<RwLock<HashMap<AgreedKey, f64>>> = LazyLock::new(RwLock::default);

/// What the factors of a product agree in where they are next to zero, over parts of the streams: see
/// [`sample::agreement`]. Taken for nothing where the budget does not last.
pub(crate) fn agreement(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    parts: Vec<Vec<Range<usize>>>,
    budget: &mut u64,
) -> f64 {
    let sequences: Vec<Source> = sources.iter().copied().filter(|of| of.is_sequence()).collect();
    if sequences.len() < 2 || is_prefix(sources) {
        return 0.0;
    }
    let key = (sequences, representation, encoded, parts);
    if let Some(known) = AGREED.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let (sequences, .., parts) = &key;
    let cost = (sequences.len() * sample::zeros(encoded) * encoded) as u64;
    let Some(left) = budget.checked_sub(cost) else { return 0.0 };
    *budget = left;
    let new = sample::agreement(sequences, representation, encoded, parts);
    keep(&AGREED, key, new);
    new
}

/// The variance of the mean over a part of a stream about the mean over all of it: a share for all values,
/// and one in proportion to the variance of a bit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Excess {
    pub rounding: f64,
    pub spread: f64,
}

type PartKey = (Vec<Source>, Representation, usize, Vec<Range<usize>>);

static PARTS: LazyLock<RwLock<HashMap<PartKey, Excess>>> = LazyLock::new(RwLock::default);

/// What the mean over some positions of a product errs more than the mean over all. A sample of a random
/// arrangement errs by `v (1/n - 1/L)`; other sequences are measured, as long as the budget lasts.
pub(crate) fn excess(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    part: &[Range<usize>],
    budget: &mut u64,
) -> Excess {
    let length: usize = part.iter().map(Range::len).sum();
    let sampled = 1.0 / length as f64 - 1.0 / encoded as f64;
    let arranged = Excess { rounding: 0.0, spread: sampled };
    if sources.iter().all(|source| matches!(source, Source::Random { .. })) {
        return arranged;
    }
    let key = (sources.to_vec(), representation, encoded, part.to_vec());
    if let Some(known) = PARTS.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return *known;
    }
    let cost = (sources.len() * samples(encoded) * encoded) as u64;
    let (Some(left), Some(sample)) =
        (budget.checked_sub(cost), Sample::new(sources, representation, encoded))
    else {
        return arranged;
    };
    *budget = left;
    let all = 0..encoded;
    let both = sample.squared_errors(part).zip(sample.squared_errors(std::slice::from_ref(&all)));
    let more: Vec<f64> = both.map(|(of_part, of_all)| of_part - of_all).collect();
    let (rounding, spread) = line(&more, &sample.bit_variances(), 0.0);
    let new = Excess { rounding, spread };
    keep(&PARTS, key, new);
    new
}

type PairKey = (Vec<Source>, Representation, usize, [Vec<Range<usize>>; 2]);

static PAIRS: LazyLock<RwLock<HashMap<PairKey, f64>>> = LazyLock::new(RwLock::default);

/// What the means over two parts of a product err together, beyond what the mean over all errs, in units of the
/// variance of a bit. None for random arrangements, whose law is known, and beyond the budget.
pub(crate) fn excess_together(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    parts: [&[Range<usize>]; 2],
    budget: &mut u64,
) -> Option<f64> {
    if sources.iter().all(|source| matches!(source, Source::Random { .. })) {
        return None;
    }
    let key = (sources.to_vec(), representation, encoded, parts.map(<[_]>::to_vec));
    if let Some(known) = PAIRS.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(*known);
    }
    let left = budget.checked_sub((sources.len() * samples(encoded) * encoded) as u64)?;
    let sample = Sample::new(sources, representation, encoded)?;
    *budget = left;
    let all = 0..encoded;
    let [a, b] = parts.map(|part| sample.errors(part));
    let both = a.zip(b).zip(sample.squared_errors(std::slice::from_ref(&all)));
    let more: Vec<f64> = both.map(|((a, b), of_all)| a * b - of_all).collect();
    let new = mean(&more) / mean(&sample.bit_variances());
    keep(&PAIRS, key, new);
    Some(new)
}

/// Notes what was measured; a full table starts anew.
pub(crate) fn keep<K: Eq + Hash, V>(table: &RwLock<HashMap<K, V>>, key: K, value: V) {
    let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
    if table.len() >= KEPT {
        table.clear();
    }
    table.insert(key, value);
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
    let [source] = sources else {
        return product(sources, representation, encoded, length);
    };
    if matches!(source, Source::Random { .. }) {
        return Sizes::Single { rounding: least, spread: 0.0 };
    }
    let Some(sample) = Sample::new(sources, representation, encoded) else {
        return Sizes::Binomial;
    };
    let squares = sample.squares(length);
    let mean = mean(&squares);
    if let Source::Deterministic { .. } = source {
        // Values are rounded to the same few levels wherever they lie, next to one as well.
        return Sizes::Single { rounding: mean, spread: 0.0 };
    }
    let (rounding, spread) = line(&squares, &sample.bit_variances(), mean.min(least));
    Sizes::Single { rounding, spread }
}

fn product(
    sources: &[Source],
    representation: Representation,
    encoded: usize,
    length: usize,
) -> Sizes {
    // Already paid for.
    let mut paid = u64::MAX;
    let own = |source: &Source| match *source {
        Source::Random { exact_weight: true } => rounding(representation, length as f64),
        of => sizes(&[of], representation, encoded, length, &mut paid)
            .mean_variance(representation, length),
    };
    let own: Vec<f64> = sources.iter().map(own).collect();
    let singles = own.iter().sum();
    let arranged = Sizes::Product { singles, pairs: 1.0, more: 1.0, bands: [1.0; BANDS] };
    if sources.iter().all(|source| matches!(source, Source::Random { .. })) {
        return arranged;
    }
    let Some(sample) = Sample::new(sources, representation, encoded) else {
        return arranged;
    };
    let squares = sample.squares(length);
    // Roundings to few levels count most where the other factors are large, which the product's value
    // does not tell.
    let levels = sources.iter().any(|source| matches!(source, Source::Deterministic { .. }));
    if levels || is_prefix(sources) {
        return Sizes::Even { variance: mean(&squares) };
    }

    // The squares left by the roundings are `pairs` and `more` times the parts: two equations from
    // values that are spread evenly and from products that are.
    let mut sums = [[0.0; 3]; 2];
    for (i, values) in sample.values.iter().enumerate() {
        let [singles, pairs, more] = parts(values, singles, representation, length as f64);
        let sums = &mut sums[i % 2];
        for (sum, part) in sums.iter_mut().zip([squares[i] - singles, pairs, more]) {
            *sum += part;
        }
    }
    let [[e, p, m], [f, q, n]] = sums;
    let together = ((e + f) / (p + q + m + n)).max(0.0);
    if together > ALIKE {
        return Sizes::Even { variance: mean(&squares) };
    }
    let determinant = p * n - q * m;
    let (pairs, more) = ((e * n - f * m) / determinant, (p * f - q * e) / determinant);
    let separate = sources.len() > 2 && pairs >= 0.0 && more >= 0.0;
    let (pairs, more) = if separate { (pairs, more) } else { (together, together) };
    let rounded = rounding(representation, length as f64);
    let mut found = [[0.0; 2]; BANDS];
    let ends = Sample::near_the_ends(sources, representation, encoded);
    for sample in [Some(sample), ends].into_iter().flatten() {
        for (values, square) in sample.values.iter().zip(sample.squares(length)) {
            let [single, two, all] = parts(values, singles, representation, length as f64);
            let place = band(values.iter().product(), values.len() as f64, representation);
            let sums = &mut found[(place as usize).min(BANDS - 1)];
            sums[0] += square - single - rounded;
            sums[1] += pairs * two + more * all;
        }
    }
    let mut bands = found.map(|[square, expected]| {
        if expected > 0.0 { (square / expected).clamp(BAND_LIMITS.0, BAND_LIMITS.1) } else { 1.0 }
    });
    // What random factors seldom show: where many that are next to zero err much more, all in the middle do.
    let many = sources.len() > 2;
    let small = many.then(|| Sample::next_to_zero(sources, representation, encoded)).flatten();
    if let Some(sample) = small {
        let (mut square, mut expected) = (0.0, 0.0);
        for (values, found) in sample.values.iter().zip(sample.squares(length)) {
            let [single, two, all] = parts(values, singles, representation, length as f64);
            let place = band(values.iter().product(), values.len() as f64, representation);
            square += found - single - rounded;
            expected += of_band(&bands, place) * (pairs * two + more * all);
        }
        if expected > 0.0 {
            bands[0] *= (square / expected / NEAR_ZERO).clamp(1.0, BAND_LIMITS.1);
        }
    }
    Sizes::Product { singles, pairs, more, bands }
}

/// The line through squared errors over the variances of bits: its height where those are zero, not below
/// `least`, and its slope, so that the mean is met.
fn line(squares: &[f64], variances: &[f64], least: f64) -> (f64, f64) {
    let (height, across) = (mean(squares), mean(variances));
    let (mut product, mut square) = (0.0, 0.0);
    for (y, x) in squares.iter().zip(variances) {
        product += (x - across) * (y - height);
        square += (x - across) * (x - across);
    }
    let slope = if square > 0.0 { product / square } else { 0.0 };
    let start = (height - slope * across).clamp(least, height.max(least));
    (start, (height - start).max(0.0) / across)
}

fn mean(squares: &[f64]) -> f64 {
    squares.iter().sum::<f64>() / squares.len() as f64
}

/// Whether these are the first factors of one jointly encoded product and no others.
fn is_prefix(sources: &[Source]) -> bool {
    sources.iter().enumerate().all(|(k, source)| {
        matches!(source, Source::Joint { product: 0, factor, .. } if *factor as usize == k)
    })
}

/// The parts of the variance of a product: what the roundings of its factors give, and for random
/// arrangements those of two and of more factors.
pub(crate) fn parts(
    values: &[f64],
    own: f64,
    representation: Representation,
    length: f64,
) -> [f64; 3] {
    let own = own / values.len() as f64;
    // Elementary symmetric sums: the first of roundings, the others of the variances of bits.
    let mut orders = [1.0, 0.0, 0.0, 0.0];
    let mut singles = 0.0;
    for value in values {
        let square = value * value;
        let variance = representation.variance_of_value(*value);
        singles = singles * square + orders[0] * own;
        let [none, one, two, more] = orders;
        orders = [
            none * square,
            one * square + none * variance,
            two * square + one * variance,
            more * (square + variance) + two * variance,
        ];
    }
    [singles, orders[2] / length, orders[3] / length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

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
        let mut budget = 6 * one - 1;
        let mut measure = |dimension: u32| {
            sizes(&sources(dimension), representation, length, length, &mut budget)
        };
        // The product three times, and each factor by itself.
        assert_ne!(measure(40), Sizes::Binomial);
        assert_ne!(measure(40), Sizes::Binomial);
        assert_eq!(measure(50), measure(50));
        assert_eq!(measure(60), Sizes::Binomial);
        assert!(budget < 2 * one);
    }
}
