//! Encrypted bits as they travel: blocks, and the shape of the array that lies in them.

use hesc_schemes::streams::tfhe::{Ciphertexts, CompactCiphertexts, Tfhe};
use hesc_schemes::wire::{Kind, Reader, Writer};
use hesc_schemes::{Scheme, SchemeError};

/// Axes of an array, at most.
const MOST_AXES: usize = 16;

/// An array of encrypted bits in the first positions of blocks.
#[derive(Clone)]
pub struct Packed<B> {
    /// The blocks.
    pub blocks: B,
    /// The array's axes.
    pub shape: Vec<usize>,
}

impl<B> Packed<B> {
    /// Bits in the array.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    fn write(&self, kind: Kind, blocks: &[u8]) -> Vec<u8> {
        let mut writer = Writer::with_capacity(kind, 64 + 8 * self.shape.len() + blocks.len());
        writer.u8(self.shape.len() as u8);
        self.shape.iter().for_each(|&axis| {
            writer.u64(axis as u64);
        });
        writer.nested(blocks);
        writer.finish()
    }
}

/// Reads a shape and blocks, and refuses blocks that are more or fewer than the shape needs.
fn read<B>(
    scheme: &Tfhe,
    kind: Kind,
    bytes: &[u8],
    blocks: impl Fn(&[u8]) -> Result<B, SchemeError>,
    count: impl Fn(&B) -> usize,
) -> Result<Packed<B>, SchemeError> {
    let mut reader = Reader::open(bytes, kind)?;
    let axes = usize::from(reader.u8()?);
    if axes > MOST_AXES {
        return Err(reader.error("the array has too many axes"));
    }
    let shape = (0..axes)
        .map(|_| usize::try_from(reader.u64()?).map_err(|_| reader.error("an axis is too long")))
        .collect::<Result<Vec<_>, _>>()?;
    let bits = shape.iter().try_fold(1usize, |bits, &axis| bits.checked_mul(axis));
    let blocks = blocks(reader.nested()?)?;
    if bits.map(|bits| bits.div_ceil(scheme.block_length())) != Some(count(&blocks)) {
        return Err(reader.error("the shape is not that of the blocks"));
    }
    reader.finish()?;
    Ok(Packed { blocks, shape })
}

impl Packed<Ciphertexts> {
    /// The wire form: 16 bytes a bit, in whole blocks.
    pub fn to_bytes(&self, scheme: &Tfhe) -> Vec<u8> {
        self.write(Kind::EncryptedBits, &scheme.ciphertexts_to_bytes(&self.blocks))
    }

    /// Reads the wire form; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::ParameterMismatch`] for another set's.
    pub fn from_bytes(scheme: &Tfhe, bytes: &[u8]) -> Result<Self, SchemeError> {
        let blocks = |bytes: &[u8]| scheme.ciphertexts_from_bytes(bytes);
        read(scheme, Kind::EncryptedBits, bytes, blocks, |blocks| scheme.blocks(blocks))
    }
}

impl Packed<CompactCiphertexts> {
    /// The wire form: less than three bytes a bit, in whole blocks.
    pub fn to_bytes(&self, scheme: &Tfhe) -> Vec<u8> {
        self.write(Kind::BitAnswer, &scheme.compact_to_bytes(&self.blocks))
    }

    /// Reads the wire form; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::ParameterMismatch`] for another set's.
    pub fn from_bytes(scheme: &Tfhe, bytes: &[u8]) -> Result<Self, SchemeError> {
        let blocks = |bytes: &[u8]| scheme.compact_from_bytes(bytes);
        read(scheme, Kind::BitAnswer, bytes, blocks, |blocks| {
            Scheme::compact_blocks(scheme, blocks)
        })
    }
}
