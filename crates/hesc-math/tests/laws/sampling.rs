//! Samples are distributed as they are said to be, each independent of all others. Seeds are fixed, so that a
//! test always or never fails; the false-alarm rate is the chance that an honest sampler would have been
//! refused when the seed was chosen.

use std::collections::HashSet;

use hesc_math::sampling::{
    NOISE_STANDARD_DEVIATION, Sampler, fill_uniform, fill_uniform_row, fresh_seed,
};
use hesc_math::{AesCtrRng, Ring, RingIndex, Word, ntt_primes};
use rand_core::{Infallible, Rng, SeedableRng, TryCryptoRng, TryRng};

const DEGREE: usize = 1024;
/// Polynomials of each distribution: a million coefficients.
const POLYNOMIALS: usize = 1024;

fn index() -> RingIndex {
    RingIndex::power_of_two(DEGREE).unwrap()
}

fn rng(seed: u8) -> AesCtrRng {
    AesCtrRng::from_seed([seed; 32])
}

/// Many polynomials, one after the other from one generator and one scratch space.
fn sample(seed: u8, draw: impl Fn(&mut Sampler, &mut AesCtrRng)) -> Vec<Vec<i16>> {
    let (mut noise, mut rng) = (Sampler::new(index()), rng(seed));
    (0..POLYNOMIALS)
        .map(|_| {
            draw(&mut noise, &mut rng);
            noise.coefficients().to_vec()
        })
        .collect()
}

fn chi_square(counts: &[u64], probabilities: &[f64]) -> f64 {
    let total = counts.iter().sum::<u64>() as f64;
    let terms = counts.iter().zip(probabilities);
    terms.map(|(&c, &p)| (c as f64 - total * p).powi(2) / (total * p)).sum()
}

/// Refuses samples of which any two lanes or polynomials are equal, or that go together: neighbours, lanes of
/// vectors, halves and polynomials one after the other. Six standard errors each: false alarm 2e-6 in all.
fn assert_independent(samples: &[Vec<i16>], deviation: f64) {
    let distinct: HashSet<&Vec<i16>> = samples.iter().collect();
    assert_eq!(distinct.len(), samples.len(), "two polynomials are equal");
    let lanes: HashSet<Vec<i16>> =
        (0..DEGREE).map(|i| samples.iter().map(|poly| poly[i]).collect()).collect();
    assert_eq!(lanes.len(), DEGREE, "two lanes are equal");
    let product = |a: i16, b: i16| f64::from(a) * f64::from(b) / deviation.powi(2);
    let assert_none = |sum: f64, count: usize, what: &str| {
        let errors = sum / (count as f64).sqrt();
        assert!(errors.abs() < 6.0, "{what}: {errors} standard errors");
    };
    for apart in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] {
        let pairs = samples.iter().flat_map(|poly| poly.iter().zip(&poly[apart..]));
        let sum = pairs.map(|(&a, &b)| product(a, b)).sum();
        assert_none(sum, POLYNOMIALS * (DEGREE - apart), "within polynomials");
    }
    let next = samples.iter().zip(&samples[1..]).flat_map(|(a, b)| a.iter().zip(b));
    let sum = next.map(|(&a, &b)| product(a, b)).sum();
    assert_none(sum, (POLYNOMIALS - 1) * DEGREE, "polynomials one after the other");
    for i in 0..DEGREE {
        let sum: f64 = samples.iter().map(|poly| f64::from(poly[i]) / deviation).sum();
        assert_none(sum, POLYNOMIALS, "the mean of a lane");
    }
}

#[test]
fn ternary_is_uniform() {
    let samples = sample(1, |noise, rng| noise.sample_ternary(rng));
    let mut counts = [0u64; 3];
    for &c in samples.iter().flatten() {
        counts[(c + 1) as usize] += 1;
    }
    // 2 degrees of freedom; 27.6 is exceeded once in a million.
    assert!(chi_square(&counts, &[1.0 / 3.0; 3]) < 27.6, "{counts:?}");
    assert_independent(&samples, (2.0f64 / 3.0).sqrt());
}

#[test]
fn noise_is_centred_binomial() {
    let samples = sample(2, |noise, rng| noise.sample_centred_binomial(rng));
    let mut counts = [0u64; 43];
    for &c in samples.iter().flatten() {
        counts[(c + 21) as usize] += 1;
    }
    let mut binomial = vec![1.0f64];
    for k in 0..42 {
        binomial.push(binomial[k] * (42 - k) as f64 / (k + 1) as f64);
    }
    let probabilities: Vec<f64> = binomial.iter().map(|b| b / 2f64.powi(42)).collect();
    // The bins within 12 of the centre hold over 100 expected counts each. 24 degrees of freedom: 73.5 is
    // exceeded once in a million.
    let statistic = chi_square(&counts[9..34], &probabilities[9..34]);
    assert!(statistic < 73.5, "{statistic}");
    // Beyond 16, 0.06 of a million are expected: four are there once in two millions.
    let far: u64 = counts[..5].iter().chain(&counts[38..]).sum();
    assert!(far < 4, "{far} in the tails");
    let total: u64 = counts.iter().sum();
    let spread: f64 = (0..43).map(|i| counts[i] as f64 * (i as f64 - 21.0).powi(2)).sum();
    // The relative standard error of a variance over 2^20 samples is sqrt(2 / 2^20) = 0.0014.
    let ratio = spread / total as f64 / NOISE_STANDARD_DEVIATION.powi(2);
    assert!((ratio - 1.0).abs() < 5.0 * 0.0014, "{ratio}");
    assert!((NOISE_STANDARD_DEVIATION - (42.0f64 / 4.0).sqrt()).abs() < 1e-12);
    assert_independent(&samples, NOISE_STANDARD_DEVIATION);
}

/// What was sampled before leaves nothing behind: one generator gives the same, whatever the scratch space held.
#[test]
fn samples_depend_on_the_generator_alone() {
    let (mut used, mut new) = (Sampler::new(index()), Sampler::new(index()));
    used.sample_centred_binomial(&mut rng(3));
    used.sample_ternary(&mut rng(4));
    new.sample_ternary(&mut rng(4));
    assert_eq!(used.coefficients(), new.coefficients());
    used.sample_centred_binomial(&mut rng(5));
    new.sample_centred_binomial(&mut rng(5));
    assert_eq!(used.coefficients(), new.coefficients());
}

fn check_uniform<W: Word>(bits: u32, seed: u8) {
    let primes = ntt_primes(bits, DEGREE, 2).unwrap();
    let ring = Ring::<W>::new(index(), &primes).unwrap();
    let mut rng = rng(seed);
    let mut counts = [[0u64; 64]; 2];
    let mut poly = vec![W::zeroed(); ring.poly_len()];
    let mut rows = HashSet::new();
    for _ in 0..128 {
        fill_uniform(&mut poly, &ring, &mut rng);
        for ((row, counts), &q) in poly.chunks_exact(DEGREE).zip(&mut counts).zip(&primes) {
            let values: Vec<u64> = row.iter().map(|x| x.to_u64()).collect();
            for &x in &values {
                assert!(x < q);
                counts[(u128::from(x) * 64 / u128::from(q)) as usize] += 1;
            }
            assert!(rows.insert(values), "a row comes twice");
        }
    }
    for counts in counts {
        // 63 degrees of freedom: 131.4 is exceeded once in a million.
        assert!(chi_square(&counts, &[1.0 / 64.0; 64]) < 131.4, "{counts:?}");
    }
}

#[test]
fn uniform_fills_its_range_evenly() {
    check_uniform::<u32>(18, 6);
    check_uniform::<u32>(27, 7);
    check_uniform::<u64>(54, 8);
}

/// A generator of chosen words.
struct Words<W>(Vec<W>, usize);

impl<W: Word> TryRng for Words<W> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("samplers read bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("samplers read bytes")
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        for bytes in destination.chunks_exact_mut(size_of::<W>()) {
            let word = self.0[self.1 % self.0.len()].to_u64();
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            self.1 += 1;
        }
        Ok(())
    }
}

impl<W: Word> TryCryptoRng for Words<W> {}

fn check_rejection<W: Word>(q: u64) {
    // The modulus and what is beyond within its bits are thrown away; one below stays.
    let most = u64::MAX >> q.leading_zeros();
    let offered = [q, q - 1, most, q + 1, 0].map(W::from_u64).to_vec();
    let mut words = vec![W::zeroed(); 300];
    fill_uniform_row(&mut words, q, &mut Words(offered, 0));
    let kept: Vec<u64> = words.iter().map(|x| x.to_u64()).collect();
    let expected: Vec<u64> = [q - 1, 0].into_iter().cycle().take(300).collect();
    assert_eq!(kept, expected);
}

#[test]
fn values_from_the_modulus_on_are_rejected() {
    check_rejection::<u32>(ntt_primes(26, DEGREE, 1).unwrap()[0]);
    check_rejection::<u64>(ntt_primes(50, DEGREE, 1).unwrap()[0]);
}

/// Every word of every seed is new, whether seeds come from one generator or from two.
#[test]
fn seeds_are_new_in_all_their_words() {
    let mut seen = HashSet::new();
    for seed in [9, 10] {
        let mut rng = rng(seed);
        for _ in 0..1000 {
            for word in fresh_seed(&mut rng).chunks_exact(8) {
                // 8000 words of 64 bits: two are equal once in 10^12.
                assert!(seen.insert(word.to_vec()), "a word of a seed comes twice");
            }
        }
        seen.insert(rng.next_u64().to_le_bytes().to_vec());
    }
}
