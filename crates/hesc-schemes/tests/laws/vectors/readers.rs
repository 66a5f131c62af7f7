//! Hostile bytes with a checksum that is right: every lie about an object is refused by name, at the bound and
//! one beyond.

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::{Rlwe, SchemeKind};

use super::forged::*;
use super::operations::ones;
use super::party::{CHAINS, Party, SCHEMES, chained, party, sets, spec};

/// What a reader said.
type Read = Result<(), SchemeError>;

/// Fails unless the reader names this problem.
fn refused(result: Read, problem: &str, lie: &str) {
    match result {
        Err(SchemeError::Wire { problem: found, .. }) => assert_eq!(found, problem, "{lie}"),
        other => panic!("{lie}: {other:?}, not {problem}"),
    }
}

fn budget(result: Read, lie: &str) {
    assert!(matches!(result, Err(SchemeError::NoiseBudget { .. })), "{lie}: {result:?}");
}

/// Writes a value of `bits` bits at a bit's place.
fn set_bits(bytes: &mut [u8], at: usize, bits: u32, value: u64) {
    for i in 0..bits as usize {
        let (byte, bit) = ((at + i) / 8, (at + i) % 8);
        bytes[byte] = bytes[byte] & !(1 << bit) | (((value >> i & 1) as u8) << bit);
    }
}

/// All wire forms of a party, each with where its residues begin, how many polynomials each row has and how
/// many rows there are, and its reader.
type Reader = fn(&Rlwe, &[u8]) -> Read;

struct Form {
    name: &'static str,
    bytes: Vec<u8>,
    words: usize,
    per_row: usize,
    rows: usize,
    read: Reader,
}

fn forms(p: &mut Party) -> Vec<Form> {
    let s = p.scheme.clone();
    let levels = s.levels();
    let special = s.spec().special_moduli.len();
    let (digits, rows) = (levels.div_ceil(special), levels + special);
    let a = ones(p, levels);
    let seeded = s.encrypt_seeded(&p.secret, &p.zeros(), &mut p.rng).unwrap();
    let switch = s.generate_switch_key(&p.secret, &p.secret, &mut p.rng).unwrap();
    let (tag, seed) = (BODY + 32, 32);
    let form = |name, bytes, words, per_row, rows, read: Reader| Form {
        name,
        bytes,
        words,
        per_row,
        rows,
        read,
    };
    vec![
        form("ciphertext", s.ciphertext_to_bytes(&a), WORDS, 2, levels, |s, b| {
            s.ciphertext_from_bytes(b).map(drop)
        }),
        // The seed stands in the place of parts and factor.
        form("seeded", s.seeded_to_bytes(&seeded), WORDS + seed - 9, 1, levels, |s, b| {
            s.seeded_from_bytes(b).map(drop)
        }),
        form("public key", s.public_key_to_bytes(&p.public), tag + seed, 1, levels, |s, b| {
            s.public_key_from_bytes(b).map(drop)
        }),
        form("relin key", s.relin_key_to_bytes(&p.relin), tag + seed, digits, rows, |s, b| {
            s.relin_key_from_bytes(b).map(drop)
        }),
        form("switch key", s.switch_key_to_bytes(&switch), tag + seed, digits, rows, |s, b| {
            s.switch_key_from_bytes(b).map(drop)
        }),
        // Count and first exponent lie before the first key.
        form("galois", s.galois_keys_to_bytes(&p.galois), tag + 8 + seed, digits, rows, |s, b| {
            s.galois_keys_from_bytes(b).map(drop)
        }),
        form("secret key", s.secret_key_to_bytes(&p.secret).to_vec(), tag, 0, 0, |s, b| {
            s.secret_key_from_bytes(b).map(drop)
        }),
    ]
}

/// Frames: what every object has in common.
#[test]
fn frames_that_are_none_are_refused() {
    for spec in sets(CHAINS[0]) {
        let mut p = party(spec, 900);
        let s = p.scheme.clone();
        let all = forms(&mut p);
        for form in &all {
            let Form { name, bytes, read, .. } = form;
            assert_eq!(read(&s, bytes), Ok(()), "{name}");
            for other in all.iter().filter(|other| other.name != *name) {
                refused(read(&s, &other.bytes), "another kind of object", name);
            }
            refused(read(&s, &forged(bytes, 4, &[2])), "another version of the format", name);
            let end = bytes.len() - 16;
            refused(read(&s, &spliced(bytes, end..end, &[0])), "bytes are left over", name);
            refused(read(&s, &spliced(bytes, end - 1..end, &[])), "it ends too early", name);
            refused(read(&s, &spliced(bytes, BODY..end, &[])), "it ends too early", name);
            let foreign = read(&s, &forged(bytes, BODY, &[0; 16]));
            let named = matches!(foreign, Err(SchemeError::ParameterMismatch { .. }));
            assert!(named, "{name}: {foreign:?}");
        }
    }
}

/// A residue may be everything below its prime and nothing else, in each row and polynomial.
#[test]
fn residues_end_below_their_prime() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let mut p = party(spec, 910);
            let (s, n) = (p.scheme.clone(), p.scheme.ring_degree());
            let spec = s.spec().clone();
            let primes: Vec<u64> =
                spec.coeff_moduli.iter().chain(&spec.special_moduli).copied().collect();
            for Form { name, bytes, words, per_row, rows, read } in forms(&mut p) {
                let mut at = 8 * words;
                for &q in &primes[..rows] {
                    let bits = q.ilog2() + 1;
                    for place in [0, per_row * n - 1] {
                        let of = |value| {
                            let mut lie = bytes.clone();
                            set_bits(&mut lie, at + place * bits as usize, bits, value);
                            read(&s, &repaired(lie))
                        };
                        assert_eq!(of(q - 1), Ok(()), "{name}");
                        for value in [q, u64::MAX >> (64 - bits)] {
                            refused(of(value), "a residue is not below its modulus", name);
                        }
                    }
                    at += per_row * n * bits as usize;
                }
            }
        }
    }
}

#[test]
fn ciphertexts_say_only_what_is_possible() {
    for spec in sets(CHAINS[0]) {
        let scheme = spec.scheme;
        let mut p = party(spec, 920);
        let (s, a) = (p.scheme.clone(), ones(&mut p, 3));
        let bytes = s.ciphertext_to_bytes(&a);
        let read =
            |at: usize, new: &[u8]| s.ciphertext_from_bytes(&forged(&bytes, at, new)).map(drop);
        for level in [0, 4, 255] {
            refused(read(LEVEL, &[level]), "the level does not exist", "level");
        }
        for parts in [0, 1, 17, 255] {
            refused(read(PARTS, &[parts]), "the number of components is impossible", "parts");
        }
        refused(read(PARTS, &[3]), "it ends too early", "parts");
        let t = match s.spec().plaintext {
            PlaintextSpace::Integers { plain_modulus } => plain_modulus,
            PlaintextSpace::Approximate { .. } => 2,
        };
        for factor in [0, t, t + 1, u64::MAX] {
            let problem = "the plaintext's factor has no inverse";
            refused(read(FACTOR, &factor.to_le_bytes()), problem, "factor");
        }
        for factor in [2, t - 1] {
            let valid = scheme == SchemeKind::Bgv && factor < t || factor == 1;
            assert_eq!(read(FACTOR, &factor.to_le_bytes()).is_ok(), valid, "{scheme}: {factor}");
        }
    }
}

/// With a plaintext modulus that is no prime not every factor below it has an inverse.
#[test]
fn factors_are_units() {
    let mut p = party(spec(SchemeKind::Bgv, 45, 3, 1, 15), 930);
    let plaintext = p.scheme.encode_coefficients(&[1]).unwrap();
    let s = p.scheme.clone();
    let a = s.encrypt(&p.public, &plaintext, &mut p.rng).unwrap();
    let bytes = s.ciphertext_to_bytes(&a);
    for factor in 0..16u64 {
        let result = s.ciphertext_from_bytes(&forged(&bytes, FACTOR, &factor.to_le_bytes()));
        let unit = factor < 15 && factor % 3 != 0 && factor % 5 != 0;
        assert_eq!(result.is_ok(), unit, "{factor}");
        let Ok(a) = result else { continue };
        // The factor is taken out: what was one is its inverse.
        let decoded = s.decode_coefficients(&s.decrypt(&p.secret, &a).unwrap()).unwrap();
        assert_eq!((decoded[0] * factor as i64).rem_euclid(15), 1, "{factor}");
    }
}

/// The numbers on noise, in full and seeded ciphertexts.
#[test]
fn claims_on_noise_are_bounded() {
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for spec in sets(CHAINS[0]) {
        let scheme = spec.scheme;
        let mut p = party(spec, 940);
        let s = p.scheme.clone();
        let ckks = scheme == SchemeKind::Ckks;
        let modulus = s.spec().log2_modulus();
        let factor = match (scheme, s.spec().plaintext) {
            (SchemeKind::Bgv, PlaintextSpace::Integers { plain_modulus }) => plain_modulus as f64,
            _ => 1.0,
        };
        // An encryption under the secret key, or what a division leaves: the noise, its values at the roots,
        // seven deviations.
        let ring = s.ring();
        let deviation = hesc_math::sampling::NOISE_STANDARD_DEVIATION * ring.embedding_factor();
        let n = ring.degree() as f64;
        // In the ring of 255 a rounding is less.
        let least = factor * deviation.min(((1.0 + 2.0 / 3.0 * n) / 12.0).sqrt());
        let least = [least, least * n.sqrt(), 14.3 * least * ring.coefficient_factor()];
        for form in forms(&mut p).into_iter().take(2) {
            let behind = form.words - WORDS;
            let read = |at: usize, claim: f64| {
                (form.read)(&s, &forged(&form.bytes, at + behind, &claim.to_le_bytes()))
            };
            for at in [SCALE, DEVIATION, VALUES, PEAK, MAGNITUDE] {
                for claim in wild {
                    refused(read(at, claim), "a number is not finite", form.name);
                }
            }
            for (at, least) in [DEVIATION, VALUES, PEAK].into_iter().zip(least) {
                assert_eq!(read(at, least), Ok(()), "{scheme}, {}: {at}", form.name);
                for claim in [least * (1.0 - 1e-12), least / 2.0, f64::MIN_POSITIVE, 0.0, -least] {
                    let problem = "it claims less noise than an encryption has";
                    refused(read(at, claim), problem, form.name);
                }
            }
            budget(read(PEAK, modulus.exp2()), form.name);
            budget(read(PEAK, f64::MAX), form.name);
            for claim in [-1.0, -f64::MIN_POSITIVE] {
                let problem = "the bounds on noise and message are impossible";
                refused(read(MAGNITUDE, claim), problem, form.name);
            }
            match scheme {
                SchemeKind::Bfv => {
                    let problem = "the bounds on noise and message are impossible";
                    refused(read(MAGNITUDE, 1.0), problem, form.name);
                }
                _ => budget(read(MAGNITUDE, modulus.exp2()), form.name),
            }
            for scale in [0.0, -0.0, -1.0] {
                refused(read(SCALE, scale), "the scale is not the scheme's", form.name);
            }
            for scale in [f64::MIN_POSITIVE / 2.0, 1.0 - 1e-15, f64::MAX, 2.0 * modulus.exp2()] {
                if ckks {
                    budget(read(SCALE, scale), form.name);
                } else {
                    refused(read(SCALE, scale), "the scale is not the scheme's", form.name);
                }
            }
            assert_eq!(read(SCALE, 1.0), Ok(()), "{scheme}");
            let degree = |degree: u32| {
                (form.read)(
                    &s,
                    &forged(&form.bytes, DEGREE_OF_NOISE + behind, &degree.to_le_bytes()),
                )
            };
            for wrong in [0, (1 << 16) + 1, u32::MAX] {
                let problem = "the bounds on noise and message are impossible";
                refused(degree(wrong), problem, form.name);
            }
            assert_eq!((degree(1), degree(1 << 16)), (Ok(()), Ok(())));
        }
    }
}

/// What fills the budget of a level to the last bit of a double is read; the next double is not.
#[test]
fn the_budget_ends_where_it_says() {
    for chain in CHAINS {
        for spec in sets(chain) {
            let scheme = spec.scheme;
            let mut p = party(spec, 950);
            let s = p.scheme.clone();
            for level in (1..=s.levels()).rev() {
                let top = ones(&mut p, s.levels());
                let Ok(a) = s.mod_switch_to(&top, level) else { break };
                let (claim, full) = largest_claim(|claim| claiming(&s, &a, PEAK, claim));
                let room = s.noise_budget(&full);
                assert!((0.0..1e-9).contains(&room), "{scheme}, level {level}: {room}");
                assert!(claiming(&s, &a, PEAK, claim.next_up()).is_none());
            }
        }
    }
}

#[test]
fn exponents_of_rotation_keys_are_odd_and_ascend() {
    for spec in sets(CHAINS[3]) {
        let p = party(spec, 960);
        let s = p.scheme.clone();
        let bytes = s.galois_keys_to_bytes(&p.galois);
        let count = p.galois.elements().count();
        let (first, end) = (BODY + 36, bytes.len() - 16);
        let key = (end - first) / count;
        let read = |bytes: Vec<u8>| s.galois_keys_from_bytes(&bytes).map(drop);
        let problem = "exponents are those of automorphisms and ascend";
        let index = s.ring().value() as u32;
        // A common divisor with the index, in powers of two and in 255.
        let divided = if s.ring().is_power_of_two() { 2 } else { 51 };
        for element in [0u32, divided, index, index + 1, u32::MAX] {
            refused(read(forged(&bytes, first, &element.to_le_bytes())), problem, "exponent");
        }
        // Twice the same, and in another order.
        let element = &bytes[first..first + 4];
        refused(read(forged(&bytes, first + key, element)), problem, "twice");
        let swapped = [&bytes[first + key..first + 2 * key], &bytes[first..first + key]].concat();
        refused(read(forged(&bytes, first, &swapped)), problem, "order");
        // More keys than there are, and fewer.
        let counted = |count: u32| read(forged(&bytes, BODY + 32, &count.to_le_bytes()));
        refused(counted(u32::MAX), "it ends too early", "count");
        refused(counted(count as u32 - 1), "bytes are left over", "count");
    }
}

#[test]
fn secret_keys_are_ternary() {
    for spec in sets(CHAINS[0]) {
        let p = party(spec, 970);
        let n = p.scheme.ring_degree();
        let bytes = p.scheme.secret_key_to_bytes(&p.secret).to_vec();
        for at in [0, n / 2, n - 1] {
            for trit in 0..4 {
                let mut lie = bytes.clone();
                set_bits(&mut lie, 8 * (BODY + 32) + 2 * at, 2, trit);
                let result = p.scheme.secret_key_from_bytes(&repaired(lie)).map(drop);
                if trit == 3 {
                    refused(result, "a coefficient is not ternary", "trit");
                } else {
                    assert_eq!(result, Ok(()));
                }
            }
        }
    }
}

/// Without special primes there is no switching key, whatever bytes say.
#[test]
fn sets_without_special_primes_read_no_switching_keys() {
    for scheme in SCHEMES {
        let p = party(chained(scheme, CHAINS[0]), 980);
        let without = chained(scheme, (CHAINS[0].0, &[]));
        let s = Rlwe::new(without, hesc_schemes::Assurance::Insecure).unwrap();
        let renamed = |bytes: Vec<u8>| forged(&bytes, BODY, &s.fingerprint().to_bytes());
        let relin = renamed(p.scheme.relin_key_to_bytes(&p.relin));
        let galois = renamed(p.scheme.galois_keys_to_bytes(&p.galois));
        let problem = "the parameter set has no special primes";
        refused(s.relin_key_from_bytes(&relin).map(drop), problem, "relinearisation");
        refused(s.galois_keys_from_bytes(&galois).map(drop), problem, "rotations");
    }
}
