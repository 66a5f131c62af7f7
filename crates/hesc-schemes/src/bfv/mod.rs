//! BFV (Brakerski 2012, Fan and Vercauteren 2012): integers modulo `t` in the upper bits of a phase,
//! `c_0 + c_1 s = (Q / t) m + v`.

mod encoding;
mod multiplication;
mod noise;

use multiplication::Extensions;

use crate::SchemeError;
use crate::rlwe::Spec;
use crate::rlwe::chain::Chain;
use crate::rlwe::integers::Integers;
use crate::rlwe::scheme_operations::SchemeDefinition;

/// What BFV has of its own.
#[derive(Debug)]
pub(crate) struct Bfv {
    integers: Integers,
    extensions: Extensions,
}

impl SchemeDefinition for Bfv {
    fn check(spec: &Spec) -> Result<(), SchemeError> {
        spec.check_integers()
    }

    fn new(spec: &Spec, chain: &Chain) -> Result<Self, SchemeError> {
        let plain_modulus = spec.plaintext.modulus();
        Ok(Self {
            integers: Integers::new(plain_modulus, chain, encoding::decoder),
            extensions: Extensions::new(plain_modulus, chain)?,
        })
    }
}
