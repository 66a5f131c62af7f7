//! Every operation refuses by name what does not belong together, and whatever it could not do right.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::Path;

use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{SchemeKind, Spec};
use hesc_schemes::{Complex64, SchemeError};

use super::forged::{MAGNITUDE, SCALE as SCALE_AT, as_noisy, claiming, largest_claim};
use super::operations::{Operation, Takes, World, ones, operations, with_parts};
use super::party::{CHAINS, DEGREE, SCALE, SCHEMES, chained, party};

/// Methods that read or make a ciphertext and have no second thing that it could fail to match.
const OTHERS: [&str; 22] = [
    // Reads the numbers of a ciphertext.
    "noise_budget",
    "planned",
    "planned_all",
    "dry_value",
    // Of public numbers.
    "public_ciphertext",
    "error_bound",
    "product_level",
    "ciphertext_to_bytes",
    "seeded_to_bytes",
    // Of odd rings, in `slots`.
    "linear_maps",
    "unpack",
    "unpacking_level",
    "extract",
    "pack",
    "carries",
    // Of sets that differ in their plaintext modulus: laws of digits, in hesc_circuits.
    "divided",
    "reduced",
    // Makes one; below and in `readers`.
    "encrypt",
    "encrypt_seeded",
    "encrypt_seeded_at",
    "expand",
    "ciphertext_from_bytes",
];

/// The sources of all that computes on ciphertexts.
fn sources() -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders =
        ["rlwe", "rlwe/slot_circuits", "rlwe/ring_products", "bfv", "bgv", "ckks"].into_iter();
    let entries = folders.flat_map(|folder| source.join(folder).read_dir().unwrap());
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    paths.map(|path| read_to_string(path).unwrap()).collect()
}

/// The table has every public method that has to do with a ciphertext.
#[test]
fn no_operation_is_forgotten() {
    let mut found = BTreeSet::new();
    let sources = sources();
    for source in &sources {
        for method in source.split("\n    pub fn ").skip(1) {
            let signature = method.split("{\n").next().unwrap();
            if signature.contains("&self") && signature.contains("Ciphertext") {
                found.insert(signature.split(['(', '<']).next().unwrap());
            }
        }
    }
    let listed: BTreeSet<&str> =
        operations().iter().map(|operation| operation.name).chain(OTHERS).collect();
    // These are given no ciphertext.
    let makers = BTreeSet::from(["blank", "seeded_from_bytes"]);
    assert_eq!(&found - &makers, listed);
}

fn of(scheme: SchemeKind) -> impl Iterator<Item = Operation> {
    operations().into_iter().filter(move |operation| operation.schemes.contains(&scheme))
}

fn world(scheme: SchemeKind, seed: u64) -> World {
    World::new(party(chained(scheme, CHAINS[0]), seed))
}

/// What goes through before anything is made wrong.
#[test]
fn operations_take_what_belongs_together() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 700);
        let (a, b) = (ones(&mut w.party, 3), ones(&mut w.party, 3));
        for operation in of(scheme) {
            let result = (operation.run)(&w, &w, &a, &b);
            // The scale of 2^40 does not survive a prime of 2^50.
            let rescaled = matches!(result, Err(SchemeError::NoiseBudget { .. }));
            let drops = ["rescale", "rescale_product"].contains(&operation.name);
            let expected = if drops { rescaled } else { result.is_ok() };
            assert!(expected, "{scheme}, {}: {result:?}", operation.name);
        }
    }
}

/// Sets that differ in one number only, or in the number of primes.
fn other_sets(scheme: SchemeKind) -> Vec<Spec> {
    let mut sets = vec![chained(scheme, CHAINS[1]), chained(scheme, CHAINS[3])];
    let mut spec = chained(scheme, CHAINS[0]);
    match &mut spec.plaintext {
        PlaintextSpace::Integers { plain_modulus } => *plain_modulus = 65537 % *plain_modulus,
        PlaintextSpace::Approximate { scale } => *scale *= 2.0,
    }
    sets.push(spec);
    sets
}

#[test]
fn another_parameter_set_is_refused() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 710);
        let a = ones(&mut w.party, 3);
        for spec in other_sets(scheme) {
            let mut foreign = World::new(party(spec, 711));
            let top = foreign.party.scheme.levels();
            let b = ones(&mut foreign.party, top);
            for operation in of(scheme) {
                let run = operation.run;
                let named = |result: Result<(), _>, what: &str| {
                    let mismatch = matches!(result, Err(SchemeError::ParameterMismatch { .. }));
                    assert!(mismatch, "{scheme}, {}, {what}: {result:?}", operation.name);
                };
                named(run(&w, &w, &b, &a), "its operand");
                if operation.binary {
                    named(run(&w, &w, &a, &b), "its second operand");
                }
                if operation.keyed || operation.name == "switch_key" {
                    named(run(&w, &foreign, &a, &a), "its key");
                }
            }
            // What makes ciphertexts, plaintexts and keys.
            let (p, f) = (&mut w.party, &foreign.party);
            let (s, zeros, foreign_zeros) = (p.scheme.clone(), p.zeros(), f.zeros());
            let rng = &mut p.rng;
            named_all([
                ("encrypt, key", s.encrypt(&f.public, &zeros, rng).map(drop)),
                ("encrypt, plaintext", s.encrypt(&p.public, &foreign_zeros, rng).map(drop)),
                ("seeded, key", s.encrypt_seeded(&f.secret, &zeros, rng).map(drop)),
                ("seeded, plaintext", s.encrypt_seeded(&p.secret, &foreign_zeros, rng).map(drop)),
                ("add_plain", s.add_plain(&a, &foreign_zeros).map(drop)),
                ("multiply_plain", s.multiply_plain(&a, &foreign_zeros).map(drop)),
                ("relinearisation key", s.generate_relin_key(&f.secret, rng).map(drop)),
                ("rotation keys", s.generate_galois_keys(&f.secret, &[3], rng).map(drop)),
                ("switching key, from", s.generate_switch_key(&f.secret, &p.secret, rng).map(drop)),
                ("switching key, to", s.generate_switch_key(&p.secret, &f.secret, rng).map(drop)),
                (
                    "decoding",
                    match scheme {
                        SchemeKind::Ckks => s.decode_complex(&foreign_zeros).map(drop),
                        _ => s.decode_integers(&foreign_zeros).map(drop),
                    },
                ),
            ]);
            let seeded = f.scheme.encrypt_seeded(&f.secret, &foreign_zeros, rng).unwrap();
            named_all([("expand", s.expand(&seeded).map(drop))]);
        }
    }
}

fn named_all<const K: usize>(results: [(&str, Result<(), SchemeError>); K]) {
    for (name, result) in results {
        let named = matches!(result, Err(SchemeError::ParameterMismatch { .. }));
        assert!(named, "{name}: {result:?}");
    }
}

#[test]
fn another_key_pair_is_refused() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 720);
        let mut stranger = world(scheme, 721);
        let (a, b) = (ones(&mut w.party, 3), ones(&mut stranger.party, 3));
        for operation in of(scheme) {
            let run = operation.run;
            let named = |result: Result<(), _>, what: &str| {
                let mismatch = matches!(result, Err(SchemeError::KeyMismatch { .. }));
                assert!(mismatch, "{scheme}, {}, {what}: {result:?}", operation.name);
            };
            if operation.binary {
                named(run(&w, &w, &a, &b), "its second operand");
                named(run(&w, &w, &b, &a), "its first operand");
            }
            if operation.keyed {
                named(run(&w, &stranger, &a, &a), "its key");
                // Rotations by nothing and products of two parts need no key and look at it all the same.
            }
        }
        let result = w.party.scheme.rotate(&a, 0, &stranger.party.galois);
        assert!(matches!(result, Err(SchemeError::KeyMismatch { .. })), "{scheme}");
        let result = w.party.scheme.rotate_many(&a, &[0], &stranger.party.galois);
        assert!(matches!(result, Err(SchemeError::KeyMismatch { .. })), "{scheme}");
    }
}

#[test]
fn another_level_or_scale_is_refused() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 730);
        let (a, lower) = (ones(&mut w.party, 3), ones(&mut w.party, 2));
        // Those that bring their operands to one level take any.
        let anywhere = [
            "check_inputs",
            "aligned_with",
            "product",
            "product_of_components",
            "sum",
            "sum_of_products",
        ];
        for operation in of(scheme).filter(|o| o.binary && !anywhere.contains(&o.name)) {
            for (x, y) in [(&a, &lower), (&lower, &a)] {
                let result = (operation.run)(&w, &w, x, y);
                let expected = SchemeError::LevelMismatch { expected: x.level(), found: y.level() };
                assert_eq!(result, Err(expected), "{scheme}, {}", operation.name);
            }
        }
        if scheme != SchemeKind::Ckks {
            continue;
        }
        let s = w.party.scheme.clone();
        let operand = w.party.operand(&[1], 2);
        let mismatch = Err(SchemeError::LevelMismatch { expected: 3, found: 2 });
        assert_eq!(s.add_plain(&a, &operand).map(drop), mismatch);
        assert_eq!(s.multiply_plain(&a, &operand).map(drop), mismatch);
        // Scales are equal up to 1e-12 of themselves: what rounding leaves.
        for (by, refused) in [(1.0, false), (1.0 + 5e-13, false), (1.0 + 2e-12, true), (2.0, true)]
        {
            let other = claiming(&s, &a, SCALE_AT, SCALE * by).unwrap();
            for operation in of(scheme).filter(|o| ["add", "sub"].contains(&o.name)) {
                for (x, y) in [(&a, &other), (&other, &a)] {
                    let result = (operation.run)(&w, &w, x, y);
                    let named = matches!(result, Err(SchemeError::ScaleMismatch { .. }));
                    assert_eq!((named, result.is_err()), (refused, refused), "{}", operation.name);
                }
            }
            let result = s.add_plain(&other, &w.party.operand(&[1], 3));
            let named = matches!(result, Err(SchemeError::ScaleMismatch { .. }));
            assert_eq!((named, result.is_err()), (refused, refused));
            let shared = of(scheme).find(|o| o.name == "decrypt_shared").unwrap();
            let result = (shared.run)(&w, &w, &other, &a);
            let named = matches!(result, Err(SchemeError::NotShared { problem })
                if problem.starts_with("its scale"));
            assert_eq!((named, result.is_err()), (refused, refused));
        }
    }
}

#[test]
fn parts_beyond_what_an_operation_takes_are_refused() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 740);
        let a = ones(&mut w.party, 1);
        let s = w.party.scheme.clone();
        let (three, four) = (with_parts(&s, &a, 3), with_parts(&s, &a, 4));
        for operation in of(scheme).filter(|o| o.takes == Takes::Two) {
            let mut all = vec![(operation.run)(&w, &w, &three, &a)];
            if operation.binary {
                all.push((operation.run)(&w, &w, &a, &three));
            }
            for result in all {
                let named = matches!(result, Err(SchemeError::NotRelinearised { .. }));
                assert!(named, "{scheme}, {}: {result:?}", operation.name);
            }
        }
        let four = s.relinearise(&four, &w.party.relin).map(drop).unwrap_err();
        assert!(
            matches!(four, SchemeError::TooManyComponents { components: 4, most: 3, .. }),
            "{four}"
        );
        let wide = with_parts(&s, &a, 16);
        let result = s.multiply_unrelinearised(&wide, &a).map(drop).unwrap_err();
        assert!(
            matches!(result, SchemeError::TooManyComponents { components: 17, most: 16, .. }),
            "{result}"
        );
        // One part less is no reason; the noise is.
        let result = s.multiply_unrelinearised(&with_parts(&s, &a, 15), &a).map(drop);
        assert!(matches!(result, Ok(()) | Err(SchemeError::NoiseBudget { .. })), "{result:?}");
    }
}

/// A ciphertext that claims all the noise that its level has room for: whatever adds to it is refused.
#[test]
fn an_exhausted_budget_is_refused_by_every_operation() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 750);
        let s = w.party.scheme.clone();
        for noisy in [true, false] {
            if !noisy && scheme == SchemeKind::Bfv {
                continue;
            }
            // Operations that drop a prime need one; on level 1 doubles still tell what the others add.
            let [low, high] = [1, 2].map(|level| {
                let honest = ones(&mut w.party, level);
                let claimed = |claim| match noisy {
                    true => as_noisy(&s, &honest, claim),
                    false => claiming(&s, &honest, MAGNITUDE, claim),
                };
                largest_claim(claimed).1
            });
            let target = ones(&mut w.party, 1);
            for operation in of(scheme).filter(|o| o.grows) {
                let switches = [
                    "lower",
                    "mod_switch",
                    "mod_switch_to",
                    "rescale",
                    "rescale_product",
                    "aligned_with",
                ];
                let (mut a, mut b) = (low.clone(), target.clone());
                if switches.contains(&operation.name) {
                    a = high.clone();
                }
                if operation.takes == Takes::Three {
                    (a, b) = (with_parts(&s, &a, 3), target.clone());
                }
                let result = (operation.run)(&w, &w, &a, &b);
                let named = matches!(result, Err(SchemeError::NoiseBudget { .. }));
                assert!(named, "{scheme}, {}, noise: {noisy}, {result:?}", operation.name);
            }
        }
    }
}

#[test]
fn levels_and_keys_that_are_not_there_are_named() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 760);
        let (a, last) = (ones(&mut w.party, 3), ones(&mut w.party, 1));
        let s = w.party.scheme.clone();
        let none = |level, wanted| Err(SchemeError::LastLevel { level, wanted });
        assert_eq!(s.mod_switch(&last).map(drop), none(1, 0));
        assert_eq!(s.mod_switch_to(&a, 0).map(drop), none(3, 0));
        assert_eq!(s.mod_switch_to(&a, 4).map(drop), none(3, 4));
        assert_eq!(s.mod_switch_to(&a, 3).unwrap().level(), 3);
        assert_eq!(s.mod_switch_to(&a, 1).unwrap().level(), 1);
        if scheme == SchemeKind::Ckks {
            assert_eq!(s.rescale(&last).map(drop), none(1, 0));
            let missing = |level| Err(SchemeError::NoSuchLevel { level, levels: 3 });
            for (level, expected) in [(0, missing(0)), (4, missing(4)), (1, Ok(())), (3, Ok(()))] {
                let values = [Complex64::new(1.0, 0.0)];
                assert_eq!(s.encode_complex(&values, SCALE, level).map(drop), expected);
                assert_eq!(s.encode_bounded(&values, SCALE, level, 1.0).map(drop), expected);
            }
        }
        let levels = [(0, Err(SchemeError::NoSuchLevel { level: 0, levels: 3 })), (3, Ok(()))];
        for (level, expected) in levels {
            assert_eq!(s.check_level(level), expected);
        }
        let galois = &w.party.galois;
        let missing = |result: Result<(), _>, words: &str| {
            let Err(SchemeError::MissingKey { what, .. }) = result else { panic!("{result:?}") };
            assert!(what.contains(words), "{what}");
        };
        missing(s.rotate(&a, 5, galois).map(drop), "rotations by 5");
        missing(s.rotate_many(&a, &[1, 5], galois).map(drop), "rotations by 5");
        missing(s.apply_galois(&a, 2 * DEGREE - 3, galois).map(drop), "X^");
        let few = s.generate_galois_keys(&w.party.secret, &[3], &mut w.party.rng).unwrap();
        let what = if scheme == SchemeKind::Ckks { "conjugates" } else { "rows" };
        missing(s.swap_or_conjugate(&a, &few).map(drop), what);
    }
}

#[test]
fn operations_of_other_schemes_are_named() {
    for scheme in SCHEMES {
        let mut w = world(scheme, 770);
        let s = w.party.scheme.clone();
        let a = ones(&mut w.party, 3);
        let plaintext = s.decrypt(&w.party.secret, &a).unwrap();
        let numbers = [Complex64::new(0.5, 0.0)];
        let shared = operations().into_iter().find(|o| o.name == "decrypt_shared").unwrap();
        let approximate = [
            s.encode_complex(&numbers, SCALE, 3).map(drop),
            s.encode_bounded(&numbers, SCALE, 3, 1.0).map(drop),
            s.decode_complex(&plaintext).map(drop),
            s.multiply_real(&a, 0.5, 4.0).map(drop),
            (shared.run)(&w, &w, &a, &a),
        ];
        let exact = [
            s.encode_integers(&[1]).map(drop),
            s.encode_coefficients(&[1]).map(drop),
            s.decode_coefficients(&plaintext).map(drop),
            s.integer_range().map(drop),
        ];
        let ckks = scheme == SchemeKind::Ckks;
        let named = |r: &Result<(), _>| matches!(r, Err(SchemeError::NotInScheme { .. }));
        assert!(approximate.iter().all(|result| named(result) != ckks), "{approximate:?}");
        assert!(exact.iter().all(|result| named(result) == ckks), "{exact:?}");
        let rescaled = s.rescale(&a).map(drop);
        assert_eq!(named(&rescaled), !ckks, "{rescaled:?}");
    }
}
