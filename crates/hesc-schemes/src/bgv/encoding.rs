use hesc_math::residues::{Reducer, kernels};
use hesc_math::ring::Prime;
use hesc_math::rns::Conversion;
use zeroize::Zeroizing;

use super::Bgv;
use crate::SchemeError;
use crate::rlwe::chain::Chain;
use crate::rlwe::ciphertext::State;
use crate::rlwe::integers::Integers;
use crate::rlwe::polys::Phase;
use crate::rlwe::scheme_operations::{Encoding, Message};
use crate::rlwe::{Plaintext, Rlwe};

/// From a phase `x` to the plaintext, `[x]_Q` modulo `t`.
pub(super) fn decoder(primes: &[Prime], modulus: &Reducer) -> Conversion {
    Conversion::new(primes, &[*modulus])
}

impl Encoding for Bgv {
    fn integers(&self) -> Option<&Integers> {
        Some(&self.integers)
    }

    fn slots(&self, _ring_degree: usize) -> usize {
        self.integers.count()
    }

    fn message<'a>(
        &self,
        _chain: &Chain,
        plaintext: &'a Plaintext,
        _level: usize,
        factor: u64,
    ) -> Message<'a> {
        let plain = self.integers.modulus();
        let mut words = Zeroizing::new(plaintext.words.clone());
        if factor != 1 {
            kernels::scale(&mut words, plain.factor(factor), plain);
        }
        Message::Lifted { words, plain_modulus: plain.value() }
    }

    fn decode(&self, scheme: &Rlwe, phase: Phase, a: &State) -> Result<Plaintext, SchemeError> {
        self.integers.decode(scheme, phase, a)
    }
}
