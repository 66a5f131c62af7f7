use super::{
    Ciphertexts, CompactCiphertexts, GRID, PARITY, PublicKey, Rounded, SeededCiphertexts,
    SeededEvaluationKey, Tfhe, Torus, noise,
};
use crate::SchemeError;
use crate::streams::{Batch, Encrypt, Encryptions, Form, Lengths, Wire};
use crate::wire::{BYTE, COUNT, Kind, Reader, SEED, TAG, WORD, Writer, framed, packed};

fn read_plain_modulus(reader: &mut Reader<'_>) -> Result<u64, SchemeError> {
    match u64::from(reader.u8()?) {
        modulus @ (GRID | PARITY) => Ok(modulus),
        _ => Err(reader.error("the plaintext modulus is none of this scheme")),
    }
}

/// A number of blocks, and that of their words if each has so many.
fn read_blocks(reader: &mut Reader<'_>, size: usize) -> Result<(usize, usize), SchemeError> {
    let blocks = reader.blocks()?;
    let words = blocks.checked_mul(size).ok_or_else(|| reader.error("a count is too large"))?;
    Ok((blocks, words))
}

impl Tfhe {
    fn full_length(&self, blocks: usize) -> usize {
        let words = 2 * self.ring_degree() * blocks;
        // Blocks, plaintext modulus, largest count, variance.
        framed(TAG + COUNT + BYTE + WORD + WORD + WORD * words)
    }

    fn seeded_length(&self, blocks: usize) -> usize {
        framed(TAG + COUNT + SEED + WORD * self.ring_degree() * blocks)
    }

    fn compact_length(&self, blocks: usize, bits: u32) -> usize {
        framed(TAG + COUNT + BYTE + BYTE + packed(2 * self.ring_degree() * blocks, bits))
    }

    /// Bytes of the compact form of packed bits ([`Tfhe::pack`]), each the parity of so many that bootstraps gave; none
    /// where they have no room.
    pub fn packed_length(&self, blocks: usize, terms: usize) -> Option<usize> {
        let bit = (terms as u64 * noise::PARITY_WEIGHT, self.noise().bit);
        let variance = noise::of_sum([bit]) + self.noise().packing;
        Some(self.compact_length(blocks, self.compact_bits(variance, PARITY).ok()?))
    }

    /// Bytes of the public key.
    pub fn public_key_length(&self) -> usize {
        framed(TAG + SEED + WORD * self.ring_degree())
    }

    /// Bytes of the evaluation key.
    pub fn evaluation_key_length(&self) -> usize {
        let words = SeededEvaluationKey::lengths(self.spec()).iter().sum::<usize>();
        framed(TAG + SEED + WORD * words)
    }
}

impl Lengths for Tfhe {
    fn length(&self, form: Form, blocks: usize, of: Encryptions) -> Option<usize> {
        let terms = [(of.secret, self.noise().secret), (of.public, self.noise().public)];
        Some(match form {
            Form::Full => self.full_length(blocks),
            Form::Seeded => self.seeded_length(blocks),
            Form::Compact => {
                let terms = terms.map(|(count, variance)| (count as u64, variance));
                let bits = self.compact_bits(noise::of_sum(terms), GRID);
                self.compact_length(blocks, bits.ok()?)
            }
        })
    }

    fn capacity(&self) -> u64 {
        GRID - 1
    }
}

impl Wire<Ciphertexts> for Tfhe {
    fn write(&self, a: &Ciphertexts) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::Ciphertexts, self.full_length(a.blocks));
        writer.tag(a.tag).u32(a.blocks as u32).u8(a.state.plain_modulus as u8);
        writer.u64(a.state.count).f64(a.state.variance);
        writer.words(&a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Ciphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let (blocks, length) = read_blocks(&mut reader, 2 * self.ring_degree())?;
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
        let words = reader.words(length)?;
        reader.finish()?;
        let state = Torus { plain_modulus, count, variance };
        Ok(Batch { tag, words, blocks, state })
    }
}

impl Wire<SeededCiphertexts> for Tfhe {
    fn write(&self, a: &SeededCiphertexts) -> Vec<u8> {
        let length = self.seeded_length(a.blocks);
        let mut writer = Writer::of_length(Kind::SeededCiphertexts, length);
        writer.tag(a.tag).u32(a.blocks as u32).bytes(&a.state);
        writer.words(&a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<SeededCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededCiphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let (blocks, length) = read_blocks(&mut reader, self.ring_degree())?;
        let seed = reader.array()?;
        let words = reader.words(length)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state: seed })
    }
}

impl Wire<CompactCiphertexts> for Tfhe {
    fn write(&self, a: &CompactCiphertexts) -> Vec<u8> {
        let length = self.compact_length(a.blocks, a.state.bits);
        let mut writer = Writer::of_length(Kind::CompactCiphertexts, length);
        writer.tag(a.tag).u32(a.blocks as u32);
        writer
            .u8(a.state.plain_modulus as u8)
            .u8(a.state.bits as u8)
            .packed(&a.words, a.state.bits);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<CompactCiphertexts, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::CompactCiphertexts)?;
        let tag = reader.tag(self.fingerprint())?;
        let (blocks, length) = read_blocks(&mut reader, 2 * self.ring_degree())?;
        let plain_modulus = read_plain_modulus(&mut reader)?;
        let bits = match u32::from(reader.u8()?) {
            bits @ 2..=31 => bits,
            _ => return Err(reader.error("the modulus is none of a compact ciphertext")),
        };
        let words = reader.packed(length, bits)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state: Rounded { bits, plain_modulus } })
    }
}

impl Wire<PublicKey> for Tfhe {
    fn write(&self, key: &PublicKey) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::PublicKey, self.public_key_length());
        writer.tag(key.tag).bytes(&key.seed);
        writer.words(&key.words[self.ring_degree()..]);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::PublicKey)?;
        let (tag, seed) = (reader.tag(self.fingerprint())?, reader.array()?);
        let body = reader.words(self.ring_degree())?;
        reader.finish()?;
        Ok(self.public_key_of(tag, seed, body))
    }
}

impl Tfhe {
    /// The wire form of an evaluation key: 42 MB at a ring degree of 2048.
    pub fn evaluation_key_to_bytes(&self, key: &SeededEvaluationKey) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::EvaluationKey, self.evaluation_key_length());
        writer.tag(key.tag).bytes(&key.seed);
        for words in &key.words {
            writer.words(words);
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
        let seed = reader.array()?;
        let mut words: [Vec<u64>; 3] = Default::default();
        for (words, length) in words.iter_mut().zip(SeededEvaluationKey::lengths(self.spec())) {
            *words = reader.words(length)?;
        }
        reader.finish()?;
        Ok(SeededEvaluationKey { tag, seed, words })
    }
}
