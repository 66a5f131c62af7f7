use hesc_math::RngSeed;
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroizing;

use super::keys::{Pads, fresh_nonce};
use super::{Ciphertexts, Pad, SecretKey, SeededCiphertexts, Sources, not_in_pads, spec_bytes};
use crate::streams::{Batch, Compact, Decrypt, Encrypt, bits_of, count_blocks};
use crate::threads::several_threads;
use crate::wire::{Kind, Reader, Writer};
use crate::{Fingerprint, KeyId, Packing, SchemeError, Security, Tag, checkpoint};

/// Words that a thread has at least, and between two questions whether to go on at most.
const GROUP: usize = 1 << 16;

impl Encrypt for Pad {
    type SecretKey = SecretKey;
    /// A name: it encrypts nothing.
    type PublicKey = Tag;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;

    fn name(&self) -> &'static str {
        "pad"
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        spec_bytes(self.block_length)
    }

    fn security(&self) -> Security {
        Security::Symmetric128
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn block_length(&self) -> usize {
        self.block_length
    }

    fn packing(&self) -> Packing {
        Packing::Coefficients
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey, Tag) {
        let tag = Tag { params: self.fingerprint, key: KeyId::random(rng) };
        let mut seed = Box::<Zeroizing<RngSeed>>::default();
        rng.fill_bytes(&mut seed[..]);
        (SecretKey { tag, seed }, tag)
    }

    /// Refused: pads are of who decrypts.
    fn encrypt(
        &self,
        key: &Tag,
        _bits: &[u64],
        _rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        key.check(self.fingerprint, None)?;
        Err(not_in_pads(
            "encryption under a public key",
            "whoever makes a pad can take it away, so that the key owner encrypts, with the secret key; \
             where others do, take a homomorphic scheme, gm_3072 for single bits or bfv_1024",
        ))
    }

    fn encrypt_seeded(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        let blocks = count_blocks(bits, self.block_length)?;
        let nonce = fresh_nonce(rng);
        let pads = key.pads(&nonce);
        let mut words = bits.to_vec();
        for_each_block(&mut words, self.words(), |index, block| pads.apply(index as u32, block))?;
        Ok(Batch { tag: key.tag, words, blocks, state: nonce })
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        let Batch { tag, ref words, blocks, state } = *seeded;
        Ok(Batch { tag, words: words.clone(), blocks, state: Sources::fresh(state, blocks) })
    }

    /// Refused: there is no public key.
    fn rerandomise(
        &self,
        key: &Tag,
        a: &Ciphertexts,
        _rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint, Some(*key))?;
        Err(not_in_pads(
            "rerandomising",
            "nobody but the key owner can make a fresh pad, and a result names the blocks it is a product \
             of; take a scheme with a ciphertext for each bit, gm_3072 or ec_elgamal_ristretto255",
        ))
    }

    fn noise_budget(&self, _a: &Ciphertexts) -> f64 {
        f64::INFINITY
    }

    fn measured_noise_budget(&self, key: &SecretKey, a: &Ciphertexts) -> Result<f64, SchemeError> {
        a.tag.check(self.fingerprint, Some(key.tag))?;
        Ok(f64::INFINITY)
    }

    fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        // Room for everything at once: a vector that grows leaves copies behind.
        let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + key.seed.len());
        writer.tag(key.tag).bytes(&key.seed[..]);
        Zeroizing::new(writer.finish())
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let mut seed = Box::<Zeroizing<RngSeed>>::default();
        seed.copy_from_slice(reader.bytes(size_of::<RngSeed>())?);
        reader.finish()?;
        Ok(SecretKey { tag, seed })
    }
}

impl Decrypt<Ciphertexts> for Pad {
    fn max_count(&self, _a: &Ciphertexts) -> u64 {
        1
    }

    /// Takes away the pads that the batch names. Cost: a pad for each of them.
    fn decrypt(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let of_nonces: Vec<Pads> = a.state.nonces.iter().map(|nonce| key.pads(nonce)).collect();
        let mut words = Zeroizing::new(a.words.clone());
        for_each_block(&mut words, self.words(), |index, block| {
            for source in a.state.of(index) {
                of_nonces[source.nonce as usize].apply(source.index, block);
            }
        })?;
        Ok(bits_of(&words))
    }
}

impl Compact for Pad {
    /// Nothing is smaller than what is there.
    type CompactCiphertexts = Ciphertexts;

    fn compact(&self, a: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        Ok(a.clone())
    }
}

/// `body` of each block, on several threads where there is enough for them.
fn for_each_block(
    words: &mut [u64],
    size: usize,
    body: impl Fn(usize, &mut [u64]) + Sync,
) -> Result<(), SchemeError> {
    let at_once = GROUP.div_ceil(size);
    let groups = at_once * if several_threads() { rayon::current_num_threads() } else { 1 };
    for (group, words) in words.chunks_mut(groups * size).enumerate() {
        let first = group * groups;
        let of_part = |(part, words): (usize, &mut [u64])| {
            let first = first + part * at_once;
            for (index, block) in words.chunks_exact_mut(size).enumerate() {
                body(first + index, block);
            }
        };
        if words.len() > at_once * size {
            words.par_chunks_mut(at_once * size).enumerate().for_each(of_part);
        } else {
            of_part((0, words));
        }
        checkpoint()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block twice under one number would have one pad twice. Batches of several rounds of all threads, and of
    /// a block more and less.
    #[test]
    fn every_block_has_its_number() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for size in [16, 1001, 1 << 14] {
                let round = threads * GROUP.div_ceil(size);
                for blocks in [1, round - 1, round, round + 1, 2 * round + round / 2 + 1] {
                    let mut words = vec![u64::MAX; blocks * size];
                    let number = |index: usize, block: &mut [u64]| block.fill(index as u64);
                    pool.install(|| for_each_block(&mut words, size, number)).unwrap();
                    let mut blocks = words.chunks(size).enumerate();
                    let right = |(index, block): (usize, &[u64])| {
                        block.iter().all(|&number| number == index as u64)
                    };
                    assert!(blocks.all(right), "{threads} threads, blocks of {size} words");
                }
            }
        }
    }
}
