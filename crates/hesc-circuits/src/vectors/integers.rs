use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Basis, Ciphertext, Rlwe, SeededCiphertext};
use hesc_schemes::wire::{Kind, Reader, Writer, framed, nested};

use super::{SEEDED, ciphertext_length, expanded};

/// Bits of an integer, at most.
const WIDEST: usize = 256;

const SIGNED: u8 = 1;
const BOOLEAN: u8 = 2;

/// Where the bits of encrypted integers lie; it travels with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each bit has a ciphertext and each slot a number: the bits of as many numbers as there are slots, the lowest
    /// first, then those of the next.
    Sliced,
    /// All bits of a number lie along the first dimension of slots.
    Slotwise,
    /// The ciphertexts of [`Self::Sliced`], as many in one as slots have coordinates.
    Packed(Basis),
}

impl Layout {
    const ALL: [Self; 4] =
        [Self::Sliced, Self::Slotwise, Self::Packed(Basis::Normal), Self::Packed(Basis::Powers)];

    const fn flags(self) -> u8 {
        match self {
            Self::Sliced => 0,
            Self::Slotwise => 8,
            Self::Packed(Basis::Normal) => 16,
            Self::Packed(Basis::Powers) => 24,
        }
    }
}

/// The flags of all layouts.
const LAYOUTS: u8 = 24;

/// What is known of encrypted integers; it travels with them.
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

    /// Whether there are such integers in a layout: truth values that lie along slots are the highest bit of as many as
    /// the numbers have that they were made of.
    fn is_possible_in(self, layout: Layout) -> bool {
        let width = if self.boolean && layout == Layout::Slotwise { 1 } else { self.width };
        (1..=WIDEST).contains(&self.width) && Self { width, ..self }.is_possible()
    }

    /// Ciphertexts in a layout.
    ///
    /// # Errors
    /// For any but the first: [`SchemeError::Parameter`] for numbers with more bits than there are slots along the first
    /// dimension; as [`Rlwe::field_slots`].
    pub fn ciphertexts(self, scheme: &Rlwe, layout: Layout) -> Result<usize, SchemeError> {
        let sliced = self.count.div_ceil(scheme.slot_count()) * self.width;
        match layout {
            Layout::Sliced => Ok(sliced),
            Layout::Packed(_) => Ok(sliced.div_ceil(scheme.field_slots()?.ring().degree())),
            Layout::Slotwise => {
                let circle = scheme.dimensions()?.first().map_or(1, |along| along.length);
                match circle / self.width * (scheme.slot_count() / circle) {
                    0 => Err(SchemeError::Parameter {
                        name: "width",
                        value: self.width.to_string(),
                        remedy: "take a type with at most as many bits as there are slots along the first dimension",
                    }),
                    capacity => Ok(self.count.div_ceil(capacity)),
                }
            }
        }
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

    fn frame(self, layout: Layout, seeded: bool, ciphertexts: &[Vec<u8>]) -> Vec<u8> {
        let flags = self.flags() | layout.flags() | if seeded { SEEDED } else { 0 };
        let lengths = ciphertexts.iter().map(Vec::len);
        let mut writer = Writer::of_length(Kind::Integers, length(lengths));
        writer.u32(self.count as u32).u32(self.width as u32).u8(flags);
        for bytes in ciphertexts {
            writer.nested(bytes);
        }
        writer.finish()
    }
}

/// Bytes of the frame of ciphertexts of these lengths.
fn length(ciphertexts: impl Iterator<Item = usize>) -> usize {
    framed(4 + 4 + 1 + ciphertexts.map(nested).sum::<usize>())
}

/// Bytes of integers in a layout at a level, fresh under the secret key or ciphertexts of two parts.
///
/// # Errors
/// As [`Integers::ciphertexts`].
pub fn integers_length(
    scheme: &Rlwe,
    (integers, layout): (Integers, Layout),
    level: usize,
    seeded: bool,
) -> Result<usize, SchemeError> {
    let count = integers.ciphertexts(scheme, layout)?;
    Ok(length(std::iter::repeat_n(ciphertext_length(scheme, level, seeded), count)))
}

/// Wire form of integers: their ciphertexts, block after block.
pub fn integers_to_bytes(
    scheme: &Rlwe,
    (integers, layout): (Integers, Layout),
    bits: &[&Ciphertext],
) -> Vec<u8> {
    let bits: Vec<Vec<u8>> = bits.iter().map(|bit| scheme.ciphertext_to_bytes(bit)).collect();
    integers.frame(layout, false, &bits)
}

/// Wire form of fresh ones under the secret key, half the size.
pub fn seeded_integers_to_bytes(
    scheme: &Rlwe,
    (integers, layout): (Integers, Layout),
    bits: &[SeededCiphertext],
) -> Vec<u8> {
    let bits: Vec<Vec<u8>> = bits.iter().map(|bit| scheme.seeded_to_bytes(bit)).collect();
    integers.frame(layout, true, &bits)
}

/// Reads some, seeded or not; strict. That slots hold bits is the sender's word: other numbers give other results.
///
/// # Errors
/// [`SchemeError::Parameter`] as [`Rlwe::check_combines`]; [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`],
/// [`SchemeError::NoiseBudget`]; [`SchemeError::KeyMismatch`] for bits of different keys; [`SchemeError::NotRelinearised`].
pub fn integers_from_bytes(
    scheme: &Rlwe,
    bytes: &[u8],
) -> Result<(Integers, Layout, Vec<Ciphertext>), SchemeError> {
    scheme.check_combines()?;
    let mut reader = Reader::open(bytes, Kind::Integers)?;
    let (count, width) = (reader.u32()? as usize, reader.u32()? as usize);
    let flags = reader.u8()?;
    let layout = Layout::ALL.into_iter().find(|layout| layout.flags() == flags & LAYOUTS);
    let (signed, boolean) = (flags & SIGNED != 0, flags & BOOLEAN != 0);
    let integers = Integers { count, width, signed, boolean };
    let known = flags & !(SIGNED | BOOLEAN | SEEDED | LAYOUTS) == 0;
    let Some(layout) = layout.filter(|&layout| known && integers.is_possible_in(layout)) else {
        return Err(reader.error("what it says of its numbers is impossible"));
    };
    // As many as it says, each of which the frame has to have: nothing is allocated for those it has not.
    let mut bits: Vec<Ciphertext> = Vec::new();
    for _ in 0..integers.ciphertexts(scheme, layout)? {
        let bit = expanded(scheme, flags, reader.nested()?)?;
        scheme.check_bit(&bit, bits.first())?;
        bits.push(bit);
    }
    reader.finish()?;
    Ok((integers, layout, bits))
}
