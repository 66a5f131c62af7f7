use super::Bgv;
use crate::SchemeError;
use crate::rlwe::chain::{Quotient, product_of};
use crate::rlwe::differences::Multiplication;
use crate::rlwe::integers::inverse_modulo;
use crate::rlwe::{Ciphertext, Rlwe};

impl Multiplication for Bgv {
    fn factor(&self, a: u64, b: u64) -> u64 {
        self.integers.modulus().modulus().mul(a, b)
    }

    fn admits_factor(&self, factor: u64) -> bool {
        let t = self.plain_modulus();
        factor < t && self.factor(factor, inverse_modulo(factor, t)) == 1
    }

    fn divide(&self, a: &mut Ciphertext, by: &Quotient) {
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
        let t = self.spec().plaintext.modulus() as i64;
        let ratio = i128::from(b.factor) * i128::from(inverse_modulo(a.factor, t as u64));
        let (mut remainders, mut factors) = ((t, (ratio % i128::from(t)) as i64), (0i64, 1i64));
        // remainders.1 = ratio * factors.1 modulo t, at every step.
        while i128::from(remainders.1) * i128::from(remainders.1) > i128::from(t) {
            let quotient = remainders.0 / remainders.1;
            remainders = (remainders.1, remainders.0 - quotient * remainders.1);
            factors = (factors.1, factors.0 - quotient * factors.1);
        }
        let scaled = |c: &Ciphertext, by: i64| -> Result<Ciphertext, SchemeError> {
            let mut c = self.multiply_integer(c, by)?;
            let by = by.rem_euclid(t) as u64;
            c.factor = (u128::from(c.factor) * u128::from(by) % t as u128) as u64;
            Ok(c)
        };
        Ok((scaled(a, remainders.1)?, scaled(b, factors.1)?))
    }
}
