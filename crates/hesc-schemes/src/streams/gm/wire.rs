use super::encryption::negatives;
use super::{Assurance, Block, Gm, Modulus};
use crate::SchemeError;
use crate::streams::bitwise::BLOCK_LENGTH;
use crate::wire::{Reader, SchemeId, Writer};

pub(super) fn spec_bytes(modulus_bits: u32) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::Gm);
    writer.u32(modulus_bits);
    writer.finish()
}

pub(super) fn block_to_bytes(modulus: &Modulus, block: &Block) -> Vec<u8> {
    let mut reduced = block.clone();
    modulus.n().reduce_assign(&mut reduced);
    let mut bytes = vec![0; BLOCK_LENGTH * modulus.n().byte_length()];
    modulus.n().write_be(&mut bytes, &reduced);
    bytes
}

/// Residues of symbol 1: another one would decrypt to nonsense. Cost: a symbol of full size each.
pub(super) fn block_from_bytes(modulus: &Modulus, bytes: &[u8]) -> Option<Block> {
    let mut block = modulus.zeros();
    let valid = modulus.n().read_be(&mut block, bytes) && negatives(&modulus.symbol, &block)? == 0;
    valid.then_some(block)
}

impl Gm {
    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn spec_from_bytes(bytes: &[u8], assurance: Assurance) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Gm)?;
        let modulus_bits = reader.u32()?;
        reader.finish()?;
        Self::new(modulus_bits, assurance)
    }
}
