//! Distances of encrypted codes against popcounts.

use hesc_circuits::codes::{Distances, EncryptedCodes, SeededCodes};
use hesc_math::AesCtrRng;
use hesc_schemes::presets::Preset;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::streams::Encrypt as _;
use hesc_schemes::streams::lattice::Hiding;
use hesc_schemes::{Assurance, Bfv, SchemeError};
use rand_core::{Rng as _, SeedableRng as _};

fn scheme(name: &str) -> Bfv<u32> {
    let bytes = Preset::named(name).unwrap().to_bytes().unwrap();
    Bfv::new(Spec::from_bytes(&bytes).unwrap(), Assurance::Guidelines2024).unwrap()
}

fn random(rng: &mut AesCtrRng, rows: usize, bits: usize) -> Vec<u64> {
    (0..rows * bits / 64).map(|_| rng.next_u64()).collect()
}

fn popcounts(codes: &[u64], records: &[u64], bits: usize) -> Vec<u32> {
    let rows =
        |codes: &[u64]| codes.chunks_exact(bits / 64).map(<[u64]>::to_vec).collect::<Vec<_>>();
    let records = rows(records);
    let distance =
        |a: &[u64], b: &[u64]| -> u32 { a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum() };
    let of = |code: &Vec<u64>| records.iter().map(|r| distance(code, r)).collect::<Vec<_>>();
    rows(codes).iter().flat_map(of).collect()
}

/// One record, a whole block, one more; one code, few, a group and more; the shortest codes and the longest; random
/// ones, all zeros, all ones.
#[test]
fn distances_are_popcounts() {
    let mut rng = AesCtrRng::from_seed([1; 32]);
    for (name, bits, shapes) in [
        ("bfv_1024_distances", 512, &[(1, 1), (1024, 3), (1025, 13), (70, 257)][..]),
        ("bfv_1024_distances", 64, &[(2000, 20)]),
        ("bfv_1024_distances", 960, &[(10, 11), (10, 12)]),
        ("bfv_4096_distances", 512, &[(4097, 14)]),
    ] {
        let scheme = scheme(name);
        let (secret, public) = scheme.generate_keys(&mut rng);
        for &(records, codes) in shapes {
            let mut encrypted = random(&mut rng, records, bits);
            let mut clear = random(&mut rng, codes, bits);
            encrypted[..bits / 64].fill(0);
            clear[..bits / 64].fill(u64::MAX);
            if codes > 1 {
                clear[bits / 64..2 * bits / 64].fill(0);
            }
            let seeded =
                SeededCodes::encrypt(&scheme, &secret, &encrypted, bits, &mut rng).unwrap();
            let seeded = SeededCodes::from_bytes(&scheme, &seeded.to_bytes()).unwrap();
            let of_secret = seeded.expand().unwrap();
            let expected = popcounts(&clear, &encrypted, bits);
            let check = |distances: &Distances| {
                let read = Distances::from_bytes(&scheme, &distances.to_bytes()).unwrap();
                assert_eq!(read.shape(), (codes, records));
                assert!(
                    read.decrypt(&secret).unwrap() == expected,
                    "{name} {bits} {records} {codes}"
                );
                assert_eq!(read.to_bytes(), distances.to_bytes());
            };
            check(&of_secret.distances_vartime(&clear).unwrap());
            if name != "bfv_1024_distances" {
                let mine = EncryptedCodes::encrypt(&scheme, &public, &encrypted, bits, &mut rng);
                let mine = EncryptedCodes::from_bytes(&scheme, &mine.unwrap().to_bytes()).unwrap();
                let coefficients = mine.coefficients(codes);
                let hiding = Hiding { coefficients, statistical_bits: 40 };
                let hidden = mine.hidden_distances_vartime(&public, &clear, hiding, &mut rng);
                check(&hidden.unwrap());
            }
        }
    }
}

/// Noise is planned for whole rings, of each code that is compared and each ring degree of records that is begun.
#[test]
fn whole_rings_are_counted() {
    let scheme = scheme("bfv_1024_distances");
    let mut rng = AesCtrRng::from_seed([4; 32]);
    let (secret, _) = scheme.generate_keys(&mut rng);
    for (records, codes, expected) in
        [(1, 1, 1024), (1, 7, 7 * 1024), (1024, 2, 2048), (1025, 3, 3 * 2048), (1300, 1, 2048)]
    {
        let seeded = SeededCodes::encrypt(&scheme, &secret, &vec![7; records], 64, &mut rng);
        let found = seeded.unwrap().expand().unwrap().coefficients(codes);
        assert_eq!(found, expected, "{records} records, {codes} codes");
    }
}

/// A query that says one record and holds many is answered about one where codes are hidden: what else is read is no
/// distance.
#[test]
fn answers_hold_what_was_asked_for() {
    let mut rng = AesCtrRng::from_seed([5; 32]);
    let scheme = scheme("bfv_4096_distances");
    let (secret, public) = scheme.generate_keys(&mut rng);
    let (records, bits) = (200, 64);
    let sent = random(&mut rng, records, bits);
    let clear = random(&mut rng, 300, bits);
    let honest = EncryptedCodes::encrypt(&scheme, &public, &sent, bits, &mut rng).unwrap();
    let relabelled = |bytes: Vec<u8>, at: usize, value: u32| {
        let mut bytes = bytes;
        bytes[14 + at..18 + at].copy_from_slice(&value.to_le_bytes());
        let end = bytes.len() - 16;
        let sum = hesc_schemes::wire::checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum);
        bytes
    };
    let liar = EncryptedCodes::from_bytes(&scheme, &relabelled(honest.to_bytes(), 0, 1)).unwrap();
    let hiding = Hiding { coefficients: liar.coefficients(300), statistical_bits: 40 };
    let answer = liar.hidden_distances_vartime(&public, &clear, hiding, &mut rng).unwrap();
    assert_eq!(answer.decrypt(&secret).unwrap(), popcounts(&clear, &sent[..1], bits));
    let whole = relabelled(answer.to_bytes(), 4, records as u32);
    let read = Distances::from_bytes(&scheme, &whole).unwrap();
    // Of 60,000 coefficients one in seven would do for a distance.
    assert!(matches!(read.decrypt(&secret), Err(SchemeError::NotACount { .. })));
}

/// Sizes follow from numbers of codes and records, whatever is in them; so do the bytes that are no residues.
#[test]
fn sizes_say_nothing_of_codes() {
    let scheme = scheme("bfv_1024_distances");
    let mut rng = AesCtrRng::from_seed([2; 32]);
    let (secret, _) = scheme.generate_keys(&mut rng);
    let mut of = |fill: u64| {
        let seeded =
            SeededCodes::encrypt(&scheme, &secret, &[fill; 8 * 10], 512, &mut rng).unwrap();
        let distances = seeded.expand().unwrap().distances_vartime(&[fill; 8 * 3]).unwrap();
        (seeded.to_bytes().len(), distances.to_bytes().len())
    };
    let zeros = of(0);
    assert_eq!(zeros, of(u64::MAX));
    assert_eq!(zeros, of(0x5a5a_0000_ffff_1234));
}

/// What a liar may say of shapes is refused, before memory is taken for it.
#[test]
fn readers_refuse_lies() {
    let scheme = scheme("bfv_1024_distances");
    let mut rng = AesCtrRng::from_seed([3; 32]);
    let (secret, _) = scheme.generate_keys(&mut rng);
    let seeded = SeededCodes::encrypt(&scheme, &secret, &[7; 8 * 10], 512, &mut rng).unwrap();
    let columns = seeded.expand().unwrap();
    let distances = columns.distances_vartime(&[9; 8 * 3]).unwrap();
    let forged = |bytes: Vec<u8>, at: usize, value: u32| {
        let mut bytes = bytes;
        bytes[14 + at..18 + at].copy_from_slice(&value.to_le_bytes());
        let end = bytes.len() - 16;
        let sum = hesc_schemes::wire::checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum);
        bytes
    };
    for value in [0, 1, 63, 64, 448, 513, 576, 1025, 1 << 16, 1 << 24, u32::MAX] {
        for at in [0, 4] {
            // Records of the same block are as possible as the true ones.
            if at == 0 && (1..=1024).contains(&value) {
                continue;
            }
            let lie = forged(seeded.to_bytes(), at, value);
            assert!(SeededCodes::from_bytes(&scheme, &lie).is_err(), "seeded {at} {value}");
            let lie = forged(columns.to_bytes(), at, value);
            assert!(EncryptedCodes::from_bytes(&scheme, &lie).is_err(), "columns {at} {value}");
        }
        if value != 3 {
            let lie = forged(distances.to_bytes(), 0, value);
            assert!(Distances::from_bytes(&scheme, &lie).is_err(), "codes {value}");
        }
        if !(1..=1024).contains(&value) {
            let lie = forged(distances.to_bytes(), 4, value);
            assert!(Distances::from_bytes(&scheme, &lie).is_err(), "records {value}");
        }
    }
    // Shorter codes than were compared: distances beyond them are no distances.
    let lie = forged(distances.to_bytes(), 8, 0);
    assert!(Distances::from_bytes(&scheme, &lie).is_err());
    let far = columns.distances_vartime(&[!7; 8]).unwrap();
    let lie = Distances::from_bytes(&scheme, &forged(far.to_bytes(), 8, 64)).unwrap();
    assert!(matches!(lie.decrypt(&secret), Err(SchemeError::NotACount { .. })));
    // Another pair's key, another set's bytes.
    let (other, _) = scheme.generate_keys(&mut rng);
    assert!(matches!(distances.decrypt(&other), Err(SchemeError::KeyMismatch { .. })));
    let larger = self::scheme("bfv_4096_distances");
    assert!(matches!(
        EncryptedCodes::from_bytes(&larger, &columns.to_bytes()),
        Err(SchemeError::ParameterMismatch { .. })
    ));
    // Rows that are none.
    assert_eq!(columns.distances_vartime(&[]).unwrap_err(), SchemeError::Empty);
    assert!(matches!(columns.distances_vartime(&[1; 9]), Err(SchemeError::BlockCount { .. })));
}
