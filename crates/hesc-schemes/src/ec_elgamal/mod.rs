//! Lifted ElGamal over ristretto255 (`koseki2022hesc` §3.1, Table 1).
//!
//! A bit `b` is the pair `(r G, r P + b G)`, `P = s G` the public key; adding pairs adds bits, and
//! `m G = c_2 - s c_1` is looked for among the multiples of `G` up to a bound that every ciphertext
//! carries. A block is 64 pairs. Not secure against quantum computers, in contrast to the lattice
//! schemes; a ciphertext of a bit has 64 bytes.
//!
//! ristretto255 has prime order, so every encoding that is accepted is in the group and nothing
//! else needs checking. All secret scalars meet constant-time arithmetic only, and the search for a
//! count looks at every candidate.

mod encryption;
mod evaluation;
mod keys;
mod wire;

use std::sync::Arc;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::traits::Identity;
use hesc_math::RngSeed;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use keys::{PublicKey, SecretKey};

use crate::{Fingerprint, Packing, Scheme, SchemeError, Tag};

/// Pairs of a block.
pub const BLOCK_LENGTH: usize = 64;
/// Largest bound on counts: the search looks at every candidate.
const LARGEST_COUNT: u64 = 1 << 12;

/// The scheme with its bound on counts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct EcElgamal {
    fingerprint: Fingerprint,
    /// Encodings of `2 m G` for each count `m`: twice the point, because doubling and encoding
    /// together is cheaper for a batch.
    multiples: Arc<[CompressedRistretto]>,
}

/// `(c_1, c_2)`.
pub(crate) type Pair = [RistrettoPoint; 2];

/// A batch of ciphertexts: blocks of [`BLOCK_LENGTH`] pairs.
#[derive(Clone)]
pub struct Ciphertexts {
    tag: Tag,
    pairs: Vec<Pair>,
    /// Largest count of a position.
    bound: u64,
}

/// A batch from the secret key: the first points come from a seed.
#[derive(Clone)]
pub struct SeededCiphertexts {
    tag: Tag,
    seed: RngSeed,
    seconds: Vec<RistrettoPoint>,
}

impl EcElgamal {
    /// The scheme for counts up to `max_count` (1 to 4096). Decryption costs a few nanoseconds a
    /// candidate.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] outside this range.
    pub fn new(max_count: u64) -> Result<Self, SchemeError> {
        if !(1..=LARGEST_COUNT).contains(&max_count) {
            return Err(SchemeError::Parameter {
                name: "max_count",
                value: max_count.to_string(),
                remedy: "choose 1 to 4096",
            });
        }
        let mut multiple = RistrettoPoint::identity();
        let points: Vec<RistrettoPoint> = (0..=max_count)
            .map(|_| {
                let this = multiple;
                multiple += RISTRETTO_BASEPOINT_POINT;
                this
            })
            .collect();
        Ok(Self {
            fingerprint: Fingerprint::of(&wire::spec_bytes(max_count)),
            multiples: RistrettoPoint::double_and_compress_batch(&points).into(),
        })
    }

    /// The largest count that decrypts.
    pub fn max_count(&self) -> u64 {
        self.multiples.len() as u64 - 1
    }

    /// Refuses counts that decryption does not look for.
    fn check_bound(&self, count: u64) -> Result<(), SchemeError> {
        let max_count = self.max_count();
        if count > max_count {
            return Err(SchemeError::CountBound { count, max_count });
        }
        Ok(())
    }
}

impl Scheme for EcElgamal {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;
    /// A pair is as small as it gets.
    type CompactCiphertexts = Ciphertexts;

    fn name(&self) -> &'static str {
        "ec_elgamal"
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

    fn max_count(&self, _a: &Ciphertexts) -> u64 {
        self.max_count()
    }

    fn compact_max_count(&self, _a: &Ciphertexts) -> u64 {
        self.max_count()
    }

    fn parity_survives_wrap(&self) -> bool {
        false
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey) {
        keys::generate(self.fingerprint, rng)
    }

    fn encrypt(
        &self,
        key: &PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        self.encrypt_blocks(key, bits, rng)
    }

    fn encrypt_seeded(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        self.encrypt_blocks_seeded(key, bits, rng)
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        self.expand_seeded(seeded)
    }

    fn decrypt(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        self.decrypt_blocks(key, a)
    }

    fn compact(&self, a: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        Ok(a.clone())
    }

    fn decrypt_compact(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        self.decrypt_blocks(key, a)
    }

    fn blocks(&self, a: &Ciphertexts) -> usize {
        a.pairs.len() / BLOCK_LENGTH
    }

    fn seeded_blocks(&self, seeded: &SeededCiphertexts) -> usize {
        seeded.seconds.len() / BLOCK_LENGTH
    }

    fn compact_blocks(&self, a: &Ciphertexts) -> usize {
        self.blocks(a)
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        let (expected, found) = (self.blocks(a), self.blocks(b));
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let pairs: Vec<_> = (0..expected).map(|i| (i, i)).collect();
        self.add_block_pairs(a, b, &pairs)
    }

    fn add_pairs(
        &self,
        a: &Ciphertexts,
        b: &Ciphertexts,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts, SchemeError> {
        self.add_block_pairs(a, b, pairs)
    }

    fn add_bits_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        self.add_plain(a, bits)
    }

    fn mask_assign(&self, a: &mut Ciphertexts, bits: &[u64]) -> Result<(), SchemeError> {
        self.multiply_masks(a, bits)
    }

    fn horner(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
        self.horner_blocks(parts, rows, bases)
    }

    fn select(&self, a: &Ciphertexts, blocks: &[usize]) -> Result<Ciphertexts, SchemeError> {
        self.select_blocks(a, blocks)
    }

    fn concatenate(&self, parts: &[&Ciphertexts]) -> Result<Ciphertexts, SchemeError> {
        self.concatenate_blocks(parts)
    }

    fn noise_budget(&self, a: &Ciphertexts) -> f64 {
        (self.max_count() as f64 / a.bound as f64).log2()
    }

    fn measured_noise_budget(&self, key: &SecretKey, a: &Ciphertexts) -> Result<f64, SchemeError> {
        // There is no noise: the bound is all there is, if the ciphertext decrypts.
        self.decrypt(key, a)?;
        Ok(self.noise_budget(a))
    }

    fn ciphertexts_to_bytes(&self, a: &Ciphertexts) -> Vec<u8> {
        wire::write_ciphertexts(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        self.read_ciphertexts(bytes)
    }

    fn seeded_to_bytes(&self, a: &SeededCiphertexts) -> Vec<u8> {
        wire::write_seeded(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        self.read_seeded(bytes)
    }

    fn compact_to_bytes(&self, a: &Ciphertexts) -> Vec<u8> {
        wire::write_ciphertexts(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        self.read_ciphertexts(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey) -> Vec<u8> {
        wire::write_public_key(key)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        self.read_public_key(bytes)
    }

    fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        wire::write_secret_key(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        self.read_secret_key(bytes)
    }
}
