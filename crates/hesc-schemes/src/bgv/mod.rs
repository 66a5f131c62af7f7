//! BGV (Brakerski, Gentry and Vaikuntanathan 2012): integers modulo `t` in the lower bits of a phase,
//! `c_0 + c_1 s = m + t e`.

mod combinations;
mod dry_runs;
mod encoding;
mod multiplication;
mod noise;
mod operations;
mod planned_states;
mod sampled;

pub use dry_runs::DryValue;
pub use planned_states::PlannedState;

use crate::SchemeError;
use crate::rlwe::Spec;
use crate::rlwe::chain::Chain;
use crate::rlwe::integers::Integers;
use crate::rlwe::scheme_operations::SchemeDefinition;

/// What BGV has of its own.
#[derive(Debug)]
pub(crate) struct Bgv {
    integers: Integers,
}

impl SchemeDefinition for Bgv {
    fn check(spec: &Spec) -> Result<(), SchemeError> {
        spec.check_integers()
    }

    fn noise_factor(spec: &Spec) -> u64 {
        spec.plaintext.modulus()
    }

    fn new(spec: &Spec, chain: &Chain) -> Result<Self, SchemeError> {
        let plain_modulus = spec.plaintext.modulus();
        Ok(Self { integers: Integers::new(plain_modulus, chain, encoding::decoder) })
    }
}

impl Bgv {
    fn plain_modulus(&self) -> u64 {
        self.integers.modulus().value()
    }
}
