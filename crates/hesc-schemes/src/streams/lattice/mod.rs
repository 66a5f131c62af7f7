//! Encryption from ring learning with errors: what BFV and CKKS share here.
//!
//! Ciphertexts are `(c_0, c_1)` with `c_0 + c_1 s = m + noise` in `Z_q[X]/(X^N + 1)`, in the
//! coefficient domain; the schemes differ in how `m` encodes the bits ([`Encoding`]).

mod bfv;
mod ciphertext;
mod ckks;
mod encoding;
mod encryption;
mod evaluation;
mod wire;

use std::sync::Arc;

use hesc_math::ring::kernels;
use hesc_math::{Ring, RingIndex, Word};
use rand_core::CryptoRng;

pub use bfv::BfvEncoding;
pub use ciphertext::{Ciphertexts, CompactCiphertexts, SeededCiphertexts};
pub use ckks::CkksEncoding;
pub use encoding::{Encoding, Mask};

use crate::rlwe::{PublicKey, SecretKey, Spec, deviations, key_pair};
use crate::streams::count_blocks;
use crate::{Assurance, Fingerprint, KeyId, Packing, Scheme, SchemeError, Tag};

/// BFV over words of 32 or 64 bits: exact counts modulo `t`.
pub type Bfv<W> = Lattice<W, BfvEncoding>;
/// CKKS over words of 32 or 64 bits: counts that are rounded on decryption.
pub type Ckks<W> = Lattice<W, CkksEncoding>;

/// A checked, immutable parameter set with its tables: the scheme itself. Cheap to clone.
#[derive(Debug)]
pub struct Lattice<W: Word, E: Encoding<W>>(Arc<Inner<W, E>>);

impl<W: Word, E: Encoding<W>> Clone for Lattice<W, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Inner<W: Word, E> {
    spec: Spec,
    fingerprint: Fingerprint,
    ring: Ring<W>,
    /// The ring of the first modulus alone, for compact ciphertexts.
    first_ring: Ring<W>,
    log2_modulus: f64,
    encoding: E,
    packing: Packing,
}

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// Checks a specification and computes the tables.
    ///
    /// # Errors
    /// [`SchemeError::Security`] below the assurance asked for, [`SchemeError::Math`] for a ring
    /// that does not exist, [`SchemeError::Parameter`] for the rest, and
    /// [`SchemeError::NoiseBudget`] for a set that could not decrypt a fresh ciphertext.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        let packing = spec.check_streams()?;
        assurance.check(spec.ring_degree(), spec.log2_modulus())?;
        let index = RingIndex::power_of_two(spec.ring_degree())?;
        let ring = Ring::new(index, &spec.coeff_moduli)?;
        let first_ring = Ring::new(index, &spec.coeff_moduli[..1])?;
        let encoding = E::new(&spec, packing, &ring)?;
        let fingerprint = spec.fingerprint();
        let log2_modulus = ring.log2_modulus();
        let scheme = Self(Arc::new(Inner {
            spec,
            fingerprint,
            ring,
            first_ring,
            log2_modulus,
            encoding,
            packing,
        }));
        let fresh = scheme.public_key_deviation();
        scheme.check_noise(fresh, scheme.encoding().fresh_scale())?;
        Ok(scheme)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<W> {
        &self.0.ring
    }

    fn first_ring(&self) -> &Ring<W> {
        &self.0.first_ring
    }

    fn encoding(&self) -> &E {
        &self.0.encoding
    }

    fn log2_modulus(&self) -> f64 {
        self.0.log2_modulus
    }

    fn words_per_block(&self) -> usize {
        self.encoding().block_length() / 64
    }

    /// Deviation of a fresh public-key encryption.
    fn public_key_deviation(&self) -> f64 {
        deviations::public_key_deviation(self.ring().ring_degree())
            .hypot(self.encoding().rounding())
    }

    /// Deviation of a fresh secret-key encryption.
    fn secret_key_deviation(&self) -> f64 {
        deviations::secret_key_deviation().hypot(self.encoding().rounding())
    }

    /// Refuses an object of another parameter set or, if `key` is given, of another key pair.
    fn check_tag(&self, tag: Tag, key: Option<Tag>) -> Result<(), SchemeError> {
        tag.check(self.0.fingerprint, key)
    }

    fn count_blocks(&self, bits: &[u64]) -> Result<usize, SchemeError> {
        count_blocks(bits, self.encoding().block_length())
    }

    fn check_block_count(&self, bits: &[u64], blocks: usize) -> Result<(), SchemeError> {
        let found = self.count_blocks(bits)?;
        if found == blocks {
            Ok(())
        } else {
            Err(SchemeError::BlockCount { expected: blocks, found })
        }
    }
}

impl<W: Word, E: Encoding<W>> Scheme for Lattice<W, E> {
    type SecretKey = SecretKey<W>;
    type PublicKey = PublicKey<W>;
    type Ciphertexts = Ciphertexts<W>;
    type SeededCiphertexts = SeededCiphertexts<W>;
    type CompactCiphertexts = CompactCiphertexts;

    fn name(&self) -> &'static str {
        E::NAME
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    fn block_length(&self) -> usize {
        self.encoding().block_length()
    }

    fn packing(&self) -> Packing {
        self.0.packing
    }

    fn key_of(&self, a: &Ciphertexts<W>) -> Result<KeyId, SchemeError> {
        Ok(a.tag.key)
    }

    fn max_count(&self, a: &Ciphertexts<W>) -> u64 {
        self.encoding().max_count(a.scale)
    }

    fn compact_max_count(&self, a: &CompactCiphertexts) -> u64 {
        self.encoding().max_count(a.relative_scale * self.log2_modulus().exp2())
    }

    fn parity_survives_wrap(&self) -> bool {
        self.encoding().parity_survives_wrap()
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SecretKey<W>, PublicKey<W>) {
        let (ring, fingerprint) = (self.ring(), self.0.fingerprint);
        let add_noise = |words: &mut [W], noise: &[i16]| kernels::add_small(words, noise, ring);
        key_pair::generate(fingerprint, ring.index(), (ring, ring), add_noise, rng)
    }

    fn encrypt(
        &self,
        key: &PublicKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.encrypt_blocks(key, bits, rng)
    }

    fn encrypt_seeded(
        &self,
        key: &SecretKey<W>,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SeededCiphertexts<W>, SchemeError> {
        self.encrypt_blocks_seeded(key, bits, rng)
    }

    fn expand(&self, seeded: &SeededCiphertexts<W>) -> Result<Ciphertexts<W>, SchemeError> {
        self.expand_seeded(seeded)
    }

    fn decrypt(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &Ciphertexts<W>,
    ) -> Result<Vec<u32>, SchemeError> {
        Ok(self.decrypt_blocks(key, ciphertexts)?.0)
    }

    fn compact(&self, a: &Ciphertexts<W>) -> Result<CompactCiphertexts, SchemeError> {
        self.compact_blocks(a)
    }

    fn decrypt_compact(
        &self,
        key: &SecretKey<W>,
        ciphertexts: &CompactCiphertexts,
    ) -> Result<Vec<u32>, SchemeError> {
        Ok(self.decrypt_compact_blocks(key, ciphertexts)?.0)
    }

    fn blocks(&self, a: &Ciphertexts<W>) -> usize {
        a.blocks
    }

    fn seeded_blocks(&self, a: &SeededCiphertexts<W>) -> usize {
        a.blocks
    }

    fn compact_blocks(&self, a: &CompactCiphertexts) -> usize {
        a.blocks
    }

    fn add(&self, a: &Ciphertexts<W>, b: &Ciphertexts<W>) -> Result<Ciphertexts<W>, SchemeError> {
        self.add_blocks(a, b)
    }

    fn add_pairs(
        &self,
        a: &Ciphertexts<W>,
        b: &Ciphertexts<W>,
        pairs: &[(usize, usize)],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.add_block_pairs(a, b, pairs)
    }

    fn add_bits_assign(&self, a: &mut Ciphertexts<W>, bits: &[u64]) -> Result<(), SchemeError> {
        self.add_plain(a, bits)
    }

    fn mask_assign(&self, a: &mut Ciphertexts<W>, bits: &[u64]) -> Result<(), SchemeError> {
        self.multiply_masks(a, bits)
    }

    fn horner(
        &self,
        parts: &[&Ciphertexts<W>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Ciphertexts<W>, SchemeError> {
        self.horner_rows(parts, rows, bases)
    }

    fn select(&self, a: &Ciphertexts<W>, blocks: &[usize]) -> Result<Ciphertexts<W>, SchemeError> {
        self.select_blocks(a, blocks)
    }

    fn concatenate(&self, parts: &[&Ciphertexts<W>]) -> Result<Ciphertexts<W>, SchemeError> {
        self.concatenate_blocks(parts)
    }

    fn noise_budget(&self, a: &Ciphertexts<W>) -> f64 {
        deviations::budget(a.deviation, self.encoding().reach(), a.scale)
    }

    fn measured_noise_budget(
        &self,
        key: &SecretKey<W>,
        a: &Ciphertexts<W>,
    ) -> Result<f64, SchemeError> {
        self.check_tag(a.tag, Some(key.tag))?;
        // All primes: what a shortcut rounds is no noise.
        let (_, distance) = self.decrypt_exactly(key, a)?;
        Ok((deviations::LIMIT / distance).log2())
    }

    fn ciphertexts_to_bytes(&self, a: &Ciphertexts<W>) -> Vec<u8> {
        self.write_ciphertexts(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertexts<W>, SchemeError> {
        self.read_ciphertexts(bytes)
    }

    fn seeded_to_bytes(&self, a: &SeededCiphertexts<W>) -> Vec<u8> {
        self.write_seeded(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertexts<W>, SchemeError> {
        self.read_seeded(bytes)
    }

    fn compact_to_bytes(&self, a: &CompactCiphertexts) -> Vec<u8> {
        self.write_compact(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
        self.read_compact(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey<W>) -> Vec<u8> {
        key.to_bytes(self.ring())
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey<W>, SchemeError> {
        PublicKey::from_bytes(bytes, self.0.fingerprint, self.ring())
    }

    fn secret_key_to_bytes(&self, key: &SecretKey<W>) -> zeroize::Zeroizing<Vec<u8>> {
        key.to_bytes(self.ring())
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey<W>, SchemeError> {
        SecretKey::from_bytes(bytes, self.0.fingerprint, self.ring())
    }
}
