//! BFV, BGV and CKKS with multiplication: the exact and approximate competitors of stochastic
//! computing, over many primes.
//!
//! One type, [`Rlwe`], for all three: what they share is most of it (keys, encryption, key
//! switching, rotations, levels), and what differs is a matter of constants, of the domain that
//! ciphertexts rest in, and of [`multiply`](Rlwe::multiply). Sums, products and rotations check
//! parameters, keys, levels, scales and noise before they touch a word.
//!
//! ```
//! use hesc_math::{AesCtrRng, ntt_primes};
//! use hesc_schemes::Assurance;
//! use hesc_schemes::rlwe::{Rlwe, SchemeKind, Spec};
//! use hesc_schemes::rlwe::PlaintextSpace;
//!
//! let primes = ntt_primes(42, 8192, 5)?;
//! let scheme = Rlwe::new(
//!     Spec {
//!         scheme: SchemeKind::Bfv,
//!         ring_degree: 8192,
//!         coeff_moduli: primes[1..].to_vec(),
//!         special_moduli: primes[..1].to_vec(),
//!         plaintext: PlaintextSpace::Integers { plain_modulus: ntt_primes(20, 8192, 1)?[0] },
//!         bound: 1.0,
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

pub(crate) mod buffer;
pub(crate) mod chain;
pub(crate) mod ciphertext;
pub mod deviations;
mod encryption;
pub(crate) mod evaluation;
mod integers;
mod key_switching;
mod keys;
mod levels;
mod noise;
pub(crate) mod parallel;
mod params;
pub(crate) mod products;
mod rotations;
mod wire;

use std::sync::Arc;

use hesc_math::rns::{Composition, Conversion, Reducer};

pub use crate::ckks::encoding::Complex64;
pub use crate::ckks::sharing::{SharedSoFar, Sharing};
pub use ciphertext::{Ciphertext, Plaintext, SeededCiphertext};
pub use keys::{GaloisKeys, PublicKey, RelinKey, SecretKey, SwitchKey};
pub use params::{PlaintextSpace, SchemeKind, Spec};

use crate::bfv::multiplication;
use crate::ckks::encoding;
use crate::roots::Roots;
use crate::{Assurance, Fingerprint, SchemeError};
use deviations::{public_key_deviation, rounding_deviation};

/// A checked, immutable parameter set with its tables: the scheme itself. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Rlwe(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    spec: Spec,
    fingerprint: Fingerprint,
    chain: chain::Chain,
    roots: Roots,
    plaintexts: Plaintexts,
}

/// What depends on the plaintexts.
#[derive(Debug)]
enum Plaintexts {
    Integers {
        modulus: Reducer,
        slots: Option<integers::Slots>,
        /// By level, from a ciphertext's phase to the plaintext.
        decoders: Vec<Conversion>,
        /// BFV has one.
        multiplier: Option<multiplication::Multiplier>,
    },
    Approximate {
        slots: encoding::ComplexSlots,
        compositions: Vec<Composition>,
    },
}

impl Rlwe {
    /// Checks a specification and computes the tables: a fraction of a second at the largest.
    ///
    /// # Errors
    /// [`SchemeError::Security`] below the assurance asked for, [`SchemeError::Math`] for primes
    /// that do not fit, [`SchemeError::Parameter`] for the rest, and [`SchemeError::NoiseBudget`]
    /// for a set that could not decrypt a fresh ciphertext.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        spec.check()?;
        assurance.check(spec.ring_degree, spec.log2_key_modulus())?;
        let chain = chain::Chain::new(&spec)?;
        let plaintexts = match spec.plaintext {
            PlaintextSpace::Integers { plain_modulus } => {
                let modulus = Reducer::new(plain_modulus);
                let decoders = (1..=chain.levels())
                    .map(|level| decoder(&spec, &chain, level, &modulus))
                    .collect();
                let multiplier = (spec.scheme == SchemeKind::Bfv)
                    .then(|| multiplication::Multiplier::new(&spec, &chain, plain_modulus))
                    .transpose()?;
                let slots = integers::Slots::new(spec.ring_degree, plain_modulus);
                Plaintexts::Integers { modulus, slots, decoders, multiplier }
            }
            PlaintextSpace::Approximate { .. } => Plaintexts::Approximate {
                slots: encoding::ComplexSlots::new(spec.ring_degree),
                compositions: (1..=chain.levels())
                    .map(|level| Composition::new(chain.level(level)))
                    .collect(),
            },
        };
        let fingerprint = spec.fingerprint();
        let roots = Roots::new(spec.ring_degree);
        let scheme = Self(Arc::new(Inner { spec, fingerprint, chain, roots, plaintexts }));
        let n = scheme.ring_degree();
        let (bound, scale) = (scheme.spec().bound, scheme.default_scale());
        let fresh = scheme.fresh(public_key_deviation(n) + rounding_deviation(n), bound, scale);
        scheme.check_noise(fresh, scheme.levels(), scale)?;
        Ok(scheme)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// The scheme.
    pub fn scheme(&self) -> SchemeKind {
        self.0.spec.scheme
    }

    /// Coefficients of a polynomial, `N`.
    pub fn ring_degree(&self) -> usize {
        self.0.spec.ring_degree
    }

    /// Primes of a fresh ciphertext.
    pub fn levels(&self) -> usize {
        self.chain().levels()
    }

    /// The set's hash, which keys and ciphertexts carry.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    pub(crate) fn chain(&self) -> &chain::Chain {
        &self.0.chain
    }

    /// The plaintext modulus of exact schemes.
    pub(crate) fn plain(&self) -> Option<&Reducer> {
        match &self.0.plaintexts {
            Plaintexts::Integers { modulus, .. } => Some(modulus),
            Plaintexts::Approximate { .. } => None,
        }
    }

    pub(crate) fn integer_slots(&self) -> Option<&integers::Slots> {
        match &self.0.plaintexts {
            Plaintexts::Integers { slots, .. } => slots.as_ref(),
            Plaintexts::Approximate { .. } => None,
        }
    }

    pub(crate) fn complex_slots(&self) -> Option<&encoding::ComplexSlots> {
        match &self.0.plaintexts {
            Plaintexts::Integers { .. } => None,
            Plaintexts::Approximate { slots, .. } => Some(slots),
        }
    }

    pub(crate) fn multiplier(&self) -> Option<&multiplication::Multiplier> {
        match &self.0.plaintexts {
            Plaintexts::Integers { multiplier, .. } => multiplier.as_ref(),
            Plaintexts::Approximate { .. } => None,
        }
    }

    /// From a phase to the plaintext, in exact schemes.
    pub(crate) fn decoder(&self, level: usize) -> Option<&Conversion> {
        match &self.0.plaintexts {
            Plaintexts::Integers { decoders, .. } => Some(&decoders[level - 1]),
            Plaintexts::Approximate { .. } => None,
        }
    }

    /// From residues to numbers in full, in CKKS.
    pub(crate) fn composition(&self, level: usize) -> Option<&Composition> {
        match &self.0.plaintexts {
            Plaintexts::Approximate { compositions, .. } => Some(&compositions[level - 1]),
            Plaintexts::Integers { .. } => None,
        }
    }

    pub(crate) fn roots(&self) -> &Roots {
        &self.0.roots
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

    pub(crate) fn require(
        &self,
        scheme: SchemeKind,
        operation: &'static str,
        remedy: &'static str,
    ) -> Result<(), SchemeError> {
        if self.scheme() == scheme {
            return Ok(());
        }
        Err(SchemeError::NotInScheme { operation, scheme: self.scheme().name(), remedy })
    }
}

/// From a phase modulo the primes of a level to the plaintext modulo `t`.
///
/// BFV: `round(t x / Q) = (t x - [t x]_Q) / Q`, which modulo `t` is `-[t x]_Q / Q`. BGV: `[x]_Q`.
fn decoder(spec: &Spec, chain: &chain::Chain, level: usize, modulus: &Reducer) -> Conversion {
    let (primes, t) = (chain.level(level), modulus.value());
    if spec.scheme == SchemeKind::Bgv {
        return Conversion::new(primes, &[*modulus]);
    }
    let after =
        |m: hesc_math::Modulus| m.neg(inverse_modulo(chain::product_of(primes, m), m.value()));
    Conversion::with_constants(primes, &[*modulus], |q| t % q.value(), after)
}

/// The inverse of `a` modulo `m`, any modulus with no common divisor: Euclid's algorithm. Variable
/// time, for public numbers.
fn inverse_modulo(a: u64, m: u64) -> u64 {
    let (mut remainders, mut factors) = ((i128::from(m), i128::from(a % m)), (0i128, 1i128));
    while remainders.1 != 0 {
        let quotient = remainders.0 / remainders.1;
        remainders = (remainders.1, remainders.0 - quotient * remainders.1);
        factors = (factors.1, factors.0 - quotient * factors.1);
    }
    factors.0.rem_euclid(i128::from(m)) as u64
}
