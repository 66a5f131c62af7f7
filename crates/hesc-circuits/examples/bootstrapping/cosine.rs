//! `(1 - cos(2 pi x)) / 2`, which is a bit `b` near `x = b / 2 + I` for all integers `I`, and flat there, so that errors of `x` come out
//! squared (Bae, Cheon, Kim and Stehle 2024).
//!
//! A polynomial gives `exp(i a)` of a `2^r`-th of the angle, and squaring it `r` times the rest. Doubling cosines (Han and Ki 2020) would
//! take no complex numbers, but `2 c^2 - 1` makes errors near 1 four times as large each time, a square twice: that is worth `r` bits of
//! every prime. With `S_k = i^k T_k(t)` for Chebyshev's `T_k`, `exp(i a t)` is `J_0(a) + 2 sum J_k(a) S_k`, whose coefficients are real, and
//! `S_(m + j) = 2 S_m S_j - (-1)^j S_(m - j)`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::f64::consts::PI;

use hesc_schemes::rlwe::{Ciphertext, GaloisKeys, Plaintext, RelinKey, Rlwe};
use hesc_schemes::{Complex64, SchemeError};

/// Coefficients of the polynomial, a power of two.
const TERMS: usize = 32;
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

/// Levels that the function takes: for each factor of two in the number of coefficients one, and a square each.
pub fn levels(range: f64) -> usize {
    (TERMS.ilog2() + squarings(range)) as usize
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

    /// Products of ciphertexts that the function takes: for `S_2`, `S_4` and so on, for all pieces but the lowest, and squares.
    pub fn products(&self) -> usize {
        (TERMS.ilog2() - 1) as usize + (TERMS / 2 - 1) + self.squarings as usize
    }

    /// The function of `range t` in each slot, from `i t`.
    pub fn bits(&self, turned: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        // S_1, S_2, S_4, ...
        let mut powers = vec![turned.clone()];
        while 1 << powers.len() < TERMS {
            let last = powers.len() - 1;
            let square = scheme.product(self.relin, &powers[last], None)?;
            let missing = if last == 0 { 1.0 } else { -1.0 };
            let next = self.plus_constant(&scheme.add(&square, &square)?, missing)?;
            powers.push(self.claimed(next)?);
        }
        let level = turned.level() - TERMS.ilog2() as usize;
        let mut turns = self.piece(&self.coefficients, &powers, (level, scheme.default_scale()))?;
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

    fn plus_constant(&self, a: &Ciphertext, value: f64) -> Result<Ciphertext, SchemeError> {
        let key = (a.level(), a.scale().to_bits(), value.to_bits());
        let mut constants = self.constants.borrow_mut();
        let constant = match constants.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let slots = vec![Complex64::new(value, 0.0); self.scheme.slot_count()];
                unknown.insert(self.scheme.encode_complex(&slots, a.scale(), a.level())?)
            }
        };
        self.scheme.add_plain(a, constant)
    }

    /// The sum of `c_k S_k` at a level and scale, by the middle power: what is multiplied later is computed with fewer primes.
    fn piece(
        &self,
        coefficients: &[f64],
        powers: &[Ciphertext],
        (level, scale): (usize, f64),
    ) -> Result<Ciphertext, SchemeError> {
        let scheme = self.scheme;
        let before = scale * scheme.operand_scale(level + 1);
        if let [constant, factor] = *coefficients {
            let power = scheme.mod_switch_to(&powers[0], level + 1)?;
            let product = scheme.multiply_real(&power, factor, before / power.scale())?;
            return self.claimed(self.plus_constant(&scheme.rescale(&product)?, constant)?);
        }
        let (low, high) = split(coefficients);
        let power = &powers[low.len().ilog2() as usize];
        let high = self.piece(&high, powers, (level + 1, before / power.scale()))?;
        let product = scheme.product(self.relin, power, Some(&high))?;
        let low = self.piece(&low, powers, (level, scale))?;
        self.claimed(scheme.add(&product, &low)?)
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
