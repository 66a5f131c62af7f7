//! Noise at a few roots of unity, drawn instead of bounded: what a plan, which knows how each ciphertext is made of
//! others, has to go by.
//!
//! Bounds that hold whatever depends on what count the noise of a sum of `k` ciphertexts `k` times, where that of
//! independent ones grows by the root of `k`. What a division leaves is such: its remainder is another for each
//! ciphertext, uniform as far as anyone can tell who cannot tell ciphertexts from uniform. So the values of noise at a
//! root are drawn, `r(z) s(z)` with the same `s(z)` for all, and then go through sums and products as those of
//! ciphertexts do, with all that they have in common: a factor twice, `(xy) z` beside `x (yz)`, a square. What is
//! drawn is held against the noise of ciphertexts in the tests of [`super::combinations`].
//!
//! Draws are the same each time, and have nothing to do with keys: a step's number is their seed.

use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock};

/// Roots that noise is drawn at.
const ROOTS: usize = 512;
/// Numbers that draws are taken from.
const TABLE: usize = 1 << 12;
/// Factor on deviations that were drawn: those of products scatter by less than a tenth.
pub(super) const MARGIN: f64 = 1.25;

/// Values at the sampled roots, divided by the root of the ring's degree: real parts, then imaginary ones.
#[derive(Debug, Clone)]
pub(super) struct Samples(Arc<[f64]>);

/// Complex Gaussian numbers with mean square 1; at each root a secret, and the error of a public key.
struct Tables {
    table: Vec<(f64, f64)>,
    secret: Samples,
    error: Samples,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    table: spread(TABLE, 1),
    secret: Samples::of(&spread(ROOTS, 2)),
    error: Samples::of(&spread(ROOTS, 3)),
});

/// As many complex Gaussian numbers, their sizes at equal shares of the distribution.
fn spread(count: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut draws = Draws::new(seed);
    let mut numbers: Vec<(f64, f64)> = (0..count)
        .map(|i| {
            let share = (i as f64 + 0.5) / count as f64;
            let angle = TAU * (draws.next() >> 11) as f64 / (1u64 << 53) as f64;
            let size = (-share.ln()).sqrt();
            (size * angle.cos(), size * angle.sin())
        })
        .collect();
    for i in (1..count).rev() {
        numbers.swap(i, draws.below(i as u64 + 1) as usize);
    }
    numbers
}

/// Steele, Lea and Flood 2014 (splitmix64): statistics alone depend on it.
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another, up to a bias of their quotient.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(most)) >> 64) as u64
    }
}

impl Samples {
    fn of(numbers: &[(f64, f64)]) -> Self {
        let real = numbers.iter().map(|number| number.0);
        Self(real.chain(numbers.iter().map(|number| number.1)).collect())
    }

    /// Noise of a deviation, of a polynomial that is multiplied with the secret.
    pub(super) fn with_secret(deviation: f64, seed: u64) -> Self {
        let mut sum = Sum::drawn(seed);
        sum.multiply(&TABLES.secret);
        sum.of_deviation(deviation).finish()
    }

    /// Noise of a deviation whose half is multiplied with the secret, the other half with the public key's error.
    pub(super) fn of_public_key(deviation: f64, seed: u64) -> Self {
        let mut sum = Sum::drawn(seed);
        sum.multiply(&TABLES.secret);
        let other = Sum::drawn(seed.rotate_left(32)).finish();
        sum.add_product(1.0, &other, &TABLES.error);
        sum.of_deviation(deviation).finish()
    }
}

/// A sum on its way.
#[derive(Clone)]
pub(super) struct Sum(Vec<f64>);

impl Sum {
    pub(super) fn new() -> Self {
        Self(vec![0.0; 2 * ROOTS])
    }

    fn drawn(seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        let table = &TABLES.table;
        let mut values = vec![0.0; 2 * ROOTS];
        let (real, imaginary) = values.split_at_mut(ROOTS);
        for (x, y) in real.chunks_mut(4).zip(imaginary.chunks_mut(4)) {
            let mut places = draws.next();
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = table[places as usize % TABLE];
                places >>= 12;
            }
        }
        Self(values)
    }

    fn multiply(&mut self, by: &Samples) {
        let ((a, c), (b, d)) = (self.0.split_at_mut(ROOTS), by.0.split_at(ROOTS));
        for i in 0..ROOTS {
            (a[i], c[i]) = (a[i] * b[i] - c[i] * d[i], a[i] * d[i] + c[i] * b[i]);
        }
    }

    fn of_deviation(mut self, deviation: f64) -> Self {
        self.scale(deviation / self.deviation());
        self
    }

    /// Root mean square.
    pub(super) fn deviation(&self) -> f64 {
        (self.0.iter().map(|x| x * x).sum::<f64>() / ROOTS as f64).sqrt()
    }

    pub(super) fn of(samples: &Samples) -> Self {
        Self(samples.0.to_vec())
    }

    pub(super) fn add(&mut self, k: f64, a: &Samples) {
        add(&mut self.0, k, &a.0);
    }

    /// A product of polynomials has the product of their values.
    pub(super) fn add_product(&mut self, k: f64, a: &Samples, b: &Samples) {
        add_product(&mut self.0, k, a, b);
    }

    pub(super) fn scale(&mut self, by: f64) {
        self.0.iter_mut().for_each(|x| *x *= by);
    }

    pub(super) fn finish(self) -> Samples {
        Samples(self.0.into())
    }
}

fn add(sum: &mut [f64], k: f64, a: &[f64]) {
    for (sum, a) in sum.iter_mut().zip(a) {
        *sum += k * a;
    }
}

fn add_product(sum: &mut [f64], k: f64, a: &Samples, b: &Samples) {
    let (real, imaginary) = sum.split_at_mut(ROOTS);
    let ((a, c), (b, d)) = (a.0.split_at(ROOTS), b.0.split_at(ROOTS));
    for i in 0..ROOTS {
        real[i] += k * (a[i] * b[i] - c[i] * d[i]);
        imaginary[i] += k * (a[i] * d[i] + c[i] * b[i]);
    }
}
