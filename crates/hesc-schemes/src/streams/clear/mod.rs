//! Encryptions that encrypt nothing: every law and circuit runs on them too, which separates mistakes in
//! circuits from mistakes in cryptography.
//!
//! [`Plain`] keeps counts; [`Simulated`] keeps bits, 64 in a word, and is a hundred times faster than
//! ciphertexts, so that encoders, lengths and sums can be tried without keys. What they differ in are
//! their [`Cells`].

mod bits;
mod counts;

use std::fmt::Debug;

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::error::refuse;
use crate::streams::{
    Batch, Combine, Compact, Decrypt, Encrypt, Encryptions, Form, Lengths, MaskPositions,
    WeightedSums, Wire, bases_of_one, check_parts, count_blocks, rows_of,
};
use crate::wire::{COUNT, Kind, Reader, TAG, Writer, framed, packed};
use crate::{Assurance, BitProduct, Fingerprint, KeyId, Packing, SchemeError, Security, Tag};

pub use bits::{Bits, Simulated};
pub use counts::{Counts, Plain};

/// What positions hold in the clear.
pub trait Cells: Debug + Clone + Send + Sync + 'static {
    /// What some positions hold.
    type Word: Copy + Debug + Send + Sync;
    /// The scheme's name in the interface.
    const NAME: &'static str;
    /// Positions of a word.
    const POSITIONS: usize;

    /// The wire form of the parameter set.
    fn spec_to_bytes(&self, block_length: usize) -> Vec<u8>;
    /// The largest count of a position.
    fn max_count(&self) -> u64;
    /// What combining words does to the bits in them.
    fn bit_product(&self) -> BitProduct;
    /// Whether a position keeps its parity or its bit, whatever was combined.
    fn parity_survives_wrap(&self) -> bool;

    /// Words of packed bits.
    fn words_of(bits: &[u64]) -> impl Iterator<Item = Self::Word>;
    /// The counts that words hold.
    fn counts_of(words: &[Self::Word]) -> Vec<u32>;
    /// What the positions of both words combine to.
    fn combine(&self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Keeps the positions of `a` whose bit in `mask` is set.
    fn mask(&self, a: Self::Word, mask: Self::Word) -> Self::Word;
    /// Sums with weights, if words hold counts.
    fn weighting(_scheme: &Clear<Self>) -> Option<&dyn WeightedSums<Batch<Self::Word>>> {
        None
    }

    /// Bits of a word on the wire.
    fn bits(&self) -> u32;
    /// The wire form of words.
    fn write(&self, writer: &mut Writer, words: &[Self::Word]);
    /// Reads so many words.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    fn read(&self, reader: &mut Reader<'_>, count: usize) -> Result<Vec<Self::Word>, SchemeError>;
}

/// Blocks of cells in the clear. Its keys are names alone: they decrypt nothing, since nothing is encrypted.
#[derive(Debug, Clone)]
pub struct Clear<C> {
    cells: C,
    block_length: usize,
    fingerprint: Fingerprint,
}

impl<C: Cells> Clear<C> {
    /// Blocks of `block_length` positions, a positive multiple of 64.
    fn of(block_length: usize, cells: C) -> Result<Self, SchemeError> {
        if block_length == 0 || !block_length.is_multiple_of(64) || block_length > 1 << 20 {
            return refuse("block_length", block_length, "choose a multiple of 64 up to 2^20");
        }
        let fingerprint = Fingerprint::of(&cells.spec_to_bytes(block_length));
        Ok(Self { cells, block_length, fingerprint })
    }

    /// Words of a block.
    fn words(&self) -> usize {
        self.block_length / C::POSITIONS
    }
}

impl<C: Cells> Encrypt for Clear<C> {
    type SecretKey = Tag;
    type PublicKey = Tag;
    type Ciphertexts = Batch<C::Word>;
    type SeededCiphertexts = Batch<C::Word>;

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        self.cells.spec_to_bytes(self.block_length)
    }

    fn security(&self) -> Security {
        Security::Of(Assurance::Insecure)
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

    fn generate_keys(&self, rng: &mut impl CryptoRng) -> (Tag, Tag) {
        let key = Tag { params: self.fingerprint, key: KeyId::random(rng) };
        (key, key)
    }

    fn encrypt(
        &self,
        key: &Tag,
        bits: &[u64],
        _rng: &mut impl CryptoRng,
    ) -> Result<Batch<C::Word>, SchemeError> {
        key.check(self.fingerprint, None)?;
        let blocks = count_blocks(bits, self.block_length)?;
        Ok(Batch { tag: *key, words: C::words_of(bits).collect(), blocks, state: () })
    }

    fn encrypt_seeded(
        &self,
        key: &Tag,
        bits: &[u64],
        rng: &mut impl CryptoRng,
    ) -> Result<Batch<C::Word>, SchemeError> {
        self.encrypt(key, bits, rng)
    }

    fn expand(&self, seeded: &Batch<C::Word>) -> Result<Batch<C::Word>, SchemeError> {
        seeded.tag.check(self.fingerprint, None)?;
        Ok(seeded.clone())
    }

    fn rerandomise(
        &self,
        key: &Tag,
        a: &Batch<C::Word>,
        _rng: &mut impl CryptoRng,
    ) -> Result<Batch<C::Word>, SchemeError> {
        a.tag.check(self.fingerprint, Some(*key))?;
        Ok(a.clone())
    }

    fn noise_budget(&self, _a: &Batch<C::Word>) -> f64 {
        f64::INFINITY
    }

    fn measured_noise_budget(&self, key: &Tag, a: &Batch<C::Word>) -> Result<f64, SchemeError> {
        a.tag.check(self.fingerprint, Some(*key))?;
        Ok(f64::INFINITY)
    }

    fn secret_key_to_bytes(&self, key: &Tag) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(write_key(*key, Kind::SecretKey))
    }

    fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<Tag, SchemeError> {
        read_key(bytes, Kind::SecretKey, self.fingerprint)
    }
}

impl<C: Cells> Decrypt<Batch<C::Word>> for Clear<C> {
    fn max_count(&self, _a: &Batch<C::Word>) -> u64 {
        self.cells.max_count()
    }

    fn decrypt(&self, key: &Tag, a: &Batch<C::Word>) -> Result<Vec<u32>, SchemeError> {
        a.tag.check(self.fingerprint, Some(*key))?;
        Ok(C::counts_of(&a.words))
    }
}

impl<C: Cells> Combine for Clear<C> {
    fn bit_product(&self) -> BitProduct {
        self.cells.bit_product()
    }

    fn parity_survives_wrap(&self) -> bool {
        self.cells.parity_survives_wrap()
    }

    fn combine_pairs(
        &self,
        a: &Batch<C::Word>,
        b: &Batch<C::Word>,
        pairs: &[(usize, usize)],
    ) -> Result<Batch<C::Word>, SchemeError> {
        let tag = check_parts(&[a, b], self.fingerprint)?.tag;
        let mut words = Vec::with_capacity(pairs.len() * self.words());
        for (a, b) in a.pairs(b, pairs)? {
            words.extend(a.iter().zip(b).map(|(&x, &y)| self.cells.combine(x, y)));
        }
        Ok(Batch { tag, words, blocks: pairs.len(), state: () })
    }

    fn combine_rows(
        &self,
        parts: &[&Batch<C::Word>],
        rows: &[Vec<(usize, usize)>],
    ) -> Result<Batch<C::Word>, SchemeError> {
        let tag = check_parts(parts, self.fingerprint)?.tag;
        let mut words = Vec::with_capacity(rows.len() * self.words());
        for row in rows_of(parts, rows, &bases_of_one(rows))? {
            let start = words.len();
            words.extend_from_slice(row[0]);
            for block in &row[1..] {
                let both = words[start..].iter_mut().zip(*block);
                both.for_each(|(x, &y)| *x = self.cells.combine(*x, y));
            }
        }
        Ok(Batch { tag, words, blocks: rows.len(), state: () })
    }

    fn combine_bits_assign(&self, a: &mut Batch<C::Word>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint, bits, self.block_length)?;
        let both = a.words.iter_mut().zip(C::words_of(bits));
        both.for_each(|(x, y)| *x = self.cells.combine(*x, y));
        Ok(())
    }

    fn arrange(
        &self,
        parts: &[&Batch<C::Word>],
        places: &[(usize, usize)],
    ) -> Result<Batch<C::Word>, SchemeError> {
        check_parts(parts, self.fingerprint)?;
        Batch::arranged(parts, places, ())
    }

    fn masking(&self) -> Option<&dyn MaskPositions<Batch<C::Word>>> {
        Some(self)
    }

    fn weighting(&self) -> Option<&dyn WeightedSums<Batch<C::Word>>> {
        C::weighting(self)
    }
}

impl<C: Cells> MaskPositions<Batch<C::Word>> for Clear<C> {
    fn mask_assign(&self, a: &mut Batch<C::Word>, bits: &[u64]) -> Result<(), SchemeError> {
        a.check_bits(self.fingerprint, bits, self.block_length)?;
        let masked = a.words.iter_mut().zip(C::words_of(bits));
        masked.for_each(|(word, mask)| *word = self.cells.mask(*word, mask));
        Ok(())
    }
}

impl<C: Cells> Compact for Clear<C> {
    /// Nothing is smaller than what is there.
    type CompactCiphertexts = Batch<C::Word>;

    fn compact(&self, a: &Batch<C::Word>) -> Result<Batch<C::Word>, SchemeError> {
        self.expand(a)
    }
}

impl<C: Cells> Clear<C> {
    fn batch_length(&self, blocks: usize) -> usize {
        framed(TAG + COUNT + packed(blocks * self.words(), self.cells.bits()))
    }
}

impl<C: Cells> Lengths for Clear<C> {
    fn length(&self, _form: Form, blocks: usize, _of: Encryptions) -> Option<usize> {
        Some(self.batch_length(blocks))
    }

    fn capacity(&self) -> u64 {
        self.cells.max_count()
    }
}

impl<C: Cells> Wire<Batch<C::Word>> for Clear<C> {
    fn write(&self, a: &Batch<C::Word>) -> Vec<u8> {
        let mut writer = Writer::of_length(Kind::Ciphertexts, self.batch_length(a.blocks));
        writer.tag(a.tag).u32(a.blocks as u32);
        self.cells.write(&mut writer, &a.words);
        writer.finish()
    }

    fn read(&self, bytes: &[u8]) -> Result<Batch<C::Word>, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let blocks = reader.blocks()?;
        let length = blocks.checked_mul(self.words());
        let length = length.ok_or_else(|| reader.error("a count is too large"))?;
        let words = self.cells.read(&mut reader, length)?;
        reader.finish()?;
        Ok(Batch { tag, words, blocks, state: () })
    }
}

impl<C: Cells> Wire<Tag> for Clear<C> {
    fn write(&self, key: &Tag) -> Vec<u8> {
        write_key(*key, Kind::PublicKey)
    }

    fn read(&self, bytes: &[u8]) -> Result<Tag, SchemeError> {
        read_key(bytes, Kind::PublicKey, self.fingerprint)
    }
}

fn write_key(key: Tag, kind: Kind) -> Vec<u8> {
    let mut writer = Writer::new(kind);
    writer.tag(key);
    writer.finish()
}

fn read_key(bytes: &[u8], kind: Kind, params: Fingerprint) -> Result<Tag, SchemeError> {
    let mut reader = Reader::open(bytes, kind)?;
    let tag = reader.tag(params)?;
    reader.finish()?;
    Ok(tag)
}
