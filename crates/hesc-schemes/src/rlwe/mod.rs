//! BFV, BGV and CKKS with multiplication: the exact and approximate competitors of stochastic
//! computing, over many primes.
//!
//! One type, [`Rlwe`], for all three: what they share is most of it (keys, encryption, key
//! switching, rotations, levels), and what differs is in three traits: encoding, multiplication and
//! noise. Sums, products and rotations check parameters, keys, levels, scales and noise before they
//! touch a word.
//!
//! ```
//! use hesc_math::{AesCtrRng, RingIndex};
//! use hesc_schemes::Assurance;
//! use hesc_schemes::rlwe::{Rlwe, SchemeKind, Spec};
//! use hesc_schemes::rlwe::PlaintextSpace;
//!
//! let ring = RingIndex::power_of_two(8192)?;
//! let primes = ring.ntt_primes(42, 5)?;
//! let scheme = Rlwe::new(
//!     Spec {
//!         scheme: SchemeKind::Bfv,
//!         ring,
//!         coeff_moduli: primes[1..].to_vec(),
//!         levels: Vec::new(),
//!         special_moduli: primes[..1].to_vec(),
//!         plaintext: PlaintextSpace::Integers { plain_modulus: ring.ntt_primes(20, 1)?[0] },
//!         bound: 1.0,
//!         packing: None,
//!     },
//!     Assurance::Guidelines2024,
//! )?;
//! let mut rng = AesCtrRng::from_os()?;
//! let (secret, public) = scheme.generate_keys(&mut rng);
//! let relin = scheme.generate_relin_key(&secret, &mut rng)?;
//! let x = scheme.encrypt(&public, &scheme.encode_integers(&[2, -3])?, &mut rng)?;
//! let square = scheme.relinearise(&scheme.square(&x)?, &relin)?;
//! let values = scheme.decode_integers(&scheme.decrypt(&secret, &square)?)?;
//! assert_eq!(values[..3], [4, 9, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blanks;
pub(crate) mod buffer;
pub(crate) mod chain;
pub(crate) mod ciphertext;
pub(crate) mod domain;
mod encryption;
pub(crate) mod estimates;
pub(crate) mod evaluation;
pub mod flooding;
pub(crate) mod integers;
pub(crate) mod key_pair;
mod key_switching;
mod keys;
pub(crate) mod level_management;
mod level_sets;
pub(crate) mod levels;
pub mod noise;
pub(crate) mod parallel;
mod params;
mod plain_moduli;
pub(crate) mod polys;
mod prime_set;
pub(crate) mod products;
pub(crate) mod residue_wire;
pub(crate) mod residues;
mod ring_products;
mod rotations;
pub(crate) mod scheme_operations;
pub(crate) mod slot_circuits;
mod spec_wire;
mod values;
mod wire;

use std::sync::{Arc, OnceLock};

use hesc_math::RingIndex;
pub use hesc_math::residues::Truncation;

pub use buffer::KeptBuffers;
pub use ciphertext::{Ciphertext, Plaintext, SeededCiphertext};
pub use encryption::Encryption;
pub use key_pair::{PublicKey, SecretKey};
pub use keys::{GaloisKeys, RelinKey, SwitchKey};
pub use params::{Packing, PlaintextSpace, Spec};
pub use prime_set::PrimeSet;
pub use ring_products::{
    BlindedSums, Expansion, Factors, Multiplier, Operand, RingProducts, Scratch, SharedSecrets,
    SharingKeys, Workspace,
};
pub use slot_circuits::{Basis, LinearMap, MappedInput, Speed, Work};

use crate::error::refuse;
pub use crate::kinds::SchemeKind;

use crate::{Assurance, Fingerprint, SchemeError};
use domain::Domain;
use scheme_operations::{SchemeDefinition, SchemeOperations};

/// A checked, immutable parameter set with its tables: the scheme itself. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rlwe(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: Spec,
    fingerprint: Fingerprint,
    chain: chain::Chain,
    operations: Box<dyn SchemeOperations>,
    /// Of the ring, which they take divisions to compute.
    norms: estimates::Norms,
    /// The factor on the errors of keys: that on all noise, and more where keys are another set's.
    key_factor: u64,
    speed: OnceLock<Speed>,
}

impl Rlwe {
    /// What [`Self::new`] makes, with what a scheme has of its own.
    pub(crate) fn assembled<D: SchemeDefinition>(
        spec: Spec,
        assurance: Assurance,
    ) -> Result<Self, SchemeError> {
        spec.check_vectors()?;
        D::check(&spec)?;
        assurance.check(spec.ring_degree(), spec.log2_key_modulus())?;
        let chain = chain::Chain::new(&spec, D::noise_factor(&spec))?;
        let operations = Box::new(D::new(&spec, &chain)?);
        let fingerprint = spec.fingerprint();
        let (norms, speed) = (estimates::Norms::new(spec.ring), OnceLock::new());
        let key_factor = D::noise_factor(&spec);
        let inner = Inner { spec, fingerprint, chain, operations, norms, key_factor, speed };
        let scheme = Self(Arc::new(inner));
        let (bound, scale) = (scheme.spec().bound, scheme.default_scale());
        let fresh = scheme.fresh(scheme.required_deviation(), bound, scale);
        match scheme.check_noise(fresh, scheme.levels(), scale) {
            Err(SchemeError::NoiseBudget { .. }) if bound > 1.0 => refuse(
                "bound",
                bound,
                "numbers of this size fill the modulus; take a smaller bound or scale, or more \
                         primes",
            ),
            checked => checked.map(|()| scheme),
        }
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// The scheme.
    pub fn scheme(&self) -> SchemeKind {
        self.0.spec.scheme
    }

    /// Whether numbers are approximate and may be complex; integers otherwise.
    pub fn is_approximate(&self) -> bool {
        self.operations().has_scale()
    }

    /// Which ring it is over.
    pub fn ring(&self) -> RingIndex {
        self.chain().ring()
    }

    /// Coefficients of a polynomial, `N`.
    pub fn ring_degree(&self) -> usize {
        self.0.spec.ring_degree()
    }

    /// Norms of the ring.
    pub(crate) fn norms(&self) -> &estimates::Norms {
        &self.0.norms
    }

    /// The level of a fresh ciphertext; the lowest is 1.
    pub fn levels(&self) -> usize {
        self.chain().levels()
    }

    /// Bits of the modulus of a level, from 1 to [`Self::levels`].
    pub fn log2_modulus_of(&self, level: usize) -> f64 {
        self.chain().log2(level)
    }

    /// The primes of a level, from 1 to [`Self::levels`].
    pub fn primes_of(&self, level: usize) -> PrimeSet {
        self.chain().set(level)
    }

    /// The set's hash, which keys and ciphertexts carry.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    pub(crate) fn chain(&self) -> &chain::Chain {
        &self.0.chain
    }

    /// What the scheme has of its own.
    pub(crate) fn operations(&self) -> &dyn SchemeOperations {
        &*self.0.operations
    }

    /// What ciphertexts are stored as.
    pub(crate) fn domain(&self) -> Domain {
        self.operations().domain()
    }

    pub(crate) fn check_params(&self, found: Fingerprint) -> Result<(), SchemeError> {
        let expected = self.fingerprint();
        if found == expected {
            Ok(())
        } else {
            Err(SchemeError::ParameterMismatch { expected, found })
        }
    }

    pub(crate) fn check_ciphertext(&self, a: &Ciphertext) -> Result<(), SchemeError> {
        a.tag.check(self.fingerprint(), None)
    }
}
