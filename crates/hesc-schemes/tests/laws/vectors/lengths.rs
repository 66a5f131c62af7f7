//! What ciphertexts and keys are said to take on the wire is what they take, and what blank ones claim is what others do.

use hesc_schemes::presets;
use hesc_schemes::public_keys::{self, Part};
use hesc_schemes::rlwe::{Ciphertext, Encryption, Rlwe};

use super::party::{AnyRing, CHAINS, Party, party, sets};

/// What a ciphertext says of itself, which is all that blank ones have in common with it.
fn claims(scheme: &Rlwe, a: &Ciphertext) -> [f64; 5] {
    let numbers = [a.level() as f64, a.components() as f64, a.scale()];
    let [level, components, scale] = numbers;
    [level, components, scale, scheme.noise_budget(a), scheme.error_bound(a)]
}

fn check(party: &mut Party) {
    let Party { scheme: s, secret, public, relin, galois, rng } = party;
    let plain = match s.is_approximate() {
        true => s.encode_bounded(&[], s.default_scale(), s.levels(), 1.0).unwrap(),
        false => s.plaintext_of(&[1, 0]).unwrap(),
    };
    let keys = [
        (Part::Public, s.public_key_to_bytes(public), s.public_key_length()),
        (Part::Relinearisation, s.relin_key_to_bytes(relin), s.relin_key_length()),
        (
            Part::Rotations,
            s.galois_keys_to_bytes(galois),
            s.galois_keys_length(galois.elements().count()),
        ),
    ];
    for (part, bytes, length) in &keys {
        assert_eq!(bytes.len(), *length, "{part:?}");
    }
    for count in 1..=3 {
        let some: Vec<_> = keys[..count].iter().map(|(part, key, _)| (*part, &**key)).collect();
        let lengths: Vec<usize> = keys[..count].iter().map(|(_, _, length)| *length).collect();
        assert_eq!(public_keys::join(&some).unwrap().len(), public_keys::length(&lengths));
    }
    let element = galois.elements().next().unwrap();
    let blank_relin = s.blank_relin_key().unwrap();
    let blank_galois = s.blank_galois_keys(&[element]).unwrap();
    for under in [Encryption::PublicKey, Encryption::SecretKey] {
        let a = match under {
            Encryption::PublicKey => s.encrypt(public, &plain, rng).unwrap(),
            Encryption::SecretKey => {
                let seeded = s.encrypt_seeded(secret, &plain, rng).unwrap();
                assert_eq!(s.seeded_to_bytes(&seeded).len(), s.seeded_length(s.levels()));
                s.expand(&seeded).unwrap()
            }
        };
        let blank = s.blank(under);
        assert_eq!(claims(s, &a), claims(s, &blank));
        assert!(s.decrypt(secret, &blank).is_err(), "it is nobody's");
        for level in 1..=s.levels() {
            if let Ok(low) = s.mod_switch_to(&a, level) {
                let length = s.ciphertext_length(level, 2);
                assert_eq!(s.ciphertext_to_bytes(&low).len(), length);
            }
        }
        let Ok(square) = s.square(&a) else { continue };
        assert_eq!(
            s.ciphertext_to_bytes(&square).len(),
            s.ciphertext_length(square.level(), square.components())
        );
        let image = s.apply_galois(&a, element, galois).unwrap();
        assert_eq!(
            claims(s, &image),
            claims(s, &s.apply_galois(&blank, element, &blank_galois).unwrap())
        );
        let product = s.product(relin, &a, Some(&a));
        let tried = s.product(&blank_relin, &blank, Some(&blank));
        match (product, tried) {
            (Ok(product), Ok(tried)) => assert_eq!(claims(s, &product), claims(s, &tried)),
            (product, tried) => assert!(product.is_err() && tried.is_err()),
        }
    }
}

#[test]
fn lengths_and_blanks_are_as_told() {
    for (seed, chain) in CHAINS.into_iter().enumerate() {
        for set in sets(chain) {
            check(&mut party(set, seed as u64));
        }
    }
}

/// Of all named sets, whatever their size: ciphertexts without a key.
#[test]
fn blank_ciphertexts_of_all_named_sets_are_as_long_as_told() {
    for preset in &presets::PRESETS {
        let Ok(Some(spec)) = preset.vectors(1.0) else { continue };
        let s = Rlwe::new(spec, preset.assurance()).unwrap();
        let blank = s.blank(Encryption::SecretKey);
        assert_eq!(s.ciphertext_to_bytes(&blank).len(), s.ciphertext_length(s.levels(), 2));
    }
}
