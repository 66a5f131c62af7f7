//! Sets of the schemes with a ciphertext for each bit, as every build knows them: names, sizes and wire forms. The
//! schemes themselves come with the feature `classical`.

use crate::SchemeError;
use crate::kinds::SchemeId;
use crate::wire::{Kind, Reader, Writer};

/// Bits of a block: a word of the packed input.
pub const BLOCK_LENGTH: usize = 64;

/// Bytes of an element of ffdhe3072.
pub(crate) const FFDHE3072_BYTES: usize = 384;
/// Bytes of an element of ristretto255.
pub(crate) const RISTRETTO255_BYTES: usize = 32;
/// Bytes of a compressed point of secp256r1.
pub(crate) const SECP256R1_BYTES: usize = 33;

/// The groups that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupName {
    /// The squares modulo a safe prime of 3072 bits (RFC 7919), with short exponents.
    Ffdhe3072,
    /// The same with exponents as long as the order.
    Ffdhe3072FullExponents,
    /// The group ristretto255 (RFC 9496).
    Ristretto255,
    /// The curve secp256r1, NIST P-256.
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
            Self::Secp256r1 => SECP256R1_BYTES,
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

/// The wire form of Goldwasser and Micali's set of this size; still to be checked.
pub fn gm_bytes(modulus_bits: u32) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::Gm);
    writer.u32(modulus_bits);
    writer.finish()
}

/// The wire form of lifted ElGamal's set over a group for counts up to `max_count`; still to be checked.
pub fn elgamal_bytes(group: GroupName, max_count: u64) -> Vec<u8> {
    let [family, member] = group.identifier();
    let mut writer = Writer::params(SchemeId::Elgamal);
    writer.u32(family).u32(member).u64(max_count);
    writer.finish()
}

/// The wire form of multiplicative ElGamal's set over a group.
pub fn unipolar_elgamal_bytes(group: GroupName) -> Vec<u8> {
    let [family, member] = group.identifier();
    let mut writer = Writer::params(SchemeId::UnipolarElgamal);
    writer.u32(family).u32(member);
    writer.finish()
}
