//! A lie never turns a protection off: whatever a peer claims, what its ciphertexts, keys and names decrypt to
//! is right or refused. What it may claim about its own numbers is in SECURITY.md.

use hesc_schemes::rlwe::{Ciphertext, SchemeKind, SecretKey};
use hesc_schemes::{Complex64, SchemeError};

use super::forged::{BODY, DEVIATION, MAGNITUDE, PEAK, VALUES, WORDS, claiming, forged};
use super::operations::ones;
use super::party::{AnyRing, CHAINS, Party, SCHEMES, chained, party, sets};

/// Decrypts and decodes: the real parts of the numbers.
fn opened(p: &Party, secret: &SecretKey, a: &Ciphertext) -> Result<Vec<f64>, SchemeError> {
    let plaintext = p.scheme.decrypt(secret, a)?;
    Ok(match p.scheme.scheme() {
        SchemeKind::Ckks => {
            p.scheme.decode_complex(&plaintext)?.into_iter().map(|v: Complex64| v.re).collect()
        }
        _ => p.scheme.integers_of(&plaintext)?.into_iter().map(|v| v as f64).collect(),
    })
}

fn is_noise(name: &str, scheme: SchemeKind, result: Result<Vec<f64>, SchemeError>) {
    assert_eq!(result.map(drop), Err(SchemeError::NoiseTooLarge), "{scheme}: {name}");
}

/// Names of key pairs guard against mistakes and are no proof: under a false one everything is noise, which
/// decryption sees. Uniform phases pass for numbers with probability `0.875^1024` in exact schemes (`0.875^128`,
/// 4e-8, on the small odd ring), and in
/// CKKS where none of 512 slots exceeds its bound, which is less.
#[test]
fn under_a_false_name_everything_is_noise() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let mut p = party(spec.clone(), 1000);
            let s = p.scheme.clone();
            let mut stranger = party(spec, 1001);
            let name = p.secret.key_id().to_bytes();
            let renamed = |bytes: &[u8]| forged(bytes, BODY + 16, &name);
            let own = ones(&mut p, s.levels());
            let found = opened(&p, &p.secret, &own).unwrap();
            assert!((found[0] - 1.0).abs() < 1e-3 && found.last().unwrap().abs() < 1e-3);

            let theirs = ones(&mut stranger, s.levels());
            let theirs =
                s.ciphertext_from_bytes(&renamed(&s.ciphertext_to_bytes(&theirs))).unwrap();
            is_noise("a ciphertext", scheme, opened(&p, &p.secret, &theirs));
            is_noise("a sum", scheme, opened(&p, &p.secret, &s.add(&own, &theirs).unwrap()));

            let seeded = s.encrypt_seeded(&stranger.secret, &p.zeros(), &mut p.rng).unwrap();
            let seeded = s.seeded_from_bytes(&renamed(&s.seeded_to_bytes(&seeded))).unwrap();
            is_noise("seeded", scheme, opened(&p, &p.secret, &s.expand(&seeded).unwrap()));

            let public = renamed(&s.public_key_to_bytes(&stranger.public));
            let public = s.public_key_from_bytes(&public).unwrap();
            let a = s.encrypt(&public, &p.zeros(), &mut p.rng).unwrap();
            is_noise("a public key", scheme, opened(&p, &p.secret, &a));

            let galois = renamed(&s.galois_keys_to_bytes(&stranger.galois));
            let galois = s.galois_keys_from_bytes(&galois).unwrap();
            let rotated = s.apply_galois(&own, s.other_element(), &galois).unwrap();
            is_noise("rotation keys", scheme, opened(&p, &p.secret, &rotated));

            let switch = s.generate_switch_key(&stranger.secret, &p.secret, &mut p.rng).unwrap();
            let switched = s.switch_key(&own, &switch).unwrap();
            is_noise("a key from another secret", scheme, opened(&p, &p.secret, &switched));

            let relin = renamed(&s.relin_key_to_bytes(&stranger.relin));
            let relin = s.relin_key_from_bytes(&relin).unwrap();
            // Chains of 30 bits have no room for products.
            let Ok(square) = s.square(&own) else { continue };
            let square = s.relinearise(&square, &relin).unwrap();
            is_noise("a relinearisation key", scheme, opened(&p, &p.secret, &square));
        }
    }
}

/// A program whose claims are put back to those of a fresh ciphertext after each step: no budget stops it, but
/// the decryption does. Until then the numbers are right.
#[test]
fn hidden_noise_is_seen_by_the_owner() {
    for scheme in SCHEMES {
        for chain in CHAINS {
            let mut p = party(chained(scheme, chain), 1010);
            let s = p.scheme.clone();
            let t = s.integer_range().map_or(0.0, |(least, most)| (most - least + 1) as f64);
            let mut a = ones(&mut p, s.levels());
            let fresh = s.ciphertext_to_bytes(&a)[DEVIATION..WORDS].to_vec();
            let (mut expected, mut steps) = (1.0, 0);
            let refused = loop {
                a = s.multiply_scalar(&a, 1000).unwrap();
                let bytes = forged(&s.ciphertext_to_bytes(&a), DEVIATION, &fresh);
                a = s.ciphertext_from_bytes(&bytes).unwrap();
                expected *= 1000.0;
                steps += 1;
                match opened(&p, &p.secret, &a) {
                    Err(error) => break error,
                    Ok(found) => {
                        assert_ne!(scheme, SchemeKind::Ckks, "the claimed magnitude is 1");
                        expected %= t;
                        assert_eq!((found[0] - expected).rem_euclid(t), 0.0, "{scheme}, {steps}");
                    }
                }
            };
            assert_eq!(refused, SchemeError::NoiseTooLarge, "{scheme}");
            assert!(steps < 40, "{scheme}: nothing stopped it");
        }
    }
}

/// CKKS: numbers beyond the bound that a ciphertext claims are refused at the bound, not somewhere above.
#[test]
fn numbers_beyond_the_claimed_bound_are_refused() {
    for chain in CHAINS {
        let mut p = party(chained(SchemeKind::Ckks, chain), 1020);
        let s = p.scheme.clone();
        let a = ones(&mut p, s.levels());
        let error = s.error_bound(&a);
        assert!(error < 1e-3);
        for (magnitude, right) in [(1.0, true), (1.0 - 3.0 * error, false), (0.0, false)] {
            let claimed = claiming(&s, &a, MAGNITUDE, magnitude).unwrap();
            let result = opened(&p, &p.secret, &claimed);
            let expected = if right { Ok(()) } else { Err(SchemeError::NoiseTooLarge) };
            assert_eq!(result.map(drop), expected, "{magnitude}");
        }
    }
}

/// Decrypted numbers are nobody's to encrypt again: their bound is what a peer said.
#[test]
fn decrypted_numbers_declare_no_bound() {
    let mut p = party(chained(SchemeKind::Ckks, CHAINS[0]), 1030);
    let s = p.scheme.clone();
    let a = ones(&mut p, 3);
    let operand = s.encode_complex(&[], super::party::SCALE, 3).unwrap();
    for plaintext in [s.decrypt(&p.secret, &a).unwrap(), operand] {
        let encrypted = s.encrypt(&p.public, &plaintext, &mut p.rng).map(drop);
        let seeded = s.encrypt_seeded(&p.secret, &plaintext, &mut p.rng).map(drop);
        for result in [encrypted, seeded] {
            let named = matches!(result, Err(SchemeError::Parameter { name: "plaintext", .. }));
            assert!(named, "{result:?}");
        }
    }
}

/// Claims larger than the noise cost their sender room and nobody else anything.
#[test]
fn exaggerations_are_harmless() {
    for scheme in SCHEMES {
        let mut p = party(chained(scheme, CHAINS[0]), 1040);
        let s = p.scheme.clone();
        let a = ones(&mut p, 3);
        for field in [DEVIATION, VALUES, PEAK] {
            let claimed = claiming(&s, &a, field, 1e12).unwrap();
            let found = opened(&p, &p.secret, &s.add(&claimed, &a).unwrap()).unwrap();
            assert!((found[0] - 2.0).abs() < 1e-3);
        }
        // Numbers that overflow in estimates end in a refusal.
        for field in [DEVIATION, VALUES] {
            let Some(claimed) = claiming(&s, &a, field, f64::MAX) else { continue };
            let product =
                s.square(&claimed).and_then(|c| s.multiply_unrelinearised(&c, &c)).map(drop);
            let named = matches!(product, Err(SchemeError::NoiseBudget { .. }));
            assert!(named, "{scheme}, {field}: {product:?}");
        }
    }
}
