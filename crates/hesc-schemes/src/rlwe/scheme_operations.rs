//! What tells BFV, BGV and CKKS apart, in three traits. Each scheme has a folder with a file for each:
//! `encoding`, `multiplication` and `noise`. Arithmetic asks nothing else; checks of sets do.

use std::any::Any;
use std::fmt;

use hesc_math::ring::Eval;
use zeroize::Zeroizing;

use super::chain::{Chain, Quotient};
use super::ciphertext::{Ciphertext, Plaintext, State};
use super::domain::Domain;
use super::integers::Integers;
use super::noise::Noise;
use super::polys::{Phase, Polys};
use super::residues::{Residues, Stored};
use super::{Rlwe, Spec};
use crate::SchemeError;

/// How numbers become the plaintexts that `c_0 + c_1 s + ...` carries, and plaintexts numbers.
pub(crate) trait Encoding {
    /// Tables for integers, in exact schemes.
    fn integers(&self) -> Option<&Integers> {
        None
    }

    /// Values that a plaintext holds.
    fn slots(&self, ring_degree: usize) -> usize;

    /// What exchanging the two halves of the automorphisms, `X -> X^-1`, does to slots.
    fn inversion(&self) -> &'static str {
        "exchanging the rows of slots"
    }

    /// A plaintext as a ciphertext of this level and factor takes it.
    fn message<'a>(
        &self,
        chain: &Chain,
        plaintext: &'a Plaintext,
        level: usize,
        factor: u64,
    ) -> Message<'a>;

    /// The plaintext in a phase.
    fn decode(&self, scheme: &Rlwe, phase: Phase, a: &State) -> Result<Plaintext, SchemeError>;
}

/// A plaintext on its way into `c_0`.
pub(crate) enum Message<'a> {
    /// `[Q m]_t`: the plaintext is `round(Q m / t)`, which modulo each prime is `-[Q m]_t / t`.
    Scaled { words: Zeroizing<Vec<u64>>, plain_modulus: u64 },
    /// `m` itself, modulo `t`.
    Lifted { words: Zeroizing<Vec<u64>>, plain_modulus: u64 },
    /// Evaluations modulo each prime.
    Evaluated(Residues<'a, Eval>),
}

/// Products, and what a division by a prime does to the numbers beside a ciphertext's words.
pub(crate) trait Multiplication {
    /// What ciphertexts are stored as between operations.
    fn domain(&self) -> Domain {
        Domain::Evaluations
    }

    /// The components of a product; of a square if there is no second factor.
    fn multiply(&self, scheme: &Rlwe, a: &Ciphertext, b: Option<&Ciphertext>) -> Polys<Stored> {
        scheme.tensors(a, b)
    }

    /// The factor on the plaintext of a product, from those of its factors.
    fn factor(&self, _a: u64, _b: u64) -> u64 {
        1
    }

    /// Whether a ciphertext can have this scale.
    fn admits_scale(&self, scale: f64) -> bool {
        scale == 1.0
    }

    /// Whether a ciphertext can have this factor on its plaintext.
    fn admits_factor(&self, factor: u64) -> bool {
        factor == 1
    }

    /// Changes scale or factor as a division of all words does.
    fn divide(&self, _a: &mut State, _by: &Quotient) {}

    /// Whether plaintexts have a scale, which a division by a prime divides: levels are then changed by
    /// dropping primes, and products divided. Otherwise a division keeps the plaintext.
    fn has_scale(&self) -> bool {
        false
    }

    /// Whether the plaintext is what it was when primes are dropped without a division.
    fn survives_drops(&self) -> bool {
        true
    }
}

/// How noise grows where schemes differ; `rlwe::noise` has what they share.
pub(crate) trait NoiseModel {
    /// What a plaintext within a bound adds to a ciphertext.
    fn plain_noise(&self, scheme: &Rlwe, bound: f64, scale: f64) -> Noise;

    /// The noise of a product with a plaintext.
    fn plain_product_noise(&self, scheme: &Rlwe, a: &State, plaintext: &Plaintext) -> Noise;

    /// The noise of a product of ciphertexts before relinearisation.
    fn product_noise(&self, scheme: &Rlwe, a: &State, b: &State) -> Noise;

    /// The bound on the message after a division by a prime.
    fn divided_magnitude(&self, magnitude: f64, prime: f64) -> f64 {
        magnitude / prime
    }

    /// Whether a ciphertext can have this bound on its message.
    fn admits_magnitude(&self, magnitude: f64) -> bool {
        magnitude >= 0.0
    }

    /// Bound on what must stay below half of the modulus.
    fn largest(&self, noise: Noise, scale: f64) -> f64;

    /// What a phase is multiplied by so that its residue is what [`Self::largest`] bounds.
    fn phase_factor(&self) -> u64 {
        1
    }

    /// The error of decoded numbers, at most.
    fn error_bound(&self, _scheme: &Rlwe, _a: &State) -> f64 {
        0.0
    }
}

/// All that a scheme has of its own; its folder knows the type behind it.
pub(crate) trait SchemeOperations:
    Encoding + Multiplication + NoiseModel + Any + fmt::Debug + Send + Sync
{
}

impl<T: Encoding + Multiplication + NoiseModel + Any + fmt::Debug + Send + Sync> SchemeOperations
    for T
{
}

/// How it comes about.
pub(crate) trait SchemeDefinition: SchemeOperations + Sized {
    /// Refuses, before there are tables, what no set of the scheme has.
    fn check(spec: &Spec) -> Result<(), SchemeError>;

    /// The factor on all noise: 1 unless plaintexts lie below it.
    fn noise_factor(_spec: &Spec) -> u64 {
        1
    }

    /// The tables of a checked set.
    fn new(spec: &Spec, chain: &Chain) -> Result<Self, SchemeError>;
}
