//! Programs against the clear: what operations and random circuits of them compute, on several parameter
//! sets, and the noise estimate against the noise.

use super::party::{DEGREE, SCALE, STEPS, batching_prime, party, spec};
use hesc_schemes::rlwe::{SchemeKind, Spec};
use hesc_schemes::{Complex64, SchemeError};
use proptest::prelude::*;

/// Place of a slot after rotating both rows to the left.
fn rotated(i: usize, steps: i64) -> usize {
    let half = DEGREE / 2;
    i / half * half + (i % half + steps.rem_euclid(half as i64) as usize) % half
}

fn exact_laws(scheme: SchemeKind, bits: u32, levels: usize, specials: usize, seed: u64) {
    let mut p = party(spec(scheme, bits, levels, specials, batching_prime()), seed);
    let (x, y, z) = (p.integers(), p.integers(), p.integers());
    let (a, b) = (p.encrypt(&x), p.encrypt(&y));
    let s = p.scheme.clone();
    let t = p.modulus();
    let product = |i: usize| (i128::from(x[i]) * i128::from(y[i])).rem_euclid(i128::from(t)) as i64;
    p.check(&a, |i| x[i]);
    p.check(&s.add(&a, &b).unwrap(), |i| x[i] + y[i]);
    p.check(&s.sub(&a, &b).unwrap(), |i| x[i] - y[i]);
    p.check(&s.negate(&a).unwrap(), |i| -x[i]);
    p.check(&s.multiply_scalar(&a, -3).unwrap(), |i| -3 * x[i]);
    let plaintext = s.encode_integers(&y).unwrap();
    p.check(&s.add_plain(&a, &plaintext).unwrap(), |i| x[i] + y[i]);
    p.check(&s.multiply_plain(&a, &plaintext).unwrap(), product);
    let seeded = s.encrypt_seeded(&p.secret, &plaintext, &mut p.rng).unwrap();
    p.check(&s.expand(&seeded).unwrap(), |i| y[i]);

    let three = s.multiply(&a, &b).unwrap();
    assert_eq!(three.components(), 3);
    p.check(&three, product);
    let two = s.relinearise(&three, &p.relin).unwrap();
    assert_eq!(two.components(), 2);
    p.check(&two, product);
    p.check(&s.square(&a).unwrap(), |i| (x[i] * x[i]) % t);
    // Three parts and two.
    p.check(&s.sub(&a, &three).unwrap(), |i| x[i] - product(i));
    p.check(&s.add(&three, &a).unwrap(), |i| x[i] + product(i));

    for steps in STEPS {
        p.check(&s.rotate(&a, steps, &p.galois).unwrap(), |i| x[rotated(i, steps)]);
    }
    let many = s.rotate_many(&a, &[7, 0, -1], &p.galois).unwrap();
    for (c, steps) in many.iter().zip([7, 0, -1]) {
        p.check(c, |i| x[rotated(i, steps)]);
    }
    let swapped = s.swap_or_conjugate(&a, &p.galois).unwrap();
    p.check(&swapped, |i| x[(i + DEGREE / 2) % DEGREE]);

    let c = p.encrypt(&z);
    if levels > 1 {
        let mut low = two.clone();
        for level in (1..levels).rev() {
            low = s.mod_switch(&low).unwrap();
            assert_eq!(low.level(), level);
            p.check(&low, product);
            let other = s.mod_switch_to(&c, level).unwrap();
            p.check(&s.add(&low, &other).unwrap(), |i| product(i) + z[i]);
            p.check(&s.rotate(&low, 7, &p.galois).unwrap(), |i| product(rotated(i, 7)));
            p.check(&s.add_plain(&low, &plaintext).unwrap(), |i| product(i) + y[i]);
        }
        // A product below the top.
        let level = levels - 1;
        let (low, other) =
            (s.mod_switch_to(&two, level).unwrap(), s.mod_switch_to(&c, level).unwrap());
        if let Ok(three) = s.multiply(&low, &other) {
            let deep = s.relinearise(&three, &p.relin).unwrap();
            p.check(&deep, |i| {
                (i128::from(product(i)) * i128::from(z[i])).rem_euclid(i128::from(t)) as i64
            });
        } else {
            assert!(levels < 6, "there was room for a second product");
        }
    }

    let (other_secret, _) = s.generate_keys(&mut p.rng);
    let key = s.generate_switch_key(&p.secret, &other_secret, &mut p.rng).unwrap();
    let moved = s.switch_key(&a, &key).unwrap();
    assert!(matches!(s.decrypt(&p.secret, &moved), Err(SchemeError::KeyMismatch { .. })));
    let values = s.decode_integers(&s.decrypt(&other_secret, &moved).unwrap()).unwrap();
    assert!(values.iter().zip(&x).all(|(v, x)| (v - x) % t == 0));
}

#[test]
fn bfv_keeps_the_laws_of_integers() {
    exact_laws(SchemeKind::Bfv, 50, 3, 1, 1);
    exact_laws(SchemeKind::Bfv, 45, 7, 2, 2);
    exact_laws(SchemeKind::Bfv, 36, 8, 3, 3);
    exact_laws(SchemeKind::Bfv, 58, 3, 1, 4);
    exact_laws(SchemeKind::Bfv, 61, 4, 2, 5);
}

#[test]
fn bgv_keeps_the_laws_of_integers() {
    exact_laws(SchemeKind::Bgv, 50, 3, 1, 11);
    exact_laws(SchemeKind::Bgv, 45, 7, 2, 12);
    exact_laws(SchemeKind::Bgv, 36, 8, 3, 13);
    exact_laws(SchemeKind::Bgv, 58, 3, 1, 14);
}

fn approximate_laws(bits: u32, levels: usize, specials: usize, seed: u64) {
    let mut p = party(spec(SchemeKind::Ckks, bits, levels, specials, 0), seed);
    let (x, y) = (p.numbers(), p.numbers());
    let (a, b) = (p.encrypt_complex(&x), p.encrypt_complex(&y));
    let s = p.scheme.clone();
    p.check_complex(&a, |i| x[i]);
    p.check_complex(&s.add(&a, &b).unwrap(), |i| x[i] + y[i]);
    p.check_complex(&s.sub(&a, &b).unwrap(), |i| x[i] - y[i]);
    p.check_complex(&s.negate(&a).unwrap(), |i| -x[i]);
    p.check_complex(&s.multiply_scalar(&a, 5).unwrap(), |i| x[i] * 5.0);
    let plaintext = s.encode_complex(&y, SCALE, levels).unwrap();
    p.check_complex(&s.add_plain(&a, &plaintext).unwrap(), |i| x[i] + y[i]);
    let bounded = s.encode_bounded(&y, SCALE, levels, 1.0).unwrap();
    let seeded = s.encrypt_seeded(&p.secret, &bounded, &mut p.rng).unwrap();
    p.check_complex(&s.expand(&seeded).unwrap(), |i| y[i]);
    for steps in STEPS {
        p.check_complex(&s.rotate(&a, steps, &p.galois).unwrap(), |i| x[rotated(i, steps)]);
    }
    for (c, steps) in s.rotate_many(&a, &[7, 0, 100], &p.galois).unwrap().iter().zip([7, 0, 100]) {
        p.check_complex(c, |i| x[rotated(i, steps)]);
    }
    p.check_complex(&s.swap_or_conjugate(&a, &p.galois).unwrap(), |i| x[i].conj());

    let three = s.multiply(&a, &b).unwrap();
    p.check_complex(&three, |i| x[i] * y[i]);
    p.check_complex(&s.square(&a).unwrap(), |i| x[i] * x[i]);
    p.check_complex(&s.multiply_plain(&a, &plaintext).unwrap(), |i| x[i] * y[i]);
    p.check_complex(&s.multiply_real(&a, -0.37, SCALE).unwrap(), |i| x[i] * -0.37);
    let two = s.relinearise(&three, &p.relin).unwrap();
    let low = s.rescale(&two).unwrap();
    assert_eq!(low.level(), levels - 1);
    p.check_complex(&low, |i| x[i] * y[i]);
    p.check_complex(&s.rotate(&low, -1, &p.galois).unwrap(), |i| {
        let i = rotated(i, -1);
        x[i] * y[i]
    });
    // Same level, other scale: refused, not misaligned.
    let other = s.mod_switch(&a).unwrap();
    p.check_complex(&other, |i| x[i]);
    assert!(matches!(s.add(&low, &other), Err(SchemeError::ScaleMismatch { .. })));
    assert!(matches!(s.add(&low, &a), Err(SchemeError::LevelMismatch { .. })));
}

#[test]
fn ckks_keeps_the_laws_of_complex_numbers() {
    approximate_laws(50, 3, 1, 21);
    approximate_laws(40, 6, 2, 22);
    approximate_laws(36, 9, 4, 23);
    approximate_laws(58, 3, 1, 24);
}

#[test]
fn coefficients_multiply_as_polynomials_whatever_the_modulus() {
    for (scheme, t) in [
        (SchemeKind::Bfv, 2),
        (SchemeKind::Bfv, 1024),
        (SchemeKind::Bgv, 257),
        (SchemeKind::Bfv, 1000),
    ] {
        let mut p = party(spec(scheme, 45, 4, 1, t), t);
        let s = p.scheme.clone();
        // (1 + X) X^(N - 1) = X^(N - 1) - 1.
        let mut shift = vec![0; DEGREE];
        shift[DEGREE - 1] = 1;
        let (x, y) =
            (s.encode_coefficients(&[1, 1]).unwrap(), s.encode_coefficients(&shift).unwrap());
        let a = s.encrypt(&p.public, &x, &mut p.rng).unwrap();
        let b = s.encrypt(&p.public, &y, &mut p.rng).unwrap();
        for c in [s.multiply_plain(&a, &y).unwrap(), s.multiply(&a, &b).unwrap()] {
            let values = s.decode_coefficients(&s.decrypt(&p.secret, &c).unwrap()).unwrap();
            let t = t as i64;
            assert_eq!((values[0] + 1).rem_euclid(t), 0);
            assert_eq!(values[DEGREE - 1].rem_euclid(t), 1);
            assert!(values[1..DEGREE - 1].iter().all(|&v| v == 0));
        }
        if t != 257 {
            assert!(matches!(s.encode_integers(&[1]), Err(SchemeError::Parameter { .. })));
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Add(usize, usize),
    Multiply(usize, usize),
    Square(usize),
    Scalar(usize, i64),
    Plain(usize),
    Rotate(usize),
    Switch(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0usize..64;
    prop_oneof![
        (at.clone(), at.clone()).prop_map(|(i, j)| Step::Add(i, j)),
        (at.clone(), at.clone()).prop_map(|(i, j)| Step::Multiply(i, j)),
        at.clone().prop_map(Step::Square),
        (at.clone(), -9i64..10).prop_map(|(i, s)| Step::Scalar(i, s)),
        at.clone().prop_map(Step::Plain),
        at.clone().prop_map(Step::Rotate),
        at.prop_map(Step::Switch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever the circuit, what is not refused decrypts to the right integers, with at least the
    /// room that was claimed.
    #[test]
    fn random_circuits_are_right_or_refused(
        bfv: bool,
        shape in prop::sample::select(vec![(50u32, 4usize, 1usize), (40, 6, 2), (36, 7, 3), (55, 3, 1)]),
        steps in prop::collection::vec(step(), 1..14),
        seed: u64,
    ) {
        let (bits, levels, specials) = shape;
        let scheme = if bfv { SchemeKind::Bfv } else { SchemeKind::Bgv };
        let mut p = party(spec(scheme, bits, levels, specials, batching_prime()), seed);
        let s = p.scheme.clone();
        let t = p.modulus();
        let reduce = |x: i128| x.rem_euclid(i128::from(t)) as i64;
        let mut values = vec![p.integers(), p.integers()];
        let mut pool = vec![p.encrypt(&values[0]), p.encrypt(&values[1])];
        for step in steps {
            let at = |i: usize| i % pool.len();
            let pointwise = |i: usize, f: &dyn Fn(usize, i64) -> i128| -> Vec<i64> {
                values[i].iter().enumerate().map(|(k, &v)| reduce(f(k, v))).collect()
            };
            let (result, expected) = match step {
                Step::Add(i, j) => {
                    let (i, j) = (at(i), at(j));
                    let level = pool[i].level().min(pool[j].level());
                    let x = s.mod_switch_to(&pool[i], level);
                    let y = s.mod_switch_to(&pool[j], level);
                    let sum = x.and_then(|x| s.add(&x, &y?));
                    (sum, pointwise(i, &|k, v| i128::from(v) + i128::from(values[j][k])))
                }
                Step::Multiply(i, j) => {
                    let (i, j) = (at(i), at(j));
                    let level = pool[i].level().min(pool[j].level());
                    let x = s.mod_switch_to(&pool[i], level);
                    let y = s.mod_switch_to(&pool[j], level);
                    let product = x.and_then(|x| s.relinearise(&s.multiply(&x, &y?)?, &p.relin));
                    (product, pointwise(i, &|k, v| i128::from(v) * i128::from(values[j][k])))
                }
                Step::Square(i) => {
                    let i = at(i);
                    let square = s.square(&pool[i]).and_then(|c| s.relinearise(&c, &p.relin));
                    (square, pointwise(i, &|_, v| i128::from(v) * i128::from(v)))
                }
                Step::Scalar(i, by) => {
                    let i = at(i);
                    (s.multiply_scalar(&pool[i], by), pointwise(i, &|_, v| i128::from(v) * i128::from(by)))
                }
                Step::Plain(i) => {
                    let i = at(i);
                    let plaintext = s.encode_integers(&values[0]).unwrap();
                    (s.multiply_plain(&pool[i], &plaintext), pointwise(i, &|k, v| i128::from(v) * i128::from(values[0][k])))
                }
                Step::Rotate(i) => {
                    let i = at(i);
                    (s.rotate(&pool[i], 7, &p.galois), (0..DEGREE).map(|k| values[i][rotated(k, 7)]).collect())
                }
                Step::Switch(i) => {
                    let i = at(i);
                    (s.mod_switch(&pool[i]), values[i].clone())
                }
            };
            match result {
                Ok(c) => {
                    p.check(&c, |i| expected[i]);
                    pool.push(c);
                    values.push(expected);
                }
                Err(error) => prop_assert!(
                    matches!(error, SchemeError::NoiseBudget { .. } | SchemeError::LastLevel { .. }),
                    "{error}"
                ),
            }
        }
    }
}

/// The estimate is of use: within a few bits of the measured noise.
#[test]
fn estimates_are_not_much_larger_than_the_noise() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let mut p = party(spec(scheme, 50, 6, 2, batching_prime()), 31);
        let x = p.integers();
        let mut a = p.encrypt(&x);
        let s = p.scheme.clone();
        for depth in 0..4 {
            let claimed = s.noise_budget(&a);
            let measured = s.measured_noise_budget(&p.secret, &a).unwrap();
            let slack = measured - claimed;
            assert!(
                (0.0..8.0 + 3.0 * f64::from(depth)).contains(&slack),
                "{scheme} {depth}: {slack}"
            );
            let Ok(square) = s.square(&a) else { break };
            a = s.relinearise(&square, &p.relin).unwrap();
            if scheme == SchemeKind::Bgv {
                a = s.mod_switch(&a).unwrap();
            }
        }
    }
}

#[test]
fn wire_forms_return() {
    for (scheme, seed) in [(SchemeKind::Bfv, 41), (SchemeKind::Bgv, 42), (SchemeKind::Ckks, 43)] {
        let mut p = party(spec(scheme, 40, 3, 1, batching_prime()), seed);
        let s = p.scheme.clone();
        let set = Spec::from_bytes(&s.spec().to_bytes()).unwrap();
        assert_eq!(&set, s.spec());
        let plaintext = match scheme {
            SchemeKind::Ckks => {
                s.encode_bounded(&[Complex64::new(0.5, -0.25)], SCALE, 3, 1.0).unwrap()
            }
            _ => s.encode_integers(&[5, -7]).unwrap(),
        };
        let public = s.public_key_from_bytes(&s.public_key_to_bytes(&p.public)).unwrap();
        let relin = s.relin_key_from_bytes(&s.relin_key_to_bytes(&p.relin)).unwrap();
        let galois = s.galois_keys_from_bytes(&s.galois_keys_to_bytes(&p.galois)).unwrap();
        let secret = s.secret_key_from_bytes(&s.secret_key_to_bytes(&p.secret)).unwrap();
        let switch = s.generate_switch_key(&p.secret, &secret, &mut p.rng).unwrap();
        let switch = s.switch_key_from_bytes(&s.switch_key_to_bytes(&switch)).unwrap();
        let seeded = s.encrypt_seeded(&secret, &plaintext, &mut p.rng).unwrap();
        let seeded = s.seeded_from_bytes(&s.seeded_to_bytes(&seeded)).unwrap();
        let a = s
            .add(&s.encrypt(&public, &plaintext, &mut p.rng).unwrap(), &s.expand(&seeded).unwrap())
            .unwrap();
        let a = s.switch_key(&s.rotate(&a, 1, &galois).unwrap(), &switch).unwrap();
        let product =
            s.ciphertext_from_bytes(&s.ciphertext_to_bytes(&s.square(&a).unwrap())).unwrap();
        let product = s.relinearise(&product, &relin).unwrap();
        let product = match scheme {
            SchemeKind::Ckks => s.rescale(&product).unwrap(),
            _ => s.mod_switch(&product).unwrap(),
        };
        let product = s.ciphertext_from_bytes(&s.ciphertext_to_bytes(&product)).unwrap();
        let decrypted = s.decrypt(&p.secret, &product).unwrap();
        if scheme == SchemeKind::Ckks {
            let last = s.decode_complex(&decrypted).unwrap()[DEGREE / 2 - 1];
            assert!((last - Complex64::new(1.0, -0.5) * Complex64::new(1.0, -0.5)).norm() < 1e-3);
        } else {
            let values = s.decode_integers(&decrypted).unwrap();
            assert_eq!((values[0], values[DEGREE / 2 - 1]), (196, 100));
        }
    }
}
