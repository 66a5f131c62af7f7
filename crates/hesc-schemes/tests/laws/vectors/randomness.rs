//! Nothing random is used twice, and what is public decides nothing that is secret.

use std::collections::HashSet;

use hesc_schemes::rlwe::{Ciphertext, PublicKey, Rlwe, SeededCiphertext};
use hesc_schemes::wire::{Kind, Reader};

use super::keys::noise_of;
use super::opened::{Opened, Pairs, trits};
use super::party::{CHAINS, party, sets};
use super::replay::Replay;

/// The seed that a seeded ciphertext carries.
fn seed_of(scheme: &Rlwe, a: &SeededCiphertext) -> [u8; 32] {
    let bytes = scheme.seeded_to_bytes(a);
    let mut reader = Reader::open(&bytes, Kind::SeededVectorCiphertext).unwrap();
    // The tag and the level lie before it.
    reader.bytes(33).unwrap();
    reader.array().unwrap()
}

/// Twenty encryptions of equal data under each key: all parts differ in every row, and so do rows of one
/// ciphertext. Polynomials of 1024 uniform residues coincide with probability 2^-30000.
#[test]
fn encryptions_of_equal_data_share_nothing() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let mut p = party(spec, 600);
            let (o, s) = (Opened::new(&p), p.scheme.clone());
            let equal = p.encoded(&vec![1; p.scheme.ring_degree() / 2]);
            let (mut rows, mut seeds, mut count) = (HashSet::new(), HashSet::new(), 0);
            let mut keep = |a: &Ciphertext| {
                for row in o.ciphertext(&s, a).parts.concat() {
                    count += 1;
                    // Rows of one uniform polynomial that shared their random words would begin alike but
                    // for the modulus.
                    rows.insert(row[..8].to_vec());
                }
            };
            for _ in 0..20 {
                keep(&s.encrypt(&p.public, &equal, &mut p.rng).unwrap());
                let seeded = s.encrypt_seeded(&p.secret, &equal, &mut p.rng).unwrap();
                seeds.insert(seed_of(&s, &seeded));
                keep(&s.expand(&seeded).unwrap());
            }
            assert_eq!(rows.len(), count, "{scheme}");
            assert_eq!(seeds.len(), 20, "{scheme}");
        }
    }
}

/// No two keys have a seed in common, nor two rows or digits a uniform polynomial.
#[test]
fn keys_share_no_seed() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let mut p = party(spec, 610);
            let (o, s) = (Opened::new(&p), p.scheme.clone());
            let mut keys: Vec<Pairs> = vec![o.public_key(&s.public_key_to_bytes(&p.public))];
            let (other, public) = s.generate_keys(&mut p.rng);
            keys.push(o.public_key(&s.public_key_to_bytes(&public)));
            for _ in 0..2 {
                let relin = s.generate_relin_key(&p.secret, &mut p.rng).unwrap();
                keys.push(o.one_key(Kind::RelinKey, &s.relin_key_to_bytes(&relin)));
                let elements: Vec<usize> = p.galois.elements().collect();
                let galois = s.generate_galois_keys(&p.secret, &elements, &mut p.rng);
                keys.extend(o.galois_keys(&s, &galois.unwrap()).into_iter().map(|(_, key)| key));
                let switch = s.generate_switch_key(&p.secret, &other, &mut p.rng).unwrap();
                keys.push(o.switch_key(&s, &switch));
            }
            let seeds: HashSet<_> = keys.iter().map(|key| key.seed).collect();
            assert_eq!(seeds.len(), keys.len(), "{scheme}");
            let parts = |key: &Pairs| -> Vec<Vec<u64>> {
                key.digits.iter().flat_map(|(b, a)| [b.clone(), a.clone()].concat()).collect()
            };
            let all: Vec<Vec<u64>> = keys.iter().flat_map(parts).collect();
            let distinct: HashSet<_> = all.iter().map(|row| &row[..8]).collect();
            assert_eq!(distinct.len(), all.len(), "{scheme}");
        }
    }
}

/// Runs something with a recorded generator and again with each of its requests answered otherwise: each
/// decides exactly one of the parts, and each part is decided by one at least.
fn each_request_decides_one_part(name: &str, run: &dyn Fn(&mut Replay) -> Vec<Vec<u8>>) {
    let mut recorded = Replay::new(1, None);
    let before = run(&mut recorded);
    assert_eq!(before, run(&mut Replay::new(1, None)), "{name}: the generator decides everything");
    let mut decided = vec![0; before.len()];
    for request in 0..recorded.requests {
        let after = run(&mut Replay::new(1, Some(request)));
        let changed: Vec<usize> = (0..before.len()).filter(|&i| before[i] != after[i]).collect();
        assert_eq!(changed.len(), 1, "{name}: request {request} changes the parts {changed:?}");
        decided[changed[0]] += 1;
    }
    assert!(decided.iter().all(|&count| count > 0), "{name}: {decided:?}");
}

fn bytes_of(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The public seed fixed, the noise is free, and the other way round, in keys and seeded ciphertexts; in
/// keys the digits' noises and the secret too.
#[test]
fn public_seeds_and_noise_are_independent() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let mut p = party(spec, 620);
            let (o, s) = (Opened::new(&p), p.scheme.clone());
            let zeros = p.zeros();
            each_request_decides_one_part("seeded encryption", &|rng| {
                let a = s.encrypt_seeded(&p.secret, &zeros, rng).unwrap();
                let noise = o.noise(&o.ciphertext(&s, &s.expand(&a).unwrap()));
                let noise: Vec<u8> = noise.iter().flat_map(|x| x.to_le_bytes()).collect();
                vec![seed_of(&s, &a).to_vec(), noise]
            });
            let parts = |o: &Opened, key: &Pairs, from: &[i64], to: &[i64]| {
                let noise = noise_of(o, "replayed", key, Some(from), to);
                let noise = noise.iter().map(|e| bytes_of(e));
                std::iter::once(key.seed.to_vec()).chain(noise).collect::<Vec<_>>()
            };
            let (other, _) = s.generate_keys(&mut p.rng);
            let others = trits(&s, &other);
            each_request_decides_one_part("switching key", &|rng| {
                let key = s.generate_switch_key(&p.secret, &other, rng).unwrap();
                parts(&o, &o.switch_key(&s, &key), &o.trits, &others)
            });
            each_request_decides_one_part("key pair", &|rng| {
                let (secret, public) = s.generate_keys(rng);
                let secret_trits = trits(&s, &secret);
                let key = o.public_key(&s.public_key_to_bytes(&public));
                let noise = noise_of(&o, "public key", &key, None, &secret_trits);
                let name = secret.key_id().to_bytes().to_vec();
                vec![name, key.seed.to_vec(), bytes_of(&secret_trits), bytes_of(&noise[0])]
            });
        }
    }
}

/// What changed between two ciphertexts of zero under one public key.
fn difference(
    o: &Opened,
    public: &Pairs,
    before: &[Vec<Vec<u64>>],
    after: &[Vec<Vec<u64>>],
) -> &'static str {
    let row = 0;
    let q = o.primes[row].value();
    let change = |part: usize| -> Vec<u64> {
        let pairs = after[part][row].iter().zip(&before[part][row]);
        pairs.map(|(x, y)| (x + q - y) % q).collect()
    };
    let (first, second) = (change(0), change(1));
    let zero = |x: &[u64]| x.iter().all(|&x| x == 0);
    let small = |x: &[u64]| {
        let factor = o.noise_factor();
        let most = 42 * o.ring.monomial_growth() as i64;
        let noise = |x: i64| x % factor == 0 && (x / factor).abs() <= most;
        !zero(x) && o.centred(row, x).into_iter().all(noise)
    };
    if zero(&second) && small(&first) {
        return "e_0";
    }
    if zero(&first) && small(&second) {
        return "e_1";
    }
    // The change of u: that of c_1 divided by a, and the same for c_0 and b.
    let prime = &o.primes[row];
    let quotient = |x: &[u64], by: &[u64]| {
        let [mut x, mut by] = [x.to_vec(), by.to_vec()];
        prime.forward(&mut x);
        prime.forward(&mut by);
        for (x, by) in x.iter_mut().zip(by) {
            *x = prime.modulus().mul(*x, prime.modulus().inverse(by));
        }
        prime.inverse(&mut x);
        o.centred(row, &x)
    };
    let (b, a) = &public.digits[0];
    let (from_a, from_b) = (quotient(&second, &a[row]), quotient(&first, &b[row]));
    let ternary = !zero(&first) && from_a == from_b && from_a.iter().all(|x| x.abs() <= 2);
    if ternary { "u" } else { "more than one" }
}

/// A public encryption draws `u`, `e_0` and `e_1`, each on its own.
#[test]
fn public_encryptions_draw_three_polynomials() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let p = party(spec, 630);
            let (o, s) = (Opened::new(&p), p.scheme.clone());
            let zeros = p.zeros();
            let public = o.public_key(&s.public_key_to_bytes(&p.public));
            let run = |rng: &mut Replay| {
                o.ciphertext(&s, &s.encrypt(&p.public, &zeros, rng).unwrap()).parts
            };
            let mut recorded = Replay::new(2, None);
            let before = run(&mut recorded);
            let changed = |request| {
                let after = run(&mut Replay::new(2, Some(request)));
                difference(&o, &public, &before, &after)
            };
            let mut found: Vec<&str> = (0..recorded.requests).map(changed).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found, ["e_0", "e_1", "u"], "{scheme}");
        }
    }
}

/// A public key that travelled encrypts as the one that stayed.
#[test]
fn a_public_key_is_its_wire_form() {
    for spec in sets(CHAINS[1]) {
        let scheme = spec.scheme;
        let p = party(spec, 640);
        let s = p.scheme.clone();
        let read: PublicKey = s.public_key_from_bytes(&s.public_key_to_bytes(&p.public)).unwrap();
        let [here, there] = [&p.public, &read].map(|key| {
            let a = s.encrypt(key, &p.zeros(), &mut Replay::new(3, None)).unwrap();
            s.ciphertext_to_bytes(&a)
        });
        assert_eq!(here, there, "{scheme}");
    }
}
