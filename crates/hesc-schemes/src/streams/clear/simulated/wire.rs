use super::{Simulated, SimulatedBlocks, SimulatedKey};
use crate::SchemeError;
use crate::streams::BitProduct;
use crate::wire::{Kind, Reader, SchemeId, Writer};

pub(super) fn spec_bytes(block_length: usize, product: BitProduct) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::Simulated);
    writer.u32(block_length as u32).u8(match product {
        BitProduct::ExclusiveOr => 0,
        BitProduct::Conjunction => 1,
    });
    writer.finish()
}

pub(super) fn write_key(key: &SimulatedKey, kind: Kind) -> Vec<u8> {
    let mut writer = Writer::new(kind);
    writer.tag(key.tag);
    writer.finish()
}

impl Simulated {
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

    pub(super) fn write_blocks(&self, a: &SimulatedBlocks) -> Vec<u8> {
        let mut writer = Writer::with_capacity(Kind::Ciphertexts, 64 + 8 * a.words.len());
        writer.tag(a.tag);
        writer.u32((a.words.len() / self.words()) as u32);
        for word in &a.words {
            writer.u64(*word);
        }
        writer.finish()
    }

    pub(super) fn read_blocks(&self, bytes: &[u8]) -> Result<SimulatedBlocks, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let blocks = reader.blocks()?;
        // Not allocated ahead: each word read is there.
        let words = (0..blocks as u64 * self.words() as u64).map(|_| reader.u64());
        let words = words.collect::<Result<Vec<_>, _>>()?;
        reader.finish()?;
        Ok(SimulatedBlocks { tag, words })
    }

    pub(super) fn read_key(&self, bytes: &[u8], kind: Kind) -> Result<SimulatedKey, SchemeError> {
        let mut reader = Reader::open(bytes, kind)?;
        let tag = reader.tag(self.fingerprint)?;
        reader.finish()?;
        Ok(SimulatedKey { tag })
    }
}
