use rand_core::CryptoRng;

use crate::rlwe::Packing;
use crate::{Fingerprint, KeyId, SchemeError};

/// What adding ciphertexts does to the bits in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitProduct {
    /// Their exclusive or, read as a count's parity: the product of inverted-bipolar streams.
    ExclusiveOr,
    /// Their conjunction: the product of unipolar streams.
    Conjunction,
}

/// An encryption that adds, as the HESC operations need it.
///
/// Bits go in packed: `blocks * block_length / 64` words, bit `i` of a block is bit `i % 64` of
/// its word `i / 64`. Counts come out, one `u32` a position. All operations work on whole
/// batches. Implementations are parameter sets: cheap to clone, immutable.
///
/// # Errors
/// Every operation checks parameters, keys, sizes and the noise budget first and leaves its
/// operands as they were if it refuses.
pub trait Scheme: Clone + Send + Sync + 'static {
    /// Decrypts. No `Debug`, no equality, wiped on drop.
    type SecretKey: Send + Sync;
    /// Encrypts.
    type PublicKey: Clone + Send + Sync;
    /// A batch of ciphertexts, one a block.
    type Ciphertexts: Clone + Send + Sync;
    /// A batch from the secret key, half the size on the wire: the random half is a seed.
    type SeededCiphertexts: Clone + Send + Sync;
    /// A batch that can only be decrypted, with the smallest modulus that holds it.
    type CompactCiphertexts: Clone + Send + Sync;

    /// The scheme's name in the interface: `bfv`, `gm`, `plain`.
    fn name(&self) -> &'static str;
    /// The parameter set's hash.
    fn fingerprint(&self) -> Fingerprint;
    /// Positions in a block, a multiple of 64.
    fn block_length(&self) -> usize;
    /// Where they sit.
    fn packing(&self) -> Packing;
    /// What adding ciphertexts does to their bits.
    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }
    /// The key pair that a batch belongs to.
    ///
    /// # Errors
    /// [`SchemeError::Empty`] for a batch of nothing, where the scheme has one.
    fn key_of(&self, a: &Self::Ciphertexts) -> Result<KeyId, SchemeError>;
    /// The largest count a position of this batch can hold.
    fn max_count(&self, a: &Self::Ciphertexts) -> u64;
    /// The largest count a position of this compact batch can hold.
    fn compact_max_count(&self, a: &Self::CompactCiphertexts) -> u64;
    /// Whether counts beyond [`Scheme::max_count`] keep their parity (an even plaintext modulus).
    fn parity_survives_wrap(&self) -> bool;

    /// A key pair.
    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (Self::SecretKey, Self::PublicKey);
    /// Encrypts blocks of bits under the public key.
    fn encrypt(
        &self,
        key: &Self::PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Self::Ciphertexts, SchemeError>;
    /// Encrypts blocks of bits under the secret key.
    fn encrypt_seeded(
        &self,
        key: &Self::SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Self::SeededCiphertexts, SchemeError>;
    /// The full form of seeded ciphertexts.
    fn expand(&self, seeded: &Self::SeededCiphertexts) -> Result<Self::Ciphertexts, SchemeError>;
    /// Decrypts to `blocks * block_length` counts.
    fn decrypt(
        &self,
        key: &Self::SecretKey,
        ciphertexts: &Self::Ciphertexts,
    ) -> Result<Vec<u32>, SchemeError>;
    /// The download form: modulus switched to the smallest power of two that still decrypts.
    fn compact(
        &self,
        ciphertexts: &Self::Ciphertexts,
    ) -> Result<Self::CompactCiphertexts, SchemeError>;
    /// Decrypts the download form.
    fn decrypt_compact(
        &self,
        key: &Self::SecretKey,
        ciphertexts: &Self::CompactCiphertexts,
    ) -> Result<Vec<u32>, SchemeError>;

    /// The number of blocks in a batch.
    fn blocks(&self, ciphertexts: &Self::Ciphertexts) -> usize;
    /// The number of blocks in a seeded batch.
    fn seeded_blocks(&self, seeded: &Self::SeededCiphertexts) -> usize;
    /// The number of blocks in a compact batch.
    fn compact_blocks(&self, compact: &Self::CompactCiphertexts) -> usize;
    /// `a + b`, block by block.
    fn add(
        &self,
        a: &Self::Ciphertexts,
        b: &Self::Ciphertexts,
    ) -> Result<Self::Ciphertexts, SchemeError>;
    /// `a[i] + b[j]` for each pair of blocks `(i, j)`: additions without copying operands first.
    fn add_pairs(
        &self,
        a: &Self::Ciphertexts,
        b: &Self::Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Self::Ciphertexts, SchemeError>;
    /// `a += bits`, position by position; for [`BitProduct::Conjunction`] their conjunction.
    fn add_bits_assign(&self, a: &mut Self::Ciphertexts, bits: &[u64]) -> Result<(), SchemeError>;
    /// `a *= bits`, position by position: keeps a position or sets it to what adding leaves as it
    /// is, zero but for [`BitProduct::Conjunction`].
    fn mask_assign(&self, a: &mut Self::Ciphertexts, bits: &[u64]) -> Result<(), SchemeError>;
    /// One block for each row by Horner's rule: a row lists `(part, block)` pairs from the highest
    /// digit down, and `bases[k]` multiplies the sum before its `k + 1`-th block is added:
    /// `((b_0 bases[0] + b_1) bases[1] + b_2) ...`. Rows may be shorter than the bases; all bases
    /// of 1 make a plain sum.
    fn horner(
        &self,
        parts: &[&Self::Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Self::Ciphertexts, SchemeError>;
    /// New blocks of single positions of others: position `i` of the result is position `q` of part `p` for
    /// `sources[i] = (p, q)`, counted through all blocks of the part, and what adding leaves as it is, for
    /// everyone to see, where there is no source. Bounds are those of all parts, used or not, so that they
    /// say nothing of the choice.
    ///
    /// Nothing where positions share a ciphertext and cannot move; the schemes with a ciphertext for each
    /// bit can.
    fn gather(
        &self,
        _parts: &[&Self::Ciphertexts],
        _sources: &[Option<(usize, usize)>],
    ) -> Result<Option<Self::Ciphertexts>, SchemeError> {
        Ok(None)
    }
    /// The same counts in fresh ciphertexts. On groups they say nothing of `a`, not even to who holds the
    /// secret key, but the counts or bits themselves; on lattices noise remembers what was added. Cost: an
    /// encryption and an addition, and two powers a bit where addition is conjunction.
    fn rerandomise(
        &self,
        key: &Self::PublicKey,
        a: &Self::Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Self::Ciphertexts, SchemeError> {
        let zeros = vec![0; self.blocks(a) * self.block_length() / 64];
        self.add(a, &self.encrypt(key, &zeros, rng)?)
    }
    /// The blocks of these indices, in this order; repetitions allowed.
    fn select(
        &self,
        a: &Self::Ciphertexts,
        blocks: &[usize],
    ) -> Result<Self::Ciphertexts, SchemeError>;
    /// All blocks of all parts, in order.
    fn concatenate(&self, parts: &[&Self::Ciphertexts]) -> Result<Self::Ciphertexts, SchemeError>;

    /// Bits of room left before decryption is refused, from public data: `log2(limit / noise)`.
    /// Infinite where there is no noise.
    fn noise_budget(&self, a: &Self::Ciphertexts) -> f64;
    /// The same, measured with the secret key: what the noise really is.
    fn measured_noise_budget(
        &self,
        key: &Self::SecretKey,
        a: &Self::Ciphertexts,
    ) -> Result<f64, SchemeError>;

    /// Wire form of a batch.
    fn ciphertexts_to_bytes(&self, a: &Self::Ciphertexts) -> Vec<u8>;
    /// Reads a batch; strict.
    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Self::Ciphertexts, SchemeError>;
    /// Wire form of a seeded batch.
    fn seeded_to_bytes(&self, a: &Self::SeededCiphertexts) -> Vec<u8>;
    /// Reads a seeded batch; strict.
    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<Self::SeededCiphertexts, SchemeError>;
    /// Wire form of a compact batch.
    fn compact_to_bytes(&self, a: &Self::CompactCiphertexts) -> Vec<u8>;
    /// Reads a compact batch; strict.
    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<Self::CompactCiphertexts, SchemeError>;
    /// Wire form of the public key.
    fn public_key_to_bytes(&self, key: &Self::PublicKey) -> Vec<u8>;
    /// Reads a public key; strict.
    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<Self::PublicKey, SchemeError>;
    /// Wire form of the secret key: write it to private storage only.
    fn secret_key_to_bytes(&self, key: &Self::SecretKey) -> zeroize::Zeroizing<Vec<u8>>;
    /// Reads a secret key; strict.
    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<Self::SecretKey, SchemeError>;
}

/// The number of whole blocks in packed bits.
pub(crate) fn count_blocks(bits: &[u64], block_length: usize) -> Result<usize, SchemeError> {
    let words = block_length / 64;
    if bits.is_empty() {
        return Err(SchemeError::Empty);
    }
    if !bits.len().is_multiple_of(words) {
        return Err(SchemeError::BlockCount {
            expected: bits.len().div_ceil(words),
            found: bits.len() / words,
        });
    }
    Ok(bits.len() / words)
}
