//! The laws of all encoders: range, mean, error, independence, reproducibility.

use hesc_stochastic::{
    BitStreams, Encoder, EncoderConfig, Generator, Origin, Representation, StochasticError,
    error_bound, scc, sobol_points,
};
use proptest::prelude::*;

fn config(generator: Generator, stream_length: usize) -> EncoderConfig {
    EncoderConfig {
        generator,
        representation: Representation::InvertedBipolar,
        stream_length,
        first_dimension: 0,
        factors: 2,
        random_state: 11,
    }
}

/// A length near 64 or 4096 at which every generator has streams.
fn near(generator: Generator, length: usize) -> usize {
    match generator {
        Generator::CoprimeLengths => length + length.isqrt(),
        _ => length,
    }
}

fn values(streams: &BitStreams) -> Vec<f64> {
    streams.values(Representation::InvertedBipolar)
}

fn rms(errors: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = errors.fold((0.0, 0), |(sum, count), e| (sum + e * e, count + 1));
    (sum / f64::from(count)).sqrt()
}

proptest! {
    #[test]
    fn constants_are_exact_and_lengths_hold(kind in 0usize..12, length in 1usize..500) {
        let mut generator = config(Generator::ALL[kind], length);
        if generator.generator.is_deterministic() {
            generator.factors = 1;
            prop_assume!(length.is_power_of_two() && length > 1);
        }
        // Short lattices have few dimensions.
        prop_assume!(generator.generator != Generator::Lattice || length > 4);
        let mut encoder = Encoder::new(generator);
        let (streams, _) = encoder.encode(&[1.0, -1.0]).unwrap();
        prop_assert_eq!(values(&streams), [1.0, -1.0]);
        if generator.generator.is_deterministic() {
            encoder = Encoder::new(generator);
        }
        // The checked constructor refuses bits beyond the length.
        let (streams, _) = encoder.encode(&[0.3, -0.9]).unwrap();
        prop_assert!(BitStreams::from_words(streams.words().to_vec(), length).is_ok());
    }
}

#[test]
fn the_mean_of_every_encoder_is_its_value() {
    let x = 0.237;
    // The plain sequence is the same for all streams: its error is no chance.
    for generator in Generator::ALL.into_iter().filter(|g| *g != Generator::PlainSobol) {
        let length = near(generator, 64);
        let (streams, _) =
            Encoder::new(config(generator, length)).encode(&vec![x; 20_000]).unwrap();
        let decoded = values(&streams);
        let mean = decoded.iter().sum::<f64>() / decoded.len() as f64;
        let spread = rms(decoded.iter().map(|v| v - mean)) / (decoded.len() as f64).sqrt();
        // Five standard errors of the mean: a false alarm in about 1.7 million seeds.
        assert!((mean - x).abs() < 5.0 * spread, "{generator}: {mean} +- {spread}");
    }
}

#[test]
fn exact_weight_is_exact_and_uniform() {
    let (streams, _) =
        Encoder::new(config(Generator::ExactWeight, 100)).encode(&vec![0.4; 20_000]).unwrap();
    let mut at = [0u32; 100];
    for i in 0..streams.streams() {
        assert_eq!(streams.ones(i), 30);
        for (j, count) in at.iter_mut().enumerate() {
            *count += u32::from(streams.bit(i, j));
        }
    }
    // Each position is set in 30 % of the streams; chi-square with 99 degrees of freedom is
    // below 167 with probability 1 - 2e-5.
    let expected = 6000.0;
    let chi2: f64 = at.iter().map(|&n| (f64::from(n) - expected).powi(2) / (expected * 0.7)).sum();
    assert!(chi2 < 167.0, "{chi2}");
}

/// DESIGN.md section 2 and the mission: Sobol with one dimension per factor is the default because
/// it is at least six times better than independent bits for a square at L = 1024.
#[test]
fn squares_by_sobol_are_six_times_better_than_by_bernoulli() {
    let x: Vec<f64> = (0..2001).map(|i| f64::from(i) / 1000.0 - 1.0).collect();
    let error = |generator| {
        let mut encoder = Encoder::new(config(generator, 1024));
        let (a, _) = encoder.encode(&x).unwrap();
        let (b, _) = encoder.encode(&x).unwrap();
        rms(values(&a.xor(&b).unwrap()).iter().zip(&x).map(|(y, x)| y - x * x))
    };
    let (sobol, bernoulli) = (error(Generator::Sobol), error(Generator::Bernoulli));
    assert!(6.0 * sobol < bernoulli, "{sobol} {bernoulli}");
    // The binomial law itself: E[1 - x^4] = 4/5 over L.
    assert!((bernoulli / (0.8f64 / 1024.0).sqrt() - 1.0).abs() < 0.1, "{bernoulli}");
    assert!(error(Generator::ExactWeight) < bernoulli);
    assert!(error(Generator::Lfsr) < 1.5 * bernoulli);
}

#[test]
fn calls_are_independent_and_named() {
    for generator in Generator::ALL {
        let config = |generator, length| config(generator, near(generator, length));
        let mut encoder = Encoder::new(config(generator, 4096));
        let (a, first) = encoder.encode(&[0.0; 20]).unwrap();
        let (b, second) = encoder.encode(&[0.0; 20]).unwrap();
        assert!(first.correlated_with(&first) && !first.correlated_with(&second));
        assert!(scc(&a, &b).unwrap().iter().all(|c| c.abs() < 0.15), "{generator}");
        let (again, origin) = Encoder::new(config(generator, 4096)).encode(&[0.0; 20]).unwrap();
        assert_eq!((again, origin), (a, first), "equal configurations give equal streams");
    }
    let mut other = config(Generator::Bernoulli, 64);
    other.random_state += 1;
    let (_, a) = Encoder::new(other).encode(&[0.0]).unwrap();
    let (_, b) = Encoder::new(config(Generator::Bernoulli, 64)).encode(&[0.0]).unwrap();
    assert!(!a.correlated_with(&b));
}

/// Factors next to one have a one or two: what one of them rounds away is made up for by others, so
/// that long products keep their mean. 200 draws of errors below two bits: means within 0.4 bits but
/// for one in ten thousand.
#[test]
fn joint_factors_of_few_ones_have_products_without_a_bias() {
    for (length, x, factors) in [(256, 0.985, 12), (64, 0.97, 10), (64, -0.97, 10), (128, 0.99, 16)]
    {
        let mut encoder = Encoder::new(config(Generator::Joint, length));
        let encoded = encoder.encode_factors(&vec![x; 200 * factors], factors).unwrap();
        let mut product = encoded[0].0.clone();
        for (k, (streams, _)) in encoded.iter().enumerate().skip(1) {
            product = product.xor(streams).unwrap();
            let bits = length as f64 / 2.0;
            let exact = x.powi(k as i32 + 1);
            let errors: Vec<f64> =
                values(&product).iter().map(|value| (value - exact) * bits).collect();
            let mean = errors.iter().sum::<f64>() / 200.0;
            assert!(mean.abs() < 0.4, "{x}^{} at {length} bits: {mean} bits", k + 1);
            assert!(rms(errors.into_iter()) < 1.0, "{x}^{} at {length} bits", k + 1);
        }
    }
}

/// Joint encoding: prefixes within as many bits as they have factors, any other product as good as
/// Sobol's, factors of the right weight.
#[test]
fn joint_factors_have_exact_prefixes() {
    let length = 1024;
    let x: Vec<f64> = (0..=200).map(|i| f64::from(i) / 100.0 - 1.0).collect();
    let factors = 10;
    let mut encoder = Encoder::new(config(Generator::Joint, length));
    let encoded = encoder.encode_factors(&x.repeat(factors), factors).unwrap();
    let mut product = encoded[0].0.clone();
    let mut sums = vec![0.0; x.len()];
    for (k, (streams, origin)) in encoded.iter().enumerate() {
        assert!(matches!(origin, Origin::Joint { first: 0, factor, .. } if *factor as usize == k));
        if k > 0 {
            product = product.xor(streams).unwrap();
        }
        for (i, (own, of_prefix)) in values(streams).iter().zip(values(&product)).enumerate() {
            assert!((own - x[i]).abs() < 4.0 / length as f64, "factor {k} of {}: {own}", x[i]);
            let error = of_prefix - x[i].powi(k as i32 + 1);
            assert!(error.abs() <= 2.0 * (k + 1) as f64 / length as f64, "prefix {k} of {}", x[i]);
            sums[i] += error;
        }
    }
    // One systematic draw rounds all prefixes: their sum errs as little as one of them.
    assert!(rms(sums.into_iter()) < 1.5 / length as f64);
    // A product that is no prefix.
    let other = values(&encoded[0].0.xor(&encoded[2].0).unwrap());
    assert!(rms(other.iter().zip(&x).map(|(y, x)| y - x * x)) < 1e-2);
    assert_eq!(encoder.next_dimension(), 10);

    let mut unipolar = config(Generator::Joint, length);
    unipolar.representation = Representation::Unipolar;
    let refused = Encoder::new(unipolar).encode_factors(&[0.5, 0.5], 2);
    assert_eq!(refused, Err(StochasticError::JointUnipolar));
}

#[test]
fn factors_of_other_generators_are_calls() {
    let mut together = Encoder::new(config(Generator::Sobol, 256));
    let mut apart = Encoder::new(config(Generator::Sobol, 256));
    let encoded = together.encode_factors(&[0.1, 0.2, 0.3, 0.4], 2).unwrap();
    assert_eq!(encoded[0], apart.encode(&[0.1, 0.2]).unwrap());
    assert_eq!(encoded[1], apart.encode(&[0.3, 0.4]).unwrap());
    assert!(together.encode_factors(&[0.1, 0.2, 0.3], 2).is_err());
    assert!(together.encode_factors(&[], 2).is_err());
    // What is refused leaves the encoder as it was.
    assert!(together.encode_factors(&[0.1, 7.0], 2).is_err());
    assert_eq!(together.next_dimension(), 2);
}

/// Every stated bound holds in 10,000 random products, and the best case is not far below.
#[test]
fn no_product_exceeds_its_bound() {
    let mut rng = 1u64;
    let mut next = || {
        // Numerical Recipes' generator: any spread of values serves.
        rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (rng >> 11) as f64 * (-52f64).exp2() - 1.0
    };
    for generator in Generator::ALL {
        let mut bounded = 0;
        for factors in 1..=3u32 {
            for (length, trials) in [64, 256, 1000, 1024].map(|length| (length, 5000)) {
                let length = match (generator.is_deterministic(), factors) {
                    (true, 3) => {
                        if generator == Generator::CoprimeLengths {
                            1001
                        } else {
                            1000
                        }
                    }
                    _ => near(generator, if generator.is_deterministic() { 1024 } else { length }),
                };
                let mut settings = config(generator, length);
                settings.factors = factors;
                if generator == Generator::CoprimeLengths && factors == 1 {
                    settings.stream_length = 1024;
                }
                let Some(bound) = error_bound(&settings, factors, 1e-9).unwrap() else { continue };
                bounded += trials;
                let x: Vec<f64> = (0..factors as usize * trials).map(|_| next()).collect();
                settings.random_state = trials as u64 + u64::from(factors);
                let encoded = Encoder::new(settings).encode_factors(&x, factors as usize).unwrap();
                let product = encoded[1..]
                    .iter()
                    .fold(encoded[0].0.clone(), |product, (s, _)| product.xor(s).unwrap());
                for (i, value) in values(&product).iter().enumerate() {
                    let exact: f64 = x[i..].iter().step_by(trials).product();
                    assert!(
                        (value - exact).abs() <= bound,
                        "{generator} {factors} {length}: {value} {exact} {bound}"
                    );
                }
            }
        }
        // Lattices and Halton have a bound for single streams only, a shift register for lengths
        // of a power of two.
        assert!(bounded >= 10_000, "{generator} {bounded}");
    }
}

#[test]
fn used_up_dimensions_are_refused() {
    for generator in [Generator::PlainSobol, Generator::Joint] {
        let mut all_used = config(generator, 64);
        all_used.first_dimension = 1023;
        let mut encoder = Encoder::new(all_used);
        encoder.encode(&[0.5]).unwrap();
        let refused = encoder.encode(&[0.5]).unwrap_err();
        assert!(matches!(refused, StochasticError::Dimension { available: 1024, .. }));
        assert!(refused.to_string().contains("make a new Encoder"));
    }
    assert!(sobol_points(1024, 1).is_err());
}

/// Short streams have few dimensions that go well together; random arrangements take their place.
#[test]
fn behind_the_last_good_dimension_come_random_arrangements() {
    let mut encoder = Encoder::new(config(Generator::Sobol, 64));
    let mut origins = Vec::new();
    for _ in 0..40 {
        origins.push(encoder.encode(&[0.3]).unwrap().1);
    }
    let dimensions = origins.iter().filter(|o| matches!(o, Origin::Dimension { .. })).count();
    assert_eq!(dimensions, 6);
    for (k, a) in origins.iter().enumerate() {
        assert!(origins[..k].iter().all(|b| !a.correlated_with(b)), "{k}");
    }
}

#[test]
fn bad_lengths_and_values_are_refused() {
    for length in [0, (1 << 24) + 1] {
        let refused = Encoder::new(config(Generator::Sobol, length)).encode(&[0.5]);
        assert!(matches!(refused, Err(StochasticError::StreamLength { .. })));
    }
    for bad in [f64::NAN, f64::NEG_INFINITY, 1.5] {
        let refused = Encoder::new(config(Generator::Sobol, 64)).encode(&[0.0, bad]);
        assert!(matches!(refused, Err(StochasticError::OutOfRange { index: 1, .. })));
    }
}
