use hesc_math::residues::{Reducer, kernels};
use hesc_math::ring::Prime;
use hesc_math::rns::Conversion;
use zeroize::Zeroizing;

use super::Bfv;
use crate::SchemeError;
use crate::rlwe::chain::{Chain, product_of};
use crate::rlwe::ciphertext::State;
use crate::rlwe::integers::{Integers, inverse_modulo};
use crate::rlwe::polys::Phase;
use crate::rlwe::scheme_operations::{Encoding, Message};
use crate::rlwe::{Plaintext, Rlwe};

/// From a phase `x` to the plaintext: `round(t x / Q) = (t x - [t x]_Q) / Q`, which modulo `t` is
/// `-[t x]_Q / Q`.
pub(super) fn decoder(primes: &[Prime], modulus: &Reducer) -> Conversion {
    let t = modulus.value();
    let after = |m: hesc_math::Modulus| m.neg(inverse_modulo(product_of(primes, m), m.value()));
    Conversion::with_constants(primes, &[*modulus], |q| t % q.value(), after)
}

impl Encoding for Bfv {
    fn integers(&self) -> Option<&Integers> {
        Some(&self.integers)
    }

    fn slots(&self, _ring_degree: usize) -> usize {
        self.integers.count()
    }

    fn message<'a>(
        &self,
        chain: &Chain,
        plaintext: &'a Plaintext,
        level: usize,
        _factor: u64,
    ) -> Message<'a> {
        let plain = self.integers.modulus();
        let modulus = product_of(chain.level(level), plain.modulus());
        let mut words = Zeroizing::new(plaintext.words.clone());
        kernels::scale(&mut words, plain.factor(modulus), plain);
        Message::Scaled { words, plain_modulus: plain.value() }
    }

    fn decode(&self, scheme: &Rlwe, phase: Phase, a: &State) -> Result<Plaintext, SchemeError> {
        self.integers.decode(scheme, phase, a)
    }
}
