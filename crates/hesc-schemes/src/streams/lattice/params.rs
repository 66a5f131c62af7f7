use crate::rlwe::PlaintextSpace;
use crate::wire::{Kind, Reader, Writer};
use crate::{Assurance, Fingerprint, Packing, SchemeError};

/// An unchecked parameter set; [`super::Lattice::new`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// Coefficients of a polynomial, `N`.
    pub ring_degree: usize,
    /// Primes whose product is the ciphertext modulus, `q`.
    pub coeff_moduli: Vec<u64>,
    /// Where values sit.
    pub packing: Packing,
    /// What they are.
    pub plaintext: PlaintextSpace,
}

impl Spec {
    /// Bits of the ciphertext modulus.
    pub fn log2_modulus(&self) -> f64 {
        self.coeff_moduli.iter().map(|&q| (q as f64).log2()).sum()
    }

    /// The strongest assurance this set has.
    pub fn assurance(&self) -> Assurance {
        Assurance::of(self.ring_degree, self.log2_modulus())
    }

    /// The set's hash.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.to_bytes())
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(Kind::Params);
        writer.u32(self.ring_degree as u32);
        writer.u8(match self.packing {
            Packing::Coefficients => 0,
            Packing::Slots => 1,
            Packing::ComplexSlots => 2,
        });
        match self.plaintext {
            PlaintextSpace::Integers { plain_modulus } => writer.u8(0).u64(plain_modulus),
            PlaintextSpace::Approximate { scale } => writer.u8(1).f64(scale),
        };
        writer.u8(self.coeff_moduli.len() as u8);
        for &q in &self.coeff_moduli {
            writer.u64(q);
        }
        writer.finish()
    }

    /// Reads the wire form; the set is still to be checked.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for bytes that are no parameter set.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        let ring_degree = reader.u32()? as usize;
        let packing = match reader.u8()? {
            0 => Packing::Coefficients,
            1 => Packing::Slots,
            2 => Packing::ComplexSlots,
            _ => return Err(reader.error("the packing is unknown")),
        };
        let plaintext = match reader.u8()? {
            0 => PlaintextSpace::Integers { plain_modulus: reader.u64()? },
            1 => PlaintextSpace::Approximate { scale: reader.f64()? },
            _ => return Err(reader.error("the plaintext kind is unknown")),
        };
        let count = reader.u8()?;
        let coeff_moduli = (0..count).map(|_| reader.u64()).collect::<Result<_, _>>()?;
        reader.finish()?;
        Ok(Self { ring_degree, coeff_moduli, packing, plaintext })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(ring_degree: usize, coeff_moduli: &[u64]) -> Spec {
        Spec {
            ring_degree,
            coeff_moduli: coeff_moduli.to_vec(),
            packing: Packing::Coefficients,
            plaintext: PlaintextSpace::Integers { plain_modulus: 2 },
        }
    }

    #[test]
    fn assurance_follows_the_tables() {
        let prime = |bits| hesc_math::ntt_primes(bits, 1024, 1).unwrap()[0];
        assert_eq!(spec(1024, &[prime(26)]).assurance(), Assurance::Guidelines2024);
        assert_eq!(spec(1024, &[prime(27)]).assurance(), Assurance::HeStd2018);
        assert_eq!(spec(1024, &[prime(28)]).assurance(), Assurance::Insecure);
        assert_eq!(spec(512, &[prime(18)]).assurance(), Assurance::Insecure);
        assert_eq!(spec(2048, &[prime(26), prime(27)]).assurance(), Assurance::Guidelines2024);
        let log2_modulus = spec(1024, &[prime(27)]).log2_modulus();
        let error = Assurance::Guidelines2024.check(1024, log2_modulus);
        assert!(error.unwrap_err().to_string().contains("beyond the 26 bits"));
    }

    #[test]
    fn wire_form_returns() {
        let set = spec(1024, &[97, 193]);
        assert_eq!(Spec::from_bytes(&set.to_bytes()).unwrap(), set);
        assert_ne!(set.fingerprint(), spec(1024, &[97]).fingerprint());
    }
}
