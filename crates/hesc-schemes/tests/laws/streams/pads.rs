//! Pads: no nonce twice, one form for one content, factors up to a bound, and the stream cipher itself.

use std::collections::HashSet;

use hesc_math::{AesCtrRng, RngSeed};
use hesc_schemes::SchemeError;
use hesc_schemes::streams::pad::{MAX_PADS, Pad};
use hesc_schemes::streams::{Combine, Compact, Decrypt, Encrypt, Wire};
use rand_core::{Rng, SeedableRng};

use super::frames::{HEADER, TAGGED, body, forge, overwrite};
use super::parties::{pad, read_ciphertexts, rng};

/// Bytes of a nonce.
const NONCE: usize = 24;

/// Where the nonce of a fresh encryption lies.
const NONCE_AT: usize = TAGGED + 4;

fn nonce_of(seeded: &[u8]) -> [u8; NONCE] {
    seeded[NONCE_AT..][..NONCE].try_into().unwrap()
}

/// From generators in the same state and from copies of a key, in turn and on threads.
#[test]
fn a_nonce_is_never_used_twice() {
    let party = pad();
    let copy = party.scheme.secret_key_to_bytes(&party.secret);
    let of_thread = || {
        let scheme = &party.scheme;
        let copy = scheme.secret_key_from_bytes(&copy).unwrap();
        let encryptions = (0..500).flat_map(|i| {
            [&party.secret, &copy].map(|key| {
                let bits = party.filled(1, i);
                nonce_of(&scheme.write(&scheme.encrypt_seeded(key, &bits, &mut rng(1)).unwrap()))
            })
        });
        encryptions.collect::<Vec<_>>()
    };
    let nonces: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(of_thread)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(nonces.iter().collect::<HashSet<_>>().len(), 4000);
    // Nor does one say how many there were before: neighbours differ in half of their bits, 96 of 192 by chance; none
    // of 3999 pairs in fewer than 40, with a probability of 10^-13.
    let apart = |pair: &[[u8; NONCE]]| -> u32 {
        pair[0].iter().zip(pair[1]).map(|(a, b)| (a ^ b).count_ones()).sum()
    };
    assert!(nonces.windows(2).all(|pair| apart(pair) >= 40));
}

/// The first encryption of a process has the same number in each: nonces differ by what is drawn.
#[test]
fn processes_that_begin_alike_have_nonces_of_their_own() {
    const SEED: &str = "HESC_TEST_FIRST_NONCE";
    if let Ok(seed) = std::env::var(SEED) {
        let party = pad();
        let bits = party.filled(1, 3);
        let rng = &mut rng(seed.parse().unwrap());
        let seeded = party.scheme.encrypt_seeded(&party.secret, &bits, rng).unwrap();
        println!("nonce {:?}", nonce_of(&party.scheme.write(&seeded)));
        return;
    }
    let first = |seed: &str| {
        let name = "streams::pads::processes_that_begin_alike_have_nonces_of_their_own";
        let mut process = std::process::Command::new(std::env::current_exe().unwrap());
        process.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(SEED, seed);
        let told = String::from_utf8(process.output().unwrap().stdout).unwrap();
        let nonce = told.lines().find_map(|line| line.split_once("nonce ")).unwrap();
        nonce.1.to_owned()
    };
    assert_ne!(first("1"), first("2"));
}

/// A block under its pad is the bits, and the generator's output under `BLAKE3(key, nonce)`, from there on where
/// the block begins.
#[test]
fn pads_are_the_key_stream_of_a_key_of_their_own() {
    for words in [1, 2, 3, 16] {
        let scheme = Pad::new(64 * words).unwrap();
        let (secret, _) = scheme.generate_keys(&mut rng(2));
        let key: RngSeed = body(&scheme.secret_key_to_bytes(&secret), TAGGED).try_into().unwrap();
        let bits: Vec<u64> = (0..5 * words as u64).map(|i| i * 0x0123_4567_89ab_cdef).collect();
        let frame = scheme.write(&scheme.encrypt_seeded(&secret, &bits, &mut rng(3)).unwrap());
        let nonce = nonce_of(&frame);
        let mut stream = AesCtrRng::from_seed(*blake3::keyed_hash(&key, &nonce).as_bytes());
        let mut expected = Vec::new();
        for block in bits.chunks(words) {
            expected.extend(block.iter().flat_map(|word| (word ^ stream.next_u64()).to_le_bytes()));
            // Blocks begin with whole blocks of AES.
            if words % 2 == 1 {
                stream.next_u64();
            }
        }
        // A bit for each bit, and what a frame has.
        assert_eq!(body(&frame, NONCE_AT + NONCE), expected);
    }
}

/// Two encryptions of one text differ in half of their bits: 1,281,024 of them, beyond six deviations with a
/// probability of 2e-9.
#[test]
fn encryptions_of_one_text_have_nothing_in_common() {
    let scheme = Pad::new(64 * 1001).unwrap();
    let (secret, _) = scheme.generate_keys(&mut rng(4));
    let bits = vec![0; 20 * 1001];
    let words = || {
        let frame = scheme.write(&scheme.encrypt_seeded(&secret, &bits, &mut rng(5)).unwrap());
        body(&frame, NONCE_AT + NONCE).to_vec()
    };
    let both = words().into_iter().zip(words());
    let ones: u32 = both.map(|(a, b)| (a ^ b).count_ones()).sum();
    let count = 64.0 * 20.0 * 1001.0;
    assert!((f64::from(ones) - count / 2.0).abs() < 6.0 * (count / 4.0f64).sqrt(), "{ones}");
}

/// As many factors as a block says how many it has, and no more; what meets itself leaves nothing.
#[test]
fn products_have_as_many_factors_as_blocks_remember() {
    let party = pad();
    let (scheme, rng) = (&party.scheme, &mut rng(6));
    let factors: Vec<_> = (0..=MAX_PADS as u64).map(|i| party.encrypt(1, i, rng)).collect();
    let parts: Vec<_> = factors.iter().collect();
    let row = |count| vec![(0..count).map(|part| (part, 0)).collect::<Vec<_>>()];
    let most = scheme.combine_rows(&parts, &row(MAX_PADS)).unwrap();
    let counts = scheme.decrypt(&party.secret, &most).unwrap();
    // Every number below 255 is there once: 2^8 - 1 exclusive ors to 0 with 255.
    let expected = (0..MAX_PADS as u64).fold(0, |all, i| all ^ i);
    let bits: Vec<u32> =
        (0..scheme.block_length()).map(|i| (expected >> (i % 64)) as u32 & 1).collect();
    assert_eq!(counts, bits);
    let alone = scheme.combine_rows(&parts, &row(1)).unwrap();
    let of_one = |a| scheme.decrypt(&party.secret, a).unwrap();
    assert_eq!(of_one(&alone), of_one(&factors[0]));
    let second = scheme.combine_rows(&parts, &[vec![(1, 0)]]).unwrap();
    assert_eq!(of_one(&second), of_one(&factors[1]));
    let refused = scheme.combine_rows(&parts, &row(MAX_PADS + 1)).unwrap_err();
    assert!(refused.to_string().contains("factors = 256"), "{refused}");
    let refused = scheme.combine(&most, &factors[MAX_PADS]).unwrap_err();
    assert!(refused.to_string().contains("255 pads"), "{refused}");
    // Their pads are gone, and so are their nonces.
    let nothing = scheme.combine(&most, &most).unwrap();
    assert!(scheme.decrypt(&party.secret, &nothing).unwrap().iter().all(|bit| *bit == 0));
    assert!(scheme.write(&nothing).len() < TAGGED + 16 + 1 + 64);
}

/// What is not the one form of its content is refused, and no frame names pads that its own bytes do not pay for.
#[test]
fn sources_that_lie_are_refused() {
    let party = pad();
    let (scheme, rng) = (&party.scheme, &mut rng(7));
    let (a, b) = (party.encrypt(2, 3, rng), party.encrypt(2, 5, rng));
    let product = scheme.combine(&a, &b).unwrap();
    let frame = scheme.write(&product);
    let read = |frame: &[u8]| match read_ciphertexts(scheme, frame) {
        Err(SchemeError::Wire { problem, .. }) => problem,
        Err(other) => panic!("{other}"),
        Ok(_) => "",
    };
    assert_eq!(read(&frame), "");
    let nonces = TAGGED + 8;
    let sources = nonces + 2 * NONCE;
    let first = frame[nonces..][..NONCE].to_vec();
    let swapped = forge(&frame, |f| f[nonces..sources].rotate_left(NONCE));
    assert_eq!(read(&swapped), "its nonces do not ascend");
    let twice = overwrite(&frame, nonces + NONCE, &first);
    assert_eq!(read(&twice), "its nonces do not ascend");
    let unused = forge(&frame, |f| {
        f.splice(nonces + 2 * NONCE..nonces + 2 * NONCE, [0xff; NONCE]);
        f[TAGGED + 4] = 3;
    });
    assert_eq!(read(&unused), "it has nonces without blocks");
    assert_eq!(read(&overwrite(&frame, sources + 1, &[2])), "a pad is of no nonce that it has");
    let same = frame[sources + 1..][..8].to_vec();
    assert_eq!(read(&overwrite(&frame, sources + 9, &same)), "the pads of a block do not ascend");
    assert_eq!(read(&overwrite(&frame, TAGGED + 4, &[255; 4])), "it ends too early");
    // A block that was never encrypted is a pad like any other: nobody knows what lies under it.
    let beyond = overwrite(&frame, sources + 5, &[9, 0, 0, 0]);
    let far = read_ciphertexts(scheme, &beyond).unwrap();
    assert!(scheme.decrypt(&party.secret, &far).is_ok());
}

/// The refusals have their reasons.
#[test]
fn what_pads_do_not_have_is_refused_with_the_reason() {
    let party = pad();
    let (scheme, rng) = (&party.scheme, &mut rng(8));
    let a = party.encrypt(1, 3, rng);
    let said =
        |error: SchemeError, words: &str| assert!(error.to_string().contains(words), "{error}");
    let outcome = scheme.encrypt(&party.public, &party.filled(1, 1), rng).map(drop);
    said(outcome.unwrap_err(), "the key owner encrypts, with the secret key");
    let outcome = scheme.rerandomise(&party.public, &a, rng).map(drop);
    said(outcome.unwrap_err(), "nobody but the key owner can make a fresh pad");
    said(scheme.refusal("a mask").unwrap(), "a mask does not exist in pad");
    assert!(scheme.masking().is_none() && scheme.weighting().is_none());
    assert!(scheme.moving().is_none());
    assert_eq!(scheme.security().name(), "symmetric128");
    let read = scheme.write(&scheme.compact(&a).unwrap());
    assert_eq!(read, scheme.write(&a));
    assert!(read.len() > HEADER);
    for length in [0, 63, 65, (1 << 20) + 64] {
        assert!(matches!(Pad::new(length), Err(SchemeError::Parameter { .. })));
    }
}
