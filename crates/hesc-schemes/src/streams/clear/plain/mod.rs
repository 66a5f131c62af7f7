//! The scheme that encrypts nothing: counts modulo `t` in the clear.
//!
//! Every law and circuit test runs on it too, which separates mistakes in circuits from mistakes
//! in cryptography, and simulations use it. Its "keys" are names.

mod wire;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::streams::count_blocks;
use crate::{Fingerprint, KeyId, Packing, Scheme, SchemeError, Tag};

/// Counts modulo `plain_modulus` in blocks of `block_length`, in the clear.
#[derive(Debug, Clone)]
pub struct Plain {
    block_length: usize,
    plain_modulus: u64,
    fingerprint: Fingerprint,
}

/// A name. It decrypts nothing, since nothing is encrypted.
#[derive(Debug, Clone)]
pub struct PlainKey {
    tag: Tag,
}

/// Counts in the clear.
#[derive(Debug, Clone)]
pub struct PlainBlocks {
    tag: Tag,
    counts: Vec<u32>,
}

/// Refuses blocks that are not whole words.
pub(crate) fn check_block_length(block_length: usize) -> Result<(), SchemeError> {
    if block_length > 0 && block_length.is_multiple_of(64) && block_length <= 1 << 20 {
        return Ok(());
    }
    Err(SchemeError::Parameter {
        name: "block_length",
        value: block_length.to_string(),
        remedy: "choose a multiple of 64 up to 2^20",
    })
}

impl Plain {
    /// Blocks of `block_length` (a positive multiple of 64) counts modulo `plain_modulus` (2 to
    /// 2^31).
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] outside these ranges.
    pub fn new(block_length: usize, plain_modulus: u64) -> Result<Self, SchemeError> {
        check_block_length(block_length)?;
        if !(2..=1 << 31).contains(&plain_modulus) {
            return Err(SchemeError::Parameter {
                name: "plain_modulus",
                value: plain_modulus.to_string(),
                remedy: "choose 2 to 2^31",
            });
        }
        let fingerprint = Fingerprint::of(&wire::spec_bytes(block_length, plain_modulus));
        Ok(Self { block_length, plain_modulus, fingerprint })
    }

    /// The parameter set's wire form.
    pub fn spec_to_bytes(&self) -> Vec<u8> {
        wire::spec_bytes(self.block_length, self.plain_modulus)
    }

    /// The modulus of the counts.
    pub fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// The bits of whole blocks, one `u32` each.
    fn unpack(&self, bits: &[u64]) -> Result<Vec<u32>, SchemeError> {
        count_blocks(bits, self.block_length)?;
        Ok(bits.iter().flat_map(|word| (0..64).map(move |i| (word >> i) as u32 & 1)).collect())
    }

    fn unpack_for(&self, a: &PlainBlocks, bits: &[u64]) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        let values = self.unpack(bits)?;
        if values.len() != a.counts.len() {
            return Err(SchemeError::BlockCount {
                expected: self.blocks(a),
                found: values.len() / self.block_length,
            });
        }
        Ok(values)
    }

    fn block<'a>(&self, a: &'a PlainBlocks, index: usize) -> Result<&'a [u32], SchemeError> {
        a.counts
            .chunks_exact(self.block_length)
            .nth(index)
            .ok_or(SchemeError::BlockIndex { index, blocks: self.blocks(a) })
    }

    fn reduce(&self, value: u64) -> u32 {
        (value % self.plain_modulus) as u32
    }
}

impl Scheme for Plain {
    type SecretKey = PlainKey;
    type PublicKey = PlainKey;
    type Ciphertexts = PlainBlocks;
    type SeededCiphertexts = PlainBlocks;
    type CompactCiphertexts = PlainBlocks;

    fn name(&self) -> &'static str {
        "plain"
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

    fn key_of(&self, a: &PlainBlocks) -> Result<KeyId, SchemeError> {
        Ok(a.tag.key)
    }

    fn max_count(&self, _a: &PlainBlocks) -> u64 {
        self.plain_modulus - 1
    }

    fn compact_max_count(&self, a: &PlainBlocks) -> u64 {
        self.max_count(a)
    }

    fn parity_survives_wrap(&self) -> bool {
        self.plain_modulus.is_multiple_of(2)
    }

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (PlainKey, PlainKey) {
        let key = PlainKey { tag: Tag { params: self.fingerprint, key: KeyId::random(rng) } };
        (key.clone(), key)
    }

    fn encrypt(
        &self,
        key: &PlainKey,
        bits: &[u64],
        _rng: &mut impl CryptoRng,
    ) -> Result<PlainBlocks, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        Ok(PlainBlocks { tag: key.tag, counts: self.unpack(bits)? })
    }

    fn encrypt_seeded(
        &self,
        key: &PlainKey,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<PlainBlocks, SchemeError> {
        self.encrypt(key, bits, rng)
    }

    fn expand(&self, seeded: &PlainBlocks) -> Result<PlainBlocks, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        Ok(seeded.clone())
    }

    fn decrypt(&self, key: &PlainKey, a: &PlainBlocks) -> Result<Vec<u32>, SchemeError> {
        key.tag.check(self.fingerprint, None)?;
        a.tag.check(self.fingerprint, Some(key.tag))?;
        Ok(a.counts.clone())
    }

    fn compact(&self, a: &PlainBlocks) -> Result<PlainBlocks, SchemeError> {
        self.expand(a)
    }

    fn decrypt_compact(&self, key: &PlainKey, a: &PlainBlocks) -> Result<Vec<u32>, SchemeError> {
        self.decrypt(key, a)
    }

    fn blocks(&self, a: &PlainBlocks) -> usize {
        a.counts.len() / self.block_length
    }

    fn seeded_blocks(&self, a: &PlainBlocks) -> usize {
        self.blocks(a)
    }

    fn compact_blocks(&self, a: &PlainBlocks) -> usize {
        self.blocks(a)
    }

    fn add(&self, a: &PlainBlocks, b: &PlainBlocks) -> Result<PlainBlocks, SchemeError> {
        if a.counts.len() != b.counts.len() {
            return Err(SchemeError::BlockCount {
                expected: self.blocks(a),
                found: self.blocks(b),
            });
        }
        let pairs: Vec<_> = (0..self.blocks(a)).map(|i| (i, i)).collect();
        self.add_pairs(a, b, &pairs)
    }

    fn add_pairs(
        &self,
        a: &PlainBlocks,
        b: &PlainBlocks,
        pairs: &[(usize, usize)],
    ) -> Result<PlainBlocks, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        b.tag.check(self.fingerprint, Some(a.tag))?;
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut counts = Vec::with_capacity(pairs.len() * self.block_length);
        for &(i, j) in pairs {
            let sums = self.block(a, i)?.iter().zip(self.block(b, j)?);
            counts.extend(sums.map(|(&x, &y)| self.reduce(u64::from(x) + u64::from(y))));
        }
        Ok(PlainBlocks { counts, ..*a })
    }

    fn add_bits_assign(&self, a: &mut PlainBlocks, bits: &[u64]) -> Result<(), SchemeError> {
        let values = self.unpack_for(a, bits)?;
        for (count, value) in a.counts.iter_mut().zip(values) {
            *count = self.reduce(u64::from(*count) + u64::from(value));
        }
        Ok(())
    }

    fn mask_assign(&self, a: &mut PlainBlocks, bits: &[u64]) -> Result<(), SchemeError> {
        let values = self.unpack_for(a, bits)?;
        for (count, value) in a.counts.iter_mut().zip(values) {
            *count *= value;
        }
        Ok(())
    }

    fn horner(
        &self,
        parts: &[&PlainBlocks],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<PlainBlocks, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            part.tag.check(self.fingerprint, Some(first.tag))?;
        }
        if rows.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut counts = Vec::with_capacity(rows.len() * self.block_length);
        for row in rows {
            if row.is_empty() || row.len() > bases.len() + 1 {
                return Err(SchemeError::BlockCount {
                    expected: bases.len() + 1,
                    found: row.len(),
                });
            }
            let mut sum = vec![0u32; self.block_length];
            for (k, &(part, index)) in row.iter().enumerate() {
                let part = *parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?;
                let base = if k == 0 { 0 } else { bases[k - 1] % self.plain_modulus };
                for (x, &y) in sum.iter_mut().zip(self.block(part, index)?) {
                    *x = self.reduce(u64::from(*x) * base + u64::from(y));
                }
            }
            counts.extend(sum);
        }
        Ok(PlainBlocks { counts, ..*first })
    }

    fn select(&self, a: &PlainBlocks, blocks: &[usize]) -> Result<PlainBlocks, SchemeError> {
        a.tag.check(self.fingerprint, None)?;
        if blocks.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut counts = Vec::with_capacity(blocks.len() * self.block_length);
        for &index in blocks {
            counts.extend_from_slice(self.block(a, index)?);
        }
        Ok(PlainBlocks { counts, ..*a })
    }

    fn concatenate(&self, parts: &[&PlainBlocks]) -> Result<PlainBlocks, SchemeError> {
        let first = parts.first().ok_or(SchemeError::Empty)?;
        for part in parts {
            part.tag.check(self.fingerprint, Some(first.tag))?;
        }
        let counts = parts.iter().flat_map(|part| &part.counts).copied().collect();
        Ok(PlainBlocks { counts, ..**first })
    }

    fn noise_budget(&self, _a: &PlainBlocks) -> f64 {
        f64::INFINITY
    }

    fn measured_noise_budget(&self, key: &PlainKey, a: &PlainBlocks) -> Result<f64, SchemeError> {
        self.decrypt(key, a)?;
        Ok(f64::INFINITY)
    }

    fn ciphertexts_to_bytes(&self, a: &PlainBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn ciphertexts_from_bytes(&self, bytes: &[u8]) -> Result<PlainBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn seeded_to_bytes(&self, a: &PlainBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<PlainBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn compact_to_bytes(&self, a: &PlainBlocks) -> Vec<u8> {
        self.write_blocks(a)
    }

    fn compact_from_bytes(&self, bytes: &[u8]) -> Result<PlainBlocks, SchemeError> {
        self.read_blocks(bytes)
    }

    fn public_key_to_bytes(&self, key: &PlainKey) -> Vec<u8> {
        self.write_key(key, crate::wire::Kind::PublicKey)
    }

    fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PlainKey, SchemeError> {
        self.read_key(bytes, crate::wire::Kind::PublicKey)
    }

    fn secret_key_to_bytes(&self, key: &PlainKey) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.write_key(key, crate::wire::Kind::SecretKey))
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<PlainKey, SchemeError> {
        self.read_key(bytes, crate::wire::Kind::SecretKey)
    }
}
