//! What readers refuse, by name, where the checksum fits: a peer computes it as well as we do.

mod elements;
mod lattices;

use hesc_schemes::rlwe::{self, Basis, Rlwe};
use hesc_schemes::streams::{Decrypt, Encrypt, Wire};
use hesc_schemes::{Assurance, Plain, Scheme, SchemeError, Simulated, UnipolarSlots};

use super::frames::{self, HEADER, TAGGED, forge, overwrite};
use super::parties::{
    Case, Encryption, Party, read_ciphertexts, read_compact, read_public_key, read_seeded, rng,
};

/// The objects that travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    Ciphertexts,
    Seeded,
    Compact,
    PublicKey,
    SecretKey,
}

use Object::{Ciphertexts, Compact, PublicKey, SecretKey, Seeded};

const OBJECTS: [Object; 5] = [Ciphertexts, Seeded, Compact, PublicKey, SecretKey];

/// Blocks of the batches in [`Frames`].
const BLOCKS: u32 = 2;

/// A frame of each object; of compact batches none where the set has none.
struct Frames<'a, S: Scheme> {
    party: &'a Party<S>,
    frames: [Vec<u8>; 5],
}

impl<'a, S: Scheme> Frames<'a, S> {
    fn of(party: &'a Party<S>) -> Self {
        let Party { scheme, secret, public, .. } = party;
        let rng = &mut rng(1);
        let bits = party.filled(BLOCKS as usize, 5);
        let a = party.encrypt(BLOCKS as usize, 5, rng);
        let seeded = scheme.encrypt_seeded(secret, &bits, rng).unwrap();
        let frames = [
            scheme.write(&a),
            scheme.write(&seeded),
            scheme.compact(&a).map_or(Vec::new(), |compact| scheme.write(&compact)),
            scheme.write(public),
            scheme.secret_key_to_bytes(secret).to_vec(),
        ];
        Self { party, frames }
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        OBJECTS.into_iter().filter(|object| !self.get(*object).is_empty())
    }

    fn get(&self, object: Object) -> &[u8] {
        &self.frames[object as usize]
    }

    /// Why a frame is refused as such an object.
    fn refused(&self, object: Object, frame: &[u8]) -> Option<SchemeError> {
        read(&self.party.scheme, object, frame)
    }

    #[track_caller]
    fn assert_problem(&self, object: Object, frame: &[u8], expected: &[&str]) {
        match self.refused(object, frame) {
            Some(SchemeError::Wire { problem, .. }) if expected.contains(&problem) => {}
            other => panic!("{object:?}: expected {expected:?}, got {other:?}"),
        }
    }

    /// Bytes put at a place of a frame, and sealed again.
    #[track_caller]
    fn assert_overwritten(&self, object: Object, at: usize, bytes: &[u8], problem: &str) {
        self.assert_problem(object, &overwrite(self.get(object), at, bytes), &[problem]);
    }
}

fn read<S: Scheme>(scheme: &S, object: Object, frame: &[u8]) -> Option<SchemeError> {
    match object {
        Ciphertexts => read_ciphertexts(scheme, frame).err(),
        Seeded => read_seeded(scheme, frame).err(),
        Compact => read_compact(scheme, frame).err(),
        PublicKey => read_public_key(scheme, frame).err(),
        SecretKey => scheme.secret_key_from_bytes(frame).err(),
    }
}

on_every_scheme!(frames_are_read_strictly);
/// Every object: other magic, version, kind, length and checksum, cut off and extended, of another set.
fn frames_are_read_strictly<S: Scheme>(party: &Party<S>) {
    let frames = Frames::of(party);
    for object in frames.objects() {
        let whole = frames.get(object);
        assert_eq!(frames.refused(object, whole), None);
        frames.assert_overwritten(object, 0, b"HESD", "no hesc object");
        frames.assert_overwritten(object, 4, &[2], "another version of the format");
        frames.assert_overwritten(object, 5, &[0], "another kind of object");
        let mut unsealed = whole.to_vec();
        *unsealed.last_mut().unwrap() ^= 1;
        frames.assert_problem(object, &unsealed, &["the checksum does not match"]);
        let lengths = ["the length in the header is not the length of the body"];
        let mut longer = whole.to_vec();
        longer.push(0);
        frames.assert_problem(object, &longer, &lengths);
        frames.assert_problem(object, &whole[..whole.len() - 1], &lengths);
        frames.assert_problem(object, &whole[..20], &["fewer bytes than a frame has"]);
        frames.assert_problem(object, &forge(whole, |f| f.push(0)), &["bytes are left over"]);
        frames.assert_problem(object, &forge(whole, |f| _ = f.pop()), &["it ends too early"]);
        frames.assert_problem(
            object,
            &forge(whole, |f| f.truncate(HEADER)),
            &["it ends too early"],
        );
        if let Some(sibling) = &party.sibling {
            let refused = read(sibling, object, whole);
            assert!(matches!(refused, Some(SchemeError::ParameterMismatch { .. })), "{refused:?}");
        }
        for other in frames.objects() {
            let foreign = frames.get(other);
            if foreign[5] == whole[5] {
                continue;
            }
            frames.assert_problem(object, foreign, &["another kind of object"]);
            // Seeded batches are nothing else under another kind either: lengths and places differ.
            if object == Seeded || other == Seeded {
                assert!(frames.refused(object, &overwrite(foreign, 5, &whole[5..6])).is_some());
            }
        }
    }
}

on_every_scheme!(numbers_of_blocks_that_lie_are_refused);
/// No block, one fewer, one more, and more than any memory holds.
fn numbers_of_blocks_that_lie_are_refused<S: Case>(party: &Party<S>) {
    let frames = Frames::of(party);
    let batches = [Ciphertexts, Seeded, Compact];
    for object in frames.objects().filter(|object| batches.contains(object)) {
        let at = party.scheme.blocks_at(frames.get(object)[5]);
        assert_eq!(frames.get(object)[at..at + 4], BLOCKS.to_le_bytes());
        let refuse = |blocks: u32, problems: &[&str]| {
            let forged = overwrite(frames.get(object), at, &blocks.to_le_bytes());
            frames.assert_problem(object, &forged, problems);
        };
        refuse(0, &["the batch is empty"]);
        refuse(BLOCKS - 1, &["bytes are left over"]);
        // Under pads, what a block more would be says first that it is none.
        refuse(BLOCKS + 1, &["it ends too early", "a pad is of no nonce that it has"]);
        for many in [1 << 31, u32::MAX] {
            let problems =
                ["it ends too early", "a count is too large", "a pad is of no nonce that it has"];
            refuse(many, &problems);
        }
    }
}

on_every_encryption!(keys_of_two_pairs_give_no_counts);
/// The public key of one pair under the name of another: refused where the name is the key's hash, else what
/// it encrypts is refused by who holds the secret key. Only the multiplicative scheme cannot tell: there
/// everything but a one is a zero.
fn keys_of_two_pairs_give_no_counts<S: Scheme>(party: &Party<S>) {
    let Party { scheme, secret, public, stranger, .. } = party;
    let ours = scheme.write(public);
    let theirs = scheme.write(&stranger.1);
    let mixed = forge(&theirs, |frame| frame[..TAGGED].copy_from_slice(&ours[..TAGGED]));
    let Ok(mixed) = read_public_key(scheme, &mixed) else {
        assert_eq!(scheme.name(), "gm");
        return;
    };
    assert_ne!(scheme.name(), "gm");
    let a = scheme.encrypt(&mixed, &party.filled(2, u64::MAX), &mut rng(2)).unwrap();
    match scheme.decrypt(secret, &a) {
        Err(SchemeError::NotACount { .. } | SchemeError::NoiseTooLarge) => {}
        Ok(counts) => {
            assert!(scheme.name() == "unipolar_elgamal" && counts.iter().all(|&one| one == 0));
        }
        Err(other) => panic!("{other}"),
    }
}

on_every_lattice!(hostile_seeds_survive);
/// Any seed is one: what it expands to is reduced.
fn hostile_seeds_survive<S: Encryption>(party: &Party<S>) {
    let frames = Frames::of(party);
    let forged = overwrite(frames.get(Seeded), TAGGED + 4, &[0xFF; 32]);
    let seeded = read_seeded(&party.scheme, &forged).unwrap();
    let refused = party.scheme.decrypt(&party.secret, &party.scheme.expand(&seeded).unwrap());
    assert!(matches!(refused, Err(SchemeError::NotACount { .. })));
}

/// Numbers that no honest batch carries are refused as doubles, whatever they are for.
const NO_NUMBERS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Batches of ciphertexts with multiplication: blocks of two key pairs, residues, and lengths inside.
#[test]
fn batches_of_leveled_ciphertexts_are_checked_one_by_one() {
    let party: &Party<UnipolarSlots> = super::parties::unipolar_bfv_slots();
    let Party { scheme, stranger, .. } = party;
    let frames = Frames::of(party);
    let bits = party.filled(1, 5);
    let theirs = scheme.encrypt(&stranger.1, &bits, &mut rng(4)).unwrap();
    let theirs = scheme.write(&theirs);
    let their_seeded = scheme.encrypt_seeded(&stranger.0, &bits, &mut rng(5)).unwrap();
    let their_seeded = scheme.write(&their_seeded);
    for (object, theirs) in [(Ciphertexts, &theirs), (Seeded, &their_seeded), (Compact, &theirs)] {
        let mixed = forge(frames.get(object), |frame| {
            frame[HEADER..][..4].copy_from_slice(&(BLOCKS + 1).to_le_bytes());
            frame.extend(frames::body(theirs, HEADER + 4));
        });
        frames.assert_problem(object, &mixed, &["its ciphertexts belong to several key pairs"]);
        for length in [1u64 << 31, 1 << 62, u64::MAX] {
            let at = HEADER + 4;
            frames.assert_overwritten(object, at, &length.to_le_bytes(), "it ends too early");
        }
        // The last block, sealed again within the batch.
        let inner = frames::nested(frames.get(object))[1];
        let start = frames.get(object).len() - 16 - inner.len();
        let bad = forge(inner, |inner| {
            let at = 8 * (inner.len() - 5504);
            frames::write_bits(inner, at, 43, (1 << 43) - 1);
        });
        let forged = overwrite(frames.get(object), start, &bad);
        frames.assert_problem(object, &forged, &["a residue is not below its modulus"]);
        let unsealed =
            overwrite(frames.get(object), start + inner.len() - 1, &[!inner[inner.len() - 1]]);
        frames.assert_problem(object, &unsealed, &["the checksum does not match"]);
    }
}

/// Decrypts a batch whose first block is well formed and somebody else's.
fn decrypted_with(
    party: &Party<UnipolarSlots>,
    block: impl FnOnce(&Rlwe, rlwe::Ciphertext) -> rlwe::Ciphertext,
) -> Result<Vec<u32>, SchemeError> {
    let Party { scheme, secret, .. } = party;
    let inside = Rlwe::new(scheme.spec().clone(), Assurance::Insecure).unwrap();
    let frames = Frames::of(party);
    let frame = frames.get(Ciphertexts);
    let first = frames::nested(frame)[0];
    let honest = inside.ciphertext_from_bytes(first).unwrap();
    let start = frame.windows(first.len()).position(|window| window == first).unwrap();
    let forged = overwrite(frame, start, &inside.ciphertext_to_bytes(&block(&inside, honest)));
    scheme.decrypt(secret, &read_ciphertexts(scheme, &forged).unwrap())
}

/// Blocks that hold something else than bits in their slots.
#[test]
fn slots_that_hold_no_bits_are_no_counts() {
    let refused = |counts| matches!(counts, Err(SchemeError::NotACount { block: 0 }));
    for party in [super::parties::unipolar_bfv_slots(), super::parties::unipolar_bgv_slots()] {
        assert!(decrypted_with(party, |_, honest| honest).is_ok());
        for factor in [2, -1] {
            let other = |inside: &Rlwe, honest| inside.multiply_scalar(&honest, factor).unwrap();
            assert!(refused(decrypted_with(party, other)), "{factor}");
        }
    }
    // Modulo 2, an element of an extension that is no number.
    let party = super::parties::unipolar_binary_slots();
    assert!(decrypted_with(party, |_, honest| honest).is_ok());
    let other = |inside: &Rlwe, honest| {
        let element = inside.encode_slots(Basis::Normal, &[0, 1]).unwrap();
        inside.add_plain(&honest, &element).unwrap()
    };
    assert!(refused(decrypted_with(party, other)));
}

/// Counts in the clear stay below their modulus.
#[test]
fn counts_in_the_clear_are_reduced() {
    let plain: &Party<Plain> = super::parties::plain();
    let frames = Frames::of(plain);
    for object in [Ciphertexts, Seeded, Compact] {
        for count in [11, 15] {
            let forged = forge(frames.get(object), |frame| {
                frames::write_bits(frame, 8 * (TAGGED + 4) + 4 * 255, 4, count);
            });
            frames.assert_problem(object, &forged, &["a count is not below the modulus"]);
        }
    }
    // Sets of one scheme are not those of another.
    let simulated: &Party<Simulated> = super::parties::simulated_conjunction();
    assert!(Plain::spec_from_bytes(&simulated.scheme.spec_to_bytes()).is_err());
}

#[cfg(feature = "tfhe")]
#[test]
fn blocks_on_the_torus_claim_possible_noise() {
    let party = super::parties::torus();
    let Party { scheme, secret, .. } = party;
    let frames = Frames::of(party);
    for object in [Ciphertexts, Compact] {
        for modulus in [0, 1, 3, 15, 255] {
            let problem = "the plaintext modulus is none of this scheme";
            frames.assert_overwritten(object, TAGGED + 4, &[modulus], problem);
        }
    }
    for bits in [0, 1, 32, 255] {
        let problem = "the modulus is none of a compact ciphertext";
        frames.assert_overwritten(Compact, TAGGED + 5, &[bits], problem);
    }
    let seeded = scheme.encrypt_seeded(secret, &party.filled(1, 5), &mut rng(3)).unwrap();
    let quiet = scheme.write(&scheme.expand(&seeded).unwrap());
    let least = frames::read_f64(&quiet, TAGGED + 13);
    let claim = |variance: f64| overwrite(&quiet, TAGGED + 13, &variance.to_le_bytes());
    assert_eq!(frames.refused(Ciphertexts, &claim(least)), None);
    for impossible in [0.999 * least, 0.0, -least, 1e-300, 0.1, 1e300] {
        let problem = "the noise is none that a ciphertext can have";
        frames.assert_problem(Ciphertexts, &claim(impossible), &[problem]);
    }
    for no_number in NO_NUMBERS {
        let bytes = no_number.to_le_bytes();
        frames.assert_overwritten(Ciphertexts, TAGGED + 13, &bytes, "a number is not finite");
    }
}
