use hesc_math::secp256r1;

use crate::SchemeError;
use crate::kinds::SchemeId;
use crate::wire::{Kind, Reader};

/// Bytes of an element of ffdhe3072.
pub(super) const FFDHE3072_BYTES: usize = 384;
/// Bytes of an element of ristretto255.
pub(super) const RISTRETTO255_BYTES: usize = 32;

/// The groups that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupName {
    /// [`super::Ffdhe3072`] with short exponents.
    Ffdhe3072,
    /// [`super::Ffdhe3072`] with exponents as long as the order.
    Ffdhe3072FullExponents,
    /// [`super::Ristretto255`].
    Ristretto255,
    /// [`super::Secp256r1`].
    Secp256r1,
}

impl GroupName {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Ffdhe3072, Self::Ffdhe3072FullExponents, Self::Ristretto255, Self::Secp256r1];

    /// The name in the interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ffdhe3072 => "ffdhe3072",
            Self::Ffdhe3072FullExponents => "ffdhe3072_full_exponents",
            Self::Ristretto255 => "ristretto255",
            Self::Secp256r1 => "secp256r1",
        }
    }

    /// Bytes of an element.
    pub(crate) const fn element_bytes(self) -> usize {
        match self {
            Self::Ffdhe3072 | Self::Ffdhe3072FullExponents => FFDHE3072_BYTES,
            Self::Ristretto255 => RISTRETTO255_BYTES,
            Self::Secp256r1 => secp256r1::ENCODED_BYTES,
        }
    }

    /// Family and member in wire forms.
    pub(crate) const fn identifier(self) -> [u32; 2] {
        match self {
            Self::Ristretto255 => [1, 1],
            Self::Secp256r1 => [1, 2],
            // The bits of an exponent.
            Self::Ffdhe3072 => [3, 280],
            Self::Ffdhe3072FullExponents => [3, 3200],
        }
    }

    /// The group that a parameter set of either of ElGamal's schemes is over.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes and for groups that are not known.
    pub fn of_set(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        if !matches!(reader.scheme()?, SchemeId::Elgamal | SchemeId::UnipolarElgamal) {
            return Err(reader.error("it is the set of another scheme"));
        }
        let identifier = [reader.u32()?, reader.u32()?];
        let found = Self::ALL.into_iter().find(|group| group.identifier() == identifier);
        found.ok_or_else(|| reader.error("the group is unknown"))
    }
}
