use hesc_math::{AesCtrRng, sampling};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::keys::{fill_uniform, fresh_seeds};
use super::polynomial::{self, add_gaussian};
use super::{Ciphertexts, GRID, PublicKey, SecretKey, SeededCiphertexts, Tfhe, Torus, noise};
use crate::streams::{Batch, Combine, Encrypt, count_blocks};
use crate::threads::note_shared;
use crate::wire::{Kind, Reader, Writer};
use crate::{Fingerprint, Packing, SchemeError, Security};

/// Adds packed bits, scaled to one of `plain_modulus` plaintexts. Free of branches on bits.
pub(super) fn add_bits(body: &mut [u64], bits: &[u64], plain_modulus: u64) {
    let shift = 64 - plain_modulus.ilog2();
    for (words, bits) in body.chunks_exact_mut(64).zip(bits) {
        for (i, word) in words.iter_mut().enumerate() {
            *word = word.wrapping_add((bits >> i & 1) << shift);
        }
    }
}

impl Encrypt for Tfhe {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;

    fn name(&self) -> &'static str {
        "tfhe"
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        self.spec().to_bytes()
    }

    fn security(&self) -> Security {
        Security::Of(self.spec().assurance())
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    fn block_length(&self) -> usize {
        self.ring_degree()
    }

    fn packing(&self) -> Packing {
        Packing::Coefficients
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey) {
        let secret = self.generate_secret_key(rng);
        let public = self.generate_public_key(&secret, rng);
        (secret, public)
    }

    /// `(a r + e, b r + e')` plus the bits, for a fresh binary `r`. Cost a block: two products.
    fn encrypt(
        &self,
        key: &PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        let blocks = count_blocks(bits, self.block_length())?;
        let n = self.ring_degree();
        let log2_noise = self.spec().log2_ring_noise;
        let mut words = vec![0; blocks * 2 * n];
        let seeds = fresh_seeds(blocks, rng);
        note_shared();
        words.par_chunks_exact_mut(2 * n).zip(bits.par_chunks_exact(n / 64)).zip(&seeds).for_each(
            |((block, bits), seed)| {
                let rng = &mut AesCtrRng::from_seed(**seed);
                let mut r = Zeroizing::new(vec![0; n]);
                polynomial::fill_binary(&mut r, rng);
                let r = self.products().binary(&r);
                let mut room = Zeroizing::new(vec![0; n]);
                for (part, key) in block.chunks_exact_mut(n).zip(key.words.chunks_exact(n)) {
                    self.products().multiply(part, key, &r, &mut room);
                    add_gaussian(part, log2_noise, rng);
                }
                add_bits(&mut block[n..], bits, GRID);
            },
        );
        let state = Torus { plain_modulus: GRID, count: 1, variance: self.noise().public };
        Ok(Batch { tag: key.tag, words, blocks, state })
    }

    /// `a s + e` plus the bits, for a uniform `a` of a seed. Cost a block: a product.
    fn encrypt_seeded(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        key.tag.check(self.fingerprint(), None)?;
        let blocks = count_blocks(bits, self.block_length())?;
        let n = self.ring_degree();
        let seed = sampling::fresh_seed(rng);
        let mut masks = vec![0; blocks * n];
        fill_uniform(&mut masks, &mut AesCtrRng::from_seed(seed));
        let mut bodies = vec![0; blocks * n];
        let secret = self.products().binary(&key.ring);
        let mut room = Zeroizing::new(vec![0; n]);
        for ((body, mask), bits) in
            bodies.chunks_exact_mut(n).zip(masks.chunks_exact(n)).zip(bits.chunks_exact(n / 64))
        {
            self.products().multiply(body, mask, &secret, &mut room);
            add_gaussian(body, self.spec().log2_ring_noise, rng);
            add_bits(body, bits, GRID);
        }
        Ok(Batch { tag: key.tag, words: bodies, blocks, state: seed })
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        seeded.tag.check(self.fingerprint(), None)?;
        let n = self.ring_degree();
        let mut masks = vec![0; seeded.words.len()];
        fill_uniform(&mut masks, &mut AesCtrRng::from_seed(seeded.state));
        let blocks = masks.chunks_exact(n).zip(seeded.words.chunks_exact(n));
        let words = blocks.flat_map(|(mask, body)| [mask, body].concat()).collect();
        let state = Torus { plain_modulus: GRID, count: 1, variance: self.noise().secret };
        Ok(Batch { tag: seeded.tag, words, blocks: seeded.blocks, state })
    }

    fn rerandomise(
        &self,
        key: &PublicKey,
        a: &Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        let zeros = vec![0; a.blocks * self.block_length() / 64];
        let mut sum = self.combine(a, &self.encrypt(key, &zeros, rng)?)?;
        // No ones were added: bits stay bits.
        sum.state.count = a.state.count;
        Ok(sum)
    }

    fn noise_budget(&self, a: &Ciphertexts) -> f64 {
        noise::budget(a.state.variance, a.state.plain_modulus)
    }

    fn measured_noise_budget(&self, key: &SecretKey, a: &Ciphertexts) -> Result<f64, SchemeError> {
        Ok(noise::budget(self.measured_variance(key, a)?, a.state.plain_modulus))
    }

    /// Bits of both secrets, packed.
    fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        let body = 64 + (key.ring.len() + key.lwe.len()) / 8;
        let mut writer = Writer::with_capacity(Kind::SecretKey, body);
        writer.tag(key.tag).packed(&key.ring, 1).packed(&key.lwe, 1);
        Zeroizing::new(writer.finish())
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint())?;
        let ring = Zeroizing::new(reader.packed(self.ring_degree(), 1)?);
        let lwe = Zeroizing::new(reader.packed(self.spec().lwe_dimension, 1)?);
        reader.finish()?;
        Ok(SecretKey { tag, ring: ring.to_vec(), lwe: lwe.to_vec() })
    }
}
