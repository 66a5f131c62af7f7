use std::collections::BTreeMap;

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, RelinKey, Rlwe};

use super::Numbers;

/// `sum_i coefficients[i] x^i` in each number of a vector of this length (Paterson and Stockmeyer
/// 1973): powers up to about the root of the degree, blocks of as many coefficients, and blocks joined
/// in halves by squares of the highest power. Zeros behind the numbers stay zeros. Products of
/// ciphertexts: about twice the root of the degree; depth: up to two more than its logarithm.
///
/// # Errors
/// [`SchemeError::Empty`] without coefficients, [`SchemeError::Value`] for integers beyond the
/// plaintext modulus, and those of products and sums.
pub fn polynomial(
    scheme: &Rlwe,
    relin: &RelinKey,
    x: &Ciphertext,
    coefficients: Numbers<'_>,
    length: usize,
) -> Result<Ciphertext, SchemeError> {
    if coefficients.is_empty() {
        return Err(SchemeError::Empty);
    }
    let degree = (1..coefficients.len()).rev().find(|&i| !coefficients.is_zero(i)).unwrap_or(0);
    let (coefficients, _) = coefficients.split_at(degree + 1);
    let block = ((degree + 1) as f64).sqrt().ceil() as usize;
    let mut powers = Powers { scheme, relin, length, of: BTreeMap::from([(1, x.clone())]) };
    let block = block.next_power_of_two().min(degree);
    powers.evaluate(coefficients, block)
}

/// The powers that were computed.
struct Powers<'a> {
    scheme: &'a Rlwe,
    relin: &'a RelinKey,
    length: usize,
    of: BTreeMap<usize, Ciphertext>,
}

impl Powers<'_> {
    /// A power as the product of its halves, at the least depth.
    fn power(&mut self, exponent: usize) -> Result<Ciphertext, SchemeError> {
        if let Some(power) = self.of.get(&exponent) {
            return Ok(power.clone());
        }
        let low = self.power(exponent / 2)?;
        let power = if exponent.is_multiple_of(2) {
            self.scheme.product(self.relin, &low, None)?
        } else {
            let high = self.power(exponent / 2 + 1)?;
            self.scheme.product(self.relin, &low, Some(&high))?
        };
        self.of.insert(exponent, power.clone());
        Ok(power)
    }

    fn evaluate(
        &mut self,
        coefficients: Numbers<'_>,
        block: usize,
    ) -> Result<Ciphertext, SchemeError> {
        if coefficients.len() <= block + 1 {
            return self.block(coefficients);
        }
        // The largest block times a power of two below the length.
        let mut split = block;
        while 2 * split < coefficients.len() {
            split *= 2;
        }
        let (low, high) = coefficients.split_at(split);
        let giant = self.power(split)?;
        let upper = if high.len() == 1 {
            high.scaled(self.scheme, &giant, 0)?
        } else {
            let high = self.evaluate(high, block)?;
            self.scheme.product(self.relin, &high, Some(&giant))?
        };
        if (1..low.len()).all(|i| low.is_zero(i)) {
            return self.add_constant(&upper, low);
        }
        let low = self.evaluate(low, block)?;
        self.scheme.sum(&upper, &low, false)
    }

    /// A few coefficients by their powers.
    fn block(&mut self, coefficients: Numbers<'_>) -> Result<Ciphertext, SchemeError> {
        let mut total: Option<Ciphertext> = None;
        for i in (1..coefficients.len()).rev().filter(|&i| !coefficients.is_zero(i)) {
            let power = self.power(i)?;
            let term = coefficients.scaled(self.scheme, &power, i)?;
            total = Some(match total {
                None => term,
                Some(total) => self.scheme.sum(&total, &term, false)?,
            });
        }
        match total {
            Some(total) => self.add_constant(&total, coefficients),
            // A block of a constant alone: zero times x, plus it.
            None => {
                let x = self.power(1)?;
                let zero = self.scheme.sub(&x, &x)?;
                self.add_constant(&zero, coefficients)
            }
        }
    }

    fn add_constant(
        &self,
        a: &Ciphertext,
        coefficients: Numbers<'_>,
    ) -> Result<Ciphertext, SchemeError> {
        if coefficients.is_zero(0) {
            return Ok(a.clone());
        }
        let period = self.length.next_power_of_two();
        let place = |slot: usize| (slot % period < self.length).then_some(0);
        let constant = coefficients.encode(self.scheme, place, a.scale(), a.level())?;
        self.scheme.add_plain(a, &constant)
    }
}
