//! Bits on the torus (Chillotti, Gama, Georgieva and Izabachène 2016), by the crate `tfhe`: streams that
//! add, and single bits that bootstrap.
//!
//! A bit is a sixteenth of the torus, so that a weighted sum of bits is a position that a bootstrap can
//! look up. Two forms, under one secret:
//!
//! - *Blocks* ([`Ciphertexts`]), a bit in each coefficient of a ring element. They travel, and
//!   [`crate::Scheme`] works on them: a product of inverted-bipolar streams is one addition.
//! - *Samples* ([`Bits`]), a ciphertext for each bit, taken out of blocks for free. They bootstrap, with
//!   an [`EvaluationKey`], and are packed into blocks again.
//!
//! The largest count of a position is 15; products of more factors keep its parity.

mod bits;
mod bootstrap;
mod ciphertext;
mod encryption;
mod evaluation;
mod keys;
mod noise;
mod params;
mod polynomial;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{Assurance, Fingerprint, KeyId, Packing, Scheme, SchemeError};

pub use bits::Bits;
pub use bootstrap::{LookupTable, Workspace};
pub use ciphertext::{Ciphertexts, CompactCiphertexts, SeededCiphertexts};
pub use keys::{EvaluationKey, PublicKey, SecretKey, SeededEvaluationKey};
pub use noise::Noise;
pub use params::{Decomposition, Spec};

/// Positions on the torus that a bit is one of: the plaintext modulus of fresh bits.
pub const GRID: u64 = 16;
/// The plaintext modulus of parities: what is left of sums of bits.
pub const PARITY: u64 = 2;

/// A checked parameter set; copies share memory.
#[derive(Debug, Clone)]
pub struct Tfhe(Arc<Checked>);

#[derive(Debug)]
struct Checked {
    spec: Spec,
    fingerprint: Fingerprint,
    noise: Noise,
}

impl Tfhe {
    /// Checks a specification.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for one that does not work, [`SchemeError::Security`] for one below
    /// `assurance`.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        spec.check(assurance)?;
        let (fingerprint, noise) = (spec.fingerprint(), Noise::of(&spec));
        Ok(Self(Arc::new(Checked { spec, fingerprint, noise })))
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// What bits and bootstraps do to noise.
    pub fn noise(&self) -> &Noise {
        &self.0.noise
    }

    fn ring_degree(&self) -> usize {
        self.0.spec.ring_degree
    }

    /// Words of a sample.
    pub fn sample_words(&self) -> usize {
        self.ring_degree() + 1
    }
}

impl Scheme for Tfhe {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Ciphertexts = Ciphertexts;
    type SeededCiphertexts = SeededCiphertexts;
    type CompactCiphertexts = CompactCiphertexts;

    fn name(&self) -> &'static str {
        "tfhe"
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

    fn key_of(&self, a: &Ciphertexts) -> Result<KeyId, SchemeError> {
        Ok(a.tag.key)
    }

    fn max_count(&self, a: &Ciphertexts) -> u64 {
        a.plain_modulus - 1
    }

    fn compact_max_count(&self, a: &CompactCiphertexts) -> u64 {
        a.plain_modulus - 1
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey) {
        let secret = self.generate_secret_key(rng);
        let public = self.generate_public_key(&secret, rng);
        (secret, public)
    }

    fn encrypt(
        &self,
        key: &PublicKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        self.encrypt_public(key, bits, rng)
    }

    fn encrypt_seeded(
        &self,
        key: &SecretKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts, SchemeError> {
        self.encrypt_secret(key, bits, rng)
    }

    fn expand(&self, seeded: &SeededCiphertexts) -> Result<Ciphertexts, SchemeError> {
        self.expand_blocks(seeded)
    }

    fn decrypt(&self, key: &SecretKey, a: &Ciphertexts) -> Result<Vec<u32>, SchemeError> {
        self.decrypt_blocks(key, a)
    }

    fn compact(&self, a: &Ciphertexts) -> Result<CompactCiphertexts, SchemeError> {
        self.compact_blocks(a)
    }

    fn decrypt_compact(
        &self,
        key: &SecretKey,
        a: &CompactCiphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        self.decrypt_compact_blocks(key, a)
    }

    fn blocks(&self, a: &Ciphertexts) -> usize {
        a.words.len() / (2 * self.ring_degree())
    }

    fn seeded_blocks(&self, seeded: &SeededCiphertexts) -> usize {
        seeded.bodies.len() / self.ring_degree()
    }

    fn compact_blocks(&self, a: &CompactCiphertexts) -> usize {
        a.words.len() / (2 * self.ring_degree())
    }

    fn add(&self, a: &Ciphertexts, b: &Ciphertexts) -> Result<Ciphertexts, SchemeError> {
        self.add_blocks(a, b)
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
        self.add_plain_bits(a, bits)
    }

    fn mask_assign(&self, _a: &mut Ciphertexts, _bits: &[u64]) -> Result<(), SchemeError> {
        Err(SchemeError::PackingCannot {
            operation: "a product with a mask",
            packing: Packing::Coefficients,
            remedy: "slot",
        })
    }

    fn horner(
        &self,
        parts: &[&Ciphertexts],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts, SchemeError> {
        self.horner_rows(parts, rows, bases)
    }

    fn rerandomise(
        &self,
        key: &PublicKey,
        a: &Ciphertexts,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts, SchemeError> {
        let zeros = vec![0; self.blocks(a) * self.block_length() / 64];
        let sum = self.add_blocks(a, &self.encrypt_public(key, &zeros, rng)?)?;
        // No ones were added: bits stay bits.
        Ok(Ciphertexts { count: a.count, ..sum })
    }

    fn select(&self, a: &Ciphertexts, blocks: &[usize]) -> Result<Ciphertexts, SchemeError> {
        self.select_blocks(a, blocks)
    }

    fn concatenate(&self, parts: &[&Ciphertexts]) -> Result<Ciphertexts, SchemeError> {
        self.concatenate_blocks(parts)
    }

    fn noise_budget(&self, a: &Ciphertexts) -> f64 {
        noise::budget(a.variance, a.plain_modulus)
    }

    fn measured_noise_budget(&self, key: &SecretKey, a: &Ciphertexts) -> Result<f64, SchemeError> {
        Ok(noise::budget(self.measured_variance(key, a)?, a.plain_modulus))
    }

    fn ciphertexts_to_bytes(&self, a: &Ciphertexts) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        self.read_blocks(bytes)
    }

    fn seeded_to_bytes(&self, a: &SeededCiphertexts) -> Vec<u8> {
        self.write_seeded(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        self.read_seeded(bytes)
    }

    fn compact_to_bytes(&self, a: &CompactCiphertexts) -> Vec<u8> {
        self.write_compact(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
        self.read_compact(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey) -> Vec<u8> {
        self.write_public_key(key)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        self.read_public_key(bytes)
    }

    fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        self.write_secret_key(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        self.read_secret_key(bytes)
    }
}
