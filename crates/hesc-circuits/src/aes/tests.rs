use hesc_math::{AesCtrRng, RingIndex};
use hesc_schemes::rlwe::{PlaintextSpace, Rlwe, SchemeKind, Spec};
use hesc_schemes::{Assurance, SchemeError};
use rand_core::SeedableRng;

use super::*;
use crate::gates::{GateError, Monitor};

/// A set that computes as others do, and hides nothing.
fn set(index: usize, primes: usize) -> Rlwe {
    let ring = RingIndex::new(index).unwrap();
    let mut coeff_moduli = ring.ntt_primes(50, primes).unwrap();
    let special_moduli = vec![coeff_moduli.remove(0)];
    let spec = Spec {
        scheme: SchemeKind::Bgv,
        ring,
        coeff_moduli,
        levels: Vec::new(),
        special_moduli,
        plaintext: PlaintextSpace::Integers { plain_modulus: 2 },
        bound: 1.0,
        packing: None,
    };
    Rlwe::new(spec, Assurance::Insecure).unwrap()
}

/// Deciphered bits are those of the clear cipher, for slots of bytes and of extensions, all rounds and few, blocks that end
/// early and counters that begin anywhere.
#[test]
fn bits_are_those_of_the_cipher_in_the_clear() {
    for (index, primes, rounds) in [(255, 26, ROUNDS), (4369, 9, 2), (255, 5, 1)] {
        let scheme = set(index, primes);
        let rng = &mut AesCtrRng::from_seed([rounds as u8; 32]);
        let plan = AesPlan::new(&scheme, rounds, 1).unwrap();
        assert_eq!(plan.depth(), 3 * rounds);
        assert!(plan.room() >= 1 && plan.noise_budget() > 0.0 && plan.seconds() > 0.0);
        let (secret, _) = scheme.generate_keys(rng);
        let relin = scheme.generate_relin_key(&secret, rng).unwrap();
        let galois = scheme.generate_galois_keys(&secret, &plan.elements().unwrap(), rng).unwrap();
        let key = AesKey::generate(rng);
        let parts = plan.encrypt_key(&key, &secret, rng).unwrap();
        let parts: Vec<_> = parts.iter().map(|part| scheme.expand(part).unwrap()).collect();
        let parts: Vec<_> = parts.iter().collect();
        assert_eq!(
            parts.iter().map(|part| part.level()).collect::<Vec<_>>(),
            plan.key_parts().collect::<Vec<_>>()
        );
        let length = 16 * scheme.slot_count().min(40) - 5;
        let clear: Vec<u8> = (0..length).map(|i| (i * i / 3 + 7) as u8).collect();
        let (nonce, first) = (b"never again.", 0xffff_fe00);
        let mut data = clear.clone();
        key.apply(rounds, nonce, first, &mut data);
        let monitor = Monitor::default();
        let keys = (&relin, &galois);
        let bits = plan.decipher(keys, &parts, (nonce, first), &data, &monitor).unwrap();
        assert_eq!(monitor.progress(), (16 * rounds, 16 * rounds));
        assert_eq!(bits.len(), 128);
        let (mut found, mut least) = (vec![0u8; length], f64::INFINITY);
        for (at, bit) in bits.iter().enumerate() {
            let left = scheme.noise_budget(bit);
            let promised = plan.noise_budget();
            least = least.min(left - promised);

            let plain = scheme.decrypt(&secret, bit).unwrap();
            for (slot, x) in scheme.decode_integers(&plain).unwrap().into_iter().enumerate() {
                if let Some(byte) = found.get_mut(16 * slot + at / 8) {
                    *byte |= (x as u8 & 1) << (at % 8);
                }
            }
        }
        // What the plan said of the noisiest.
        assert!(least.abs() < 1e-6, "{least}");
        assert_eq!(found, clear, "index {index}, {rounds} rounds");
        // Neither bytes that no slot has, nor parts that are missing, swapped or of others, nor counters that come around.
        let refused = |parts: &[&_], first, data: &[u8]| {
            plan.decipher(keys, parts, (nonce, first), data, &Monitor::default()).err().unwrap()
        };
        let long = vec![0; 16 * scheme.slot_count() + 1];
        let moved: Vec<_> = parts[1..].iter().chain(&parts[..1]).copied().collect();
        for error in [
            refused(&parts, 0, &[]),
            refused(&parts, 0, &long),
            refused(&parts, u32::MAX, &data),
            refused(&parts[1..], 0, &data),
            refused(&moved, 0, &data),
        ] {
            assert!(matches!(error, GateError::Scheme(SchemeError::Parameter { .. })), "{error}");
        }
        // Whoever follows may stop it.
        let monitor = Monitor::default();
        monitor.cancel();
        let stopped = plan.decipher(keys, &parts, (nonce, 0), &data, &monitor);
        assert!(matches!(stopped, Err(GateError::Cancelled)));
    }
}

/// Plans refuse what cannot be, by what is missing.
#[test]
fn plans_refuse_what_has_no_room() {
    let scheme = set(255, 5);
    for rounds in [0, 11] {
        assert!(matches!(
            AesPlan::new(&scheme, rounds, 0),
            Err(SchemeError::Parameter { name: "rounds", .. })
        ));
    }
    assert!(matches!(AesPlan::new(&scheme, 3, 0), Err(SchemeError::NoiseBudget { .. })));
    assert!(matches!(AesPlan::new(&scheme, 1, 9), Err(SchemeError::NoiseBudget { .. })));
    // Slots of three bits.
    assert!(matches!(
        AesPlan::new(&set(7, 3), 1, 0),
        Err(SchemeError::Parameter { name: "params", .. })
    ));
}
