//! Digits of numbers modulo prime powers, against those of plain integers.

use hesc_circuits::vectors::Digits;
use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::{PlaintextSpace, RelinKey, Rlwe, SchemeKind, SecretKey, Spec};
use hesc_schemes::{Assurance, SchemeError};
use rand_core::{Rng as _, SeedableRng as _};

fn set(scheme: SchemeKind, ring: RingIndex, plain_modulus: u64, primes: usize) -> Rlwe {
    let mut special_moduli = ring.ntt_primes_of_bits(&vec![45; primes + 1], 1).unwrap();
    let spec = Spec {
        scheme,
        ring,
        coeff_moduli: special_moduli.split_off(1),
        levels: Vec::new(),
        special_moduli,
        plaintext: PlaintextSpace::Integers { plain_modulus },
        bound: 1.0,
        packing: None,
    };
    Rlwe::new(spec, Assurance::Insecure).unwrap()
}

fn keys(scheme: &Rlwe, seed: u8) -> (SecretKey, RelinKey) {
    let rng = &mut AesCtrRng::from_seed([seed; 32]);
    let (secret, _) = scheme.generate_keys(rng);
    let relin = scheme.generate_relin_key(&secret, rng).unwrap();
    (secret, relin)
}

/// Digits of a number, the lowest first: 0 and 1, or centred.
fn plain_digits(mut x: i64, base: i64, digits: u32) -> Vec<i64> {
    let mut digit = || {
        let low = x.rem_euclid(base);
        let digit = if base > 2 && low > base / 2 { low - base } else { low };
        x = (x - digit) / base;
        digit
    };
    (0..digits).map(|_| digit()).collect()
}

#[test]
fn digits_are_those_of_plain_integers() {
    let all = [
        (255, 2, 5, 5),
        (51, 2, 2, 3),
        (85, 3, 3, 6),
        (51, 5, 2, 5),
        (85, 7, 2, 5),
        (255, 2, 1, 2),
    ];
    let kinds = [(SchemeKind::Bfv, 0), (SchemeKind::Bgv, 3)];
    let cases = kinds.into_iter().flat_map(|kind| all.map(|case| (kind, case)));
    for ((kind, more), (index, base, count, primes)) in cases {
        let ring = RingIndex::new(index).unwrap();
        let modulus = (base as u64).pow(count);
        let scheme = set(kind, ring, modulus, primes + more);
        let digits = Digits::new(&scheme).unwrap();
        let (secret, relin) = keys(&scheme, 3);
        let rng = &mut AesCtrRng::from_seed([4; 32]);
        let mut shown = vec![0; base as usize];
        for round in 0..8 {
            let numbers: Vec<i64> = (0..scheme.slot_count() as i64)
                .map(|i| {
                    if round == 0 { i } else { rng.next_u32() as i64 }.rem_euclid(modulus as i64)
                })
                .map(|x| if x > modulus as i64 / 2 { x - modulus as i64 } else { x })
                .collect();
            let plain = scheme.encode_integers(&numbers).unwrap();
            let fresh = scheme.encrypt_seeded(&secret, &plain, rng).unwrap();
            let found = digits.extract(&relin, &scheme.expand(&fresh).unwrap()).unwrap();
            assert_eq!(found.len(), count as usize);
            let own = digits.set().secret_key_of(&scheme, &secret).unwrap();
            let found: Vec<Vec<i64>> = found
                .iter()
                .map(|digit| digits.set().decrypt(&own, digit).unwrap())
                .map(|plain| digits.set().decode_integers(&plain).unwrap())
                .collect();
            for (slot, &x) in numbers.iter().enumerate() {
                let expected = plain_digits(x, base, count);
                for (digit, expected) in found.iter().zip(&expected) {
                    assert_eq!(
                        (digit[slot] - expected).rem_euclid(base),
                        0,
                        "{kind:?}, {base}^{count}, {x}"
                    );
                    shown[expected.rem_euclid(base) as usize] += 1;
                }
            }
        }
        assert!(shown.iter().all(|&times| times > 0), "{shown:?}");
    }
}

/// Digits are factors of further products, under the relinearisation key of the first set.
#[test]
fn digits_multiply() {
    for kind in [SchemeKind::Bfv, SchemeKind::Bgv] {
        digits_of_a_scheme_multiply(kind);
    }
}

fn digits_of_a_scheme_multiply(kind: SchemeKind) {
    let scheme = set(kind, RingIndex::new(255).unwrap(), 8, 5);
    let (secret, relin) = keys(&scheme, 5);
    let digits = Digits::new(&scheme).unwrap();
    assert_eq!((0..3).map(|digit| digits.depth(digit)).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(Digits::depths(&scheme).unwrap(), [0, 1, 2]);
    let plain = scheme.encode_integers(&[4, -3, -2, -1, 0, 1, 2, 3]).unwrap();
    let rng = &mut AesCtrRng::from_seed([6; 32]);
    let fresh = scheme.expand(&scheme.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap();
    let bits = digits.extract(&relin, &fresh).unwrap();
    let own = digits.set().relin_key_of(&scheme, &relin).unwrap();
    let product = digits.set().product(&own, &bits[1], Some(&bits[2])).unwrap();
    let secret = digits.set().secret_key_of(&scheme, &secret).unwrap();
    let found = digits.set().decrypt(&secret, &product).unwrap();
    let found = digits.set().decode_integers(&found).unwrap();
    let found: Vec<i64> = found[..8].iter().map(|bit| bit.rem_euclid(2)).collect();
    assert_eq!(found, [0, 0, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn what_has_no_digits_is_refused() {
    let ring = RingIndex::new(255).unwrap();
    let of = |scheme, modulus| set(scheme, ring, modulus, 3);
    // A set of BGV by itself has other keys than one that was made of a larger plaintext modulus.
    let (eight, two) = (of(SchemeKind::Bgv, 8), of(SchemeKind::Bgv, 2));
    let (_, relin) = keys(&eight, 1);
    let refused = two.relin_key_of(&eight, &relin).err();
    assert!(matches!(refused, Some(SchemeError::Parameter { name: "set", .. })), "{refused:?}");
    assert!(eight.with_plain_modulus(2).unwrap().relin_key_of(&eight, &relin).is_ok());
    assert!(matches!(
        Digits::new(&of(SchemeKind::Bfv, 19 * 19)),
        Err(SchemeError::Parameter { name: "base", .. })
    ));
    let power_of_two = set(SchemeKind::Bfv, RingIndex::power_of_two(1024).unwrap(), 8, 3);
    assert!(Digits::new(&power_of_two).is_err());
    let (scheme, other) = (of(SchemeKind::Bfv, 8), set(SchemeKind::Bfv, ring, 8, 4));
    for modulus in [0, 1, 3, 16] {
        let refused = scheme.with_plain_modulus(modulus);
        assert!(matches!(refused, Err(SchemeError::Parameter { name: "plain_modulus", .. })));
    }
    let (secret, relin) = keys(&scheme, 1);
    let lower = scheme.with_plain_modulus(2).unwrap();
    assert!(lower.secret_key_of(&scheme, &secret).is_ok());
    let strange = |found: Option<SchemeError>| {
        assert!(matches!(found, Some(SchemeError::ParameterMismatch { .. })), "{found:?}");
    };
    strange(lower.secret_key_of(&other, &secret).err());
    strange(lower.relin_key_of(&other, &relin).err());
    let (secret, relin) = keys(&other, 1);
    strange(lower.secret_key_of(&scheme, &secret).err());
    strange(Digits::new(&scheme).unwrap().extract(&relin, &fresh(&scheme)).err());
    strange(lower.divided(&scheme, &fresh(&other)).err());
    strange(lower.reduced(&other, &fresh(&other)).err());
    // Too few primes for the products of ten bits.
    let scheme = set(SchemeKind::Bfv, ring, 1024, 2);
    let (_, relin) = keys(&scheme, 1);
    let refused = Digits::new(&scheme).unwrap().extract(&relin, &fresh(&scheme)).err();
    assert!(matches!(refused, Some(SchemeError::NoiseBudget { .. })), "{refused:?}");
}

fn fresh(scheme: &Rlwe) -> hesc_schemes::rlwe::Ciphertext {
    let (secret, _) = keys(scheme, 1);
    let plain = scheme.encode_integers(&[1, 2, 3]).unwrap();
    let rng = &mut AesCtrRng::from_seed([2; 32]);
    scheme.expand(&scheme.encrypt_seeded(&secret, &plain, rng).unwrap()).unwrap()
}
