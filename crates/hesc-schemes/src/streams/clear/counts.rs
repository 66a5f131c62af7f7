use super::{Cells, Clear};
use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::streams::{Batch, WeightedSums, check_parts, rows_of};
use crate::wire::{Reader, Writer};
use crate::{BitProduct, SchemeError};

/// The scheme that encrypts nothing: counts modulo a number in the clear.
pub type Plain = Clear<Counts>;

/// A count in each word, modulo `plain_modulus`.
#[derive(Debug, Clone)]
pub struct Counts {
    plain_modulus: u64,
}

impl Plain {
    /// Blocks of `block_length` (a positive multiple of 64) counts modulo `plain_modulus` (2 to
    /// 2^31).
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] outside these ranges.
    pub fn new(block_length: usize, plain_modulus: u64) -> Result<Self, SchemeError> {
        if !(2..=1 << 31).contains(&plain_modulus) {
            return refuse("plain_modulus", plain_modulus, "choose 2 to 2^31");
        }
        Self::of(block_length, Counts { plain_modulus })
    }

    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Plain)?;
        let (block_length, plain_modulus) = (reader.u32()? as usize, reader.u64()?);
        reader.finish()?;
        Self::new(block_length, plain_modulus)
    }

    /// The modulus of the counts.
    pub fn plain_modulus(&self) -> u64 {
        self.cells.plain_modulus
    }
}

impl Counts {
    fn reduce(&self, value: u64) -> u32 {
        (value % self.plain_modulus) as u32
    }

    /// Bits of a count on the wire.
    fn width(&self) -> u32 {
        (self.plain_modulus - 1).ilog2() + 1
    }
}

impl Cells for Counts {
    type Word = u32;
    const NAME: &'static str = "plain";
    const POSITIONS: usize = 1;

    fn spec_to_bytes(&self, block_length: usize) -> Vec<u8> {
        let mut writer = Writer::params(SchemeId::Plain);
        writer.u32(block_length as u32).u64(self.plain_modulus);
        writer.finish()
    }

    fn max_count(&self) -> u64 {
        self.plain_modulus - 1
    }

    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    fn parity_survives_wrap(&self) -> bool {
        self.plain_modulus.is_multiple_of(2)
    }

    fn words_of(bits: &[u64]) -> impl Iterator<Item = u32> {
        bits.iter().flat_map(|word| (0..64).map(move |i| (word >> i) as u32 & 1))
    }

    fn counts_of(words: &[u32]) -> Vec<u32> {
        words.to_vec()
    }

    fn combine(&self, a: u32, b: u32) -> u32 {
        self.reduce(u64::from(a) + u64::from(b))
    }

    fn mask(&self, a: u32, mask: u32) -> u32 {
        a * mask
    }

    fn weighting(scheme: &Plain) -> Option<&dyn WeightedSums<Batch<u32>>> {
        Some(scheme)
    }

    fn bits(&self) -> u32 {
        self.width()
    }

    fn write(&self, writer: &mut Writer, words: &[u32]) {
        writer.packed(words, self.width());
    }

    fn read(&self, reader: &mut Reader<'_>, count: usize) -> Result<Vec<u32>, SchemeError> {
        let counts = reader.packed::<u32>(count, self.width())?;
        if counts.iter().any(|&count| u64::from(count) >= self.plain_modulus) {
            return Err(reader.error("a count is not below the modulus"));
        }
        Ok(counts)
    }
}

impl WeightedSums<Batch<u32>> for Plain {
    fn horner(
        &self,
        parts: &[&Batch<u32>],
        rows: &[Vec<(usize, usize)>],
        bases: &[u64],
    ) -> Result<Batch<u32>, SchemeError> {
        let tag = check_parts(parts, self.fingerprint)?.tag;
        let mut words = Vec::with_capacity(rows.len() * self.block_length);
        for row in rows_of(parts, rows, bases)? {
            let start = words.len();
            words.extend_from_slice(row[0]);
            for (block, base) in row[1..].iter().zip(bases) {
                let base = base % self.cells.plain_modulus;
                let both = words[start..].iter_mut().zip(*block);
                both.for_each(|(x, &y)| {
                    *x = self.cells.reduce(u64::from(*x) * base + u64::from(y));
                });
            }
        }
        Ok(Batch { tag, words, blocks: rows.len(), state: () })
    }
}
