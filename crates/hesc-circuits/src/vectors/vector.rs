use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, Rlwe, SeededCiphertext};
use hesc_schemes::wire::{Kind, Reader, Writer, framed, nested};

use super::{SEEDED, ciphertext_length, expanded};

const ZEROS_BEHIND: u8 = 1;
const COMPLEX: u8 = 2;

/// What is known of the vector in a ciphertext; it travels with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Numbers, at least one and no more than there are slots.
    pub length: usize,
    /// Whether the slots behind the numbers, up to the end of the period, are zero.
    pub zeros_behind: bool,
    /// Whether the numbers may have imaginary parts.
    pub complex: bool,
    /// BFV and BGV: what the absolute values of the numbers stay within; none where they are meant modulo the plaintext
    /// modulus. Ciphertexts of CKKS have their own.
    pub bound: Option<u64>,
}

impl Label {
    fn frame(self, seeded: bool, ciphertext: &[u8]) -> Vec<u8> {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.zeros_behind, ZEROS_BEHIND)
            | flag(self.complex, COMPLEX)
            | flag(seeded, SEEDED);
        let mut writer = Writer::of_length(Kind::Vector, length(ciphertext.len()));
        // No integer is within zero but zero: it stands for none.
        writer.u32(self.length as u32).u8(flags).u64(self.bound.unwrap_or(0)).nested(ciphertext);
        writer.finish()
    }
}

/// Bytes of the frame of a ciphertext of so many.
fn length(ciphertext: usize) -> usize {
    framed(4 + 1 + 8 + nested(ciphertext))
}

/// Bytes of a vector at a level, fresh under the secret key or a ciphertext of two parts.
pub fn vector_length(scheme: &Rlwe, level: usize, seeded: bool) -> usize {
    length(ciphertext_length(scheme, level, seeded))
}

/// Wire form of a vector: a ciphertext and its label.
pub fn vector_to_bytes(scheme: &Rlwe, label: Label, a: &Ciphertext) -> Vec<u8> {
    label.frame(false, &scheme.ciphertext_to_bytes(a))
}

/// Wire form of a fresh vector under the secret key, half the size.
pub fn seeded_vector_to_bytes(scheme: &Rlwe, label: Label, a: &SeededCiphertext) -> Vec<u8> {
    label.frame(true, &scheme.seeded_to_bytes(a))
}

/// Reads a vector, seeded or not; strict. What the label says is the sender's word, as the numbers
/// are: it decides what results mean, and nothing else rests on it.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`].
pub fn vector_from_bytes(scheme: &Rlwe, bytes: &[u8]) -> Result<(Label, Ciphertext), SchemeError> {
    let mut reader = Reader::open(bytes, Kind::Vector)?;
    let length = reader.u32()? as usize;
    if !(1..=scheme.slot_count()).contains(&length) {
        return Err(reader.error("its length does not fit the slots"));
    }
    let flags = reader.u8()?;
    let (zeros_behind, complex) = (flags & ZEROS_BEHIND != 0, flags & COMPLEX != 0);
    let full = length.is_power_of_two();
    if flags >= 2 * SEEDED || (complex && !scheme.is_approximate()) || (full && !zeros_behind) {
        return Err(reader.error("what it says of its numbers is impossible"));
    }
    let bound = Some(reader.u64()?).filter(|&bound| bound > 0);
    let most = scheme.integer_range().map_or(0, |(smallest, _)| smallest.unsigned_abs());
    if bound.is_some_and(|bound| bound > most) {
        return Err(reader.error("its bound is beyond the integers that there are"));
    }
    let nested = reader.nested()?;
    reader.finish()?;
    Ok((Label { length, zeros_behind, complex, bound }, expanded(scheme, flags, nested)?))
}
