use std::collections::BTreeSet;

use hesc_math::AesCtrRng;
use rand_core::SeedableRng;

use super::keys::fresh_seeds;
use super::polynomial::fill_binary;
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
    let key = scheme.expand_evaluation_key(&key).unwrap();
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

/// `b - a s`, by definition.
fn phase(a: &[u64], b: &[u64], secret: &[u64]) -> Vec<u64> {
    let mut phase = b.to_vec();
    let n = b.len();
    for (i, a) in a.iter().enumerate() {
        for (j, s) in secret.iter().enumerate() {
            let product = a.wrapping_mul(*s);
            let product = if i + j < n { product.wrapping_neg() } else { product };
            phase[(i + j) % n] = phase[(i + j) % n].wrapping_add(product);
        }
    }
    phase
}

#[test]
fn evaluation_keys_are_rows_of_their_messages_with_the_stated_noise() {
    let several = |base_log, levels| Decomposition { base_log, levels };
    let spec = Spec {
        ring_degree: 256,
        lwe_dimension: 63,
        bootstrap: several(9, 3),
        packing: several(7, 2),
        ..*insecure().spec()
    };
    let scheme = Tfhe::new(spec, Assurance::Insecure).unwrap();
    let rng = &mut rng(5);
    let secret = scheme.generate_keys(rng).0;
    let key = scheme.generate_evaluation_key(&secret, rng).unwrap();
    let key = scheme.expand_evaluation_key(&key).unwrap();
    let n = spec.ring_degree;
    // Units of the last place: noise of both dimensions, as a share of the stated deviation.
    let share = |error: u64, log2_noise: f64| error as i64 as f64 / (64.0 + log2_noise).exp2();
    let power = |bit: u64, of: Decomposition, at: usize| {
        bit * 2u64.pow(64 - of.base_log * (of.levels - at as u32))
    };
    let mut errors = [Vec::new(), Vec::new()];
    let levels = spec.keyswitch.levels as usize;
    for (at, row) in key.keyswitch.as_ref().chunks_exact(spec.lwe_dimension + 1).enumerate() {
        let (a, b) = row.split_at(spec.lwe_dimension);
        let sum = a.iter().zip(&secret.lwe).fold(0u64, |sum, (a, s)| sum.wrapping_add(a * s));
        let message = power(secret.ring[at / levels], spec.keyswitch, at % levels);
        let error = b[0].wrapping_sub(sum).wrapping_sub(message);
        errors[0].push(share(error, spec.log2_lwe_noise));
    }
    let levels = spec.packing.levels as usize;
    for (at, row) in key.packing.as_ref().chunks_exact(2 * n).enumerate() {
        let mut phase = phase(&row[..n], &row[n..], &secret.ring);
        let message = power(secret.lwe[at / levels], spec.packing, at % levels);
        phase[0] = phase[0].wrapping_sub(message);
        errors[1].extend(phase.iter().map(|error| share(*error, spec.log2_ring_noise)));
    }
    for (errors, rows) in errors.iter().zip([n * 5, 63 * 2 * n]) {
        assert_eq!(errors.len(), rows);
        // Either is off by five deviations with a probability below 1e-6.
        let (count, sum) = (rows as f64, errors.iter().sum::<f64>());
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        assert!(sum.abs() < 5.0 * count.sqrt(), "{sum} of {count}");
        assert!((squares - count).abs() < 5.0 * (2.0 * count).sqrt(), "{squares} of {count}");
    }
    // Rows have random halves of their own, in all keys, and noise.
    let words = key.keyswitch.as_ref().chunks_exact(spec.lwe_dimension + 1);
    let words = words.chain(key.packing.as_ref().chunks_exact(2 * n)).map(|row| &row[..2]);
    assert_eq!(words.collect::<BTreeSet<_>>().len(), n * 5 + 63 * 2);
    let own = errors[1].chunks(n).map(|row| row.iter().map(|error| error.to_bits()).collect());
    assert_eq!(own.collect::<BTreeSet<Vec<_>>>().len(), 63 * 2);
}

/// Public keys, and encryptions under either key: of the mask and of the body what is left without the product.
/// Each of eight numbers is off by five deviations with a probability below 1e-6.
#[test]
fn encryptions_have_the_stated_noise_in_every_part() {
    let scheme = insecure();
    let n = scheme.spec().ring_degree;
    let (secret, public) = scheme.generate_keys(&mut rng(7));
    let seeded = scheme.encrypt_seeded(&secret, &[0; 8], &mut rng(8)).unwrap();
    let own = scheme.expand(&seeded).unwrap().words;
    let fresh = scheme.encrypt(&public, &[0; 8], &mut rng(9)).unwrap().words;
    // The mask that the second encryption drew first.
    let mut mask = vec![0; n];
    let seed = fresh_seeds(1, &mut rng(9)).remove(0);
    fill_binary(&mut mask, &mut AesCtrRng::from_seed(*seed));
    let (key, both) = (&public.words, [&own, &fresh]);
    for (part, errors) in [
        ("public key", phase(&key[..n], &key[n..], &secret.ring)),
        ("under the secret key", phase(&both[0][..n], &both[0][n..], &secret.ring)),
        ("mask under the public key", phase(&key[..n], &both[1][..n], &mask)),
        ("body under the public key", phase(&key[n..], &both[1][n..], &mask)),
    ] {
        let units = (64.0 + scheme.spec().log2_ring_noise).exp2();
        let errors: Vec<f64> = errors.iter().map(|error| *error as i64 as f64 / units).collect();
        let (count, sum) = (n as f64, errors.iter().sum::<f64>());
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        assert!(sum.abs() < 5.0 * count.sqrt(), "{part}: {sum} of {count}");
        assert!(
            (squares - count).abs() < 5.0 * (2.0 * count).sqrt(),
            "{part}: {squares} of {count}"
        );
    }
}

#[test]
fn lookups_take_keys_of_several_digits() {
    let spec = Spec {
        bootstrap: Decomposition { base_log: 9, levels: 3 },
        packing: Decomposition { base_log: 7, levels: 3 },
        ..*insecure().spec()
    };
    let scheme = Tfhe::new(spec, Assurance::Insecure).unwrap();
    let rng = &mut rng(6);
    let (secret, public) = scheme.generate_keys(rng);
    let key = scheme.generate_evaluation_key(&secret, rng).unwrap();
    let key = scheme.expand_evaluation_key(&key).unwrap();
    let blocks = scheme.encrypt(&public, &[0x0123_4567_89AB_CDEF; 8], rng).unwrap();
    let bits = scheme.extract(&blocks, &(0..512).collect::<Vec<_>>()).unwrap();
    let table = scheme.lookup_table(&[&|position| (position < 2).then_some(position == 1)]);
    let (table, mut workspace) = (table.unwrap(), scheme.workspace(&key));
    let mut words = Vec::new();
    for at in 0..512 {
        let terms = [(scheme.sample(&bits, at), 1)].into_iter();
        scheme.look_up(&key, terms, &table, &mut workspace, &mut words);
    }
    let out = super::Bits { words, variance: scheme.noise().bit, ..bits.clone() };
    let clear = scheme.decrypt_bits(&secret, &bits).unwrap();
    assert_eq!(scheme.decrypt_bits(&secret, &out).unwrap(), clear);
    // A mean of 512 squares is above 1.4 times its expectation with probability below 1e-9.
    let variance = scheme.measured_bit_variance(&secret, &out).unwrap();
    assert!(variance < 1.4 * scheme.noise().bit, "{variance:e} {:e}", scheme.noise().bit);
    let counts = scheme.decrypt(&secret, &scheme.pack(&key, &out).unwrap()).unwrap();
    assert!(counts.iter().zip(&clear).all(|(count, bit)| *count == u32::from(*bit)));
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
