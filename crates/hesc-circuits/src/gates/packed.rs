//! Encrypted bits as they travel: blocks, and the shape of the array that lies in them.

use hesc_schemes::SchemeError;
use hesc_schemes::streams::tfhe::{Ciphertexts, CompactCiphertexts, Tfhe};
use hesc_schemes::streams::{Blocks, Encrypt, Encryptions, Form as OnTheWire, Lengths, Wire};
use hesc_schemes::wire::{Kind, Reader, Writer, framed, nested};

use crate::vectors::Integers;

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
}

/// A form of blocks that arrays of bits travel in.
pub trait Form: Blocks {
    /// What the frame of such an array is.
    const KIND: Kind;
}

/// 16 bytes a bit, in whole blocks.
impl Form for Ciphertexts {
    const KIND: Kind = Kind::EncryptedBits;
}

/// Less than three bytes a bit, in whole blocks.
impl Form for CompactCiphertexts {
    const KIND: Kind = Kind::BitAnswer;
}

/// Bytes of an array of so many axes in blocks of so many bytes.
fn length(axes: usize, blocks: usize) -> usize {
    framed(1 + 8 * axes + nested(blocks))
}

fn length_of_integers(bits: usize) -> usize {
    framed(4 + 4 + 1 + nested(bits))
}

/// Bytes of integers: as they were encrypted, or on their way back to the key owner, each bit the parity of so many
/// that bootstraps gave. None where those have no room.
pub fn integers_length(
    scheme: &Tfhe,
    (count, width): (usize, usize),
    answer: Option<usize>,
) -> Option<usize> {
    let blocks = (count * width).div_ceil(scheme.block_length());
    let blocks = match answer {
        Some(terms) => scheme.packed_length(blocks, terms),
        None => scheme.length(OnTheWire::Full, blocks, Encryptions::default()),
    };
    Some(length_of_integers(length(2, blocks?)))
}

impl<B: Form> Packed<B>
where
    Tfhe: Wire<B>,
{
    /// The wire form.
    pub fn to_bytes(&self, scheme: &Tfhe) -> Vec<u8> {
        let blocks = scheme.write(&self.blocks);
        let mut writer = Writer::of_length(B::KIND, length(self.shape.len(), blocks.len()));
        writer.u8(self.shape.len() as u8);
        self.shape.iter().for_each(|&axis| {
            writer.u64(axis as u64);
        });
        writer.nested(&blocks);
        writer.finish()
    }

    /// Reads the wire form, and refuses blocks that are more or fewer than the shape needs.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::ParameterMismatch`] for another set's.
    pub fn from_bytes(scheme: &Tfhe, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, B::KIND)?;
        let axes = usize::from(reader.u8()?);
        if axes > MOST_AXES {
            return Err(reader.error("the array has too many axes"));
        }
        let shape = (0..axes)
            .map(|_| {
                usize::try_from(reader.u64()?).map_err(|_| reader.error("an axis is too long"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let bits = shape.iter().try_fold(1usize, |bits, &axis| bits.checked_mul(axis));
        let blocks: B = scheme.read(reader.nested()?)?;
        if bits.map(|bits| bits.div_ceil(scheme.block_length())) != Some(blocks.blocks()) {
            return Err(reader.error("the shape is not that of the blocks"));
        }
        reader.finish()?;
        Ok(Self { blocks, shape })
    }

    /// The wire form of integers, whose bits these are: an array of (count, width).
    ///
    /// # Panics
    /// Where the shape is another.
    pub fn integers_to_bytes(&self, scheme: &Tfhe, integers: Integers) -> Vec<u8> {
        assert_eq!(self.shape, [integers.count, integers.width], "bits of integers");
        let bits = self.to_bytes(scheme);
        let mut writer = Writer::of_length(Kind::BitIntegers, length_of_integers(bits.len()));
        writer.u32(integers.count as u32).u32(integers.width as u32).u8(integers.flags());
        writer.nested(&bits);
        writer.finish()
    }

    /// Reads it, and refuses bits of another shape.
    ///
    /// # Errors
    /// As [`Packed::from_bytes`].
    pub fn integers_from_bytes(
        scheme: &Tfhe,
        bytes: &[u8],
    ) -> Result<(Integers, Self), SchemeError> {
        let mut reader = Reader::open(bytes, Kind::BitIntegers)?;
        let (count, width) = (reader.u32()? as usize, reader.u32()? as usize);
        let Some(integers) = Integers::with_flags(count, width, reader.u8()?) else {
            return Err(reader.error("what it says of its numbers is impossible"));
        };
        let bits = Self::from_bytes(scheme, reader.nested()?)?;
        if bits.shape != [count, width] {
            return Err(reader.error("the bits are not as many as those of its numbers"));
        }
        reader.finish()?;
        Ok((integers, bits))
    }
}
