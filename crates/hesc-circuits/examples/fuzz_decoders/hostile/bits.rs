//! Encrypted bits, and what evaluates on them.

use hesc_circuits::gates::Packed;
use hesc_circuits::vectors::Integers;
use hesc_math::AesCtrRng;
use hesc_schemes::Assurance;
use hesc_schemes::streams::tfhe::{self, Tfhe};
use hesc_schemes::streams::{Combine, Compact, Decrypt, Encrypt};
use rand_core::SeedableRng;

use super::frames::{Family, Frame};
use super::{Asked, Object, Target};

/// A parameter set of bits, its key and objects.
pub struct BitTarget {
    scheme: Tfhe,
    secret: tfhe::SecretKey,
    tag: Vec<u8>,
    /// Bits of budget that nothing exceeds: those of an encryption under the secret key.
    most_budget: f64,
    objects: Vec<Object>,
}

impl BitTarget {
    pub fn new(scheme: Tfhe) -> Result<Self, Box<dyn std::error::Error>> {
        let mut rng = AesCtrRng::from_seed([5; 32]);
        let (secret, public) = scheme.generate_keys(&mut rng);
        let blocks = scheme.encrypt(&public, &[7; 4], &mut rng)?;
        let fresh = scheme.expand(&scheme.encrypt_seeded(&secret, &[7; 4], &mut rng)?)?;
        let most_budget = scheme.noise_budget(&fresh);
        let key = scheme.generate_evaluation_key(&secret, &mut rng)?;
        let compact = scheme.compact(&blocks)?;
        let (_, other) = scheme.generate_keys(&mut rng);
        let foreign = scheme.encrypt(&other, &[7; 4], &mut rng)?;
        let signed = Integers { count: 20, width: 10, signed: true, boolean: false };
        let truths = Integers { count: 256, width: 1, signed: false, boolean: true };
        let numbers = Packed { blocks: blocks.clone(), shape: vec![20, 10] };
        let answer = Packed { blocks: compact.clone(), shape: vec![256, 1] };
        let bytes = [
            scheme.spec().to_bytes(),
            Packed { blocks, shape: vec![2, 100] }.to_bytes(&scheme),
            Packed { blocks: compact, shape: vec![256] }.to_bytes(&scheme),
            scheme.evaluation_key_to_bytes(&key),
            Packed { blocks: foreign, shape: vec![2, 100] }.to_bytes(&scheme),
            numbers.integers_to_bytes(&scheme, signed),
            answer.integers_to_bytes(&scheme, truths),
        ];
        let objects: Vec<Object> =
            bytes.into_iter().map(|bytes| Object::new(Family::Torus, bytes)).collect();
        let tag = objects[1].frame.tags().swap_remove(0);
        Ok(Self { scheme, secret, tag, most_budget, objects })
    }
}

impl Target for BitTarget {
    fn objects(&self) -> &[Object] {
        &self.objects
    }

    fn read(&self, bytes: &[u8], _rng: &mut AesCtrRng, asked: &mut Asked) -> bool {
        let s = &self.scheme;
        let mut accepted = false;
        let is_own = || Frame::read(Family::Torus, bytes).tags().iter().all(|tag| *tag == self.tag);
        if let Ok(bits) = Packed::<tfhe::Ciphertexts>::from_bytes(s, bytes) {
            accepted = true;
            asked.same(&bits.to_bytes(s), bytes);
            let budget = s.noise_budget(&bits.blocks);
            asked.that(budget <= self.most_budget + 1e-9, "less noise than there can be");
            match s.decrypt(&self.secret, &bits.blocks) {
                Ok(counts) => {
                    asked.that(is_own(), "bits of another key pair");
                    asked.that(counts.iter().all(|&count| count < 16), "a count out of range");
                }
                Err(_) => asked.that(true, ""),
            }
            let _ = s.combine(&bits.blocks, &bits.blocks);
            let positions: Vec<usize> = (0..bits.count()).collect();
            let bits = s.extract(&bits.blocks, &positions);
            let _ = bits.and_then(|bits| s.decrypt_bits(&self.secret, &bits));
        }
        if let Ok(bits) = Packed::<tfhe::CompactCiphertexts>::from_bytes(s, bytes) {
            accepted = true;
            asked.same(&bits.to_bytes(s), bytes);
            if s.decrypt(&self.secret, &bits.blocks).is_ok() {
                asked.that(is_own(), "an answer of another key pair");
            }
        }
        if let Ok((of, bits)) = Packed::<tfhe::Ciphertexts>::integers_from_bytes(s, bytes) {
            accepted = true;
            asked.same(&bits.integers_to_bytes(s, of), bytes);
            asked.that(bits.count() == of.count * of.width, "other bits than the numbers have");
        }
        if let Ok((of, bits)) = Packed::<tfhe::CompactCiphertexts>::integers_from_bytes(s, bytes) {
            accepted = true;
            asked.same(&bits.integers_to_bytes(s, of), bytes);
            asked.that(bits.count() == of.count * of.width, "other bits than the numbers have");
        }
        if let Ok(key) = s.evaluation_key_from_bytes(bytes) {
            accepted = true;
            asked.same(&s.evaluation_key_to_bytes(&key), bytes);
            let _ = s.expand_evaluation_key(&key);
        }
        if let Ok(spec) = tfhe::Spec::from_bytes(bytes) {
            accepted = true;
            asked.same(&spec.to_bytes(), bytes);
            let _ = Tfhe::new(spec, Assurance::Insecure);
        }
        accepted
    }
}
