use zeroize::Zeroizing;

use super::{
    Ciphertexts, CompactCiphertexts, GRID, PARITY, PublicKey, SecretKey, SeededCiphertexts,
    SeededEvaluationKey, Tfhe, noise,
};
use crate::wire::{Kind, Reader, Writer};
use crate::{Scheme, SchemeError};

fn write_words(writer: &mut Writer, words: &[u64]) {
    words.iter().for_each(|word| {
        writer.u64(*word);
    });
}

/// So many words; their bytes are there before they are allocated.
fn read_words(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, SchemeError> {
    let length = count.checked_mul(8).ok_or_else(|| reader.error("a count is too large"))?;
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Ok(reader.bytes(length)?.chunks_exact(8).map(word).collect())
}

fn read_plain_modulus(reader: &mut Reader<'_>) -> Result<u64, SchemeError> {
    match u64::from(reader.u8()?) {
        modulus @ (GRID | PARITY) => Ok(modulus),
        _ => Err(reader.error("the plaintext modulus is none of this scheme")),
    }
}

/// Words of so many blocks with so many words each.
fn block_words(reader: &mut Reader<'_>, size: usize) -> Result<usize, SchemeError> {
    reader.blocks()?.checked_mul(size).ok_or_else(|| reader.error("a count is too large"))
}

impl Tfhe {
    pub(super) fn write_blocks(&self, a: &Ciphertexts) -> Vec<u8> {
        let mut writer = Writer::with_capacity(Kind::Ciphertexts, 64 + 8 * a.words.len());
        writer.tag(a.tag).u32(self.blocks(a) as u32).u8(a.plain_modulus as u8);
        writer.u64(a.count).f64(a.variance);
        write_words(&mut writer, &a.words);
        writer.finish()
    }

    pub(super) fn read_blocks(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let length = block_words(&mut reader, 2 * self.ring_degree())?;
        let plain_modulus = read_plain_modulus(&mut reader)?;
        let (count, variance) = (reader.u64()?, reader.f64()?);
        // Never less than what the key owner's own encryptions have.
        if variance < self.noise().secret || noise::budget(variance, plain_modulus) < 0.0 {
            return Err(reader.error("the noise is none that a ciphertext can have"));
        }
        // What holds nothing at all would pass for bits.
        if count == 0 {
            return Err(reader.error("the bound on counts is impossible"));
        }
        let words = read_words(&mut reader, length)?;
        reader.finish()?;
        Ok(Ciphertexts { tag, words, plain_modulus, count, variance })
    }

    pub(super) fn write_seeded(&self, a: &SeededCiphertexts) -> Vec<u8> {
        let mut writer = Writer::with_capacity(Kind::SeededCiphertexts, 96 + 8 * a.bodies.len());
        writer.tag(a.tag).u32(self.seeded_blocks(a) as u32).bytes(&a.seed);
        write_words(&mut writer, &a.bodies);
        writer.finish()
    }

    pub(super) fn read_seeded(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let length = block_words(&mut reader, self.ring_degree())?;
        let seed = reader.array()?;
        let bodies = read_words(&mut reader, length)?;
        reader.finish()?;
        Ok(SeededCiphertexts { tag, seed, bodies })
    }

    pub(super) fn write_compact(&self, a: &CompactCiphertexts) -> Vec<u8> {
        let mut writer = Writer::new(Kind::CompactCiphertexts);
        writer.tag(a.tag).u32(Scheme::compact_blocks(self, a) as u32);
        writer.u8(a.plain_modulus as u8).u8(a.bits as u8).packed(&a.words, a.bits);
        writer.finish()
    }

    pub(super) fn read_compact(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::CompactCiphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let length = block_words(&mut reader, 2 * self.ring_degree())?;
        let plain_modulus = read_plain_modulus(&mut reader)?;
        let bits = match u32::from(reader.u8()?) {
            bits @ 2..=31 => bits,
            _ => return Err(reader.error("the modulus is none of a compact ciphertext")),
        };
        let words = reader.packed(length, bits)?;
        reader.finish()?;
        Ok(CompactCiphertexts { tag, words, bits, plain_modulus })
    }

    pub(super) fn write_public_key(&self, key: &PublicKey) -> Vec<u8> {
        let mut writer = Writer::new(Kind::PublicKey);
        writer.tag(key.tag).bytes(&key.seed);
        write_words(&mut writer, &key.words[self.ring_degree()..]);
        writer.finish()
    }

    pub(super) fn read_public_key(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let (tag, seed) = (reader.tag(self.fingerprint())?, reader.array()?);
        let body = read_words(&mut reader, self.ring_degree())?;
        reader.finish()?;
        Ok(self.public_key_of(tag, seed, body))
    }

    /// Bits of both secrets, packed.
    pub(super) fn write_secret_key(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        let body = 64 + (key.ring.len() + key.lwe.len()) / 8;
        let mut writer = Writer::with_capacity(Kind::SecretKey, body);
        writer.tag(key.tag).packed(&key.ring, 1).packed(&key.lwe, 1);
        Zeroizing::new(writer.finish())
    }

    pub(super) fn read_secret_key(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SecretKey)?;
        let tag = reader.tag(self.fingerprint())?;
        let ring = Zeroizing::new(reader.packed(self.ring_degree(), 1)?);
        let lwe = Zeroizing::new(reader.packed(self.spec().lwe_dimension, 1)?);
        reader.finish()?;
        Ok(SecretKey { tag, ring: ring.to_vec(), lwe: lwe.to_vec() })
    }

    /// The wire form of an evaluation key: 42 MB at a ring degree of 2048.
    pub fn evaluation_key_to_bytes(&self, key: &SeededEvaluationKey) -> Vec<u8> {
        let words: usize = key.words.iter().map(Vec::len).sum();
        let mut writer = Writer::with_capacity(Kind::EvaluationKey, 96 + 8 * words);
        writer.tag(key.tag);
        for (seed, words) in key.seeds.iter().zip(&key.words) {
            writer.bytes(&seed.to_le_bytes());
            write_words(&mut writer, words);
        }
        writer.finish()
    }

    /// Reads an evaluation key; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::ParameterMismatch`] for another set's.
    pub fn evaluation_key_from_bytes(
        &self,
        bytes: &[u8],
    ) -> Result<SeededEvaluationKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::EvaluationKey)?;
        let tag = reader.tag(self.fingerprint())?;
        let mut key = SeededEvaluationKey { tag, seeds: [0; 3], words: Default::default() };
        let lengths = SeededEvaluationKey::lengths(self.spec());
        for ((seed, words), length) in key.seeds.iter_mut().zip(&mut key.words).zip(lengths) {
            *seed = u128::from_le_bytes(reader.array()?);
            *words = read_words(&mut reader, length)?;
        }
        reader.finish()?;
        Ok(key)
    }
}
