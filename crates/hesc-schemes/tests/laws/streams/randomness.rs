//! Nothing random is ever used twice, and public seeds tell nothing of noise.

use hesc_schemes::streams::Blocks;
use std::collections::HashSet;

use hesc_math::AesCtrRng;
use rand_core::{Infallible, Rng, TryCryptoRng, TryRng};

use super::lattice::{LatticeEncryption, assert_noise, assert_small};
use super::parties::{Encryption, Party, read_seeded, rng};

/// More blocks than any scheme serves with one generator.
const BLOCKS: usize = 18;
/// Both bits.
const PATTERN: u64 = 0x5555_5555_5555_5555;

/// Remembers all and refuses what it has seen before.
#[derive(Default)]
struct Seen(HashSet<Vec<u8>>);

impl Seen {
    fn never_again<T: AsRef<[u8]>>(&mut self, what: &str, items: impl IntoIterator<Item = T>) {
        for (at, item) in items.into_iter().enumerate() {
            assert!(self.0.insert(item.as_ref().to_vec()), "{what} {at} was there before");
        }
    }
}

on_every_encryption!(equal_bits_never_repeat);
/// Equal bits in more than sixteen blocks, twice under either key: no part of a ciphertext and no public seed
/// comes twice. Honest parts have 64 bits and more: false alarm below 1e-15.
fn equal_bits_never_repeat<S: Encryption>(party: &Party<S>) {
    let Party { scheme, secret, public, .. } = party;
    let rng = &mut rng(1);
    let bits = party.filled(BLOCKS, PATTERN);
    let (mut parts, mut seeds, mut seeded_parts) =
        (Seen::default(), Seen::default(), Seen::default());
    seeds.never_again("key seed", scheme.key_seed(&scheme.write(public)));
    for call in 1..=2 {
        let full = scheme.encrypt(public, &bits, rng).unwrap();
        parts.never_again("part", scheme.parts(&scheme.write(&full)));
        let seeded = scheme.encrypt_seeded(secret, &bits, rng).unwrap();
        let frame = scheme.write(&seeded);
        seeds.never_again("seed", scheme.seeds(&frame));
        seeded_parts.never_again("seeded part", scheme.seeded_parts(&frame));
        let expanded = scheme.expand(&seeded).unwrap();
        parts.never_again("part", scheme.parts(&scheme.write(&expanded)));
        assert_eq!(expanded.blocks(), BLOCKS, "call {call}");
    }
}

/// A generator that remembers what it gave and gives chosen bytes at chosen requests.
struct Tape {
    source: AesCtrRng,
    given: Vec<Vec<u8>>,
    chosen: Vec<(usize, Vec<u8>)>,
}

impl Tape {
    fn new(seed: u8, chosen: &[(usize, Vec<u8>)]) -> Self {
        Self { source: rng(seed), given: Vec::new(), chosen: chosen.to_vec() }
    }

    /// The requests that these bytes answered, which must be there: what is public was drawn, not made of
    /// something else.
    fn requests_of(&self, public: &[&[u8]]) -> Vec<(usize, Vec<u8>)> {
        let request = |bytes: &&[u8]| {
            let at = self.given.iter().position(|given| given == bytes);
            (at.expect("a public seed is drawn from the generator"), bytes.to_vec())
        };
        public.iter().map(request).collect()
    }
}

impl TryRng for Tape {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        // Also drawn where other bytes are given, so that what follows is the same.
        self.source.fill_bytes(destination);
        let request = self.given.len();
        if let Some((_, bytes)) = self.chosen.iter().find(|(at, _)| *at == request) {
            destination.copy_from_slice(bytes);
        }
        self.given.push(destination.to_vec());
        Ok(())
    }
}

impl TryCryptoRng for Tape {}

/// Other bytes at the same requests.
fn others(requests: &[(usize, Vec<u8>)]) -> Vec<(usize, Vec<u8>)> {
    requests.iter().map(|(at, bytes)| (*at, bytes.iter().map(|b| !b).collect())).collect()
}

fn all_differ(a: &[&[u8]], b: &[&[u8]]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a != b)
}

on_every_encryption!(public_seeds_and_noise_are_free_of_each_other);
/// Who repeats the public seed alone gets other ciphertexts wherever there is private randomness; who repeats
/// all but the public seed gets others too.
fn public_seeds_and_noise_are_free_of_each_other<S: Encryption>(party: &Party<S>) {
    let Party { scheme, secret, .. } = party;
    // Zeros: what the multiplicative schemes hide by random elements.
    let bits = party.filled(2, 0);
    let encrypt = |tape: &mut Tape| {
        let seeded = scheme.encrypt_seeded(secret, &bits, tape).unwrap();
        scheme.write(&seeded)
    };
    let mut tape = Tape::new(2, &[]);
    let first = encrypt(&mut tape);
    let requests = tape.requests_of(&scheme.seeds(&first));

    let same_seed = encrypt(&mut Tape::new(3, &requests));
    assert_eq!(scheme.seeds(&first), scheme.seeds(&same_seed));
    let (a, b) = (scheme.seeded_parts(&first), scheme.seeded_parts(&same_seed));
    if scheme.seed_says_all() {
        assert_eq!(a, b, "nothing is random but the seed");
    } else {
        assert!(all_differ(&a, &b), "the public seed fixes the noise");
    }

    let other_seed = encrypt(&mut Tape::new(2, &others(&requests)));
    assert!(all_differ(&scheme.seeds(&first), &scheme.seeds(&other_seed)), "a constant seed");
    let expand = |frame: &[u8]| scheme.expand(&read_seeded(scheme, frame).unwrap()).unwrap();
    let read = expand(&other_seed);
    let [one, other] = [&expand(&first), &read].map(|a| scheme.write(a));
    let (one, other) = (scheme.parts(&one), scheme.parts(&other));
    // The half that the seed gives; the other one of a multiplicative zero is private randomness alone.
    let differ = one.iter().zip(&other).filter(|(a, b)| a != b).count();
    assert!(2 * differ >= one.len(), "the noise fixes what is public");
    let ones = scheme.decrypt(secret, &read).unwrap();
    assert!(ones.iter().all(|&one| one == 0));
}

on_every_encryption!(key_seeds_and_secrets_are_free_of_each_other);
/// The same of key pairs.
fn key_seeds_and_secrets_are_free_of_each_other<S: Encryption>(party: &Party<S>) {
    let scheme = &party.scheme;
    let generate = |tape: &mut Tape| {
        let (secret, public) = scheme.generate_keys(tape);
        (scheme.secret_key_to_bytes(&secret), scheme.write(&public))
    };
    let public = scheme.write(&party.public);
    // Keys of groups and residues have no public seed.
    if scheme.key_seed(&public).is_none() {
        return;
    }
    let mut tape = Tape::new(4, &[]);
    let (secret, public) = generate(&mut tape);
    let requests = tape.requests_of(&[scheme.key_seed(&public).unwrap()]);
    let (same_secret, same_public) = generate(&mut Tape::new(5, &requests));
    assert_eq!(scheme.key_seed(&public), scheme.key_seed(&same_public));
    let body = |frame: &[u8]| frame[super::frames::TAGGED..].to_vec();
    assert_ne!(body(&secret), body(&same_secret), "the public seed fixes the secret");
    let (other_secret, other_public) = generate(&mut Tape::new(4, &others(&requests)));
    assert_eq!(*secret, *other_secret, "the secret depends on the public seed");
    assert_ne!(scheme.key_seed(&public), scheme.key_seed(&other_public));
}

/// One polynomial as bytes, to be seen once.
fn bytes(poly: &[i128]) -> Vec<u8> {
    poly.iter().flat_map(|x| x.to_le_bytes()).collect()
}

on_every_lattice!(noise_is_what_it_is_said_to_be);
/// The noise and the masks of all encryptions, laid open: of the right size from below and above, and none
/// twice, within blocks and across them. Five standard errors: false alarm once in a million for each.
fn noise_is_what_it_is_said_to_be<S: LatticeEncryption>(party: &Party<S>) {
    let Party { scheme, secret, public, .. } = party;
    let rng = &mut rng(6);
    let zeros = party.filled(BLOCKS, 0);
    let transparent = scheme.transparent(public);
    let mut seen = Seen::default();
    let (mut masks, mut noise) = (Vec::new(), [const { Vec::new() }; 3]);
    for _ in 0..2 {
        let a = scheme.encrypt(&transparent, &zeros, rng).unwrap();
        for opened in scheme.randomness(public, &a) {
            seen.never_again("mask", [bytes(&opened.mask)]);
            seen.never_again("noise", opened.noise.each_ref().map(|poly| bytes(poly)));
            masks.extend(opened.mask);
            let [first, second] = opened.noise;
            noise[0].extend(first);
            noise[1].extend(second);
        }
        let seeded = scheme.encrypt_seeded(secret, &zeros, rng).unwrap();
        for phase in scheme.phases(secret, &scheme.expand(&seeded).unwrap()) {
            seen.never_again("secret-key noise", [bytes(&phase)]);
            noise[2].extend(phase);
        }
    }
    assert_small(&masks, S::SMALL, "mask");
    let names = ["noise of the first part", "noise of the second part", "secret-key noise"];
    for (samples, what) in noise.iter().zip(names) {
        // No more than the largest of 70,000 Gaussian values is but once in 20,000.
        assert_noise(samples, scheme.deviation(), 7.0, what);
    }
}

on_every_lattice!(noise_says_nothing_of_the_public_seed);
/// The noise of an encryption is the same whatever public seed was drawn with it.
fn noise_says_nothing_of_the_public_seed<S: LatticeEncryption>(party: &Party<S>) {
    let Party { scheme, secret, .. } = party;
    let encrypt = |tape: &mut Tape| {
        let seeded = scheme.encrypt_seeded(secret, &party.filled(2, 0), tape).unwrap();
        let noise = scheme.phases(secret, &scheme.expand(&seeded).unwrap());
        (scheme.write(&seeded), noise)
    };
    let mut tape = Tape::new(7, &[]);
    let (frame, noise) = encrypt(&mut tape);
    let requests = tape.requests_of(&scheme.seeds(&frame));
    assert_eq!(encrypt(&mut Tape::new(7, &others(&requests))).1, noise);
    let (_, other) = encrypt(&mut Tape::new(8, &requests));
    assert!(noise.iter().zip(&other).all(|(a, b)| a != b), "the public seed fixes the noise");
}
