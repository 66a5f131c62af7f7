//! Readers of arrays and answers: every number exactly at its bound and one beyond.

use hesc_circuits::vectors::{Label, vector_from_bytes, vector_to_bytes};
use hesc_circuits::{Answer, CircuitError, Fusion, Layout, MAX_WEIGHT, SeededStreams, Streams};
use hesc_math::{AesCtrRng, RingIndex, ntt_primes};
use hesc_schemes::rlwe::{self, Rlwe, SchemeKind};
use hesc_schemes::{Assurance, BitProduct, Scheme, SchemeError};
use hesc_stochastic::Generator;
use rand_core::SeedableRng;

use super::hostile::frames::{Family, Frame, Part};
use super::party::{Law, Party, on_all_schemes, plaintext};

const LENGTH: usize = 40;
const LAYOUT: Layout = Layout::OnePerBlock;
/// What a reader takes as a number of factors where parities survive: see `wire.rs`.
const MOST_FACTORS: u64 = 1 << 32;

/// The object with another number in the first field of this name.
fn with(frame: &Frame, name: &str, number: u64) -> Vec<u8> {
    let mut frame = frame.clone();
    let field = frame.parts.iter_mut().find_map(|part| match part {
        Part::Field(field) if field.name == name => Some(field),
        _ => None,
    });
    let field = field.unwrap_or_else(|| panic!("no field is called {name}"));
    let size = field.bytes.len();
    field.bytes.copy_from_slice(&number.to_le_bytes()[..size]);
    frame.to_bytes()
}

/// Whether it was read; what is refused is refused by the reader itself, and says so.
fn is_read<T>(result: Result<T, CircuitError>) -> bool {
    match result {
        Ok(_) => true,
        Err(CircuitError::Scheme(SchemeError::Wire { .. }) | CircuitError::Stochastic(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Each name, number, and whether a reader takes it.
type Cases<'a> = &'a [(&'a str, u64, bool)];

fn check<T>(
    scheme: &str,
    frame: &Frame,
    cases: Cases<'_>,
    read: impl Fn(&[u8]) -> Result<T, CircuitError>,
) {
    for &(name, number, is_taken) in cases {
        let found = is_read(read(&with(frame, name, number)));
        assert_eq!(found, is_taken, "{scheme}: {name} {number}");
    }
}

const HUGE: u64 = u32::MAX as u64;

/// What arrays and answers have in common.
fn common(length: u64) -> Vec<(&'static str, u64, bool)> {
    vec![
        ("representation", 0, true),
        ("representation", 2, false),
        ("weight", MAX_WEIGHT.to_bits(), true),
        ("weight", (-MAX_WEIGHT).to_bits(), true),
        ("weight", MAX_WEIGHT.next_up().to_bits(), false),
        ("weight", f64::NAN.to_bits(), false),
        ("weight", f64::INFINITY.to_bits(), false),
        ("constant", MAX_WEIGHT.to_bits(), true),
        ("constant", MAX_WEIGHT.next_up().to_bits(), false),
        ("constant", f64::NAN.to_bits(), false),
        ("has constants", 2, false),
        ("encoded length", 2 * length, true),
        ("encoded length", length + 1, false),
        ("encoded length", length - 1, false),
        ("encoded length", 0, false),
        ("stream length", 0, false),
        ("largest count", 0, false),
        ("elements", 0, false),
        ("elements", HUGE, false),
        ("terms of an element", 0, false),
        ("terms of an element", HUGE, false),
        ("origins", 0, false),
        ("row", 0, false),
    ]
}

struct ArraysToTheLast;

impl Law for ArraysToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family) {
        let party = &mut Party::multiplying(scheme, Generator::Bernoulli, LENGTH);
        let (bits, origin) = party.encoder.encode(&[0.5, 0.25]).unwrap();
        let x = party.encrypt_bits(&bits, origin, LAYOUT).add_constants(&[1.0, 2.0]).unwrap();
        let frame = Frame::read(family, &x.to_bytes());
        let n = party.scheme.block_length();
        let (length, room) = (LENGTH as u64, (n - LENGTH) as u64);
        let survives = party.scheme.parity_survives_wrap();
        let most = if survives { MOST_FACTORS } else { x.capacity() };
        let mut cases = common(length);
        cases.extend([
            ("block", 1, true),
            ("block", 2, false),
            ("block", HUGE, false),
            ("offset", room, true),
            ("offset", room + 1, false),
            ("offset", HUGE, false),
            ("part", 1, false),
            ("part", HUGE, false),
            ("parts", 0, false),
            ("largest count", 1, true),
            ("largest count", most, true),
            ("largest count", most + 1, false),
            ("stream length", length, true),
            ("stream length", n as u64 + 1, false),
        ]);
        let scheme = &party.scheme;
        check(scheme.name(), &frame, &cases, |bytes| Streams::from_bytes(scheme, bytes));

        // Origins in order, and each once.
        let y = party.encrypt(&[0.5, 0.25], LAYOUT).0;
        let product = x.scale(&[1.0; 2]).unwrap();
        assert_eq!(product.max_count(), 1);
        let bare = party.encrypt_bits(&bits, origin, LAYOUT);
        let product = bare.multiply(&y, &[(0, 0), (1, 1)]).unwrap();
        let mut frame = Frame::read(family, &product.to_bytes());
        let scheme = &party.scheme;
        let read = |frame: &Frame| is_read(Streams::from_bytes(scheme, &frame.to_bytes()));
        assert!(read(&frame));
        // A product of two streams counts to two.
        check(scheme.name(), &frame, &[("largest count", 1, false)], |bytes| {
            Streams::from_bytes(scheme, bytes)
        });
        let places: Vec<usize> = (0..frame.parts.len())
            .filter(|&at| matches!(&frame.parts[at], Part::Field(field) if field.name == "origin"))
            .collect();
        frame.parts.swap(places[0], places[1]);
        assert!(!read(&frame), "origins out of order");
        frame.parts[places[0]] = frame.parts[places[1]].clone();
        assert!(!read(&frame), "one origin twice");
    }
}

#[test]
fn arrays_are_read_to_the_last_number() {
    on_all_schemes(&ArraysToTheLast);
}

struct SeededToTheLast;

impl Law for SeededToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family) {
        let party = &mut Party::new(scheme, Generator::Bernoulli, LENGTH);
        let (bits, origin) = party.encoder.encode(&[0.5, 0.25]).unwrap();
        let clear = plaintext(&bits, origin, LAYOUT);
        let seeded =
            SeededStreams::encrypt(&party.scheme, &party.secret, &clear, &mut party.rng).unwrap();
        let frame = Frame::read(family, &seeded.to_bytes());
        let room = (party.scheme.block_length() - LENGTH) as u64;
        let cases = [
            ("block", 1, true),
            ("block", 2, false),
            ("offset", room, true),
            ("offset", room + 1, false),
            ("representation", 2, false),
            ("stream length", 0, false),
            ("stream length", room + LENGTH as u64 + 1, false),
            ("elements", 0, false),
            ("elements", 3, false),
            ("elements", HUGE, false),
        ];
        let scheme = &party.scheme;
        check(scheme.name(), &frame, &cases, |bytes| SeededStreams::from_bytes(scheme, bytes));
    }
}

#[test]
fn seeded_arrays_are_read_to_the_last_number() {
    on_all_schemes(&SeededToTheLast);
}

struct AnswersToTheLast;

impl Law for AnswersToTheLast {
    fn holds_on<S: Scheme>(&self, scheme: S, family: Family) {
        let party = &mut Party::multiplying(scheme, Generator::Bernoulli, LENGTH);
        let n = party.scheme.block_length();
        let (x, _) = party.encrypt(&[0.5, 0.25], LAYOUT);
        let x = x.add_constants(&[1.0, 2.0]).unwrap();
        let answer = Answer::new(&x).unwrap();
        let frame = Frame::read(family, &answer.to_bytes());
        let (length, room) = (LENGTH as u64, (n - LENGTH) as u64);
        let survives = party.scheme.parity_survives_wrap();
        let most = if survives { MOST_FACTORS } else { x.capacity() };
        let mut cases = common(length);
        cases.extend([
            ("first", 1, true),
            ("first", 2, false),
            ("offset", room, true),
            ("offset", room + 1, false),
            ("blocks", 1, false),
            ("blocks", 3, false),
            ("largest count", 1, true),
            ("largest count", most, true),
            ("largest count", most + 1, false),
            ("merged", 0, false),
            ("merged", 2, false),
            ("merged", HUGE, false),
            ("patterns", 0, false),
            ("patterns", 3, false),
        ]);
        let scheme = &party.scheme;
        check(scheme.name(), &frame, &cases, |bytes| Answer::from_bytes(scheme, bytes));

        // Digits of two, for which there is room on most.
        let capacity = x.capacity();
        if scheme.bit_product() == BitProduct::Conjunction || capacity < 3 {
            return;
        }
        let fusion = Fusion::Digits { bases: vec![2] };
        let Ok(fused) = answer.fuse(&fusion) else { return };
        let frame = Frame::read(family, &fused.to_bytes());
        let cases = [
            ("base", 1, false),
            ("base", capacity - 1, true),
            ("base", capacity, false),
            ("base", u64::MAX, false),
            ("blocks", 1, true),
            ("blocks", 3, false),
            // Twice the largest count and once more.
            ("largest count", 2, false),
        ];
        // The stream of the second digit is not there any more.
        let cases = &cases[..];
        for case in cases.iter().filter(|case| case.0 != "blocks" || case.1 != 1) {
            check(scheme.name(), &frame, &[*case], |bytes| Answer::from_bytes(scheme, bytes));
        }
        assert!(!is_read(Answer::from_bytes(scheme, &with(&frame, "blocks", 1))));
    }
}

#[test]
fn answers_are_read_to_the_last_number() {
    on_all_schemes(&AnswersToTheLast);
}

/// What a vector says of its numbers.
#[test]
fn labels_of_vectors_are_read_to_the_last_number() {
    for kind in [SchemeKind::Bfv, SchemeKind::Bgv, SchemeKind::Ckks] {
        let primes = ntt_primes(40, 256, 2).unwrap();
        let plaintext = match kind {
            SchemeKind::Ckks => rlwe::PlaintextSpace::Approximate { scale: 20f64.exp2() },
            _ => rlwe::PlaintextSpace::Integers { plain_modulus: 7681 },
        };
        let (coeff_moduli, special_moduli) = (primes, Vec::new());
        let (scheme, ring, bound) = (kind, RingIndex::power_of_two(256).unwrap(), 1.0);
        let spec = rlwe::Spec {
            scheme,
            ring,
            coeff_moduli,
            special_moduli,
            plaintext,
            bound,
            packing: None,
            levels: Vec::new(),
        };
        let scheme = Rlwe::new(spec, Assurance::Insecure).unwrap();
        let mut rng = AesCtrRng::from_seed([6; 32]);
        let (_, public) = scheme.generate_keys(&mut rng);
        let is_ckks = kind == SchemeKind::Ckks;
        let numbers = if is_ckks {
            scheme.encode_bounded(&[], scheme.default_scale(), 2, 1.0).unwrap()
        } else {
            scheme.encode_integers(&[1]).unwrap()
        };
        let a = scheme.encrypt(&public, &numbers, &mut rng).unwrap();
        let label = Label { length: 3, zeros_behind: true, complex: false, bound: None };
        let frame = Frame::read(Family::Rlwe, &vector_to_bytes(&scheme, label, &a));
        let slots = scheme.slot_count() as u64;
        let (zeros, complex, beyond) = (1, 2, 8);
        let cases = [
            ("length", 0, false),
            ("length", slots, true),
            ("length", slots + 1, false),
            ("length", HUGE, false),
            // Copies that do not fill the slots' period, and such that do.
            ("flags", 0, true),
            ("flags", zeros | complex, is_ckks),
            ("flags", zeros | beyond, false),
            ("flags", 255, false),
            // None; the largest integer and one beyond, which CKKS has not.
            ("bound", 0, true),
            ("bound", 3840, !is_ckks),
            ("bound", 3841, false),
            ("bound", HUGE, false),
        ];
        check("leveled", &frame, &cases, |bytes| Ok(vector_from_bytes(&scheme, bytes)?));
        // A power of two of numbers fills the slots with copies, or has zeros behind.
        let bytes = with(&frame, "length", 4);
        let full = Frame::read(Family::Rlwe, &bytes);
        check("leveled", &full, &[("flags", zeros, true), ("flags", 0, false)], |bytes| {
            Ok(vector_from_bytes(&scheme, bytes)?)
        });
    }
}
