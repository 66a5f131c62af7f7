use hesc_math::{AesCtrRng, sampling};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::{
    BitCipher, Bitwise, Bounded, Ciphertexts, Named, Seeded, SeededCiphertexts, generators,
    map_blocks,
};
use crate::streams::classical_sets::BLOCK_LENGTH;
use crate::streams::{Batch, Decrypt, Encrypt, count_blocks};
use crate::wire::{Kind, Reader, Writer};
use crate::{Fingerprint, Packing, SchemeError, Security, Tag};

impl<C: BitCipher> Encrypt for Bitwise<C> {
    type SecretKey = Named<C::SecretKey>;
    type PublicKey = Named<C::PublicKey>;
    type Ciphertexts = Ciphertexts<C>;
    type SeededCiphertexts = SeededCiphertexts<C>;

    fn name(&self) -> &'static str {
        self.cipher.name()
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        self.cipher.spec_to_bytes()
    }

    fn security(&self) -> Security {
        self.cipher.security()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn block_length(&self) -> usize {
        BLOCK_LENGTH
    }

    fn packing(&self) -> Packing {
        // Positions are ciphertexts: masks work, as they do on slots.
        Packing::Slots
    }

    fn generate_keys(
        &self,
        rng: &mut impl CryptoRng,
    ) -> (Named<C::SecretKey>, Named<C::PublicKey>) {
        let (secret, public, key) = self.cipher.generate(rng);
        let tag = Tag { params: self.fingerprint, key };
        (Named { tag, key: secret }, Named { tag, key: public })
    }

    fn encrypt(
        &self,
        key: &Named<C::PublicKey>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<C>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        count_blocks(bits, BLOCK_LENGTH)?;
        let seeds = generators(bits.len(), rng);
        let words = map_blocks(bits, |i, &bits| {
            self.cipher.encrypt(&key.key, bits, &mut AesCtrRng::from_seed(*seeds[i]))
        })?;
        let context = self.cipher.public_context(&key.key);
        Ok(Batch { tag: key.tag, blocks: words.len(), words, state: Bounded { context, bound: 1 } })
    }

    fn encrypt_seeded(
        &self,
        key: &Named<C::SecretKey>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts<C>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        let count = count_blocks(bits, BLOCK_LENGTH)?;
        let seed = sampling::fresh_seed(rng);
        let public = generators(count, &mut AesCtrRng::from_seed(seed));
        let private = generators(count, rng);
        let words = map_blocks(bits, |i, &bits| {
            let public = &mut AesCtrRng::from_seed(*public[i]);
            let private = &mut AesCtrRng::from_seed(*private[i]);
            self.cipher.encrypt_seeded(&key.key, bits, public, private)
        })?;
        let context = self.cipher.secret_context(&key.key);
        Ok(Batch { tag: key.tag, blocks: count, words, state: Seeded { context, seed } })
    }

    fn expand(&self, seeded: &SeededCiphertexts<C>) -> Result<Ciphertexts<C>, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        let seeds = generators(seeded.words.len(), &mut AesCtrRng::from_seed(seeded.state.seed));
        let words = map_blocks(&seeded.words, |i, block| {
            self.cipher.expand(&seeded.state.context, block, &mut AesCtrRng::from_seed(*seeds[i]))
        })?;
        let state = Bounded { context: seeded.state.context.clone(), bound: 1 };
        Ok(Batch { tag: seeded.tag, words, blocks: seeded.blocks, state })
    }

    /// The bound stays.
    fn rerandomise(
        &self,
        key: &Named<C::PublicKey>,
        a: &Ciphertexts<C>,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<C>, SchemeError> {
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let seeds = generators(a.words.len(), rng);
        let words = map_blocks(&a.words, |i, block| {
            let rng = &mut AesCtrRng::from_seed(*seeds[i]);
            self.cipher.rerandomise(&key.key, &a.state.context, block, rng)
        })?;
        Ok(Batch { tag: a.tag, words, blocks: a.blocks, state: a.state.clone() })
    }

    fn noise_budget(&self, a: &Ciphertexts<C>) -> f64 {
        if self.cipher.counts_parity() {
            return f64::INFINITY;
        }
        (self.cipher.max_count() as f64 / a.state.bound as f64).log2()
    }

    fn measured_noise_budget(
        &self,
        key: &Named<C::SecretKey>,
        a: &Ciphertexts<C>,
    ) -> Result<f64, SchemeError> {
        // There is no noise: the bound is all there is, if the ciphertext decrypts.
        self.decrypt(key, a)?;
        Ok(self.noise_budget(a))
    }

    fn secret_key_to_bytes(&self, key: &Named<C::SecretKey>) -> Zeroizing<Vec<u8>> {
        let body = self.cipher.secret_key_to_bytes(&key.key);
        // Room for everything at once: a vector that grows leaves copies behind.
        let mut writer = Writer::with_capacity(Kind::SecretKey, 64 + body.len());
        writer.tag(key.tag).nested(&body);
        Zeroizing::new(writer.finish())
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<Named<C::SecretKey>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint)?;
        let body = reader.nested()?;
        let key = self
            .cipher
            .secret_key_from_bytes(body, tag.key)
            .ok_or_else(|| reader.error("it is no key of this parameter set"))?;
        reader.finish()?;
        Ok(Named { tag, key })
    }
}

impl<C: BitCipher> Decrypt<Ciphertexts<C>> for Bitwise<C> {
    fn max_count(&self, _a: &Ciphertexts<C>) -> u64 {
        self.cipher.max_count()
    }

    fn decrypt(
        &self,
        key: &Named<C::SecretKey>,
        a: &Ciphertexts<C>,
    ) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let found =
            map_blocks(&a.words, |_, block| self.cipher.decrypt(&key.key, block, a.state.bound))?;
        let mut counts = Vec::with_capacity(found.len() * BLOCK_LENGTH);
        for (block, found) in found.into_iter().enumerate() {
            counts.extend(found.ok_or(SchemeError::NotACount { block })?);
        }
        Ok(counts)
    }
}
