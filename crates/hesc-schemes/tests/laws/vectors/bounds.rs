//! Bounds, exactly at and one beyond: of plaintexts, scalars, scales, declared sizes, and of parameter sets as
//! they are given and as they are read.

use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{PrimeSet, Rlwe, SchemeKind, Spec};
use hesc_schemes::{Assurance, Complex64, SchemeError};

use super::forged::{BODY, forged, spliced};
use super::party::{CHAINS, DEGREE, SCALE, SCHEMES, chained, party, spec};
use hesc_math::{MathError, ntt_primes};

fn out_of_range<T>(result: Result<T, SchemeError>) -> bool {
    matches!(result, Err(SchemeError::Value { .. }))
}

/// The integers there are come back, with odd and even plaintext moduli, and no others are taken.
#[test]
fn integers_end_where_the_plaintext_modulus_does() {
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        for t in [2u64, 3, 1000, 1024, 65537] {
            let mut p = party(spec(scheme, 50, 3, 1, t), 1300);
            let s = p.scheme.clone();
            let (least, most) = s.integer_range().unwrap();
            // All residues once.
            assert_eq!((most - least + 1) as u64, t, "{scheme}, {t}");
            let ends = [least, 0, most];
            let plaintext = s.encode_coefficients(&ends).unwrap();
            let a = s.encrypt(&p.public, &plaintext, &mut p.rng).unwrap();
            let found = s.decode_coefficients(&s.decrypt(&p.secret, &a).unwrap()).unwrap();
            assert_eq!(found[..3], ends, "{scheme}, {t}");
            for beyond in [least - 1, most + 1, i64::MIN, i64::MAX] {
                assert!(out_of_range(s.encode_coefficients(&[beyond])), "{t}: {beyond}");
                assert!(out_of_range(s.multiply_scalar(&a, beyond)), "{t}: {beyond}");
                if t == 65537 {
                    assert!(out_of_range(s.encode_integers(&[0, beyond])), "{t}: {beyond}");
                }
            }
            for scalar in [least, most] {
                let product = s.multiply_scalar(&a, scalar).unwrap();
                let found =
                    s.decode_coefficients(&s.decrypt(&p.secret, &product).unwrap()).unwrap();
                let wrong = (found[0] - least * scalar).rem_euclid(t as i64);
                assert_eq!(wrong, 0, "{scheme}, {t}: {scalar}");
            }
            let many = |room: usize| {
                let full = s.encode_coefficients(&vec![0; room]).is_ok();
                let more = s.encode_coefficients(&vec![0; room + 1]).map(drop);
                full && more == Err(SchemeError::TooManyValues { found: room + 1, slots: room })
            };
            assert!(many(DEGREE), "{scheme}, {t}");
        }
    }
}

/// CKKS: numbers of the declared bound are taken, also where a circle of that radius is rounded outwards by as
/// much as doubles do, and none beyond.
#[test]
fn declared_bounds_are_bounds() {
    let p = party(chained(SchemeKind::Ckks, CHAINS[0]), 1310);
    let s = &p.scheme;
    for bound in [1.0, 0.1, 3.0, 1e-3] {
        let encoded = |x: Complex64| s.encode_bounded(&[x], SCALE, 3, bound);
        let most = bound * (1.0 + 4.0 * f64::EPSILON);
        for angle in 0..16 {
            assert!(encoded(Complex64::from_polar(bound, f64::from(angle))).is_ok(), "{bound}");
        }
        for sign in [1.0, -1.0] {
            assert!(encoded(Complex64::new(sign * most, 0.0)).is_ok());
            assert!(out_of_range(encoded(Complex64::new(sign * most.next_up(), 0.0))));
            assert!(out_of_range(encoded(Complex64::new(0.0, sign * most.next_up()))));
        }
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(out_of_range(encoded(Complex64::new(number, 0.0))));
            assert!(out_of_range(s.encode_complex(&[Complex64::new(0.0, number)], SCALE, 3)));
        }
    }
    let zero = [Complex64::default()];
    for bound in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let result = s.encode_bounded(&zero, SCALE, 3, bound).map(drop);
        assert!(matches!(result, Err(SchemeError::Parameter { name: "bound", .. })), "{bound}");
    }
    for scale in [1.0f64.next_down(), 0.0, -1.0, f64::NAN, f64::INFINITY] {
        let result = s.encode_bounded(&zero, scale, 3, 1.0).map(drop);
        assert!(matches!(result, Err(SchemeError::Parameter { name: "scale", .. })), "{scale}");
    }
    assert!(s.encode_bounded(&zero, 1.0, 3, 1.0).is_ok());
    let many = vec![zero[0]; DEGREE / 2 + 1];
    assert!(s.encode_complex(&many[1..], SCALE, 3).is_ok());
    let refused = SchemeError::TooManyValues { found: DEGREE / 2 + 1, slots: DEGREE / 2 };
    assert_eq!(s.encode_complex(&many, SCALE, 3).map(drop), Err(refused));
}

/// CKKS: what an encoding has no room for is refused, by halving the interval to the last double; what is just
/// inside comes back.
#[test]
fn numbers_fill_the_modulus_and_no_more() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[0]), 1320);
    let s = p.scheme.clone();
    for level in 1..=3 {
        let encoded = |bound: f64| {
            let numbers = [Complex64::new(bound, 0.0)];
            s.encode_bounded(&numbers, SCALE, level, bound)
        };
        let encrypts = |bound: f64| {
            encoded(bound).is_ok_and(|m| {
                s.encrypt_seeded(&p.secret, &m, &mut super::party::generator(1)).is_ok()
            })
        };
        let (mut low, mut high) = (1.0f64.to_bits(), 1e60f64.to_bits());
        while high - low > 1 {
            let middle = low.midpoint(high);
            if encrypts(f64::from_bits(middle)) { low = middle } else { high = middle }
        }
        let most = f64::from_bits(low);
        // 0.4375 of the modulus is what decryption takes.
        let modulus: f64 = s.spec().coeff_moduli[..level].iter().map(|&q| q as f64).product();
        assert!((most * SCALE / modulus / 0.4375 - 1.0).abs() < 1e-6, "{level}: {most}");
        let refused =
            encoded(f64::from_bits(high)).and_then(|m| s.encrypt(&p.public, &m, &mut p.rng));
        assert!(matches!(refused, Err(SchemeError::NoiseBudget { .. })));
        let a = s.encrypt_seeded(&p.secret, &encoded(most).unwrap(), &mut p.rng).unwrap();
        let plaintext = s.decrypt(&p.secret, &s.expand(&a).unwrap()).unwrap();
        let found = s.decode_complex(&plaintext).unwrap()[0].re;
        assert!((found / most - 1.0).abs() < 1e-9, "{level}: {found} {most}");
    }
}

/// CKKS: products with a number in the clear stay within 62 bits.
#[test]
fn real_factors_end_at_sixty_two_bits() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[3]), 1330);
    let numbers = [Complex64::new(0.5, 0.25)];
    let a = p.encrypt_complex(&numbers);
    let s = p.scheme.clone();
    let limit = 2f64.powi(62);
    for (scalar, scale, taken) in [
        (limit.next_down(), 1.0, true),
        (-limit.next_down(), 1.0, true),
        (limit, 1.0, false),
        (-limit, 1.0, false),
        (1.0, limit.next_down(), true),
        (1.0, limit, false),
        (0.5, 1.0, true),
        (0.5, 1.0f64.next_down(), false),
        (f64::NAN, 4.0, false),
        (0.5, f64::NAN, false),
        (0.0, f64::INFINITY, false),
    ] {
        let result = s.multiply_real(&a, scalar, scale).map(drop);
        assert_eq!(result.is_ok(), taken, "{scalar} {scale}");
        assert!(taken || out_of_range(result), "{scalar} {scale}");
    }
}

/// A set with some of it changed, as it is given and as it travels.
fn refused(scheme: SchemeKind, change: impl Fn(&mut Spec)) -> SchemeError {
    let mut set = chained(scheme, CHAINS[0]);
    change(&mut set);
    let given = Rlwe::new(set.clone(), Assurance::Insecure).map(drop).unwrap_err();
    let read = Spec::from_bytes(&set.to_bytes())
        .and_then(|set| Rlwe::new(set, Assurance::Insecure))
        .map(drop)
        .unwrap_err();
    // Readers refuse some before there is a set.
    assert!(read == given || matches!(read, SchemeError::Wire { .. }), "{read} {given}");
    given
}

fn parameter(error: &SchemeError, expected: &str) {
    assert!(matches!(error, SchemeError::Parameter { name, .. } if *name == expected), "{error}");
}

/// Sets from hostile bytes are the reader's to check: composite and repeated primes, plaintext moduli, scales and
/// bounds that cannot be.
#[test]
fn parameter_sets_are_checked_by_their_reader() {
    let spare = ntt_primes(50, DEGREE, 9).unwrap();
    for scheme in SCHEMES {
        let set = chained(scheme, CHAINS[0]);
        assert_eq!(Spec::from_bytes(&set.to_bytes()), Ok(set.clone()));
        // 1 modulo 2N, as a prime would have to be, and a product of two such.
        let small = ntt_primes(25, DEGREE, 2).unwrap();
        let composite = small[0] * small[1];
        for at in 0..3 {
            let error = refused(scheme, |s| s.coeff_moduli[at] = composite);
            assert!(
                matches!(error, SchemeError::Math(MathError::Modulus { modulus, .. })
                if modulus == composite),
                "{error}"
            );
            let error = refused(scheme, |s| s.coeff_moduli[at] = s.special_moduli[0]);
            assert!(
                matches!(error, SchemeError::Math(MathError::RepeatedModulus { .. })),
                "{error}"
            );
        }
        let error = refused(scheme, |s| s.special_moduli[0] = composite);
        assert!(matches!(error, SchemeError::Math(MathError::Modulus { .. })), "{error}");
        // A prime that is not 1 modulo 2N.
        let error = refused(scheme, |s| s.coeff_moduli[0] = (1 << 31) - 1);
        assert!(matches!(error, SchemeError::Math(MathError::Modulus { .. })), "{error}");
        // Sets have a ring that exists; what is read may name any: a degree or an odd index.
        for ring in [0u32, 1, 9, 128, 1000, 1 << 16, (1 << 16) + 1, 1 << 30, u32::MAX] {
            let named = Spec::from_bytes(&forged(&set.to_bytes(), BODY + 1, &ring.to_le_bytes()));
            assert!(matches!(named, Err(SchemeError::Math(_))), "{ring}: {named:?}");
        }
        parameter(&refused(scheme, |s| s.coeff_moduli.clear()), "coeff_moduli");
        parameter(
            &refused(scheme, |s| {
                s.special_moduli = spare[..4].to_vec();
            }),
            "special_moduli",
        );
        let many = ntt_primes(40, DEGREE, 60).unwrap();
        assert_eq!(many.len(), 60);
        parameter(&refused(scheme, |s| s.coeff_moduli = many.clone()), "coeff_moduli");
        for bound in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            parameter(&refused(scheme, |s| s.bound = bound), "bound");
        }
        let bytes = set.to_bytes();
        let read = |bytes: &[u8]| match Spec::from_bytes(bytes) {
            Err(SchemeError::Wire { problem, .. }) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(&forged(&bytes, BODY, &[12])), "the scheme is unknown");
        assert_eq!(read(&forged(&bytes, BODY + 5, &[5])), "the packing is unknown");
        assert_eq!(read(&forged(&bytes, BODY + 5, &[4])), "it ends too early");
        let listed =
            forged(&spliced(&bytes, bytes.len() - 16..bytes.len() - 16, &[0]), BODY + 5, &[4]);
        assert_eq!(read(&listed), "it lists levels and has none");
        assert_eq!(read(&forged(&bytes, BODY + 6, &[2])), "the plaintext kind is unknown");
        let end = bytes.len() - 16;
        assert_eq!(read(&spliced(&bytes, end..end, &[0])), "bytes are left over");
        assert_eq!(read(&spliced(&bytes, end - 1..end, &[])), "it ends too early");
        let first = BODY + 1 + 4 + 1 + 1 + 8 + 8 + 1;
        assert_eq!(
            read(&forged(&bytes, first, &(1u64 << 61).to_le_bytes())),
            "a prime is too large"
        );
    }
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let smallest = *chained(scheme, CHAINS[0]).coeff_moduli.iter().min().unwrap();
        let special = chained(scheme, CHAINS[0]).special_moduli[0];
        for t in [0, 1, smallest.min(special), u64::MAX] {
            let modulus = PlaintextSpace::Integers { plain_modulus: t };
            parameter(&refused(scheme, |s| s.plaintext = modulus), "plain_modulus");
        }
        parameter(&refused(scheme, |s| s.bound = 2.0), "bound");
        let approximate = PlaintextSpace::Approximate { scale: 4.0 };
        parameter(&refused(scheme, |s| s.plaintext = approximate), "plaintext");
        // Two parts of noise more than the modulus has room for.
        let error = refused(scheme, |s| {
            s.coeff_moduli.truncate(1);
            s.plaintext = PlaintextSpace::Integers { plain_modulus: 1 << 45 };
        });
        assert!(matches!(error, SchemeError::NoiseBudget { .. }), "{error}");
    }
    for scale in [f64::NAN, f64::INFINITY, 1.0, 0.5, -4.0, 2f64.powi(148)] {
        let approximate = PlaintextSpace::Approximate { scale };
        parameter(&refused(SchemeKind::Ckks, |s| s.plaintext = approximate), "scale");
    }
    let integers = PlaintextSpace::Integers { plain_modulus: 2 };
    parameter(&refused(SchemeKind::Ckks, |s| s.plaintext = integers), "plaintext");
}

/// Levels are sets of primes that there are, each of a larger modulus than the one below, the last of all; CKKS
/// has none of its own.
#[test]
fn levels_ascend_to_all_primes() {
    let list = |levels: &[&[usize]]| -> Vec<PrimeSet> {
        levels.iter().map(|places| PrimeSet::new(places.iter().copied())).collect()
    };
    for scheme in [SchemeKind::Bfv, SchemeKind::Bgv] {
        let mut set = chained(scheme, CHAINS[0]);
        set.levels = list(&[&[2], &[0, 1], &[0, 1, 2]]);
        assert_eq!(Spec::from_bytes(&set.to_bytes()), Ok(set.clone()));
        let s = Rlwe::new(set, Assurance::Insecure).unwrap();
        assert_eq!((s.levels(), s.primes_of(2)), (3, PrimeSet::new([0, 1])));
        let wrong: [&[&[usize]]; 6] = [
            // Not all primes, one that is not there, one twice, none, fewer above, the other way round.
            &[&[0], &[0, 1]],
            &[&[3], &[0, 1, 2]],
            &[&[0, 1, 2], &[0, 1, 2]],
            &[&[], &[0, 1, 2]],
            &[&[0, 1], &[2], &[0, 1, 2]],
            &[&[0, 1, 2], &[0]],
        ];
        for levels in wrong {
            parameter(&refused(scheme, |s| s.levels = list(levels)), "levels");
        }
        let most: Vec<PrimeSet> = (0..256).map(|_| PrimeSet::new(0..3)).collect();
        let mut set = chained(scheme, CHAINS[0]);
        set.levels = most;
        parameter(&Rlwe::new(set, Assurance::Insecure).map(drop).unwrap_err(), "levels");
    }
    let all = list(&[&[0, 1, 2]]);
    parameter(&refused(SchemeKind::Ckks, |s| s.levels = all.clone()), "levels");
}

/// Sixty primes are a set.
#[test]
fn sixty_primes_are_not_too_many() {
    let primes = ntt_primes(40, DEGREE, 60).unwrap();
    let mut set = chained(SchemeKind::Ckks, CHAINS[0]);
    set.special_moduli = vec![primes[59]];
    set.coeff_moduli = primes[..59].to_vec();
    assert!(Rlwe::new(set, Assurance::Insecure).is_ok());
}

/// What the modulus allows decides the assurance, whoever wrote the set; a set without special primes makes no
/// switching keys.
#[test]
fn sets_promise_what_they_keep() {
    for scheme in SCHEMES {
        let set = chained(scheme, CHAINS[0]);
        let refused = Rlwe::new(set, Assurance::Guidelines2024).map(drop);
        assert!(matches!(refused, Err(SchemeError::Security { .. })), "{refused:?}");
        let without = chained(scheme, (CHAINS[0].0, &[]));
        let s = Rlwe::new(without, Assurance::Insecure).unwrap();
        let mut rng = super::party::generator(9);
        let (secret, _) = s.generate_keys(&mut rng);
        let results = [
            s.generate_relin_key(&secret, &mut rng).map(drop),
            s.generate_galois_keys(&secret, &[3], &mut rng).map(drop),
            s.generate_switch_key(&secret, &secret, &mut rng).map(drop),
        ];
        for result in results {
            parameter(&result.unwrap_err(), "special_moduli");
        }
    }
}
