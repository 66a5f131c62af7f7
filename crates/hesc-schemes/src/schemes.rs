//! The one place that knows BFV, BGV and CKKS by name: what [`crate::rlwe`] asks of a scheme is in its
//! folder.

use crate::bfv::Bfv;
use crate::bgv::Bgv;
use crate::ckks::Ckks;
use crate::rlwe::chain::Chain;
use crate::rlwe::differences::Differences;
use crate::rlwe::{Rlwe, SchemeKind, Spec};
use crate::{Assurance, SchemeError};

impl Rlwe {
    /// Checks a specification and computes the tables: a fraction of a second at the largest.
    ///
    /// # Errors
    /// [`SchemeError::Security`] below the assurance asked for, [`SchemeError::Math`] for primes
    /// that do not fit, [`SchemeError::Parameter`] for the rest, a bound too among them, and
    /// [`SchemeError::NoiseBudget`] for a set that could not decrypt a fresh ciphertext of any.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        Self::assembled(spec, assurance, differences)
    }
}

/// Those of the scheme of a checked specification.
fn differences(spec: &Spec, chain: &Chain) -> Result<Box<dyn Differences>, SchemeError> {
    let t = spec.plaintext.modulus();
    Ok(match spec.scheme {
        SchemeKind::Bfv => Box::new(Bfv::new(t, chain)?),
        SchemeKind::Bgv => Box::new(Bgv::new(t, chain)),
        SchemeKind::Ckks => Box::new(Ckks::new(spec.ring_degree(), chain)),
    })
}
