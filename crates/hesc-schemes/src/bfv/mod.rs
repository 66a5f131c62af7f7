//! BFV (Brakerski 2012, Fan and Vercauteren 2012): integers modulo `t` in the upper bits of a phase,
//! `c_0 + c_1 s = (Q / t) m + v`.

mod encoding;
mod multiplication;
mod noise;

use multiplication::Multiplier;

use crate::SchemeError;
use crate::rlwe::chain::Chain;
use crate::rlwe::integers::Integers;

/// What BFV has of its own.
#[derive(Debug)]
pub(crate) struct Bfv {
    integers: Integers,
    multiplier: Multiplier,
}

impl Bfv {
    pub(crate) fn new(plain_modulus: u64, chain: &Chain) -> Result<Self, SchemeError> {
        Ok(Self {
            integers: Integers::new(plain_modulus, chain, encoding::decoder),
            multiplier: Multiplier::new(plain_modulus, chain)?,
        })
    }
}
