use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Basis, Ciphertext, Rlwe, SeededCiphertext};
use hesc_schemes::wire::{Kind, Reader, Writer};

use super::{SEEDED, expanded};

/// What the slots of an odd ring hold; it travels with the ciphertext, for operations mean other things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Numbers, which Frobenius maps do not change.
    Numbers,
    /// Values whose coordinates in a basis are what counts.
    Values(Basis),
}

impl Content {
    const fn byte(self) -> u8 {
        match self {
            Self::Numbers => 0,
            Self::Values(Basis::Normal) => 1,
            Self::Values(Basis::Powers) => 2,
        }
    }

    fn frame(self, seeded: bool, ciphertext: &[u8]) -> Vec<u8> {
        let mut writer = Writer::with_capacity(Kind::Slots, ciphertext.len() + 16);
        writer.u8(self.byte() | if seeded { SEEDED } else { 0 }).nested(ciphertext);
        writer.finish()
    }
}

/// Wire form of a ciphertext and what its slots hold.
pub fn slots_to_bytes(scheme: &Rlwe, content: Content, a: &Ciphertext) -> Vec<u8> {
    content.frame(false, &scheme.ciphertext_to_bytes(a))
}

/// Wire form of a fresh one under the secret key, half the size.
pub fn seeded_slots_to_bytes(scheme: &Rlwe, content: Content, a: &SeededCiphertext) -> Vec<u8> {
    content.frame(true, &scheme.seeded_to_bytes(a))
}

/// Reads one, seeded or not; strict. What slots are said to hold is the sender's word, as the values are: a false
/// one gives other results, or a refusal when they are decoded.
///
/// # Errors
/// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`]; as
/// [`Rlwe::field_slots`].
pub fn slots_from_bytes(scheme: &Rlwe, bytes: &[u8]) -> Result<(Content, Ciphertext), SchemeError> {
    scheme.field_slots()?;
    let mut reader = Reader::open(bytes, Kind::Slots)?;
    let flags = reader.u8()?;
    let contents =
        [Content::Numbers, Content::Values(Basis::Normal), Content::Values(Basis::Powers)];
    let Some(content) = contents.into_iter().find(|content| content.byte() == flags & !SEEDED)
    else {
        return Err(reader.error("what it says of its slots is impossible"));
    };
    let nested = reader.nested()?;
    reader.finish()?;
    Ok((content, expanded(scheme, flags, nested)?))
}
