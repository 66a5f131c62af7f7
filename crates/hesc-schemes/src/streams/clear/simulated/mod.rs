//! The scheme that simulates: bits in the clear, 64 in a word.
//!
//! The same circuits run on it as on ciphertexts, a hundred times faster, so that encoders, lengths
//! and sums can be tried without keys. It keeps bits, not counts: the exclusive or for inverted
//! bipolar streams, the conjunction for unipolar ones. Fusion as digits needs counts:
//! [`Plain`](crate::Plain) has them.

mod wire;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::streams::clear::plain::check_block_length;
use crate::streams::{BitProduct, count_blocks};
use crate::wire::Kind;
use crate::{Fingerprint, KeyId, Packing, Scheme, SchemeError, Tag};

/// Bits in blocks of `block_length`, in the clear.
#[derive(Debug, Clone)]
pub struct Simulated {
    block_length: usize,
    product: BitProduct,
    fingerprint: Fingerprint,
}

/// A name. It decrypts nothing, since nothing is encrypted.
#[derive(Debug, Clone)]
pub struct SimulatedKey {
    tag: Tag,
}

/// Bits in the clear.
#[derive(Debug, Clone)]
pub struct SimulatedBlocks {
    tag: Tag,
    words: Vec<u64>,
}

impl Simulated {
    /// Blocks of `block_length` (a positive multiple of 64) bits.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for other lengths.
    pub fn new(block_length: usize, product: BitProduct) -> Result<Self, SchemeError> {
        check_block_length(block_length)?;
        let fingerprint = Fingerprint::of(&wire::spec_bytes(block_length, product));
        Ok(Self { block_length, product, fingerprint })
    }

    /// The parameter set's wire form.
    pub fn spec_to_bytes(&self) -> Vec<u8> {
        wire::spec_bytes(self.block_length, self.product)
    }

    fn words(&self) -> usize {
        self.block_length / 64
    }

    fn combine(&self, a: u64, b: u64) -> u64 {
        match self.product {
            BitProduct::ExclusiveOr => a ^ b,
            BitProduct::Conjunction => a & b,
        }
    }

    /// What adding leaves as it is.
    fn neutral(&self) -> u64 {
        match self.product {
            BitProduct::ExclusiveOr => 0,
            BitProduct::Conjunction => u64::MAX,
        }
    }

    fn block<'a>(&self, a: &'a SimulatedBlocks, index: usize) -> Result<&'a [u64], SchemeError> {
        a.words
            .chunks_exact(self.words())
            .nth(index)
            .ok_or(SchemeError::BlockIndex { index, blocks: self.blocks(a) })
    }

    /// Refuses bits that are not one for each position of the blocks.
    fn check_bits(&self, a: &SimulatedBlocks, bits: &[u64]) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        let found = count_blocks(bits, self.block_length)?;
        let expected = self.blocks(a);
        if found == expected { Ok(()) } else { Err(SchemeError::BlockCount { expected, found }) }
    }
}

impl Scheme for Simulated {
    type SecretKey = SimulatedKey;
    type PublicKey = SimulatedKey;
    type Ciphertexts = SimulatedBlocks;
    type SeededCiphertexts = SimulatedBlocks;
    type CompactCiphertexts = SimulatedBlocks;

    fn name(&self) -> &'static str {
        "simulated"
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn block_length(&self) -> usize {
        self.block_length
    }

    fn packing(&self) -> Packing {
        Packing::Slots
    }

    fn bit_product(&self) -> BitProduct {
        self.product
    }

    fn key_of(&self, a: &SimulatedBlocks) -> Result<KeyId, SchemeError> {
        Ok(a.tag.key)
    }

    fn max_count(&self, _a: &SimulatedBlocks) -> u64 {
        1
    }

    fn compact_max_count(&self, _a: &SimulatedBlocks) -> u64 {
        1
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (SimulatedKey, SimulatedKey) {
        let key = SimulatedKey { tag: Tag { params: self.fingerprint, key: KeyId::random(rng) } };
        (key.clone(), key)
    }

    fn encrypt(
        &self,
        key: &SimulatedKey,
        bits: &[u64],
        _rng: &mut impl CryptoRng,
    ) -> Result<SimulatedBlocks, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        count_blocks(bits, self.block_length)?;
        Ok(SimulatedBlocks { tag: key.tag, words: bits.to_vec() })
    }

    fn encrypt_seeded(
        &self,
        key: &SimulatedKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<SimulatedBlocks, SchemeError> {
        self.encrypt(key, bits, rng)
    }

    fn expand(&self, seeded: &SimulatedBlocks) -> Result<SimulatedBlocks, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        Ok(seeded.clone())
    }

    fn decrypt(&self, key: &SimulatedKey, a: &SimulatedBlocks) -> Result<Vec<u32>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        a.tag.check(self.fingerprint, Some(key.tag))?;
        Ok(a.words.iter().flat_map(|word| (0..64).map(move |i| (word >> i) as u32 & 1)).collect())
    }

    fn compact(&self, a: &SimulatedBlocks) -> Result<SimulatedBlocks, SchemeError> {
        self.expand(a)
    }

    fn decrypt_compact(
        &self,
        key: &SimulatedKey,
        a: &SimulatedBlocks,
    ) -> Result<Vec<u32>, SchemeError> {
        self.decrypt(key, a)
    }

    fn blocks(&self, a: &SimulatedBlocks) -> usize {
        a.words.len() / self.words()
    }

    fn seeded_blocks(&self, a: &SimulatedBlocks) -> usize {
        self.blocks(a)
    }

    fn compact_blocks(&self, a: &SimulatedBlocks) -> usize {
        self.blocks(a)
    }

    fn add(
        &self,
        a: &SimulatedBlocks,
        b: &SimulatedBlocks,
    ) -> Result<SimulatedBlocks, SchemeError> {
        let (expected, found) = (self.blocks(a), self.blocks(b));
        if expected != found {
            return Err(SchemeError::BlockCount { expected, found });
        }
        let pairs: Vec<_> = (0..expected).map(|i| (i, i)).collect();
        self.add_pairs(a, b, &pairs)
    }

    fn add_pairs(
        &self,
        a: &SimulatedBlocks,
        b: &SimulatedBlocks,
        pairs: &[(usize, usize)],
    ) -> Result<SimulatedBlocks, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        b.tag.check(self.fingerprint, Some(a.tag))?;
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(pairs.len() * self.words());
        for &(i, j) in pairs {
            let both = self.block(a, i)?.iter().zip(self.block(b, j)?);
            words.extend(both.map(|(&x, &y)| self.combine(x, y)));
        }
        Ok(SimulatedBlocks { words, ..*a })
    }

    fn add_bits_assign(&self, a: &mut SimulatedBlocks, bits: &[u64]) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        a.words.iter_mut().zip(bits).for_each(|(word, &b)| *word = self.combine(*word, b));
        Ok(())
    }

    fn mask_assign(&self, a: &mut SimulatedBlocks, bits: &[u64]) -> Result<(), SchemeError> {
        self.check_bits(a, bits)?;
        let masked = a.words.iter_mut().zip(bits);
        masked.for_each(|(word, mask)| *word = (*word & mask) | (self.neutral() & !mask));
        Ok(())
    }

    fn horner(
        &self,
        parts: &[&SimulatedBlocks],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<SimulatedBlocks, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            part.tag.check(self.fingerprint, Some(first.tag))?;
        }
        if let Some(base) = bases.iter().find(|base| **base != 1) {
            return Err(SchemeError::Parameter {
                name: "base",
                value: base.to_string(),
                remedy: "simulations keep bits, not digits; run this on insecure_plain",
            });
        }
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(rows.len() * self.words());
        for row in rows {
            if row.is_empty() || row.len() > bases.len() + 1 {
                let (expected, found) = (bases.len() + 1, row.len());
                return Err(SchemeError::BlockCount { expected, found });
            }
            let start = words.len();
            words.resize(start + self.words(), self.neutral());
            for &(part, index) in row {
                let part = *parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                let block = self.block(part, index)?;
                words[start..].iter_mut().zip(block).for_each(|(x, &y)| *x = self.combine(*x, y));
            }
        }
        Ok(SimulatedBlocks { words, ..*first })
    }

    fn rerandomise(
        &self,
        key: &SimulatedKey,
        a: &SimulatedBlocks,
        _rng: &mut impl CryptoRng,
    ) -> Result<SimulatedBlocks, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        a.tag.check(self.fingerprint, Some(key.tag))?;
        Ok(a.clone())
    }

    fn select(
        &self,
        a: &SimulatedBlocks,
        blocks: &[usize],
    ) -> Result<SimulatedBlocks, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(blocks.len() * self.words());
        for &index in blocks {
            words.extend_from_slice(self.block(a, index)?);
        }
        Ok(SimulatedBlocks { words, ..*a })
    }

    fn concatenate(&self, parts: &[&SimulatedBlocks]) -> Result<SimulatedBlocks, SchemeError> {
        let first = parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            part.tag.check(self.fingerprint, Some(first.tag))?;
        }
        let words = parts.iter().flat_map(|part| &part.words).copied().collect();
        Ok(SimulatedBlocks { words, ..**first })
    }

    fn noise_budget(&self, _a: &SimulatedBlocks) -> f64 {
        f64::INFINITY
    }

    fn measured_noise_budget(
        &self,
        key: &SimulatedKey,
        a: &SimulatedBlocks,
    ) -> Result<f64, SchemeError> {
        self.decrypt(key, a)?;
        Ok(f64::INFINITY)
    }

    fn ciphertexts_to_bytes(&self, a: &SimulatedBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<SimulatedBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn seeded_to_bytes(&self, a: &SimulatedBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SimulatedBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn compact_to_bytes(&self, a: &SimulatedBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<SimulatedBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn public_key_to_bytes(&self, key: &SimulatedKey) -> Vec<u8> {
        wire::write_key(key, Kind::PublicKey)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<SimulatedKey, SchemeError> {
        self.read_key(bytes, Kind::PublicKey)
    }

    fn secret_key_to_bytes(&self, key: &SimulatedKey) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(wire::write_key(key, Kind::SecretKey))
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SimulatedKey, SchemeError> {
        self.read_key(bytes, Kind::SecretKey)
    }
}
