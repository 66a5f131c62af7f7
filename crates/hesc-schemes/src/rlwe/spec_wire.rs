//! The wire form of parameter sets.

use hesc_math::RingIndex;
use hesc_math::residues::MAX_PRIME_BITS;

use super::{Packing, PlaintextSpace, PrimeSet, Spec};
use crate::SchemeError;
use crate::kinds::SchemeId;
use crate::wire::{Kind, Reader, Writer};

/// What stands in the place of the packing where levels are listed.
const LEVELS: u8 = 4;

impl Spec {
    /// Wire form. A ring is its degree if that is a power of two, and its odd index otherwise.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::params(SchemeId::Ring(self.scheme));
        let power_of_two = self.ring.is_power_of_two();
        let ring = if power_of_two { self.ring.degree() } else { self.ring.value() };
        writer.u32(ring as u32).u8(match self.packing {
            None if self.levels.is_empty() => 0,
            None => LEVELS,
            Some(Packing::Coefficients) => 1,
            Some(Packing::Slots) => 2,
            Some(Packing::ComplexSlots) => 3,
        });
        match self.plaintext {
            PlaintextSpace::Integers { plain_modulus } => writer.u8(0).u64(plain_modulus),
            PlaintextSpace::Approximate { scale } => writer.u8(1).f64(scale),
        };
        writer.f64(self.bound);
        for primes in [&self.coeff_moduli, &self.special_moduli] {
            writer.u8(primes.len() as u8);
            for &q in primes {
                writer.u64(q);
            }
        }
        if !self.levels.is_empty() {
            writer.u8(self.levels.len() as u8);
            for level in &self.levels {
                writer.u64(level.bits());
            }
        }
        writer.finish()
    }

    /// Reads the wire form; the set is still to be checked.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for bytes that are no parameter set, [`SchemeError::Math`] for a ring that
    /// does not exist.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        let SchemeId::Ring(scheme) = reader.scheme()? else {
            return Err(reader.error("it is the set of another scheme"));
        };
        let ring = match reader.u32()? as usize {
            odd if odd % 2 == 1 => RingIndex::new(odd)?,
            ring_degree => RingIndex::power_of_two(ring_degree)?,
        };
        let form = reader.u8()?;
        let packing = match form {
            0 | LEVELS => None,
            1 => Some(Packing::Coefficients),
            2 => Some(Packing::Slots),
            3 => Some(Packing::ComplexSlots),
            _ => return Err(reader.error("the packing is unknown")),
        };
        let plaintext = match reader.u8()? {
            0 => PlaintextSpace::Integers { plain_modulus: reader.u64()? },
            1 => PlaintextSpace::Approximate { scale: reader.f64()? },
            _ => return Err(reader.error("the plaintext kind is unknown")),
        };
        let bound = reader.f64()?;
        let mut primes = || {
            let count = reader.u8()?;
            (0..count).map(|_| reader.u64()).collect::<Result<Vec<_>, _>>()
        };
        let (coeff_moduli, special_moduli) = (primes()?, primes()?);
        if coeff_moduli.iter().chain(&special_moduli).any(|q| q >> MAX_PRIME_BITS != 0) {
            return Err(reader.error("a prime is too large"));
        }
        let mut levels = Vec::new();
        if form == LEVELS {
            for _ in 0..reader.u8()? {
                levels.push(PrimeSet::from_bits(reader.u64()?));
            }
            if levels.is_empty() {
                return Err(reader.error("it lists levels and has none"));
            }
        }
        reader.finish()?;
        Ok(Self { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing })
    }
}
