use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, Rlwe, SeededCiphertext};
use hesc_schemes::wire::{Kind, Reader, Writer};

use super::{SEEDED, expanded};

/// Bits of an integer, at most.
const WIDEST: usize = 256;

const SIGNED: u8 = 1;
const BOOLEAN: u8 = 2;

/// What is known of encrypted integers, of which each bit has a ciphertext and each slot a number; it travels with
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integers {
    /// Numbers, at least one; as many ciphertexts of each bit as hold them.
    pub count: usize,
    /// Bits of a number, 1 to 256.
    pub width: usize,
    /// Two's complement; of two bits or more.
    pub signed: bool,
    /// Truth values: of one bit without sign.
    pub boolean: bool,
}

impl Integers {
    /// Whether there are such integers.
    pub(crate) fn is_possible(self) -> bool {
        (1..=u32::MAX as usize).contains(&self.count)
            && (1..=WIDEST).contains(&self.width)
            && !(self.signed && self.width == 1)
            && !(self.boolean && (self.signed || self.width > 1))
    }

    /// Ciphertexts: the bits of as many numbers as there are slots, the lowest first, then those of the next.
    pub fn ciphertexts(self, scheme: &Rlwe) -> usize {
        self.count.div_ceil(scheme.slot_count()) * self.width
    }

    /// What travels of the kind.
    pub(crate) fn flags(self) -> u8 {
        (u8::from(self.signed) * SIGNED) | (u8::from(self.boolean) * BOOLEAN)
    }

    /// Integers with flags that travelled, if there are such.
    pub(crate) fn with_flags(count: usize, width: usize, flags: u8) -> Option<Self> {
        let (signed, boolean) = (flags & SIGNED != 0, flags & BOOLEAN != 0);
        let integers = Self { count, width, signed, boolean };
        (flags & !(SIGNED | BOOLEAN) == 0 && integers.is_possible()).then_some(integers)
    }

    fn frame(self, seeded: bool, ciphertexts: &[Vec<u8>]) -> Vec<u8> {
        let flags = self.flags() | if seeded { SEEDED } else { 0 };
        let size = ciphertexts.iter().map(|bytes| bytes.len() + 8).sum::<usize>() + 16;
        let mut writer = Writer::with_capacity(Kind::LeveledIntegers, size);
        writer.u32(self.count as u32).u32(self.width as u32).u8(flags);
        for bytes in ciphertexts {
            writer.nested(bytes);
        }
        writer.finish()
    }
}

/// Wire form of integers: their bits' ciphertexts, block after block.
pub fn integers_to_bytes(scheme: &Rlwe, integers: Integers, bits: &[&Ciphertext]) -> Vec<u8> {
    let bits: Vec<Vec<u8>> = bits.iter().map(|bit| scheme.ciphertext_to_bytes(bit)).collect();
    integers.frame(false, &bits)
}

/// Wire form of fresh ones under the secret key, half the size.
pub fn seeded_integers_to_bytes(
    scheme: &Rlwe,
    integers: Integers,
    bits: &[SeededCiphertext],
) -> Vec<u8> {
    let bits: Vec<Vec<u8>> = bits.iter().map(|bit| scheme.seeded_to_bytes(bit)).collect();
    integers.frame(true, &bits)
}

/// Reads some, seeded or not; strict. That slots hold bits is the sender's word: other numbers give other results.
///
/// # Errors
/// [`SchemeError::Parameter`] as [`Rlwe::check_combines`]; [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`],
/// [`SchemeError::NoiseBudget`]; [`SchemeError::KeyMismatch`] for bits of different keys; [`SchemeError::NotRelinearised`].
pub fn integers_from_bytes(
    scheme: &Rlwe,
    bytes: &[u8],
) -> Result<(Integers, Vec<Ciphertext>), SchemeError> {
    scheme.check_combines()?;
    let mut reader = Reader::open(bytes, Kind::LeveledIntegers)?;
    let (count, width) = (reader.u32()? as usize, reader.u32()? as usize);
    let flags = reader.u8()?;
    let Some(integers) = Integers::with_flags(count, width, flags & !SEEDED) else {
        return Err(reader.error("what it says of its numbers is impossible"));
    };
    // As many as it says, each of which the frame has to have: nothing is allocated for those it has not.
    let mut bits: Vec<Ciphertext> = Vec::new();
    for _ in 0..integers.ciphertexts(scheme) {
        let bit = expanded(scheme, flags, reader.nested()?)?;
        scheme.check_bit(&bit, bits.first())?;
        bits.push(bit);
    }
    reader.finish()?;
    Ok((integers, bits))
}
