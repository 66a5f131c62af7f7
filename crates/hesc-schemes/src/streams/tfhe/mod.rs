//! Bits on the torus (Chillotti, Gama, Georgieva and Izabachène 2016), by the crate `tfhe`: streams that
//! add, and single bits that bootstrap.
//!
//! A bit is a sixteenth of the torus, so that a weighted sum of bits is a position that a bootstrap can
//! look up. Two forms, under one secret:
//!
//! - *Blocks* ([`Ciphertexts`]), a bit in each coefficient of a ring element. They travel, and
//!   [`crate::Scheme`] works on them: a product of inverted-bipolar streams is one addition.
//! - *Samples* ([`Bits`]), a ciphertext for each bit, taken out of blocks for free. They bootstrap, with
//!   an [`EvaluationKey`], and are packed into blocks again.
//!
//! The largest count of a position is 15; products of more factors keep its parity.

mod bits;
mod bootstrap;
mod ciphertext;
mod decryption;
mod encryption;
mod evaluation;
mod evaluation_keys;
mod keys;
mod noise;
mod params;
mod polynomial;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;

use crate::{Assurance, Fingerprint, SchemeError};

pub use bits::Bits;
pub use bootstrap::{LookupTable, Workspace};
pub use ciphertext::{Ciphertexts, CompactCiphertexts, Rounded, SeededCiphertexts, Torus};
pub use evaluation_keys::{EvaluationKey, SeededEvaluationKey};
pub use keys::{PublicKey, SecretKey};
pub use noise::Noise;
pub use params::{Decomposition, Spec};

/// Positions on the torus that a bit is one of: the plaintext modulus of fresh bits.
pub const GRID: u64 = 16;
/// The plaintext modulus of parities: what is left of sums of bits.
pub const PARITY: u64 = 2;

/// A checked parameter set; copies share memory.
#[derive(Debug, Clone)]
pub struct Tfhe(Arc<Checked>);

#[derive(Debug)]
struct Checked {
    spec: Spec,
    fingerprint: Fingerprint,
    noise: Noise,
    products: polynomial::Products,
}

impl Tfhe {
    /// Checks a specification.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for one that does not work, [`SchemeError::Security`] for one below
    /// `assurance`.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        spec.check(assurance)?;
        let (fingerprint, noise) = (spec.fingerprint(), Noise::of(&spec));
        let products = polynomial::Products::new(spec.ring_degree)?;
        Ok(Self(Arc::new(Checked { spec, fingerprint, noise, products })))
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// What bits and bootstraps do to noise.
    pub fn noise(&self) -> &Noise {
        &self.0.noise
    }

    fn products(&self) -> &polynomial::Products {
        &self.0.products
    }

    fn ring_degree(&self) -> usize {
        self.0.spec.ring_degree
    }

    /// Words of a sample.
    pub fn sample_words(&self) -> usize {
        self.ring_degree() + 1
    }
}
