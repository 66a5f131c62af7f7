//! Parameter sets by name: one table of all there are.
//!
//! Names that begin with `hestd2018_` meet the 2018 standard only, names that begin with `insecure_` no
//! standard for 128 bits; all others the 2024 guidelines or, where factors or logarithms are the secret,
//! 128 bits against classical computers as NIST SP 800-57 counts them.

mod table;

use hesc_math::RingIndex;
use hesc_math::finite_field::slot_degree;

use crate::kinds::SchemeId;
use crate::rlwe::{Packing, PlaintextSpace, PrimeSet, SchemeKind, Spec};
use crate::streams::classical_sets::{self, BLOCK_LENGTH, GroupName};
use crate::streams::{pad, unipolar};
use crate::wire::Reader;
use crate::{Assurance, SchemeError};

pub use table::PRESETS;

/// A named parameter set.
#[derive(Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    assurance: Assurance,
    set: Set,
}

/// Primes as runs of one size: bits, and how many.
type Runs = &'static [(u32, usize)];

/// What vectors of a scheme have in all rings of the table.
#[derive(Debug, Clone, Copy)]
struct Vectors {
    scheme: SchemeKind,
    numbers: Numbers,
    /// Whether runs of primes after the first are small ones, of which levels have any combination: steps of
    /// about any size. Otherwise a level has a prime more than the one below.
    steps: bool,
    /// Whether all primes of ciphertexts are 1 modulo the plaintext modulus, so that no level changes the factor on
    /// plaintexts: what circuits on slots need.
    keeps_factor: bool,
}

/// What plaintexts are.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    /// Integers modulo the largest prime of so many bits with slots.
    PrimeOfBits(u32),
    /// Integers modulo this number.
    Modulo(u64),
    /// Approximate numbers with the size of the last prime as their scale.
    Scaled,
}

/// What a preset fixes; the rest follows.
#[derive(Debug)]
enum Set {
    /// Blocks of bits that add.
    Lattice {
        ring_degree: usize,
        coeff_moduli: &'static [u64],
        packing: Packing,
        plaintext: PlaintextSpace,
    },
    /// Vectors of numbers: in a power-of-two ring, whose index is twice its degree, or in slots of an odd one.
    Vectors { of: Vectors, index: usize, coeff: Runs, special: Runs },
    /// Bits in slots, which multiply.
    UnipolarSlots { of: Vectors, index: usize, coeff: Runs },
    /// Bits that bootstrap: the ring's degree and the small dimension, `log2` of the noise of each, and bits of
    /// a digit and digits of bootstrap, key switch and packing.
    Tfhe { dimensions: [usize; 2], log2_noise: [f64; 2], digits: [(u32, u32); 3] },
    /// A residue for each bit.
    Gm { modulus_bits: u32 },
    /// A bit for each bit.
    Pad { block_length: usize },
    /// A pair of group elements for each bit: lifted up to a largest count, multiplicative without one.
    Elgamal { group: GroupName, max_count: Option<u64> },
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset with this wire form; vectors may have any bound. Cost: a search for primes at most.
    pub fn of(bytes: &[u8]) -> Option<&'static Self> {
        let scheme = Reader::scheme_of(bytes).ok()?;
        let spec = Spec::from_bytes(bytes).ok().map(|spec| Spec { bound: 1.0, ..spec });
        let bytes = spec.as_ref().map_or_else(|| bytes.to_vec(), Spec::to_bytes);
        let alike = |preset: &&Self| {
            let of_ring = |spec: &Spec| preset.ring_degree() == Some(spec.ring_degree());
            preset.scheme() == scheme && spec.as_ref().is_none_or(of_ring)
        };
        let same = |preset: &&Self| preset.to_bytes().is_ok_and(|other| other == bytes);
        PRESETS.iter().filter(alike).find(same)
    }

    /// The scheme.
    pub fn scheme(&self) -> SchemeId {
        match &self.set {
            Set::Lattice { plaintext: PlaintextSpace::Approximate { .. }, .. } => {
                SchemeId::Ring(SchemeKind::Ckks)
            }
            Set::Lattice { .. } => SchemeId::Ring(SchemeKind::Bfv),
            Set::Vectors { of, .. } => SchemeId::Ring(of.scheme),
            Set::UnipolarSlots { .. } => SchemeId::UnipolarSlots,
            Set::Tfhe { .. } => SchemeId::Tfhe,
            Set::Gm { .. } => SchemeId::Gm,
            Set::Pad { .. } => SchemeId::Pad,
            Set::Elgamal { max_count: Some(_), .. } => SchemeId::Elgamal,
            Set::Elgamal { max_count: None, .. } => SchemeId::UnipolarElgamal,
        }
    }

    /// What a lattice's set must reach, as its name says.
    pub fn assurance(&self) -> Assurance {
        self.assurance
    }

    /// Whether it encrypts vectors of numbers; all others encrypt streams of bits.
    pub fn is_for_vectors(&self) -> bool {
        matches!(self.set, Set::Vectors { .. })
    }

    /// Coefficients of a polynomial; none without a ring.
    pub fn ring_degree(&self) -> Option<usize> {
        match self.set {
            Set::Vectors { index, .. } | Set::UnipolarSlots { index, .. } => {
                RingIndex::new(index).ok().map(RingIndex::degree)
            }
            Set::Lattice { ring_degree, .. } | Set::Tfhe { dimensions: [ring_degree, _], .. } => {
                Some(ring_degree)
            }
            Set::Gm { .. } | Set::Pad { .. } | Set::Elgamal { .. } => None,
        }
    }

    /// Bits in a block, or numbers in a vector.
    pub fn slots(&self) -> usize {
        match self.set {
            Set::Vectors { of, index, .. } | Set::UnipolarSlots { of, index, .. } => {
                of.slots(index)
            }
            Set::Lattice {
                plaintext: PlaintextSpace::Approximate { .. },
                packing: Packing::Slots,
                ring_degree,
                ..
            } => ring_degree / 2,
            // Two bits in each complex slot are as many as coefficients.
            Set::Lattice { ring_degree, .. } | Set::Tfhe { dimensions: [ring_degree, _], .. } => {
                ring_degree
            }
            Set::Pad { block_length } => block_length,
            Set::Gm { .. } | Set::Elgamal { .. } => BLOCK_LENGTH,
        }
    }

    /// Bytes of a fresh block or vector on the wire, but for a frame of a hundred bytes or two.
    pub fn ciphertext_bytes(&self) -> usize {
        match &self.set {
            Set::Lattice { ring_degree, coeff_moduli, .. } => {
                2 * ring_degree * coeff_moduli.iter().map(|q| bits_of(*q)).sum::<usize>() / 8
            }
            Set::Vectors { coeff, .. } | Set::UnipolarSlots { coeff, .. } => {
                2 * self.ring_degree().unwrap_or(0) * bits_in(coeff) / 8
            }
            Set::Tfhe { dimensions: [ring_degree, _], .. } => 2 * ring_degree * 8,
            Set::Gm { modulus_bits } => BLOCK_LENGTH * *modulus_bits as usize / 8,
            Set::Pad { block_length } => block_length / 8,
            Set::Elgamal { group, .. } => BLOCK_LENGTH * 2 * group.element_bytes(),
        }
    }

    /// Bytes of a switching key, of which products need one and each rotation another; none where nothing
    /// switches keys. Half of a key is a seed.
    pub fn switching_key_bytes(&self) -> Option<usize> {
        let Set::Vectors { coeff, special, .. } = self.set else { return None };
        let ring_degree = self.ring_degree()?;
        let primes = |runs: Runs| runs.iter().map(|run| run.1).sum::<usize>();
        let digits = primes(coeff).div_ceil(primes(special));
        Some(digits * ring_degree * (bits_in(coeff) + bits_in(special)) / 8)
    }

    /// The set for vectors, still to be checked. `bound` is what vectors of CKKS stay within unless an
    /// encryption declares another; 1 in the other schemes. None for streams.
    ///
    /// # Errors
    /// None for the sets of the table: their primes exist.
    pub fn vectors(&self, bound: f64) -> Result<Option<Spec>, SchemeError> {
        let Set::Vectors { of, index, coeff, special } = self.set else {
            return Ok(None);
        };
        of.spec(index, coeff, special, bound).map(Some)
    }

    /// The wire form, of a set for vectors with a bound of 1.
    ///
    /// # Errors
    /// None for the sets of the table, but in builds without the feature `tfhe` [`SchemeError::Parameter`]
    /// for its sets.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SchemeError> {
        Ok(match &self.set {
            Set::Lattice { ring_degree, coeff_moduli, packing, plaintext } => {
                Spec::streams(*ring_degree, coeff_moduli.to_vec(), *packing, *plaintext)?.to_bytes()
            }
            Set::Vectors { of, index, coeff, special } => {
                of.spec(*index, coeff, special, 1.0)?.to_bytes()
            }
            Set::UnipolarSlots { of, index, coeff } => {
                unipolar::slots::spec_bytes(&of.spec(*index, coeff, &[], 1.0)?)
            }
            Set::Tfhe { dimensions, log2_noise, digits } => {
                tfhe(*dimensions, *log2_noise, *digits)?
            }
            Set::Gm { modulus_bits } => classical_sets::gm_bytes(*modulus_bits),
            Set::Pad { block_length } => pad::spec_bytes(*block_length),
            Set::Elgamal { group, max_count: Some(most) } => {
                classical_sets::elgamal_bytes(*group, *most)
            }
            Set::Elgamal { group, max_count: None } => {
                classical_sets::unipolar_elgamal_bytes(*group)
            }
        })
    }
}

fn bits_of(modulus: u64) -> usize {
    modulus.ilog2() as usize + 1
}

fn bits_in(runs: Runs) -> usize {
    runs.iter().map(|&(bits, count)| bits as usize * count).sum()
}

impl Vectors {
    /// Numbers in a vector. Copies of one plaintext modulo a prime in an odd ring are as many as its order modulo the
    /// index goes into the degree.
    fn slots(self, index: usize) -> usize {
        let degree = RingIndex::new(index).map_or(0, RingIndex::degree);
        match self.numbers {
            Numbers::Scaled => degree / 2,
            Numbers::Modulo(prime) if index % 2 == 1 => {
                let of_slot = |ring| slot_degree(ring, prime);
                degree / RingIndex::new(index).ok().and_then(of_slot).unwrap_or(1)
            }
            Numbers::PrimeOfBits(_) | Numbers::Modulo(_) => degree,
        }
    }

    /// A set with the largest primes of these sizes. The largest of all are the special ones: digits must not
    /// exceed them.
    fn spec(
        self,
        index: usize,
        coeff: Runs,
        special: Runs,
        bound: f64,
    ) -> Result<Spec, SchemeError> {
        let (ring, scheme) = (RingIndex::new(index)?, self.scheme);
        let sizes =
            |runs: Runs| runs.iter().flat_map(|&(bits, count)| std::iter::repeat_n(bits, count));
        let bits: Vec<u32> = sizes(special).chain(sizes(coeff)).collect();
        let factor = match self.numbers {
            Numbers::Modulo(plain_modulus) if self.keeps_factor => plain_modulus,
            _ => 1,
        };
        let mut special_moduli = ring.ntt_primes_of_bits(&bits, factor)?;
        let coeff_moduli = special_moduli.split_off(sizes(special).count());
        let modulo = |plain_modulus| PlaintextSpace::Integers { plain_modulus };
        let plaintext = match self.numbers {
            Numbers::PrimeOfBits(bits) => modulo(ring.ntt_primes(bits, 1)?[0]),
            Numbers::Modulo(plain_modulus) => modulo(plain_modulus),
            Numbers::Scaled => {
                let bits = sizes(coeff).last().unwrap_or_default();
                PlaintextSpace::Approximate { scale: f64::from(bits).exp2() }
            }
        };
        let levels = match coeff {
            [(_, large), _, ..] if self.steps => PrimeSet::combinations(&coeff_moduli, *large)?,
            _ => Vec::new(),
        };
        let packing = None;
        Ok(Spec { scheme, ring, coeff_moduli, levels, special_moduli, plaintext, bound, packing })
    }
}

#[cfg(feature = "tfhe")]
fn tfhe(
    dimensions: [usize; 2],
    log2_noise: [f64; 2],
    digits: [(u32, u32); 3],
) -> Result<Vec<u8>, SchemeError> {
    Ok(crate::streams::tfhe::Spec::of(dimensions, log2_noise, digits).to_bytes())
}

#[cfg(not(feature = "tfhe"))]
fn tfhe(_: [usize; 2], _: [f64; 2], _: [(u32, u32); 3]) -> Result<Vec<u8>, SchemeError> {
    Err(SchemeError::left_out("tfhe"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlwe::Rlwe;

    /// Names are unique, bytes lead back to names, and lattices reach what their names say.
    #[test]
    fn names_and_sets_belong_together() {
        for preset in &PRESETS {
            assert!(std::ptr::eq(Preset::named(preset.name).unwrap(), preset), "{}", preset.name);
            let said = match preset.name.split('_').next() {
                Some("insecure") => Assurance::Insecure,
                Some("hestd2018") => Assurance::HeStd2018,
                _ => Assurance::Guidelines2024,
            };
            assert_eq!(preset.assurance(), said, "{}", preset.name);
            if preset.scheme() == SchemeId::Tfhe && cfg!(not(feature = "tfhe")) {
                assert!(preset.to_bytes().unwrap_err().to_string().contains("tfhe"));
                continue;
            }
            let bytes = preset.to_bytes().unwrap();
            assert_eq!(Reader::scheme_of(&bytes).unwrap(), preset.scheme());
            assert!(std::ptr::eq(Preset::of(&bytes).unwrap(), preset), "{}", preset.name);
            if let Ok(spec) = Spec::from_bytes(&bytes) {
                assert_eq!(spec.assurance(), preset.assurance(), "{}", preset.name);
                assert_eq!(spec.packing.is_none(), preset.is_for_vectors());
            }
        }
    }

    /// Another bound is the same preset, another prime none.
    #[test]
    fn sets_of_ones_own_have_no_name() {
        let preset = Preset::named("ckks_4096").unwrap();
        let mut spec = preset.vectors(8.0).unwrap().unwrap();
        let bytes = spec.to_bytes();
        assert_eq!(Preset::of(&bytes).unwrap().name, preset.name);
        spec.coeff_moduli.pop();
        assert!(Preset::of(&spec.to_bytes()).is_none());
        assert!(Preset::of(&bytes[1..]).is_none());
    }

    /// Sizes are those of the wire, but for frames.
    #[test]
    fn vectors_have_the_sizes_stated() {
        for name in ["bfv_4096", "bgv_8192", "ckks_8192", "bgv_4369", "bgv_6529"] {
            let preset = Preset::named(name).unwrap();
            let spec = Spec::from_bytes(&preset.to_bytes().unwrap()).unwrap();
            let scheme = Rlwe::new(spec, preset.assurance()).unwrap();
            let mut rng = rand_core::SeedableRng::from_seed([1; 32]);
            let rng: &mut hesc_math::AesCtrRng = &mut rng;
            let (secret, public) = scheme.generate_keys(rng);
            let plaintext = match scheme.scheme() {
                SchemeKind::Ckks => {
                    scheme.encode_bounded(&[], scheme.default_scale(), scheme.levels(), 1.0)
                }
                _ => scheme.encode_integers(&[1]),
            };
            let fresh = scheme.encrypt(&public, &plaintext.unwrap(), rng).unwrap();
            let key = scheme.generate_relin_key(&secret, rng).unwrap();
            let bytes = [
                (scheme.ciphertext_to_bytes(&fresh), preset.ciphertext_bytes()),
                (scheme.relin_key_to_bytes(&key), preset.switching_key_bytes().unwrap()),
            ];
            for (wire, stated) in bytes {
                let sizes = stated..stated + 200;
                assert!(sizes.contains(&wire.len()), "{name}: {} for {stated}", wire.len());
            }
            assert_eq!(scheme.slot_count(), preset.slots());
        }
    }
}
