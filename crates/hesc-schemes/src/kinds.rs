//! Identifiers of schemes, one for each thing that a parameter set can be of.

use std::fmt;

/// Declares the schemes over rings of many primes: identifier on the wire and name, a row each.
macro_rules! kinds {
    ($($(#[$about:meta])+ $kind:ident = $byte:literal, $name:literal;)+) => {
        /// The scheme of a parameter set over a ring.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum SchemeKind {
            $($(#[$about])+ $kind = $byte,)+
        }

        impl SchemeKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The scheme's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }
        }
    };
}

kinds! {
    /// Integers modulo `plain_modulus` in the upper bits (Brakerski 2012, Fan and Vercauteren 2012).
    Bfv = 1, "bfv";
    /// Integers modulo `plain_modulus` in the lower bits (Brakerski, Gentry and Vaikuntanathan 2012).
    Bgv = 2, "bgv";
    /// Approximate complex numbers (Cheon, Kim, Kim and Song 2017).
    Ckks = 3, "ckks";
}

impl SchemeKind {
    /// The scheme of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for SchemeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the wire form of a parameter set begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemeId {
    /// A scheme over a ring of many primes, for vectors or for blocks of bits.
    Ring(SchemeKind),
    /// Unipolar streams on the slots of BFV or BGV.
    UnipolarSlots,
    /// Bits that bootstrap.
    Tfhe,
    /// Goldwasser and Micali's.
    Gm,
    /// Lifted ElGamal.
    Elgamal,
    /// Multiplicative ElGamal.
    UnipolarElgamal,
    /// Counts in the clear.
    Plain,
    /// Bits in the clear.
    Simulated,
    /// Bits under one-time pads.
    Pad,
}

/// The bytes of those that are over no ring of many primes.
const OTHERS: [(SchemeId, u8); 8] = [
    (SchemeId::UnipolarSlots, 4),
    (SchemeId::Tfhe, 5),
    (SchemeId::Gm, 6),
    (SchemeId::Elgamal, 7),
    (SchemeId::UnipolarElgamal, 8),
    (SchemeId::Plain, 9),
    (SchemeId::Simulated, 10),
    (SchemeId::Pad, 11),
];

impl SchemeId {
    /// All with their bytes on the wire.
    fn all() -> impl Iterator<Item = (Self, u8)> {
        SchemeKind::ALL.iter().map(|kind| (Self::Ring(*kind), *kind as u8)).chain(OTHERS)
    }

    /// Its byte on the wire.
    pub(crate) fn byte(self) -> u8 {
        Self::all().find(|(id, _)| *id == self).map_or(0, |(_, byte)| byte)
    }

    /// The one with this byte.
    pub(crate) fn of_byte(byte: u8) -> Option<Self> {
        Self::all().find(|(_, own)| *own == byte).map(|(id, _)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_told_apart() {
        for (id, byte) in SchemeId::all() {
            assert_eq!((id.byte(), SchemeId::of_byte(byte)), (byte, Some(id)));
        }
        assert_eq!(SchemeId::of_byte(0), None);
        assert!(SchemeKind::ALL.iter().all(|kind| SchemeKind::named(kind.name()) == Some(*kind)));
    }
}
