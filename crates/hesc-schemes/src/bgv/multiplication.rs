use hesc_math::Modulus;

use super::Bgv;
use crate::SchemeError;
use crate::rlwe::chain::{Quotient, product_of};
use crate::rlwe::ciphertext::State;
use crate::rlwe::integers::inverse_modulo;
use crate::rlwe::scheme_operations::Multiplication;
use crate::rlwe::{Ciphertext, Rlwe};

impl Multiplication for Bgv {
    fn factor(&self, a: u64, b: u64) -> u64 {
        self.integers.modulus().modulus().mul(a, b)
    }

    fn admits_factor(&self, factor: u64) -> bool {
        let t = self.plain_modulus();
        factor < t && self.factor(factor, inverse_modulo(factor, t)) == 1
    }

    fn divide(&self, a: &mut State, by: &Quotient) {
        let plain = self.integers.modulus().modulus();
        let (divided, gained) = (product_of(&by.divisors, plain), product_of(&by.added, plain));
        let inverse = inverse_modulo(divided, self.plain_modulus());
        a.factor = self.factor(a.factor, self.factor(gained, inverse));
    }
}

impl Rlwe {
    /// Two ciphertexts brought to one factor, by the smallest constants: `x f_a = y f_b` with
    /// `x` and `y` about the root of the plaintext modulus (half of Euclid's algorithm).
    pub(crate) fn common_factor(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<(Ciphertext, Ciphertext), SchemeError> {
        let t = self.spec().plaintext.modulus();
        let modulus = Modulus::new(t);
        let ratio = modulus.mul(b.state.factor, inverse_modulo(a.state.factor, t));
        let (of_a, of_b) = small_fraction(ratio, t);
        let scaled = |c: &Ciphertext, by: i64| -> Result<Ciphertext, SchemeError> {
            let state = self.times_factor_state(&c.state, by)?;
            Ok(Ciphertext { tag: c.tag, state, polys: self.scaled_polys(c, by) })
        };
        Ok((scaled(a, of_a)?, scaled(b, of_b)?))
    }

    /// The state of a product with an integer that counts as a factor on the plaintext, which stays what it is.
    fn times_factor_state(&self, a: &State, by: i64) -> Result<State, SchemeError> {
        let modulus = Modulus::new(self.spec().plaintext.modulus());
        let factor = modulus.mul(a.factor, modulus.reduce_signed(by));
        Ok(State { factor, ..self.times_integer_state(a, by)? })
    }
}

/// Small units `x` and `y` with `x = ratio y` modulo `t`, for a ratio that is a unit: the remainders of Euclid's
/// algorithm and their cofactors, of which some have divisors of `t`. Multiplied with those a plaintext would lose what
/// it is modulo the divisor.
fn small_fraction(ratio: u64, t: u64) -> (i64, i64) {
    let mut remainders = (t as i64, ratio as i64);
    let mut factors = (0i64, 1i64);
    let mut best = (Modulus::new(t).centre(ratio), 1);
    while remainders.1 != 0 {
        let larger = |pair: (i64, i64)| pair.0.unsigned_abs().max(pair.1.unsigned_abs());
        let pair = (remainders.1, factors.1);
        let unit = inverse_modulo(pair.1.rem_euclid(t as i64) as u64, t) != 0;
        if unit && larger(pair) < larger(best) {
            best = pair;
        }
        let quotient = remainders.0 / remainders.1;
        remainders = (remainders.1, remainders.0 - quotient * remainders.1);
        factors = (factors.1, factors.0 - quotient * factors.1);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are units and stand in the ratio; for primes neither is far above the root.
    #[test]
    fn fractions_are_of_units() {
        for t in [2u64, 3, 4, 8, 9, 14, 251, 1024, 2187, 65537, 1 << 20] {
            for ratio in (1..t).step_by(1 + t as usize / 500) {
                if inverse_modulo(ratio, t) == 0 {
                    continue;
                }
                let (x, y) = small_fraction(ratio, t);
                let residue = |x: i64| x.rem_euclid(t as i64) as u64;
                let product = Modulus::new(t).mul(ratio, residue(y));
                assert_eq!(product, residue(x), "{ratio} modulo {t}");
                for unit in [x, y] {
                    assert_ne!(inverse_modulo(residue(unit), t), 0, "{unit} modulo {t}");
                }
                if [3, 251, 65537].contains(&t) {
                    assert!(x.unsigned_abs().max(y.unsigned_abs()) <= t.isqrt() + 1);
                }
            }
        }
    }
}
