//! What the schemes with a ciphertext for each bit share (`koseki2022hesc` §3.1): blocks of 64
//! encrypted bits, batches, bounds on counts, seeds, the wire form. A scheme is a [`BitCipher`];
//! [`Bitwise`] makes a [`Scheme`](crate::Scheme) of it.

mod encryption;
mod evaluation;
mod wire;

use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::Zeroizing;

use crate::streams::Batch;
use crate::streams::classical_sets::BLOCK_LENGTH;
use crate::threads::several_threads;
use crate::{BitProduct, Fingerprint, KeyId, SchemeError, Security, Tag, checkpoint};

/// An encryption of bits that can be combined: 64 bits at a time, with a secret-key form whose random part
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
    /// What the set keeps.
    fn security(&self) -> Security {
        Security::Classical128
    }
    /// The largest count that decrypts.
    fn max_count(&self) -> u64;
    /// Whether a position decrypts to a bit, whatever was combined.
    fn counts_parity(&self) -> bool;
    /// What combining blocks does to their bits.
    fn bit_product(&self) -> BitProduct;

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

    /// A block that holds what the bits of both combine to.
    fn combine(&self, context: &Self::Context, a: &Self::Block, b: &Self::Block) -> Self::Block;
    /// Combines a block with public bits.
    fn combine_bits(&self, context: &Self::Context, a: &mut Self::Block, bits: u64);
    /// Puts what changes nothing that it is combined with, hiding nothing, where the bit is not set.
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
        self.combine(context, a, &self.encrypt(key, self.neutral(), rng))
    }
    /// The bits that change nothing that they are combined with.
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

/// A key with the name of its pair; whether it can be cloned is the cipher's choice.
#[derive(Clone)]
pub struct Named<K> {
    tag: Tag,
    key: K,
}

/// Encrypted bits or counts, a block for 64.
pub type Ciphertexts<C> = Batch<<C as BitCipher>::Block, Bounded<<C as BitCipher>::Context>>;

/// Encrypted bits from the secret key, without what the seed gives.
pub type SeededCiphertexts<C> =
    Batch<<C as BitCipher>::SeededBlock, Seeded<<C as BitCipher>::Context>>;

/// What holds of all blocks of a batch.
#[derive(Debug, Clone)]
pub struct Bounded<X> {
    context: X,
    /// Largest count of a position; 1 where counts are modulo 2.
    bound: u64,
}

/// The same of blocks from the secret key.
#[derive(Debug, Clone)]
pub struct Seeded<X> {
    context: X,
    seed: RngSeed,
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

    /// The cipher with its parameters.
    pub fn cipher(&self) -> &C {
        &self.cipher
    }
}
