//! Encryption from ring learning with errors: what BFV and CKKS share here.
//!
//! Ciphertexts are `(c_0, c_1)` with `c_0 + c_1 s = m + noise` in `Z_q[X]/(X^N + 1)`, in the
//! coefficient domain; the schemes differ in how `m` encodes the bits ([`Encoding`]).

mod bfv;
mod ciphertext;
mod ckks;
mod decryption;
mod distances;
mod encoding;
mod encryption;
mod evaluation;
mod spec;
mod wire;

use std::sync::Arc;

use hesc_math::{Ring, RingIndex, Word};

pub use bfv::BfvEncoding;
pub use ciphertext::{Ciphertexts, CompactCiphertexts, Precision, Rounded, SeededCiphertexts};
pub use ckks::CkksEncoding;
pub use distances::{Columns, Hiding, NoiseSeed};
pub use encoding::{Encoding, Mask};

use crate::error::refuse;
use crate::rlwe::{Spec, noise};
use crate::{Assurance, Fingerprint, Packing, SchemeError};

/// BFV over words of 32 or 64 bits: exact counts modulo `t`.
pub type Bfv<W> = Lattice<W, BfvEncoding>;
/// CKKS over words of 32 or 64 bits: counts that are rounded on decryption.
pub type Ckks<W> = Lattice<W, CkksEncoding>;

/// A checked, immutable parameter set with its tables: the scheme itself. Cheap to clone.
#[derive(Debug)]
pub struct Lattice<W: Word, E: Encoding<W>>(Arc<Inner<W, E>>);

impl<W: Word, E: Encoding<W>> Clone for Lattice<W, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Inner<W: Word, E> {
    spec: Spec,
    fingerprint: Fingerprint,
    ring: Ring<W>,
    /// The ring of the first modulus alone, for compact ciphertexts.
    first_ring: Ring<W>,
    log2_modulus: f64,
    encoding: E,
    packing: Packing,
}

impl<W: Word, E: Encoding<W>> Lattice<W, E> {
    /// Checks a specification and computes the tables.
    ///
    /// # Errors
    /// [`SchemeError::Security`] below the assurance asked for, [`SchemeError::Math`] for a ring
    /// that does not exist, [`SchemeError::Parameter`] for the rest, and
    /// [`SchemeError::NoiseBudget`] for a set that could not decrypt a fresh ciphertext.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        let packing = spec.check_streams()?;
        assurance.check(spec.ring_degree(), spec.log2_modulus())?;
        let index = RingIndex::power_of_two(spec.ring_degree())?;
        let ring = Ring::new(index, &spec.coeff_moduli)?;
        let first_ring = Ring::new(index, &spec.coeff_moduli[..1])?;
        let encoding = E::new(&spec, packing, &ring)?;
        if spec.scheme != E::KIND {
            let remedy = "streams have BFV for integers and CKKS for approximate numbers";
            return refuse("scheme", spec.scheme, remedy);
        }
        let fingerprint = spec.fingerprint();
        let log2_modulus = ring.log2_modulus();
        let scheme = Self(Arc::new(Inner {
            spec,
            fingerprint,
            ring,
            first_ring,
            log2_modulus,
            encoding,
            packing,
        }));
        let deviation = scheme.public_key_deviation();
        scheme.check_noise(Precision { deviation, scale: scheme.encoding().fresh_scale() })?;
        Ok(scheme)
    }

    /// The specification.
    pub fn spec(&self) -> &Spec {
        &self.0.spec
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<W> {
        &self.0.ring
    }

    fn first_ring(&self) -> &Ring<W> {
        &self.0.first_ring
    }

    fn encoding(&self) -> &E {
        &self.0.encoding
    }

    fn log2_modulus(&self) -> f64 {
        self.0.log2_modulus
    }

    fn words_per_block(&self) -> usize {
        self.encoding().block_length() / 64
    }

    /// Deviation of a fresh public-key encryption.
    fn public_key_deviation(&self) -> f64 {
        noise::public_key_deviation(self.ring().ring_degree()).hypot(self.encoding().rounding())
    }

    /// Deviation of a fresh secret-key encryption.
    fn secret_key_deviation(&self) -> f64 {
        noise::secret_key_deviation().hypot(self.encoding().rounding())
    }

    /// Refuses a deviation that does not fit the limit, and a scale that leaves no room for a count.
    fn check_noise(&self, Precision { deviation, scale }: Precision) -> Result<(), SchemeError> {
        if self.encoding().max_count(scale) == 0 {
            // A count of one and as much again, to either side of zero.
            let needed_bits = ((4.0 * scale).log2() - self.log2_modulus()).max(0.1);
            return Err(SchemeError::NoiseBudget { needed_bits });
        }
        let budget = noise::budget(deviation, self.encoding().reach(), scale);
        if budget < 0.0 {
            return Err(SchemeError::NoiseBudget { needed_bits: -budget });
        }
        Ok(())
    }
}
