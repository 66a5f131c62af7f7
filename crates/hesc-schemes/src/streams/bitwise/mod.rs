//! What the schemes with a ciphertext for each bit share (`koseki2022hesc` §3.1): blocks of 64
//! encrypted bits, batches, bounds on counts, seeds, the wire form. A scheme is a [`BitCipher`];
//! [`Bitwise`] makes a [`Scheme`] of it.

mod evaluation;
mod wire;

use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::{CryptoRng, SeedableRng};
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::streams::count_blocks;
use crate::threads::several_threads;
use crate::{BitProduct, Fingerprint, KeyId, Packing, Scheme, SchemeError, Tag, checkpoint};

/// Bits of a block: a word of the packed input.
pub const BLOCK_LENGTH: usize = 64;

/// An encryption of bits that adds: 64 bits at a time, with a secret-key form whose random part
/// comes from a public seed.
pub trait BitCipher: Clone + Send + Sync + 'static {
    /// Decrypts. No `Debug`, no equality, wiped on drop.
    type SecretKey: Send + Sync;
    /// Encrypts.
    type PublicKey: Clone + Send + Sync;
    /// What operations need of the key pair, public.
    type Context: Clone + Send + Sync;
    /// 64 encrypted bits.
    type Block: Clone + Send + Sync;
    /// 64 bits encrypted under the secret key, without what the seed gives.
    type SeededBlock: Clone + Send + Sync;

    /// The scheme's name in the interface.
    fn name(&self) -> &'static str;
    /// The parameter set's wire form.
    fn spec_to_bytes(&self) -> Vec<u8>;
    /// The largest count that decrypts.
    fn max_count(&self) -> u64;
    /// Whether a position decrypts to a bit, whatever was added.
    fn counts_parity(&self) -> bool;
    /// What adding blocks does to their bits.
    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    /// A key pair and its name.
    fn generate(&self, rng: &mut impl CryptoRng) -> (Self::SecretKey, Self::PublicKey, KeyId);
    /// The context of a public key.
    fn public_context(&self, key: &Self::PublicKey) -> Self::Context;
    /// The context of a secret key.
    fn secret_context(&self, key: &Self::SecretKey) -> Self::Context;
    /// Encrypts 64 bits.
    fn encrypt(&self, key: &Self::PublicKey, bits: u64, rng: &mut AesCtrRng) -> Self::Block;
    /// Encrypts 64 bits; the random part is what `public` gives, but for what must stay private.
    fn encrypt_seeded(
        &self,
        key: &Self::SecretKey,
        bits: u64,
        public: &mut AesCtrRng,
        private: &mut AesCtrRng,
    ) -> Self::SeededBlock;
    /// The full form, with the same `public`.
    fn expand(
        &self,
        context: &Self::Context,
        block: &Self::SeededBlock,
        public: &mut AesCtrRng,
    ) -> Self::Block;
    /// Counts of at most `bound`; `None` if a position holds none.
    fn decrypt(
        &self,
        key: &Self::SecretKey,
        block: &Self::Block,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]>;

    /// `a + b`.
    fn add(&self, context: &Self::Context, a: &Self::Block, b: &Self::Block) -> Self::Block;
    /// `base * a`.
    fn times(&self, context: &Self::Context, a: &Self::Block, base: u64) -> Self::Block;
    /// `a += bits`, or their conjunction.
    fn add_bits(&self, context: &Self::Context, a: &mut Self::Block, bits: u64);
    /// What adding leaves as it is, hiding nothing, at the positions whose bit is not set.
    fn mask(&self, context: &Self::Context, a: &mut Self::Block, bits: u64);
    /// Puts position `from` of `b` in place of position `to` of `a`.
    fn place(&self, a: &mut Self::Block, to: usize, b: &Self::Block, from: usize);
    /// The same bits or counts in a block that is distributed as if it were fresh, also for who holds the
    /// secret key.
    fn rerandomise(
        &self,
        key: &Self::PublicKey,
        context: &Self::Context,
        a: &Self::Block,
        rng: &mut AesCtrRng,
    ) -> Self::Block {
        self.add(context, a, &self.encrypt(key, self.neutral(), rng))
    }
    /// The bits that adding leaves others as they are by.
    fn neutral(&self) -> u64 {
        match self.bit_product() {
            BitProduct::ExclusiveOr => 0,
            BitProduct::Conjunction => u64::MAX,
        }
    }

    /// Bytes of a context.
    fn context_bytes(&self) -> usize;
    /// Wire form of a context; empty if the parameter set says all.
    fn context_to_bytes(&self, context: &Self::Context) -> Vec<u8>;
    /// Reads a context for this key pair.
    fn context_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<Self::Context>;
    /// Bytes of a block.
    fn block_bytes(&self) -> usize;
    /// Wire form of a block.
    fn block_to_bytes(&self, context: &Self::Context, block: &Self::Block) -> Vec<u8>;
    /// Reads a block; `None` unless every element is in the group and in its one encoding.
    fn block_from_bytes(&self, context: &Self::Context, bytes: &[u8]) -> Option<Self::Block>;
    /// Bytes of a seeded block.
    fn seeded_block_bytes(&self) -> usize;
    /// Wire form of a seeded block.
    fn seeded_block_to_bytes(&self, block: &Self::SeededBlock) -> Vec<u8>;
    /// Reads a seeded block.
    fn seeded_block_from_bytes(
        &self,
        context: &Self::Context,
        bytes: &[u8],
    ) -> Option<Self::SeededBlock>;
    /// Wire form of a public key.
    fn public_key_to_bytes(&self, key: &Self::PublicKey) -> Vec<u8>;
    /// Reads a public key of this name.
    fn public_key_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<Self::PublicKey>;
    /// Wire form of a secret key.
    fn secret_key_to_bytes(&self, key: &Self::SecretKey) -> Zeroizing<Vec<u8>>;
    /// Reads a secret key of this name.
    fn secret_key_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<Self::SecretKey>;
}

/// A scheme with a ciphertext for each bit. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Bitwise<C> {
    cipher: C,
    fingerprint: Fingerprint,
}

/// The secret key of a [`Bitwise`] scheme. No `Debug`, no equality, no `Clone`.
pub struct SecretKey<C: BitCipher> {
    tag: Tag,
    key: C::SecretKey,
}

/// The public key of a [`Bitwise`] scheme.
pub struct PublicKey<C: BitCipher> {
    tag: Tag,
    key: C::PublicKey,
}

/// A batch of ciphertexts.
pub struct Ciphertexts<C: BitCipher> {
    tag: Tag,
    context: C::Context,
    blocks: Vec<C::Block>,
    /// Largest count of a position; 1 where counts are modulo 2.
    bound: u64,
}

/// A batch from the secret key.
pub struct SeededCiphertexts<C: BitCipher> {
    tag: Tag,
    context: C::Context,
    seed: RngSeed,
    blocks: Vec<C::SeededBlock>,
}

// Derived, these would ask the cipher itself to be more than its parts.
impl<C: BitCipher> Clone for PublicKey<C> {
    fn clone(&self) -> Self {
        Self { tag: self.tag, key: self.key.clone() }
    }
}

impl<C: BitCipher> Clone for Ciphertexts<C> {
    fn clone(&self) -> Self {
        let (context, blocks) = (self.context.clone(), self.blocks.clone());
        Self { tag: self.tag, context, blocks, bound: self.bound }
    }
}

impl<C: BitCipher> Clone for SeededCiphertexts<C> {
    fn clone(&self) -> Self {
        let (context, blocks) = (self.context.clone(), self.blocks.clone());
        Self { tag: self.tag, context, seed: self.seed, blocks }
    }
}

/// A generator for each block, so that results do not depend on threads.
fn generators(count: usize, rng: &mut impl CryptoRng) -> Vec<Zeroizing<RngSeed>> {
    (0..count).map(|_| sampling::fresh_seed(rng).into()).collect()
}

/// Blocks for each thread between two questions whether to go on: a second at most.
const GROUP: usize = 4;

/// `body` of each item, on several threads where there are any.
fn map_blocks<T: Sync, U: Send>(
    items: &[T],
    body: impl Fn(usize, &T) -> U + Sync,
) -> Result<Vec<U>, SchemeError> {
    let mut results = Vec::with_capacity(items.len());
    for group in items.chunks(GROUP * rayon::current_num_threads()) {
        let first = results.len();
        results.extend(map_at_once(group, |i, item| body(first + i, item)));
        checkpoint()?;
    }
    Ok(results)
}

/// The same without a question in between, for what is short.
fn map_at_once<T: Sync, U: Send>(items: &[T], body: impl Fn(usize, &T) -> U + Sync) -> Vec<U> {
    if items.len() > 1 && several_threads() {
        items.par_iter().enumerate().map(|(i, item)| body(i, item)).collect()
    } else {
        items.iter().enumerate().map(|(i, item)| body(i, item)).collect()
    }
}

impl<C: BitCipher> Bitwise<C> {
    /// The scheme of a cipher.
    pub fn of(cipher: C) -> Self {
        let fingerprint = Fingerprint::of(&cipher.spec_to_bytes());
        Self { cipher, fingerprint }
    }

    /// The parameter set's wire form.
    pub fn spec_to_bytes(&self) -> Vec<u8> {
        self.cipher.spec_to_bytes()
    }

    /// The cipher with its parameters.
    pub fn cipher(&self) -> &C {
        &self.cipher
    }
}

impl<C: BitCipher> Scheme for Bitwise<C> {
    type SecretKey = SecretKey<C>;
    type PublicKey = PublicKey<C>;
    type Ciphertexts = Ciphertexts<C>;
    type SeededCiphertexts = SeededCiphertexts<C>;
    /// A ciphertext is as small as it gets.
    type CompactCiphertexts = Ciphertexts<C>;

    fn name(&self) -> &'static str {
        self.cipher.name()
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

    fn key_of(&self, a: &Ciphertexts<C>) -> Result<KeyId, SchemeError> {
        Ok(a.tag.key)
    }

    fn max_count(&self, _a: &Ciphertexts<C>) -> u64 {
        self.cipher.max_count()
    }

    fn compact_max_count(&self, _a: &Ciphertexts<C>) -> u64 {
        self.cipher.max_count()
    }

    fn parity_survives_wrap(&self) -> bool {
        self.cipher.counts_parity()
    }

    fn bit_product(&self) -> BitProduct {
        self.cipher.bit_product()
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey<C>, PublicKey<C>) {
        let (secret, public, key) = self.cipher.generate(rng);
        let tag = Tag { params: self.fingerprint, key };
        (SecretKey { tag, key: secret }, PublicKey { tag, key: public })
    }

    fn encrypt(
        &self,
        key: &PublicKey<C>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<C>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        count_blocks(bits, BLOCK_LENGTH)?;
        let seeds = generators(bits.len(), rng);
        let blocks = map_blocks(bits, |i, &bits| {
            self.cipher.encrypt(&key.key, bits, &mut AesCtrRng::from_seed(*seeds[i]))
        })?;
        let context = self.cipher.public_context(&key.key);
        Ok(Ciphertexts { tag: key.tag, context, blocks, bound: 1 })
    }

    fn encrypt_seeded(
        &self,
        key: &SecretKey<C>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts<C>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        let count = count_blocks(bits, BLOCK_LENGTH)?;
        let seed = sampling::fresh_seed(rng);
        let public = generators(count, &mut AesCtrRng::from_seed(seed));
        let private = generators(count, rng);
        let blocks = map_blocks(bits, |i, &bits| {
            let public = &mut AesCtrRng::from_seed(*public[i]);
            let private = &mut AesCtrRng::from_seed(*private[i]);
            self.cipher.encrypt_seeded(&key.key, bits, public, private)
        })?;
        let context = self.cipher.secret_context(&key.key);
        Ok(SeededCiphertexts { tag: key.tag, context, seed, blocks })
    }

    fn expand(&self, seeded: &SeededCiphertexts<C>) -> Result<Ciphertexts<C>, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        let seeds = generators(seeded.blocks.len(), &mut AesCtrRng::from_seed(seeded.seed));
        let blocks = map_blocks(&seeded.blocks, |i, block| {
            self.cipher.expand(&seeded.context, block, &mut AesCtrRng::from_seed(*seeds[i]))
        })?;
        Ok(Ciphertexts { tag: seeded.tag, context: seeded.context.clone(), blocks, bound: 1 })
    }

    fn decrypt(&self, key: &SecretKey<C>, a: &Ciphertexts<C>) -> Result<Vec<u32>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        a.tag.check(self.fingerprint, Some(key.tag))?;
        let found =
            map_blocks(&a.blocks, |_, block| self.cipher.decrypt(&key.key, block, a.bound))?;
        let mut counts = Vec::with_capacity(found.len() * BLOCK_LENGTH);
        for (block, found) in found.into_iter().enumerate() {
            counts.extend(found.ok_or(SchemeError::NotACount { block })?);
        }
        Ok(counts)
    }

    fn compact(&self, a: &Ciphertexts<C>) -> Result<Ciphertexts<C>, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        Ok(a.clone())
    }

    fn decrypt_compact(
        &self,
        key: &SecretKey<C>,
        a: &Ciphertexts<C>,
    ) -> Result<Vec<u32>, SchemeError> {
        self.decrypt(key, a)
    }

    fn blocks(&self, a: &Ciphertexts<C>) -> usize {
        a.blocks.len()
    }

    fn seeded_blocks(&self, seeded: &SeededCiphertexts<C>) -> usize {
        seeded.blocks.len()
    }

    fn compact_blocks(&self, a: &Ciphertexts<C>) -> usize {
        a.blocks.len()
    }

    fn add(&self, a: &Ciphertexts<C>, b: &Ciphertexts<C>) -> Result<Ciphertexts<C>, SchemeError> {
        let (expected, found) = (a.blocks.len(), b.blocks.len());
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let pairs: Vec<_> = (0..expected).map(|i| (i, i)).collect();
        self.add_block_pairs(a, b, &pairs)
    }

    fn add_pairs(
        &self,
        a: &Ciphertexts<C>,
        b: &Ciphertexts<C>,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        self.add_block_pairs(a, b, pairs)
    }

    fn add_bits_assign(&self, a: &mut Ciphertexts<C>, bits: &[u64]) -> Result<(), SchemeError> {
        self.add_plain(a, bits)
    }

    fn mask_assign(&self, a: &mut Ciphertexts<C>, bits: &[u64]) -> Result<(), SchemeError> {
        self.multiply_masks(a, bits)
    }

    fn horner(
        &self,
        parts: &[&Ciphertexts<C>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<C>, SchemeError> {
        self.horner_blocks(parts, rows, bases)
    }

    fn gather(
        &self,
        parts: &[&Ciphertexts<C>],
        sources: &[Option<(usize, usize)>],
    ) -> Result<Option<Ciphertexts<C>>, SchemeError> {
        self.gather_positions(parts, sources).map(Some)
    }

    fn rerandomise(
        &self,
        key: &PublicKey<C>,
        a: &Ciphertexts<C>,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<C>, SchemeError> {
        self.rerandomise_blocks(key, a, rng)
    }

    fn select(&self, a: &Ciphertexts<C>, blocks: &[usize]) -> Result<Ciphertexts<C>, SchemeError> {
        self.select_blocks(a, blocks)
    }

    fn concatenate(&self, parts: &[&Ciphertexts<C>]) -> Result<Ciphertexts<C>, SchemeError> {
        self.concatenate_blocks(parts)
    }

    fn noise_budget(&self, a: &Ciphertexts<C>) -> f64 {
        if self.cipher.counts_parity() {
            return f64::INFINITY;
        }
        (self.cipher.max_count() as f64 / a.bound as f64).log2()
    }

    fn measured_noise_budget(
        &self,
        key: &SecretKey<C>,
        a: &Ciphertexts<C>,
    ) -> Result<f64, SchemeError> {
        // There is no noise: the bound is all there is, if the ciphertext decrypts.
        self.decrypt(key, a)?;
        Ok(self.noise_budget(a))
    }

    fn ciphertexts_to_bytes(&self, a: &Ciphertexts<C>) -> Vec<u8> {
        self.write_ciphertexts(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts<C>, SchemeError> {
        self.read_ciphertexts(bytes)
    }

    fn seeded_to_bytes(&self, a: &SeededCiphertexts<C>) -> Vec<u8> {
        self.write_seeded(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertexts<C>, SchemeError> {
        self.read_seeded(bytes)
    }

    fn compact_to_bytes(&self, a: &Ciphertexts<C>) -> Vec<u8> {
        self.write_ciphertexts(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts<C>, SchemeError> {
        self.read_ciphertexts(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey<C>) -> Vec<u8> {
        self.write_public_key(key)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey<C>, SchemeError> {
        self.read_public_key(bytes)
    }

    fn secret_key_to_bytes(&self, key: &SecretKey<C>) -> Zeroizing<Vec<u8>> {
        self.write_secret_key(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey<C>, SchemeError> {
        self.read_secret_key(bytes)
    }
}
