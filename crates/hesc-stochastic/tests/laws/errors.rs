//! Reported errors are true: for fresh streams, products, parts of streams and sums by selection, of every
//! generator and length, over random pairs of dimensions and for each pair, at values across the range.
//!
//! A figure is the root mean square of errors in units of those reported. Of `n` normal errors that are as
//! large as reported it is 1 with a deviation of `1 / sqrt(2 n)`: 0.7 and 1.5 are 15 deviations away for the
//! 1440 errors of a row, 2.5 is 23 for the 120 of one pair, and a share of 15 % beyond two is 18 for 4.6 %
//! expected. A false alarm of a true law has a probability below 10^-40 with any seed. All draws are
//! seeded.
//!
//! Errors of structured generators are bounded rather than normal: those of a uniform law between two whole
//! bits are never beyond two deviations, so that a share has an upper limit and no lower one here.

use std::ops::Range;

use hesc_stochastic::{
    BitStreams, Encoder, EncoderConfig, ErrorLaw, Factor, Generator, Operand, Origin,
    Representation, SelectionLaw, Selector, sums,
};

use Representation::{InvertedBipolar, Unipolar};

const GENERATORS: [Generator; 9] = [
    Generator::Bernoulli,
    Generator::ExactWeight,
    Generator::Lfsr,
    Generator::Sobol,
    Generator::PlainSobol,
    Generator::Halton,
    Generator::Hammersley,
    Generator::Lattice,
    Generator::Joint,
];
const LENGTHS: [usize; 5] = [64, 100, 256, 1000, 4096];

/// Limits of the root mean square over random pairs, and of that of any one.
pub(crate) const OF_ALL: Range<f64> = 0.7..1.5;
pub(crate) const OF_ONE: f64 = 2.5;

/// The largest share beyond two reported errors.
const BEYOND_TWO: f64 = 0.15;

/// Numbers in [0, 1), by SplitMix64.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * (-53f64).exp2()
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        (self.next() * f64::from(end)) as u32
    }

    pub(crate) fn state(&mut self) -> u64 {
        (self.next() * 1e15) as u64
    }
}

/// What the values of a product's factors are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Values {
    /// Spread evenly over the range.
    Even,
    /// The same for all factors, spread evenly.
    Equal,
    /// The ends of the range, its middle, and next to them.
    Extreme,
}

impl Values {
    fn draw(self, lowest: f64, numbers: &mut Numbers) -> f64 {
        if self == Self::Extreme {
            return match numbers.below(6) {
                0 => lowest,
                1 => 1.0,
                2 => (1.0 + lowest) / 2.0,
                3 => 1.0 - 0.01 * numbers.next(),
                4 => lowest + 0.01 * numbers.next(),
                _ => (1.0 + lowest) / 2.0 + 0.01 * numbers.next(),
            };
        }
        lowest + (1.0 - lowest) * numbers.next()
    }
}

/// Errors in units of those reported.
#[derive(Default)]
struct Scaled(Vec<f64>);

impl Scaled {
    fn rms(&self) -> f64 {
        (self.0.iter().map(|z| z * z).sum::<f64>() / self.0.len() as f64).sqrt()
    }

    fn beyond_two(&self) -> f64 {
        self.0.iter().filter(|z| z.abs() > 2.0).count() as f64 / self.0.len() as f64
    }
}

/// Streams of random values and where they come from.
struct Encoded {
    streams: BitStreams,
    values: Vec<f64>,
    origin: Origin,
}

fn encode(
    (generator, dimension): (Generator, u32),
    factors: u32,
    representation: Representation,
    length: usize,
    values: Vec<f64>,
    numbers: &mut Numbers,
) -> Option<Encoded> {
    let mut encoder = Encoder::new(EncoderConfig {
        generator,
        representation,
        stream_length: length,
        first_dimension: dimension,
        factors,
        random_state: numbers.state(),
    });
    let (streams, origin) = encoder.encode(&values).ok()?;
    Some(Encoded { streams, values, origin })
}

/// Products of streams, one from each (generator, dimension), and their law.
struct Products {
    streams: BitStreams,
    exact: Vec<f64>,
    factors: Vec<Factor>,
}

fn products(
    of: &[(Generator, u32)],
    representation: Representation,
    length: usize,
    count: usize,
    kind: Values,
    numbers: &mut Numbers,
) -> Option<Products> {
    let mut found: Option<Products> = None;
    let mut values = Vec::new();
    for (k, &dimension) in of.iter().enumerate() {
        if k == 0 || kind != Values::Equal {
            let lowest = representation.lowest();
            values = (0..count).map(|_| kind.draw(lowest, numbers)).collect();
        }
        let factors = of.len() as u32;
        let new = encode(dimension, factors, representation, length, values.clone(), numbers)?;
        let factor = Factor { origin: new.origin, row: k as u32 + 1 };
        found = Some(match found {
            None => Products { streams: new.streams, exact: new.values, factors: vec![factor] },
            Some(Products { streams, mut exact, mut factors }) => {
                if factors.iter().any(|other| other.origin.correlated_with(&new.origin)) {
                    return None;
                }
                exact.iter_mut().zip(&new.values).for_each(|(exact, value)| *exact *= value);
                factors.push(factor);
                let streams = match representation {
                    Unipolar => streams.and(&new.streams),
                    InvertedBipolar => streams.xor(&new.streams),
                };
                Products { streams: streams.unwrap(), exact, factors }
            }
        });
    }
    found
}

/// Scaled errors of values that were read.
fn scaled(law: &ErrorLaw, found: &[f64], exact: &[f64]) -> Scaled {
    let scaled = found.iter().zip(exact).map(|(found, exact)| {
        let variance = law.variance_of_estimate(*found, &[]) + law.bias(*found).powi(2);
        // What is exact has no error to report.
        (found - exact) / variance.sqrt().max(1e-300)
    });
    Scaled(scaled.collect())
}

fn errors(
    of: &[(Generator, u32)],
    representation: Representation,
    length: usize,
    count: usize,
    kind: Values,
    numbers: &mut Numbers,
) -> Option<Scaled> {
    let Products { streams, exact, factors } =
        products(of, representation, length, count, kind, numbers)?;
    let law = ErrorLaw::of(&factors, representation, length, length);
    Some(scaled(&law, &streams.values(representation), &exact))
}

/// Dimensions that a generator has at this length.
fn dimensions(generator: Generator, length: usize) -> u32 {
    match generator {
        Generator::Lattice => (length.next_power_of_two() as u32 / 4).min(64),
        Generator::Lfsr => 16,
        Generator::Halton | Generator::Hammersley => 16,
        _ => 200,
    }
}

/// Errors of products of `k` random dimensions: those of all, and the largest of one combination.
fn survey(
    (generator, other): (Generator, Generator),
    representation: Representation,
    length: usize,
    k: usize,
    kind: Values,
    numbers: &mut Numbers,
) -> Option<(Scaled, f64)> {
    let (mut all, mut worst) = (Scaled::default(), 0.0f64);
    for _ in 0..12 {
        let of: Vec<(Generator, u32)> = (0..k)
            .map(|i| if i == 0 { generator } else { other })
            .map(|generator| (generator, numbers.below(dimensions(generator, length))))
            .collect();
        if let Some(scaled) = errors(&of, representation, length, 120, kind, numbers) {
            worst = worst.max(scaled.rms());
            all.0.extend(scaled.0);
        }
    }
    (all.0.len() > 500).then_some((all, worst))
}

fn assert_true((all, worst): &(Scaled, f64), what: &str) {
    assert!(OF_ALL.contains(&all.rms()), "{what}: {}", all.rms());
    assert!(*worst < OF_ONE, "{what}: one pair {worst}");
    assert!(all.beyond_two() < BEYOND_TWO, "{what}: {} beyond two", all.beyond_two());
}

#[test]
fn errors_of_streams_and_products() {
    let mut numbers = Numbers(1);
    for generator in GENERATORS {
        for length in LENGTHS {
            for k in 1..=3 {
                let of = (generator, generator);
                let Some(found) =
                    survey(of, InvertedBipolar, length, k, Values::Even, &mut numbers)
                else {
                    continue;
                };
                assert_true(&found, &format!("{generator}, {length} bits, {k} factors"));
            }
        }
    }
}

/// Equal factors err up to a quarter more than such as are spread evenly, and a readout of one product does
/// not know which they are.
#[test]
fn errors_of_powers() {
    let mut numbers = Numbers(2);
    for generator in GENERATORS {
        for length in LENGTHS {
            let of = (generator, generator);
            for k in [2, 3] {
                let Some((all, worst)) =
                    survey(of, InvertedBipolar, length, k, Values::Equal, &mut numbers)
                else {
                    continue;
                };
                let what = format!("{generator}, {length} bits, {k} equal factors");
                // Nothing is random in the plain sequence: its one pair errs as it does.
                let limit = if generator == Generator::PlainSobol { 2.0 } else { OF_ALL.end };
                assert!((OF_ALL.start..limit).contains(&all.rms()), "{what}: {}", all.rms());
                assert!(worst < 3.0, "{what}: one pair {worst}");
            }
        }
    }
}

/// At the ends and in the middle of the range, where streams have few bits to err with, no reported error
/// is too small.
#[test]
fn errors_at_the_ends_of_the_range() {
    let mut numbers = Numbers(3);
    for generator in GENERATORS {
        for length in LENGTHS {
            for k in [1, 2] {
                let of = (generator, generator);
                if let Some((all, worst)) =
                    survey(of, InvertedBipolar, length, k, Values::Extreme, &mut numbers)
                {
                    let what = format!("{generator}, {length} bits, {k} factors");
                    assert!(all.rms() < OF_ALL.end, "{what}: {}", all.rms());
                    assert!(worst < OF_ONE, "{what}: one pair {worst}");
                }
            }
        }
    }
}

#[test]
fn errors_of_mixtures() {
    let mut numbers = Numbers(4);
    for (i, &a) in GENERATORS.iter().enumerate() {
        for &b in &GENERATORS[i + 1..] {
            if let Some(found) = survey((a, b), InvertedBipolar, 256, 2, Values::Even, &mut numbers)
            {
                assert_true(&found, &format!("{a} and {b}"));
            }
        }
    }
}

#[test]
fn errors_of_unipolar_streams() {
    let mut numbers = Numbers(5);
    for generator in GENERATORS {
        for length in [100, 256] {
            for k in [1, 2] {
                if let Some(found) =
                    survey((generator, generator), Unipolar, length, k, Values::Even, &mut numbers)
                {
                    assert_true(&found, &format!("{generator}, {length} bits, {k} unipolar"));
                }
            }
        }
    }
}

/// Streams of a few bits, one by one: read at the ends of the range they may have been far from it.
#[test]
fn errors_of_short_streams() {
    let mut numbers = Numbers(9);
    for generator in GENERATORS {
        for length in (1..=20).chain([31, 32, 33, 63]) {
            for representation in [InvertedBipolar, Unipolar] {
                for kind in [Values::Even, Values::Extreme] {
                    let mut all = Scaled::default();
                    for dimension in 0..4 {
                        let of = [(generator, dimension)];
                        let found = errors(&of, representation, length, 300, kind, &mut numbers);
                        all.0.extend(found.map(|found| found.0).unwrap_or_default());
                    }
                    // Short lattices have few dimensions.
                    if !all.0.is_empty() {
                        let what =
                            format!("{generator}, {length} bits, {representation}, {kind:?}");
                        assert!(all.rms() < OF_ALL.end, "{what}: {}", all.rms());
                    }
                }
            }
        }
    }
}

/// Independent bits do not hide what a factor of few levels, or of few bits, is rounded to.
#[test]
fn errors_of_independent_bits_with_coarse_streams() {
    let mut numbers = Numbers(10);
    for (generator, factors, length) in [
        (Generator::ClockDivision, 3, 4096),
        (Generator::Rotation, 3, 4096),
        (Generator::CoprimeLengths, 2, 4032),
        (Generator::ClockDivision, 2, 256),
        (Generator::Lfsr, 2, 10),
    ] {
        for representation in [InvertedBipolar, Unipolar] {
            let lowest = representation.lowest();
            let mut all = Scaled::default();
            for dimension in 0..2 {
                let mut call = |of| {
                    let values: Vec<f64> =
                        (0..600).map(|_| Values::Even.draw(lowest, &mut numbers)).collect();
                    encode(of, factors, representation, length, values, &mut numbers).unwrap()
                };
                let coarse = call((generator, dimension));
                let bits = call((Generator::Bernoulli, 0));
                let products = match representation {
                    Unipolar => coarse.streams.and(&bits.streams),
                    InvertedBipolar => coarse.streams.xor(&bits.streams),
                };
                let exact: Vec<f64> =
                    coarse.values.iter().zip(&bits.values).map(|(x, y)| x * y).collect();
                let of = [coarse.origin, bits.origin].map(|origin| Factor { origin, row: 1 });
                let law = ErrorLaw::of(&of, representation, length, length);
                all.0.extend(scaled(&law, &products.unwrap().values(representation), &exact).0);
            }
            let what = format!("{generator}, {factors} factors, {length} bits, {representation}");
            assert!(OF_ALL.contains(&all.rms()), "{what}: {}", all.rms());
        }
    }
}

/// The mean over some runs of positions of a stream: what sums that keep parts of their operands read. The
/// runs are an eighth, a half that winds around, and all but an eighth.
#[test]
fn errors_of_parts_of_streams() {
    let mut numbers = Numbers(6);
    let length = 512;
    for generator in GENERATORS {
        // The ramp is in order, so that its parts are biased: sums refuse to cut it.
        let first = u32::from(generator == Generator::Hammersley);
        for k in [1, 2] {
            for runs in [&[(64, 128)][..], &[(0, 128), (384, 512)], &[(0, 448)]] {
                let part: Vec<Range<usize>> = runs.iter().map(|&(from, to)| from..to).collect();
                let (mut all, mut worst) = (Scaled::default(), 0.0f64);
                for start in 0..6 {
                    let of: Vec<(Generator, u32)> =
                        (0..k).map(|j| (generator, first + start + j)).collect();
                    let Some(Products { streams, exact, factors }) =
                        products(&of, InvertedBipolar, length, 200, Values::Even, &mut numbers)
                    else {
                        continue;
                    };
                    let mut budget = u64::MAX;
                    let law =
                        ErrorLaw::of_part(&mut budget, &factors, InvertedBipolar, length, &part);
                    let positions: usize = part.iter().map(Range::len).sum();
                    let found: Vec<f64> = (0..200)
                        .map(|row| {
                            let bits = part.iter().cloned().flatten();
                            let ones = bits.filter(|&at| streams.bit(row, at)).count();
                            InvertedBipolar.value(ones as f64 / positions as f64)
                        })
                        .collect();
                    let errors = scaled(&law, &found, &exact);
                    worst = worst.max(errors.rms());
                    all.0.extend(errors.0);
                }
                assert_true(&(all, worst), &format!("{generator}, {k} factors, {part:?}"));
            }
        }
    }
}

/// Sums by selection, among equals, with one operand that has most of the weight, and of a number and its
/// square: from the law of independent bits down to that of the operand.
#[test]
fn errors_of_selections() {
    let mut numbers = Numbers(7);
    let count = 600;
    for generator in GENERATORS {
        for length in [256, 1000] {
            for (shares, powers) in [
                (vec![1.0; 4], false),
                (vec![20.0, 1.0, -0.5, 0.25], false),
                (vec![20.0, 1.0], true),
                (vec![1.0, 1.0], true),
            ] {
                let group = shares.len();
                let lowest = InvertedBipolar.lowest();
                let drawn: Vec<f64> =
                    (0..count * group).map(|_| Values::Even.draw(lowest, &mut numbers)).collect();
                let call = |values, dimension, numbers: &mut Numbers| {
                    let from = (generator, dimension);
                    encode(from, 2, InvertedBipolar, length, values, numbers).unwrap()
                };
                let mut one = call(drawn, 1, &mut numbers);
                let of_row = |k: usize| Factor { origin: one.origin, row: k as u32 + 1 };
                let mut operands: Vec<Operand> =
                    shares.iter().enumerate().map(|(k, s)| (*s, vec![of_row(k)])).collect();
                if powers {
                    // The second of each pair is the first times a copy of it.
                    let firsts: Vec<usize> = (0..count).map(|sum| 2 * sum).collect();
                    let first = one.streams.select(&firsts).unwrap();
                    let values: Vec<f64> = firsts.iter().map(|&i| one.values[i]).collect();
                    let copy = call(values, 2, &mut numbers);
                    let square = first.xor(&copy.streams).unwrap();
                    let words = first.words_per_stream();
                    let rows = first.words().chunks(words).zip(square.words().chunks(words));
                    let both = rows.flat_map(|(x, xx)| [x, xx].concat()).collect();
                    one.streams = BitStreams::from_words(both, length).unwrap();
                    (0..count).for_each(|sum| one.values[2 * sum + 1] = copy.values[sum].powi(2));
                    let copied = Factor { origin: copy.origin, row: 1 };
                    operands[1].1 = vec![of_row(0), copied];
                }
                // Operands of negative shares pass as their complements.
                let sizes: Vec<f64> = shares.iter().map(|s| s.abs()).collect();
                let complement = one.streams.complement();
                let words = one.streams.words_per_stream();
                let row = |i: usize| {
                    let from = if shares[i % group] < 0.0 { &complement } else { &one.streams };
                    from.words()[i * words..][..words].to_vec()
                };
                let passing = (0..count * group).flat_map(row).collect();
                let passing = BitStreams::from_words(passing, length).unwrap();
                let mut selector = Selector::new(numbers.state());
                let (sums, origin) =
                    sums::multiplexed_sum(&passing, &sizes, &mut selector).unwrap();
                let law = SelectionLaw::of(&operands, InvertedBipolar, length, length);
                let chosen = Factor { origin: origin.with_law(law), row: 1 };
                let law = ErrorLaw::of(&[chosen], InvertedBipolar, length, length);
                let total: f64 = sizes.iter().sum();
                let exact: Vec<f64> = one
                    .values
                    .chunks(group)
                    .map(|of_sum| {
                        of_sum.iter().zip(&shares).map(|(x, s)| x * s).sum::<f64>() / total
                    })
                    .collect();
                let errors = scaled(&law, &sums.values(InvertedBipolar), &exact);
                let what = format!("{generator}, {length} bits, {shares:?}, powers {powers}");
                assert_true(&(errors, 0.0), &what);
            }
        }
    }
}

/// Numbers of one random state: streams of every generator that draws its bits, calls of one encoder, and what
/// is selected, each with numbers of its own. Streams of value 0, and the masks of two equal choices, agree in
/// half of their bits: 4096 pairs of 256 bits each, five deviations, a false alarm in two million seeds.
#[test]
fn draws_of_one_state_are_independent() {
    let (rows, length) = (4096, 256);
    let draw = |generator, calls: u32| {
        let mut encoder = Encoder::new(EncoderConfig {
            generator,
            representation: InvertedBipolar,
            stream_length: length,
            first_dimension: 0,
            factors: 2,
            random_state: 9,
        });
        encoder.skip(calls);
        encoder.encode(&vec![0.0; rows]).unwrap().0
    };
    let mut selector = Selector::new(9);
    let mut choose = || {
        let masks = selector.choose(&[1.0, 1.0], rows, length).unwrap().0;
        masks.select(&(0..rows).map(|row| 2 * row).collect::<Vec<_>>()).unwrap()
    };
    let all = [
        draw(Generator::Bernoulli, 0),
        draw(Generator::Bernoulli, 1),
        draw(Generator::ExactWeight, 0),
        choose(),
        choose(),
    ];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all[..i].iter().enumerate() {
            let differ = a.xor(b).unwrap();
            let ones: u64 = (0..rows).map(|row| u64::from(differ.ones(row))).sum();
            let share = ones as f64 / (rows * length) as f64;
            let deviation = 0.5 / ((rows * length) as f64).sqrt();
            assert!((share - 0.5).abs() < 5.0 * deviation, "{j} and {i}: {share}");
        }
    }
}

/// The larger study: products of five and ten factors, more lengths.
#[test]
#[ignore = "long"]
fn errors_of_long_products() {
    let (mut numbers, mut wrong) = (Numbers(8), Vec::new());
    for generator in GENERATORS {
        for length in [64, 100, 256, 1000, 1024, 1500, 4096] {
            for k in [1, 2, 5, 10] {
                for kind in [Values::Even, Values::Equal] {
                    let of = (generator, generator);
                    let found = survey(of, InvertedBipolar, length, k, kind, &mut numbers);
                    let Some((all, worst)) = found else { continue };
                    let row = format!(
                        "{generator:12} {length:5} bits, {k:2} factors {kind:?}: rms {:.2}, beyond two \
                         {:4.1} %, largest rms {worst:.2}",
                        all.rms(),
                        100.0 * all.beyond_two()
                    );
                    println!("{row}");
                    // Equal values in a sequence without anything random: ten factors of 256 bits err 3.2.
                    let plain = generator == Generator::PlainSobol && kind == Values::Equal;
                    // At 64 bits ten joint factors have few ways to make up for each other.
                    let short = generator == Generator::Joint && (length, k) == (64, 10);
                    let limit = if plain || short { 4.0 } else { OF_ALL.end };
                    if !(OF_ALL.start..limit).contains(&all.rms()) {
                        wrong.push(row);
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Numbers of few binary digits are where one box of the sequence's points ends: all rows err by what
/// that box lacks, up to three times what values around err in each factor, so that a pair may have a
/// law that is true for its neighbours and too small there. Seeded; these are the worst that were seen
/// over all pairs and seeds tried, and a half more.
#[test]
fn reported_errors_hold_at_numbers_of_few_digits() {
    let mut numbers = Numbers(31);
    let known = [(0, 19), (0, 46), (2, 12), (14, 16), (6, 10), (1, 20)];
    for length in [64, 255, 1024, 2048, 4096] {
        let random: Vec<(u32, u32)> =
            (0..14).map(|_| (numbers.below(50), numbers.below(50))).collect();
        for representation in [InvertedBipolar, Unipolar] {
            let limit = if representation == InvertedBipolar { 3.5 } else { 8.0 };
            for &(a, b) in known.iter().chain(&random) {
                for _ in 0..6 {
                    let pair =
                        [a, b].map(|dimension| (dimension, digits(representation, &mut numbers)));
                    let Some(rms) = rms_at(pair, representation, length, &mut numbers) else {
                        continue;
                    };
                    assert!(rms < limit, "{length} bits, {representation:?}, {pair:?}: {rms}");
                }
            }
        }
    }
}

/// A number near an end of the range with at most five digits.
fn digits(representation: Representation, numbers: &mut Numbers) -> f64 {
    let step = (-f64::from(1 + numbers.below(5))).exp2();
    let size = 1.0 - step * f64::from(1 + numbers.below(2));
    match representation {
        InvertedBipolar => size,
        Unipolar if numbers.below(2) == 0 => (1.0 - size) / 2.0,
        Unipolar => f64::midpoint(1.0, size),
    }
}

/// Scaled errors of the product of two numbers in these Sobol dimensions, over seeds; none where the
/// dimensions are refused.
fn rms_at(
    pair: [(u32, f64); 2],
    representation: Representation,
    length: usize,
    numbers: &mut Numbers,
) -> Option<f64> {
    const ROWS: usize = 24;
    let [first, second] = pair.map(|(dimension, value)| {
        let of = (Generator::Sobol, dimension);
        encode(of, 2, representation, length, vec![value; ROWS], numbers)
    });
    let (first, second) = (first?, second?);
    if first.origin.correlated_with(&second.origin) {
        return None;
    }
    let factors = [&first, &second].map(|of| Factor { origin: of.origin, row: 1 });
    let law = ErrorLaw::of(&factors, representation, length, length);
    let products = match representation {
        Unipolar => first.streams.and(&second.streams),
        InvertedBipolar => first.streams.xor(&second.streams),
    };
    let found = products.ok()?.values(representation);
    Some(scaled(&law, &found, &[pair[0].1 * pair[1].1; ROWS]).rms())
}
