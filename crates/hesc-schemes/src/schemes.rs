//! The one place that knows BFV, BGV and CKKS by name: what [`crate::rlwe`] asks of a scheme is in its
//! folder.

use crate::bfv::Bfv;
use crate::bgv::Bgv;
use crate::ckks::Ckks;
use crate::error::refuse;
use crate::rlwe::{Rlwe, SchemeKind, Spec};
use crate::{Assurance, SchemeError};

impl Rlwe {
    /// Checks a specification and computes the tables: a fraction of a second at the largest.
    ///
    /// # Errors
    /// [`SchemeError::Security`] below the assurance asked for, [`SchemeError::Math`] for primes
    /// that do not fit, [`SchemeError::Parameter`] for the rest, a bound too among them, and
    /// [`SchemeError::NoiseBudget`] for a set that could not decrypt a fresh ciphertext of any.
    /// For WebAssembly there are sets of CKKS alone, which those of ring products are: what computes with others is left out
    /// of what a page fetches, and a set of theirs is an error.
    pub fn new(spec: Spec, assurance: Assurance) -> Result<Self, SchemeError> {
        if cfg!(target_family = "wasm") && spec.scheme != SchemeKind::Ckks {
            return refuse(
                "scheme",
                spec.scheme.name(),
                "this build has sets of ring products alone",
            );
        }
        match spec.scheme {
            SchemeKind::Bfv => Self::assembled::<Bfv>(spec, assurance),
            SchemeKind::Bgv => Self::assembled::<Bgv>(spec, assurance),
            SchemeKind::Ckks => Self::assembled::<Ckks>(spec, assurance),
        }
    }
}
