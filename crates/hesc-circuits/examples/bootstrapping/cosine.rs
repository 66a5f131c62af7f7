//! `(1 - cos(2 pi x)) / 2`, which is a bit `b` near `x = b / 2 + I` for all integers `I`, and flat there, so that errors of `x` come out
//! squared (Bae, Cheon, Kim and Stehle 2024). An even polynomial gives the cosine of a `2^r`-th of the angle, and doubling it `r` times the rest (Han and Ki 2020).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f64::consts::PI;

use hesc_schemes::rlwe::{Ciphertext, Plaintext, RelinKey, Rlwe};
use hesc_schemes::{Complex64, SchemeError};

/// Coefficients of the polynomial, in `T_k(2 t^2 - 1)`.
const TERMS: usize = 16;
/// The lowest pieces of the polynomial have so many coefficients: powers up to there are made.
const PIECE: usize = 4;
/// What values between are taken to be within, and off by, at most: tests measure both at the end.
const CLAIMED: (f64, f64) = (1.0625, 1.0 / 64.0);

/// The function on `x = range t` for `t` within 1.
pub struct Cosine<'a> {
    scheme: &'a Rlwe,
    relin: &'a RelinKey,
    doublings: u32,
    coefficients: Vec<f64>,
    /// Constants as plaintexts, by level and bits of scale and value.
    constants: RefCell<BTreeMap<(usize, u64, u64), Plaintext>>,
}

/// Doublings that bring the angle of a range within the polynomial's: `4 pi`.
pub fn doublings(range: f64) -> u32 {
    (range / 2.0).log2().ceil().max(1.0) as u32
}

/// Levels that the function takes.
pub fn levels(range: f64) -> usize {
    // The first square, powers up to the lowest pieces, these, a product for each doubling of their length.
    let powers = PIECE.ilog2() as usize;
    let products = (TERMS / PIECE).ilog2() as usize;
    1 + powers + 1 + products + doublings(range) as usize
}

/// Chebyshev coefficients of the cosine of a `2^r`-th of the angle, as a function of `u = 2 t^2 - 1`.
fn coefficients(range: f64, doublings: u32) -> Vec<f64> {
    const NODES: usize = 64;
    let angle = 2.0 * PI * range / f64::from(doublings).exp2();
    let node = |j: usize| PI * (j as f64 + 0.5) / NODES as f64;
    let value = |j: usize| (angle * ((1.0 + node(j).cos()) / 2.0).sqrt()).cos();
    let coefficient = |k: usize| {
        let sum: f64 = (0..NODES).map(|j| value(j) * (k as f64 * node(j)).cos()).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / NODES as f64
    };
    (0..TERMS).map(coefficient).collect()
}

impl<'a> Cosine<'a> {
    pub fn new(scheme: &'a Rlwe, relin: &'a RelinKey, range: f64) -> Self {
        let doublings = doublings(range);
        let coefficients = coefficients(range, doublings);
        Self { scheme, relin, doublings, coefficients, constants: RefCell::default() }
    }

    /// Products of ciphertexts that the function takes.
    pub fn products(&self) -> usize {
        let giants = (TERMS / PIECE).ilog2() as usize;
        1 + (PIECE - 1) + (giants - 1) + TERMS / PIECE - 1 + self.doublings as usize
    }

    /// The function of `range t` in each slot.
    pub fn bits(&self, t: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let u = self.doubled(t, t, None)?;
        // T_1, T_2, ...; then T_(2 PIECE), T_(4 PIECE), ...
        let mut powers = vec![u];
        for k in 2..=PIECE {
            let (high, low) = (&powers[k.div_ceil(2) - 1], &powers[k / 2 - 1]);
            let less = (k % 2 == 1).then(|| &powers[0]);
            let next = self.doubled(high, low, less)?;
            powers.push(next);
        }
        let mut giants = vec![powers[PIECE - 1].clone()];
        while (PIECE << giants.len()) < TERMS {
            let last = &giants[giants.len() - 1];
            let next = self.doubled(last, last, None)?;
            giants.push(next);
        }
        let mut cosine = self.piece(&self.coefficients, &powers, &giants)?;
        for _ in 1..self.doublings {
            cosine = self.doubled(&cosine, &cosine, None)?;
        }
        // The last doubling, 2 c^2 - 1, and (1 - cos) / 2 are 1 - c^2.
        let square = scheme.product(self.relin, &self.claimed(cosine)?, None)?;
        let bits = self.plus_constant(&scheme.negate(&square)?, 1.0)?;
        scheme.claiming(bits, CLAIMED.0, CLAIMED.1)
    }

    fn claimed(&self, a: Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.claiming(a, CLAIMED.0, CLAIMED.1)
    }

    /// `2 a b - c`; without `c` less 1.
    fn doubled(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        c: Option<&Ciphertext>,
    ) -> Result<Ciphertext, SchemeError> {
        let other = (!std::ptr::eq(a, b)).then_some(b);
        let product = match other {
            // At one scale, so that the product's is the same wherever it is made.
            Some(b) => self.scheme.product(
                self.relin,
                &self.scheme.aligned_with(a, b)?,
                Some(&self.scheme.aligned_with(b, a)?),
            )?,
            None => self.scheme.product(self.relin, a, None)?,
        };
        let twice = self.scheme.add(&product, &product)?;
        let result = match c {
            Some(c) => self.scheme.sum(&twice, c, true)?,
            None => self.plus_constant(&twice, -1.0)?,
        };
        self.claimed(result)
    }

    fn plus_constant(&self, a: &Ciphertext, value: f64) -> Result<Ciphertext, SchemeError> {
        let key = (a.level(), a.scale().to_bits(), value.to_bits());
        let mut constants = self.constants.borrow_mut();
        if !constants.contains_key(&key) {
            let slots = vec![Complex64::new(value, 0.0); self.scheme.slot_count()];
            constants.insert(key, self.scheme.encode_complex(&slots, a.scale(), a.level())?);
        }
        self.scheme.add_plain(a, &constants[&key])
    }

    /// The sum of `c_k T_k`: by the middle power, for `T_(m + j) = 2 T_m T_j - T_(m - j)`.
    fn piece(
        &self,
        coefficients: &[f64],
        powers: &[Ciphertext],
        giants: &[Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        if coefficients.len() <= PIECE {
            return self.combination(coefficients, powers);
        }
        let middle = coefficients.len() / 2;
        let (mut low, mut high) =
            (coefficients[..middle].to_vec(), coefficients[middle..].to_vec());
        for j in 1..middle {
            low[middle - j] -= high[j];
            high[j] *= 2.0;
        }
        let giant = &giants[(middle / PIECE).ilog2() as usize];
        let high = self.piece(&high, powers, giants)?;
        let low = self.piece(&low, powers, giants)?;
        let product = self.scheme.product(self.relin, giant, Some(&high))?;
        self.claimed(self.scheme.sum(&product, &low, false)?)
    }

    /// The sum of `c_k T_k` for the powers that there are.
    fn combination(
        &self,
        coefficients: &[f64],
        powers: &[Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let level = powers.iter().map(Ciphertext::level).min().unwrap_or(1);
        let scale = scheme.default_scale() * scheme.operand_scale(level);
        let mut sum: Option<Ciphertext> = None;
        for (&c, power) in coefficients[1..].iter().zip(powers) {
            let power = scheme.mod_switch_to(power, level)?;
            let term = scheme.multiply_real(&power, c, scale / power.scale())?;
            sum = Some(match sum {
                None => term,
                Some(sum) => scheme.add(&sum, &term)?,
            });
        }
        let sum = scheme.rescale(&sum.unwrap_or_else(|| powers[0].clone()))?;
        self.claimed(self.plus_constant(&sum, coefficients[0])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The polynomial, doubled, is the function on the whole range, by a recurrence that knows nothing of pieces.
    #[test]
    fn the_polynomial_is_the_cosine() {
        for range in [32.0, 100.0, 512.0] {
            let (r, own) = (doublings(range), coefficients(range, doublings(range)));
            for i in 0..=4000 {
                let t = f64::from(i) / 2000.0 - 1.0;
                let u = 2.0 * t * t - 1.0;
                let (mut before, mut last, mut sum) = (1.0, u, own[0]);
                for c in &own[1..] {
                    sum += c * last;
                    (before, last) = (last, 2.0 * u * last - before);
                }
                let cosine = (0..r).fold(sum, |c, _| 2.0 * c * c - 1.0);
                let error = (cosine - (2.0 * PI * range * t).cos()).abs();
                assert!(error < 1e-3, "{range}, {t}: {error}");
            }
        }
    }
}
