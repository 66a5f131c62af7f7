//! What bootstrapping takes: a raised modulus, claims, and sums of products with weights.

use hesc_schemes::rlwe::SchemeKind;
use hesc_schemes::{Complex64, SchemeError};

use super::party::{CHAINS, DEGREE, Party, SCALE, SCHEMES, chained, party};

fn parties(seed: u64) -> impl Iterator<Item = Party> {
    CHAINS.into_iter().map(move |chain| party(chained(SchemeKind::Ckks, chain), seed))
}

fn decoded(p: &Party, a: &hesc_schemes::rlwe::Ciphertext) -> Result<Vec<Complex64>, SchemeError> {
    p.scheme.decode_complex(&p.scheme.decrypt(&p.secret, a)?)
}

/// Sixteen deviations of the numbers in slots whose coefficients are multiples of the first prime.
fn bound() -> f64 {
    let n = DEGREE as f64;
    16.0 * (n / 18.0).sqrt() * n.sqrt()
}

/// The first coefficients of the polynomial with these values in its slots, by their definition.
fn coefficients(values: &[Complex64], count: usize) -> Vec<f64> {
    let order = 2 * DEGREE;
    let powers = std::iter::successors(Some(1), |power| Some(3 * power % order));
    let slots: Vec<_> = values.iter().zip(powers).collect();
    let angle = |power: usize| std::f64::consts::PI * power as f64 / DEGREE as f64;
    let term = |k: usize, z: &Complex64, power: usize| {
        (z * Complex64::from_polar(1.0, -angle(k * power % order))).re
    };
    let coefficient = |k: usize| {
        slots.iter().map(|(z, power)| term(k, z, *power)).sum::<f64>() / slots.len() as f64
    };
    (0..count).map(coefficient).collect()
}

/// Coefficients are `times` what they were, in units of the first prime, but for integers, which are such as uniform ternary
/// secrets make them: of a deviation near `sqrt(N / 18)`.
#[test]
fn a_raised_modulus_adds_multiples_of_the_first_prime() {
    for mut p in parties(900) {
        let s = p.scheme.clone();
        let q = s.operand_scale(1);
        let scale = q / 64.0;
        let values = p.numbers();
        let plain = s.encode_bounded(&values, scale, 1, 1.0).unwrap();
        let a = s.encrypt(&p.public, &plain, &mut p.rng).unwrap();
        let before = coefficients(&values, 200);
        for times in [1, 3, 64] {
            let raised = s.raise_modulus(&a, times, bound()).unwrap();
            assert_eq!((raised.level(), raised.scale()), (s.levels(), q));
            let after = coefficients(&decoded(&p, &raised).unwrap(), 200);
            let rests: Vec<f64> =
                after.iter().zip(&before).map(|(x, m)| x - times as f64 / 64.0 * m).collect();
            let error = rests.iter().map(|rest| (rest - rest.round()).abs()).fold(0.0, f64::max);
            assert!(error < times as f64 / 64.0 * s.error_bound(&a), "{times}: {error}");
            let square = rests.iter().map(|rest| rest * rest).sum::<f64>() / 200.0;
            let deviation = square.sqrt() / (DEGREE as f64 / 18.0).sqrt();
            // Six deviations of a mean of 200 squares.
            assert!((0.6..1.4).contains(&deviation), "{deviation}");
            // They are beyond what is claimed of numbers without them.
            let claimed = s.claiming(raised, 1.0, 1.0).unwrap();
            assert_eq!(decoded(&p, &claimed), Err(SchemeError::NoiseTooLarge));
        }
        let two = s.mod_switch_to(&p.encrypt_complex(&values), 2).unwrap();
        let mismatch = SchemeError::LevelMismatch { expected: 1, found: 2 };
        assert_eq!(s.raise_modulus(&two, 1, bound()).map(drop), Err(mismatch));
        for (times, bound) in [(0, 1.0), (1 << 62, 1.0), (1, 0.0), (1, f64::NAN)] {
            let refused = s.raise_modulus(&a, times, bound).map(drop);
            assert!(matches!(refused, Err(SchemeError::Parameter { .. })), "{refused:?}");
        }
        let most = s.log2_modulus_of(s.levels()).exp2();
        let refused = s.raise_modulus(&a, 1, most).map(drop);
        assert!(matches!(refused, Err(SchemeError::NoiseBudget { .. })), "{refused:?}");
    }
}

/// What is claimed is what is said of a ciphertext, and decoding holds it against that.
#[test]
fn claims_are_what_decoding_checks() {
    for mut p in parties(901) {
        let s = p.scheme.clone();
        let values = p.numbers();
        let a = p.encrypt_complex(&values);
        let own = s.error_bound(&a);
        let claimed = s.claiming(a.clone(), 2.0, 2.0 * own).unwrap();
        assert!((s.error_bound(&claimed) / own - 2.0).abs() < 0.1);
        assert!(decoded(&p, &claimed).is_ok());
        let tight = s.claiming(a.clone(), 0.1, own).unwrap();
        assert_eq!(decoded(&p, &tight), Err(SchemeError::NoiseTooLarge));
        for (bound, error) in [(0.0, 1.0), (f64::INFINITY, 1.0), (1.0, -1.0), (1.0, f64::NAN)] {
            let refused = s.claiming(a.clone(), bound, error).map(drop);
            assert!(matches!(refused, Err(SchemeError::Parameter { .. })), "{refused:?}");
        }
        let refused = s.claiming(a, s.log2_modulus_of(s.levels()).exp2(), 1.0).map(drop);
        assert!(matches!(refused, Err(SchemeError::NoiseBudget { .. })), "{refused:?}");
    }
}

/// A weighted sum has the words, and the claims, of products and sums one after the other.
#[test]
fn a_weighted_sum_is_products_and_sums() {
    for mut p in parties(902) {
        let s = p.scheme.clone();
        let level = s.levels();
        for count in [1, 2, 17, 40] {
            let terms: Vec<_> = (0..count)
                .map(|_| {
                    let weight = s.encode_complex(&p.numbers(), 2f64.powi(20), level).unwrap();
                    let values = p.numbers();
                    (p.encrypt_complex(&values), weight)
                })
                .collect();
            let pairs: Vec<_> = terms.iter().map(|(a, weight)| (a, weight)).collect();
            let sum = s.weighted_sum(&pairs).unwrap();
            let products = pairs.iter().map(|(a, weight)| s.multiply_plain(a, weight).unwrap());
            let other = products.reduce(|x, y| s.add(&x, &y).unwrap()).unwrap();
            assert_eq!(s.ciphertext_to_bytes(&sum), s.ciphertext_to_bytes(&other), "{count}");
        }
        let (a, weight) = (p.encrypt_complex(&[]), p.operand(&[1], level));
        let other = s.encode_complex(&[], 2.0 * SCALE, level).unwrap();
        let refused = s.weighted_sum(&[(&a, &weight), (&a, &other)]).map(drop);
        assert!(matches!(refused, Err(SchemeError::ScaleMismatch { .. })), "{refused:?}");
        let refused = s.weighted_sum(&[]).map(drop);
        assert!(matches!(refused, Err(SchemeError::Parameter { .. })), "{refused:?}");
    }
}

#[test]
fn exact_schemes_have_none_of_it() {
    for scheme in SCHEMES.into_iter().filter(|scheme| *scheme != SchemeKind::Ckks) {
        let mut p = party(chained(scheme, CHAINS[0]), 903);
        let a = p.encrypt(&[1]);
        let (s, weight) = (&p.scheme, p.encoded(&[1]));
        for refused in [
            s.raise_modulus(&a, 1, 1.0).map(drop),
            s.claiming(a.clone(), 1.0, 1.0).map(drop),
            s.weighted_sum(&[(&a, &weight)]).map(drop),
        ] {
            assert!(matches!(refused, Err(SchemeError::NotInScheme { .. })), "{refused:?}");
        }
    }
}
