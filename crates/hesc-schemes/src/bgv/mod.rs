//! BGV (Brakerski, Gentry and Vaikuntanathan 2012): integers modulo `t` in the lower bits of a phase,
//! `c_0 + c_1 s = m + t e`.

mod encoding;
mod multiplication;
mod noise;

use crate::rlwe::chain::Chain;
use crate::rlwe::integers::Integers;

/// What BGV has of its own.
#[derive(Debug)]
pub(crate) struct Bgv {
    integers: Integers,
}

impl Bgv {
    pub(crate) fn new(plain_modulus: u64, chain: &Chain) -> Self {
        Self { integers: Integers::new(plain_modulus, chain, encoding::decoder) }
    }

    fn plain_modulus(&self) -> u64 {
        self.integers.modulus().value()
    }
}
