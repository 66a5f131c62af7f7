//! What rerandomising does: every position gets randomness of its own.

use std::collections::HashSet;

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use hesc_schemes::streams::{Combine, Encrypt, Wire};

use super::frames::{self, TAGGED};
use super::parties::{self, Encryption, Party, rng};

/// More blocks than any scheme serves with one generator.
const BLOCKS: usize = 18;

/// Blocks that are copies of one ciphertext; where positions are ciphertexts, all of them copies of one.
fn copies<S: Encryption>(party: &Party<S>, blocks: usize, word: u64) -> S::Ciphertexts {
    let Party { scheme, .. } = party;
    let one = party.encrypt(1, word, &mut rng(1));
    let sources = vec![Some((0, 0)); blocks * scheme.block_length()];
    match scheme.moving() {
        Some(moving) => moving.gather(&[&one], &sources).unwrap(),
        None => scheme.select(&one, &vec![0; blocks]).unwrap(),
    }
}

on_every_encryption!(each_copy_gets_a_factor_of_its_own);
/// Copies of one ciphertext differ after rerandomising, each part in each block and position, twice: what was
/// multiplied or added to each was its own. The counts stay. Honest parts have 256 bits and more: false alarm
/// below 1e-60.
fn each_copy_gets_a_factor_of_its_own<S: Encryption>(party: &Party<S>) {
    let Party { scheme, secret, public, .. } = party;
    let rng = &mut rng(2);
    let copies = copies(party, BLOCKS, u64::MAX);
    let counts = scheme.decrypt(secret, &copies).unwrap();
    assert!(counts.iter().all(|&one| one == 1));
    let frame = scheme.write(&copies);
    let mut seen: HashSet<Vec<u8>> = scheme.parts(&frame).into_iter().map(<[u8]>::to_vec).collect();
    for _ in 0..2 {
        let fresh = scheme.rerandomise(public, &copies, rng).unwrap();
        for (at, part) in scheme.parts(&scheme.write(&fresh)).into_iter().enumerate() {
            assert!(seen.insert(part.to_vec()), "part {at} was there before");
        }
        assert!(scheme.decrypt(secret, &fresh).unwrap() == counts, "the counts stay");
    }
}

/// The elements in which the multiplicative scheme hides its bits: `c_2 / c_1^s`.
fn hidden(frame: &[u8], secret: &[u8]) -> Vec<RistrettoPoint> {
    let scalar = Scalar::from_canonical_bytes(frames::body(secret, TAGGED + 8).try_into().unwrap());
    let point =
        |bytes: &[u8]| CompressedRistretto::from_slice(bytes).unwrap().decompress().unwrap();
    let blocks = frames::body(frame, TAGGED + 12).chunks_exact(128 * 32);
    let of_block = |block: &[u8]| -> Vec<RistrettoPoint> {
        let points: Vec<RistrettoPoint> = block.chunks_exact(32).map(point).collect();
        (0..64).map(|i| points[64 + i] - points[i] * scalar.unwrap()).collect()
    };
    blocks.flat_map(of_block).collect()
}

/// Who holds the key and knows one factor of a product sees from a rerandomised zero nothing of the other:
/// copies of one zero are hidden in elements that all differ, from that of the zero and of the factor too.
#[test]
fn rerandomised_zeros_hide_in_elements_of_their_own() {
    let party = parties::unipolar_elgamal();
    let scheme = &party.scheme;
    let rng = &mut rng(3);
    let secret = scheme.secret_key_to_bytes(&party.secret);
    let (known, other) = (copies(party, 1, 0), party.encrypt(1, u64::MAX << 32, rng));
    let product = scheme.combine(&known, &other).unwrap();
    let fresh = scheme.rerandomise(&party.public, &product, rng).unwrap();
    let [known, product, fresh] =
        [&known, &product, &fresh].map(|a| hidden(&scheme.write(a), &secret));
    let telling = known.iter().zip(&product).filter(|(a, b)| a == b).count();
    assert_eq!(telling, 32, "before, the element tells the other bit");
    let mut seen: HashSet<[u8; 32]> = HashSet::new();
    for point in product.iter().chain(&known) {
        seen.insert(point.compress().to_bytes());
    }
    for (at, point) in fresh.iter().enumerate() {
        assert!(*point != RistrettoPoint::identity(), "position {at} became a one");
        assert!(seen.insert(point.compress().to_bytes()), "position {at} is hidden as another");
    }
}
