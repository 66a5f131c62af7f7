use super::{Cells, Clear};
use crate::kinds::SchemeId;
use crate::streams::bits_of;
use crate::wire::{Reader, Writer};
use crate::{BitProduct, SchemeError};

/// The scheme that simulates: bits in the clear. It has the exclusive or for inverted bipolar streams, the
/// conjunction for unipolar ones, and no digits to fuse, which need counts.
pub type Simulated = Clear<Bits>;

/// 64 bits in each word, with their product.
#[derive(Debug, Clone)]
pub struct Bits {
    product: BitProduct,
}

impl Simulated {
    /// Blocks of `block_length` (a positive multiple of 64) bits.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for other lengths.
    pub fn new(block_length: usize, product: BitProduct) -> Result<Self, SchemeError> {
        Self::of(block_length, Bits { product })
    }

    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Simulated)?;
        let block_length = reader.u32()? as usize;
        let product = match reader.u8()? {
            0 => BitProduct::ExclusiveOr,
            1 => BitProduct::Conjunction,
            _ => return Err(reader.error("an unknown product")),
        };
        reader.finish()?;
        Self::new(block_length, product)
    }
}

impl Cells for Bits {
    type Word = u64;
    const NAME: &'static str = "simulated";
    const POSITIONS: usize = 64;

    fn spec_to_bytes(&self, block_length: usize) -> Vec<u8> {
        let mut writer = Writer::params(SchemeId::Simulated);
        writer.u32(block_length as u32).u8(match self.product {
            BitProduct::ExclusiveOr => 0,
            BitProduct::Conjunction => 1,
        });
        writer.finish()
    }

    fn max_count(&self) -> u64 {
        1
    }

    fn bit_product(&self) -> BitProduct {
        self.product
    }

    fn parity_survives_wrap(&self) -> bool {
        true
    }

    fn words_of(bits: &[u64]) -> impl Iterator<Item = u64> {
        bits.iter().copied()
    }

    fn counts_of(words: &[u64]) -> Vec<u32> {
        bits_of(words)
    }

    fn combine(&self, a: u64, b: u64) -> u64 {
        match self.product {
            BitProduct::ExclusiveOr => a ^ b,
            BitProduct::Conjunction => a & b,
        }
    }

    fn mask(&self, a: u64, mask: u64) -> u64 {
        match self.product {
            BitProduct::ExclusiveOr => a & mask,
            BitProduct::Conjunction => a | !mask,
        }
    }

    fn bits(&self) -> u32 {
        u64::BITS
    }

    fn write(&self, writer: &mut Writer, words: &[u64]) {
        writer.words(words);
    }

    fn read(&self, reader: &mut Reader<'_>, count: usize) -> Result<Vec<u64>, SchemeError> {
        reader.words(count)
    }
}
