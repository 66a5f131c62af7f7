//! `(1 - cos(2 pi x)) / 2`, which is a bit `b` near `x = b / 2 + I` for all integers `I`, and flat there, so that errors of `x` come out
//! squared (Bae, Cheon, Kim and Stehle 2024).
//!
//! A polynomial gives `exp(i a)` of a `2^r`-th of the angle, and squaring it `r` times the rest. Doubling cosines (Han and Ki 2020) would
//! take no complex numbers, but `2 c^2 - 1` makes errors near 1 four times as large each time, a square twice: that is worth `r` bits of
//! every prime. With `S_k = i^k T_k(t)` for Chebyshev's `T_k`, `exp(i a t)` is `J_0(a) + 2 sum J_k(a) S_k`, whose coefficients are real, and
//! `S_(m + j) = 2 S_m S_j - (-1)^j S_(m - j)`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::f64::consts::PI;

use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, Plaintext, RelinKey, Rlwe};
use hesc_schemes::{Complex64, SchemeError};

/// Coefficients of the polynomial.
const TERMS: usize = 32;
/// The lowest pieces of the polynomial have so many coefficients: powers up to there are made. Two take a level less than four, and
/// seven products more.
const PIECE: usize = 2;
/// What numbers on the way are taken to be within, and off by, at most: tests measure both at the end.
const CLAIMED: (f64, f64) = (1.0625, 1.0 / 32.0);

/// The function on `x = range t` for `t` within 1.
pub struct Cosine<'a> {
    scheme: &'a Rlwe,
    relin: &'a RelinKey,
    galois: &'a GaloisKeys,
    squarings: u32,
    coefficients: Vec<f64>,
    /// Constants as plaintexts, by level and bits of scale and value.
    constants: RefCell<BTreeMap<(usize, u64, u64), Plaintext>>,
}

/// Squarings that bring the angle of a range within the polynomial's: `4 pi`.
fn squarings(range: f64) -> u32 {
    (range / 2.0).log2().ceil().max(1.0) as u32
}

/// Levels that the function takes: powers below the lowest pieces, these, a product for each doubling of their length, squares.
pub fn levels(range: f64) -> usize {
    let (powers, products) = ((PIECE / 2).ilog2(), (TERMS / PIECE).ilog2());
    (powers + 1 + products + squarings(range)) as usize
}

/// Coefficients of the exponential of a `2^r`-th of the angle, made so much smaller that it ends as a quarter: `J_k(a)`
/// by its integral, `cos(k x - a sin x)` over a period.
fn coefficients(range: f64, squarings: u32) -> Vec<f64> {
    const NODES: usize = 128;
    let parts = f64::from(squarings).exp2();
    let angle = 2.0 * PI * range / parts;
    let smaller = 0.25_f64.powf(1.0 / parts);
    let coefficient = |k: usize| {
        let value = |j: usize| {
            let x = 2.0 * PI * j as f64 / NODES as f64;
            (k as f64 * x - angle * x.sin()).cos()
        };
        let mean = (0..NODES).map(value).sum::<f64>() / NODES as f64;
        smaller * mean * if k == 0 { 1.0 } else { 2.0 }
    };
    (0..TERMS).map(coefficient).collect()
}

/// `(-1)^j`.
fn sign(j: usize) -> f64 {
    if j.is_multiple_of(2) { 1.0 } else { -1.0 }
}

impl<'a> Cosine<'a> {
    pub fn new(scheme: &'a Rlwe, relin: &'a RelinKey, galois: &'a GaloisKeys, range: f64) -> Self {
        let squarings = squarings(range);
        let coefficients = coefficients(range, squarings);
        Self { scheme, relin, galois, squarings, coefficients, constants: RefCell::default() }
    }

    /// Products of ciphertexts that the function takes.
    pub fn products(&self) -> usize {
        let pieces = TERMS / PIECE;
        (PIECE - 1) + (pieces.ilog2() as usize - 1) + (pieces - 1) + self.squarings as usize
    }

    /// The function of `range t` in each slot, from `i t`.
    pub fn bits(&self, turned: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let mut powers = vec![turned.clone()];
        for k in 2..=PIECE {
            let next = self.power(&powers[k.div_ceil(2) - 1], &powers[k / 2 - 1], k)?;
            let next = match k % 2 {
                0 => next,
                _ => self.claimed(scheme.sum(&next, &powers[0], sign(k / 2) > 0.0)?)?,
            };
            powers.push(next);
        }
        let mut giants = vec![powers[PIECE - 1].clone()];
        while (PIECE << giants.len()) < TERMS {
            let last = &giants[giants.len() - 1];
            let next = self.power(last, last, PIECE << giants.len())?;
            giants.push(next);
        }
        let mut turns = self.piece(&self.coefficients, &powers, &giants)?;
        for _ in 0..self.squarings {
            turns = self.claimed(scheme.product(self.relin, &turns, None)?)?;
        }
        // With its conjugate: half the cosine.
        let cosine = scheme.add(&turns, &scheme.swap_or_conjugate(&turns, self.galois)?)?;
        self.claimed(self.plus_constant(&scheme.negate(&cosine)?, 0.5)?)
    }

    fn claimed(&self, a: Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.scheme.claiming(a, CLAIMED.0, CLAIMED.1)
    }

    /// `2 S_a S_b` for `a + b = k`, less what is missing of `S_k` if that is a constant.
    fn power(&self, a: &Ciphertext, b: &Ciphertext, k: usize) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let square = k.is_multiple_of(2);
        let product = scheme.product(self.relin, a, (!square).then_some(b))?;
        let twice = scheme.add(&product, &product)?;
        if square { self.claimed(self.plus_constant(&twice, -sign(k / 2))?) } else { Ok(twice) }
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

    /// The sum of `c_k S_k`, by the middle power.
    fn piece(
        &self,
        coefficients: &[f64],
        powers: &[Ciphertext],
        giants: &[Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        if coefficients.len() <= PIECE {
            return self.combination(coefficients, powers);
        }
        let (low, high) = split(coefficients);
        let giant = &giants[(low.len() / PIECE).ilog2() as usize];
        let high = self.piece(&high, powers, giants)?;
        let low = self.piece(&low, powers, giants)?;
        let product = self.scheme.product(self.relin, giant, Some(&high))?;
        self.claimed(self.scheme.sum(&product, &low, false)?)
    }

    /// The sum of `c_k S_k` for the powers that there are.
    fn combination(
        &self,
        coefficients: &[f64],
        powers: &[Ciphertext],
    ) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let powers = &powers[..coefficients.len() - 1];
        let level = powers.iter().map(Ciphertext::level).min().unwrap_or(1);
        let scale = scheme.default_scale() * scheme.operand_scale(level);
        let term = |c: f64, power: &Ciphertext| {
            let power = scheme.mod_switch_to(power, level)?;
            scheme.multiply_real(&power, c, scale / power.scale())
        };
        let mut sum = term(coefficients[1], &powers[0])?;
        for (&c, power) in coefficients[2..].iter().zip(&powers[1..]) {
            sum = scheme.add(&sum, &term(c, power)?)?;
        }
        self.claimed(self.plus_constant(&scheme.rescale(&sum)?, coefficients[0])?)
    }
}

/// `low` and `high` with `sum c_k S_k = low + S_m high`, `m` the middle.
fn split(coefficients: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let middle = coefficients.len() / 2;
    let (mut low, mut high) = (coefficients[..middle].to_vec(), coefficients[middle..].to_vec());
    for j in 1..middle {
        low[middle - j] -= sign(j) * high[j];
        high[j] *= 2.0;
    }
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `S_k` of `t` by its definition.
    fn sum(coefficients: &[f64], t: f64) -> Complex64 {
        let turn = |k: usize| Complex64::new(0.0, 1.0).powu(k as u32);
        let power = |k: usize| turn(k) * (k as f64 * t.acos()).cos();
        coefficients.iter().enumerate().map(|(k, c)| power(k) * c).sum()
    }

    /// The polynomial, squared often enough, is a quarter of the exponential on the whole range.
    #[test]
    fn the_polynomial_is_the_exponential() {
        for range in [32.0, 100.0, 512.0] {
            let (r, own) = (squarings(range), coefficients(range, squarings(range)));
            for i in 0..=2000 {
                let t = f64::from(i) / 1000.0 - 1.0;
                let found = (0..r).fold(sum(&own, t), |z, _| z * z);
                let wanted = Complex64::from_polar(0.25, 2.0 * PI * range * t);
                assert!((found - wanted).norm() < 1e-6, "{range}, {t}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn pieces_are_the_polynomial() {
        let all: Vec<f64> = (0..16).map(|k| f64::from(k * k % 7) - 2.5).collect();
        let (low, high) = split(&all);
        for t in [-1.0, -0.3, 0.0, 0.7] {
            let middle = Complex64::new((8.0 * f64::acos(t)).cos(), 0.0);
            let pieces = sum(&low, t) + middle * sum(&high, t);
            assert!((pieces - sum(&all, t)).norm() < 1e-9, "{t}");
        }
    }
}
