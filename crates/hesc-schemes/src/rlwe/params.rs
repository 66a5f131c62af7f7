use std::fmt;

use hesc_math::RingIndex;

use super::prime_set::PrimeSet;
use crate::wire::SchemeId;
use crate::{Assurance, Fingerprint, SchemeError};

/// Primes of a set, in ciphertexts and keys: conversions keep as many in 128-bit sums.
const MOST_PRIMES: usize = 60;

/// The scheme of a parameter set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemeKind {
    /// Integers modulo `plain_modulus` in the upper bits (Brakerski 2012, Fan and Vercauteren 2012).
    Bfv,
    /// Integers modulo `plain_modulus` in the lower bits (Brakerski, Gentry and Vaikuntanathan 2012).
    Bgv,
    /// Approximate complex numbers (Cheon, Kim, Kim and Song 2017).
    Ckks,
}

impl SchemeKind {
    /// The scheme's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bfv => "bfv",
            Self::Bgv => "bgv",
            Self::Ckks => "ckks",
        }
    }

    pub(crate) const fn identifier(self) -> SchemeId {
        match self {
            Self::Bfv => SchemeId::Bfv,
            Self::Bgv => SchemeId::Bgv,
            Self::Ckks => SchemeId::Ckks,
        }
    }
}

impl fmt::Display for SchemeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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
    /// A set for streams of bits: BFV for integers, CKKS for approximate numbers.
    ///
    /// # Errors
    /// [`SchemeError::Math`] for a ring degree that is no power of two within bounds.
    pub fn streams(
        ring_degree: usize,
        coeff_moduli: Vec<u64>,
        packing: Packing,
        plaintext: PlaintextSpace,
    ) -> Result<Self, SchemeError> {
        let ring = RingIndex::power_of_two(ring_degree)?;
        let scheme = match plaintext {
            PlaintextSpace::Integers { .. } => SchemeKind::Bfv,
            PlaintextSpace::Approximate { .. } => SchemeKind::Ckks,
        };
        let (levels, special_moduli, packing) = (Vec::new(), Vec::new(), Some(packing));
        let bound = 1.0;
        Ok(Self { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing })
    }

    /// The factor on all noise: `t` in BGV, whose plaintexts lie below it.
    pub(crate) fn noise_factor(&self) -> u64 {
        match self.scheme {
            SchemeKind::Bgv => self.plaintext.modulus(),
            SchemeKind::Bfv | SchemeKind::Ckks => 1,
        }
    }

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

    /// Where the bits of a block of streams sit.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for sets that encrypt vectors, and for what streams do not have.
    pub(crate) fn check_streams(&self) -> Result<Packing, SchemeError> {
        let refuse =
            |name, value: String, remedy| Err(SchemeError::Parameter { name, value, remedy });
        if !self.ring.is_power_of_two() {
            return refuse("ring", self.ring.value().to_string(), "take a power-of-two ring");
        }
        let Some(packing) = self.packing else {
            return refuse("packing", "none".into(), "say where the bits of a block sit");
        };
        let integers = matches!(self.plaintext, PlaintextSpace::Integers { .. });
        if self.scheme != if integers { SchemeKind::Bfv } else { SchemeKind::Ckks } {
            return refuse(
                "scheme",
                self.scheme.to_string(),
                "streams have BFV for integers and CKKS for approximate numbers",
            );
        }
        if !self.special_moduli.is_empty() || self.bound != 1.0 {
            return refuse(
                "special_moduli",
                format!("{:?}, bound {}", self.special_moduli, self.bound),
                "give none, and a bound of 1: bits are added, and no keys switched",
            );
        }
        Ok(packing)
    }

    /// What needs no tables to be refused, for vectors.
    pub(crate) fn check_vectors(&self) -> Result<(), SchemeError> {
        let refuse =
            |name, value: String, remedy| Err(SchemeError::Parameter { name, value, remedy });
        if let Some(packing) = self.packing {
            return refuse(
                "packing",
                packing.to_string(),
                "give none for vectors; sets with a packing encrypt streams",
            );
        }
        if self.coeff_moduli.is_empty() {
            return refuse("coeff_moduli", "[]".into(), "give at least one prime");
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
        let ckks = self.scheme == SchemeKind::Ckks;
        if ckks && !self.ring.is_power_of_two() {
            return refuse(
                "ring",
                self.ring.value().to_string(),
                "the slots of CKKS are those of a power-of-two ring; take one",
            );
        }
        if !(self.bound > 0.0 && self.bound.is_finite()) || (!ckks && self.bound != 1.0) {
            return refuse(
                "bound",
                self.bound.to_string(),
                "choose a positive number for CKKS; integers have the range of plain_modulus",
            );
        }
        match (self.scheme, self.plaintext) {
            (SchemeKind::Ckks, PlaintextSpace::Approximate { scale }) => {
                if !(scale > 1.0 && scale.log2() < self.log2_modulus() - 2.0) {
                    return refuse(
                        "scale",
                        scale.to_string(),
                        "choose one above 1 and below a quarter of the modulus",
                    );
                }
            }
            (SchemeKind::Bfv | SchemeKind::Bgv, PlaintextSpace::Integers { plain_modulus }) => {
                let smallest = primes.iter().min().copied().unwrap_or(0);
                if plain_modulus < 2 || plain_modulus >= smallest {
                    return refuse(
                        "plain_modulus",
                        plain_modulus.to_string(),
                        "choose at least 2 and less than every prime of the ciphertext modulus",
                    );
                }
                if primes.iter().any(|q| q.is_multiple_of(plain_modulus)) {
                    return refuse(
                        "plain_modulus",
                        plain_modulus.to_string(),
                        "it must not divide the ciphertext modulus",
                    );
                }
            }
            (SchemeKind::Ckks, _) => {
                return refuse(
                    "plaintext",
                    "integers".into(),
                    "CKKS has a scale; BFV has integers",
                );
            }
            _ => {
                return refuse(
                    "plaintext",
                    "approximate".into(),
                    "BFV and BGV have a plain_modulus; CKKS has approximate numbers",
                );
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
