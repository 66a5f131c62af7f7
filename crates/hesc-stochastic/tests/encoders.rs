//! The laws of all encoders: range, mean, error, independence, reproducibility.

use hesc_stochastic::{
    BitStreams, Encoder, EncoderConfig, Generator, Origin, Representation, StochasticError, scc,
    sobol_points,
};
use proptest::prelude::*;

fn config(generator: Generator, stream_length: usize) -> EncoderConfig {
    EncoderConfig {
        generator,
        representation: Representation::InvertedBipolar,
        stream_length,
        first_dimension: 0,
        random_state: 11,
    }
}

fn values(streams: &BitStreams) -> Vec<f64> {
    let estimates = streams.decode(Representation::InvertedBipolar);
    estimates.iter().map(|estimate| estimate.value).collect()
}

fn rms(errors: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = errors.fold((0.0, 0), |(sum, count), e| (sum + e * e, count + 1));
    (sum / f64::from(count)).sqrt()
}

proptest! {
    #[test]
    fn constants_are_exact_and_lengths_hold(kind in 0usize..4, length in 1usize..500) {
        let mut encoder = Encoder::new(config(Generator::ALL[kind], length));
        let (streams, _) = encoder.encode(&[1.0, -1.0]).unwrap();
        prop_assert_eq!(values(&streams), [1.0, -1.0]);
        // The checked constructor refuses bits beyond the length.
        let (streams, _) = encoder.encode(&[0.3, -0.9]).unwrap();
        prop_assert!(BitStreams::from_words(streams.words().to_vec(), length).is_ok());
    }
}

#[test]
fn the_mean_of_every_encoder_is_its_value() {
    let x = 0.237;
    for generator in Generator::ALL {
        let (streams, _) = Encoder::new(config(generator, 64)).encode(&vec![x; 20_000]).unwrap();
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

#[test]
fn used_up_dimensions_are_refused() {
    let mut all_used = config(Generator::Sobol, 64);
    all_used.first_dimension = 1023;
    let mut encoder = Encoder::new(all_used);
    let (_, origin) = encoder.encode(&[0.5]).unwrap();
    assert!(matches!(origin, Origin::Dimension { dimension: 1023, .. }));
    let refused = encoder.encode(&[0.5]).unwrap_err();
    assert!(matches!(refused, StochasticError::Dimension { available: 1024, .. }));
    assert!(refused.to_string().contains("make a new Encoder"));
    assert!(sobol_points(1024, 1).is_err());
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
