use hesc_math::AesCtrRng;
use rand_core::SeedableRng;

use super::{Ciphertexts, CompactCiphertexts, Decomposition, PublicKey, Spec, Tfhe};
use crate::streams::{Combine, Compact, Decrypt, Encrypt, WeightedSums, Wire};
use crate::{Assurance, SchemeError};

/// The set that Python calls `tfhe_2048`.
pub(super) fn secure() -> Spec {
    Spec {
        ring_degree: 2048,
        lwe_dimension: 860,
        log2_ring_noise: -48.32,
        log2_lwe_noise: -18.749,
        bootstrap: Decomposition { base_log: 23, levels: 1 },
        keyswitch: Decomposition { base_log: 3, levels: 5 },
        packing: Decomposition { base_log: 16, levels: 1 },
    }
}

/// Fast, and broken within minutes.
fn insecure() -> Tfhe {
    let spec = Spec {
        ring_degree: 512,
        lwe_dimension: 64,
        log2_ring_noise: -50.0,
        log2_lwe_noise: -30.0,
        ..secure()
    };
    Tfhe::new(spec, Assurance::Insecure).unwrap()
}

fn rng(seed: u8) -> AesCtrRng {
    AesCtrRng::from_seed([seed; 32])
}

#[test]
fn lookups_give_fresh_bits_within_the_noise_model() {
    let scheme = insecure();
    let rng = &mut rng(1);
    let (secret, public) = scheme.generate_keys(rng);
    let key = scheme.generate_evaluation_key(&secret, rng).unwrap();
    let bytes = scheme.evaluation_key_to_bytes(&key);
    let key = scheme.evaluation_key_from_bytes(&bytes).unwrap();
    let key = scheme.expand_evaluation_key(key).unwrap();
    let packed: Vec<u64> = (0..8).map(|i| 0x9E37_79B9_7F4A_7C15u64.rotate_left(9 * i)).collect();
    let blocks = scheme.encrypt(&public, &packed, rng).unwrap();
    let positions: Vec<usize> = (0..512).collect();
    let bits = scheme.extract(&blocks, &positions).unwrap();
    let clear = scheme.decrypt_bits(&secret, &bits).unwrap();
    for (i, bit) in clear.iter().enumerate() {
        assert_eq!(u64::from(*bit), packed[i / 64] >> (i % 64) & 1);
    }
    // Sum and carry of three bits, by one bootstrap.
    let table = scheme
        .lookup_table(&[
            &|position| (position % 2 == 0 && position <= 6).then_some(position / 2 % 2 == 1),
            &|position| (position % 2 == 0 && position <= 6).then_some(position / 2 >= 2),
        ])
        .unwrap();
    let mut workspace = scheme.workspace(&key);
    let mut out = Vec::new();
    for chunk in positions[..510].chunks_exact(3) {
        let terms = chunk.iter().map(|&i| (scheme.sample(&bits, i), 2));
        scheme.look_up(&key, terms, &table, &mut workspace, &mut out);
    }
    let out = super::Bits { words: out, variance: scheme.noise().bit, ..bits.clone() };
    let found = scheme.decrypt_bits(&secret, &out).unwrap();
    for (chunk, found) in clear.chunks_exact(3).zip(found.chunks_exact(2)) {
        let ones = chunk.iter().filter(|bit| **bit).count();
        assert_eq!(found, [ones % 2 == 1, ones >= 2]);
    }
    // A mean of 340 squares is above 1.4 times its expectation with probability below 1e-6.
    let variance = scheme.measured_bit_variance(&secret, &out).unwrap();
    assert!(variance < 1.4 * scheme.noise().bit, "{variance:e} {:e}", scheme.noise().bit);
    // Packed for the way home.
    let parities = scheme.pack(&key, &out).unwrap();
    let compact = scheme.compact(&parities).unwrap();
    let compact: CompactCiphertexts = scheme.read(&scheme.write(&compact)).unwrap();
    let counts = scheme.decrypt(&secret, &compact).unwrap();
    for (bit, count) in found.iter().zip(counts) {
        assert_eq!(u32::from(*bit), count);
    }
}

#[test]
fn blocks_add_and_count() {
    let scheme = insecure();
    let rng = &mut rng(2);
    let (secret, public) = scheme.generate_keys(rng);
    let a = scheme.encrypt(&public, &[0b0011; 8], rng).unwrap();
    let b = scheme.expand(&scheme.encrypt_seeded(&secret, &[0b0101; 8], rng).unwrap()).unwrap();
    let sum = scheme.combine(&a, &b).unwrap();
    assert_eq!(scheme.decrypt(&secret, &sum).unwrap()[..4], [2, 1, 1, 0]);
    let inverted = scheme.invert_blocks(&a).unwrap();
    assert!(inverted.holds_bits());
    assert_eq!(scheme.decrypt(&secret, &inverted).unwrap()[..4], [0, 0, 1, 1]);
    let inverted = scheme.extract(&scheme.invert_blocks(&sum).unwrap(), &[0, 1, 2, 3]).unwrap();
    assert_eq!(scheme.decrypt_bits(&secret, &inverted).unwrap(), [true, false, false, true]);
    let fresh = scheme.rerandomise(&public, &a, rng).unwrap();
    assert!(fresh.holds_bits() && scheme.decrypt(&secret, &fresh).unwrap()[..4] == [1, 1, 0, 0]);
    let parities = scheme.extract(&sum, &[0, 1, 2, 3]).unwrap();
    assert_eq!(scheme.decrypt_bits(&secret, &parities).unwrap(), [false, true, true, false]);
    let thirds = scheme.horner(&[&a, &b], &[vec![(0, 0), (1, 0)]], &[3]).unwrap();
    assert_eq!(scheme.decrypt(&secret, &thirds).unwrap()[..4], [4, 3, 1, 0]);
    assert!(
        scheme.measured_noise_budget(&secret, &sum).unwrap() >= scheme.noise_budget(&sum) - 0.5
    );
    let (stranger, _) = scheme.generate_keys(rng);
    assert!(matches!(scheme.decrypt(&stranger, &sum), Err(SchemeError::KeyMismatch { .. })));
    let bytes = scheme.write(&sum);
    let read: Ciphertexts = scheme.read(&bytes).unwrap();
    assert_eq!(scheme.decrypt(&secret, &read).unwrap(), scheme.decrypt(&secret, &sum).unwrap());
}

#[test]
fn keys_return_from_their_wire_form() {
    let scheme = insecure();
    let rng = &mut rng(3);
    let (secret, public) = scheme.generate_keys(rng);
    let secret = scheme.secret_key_from_bytes(&scheme.secret_key_to_bytes(&secret)).unwrap();
    let public: PublicKey = scheme.read(&scheme.write(&public)).unwrap();
    let a = scheme.encrypt(&public, &[7; 16], rng).unwrap();
    let counts = scheme.decrypt(&secret, &a).unwrap();
    assert_eq!(counts.iter().sum::<u32>(), 3 * 16);
}

#[test]
fn altered_ciphertexts_are_refused() {
    let scheme = insecure();
    let rng = &mut rng(4);
    let (secret, public) = scheme.generate_keys(rng);
    let mut a = scheme.encrypt(&public, &[7; 8], rng).unwrap();
    a.words[512] = a.words[512].wrapping_add(1 << 59);
    assert!(matches!(scheme.decrypt(&secret, &a), Err(SchemeError::NotACount { block: 0 })));
}
