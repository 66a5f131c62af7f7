//! Elements, bounds and keys of the schemes with a ciphertext for each bit.

use hesc_schemes::SchemeError;
use hesc_schemes::streams::Wire;
use hesc_schemes::streams::bitwise::{BitCipher, Bitwise};

use super::super::frames::{self, TAGGED, forge, overwrite};
use super::super::parties::{self, element_bytes};
use super::{Ciphertexts, Compact, Frames, PublicKey, SecretKey, Seeded};

const OUTSIDE: &str = "an element is not in the group";
const NO_KEY: &str = "it is no key of this parameter set";

/// Every hostile element at the first and the last place of a batch, in either half, and as a public key.
fn check<C: BitCipher>(frames: &Frames<'_, Bitwise<C>>, hostile: &[Vec<u8>]) {
    let cipher = frames.party.scheme.cipher();
    let size = element_bytes(cipher);
    let last = |object| frames.get(object).len() - 16 - size;
    let start = TAGGED + 12 + cipher.context_bytes();
    let middle = start + cipher.block_bytes() / 2;
    for element in hostile {
        assert_eq!(element.len(), size);
        for at in [start, middle, last(Ciphertexts)] {
            frames.assert_overwritten(Ciphertexts, at, element, OUTSIDE);
        }
        // Ciphertexts are as small as they get: both forms are one.
        frames.assert_overwritten(Compact, start, element, OUTSIDE);
        if cipher.name() != "gm" {
            frames.assert_overwritten(Seeded, TAGGED + 36, element, OUTSIDE);
            frames.assert_overwritten(Seeded, last(Seeded), element, OUTSIDE);
            frames.assert_overwritten(PublicKey, TAGGED + 8, element, NO_KEY);
        }
    }
}

/// Bounds on counts that a batch claims.
fn bounds<C: BitCipher>(frames: &Frames<'_, Bitwise<C>>) {
    let cipher = frames.party.scheme.cipher();
    let impossible = "the bound on counts is impossible";
    let claim = |bound: u64| overwrite(frames.get(Ciphertexts), TAGGED, &bound.to_le_bytes());
    frames.assert_overwritten(Ciphertexts, TAGGED, &[0; 8], impossible);
    assert_eq!(frames.refused(Ciphertexts, &claim(cipher.max_count())), None);
    for beyond in [cipher.max_count() + 1, 1 << 62, u64::MAX] {
        match frames.refused(Ciphertexts, &claim(beyond)) {
            Some(SchemeError::CountBound { .. }) if !cipher.counts_parity() => {}
            Some(SchemeError::Wire { problem, .. }) if cipher.counts_parity() => {
                assert_eq!(problem, impossible);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Secret keys of another length, zero, and beyond the group's order.
fn secrets<C: BitCipher>(frames: &Frames<'_, Bitwise<C>>, hostile: &[Vec<u8>]) {
    let frame = frames.get(SecretKey);
    let body = |key: &[u8]| {
        forge(frame, |frame| {
            frame.truncate(TAGGED);
            frame.extend((key.len() as u64).to_le_bytes());
            frame.extend(key);
        })
    };
    let honest = frames::body(frame, TAGGED + 8);
    assert_eq!(frames.refused(SecretKey, &body(honest)), None);
    let zero = vec![0; honest.len()];
    let shorter = honest[1..].to_vec();
    for key in hostile.iter().chain([&zero, &shorter, &Vec::new()]) {
        frames.assert_problem(SecretKey, &body(key), &[NO_KEY]);
    }
    let endless = overwrite(frame, TAGGED, &(1u64 << 62).to_le_bytes());
    frames.assert_problem(SecretKey, &endless, &["it ends too early"]);
}

/// Encodings of ristretto255 (RFC 9496): not reduced, negative, not square.
#[test]
fn ristretto_is_read_canonically() {
    let mut prime = vec![0xFF; 32];
    (prime[0], prime[31]) = (0xED, 0x7F);
    let mut two = prime.clone();
    two[0] = 0xEF;
    let one = [vec![1], vec![0; 31]].concat();
    let hostile = [prime, two, one, vec![0xFF; 32]];
    // The order of the group, 2^252 + 27742317777372353535851937790883648493.
    let order = [
        0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let secret = [order.to_vec(), vec![0xFF; 32]];
    let frames = Frames::of(parties::ec_elgamal());
    check(&frames, &hostile);
    bounds(&frames);
    secrets(&frames, &secret);
    // Nothing is hidden under the neutral element.
    frames.assert_overwritten(PublicKey, TAGGED + 8, &[0; 32], NO_KEY);
    let frames = Frames::of(parties::unipolar_elgamal());
    check(&frames, &hostile);
    bounds(&frames);
    secrets(&frames, &secret);
    frames.assert_overwritten(PublicKey, TAGGED + 8, &[0; 32], NO_KEY);
}

/// Compressed points of secp256r1 (SEC 1): another prefix, a coordinate that is not reduced, or of no point.
#[test]
fn curve_points_are_read_canonically() {
    let hex = |digits: &str| -> Vec<u8> {
        (0..digits.len() / 2)
            .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
            .collect()
    };
    let prime = hex("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff");
    let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    let point = |prefix: u8, x: &[u8]| [&[prefix], x].concat();
    let frames = Frames::of(parties::ec_elgamal_secp256r1());
    let honest = &frames.get(Ciphertexts)[TAGGED + 12..][..33];
    // x = 1 belongs to no point: 1 - 3 + b is no square.
    let one = [vec![0; 31], vec![1]].concat();
    let hostile = [
        point(4, &honest[1..]),
        point(5, &honest[1..]),
        point(2, &prime),
        point(3, &prime),
        point(2, &[0xFF; 32]),
        point(2, &one),
        point(0, &one),
    ];
    check(&frames, &hostile);
    bounds(&frames);
    secrets(&frames, &[order, vec![0xFF; 32]]);
    frames.assert_overwritten(PublicKey, TAGGED + 8, &[0; 33], NO_KEY);
}

/// Residues modulo a safe prime: not reduced, zero, and no squares.
#[test]
fn residues_of_a_safe_prime_are_squares() {
    let party = parties::elgamal();
    let frames = Frames::of(party);
    let prime = party.scheme.cipher().group().prime_be();
    // Minus one is no square modulo a safe prime.
    let mut minus_one = prime.clone();
    minus_one[383] -= 1;
    check(&frames, &[prime, minus_one, vec![0; 384], vec![0xFF; 384]]);
    bounds(&frames);
    secrets(&frames, &[]);
    let one = [vec![0; 383], vec![1]].concat();
    frames.assert_overwritten(PublicKey, TAGGED + 8, &one, NO_KEY);
}

/// Residues of Goldwasser and Micali's scheme: not reduced, with a factor of the modulus, or of symbol -1;
/// moduli of other keys; primes that are none, though the name fits.
#[test]
fn residues_have_symbol_one_and_keys_are_primes() {
    let party = parties::goldwasser_micali();
    let frames = Frames::of(party);
    let modulus = frames::body(frames.get(PublicKey), TAGGED + 8).to_vec();
    let primes = frames::body(frames.get(SecretKey), TAGGED + 8).to_vec();
    let (p, q) = primes.split_at(128);
    let padded = |number: &[u8]| [vec![0; 256 - number.len()], number.to_vec()].concat();
    // Two is a square modulo q = 7 (mod 8) and none modulo p = 3.
    let hostile =
        [modulus.clone(), vec![0xFF; 256], vec![0; 256], padded(&[2]), padded(p), padded(q)];
    check(&frames, &hostile);
    bounds(&frames);
    let swapped = [q, p].concat();
    secrets(&frames, &[swapped, [p, p].concat(), vec![0xFF; 256]]);

    let strangers = party.scheme.write(&party.stranger.1);
    let strangers = frames::body(&strangers, TAGGED + 8);
    let foreign = "the modulus does not belong to the key pair";
    frames.assert_overwritten(Ciphertexts, TAGGED + 12, strangers, foreign);
    frames.assert_overwritten(Seeded, TAGGED + 36, strangers, foreign);
    frames.assert_overwritten(PublicKey, TAGGED + 8, strangers, NO_KEY);

    // A composite in place of p, of p's residue modulo 8, and the name of the product: the primes are
    // tested, not only what they multiply to.
    let number = |bytes: &[u8]| num_bigint::BigUint::from_bytes_be(bytes);
    let mut composite = number(p) + 8u8;
    while &composite % 3u8 != num_bigint::BigUint::ZERO {
        composite += 8u8;
    }
    let product = (&composite * number(q)).to_bytes_be();
    assert_eq!(product.len(), 256);
    let name = blake3::hash(&product);
    let forged = forge(frames.get(SecretKey), |frame| {
        frame[TAGGED - 16..TAGGED].copy_from_slice(&name.as_bytes()[..16]);
        frame[TAGGED + 8..][..128].copy_from_slice(&composite.to_bytes_be());
    });
    frames.assert_problem(SecretKey, &forged, &[NO_KEY]);
    // The same product passes as a public key of this name: who tells composites of three primes from
    // those of two has factored them.
    let forged = forge(frames.get(PublicKey), |frame| {
        frame[TAGGED - 16..TAGGED].copy_from_slice(&name.as_bytes()[..16]);
        frame[TAGGED + 8..].copy_from_slice(&product);
    });
    assert_eq!(frames.refused(PublicKey, &forged), None);
    // Even moduli, and such that are too short, have no symbols.
    for bad in [[&modulus[..255], &[modulus[255] & 0xFE]].concat(), padded(p)] {
        let name = blake3::hash(&bad);
        let forged = forge(frames.get(PublicKey), |frame| {
            frame[TAGGED - 16..TAGGED].copy_from_slice(&name.as_bytes()[..16]);
            frame[TAGGED + 8..].copy_from_slice(&bad);
        });
        frames.assert_problem(PublicKey, &forged, &[NO_KEY]);
    }
}
