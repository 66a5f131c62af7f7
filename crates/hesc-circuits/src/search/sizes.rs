//! Rings, primes, levels and bits of what travels, and what noise does there.

use hesc_math::residues::packed;
use hesc_schemes::rlwe::RingProducts;
use hesc_schemes::rlwe::noise::{
    TAILS, expansion_square, secret_key_deviation, switch_square, truncation_reach_square,
};
use hesc_schemes::wire::{Writer, packed as packed_bytes};
use hesc_schemes::{Assurance, SchemeError};

use super::declared::Declared;
use crate::plans::{Derived, FRAME, SEED};

/// Ring degrees that plans choose among.
const RING_DEGREES: [usize; 4] = [1024, 2048, 4096, 8192];
/// Bits of the prime of ciphertexts: those of packed words, which is memory, each for itself.
const PRIME_BITS: std::ops::RangeInclusive<u32> = 20..=packed::MOST_BITS;
/// Bits of the special prime that switches keys.
pub(super) const SPECIAL_BITS: u32 = 50;
/// Levels of expansion, at most: from there further ciphertexts cost less than their noise.
const MOST_LEVELS: u32 = 8;
/// The share of half a step between scores that noise may take.
pub(super) const LIMIT: f64 = 0.875;
/// The primes of fewest bits are taken whose bytes are within this of the fewest: memory and time go by their bits.
const SLACK: f64 = 1.05;

/// What follows from what is declared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    pub ring_degree: usize,
    pub prime_bits: u32,
    /// Levels of expansion; none without keys.
    pub levels: u32,
    /// Ciphertexts of a query.
    pub ciphertexts: usize,
    /// What a step between scores is multiplied with.
    pub scale: u64,
    /// Bits of a coefficient of an answer's second parts.
    pub bits: u32,
    /// Bits of a number of its first parts, whose rounding is not multiplied with the secret.
    pub number_bits: u32,
    /// The sub-Gaussian parameter, squared, of the noise of a score before it is rounded.
    pub square: f64,
}

/// A ring and its primes.
#[derive(Clone, Copy)]
struct Set {
    ring_degree: usize,
    prime_bits: u32,
    modulus: u64,
    special: Option<u64>,
}

impl Sizes {
    /// Of the fewest bytes of a query and the answer of a full index.
    pub fn smallest(declared: &Declared) -> Result<Option<Self>, SchemeError> {
        let mut best: Option<(f64, Self)> = None;
        for ring_degree in RING_DEGREES {
            if let Some((bytes, found)) = Self::of_ring(declared, ring_degree)?
                && best.as_ref().is_none_or(|(least, _)| bytes < *least)
            {
                best = Some((bytes, found));
            }
        }
        Ok(best.map(|(_, found)| found))
    }

    /// In one ring, by as many levels as bring a query to one ciphertext where there is room for their noise.
    fn of_ring(
        declared: &Declared,
        ring_degree: usize,
    ) -> Result<Option<(f64, Self)>, SchemeError> {
        let special_bits = if declared.expanded { SPECIAL_BITS } else { 0 };
        let secure = |bits: &u32| {
            let all = f64::from(bits + special_bits);
            Assurance::of(ring_degree, all) == Assurance::Guidelines2024
        };
        let modulus = |bits| RingProducts::modulus_of_size(ring_degree, bits);
        let special = declared.expanded.then(|| modulus(SPECIAL_BITS)).transpose()?;
        let mut sets = Vec::new();
        for prime_bits in PRIME_BITS.filter(secure) {
            let modulus = modulus(prime_bits)?;
            sets.push(Set { ring_degree, prime_bits, modulus, special });
        }
        let wanted = declared.dimensions.next_power_of_two().ilog2().clamp(1, MOST_LEVELS);
        let levels = if declared.expanded { 1..=wanted } else { 0..=0 };
        for levels in levels.rev() {
            let found: Vec<(f64, Self)> = sets
                .iter()
                .filter_map(|set| Self::of(declared, *set, levels))
                .map(|sizes| (sizes.traffic(declared), sizes))
                .collect();
            let least = found.iter().map(|(bytes, _)| *bytes).fold(f64::INFINITY, f64::min);
            let first = found.into_iter().find(|(bytes, _)| *bytes <= SLACK * least);
            if first.is_some() {
                return Ok(first);
            }
        }
        Ok(None)
    }

    /// In a set, with answers of the fewest bytes, if there is room.
    fn of(declared: &Declared, set: Set, levels: u32) -> Option<Self> {
        let Set { ring_degree, prime_bits, modulus, special } = set;
        // Scores are within their bound, and noise within half a step of them.
        let steps = 2 * declared.bound() / declared.step() + 2;
        let scale = modulus / steps / declared.step() * declared.step();
        let limit = LIMIT / 2.0 * scale as f64;
        let of_constant = match special {
            None => secret_key_deviation().powi(2),
            Some(special) => expansion_square(levels, ring_degree, modulus, special),
        };
        // A coefficient of a sum of products: a record each, every one of them as long as may be.
        let [_, record] = declared.squares();
        let of_sharing = match special {
            Some(special) if declared.shared > 1 => {
                switch_square(declared.shared as usize, ring_degree, modulus, special)
            }
            _ => 0.0,
        };
        let square = of_constant * ring_degree as f64 * record as f64 + of_sharing;
        let mut best: Option<(f64, u32, u32)> = None;
        for bits in 2..=modulus.ilog2() {
            let second = truncation_reach_square(modulus, bits, ring_degree);
            let reach = TAILS * (square + second).sqrt();
            // A unit of the first part is rounded to, which is a bound; so are the roundings on the way back.
            let unit = |bits: u32| modulus as f64 / f64::from(bits).exp2();
            let room = |number_bits: &u32| reach + 0.52 * unit(*number_bits) + 2.0 <= limit;
            let Some(number_bits) = (2..=modulus.ilog2()).find(room) else { continue };
            let bytes = answer_bytes(declared, ring_degree, bits, number_bits);
            if best.is_none_or(|(least, ..)| bytes < least) {
                best = Some((bytes, bits, number_bits));
            }
        }
        let (_, bits, number_bits) = best?;
        let ciphertexts = (declared.dimensions as usize).div_ceil(1 << levels);
        Some(Self {
            ring_degree,
            prime_bits,
            levels,
            ciphertexts,
            scale,
            bits,
            number_bits,
            square,
        })
    }

    /// Bytes of a query.
    pub fn query_bytes(&self) -> usize {
        FRAME + SEED + self.ciphertexts * packed_bytes(self.ring_degree, self.prime_bits)
    }

    /// Bytes of a query and of the answer of a full index.
    fn traffic(&self, declared: &Declared) -> f64 {
        let Self { ring_degree, bits, number_bits, .. } = *self;
        let answer = answer_bytes(declared, ring_degree, bits, number_bits);
        self.query_bytes() as f64 + answer
    }
}

/// Bytes of the ciphertexts of the answer of a full index.
fn answer_bytes(declared: &Declared, ring_degree: usize, bits: u32, number_bits: u32) -> f64 {
    let blocks = declared.most_records.div_ceil(ring_degree as u64);
    let seconds = blocks.div_ceil(u64::from(declared.shared)) as f64 * ring_degree as f64;
    let numbers = declared.most_records as f64;
    (seconds * f64::from(bits) + numbers * f64::from(number_bits)) / 8.0
}

impl Derived for Sizes {
    const BYTES: usize = 1 + 8 + 1;

    fn answer_bits(&self) -> u32 {
        self.bits
    }

    fn write(&self, writer: &mut Writer) {
        writer.u8(self.levels as u8).u64(self.scale).u8(self.number_bits as u8);
    }
}
