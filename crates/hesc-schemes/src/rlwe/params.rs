use std::fmt;

use hesc_math::RingIndex;

use super::prime_set::PrimeSet;
use crate::error::refuse;
use crate::kinds::SchemeKind;
use crate::{Assurance, Fingerprint, SchemeError};

/// Primes of a set, in ciphertexts and keys: conversions keep as many in 128-bit sums.
const MOST_PRIMES: usize = 60;

/// What the plaintexts are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlaintextSpace {
    /// Integers modulo `plain_modulus`, from 2 and below every prime (2^25 for streams): BFV and BGV.
    Integers {
        /// The plaintext modulus, `t`.
        plain_modulus: u64,
    },
    /// Approximate numbers, a count of one being `scale`: CKKS.
    Approximate {
        /// The scale of fresh ciphertexts, a power of two or any number above 1.
        scale: f64,
    },
}

impl PlaintextSpace {
    /// The plaintext modulus; 1 for approximate numbers.
    pub fn modulus(self) -> u64 {
        match self {
            Self::Integers { plain_modulus } => plain_modulus,
            Self::Approximate { .. } => 1,
        }
    }

    /// The scale; 1 for integers.
    pub fn scale(self) -> f64 {
        match self {
            Self::Integers { .. } => 1.0,
            Self::Approximate { scale } => scale,
        }
    }
}

/// Where the bits of a block sit in the plaintext polynomial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// In its coefficients: any plaintext modulus, cheapest; no position-wise products.
    Coefficients,
    /// In its slots (evaluations): position-wise products with masks are possible.
    Slots,
    /// CKKS only: in the real *and* the imaginary parts of the slots, two values a slot; no
    /// position-wise products.
    ComplexSlots,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Coefficients => "coefficients",
            Self::Slots => "slots",
            Self::ComplexSlots => "complex slots",
        })
    }
}

/// An unchecked parameter set: [`super::Rlwe::new`] checks one for vectors, `Lattice::new` one for streams of
/// bits.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The scheme.
    pub scheme: SchemeKind,
    /// The ring; CKKS wants a power of two.
    pub ring: RingIndex,
    /// Primes whose product is the modulus of fresh ciphertexts; the last is dropped first, unless there are
    /// levels.
    pub coeff_moduli: Vec<u64>,
    /// BFV and BGV: the primes of each level, from the smallest modulus to that of fresh ciphertexts, which has
    /// all. Primes that a level above has not may join one below, so that a step has the bits that a circuit needs
    /// and not those of a prime. Without any, level `l` has the first `l` primes.
    pub levels: Vec<PrimeSet>,
    /// Primes that keys have beyond that (Han and Ki 2020): key switching cuts a ciphertext in
    /// digits of as many primes. Without any there is no key switching.
    pub special_moduli: Vec<u64>,
    /// What plaintexts are.
    pub plaintext: PlaintextSpace,
    /// CKKS: what the absolute values of encrypted numbers stay within, unless an encryption declares
    /// another bound. It travels with ciphertexts, hence is agreed upon and never taken from the
    /// numbers. 1 in the other schemes.
    pub bound: f64,
    /// Streams of bits, which only add, and where the bits of a block sit; none for vectors of numbers,
    /// which multiply and rotate.
    pub packing: Option<Packing>,
}

impl Spec {
    /// Coefficients of a polynomial, `N`.
    pub fn ring_degree(&self) -> usize {
        self.ring.degree()
    }

    /// Bits of the modulus of fresh ciphertexts.
    pub fn log2_modulus(&self) -> f64 {
        self.coeff_moduli.iter().map(|&q| (q as f64).log2()).sum()
    }

    /// Bits of the modulus of keys, which is what security depends on.
    pub fn log2_key_modulus(&self) -> f64 {
        self.log2_modulus() + self.special_moduli.iter().map(|&p| (p as f64).log2()).sum::<f64>()
    }

    /// The strongest assurance this set has.
    pub fn assurance(&self) -> Assurance {
        Assurance::of(self.ring_degree(), self.log2_key_modulus())
    }

    /// The set's hash.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.to_bytes())
    }

    /// What needs no tables to be refused, for vectors.
    pub(crate) fn check_vectors(&self) -> Result<(), SchemeError> {
        if let Some(packing) = self.packing {
            return refuse(
                "packing",
                packing.to_string(),
                "give none for vectors; sets with a packing encrypt streams",
            );
        }
        if self.coeff_moduli.is_empty() {
            return refuse("coeff_moduli", "[]", "give at least one prime");
        }
        if self.coeff_moduli.len() + self.special_moduli.len() > MOST_PRIMES {
            return refuse(
                "coeff_moduli",
                self.coeff_moduli.len().to_string(),
                "give at most 60 primes in all; larger ones are fewer",
            );
        }
        self.check_levels()?;
        // More special primes than others only make keys larger.
        if self.special_moduli.len() > self.coeff_moduli.len() {
            return refuse(
                "special_moduli",
                self.special_moduli.len().to_string(),
                "give at most as many as coeff_moduli",
            );
        }
        let primes: Vec<u64> =
            self.coeff_moduli.iter().chain(&self.special_moduli).copied().collect();
        for (i, q) in primes.iter().enumerate() {
            if primes[..i].contains(q) {
                return Err(hesc_math::MathError::RepeatedModulus { modulus: *q }.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(ring_degree: usize, coeff_moduli: &[u64]) -> Spec {
        let plaintext = PlaintextSpace::Integers { plain_modulus: 2 };
        Spec::streams(ring_degree, coeff_moduli.to_vec(), Packing::Coefficients, plaintext).unwrap()
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
