use super::{Plain, PlainBlocks, PlainKey};
use crate::SchemeError;
use crate::wire::{Kind, Reader, SchemeId, Writer};

pub(super) fn spec_bytes(block_length: usize, plain_modulus: u64) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::Plain);
    writer.u32(block_length as u32).u64(plain_modulus);
    writer.finish()
}

impl Plain {
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

    fn count_bits(&self) -> u32 {
        (self.plain_modulus - 1).ilog2() + 1
    }

    pub(super) fn write_blocks(&self, a: &PlainBlocks) -> Vec<u8> {
        let mut writer = Writer::new(Kind::Ciphertexts);
        writer.tag(a.tag);
        writer.u32((a.counts.len() / self.block_length) as u32);
        writer.packed(&a.counts, self.count_bits());
        writer.finish()
    }

    pub(super) fn read_blocks(&self, bytes: &[u8]) -> Result<PlainBlocks, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Ciphertexts)?;
        let tag = reader.tag(self.fingerprint)?;
        let blocks = reader.blocks()?;
        let length = blocks
            .checked_mul(self.block_length)
            .ok_or_else(|| reader.error("a count is too large"))?;
        let counts = reader.packed::<u32>(length, self.count_bits())?;
        if counts.iter().any(|&count| u64::from(count) >= self.plain_modulus) {
            return Err(reader.error("a count is not below the modulus"));
        }
        reader.finish()?;
        Ok(PlainBlocks { tag, counts })
    }

    pub(super) fn write_key(&self, key: &PlainKey, kind: Kind) -> Vec<u8> {
        let mut writer = Writer::new(kind);
        writer.tag(key.tag);
        writer.finish()
    }

    pub(super) fn read_key(&self, bytes: &[u8], kind: Kind) -> Result<PlainKey, SchemeError> {
        let mut reader = Reader::open(bytes, kind)?;
        let tag = reader.tag(self.fingerprint)?;
        reader.finish()?;
        Ok(PlainKey { tag })
    }
}
