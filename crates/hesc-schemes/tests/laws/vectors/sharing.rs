//! What `decrypt_shared` shows: numbers under exactly the noise that was promised, as often as was promised.

use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::flooding::flooding_factor;
use hesc_schemes::rlwe::{Ciphertext, Rlwe, SchemeKind, Spec};
use hesc_schemes::{Complex64, SchemeError, SharedSoFar, Sharing};

use super::forged::{MAGNITUDE, SCALE as SCALE_AT, claiming};
use super::party::{DEGREE, Party, chained, party};

const SHARED_SCALE: f64 = (1u64 << 55) as f64;
/// The numbers a ciphertext holds.
const NUMBER: Complex64 = Complex64::new(0.25, -0.5);

/// A set with room: the error is 2^-40 of the numbers.
fn roomy() -> Spec {
    let mut spec = chained(SchemeKind::Ckks, (&[60, 60], &[60]));
    spec.plaintext = PlaintextSpace::Approximate { scale: SHARED_SCALE };
    spec
}

/// What SECURITY.md says of `s` bits: a divergence of `2^-s / 24`, and between normal noise as far apart as that a
/// statistical distance of `2^-(s/2 + 3)`, however many numbers are shown.
#[test]
fn statistical_bits_are_a_divergence_and_half_as_many_of_distance() {
    for bits in [40, 41, 64, 80, 128] {
        for answers in [1, 600, 1 << 40] {
            // All numbers off by their bound, in deviations of the noise.
            let apart = (answers as f64).sqrt() / flooding_factor(answers, bits);
            let s = f64::from(bits);
            assert!((apart * apart / 2.0 / ((-s).exp2() / 24.0) - 1.0).abs() < 1e-9, "{bits}");
            // `erf(x / sqrt 8)` for small `x`.
            let distance = apart / (2.0 * std::f64::consts::PI).sqrt();
            assert!((0.9..1.0).contains(&(distance * (s / 2.0 + 3.0).exp2())), "{bits}");
        }
    }
}

fn encrypted(p: &mut Party, number: Complex64, bound: f64) -> Ciphertext {
    let s = &p.scheme;
    let values = vec![number; DEGREE / 2];
    let plaintext = s.encode_bounded(&values, SHARED_SCALE, s.levels(), bound).unwrap();
    s.encrypt(&p.public, &plaintext, &mut p.rng).unwrap()
}

/// The noise has the deviation `sqrt(12 tau) 2^(s/2)` error bounds in both parts of each number. Of 16,384
/// numbers the deviation is off by more than 4 % (7 standard errors) with probability 2e-12, their mean by six
/// of its own with 2e-9, and parts correlate by six with 2e-9.
#[test]
fn shared_numbers_have_the_promised_noise() {
    let mut p = party(roomy(), 1100);
    let s = p.scheme.clone();
    let length = DEGREE / 2;
    for (answers, bits) in [(16 * length as u64, 40), (100_000, 44)] {
        let (a, expected) = (encrypted(&mut p, NUMBER, 1.0), encrypted(&mut p, NUMBER, 1.0));
        let promised =
            (12.0 * answers as f64).sqrt() * f64::from(bits / 2).exp2() * s.error_bound(&expected);
        let sharing = Sharing { expected: &expected, answers, statistical_bits: bits };
        let so_far = SharedSoFar::default();
        let mut errors = Vec::new();
        for _ in 0..16 {
            let (values, deviation) =
                s.decrypt_shared(&p.secret, &a, length, sharing, &so_far, &mut p.rng).unwrap();
            assert!((deviation / promised - 1.0).abs() < 1e-12, "{deviation} {promised}");
            // Ten bits of the deviation are kept, and no more.
            let grid = (deviation.log2().floor() - 10.0).exp2();
            for value in &values {
                assert_eq!((value.re % grid, value.im % grid), (0.0, 0.0));
            }
            errors.extend(values.iter().map(|v| (v - NUMBER) / deviation));
        }
        let parts: Vec<f64> = errors.iter().flat_map(|e| [e.re, e.im]).collect();
        let count = parts.len() as f64;
        let mean = parts.iter().sum::<f64>() / count;
        let deviation = (parts.iter().map(|e| e * e).sum::<f64>() / count).sqrt();
        let common = errors.iter().map(|e| e.re * e.im).sum::<f64>() / errors.len() as f64;
        let neighbours = parts.windows(2).map(|e| e[0] * e[1]).sum::<f64>() / count;
        assert!((deviation - 1.0).abs() < 0.04, "{deviation}");
        assert!(mean.abs() < 6.0 / count.sqrt(), "{mean}");
        assert!(common.abs() < 6.0 / (errors.len() as f64).sqrt(), "{common}");
        assert!(neighbours.abs() < 6.0 / count.sqrt(), "{neighbours}");
        // Gaussian tails: of 16,384 some are beyond three deviations, none beyond six.
        let beyond = |limit: f64| parts.iter().filter(|e| e.abs() > limit).count();
        assert!((10..100).contains(&beyond(3.0)) && beyond(6.0) == 0, "{}", beyond(3.0));
    }
}

fn share(
    s: &Rlwe,
    p: &mut Party,
    a: &Ciphertext,
    sharing: Sharing<'_>,
    length: usize,
    so_far: &SharedSoFar,
) -> Result<f64, SchemeError> {
    s.decrypt_shared(&p.secret, a, length, sharing, so_far, &mut p.rng).map(|(_, d)| d)
}

/// Noise of a quarter of the numbers' bound is shown, more is refused; so are fewer than 40 bits.
#[test]
fn noise_fits_beneath_the_numbers_or_nothing_is_shared() {
    let mut p = party(roomy(), 1110);
    let s = p.scheme.clone();
    let (a, expected) = (encrypted(&mut p, NUMBER, 1.0), encrypted(&mut p, NUMBER, 1.0));
    let mut shown = 0;
    for bits in 30..80 {
        let promised = 12f64.sqrt() * (f64::from(bits) / 2.0).exp2() * s.error_bound(&expected);
        let sharing = Sharing { expected: &expected, answers: 1, statistical_bits: bits };
        let result = share(&s, &mut p, &a, sharing, 1, &SharedSoFar::default());
        match bits {
            ..40 => assert!(matches!(result, Err(SchemeError::Parameter { .. })), "{bits}"),
            _ if promised <= 0.25 => {
                shown += 1;
                assert!((result.unwrap() / promised - 1.0).abs() < 1e-12, "{bits}");
            }
            _ => assert!(matches!(result, Err(SchemeError::NotShared { .. })), "{bits}"),
        }
    }
    assert!((1..40).contains(&shown), "{shown}");
    let sharing = Sharing { expected: &expected, answers: 0, statistical_bits: 40 };
    let result = share(&s, &mut p, &a, sharing, 1, &SharedSoFar::default());
    assert!(matches!(result, Err(SchemeError::Parameter { name: "answers", .. })));
}

/// The count is the key's: what was planned is shown, not one number more, whatever became of the answers.
#[test]
fn a_key_shows_what_was_planned() {
    let mut p = party(roomy(), 1120);
    let s = p.scheme.clone();
    let (a, expected) = (encrypted(&mut p, NUMBER, 1.0), encrypted(&mut p, NUMBER, 1.0));
    let sharing = Sharing { expected: &expected, answers: 30, statistical_bits: 40 };
    let so_far = SharedSoFar::default();
    for shown in 1..=3 {
        share(&s, &mut p, &a, sharing, 10, &so_far).unwrap();
        assert!((so_far.share() - f64::from(shown) / 3.0).abs() < 1e-12);
    }
    let more = share(&s, &mut p, &a, sharing, 1, &so_far);
    assert!(matches!(more, Err(SchemeError::NotShared { .. })), "{more:?}");
    let half = SharedSoFar::starting_at(0.5).unwrap();
    assert!(share(&s, &mut p, &a, sharing, 16, &half).is_err());
    assert_eq!(half.share(), 0.5, "what is refused is not shown");
    share(&s, &mut p, &a, sharing, 15, &half).unwrap();
    for share in [-0.1, 1.1, f64::NAN] {
        let result = SharedSoFar::starting_at(share).map(drop);
        assert!(matches!(result, Err(SchemeError::Parameter { name: "shared", .. })));
    }
}

/// Bounds are those of the owner's own result: numbers beyond are refused, and count as shown; what the
/// ciphertext says of its numbers, its noise or its scale changes nothing.
#[test]
fn the_owners_result_decides() {
    let mut p = party(roomy(), 1130);
    let s = p.scheme.clone();
    let (a, expected) =
        (encrypted(&mut p, NUMBER, 1.0), encrypted(&mut p, Complex64::default(), 0.5));
    let sharing = Sharing { expected: &expected, answers: 100, statistical_bits: 40 };
    let so_far = SharedSoFar::default();
    // More parts than the owner's, at its scale: of a product that the owner's program has not.
    let one = vec![Complex64::new(1.0, 0.0); DEGREE / 2];
    let one = s.encode_complex(&one, SHARED_SCALE, s.levels()).unwrap();
    let two_parts = s.multiply_plain(&expected, &one).unwrap();
    let three_parts = s.multiply(&expected, &expected).unwrap();
    let of_two = Sharing { expected: &two_parts, ..sharing };
    assert!(share(&s, &mut p, &two_parts, of_two, 1, &SharedSoFar::default()).is_ok());
    let result = share(&s, &mut p, &three_parts, of_two, 1, &so_far);
    let Err(SchemeError::NotShared { problem }) = result else { panic!("{result:?}") };
    assert!(problem.contains("number of components"), "{problem}");
    // |0.25 - 0.5 i| is beyond 0.5.
    let result = share(&s, &mut p, &a, sharing, 1, &so_far);
    assert_eq!(result, Err(SchemeError::NoiseTooLarge));
    assert!((so_far.share() - 0.01).abs() < 1e-12);
    for (field, claim) in [(SCALE_AT, SHARED_SCALE * 2.0), (MAGNITUDE, 8.0)] {
        let claimed = claiming(&s, &a, field, claim).unwrap();
        let result = share(&s, &mut p, &claimed, sharing, 1, &so_far);
        let refused = match result {
            Err(SchemeError::NotShared { .. }) => field == SCALE_AT,
            Err(SchemeError::NoiseTooLarge) => field == MAGNITUDE,
            _ => false,
        };
        assert!(refused, "{result:?}");
    }
}
