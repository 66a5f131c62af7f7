use std::sync::OnceLock;

use hesc_math::RngSeed;
use hesc_math::ring::Eval;
use zeroize::ZeroizeOnDrop;

use super::noise::{Noise, PlainSize};
use super::polys::Polys;
use super::residues::{Residues, Stored};
use crate::{Fingerprint, Tag};

/// What is public of a ciphertext beside its tag: what decides which operations it allows, and what becomes of it.
/// Each operation has one rule from states to a state, and one loop over words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// Which primes are in use: one of the set's levels, the lowest is 1.
    pub(crate) level: usize,
    /// Two, or more after products.
    pub(crate) components: usize,
    /// What CKKS plaintexts are multiplied with; 1 otherwise.
    pub(crate) scale: f64,
    /// What BGV plaintexts are multiplied with modulo the plaintext modulus; 1 otherwise.
    pub(crate) factor: u64,
    pub(crate) noise: Noise,
}

/// A ciphertext of two components, or of more after products: `c_0 + c_1 s + c_2 s^2 + ...` is the noisy
/// plaintext modulo the primes of its level.
#[derive(Debug, Clone)]
pub struct Ciphertext {
    pub(crate) tag: Tag,
    pub(crate) state: State,
    /// The components, modulo each prime of the level: coefficients in BFV, evaluations in BGV and CKKS.
    pub(crate) polys: Polys<Stored>,
}

impl Ciphertext {
    /// Which of the set's levels it is at, hence which primes it has; the lowest is 1.
    pub fn level(&self) -> usize {
        self.state.level
    }

    /// Two, or more before relinearisation.
    pub fn components(&self) -> usize {
        self.state.components
    }

    /// What CKKS plaintexts are multiplied with; 1 in the other schemes.
    pub fn scale(&self) -> f64 {
        self.state.scale
    }

    /// The key pair and parameters it belongs to.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// Words it takes in memory.
    pub fn words(&self) -> usize {
        self.polys.len()
    }

    /// The components, to be read.
    pub(crate) fn residues(&self) -> Residues<'_, Stored> {
        self.polys.residues()
    }
}

/// A ciphertext under the secret key: `c_0` and the seed of `c_1`. Half the size, for the way up.
#[derive(Debug, Clone)]
pub struct SeededCiphertext {
    pub(crate) tag: Tag,
    pub(crate) state: State,
    pub(crate) seed: RngSeed,
    /// `c_0`, modulo each prime of the level.
    pub(crate) polys: Polys<Stored, Vec<u64>>,
}

impl SeededCiphertext {
    /// The key pair and parameters it belongs to.
    pub fn tag(&self) -> Tag {
        self.tag
    }
}

/// An encoded plaintext of one parameter set. Wiped on drop: it is what encryption hides.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Plaintext {
    #[zeroize(skip)]
    pub(crate) params: Fingerprint,
    /// Integers: coefficients modulo the plaintext modulus. CKKS: evaluations modulo the primes of a
    /// level, of numbers times the scale.
    pub(crate) words: Vec<u64>,
    /// None for integers, which fit every level.
    #[zeroize(skip)]
    pub(crate) level: Option<usize>,
    /// 1 for integers.
    #[zeroize(skip)]
    pub(crate) scale: f64,
    /// 1 for integers, whose range the plaintext modulus bounds.
    #[zeroize(skip)]
    pub(crate) bound: Bound,
    /// What a product with it does to noise (integers), once that was asked for.
    #[zeroize(skip)]
    pub(crate) size: OnceLock<PlainSize>,
}

/// A public bound on the absolute values of the numbers in a CKKS plaintext.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// Agreed upon before the numbers were known: it may travel with their encryption.
    Declared(f64),
    /// The size of an operand in the clear, up to a power of two: its owner shows as much.
    Operand(f64),
    /// What the ciphertext said of the numbers that were decrypted from it, its error included. Nobody
    /// has looked at them yet: decoding does, and refuses those beyond.
    Claimed(f64),
}

impl Bound {
    pub(crate) fn value(self) -> f64 {
        match self {
            Self::Declared(bound) | Self::Operand(bound) => bound,
            Self::Claimed(bound) => rounded_up(bound),
        }
    }

    /// That of an operand whose largest number is `size`.
    pub(crate) fn of_operand(size: f64) -> Self {
        Self::Operand(rounded_up(size))
    }
}

/// The next power of two, so that what travels says no more of an operand in the clear; 0 stays 0.
pub(crate) fn rounded_up(size: f64) -> f64 {
    if size > 0.0 { size.log2().ceil().exp2().max(size) } else { size }
}

impl Plaintext {
    /// Integers, by their coefficients modulo the plaintext modulus.
    pub(crate) fn integers(params: Fingerprint, words: Vec<u64>) -> Self {
        let bound = Bound::Declared(1.0);
        Self { params, words, level: None, scale: 1.0, bound, size: OnceLock::new() }
    }

    /// Numbers times a scale, as evaluations modulo the primes of a level.
    pub(crate) fn numbers(
        params: Fingerprint,
        words: Vec<u64>,
        level: usize,
        scale: f64,
        bound: Bound,
    ) -> Self {
        Self { params, words, level: Some(level), scale, bound, size: OnceLock::new() }
    }

    /// The evaluations of a CKKS plaintext.
    pub(crate) fn evaluations(&self, ring_degree: usize) -> Residues<'_, Eval> {
        Residues::assume(&self.words, 1, ring_degree)
    }

    /// Words it takes in memory.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The scale of a CKKS plaintext; 1 in the other schemes.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The level of a CKKS plaintext; integers fit every level.
    pub fn level(&self) -> Option<usize> {
        self.level
    }
}
