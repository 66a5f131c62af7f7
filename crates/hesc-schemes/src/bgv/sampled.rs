//! Noise at a few roots of unity, sampled instead of bounded (a Monte Carlo estimate): what a plan, which knows how each ciphertext is made of
//! others, has to go by.
//!
//! Bounds that hold whatever depends on what count the noise of a sum of `k` ciphertexts `k` times, where that of
//! independent ones grows by the root of `k`. What a division leaves is such: its remainder is another for each
//! ciphertext, uniform as far as anyone can tell who cannot tell ciphertexts from uniform. So the values of noise at a
//! root are sampled, `r(z) s(z)` with the same `s(z)` for all, and then go through sums and products as those of
//! ciphertexts do, with all that they have in common: a factor twice, `(xy) z` beside `x (yz)`, a square. What is
//! sampled is held against the noise of ciphertexts in the tests of [`super::planned_states`].
//!
//! **Outlier roots.** Where `s(z)` is large all noise is larger, and products of it larger still. In units of what a division
//! adds elsewhere, noise at such a root goes from `x` to `|s(z)| + c x^2`, if a division leaves `c` of products. Where
//! `4 c |s(z)| <= 1` that stays below `2 |s(z)|`; otherwise it grows at every level without end, at a root that no sample
//! of a few hundred shows, until nothing decrypts. So noise is sampled at roots with `|s(z)|` = [`OUTLIER`] too, and what is
//! beyond `2 OUTLIER` times the typical there counts as if it were everywhere: plans choose levels at which it settles.
//!
//! Samples are the same each time, and have nothing to do with keys: a step's number is their seed.

use std::f64::consts::TAU;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Roots that noise is sampled at, as they come and with a large value of the secret.
const TYPICAL: usize = 512;
const ROOTS: usize = TYPICAL + 128;
/// That value, in root mean squares: what is left of products is then `c = 1 / 4 OUTLIER` at most. At a root with
/// `|s(z)| = a` noise settles that starts below `x = 2 OUTLIER (1 + (1 - a / OUTLIER)^(1/2))`; one ciphertext has `a b` there with
/// a remainder of size `b`. Both sizes are those of Gaussian numbers: `a b = x` has the probability `exp(-a^2 - b^2)`, at
/// most `exp(-104) = 2^-150`, for `a = b = 7.2`; of `2^22` roots and ciphertexts together `2^-128`.
pub(super) const OUTLIER: f64 = 15.0;
/// Numbers that samples are taken from.
const TABLE: usize = 1 << 12;
/// Factor on deviations that were sampled: those of products scatter by less than a tenth.
pub(super) const MARGIN: f64 = 1.25;

/// Values at the sampled roots, divided by the root of the ring's degree: real parts, then imaginary ones; of products
/// of so many, but 2 of more.
#[derive(Debug, Clone)]
pub(super) struct Samples(Arc<[f64]>, i32);

/// Complex Gaussian numbers with mean square 1; at each root a secret, and the error of a public key.
struct Tables {
    table: Vec<(f64, f64)>,
    secret: Samples,
    error: Samples,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    table: spread(TABLE, 1),
    secret: Samples::of(&[spread(TYPICAL, 2), of_size(OUTLIER, ROOTS - TYPICAL, 4)].concat()),
    error: Samples::of(&[spread(TYPICAL, 3), spread(ROOTS - TYPICAL, 5)].concat()),
});

/// As many complex numbers of one size.
fn of_size(size: f64, count: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut generator = SplitMix::new(seed);
    let mut turned = || {
        let angle = generator.angle();
        (size * angle.cos(), size * angle.sin())
    };
    (0..count).map(|_| turned()).collect()
}

/// As many complex Gaussian numbers, their sizes at equal shares of the distribution.
fn spread(count: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut generator = SplitMix::new(seed);
    let mut numbers: Vec<(f64, f64)> = (0..count)
        .map(|i| {
            let share = (i as f64 + 0.5) / count as f64;
            let angle = generator.angle();
            let size = (-share.ln()).sqrt();
            (size * angle.cos(), size * angle.sin())
        })
        .collect();
    for i in (1..count).rev() {
        numbers.swap(i, generator.below(i as u64 + 1) as usize);
    }
    numbers
}

/// Steele, Lea and Flood 2014 (splitmix64): statistics alone depend on it.
pub(super) struct SplitMix(u64);

impl SplitMix {
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

    fn angle(&mut self) -> f64 {
        TAU * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number below another, up to a bias of their quotient.
    pub(super) fn below(&mut self, most: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(most)) >> 64) as u64
    }
}

impl Samples {
    fn of(numbers: &[(f64, f64)]) -> Self {
        let real = numbers.iter().map(|number| number.0);
        Self(real.chain(numbers.iter().map(|number| number.1)).collect(), 1)
    }

    /// Noise of a deviation, of a polynomial that is multiplied with the secret.
    pub(super) fn with_secret(deviation: f64, seed: u64) -> Self {
        let mut sum = Sum::sampled(seed);
        sum.multiply(&TABLES.secret);
        sum.of_deviation(deviation).finish()
    }

    /// Noise of a deviation whose half is multiplied with the secret, the other half with the public key's error.
    pub(super) fn of_public_key(deviation: f64, seed: u64) -> Self {
        let mut sum = Sum::sampled(seed);
        sum.multiply(&TABLES.secret);
        let other = Sum::sampled(seed.rotate_left(32)).finish();
        sum.add_product(1.0, &other, &TABLES.error);
        sum.1 = 1;
        sum.of_deviation(deviation).finish()
    }
}

/// A sum on its way.
#[derive(Clone)]
pub(super) struct Sum(Vec<f64>, i32);

impl Sum {
    pub(super) fn new() -> Self {
        Self(vec![0.0; 2 * ROOTS], 1)
    }

    fn sampled(seed: u64) -> Self {
        let mut generator = SplitMix::new(seed);
        let table = &TABLES.table;
        let mut values = vec![0.0; 2 * ROOTS];
        let (real, imaginary) = values.split_at_mut(ROOTS);
        for (x, y) in real.chunks_mut(4).zip(imaginary.chunks_mut(4)) {
            let mut places = generator.next();
            for (x, y) in x.iter_mut().zip(y) {
                (*x, *y) = table[places as usize % TABLE];
                places >>= 12;
            }
        }
        Self(values, 1)
    }

    fn multiply(&mut self, by: &Samples) {
        let ((a, c), (b, d)) = (self.0.split_at_mut(ROOTS), by.0.split_at(ROOTS));
        for i in 0..ROOTS {
            (a[i], c[i]) = (a[i] * b[i] - c[i] * d[i], a[i] * d[i] + c[i] * b[i]);
        }
    }

    fn of_deviation(mut self, deviation: f64) -> Self {
        self.scale(deviation / self.typical());
        self
    }

    /// Root mean square over the typical roots.
    pub(super) fn typical(&self) -> f64 {
        self.root_mean_square(0..TYPICAL)
    }

    fn root_mean_square(&self, roots: Range<usize>) -> f64 {
        let (real, imaginary) = self.0.split_at(ROOTS);
        let sum = squares(&real[roots.clone()]) + squares(&imaginary[roots.clone()]);
        (sum / roots.len() as f64).sqrt()
    }

    /// Root mean square, of the typical roots or, if that is more, of the others without what they have when it settles.
    /// A single root has a share of `1 / N` in the squares, below that of its factor here.
    pub(super) fn deviation(&self) -> f64 {
        self.typical().max(self.root_mean_square(TYPICAL..ROOTS) / (2.0 * OUTLIER).powi(self.1))
    }

    pub(super) fn of(samples: &Samples) -> Self {
        Self(samples.0.to_vec(), samples.1)
    }

    pub(super) fn add(&mut self, k: f64, a: &Samples) {
        add(&mut self.0, k, &a.0);
        self.1 = self.1.max(a.1);
    }

    /// A product of polynomials has the product of their values.
    pub(super) fn add_product(&mut self, k: f64, a: &Samples, b: &Samples) {
        add_product(&mut self.0, k, a, b);
        self.1 = 2;
    }

    /// Through a division by a number.
    pub(super) fn divide(&mut self, by: f64) {
        self.scale(1.0 / by);
        self.1 = 1;
    }

    fn scale(&mut self, by: f64) {
        self.0.iter_mut().for_each(|x| *x *= by);
    }

    pub(super) fn finish(self) -> Samples {
        Samples(self.0.into(), self.1)
    }
}

/// Sum of squares, in lanes: one sum after another would wait for each addition.
fn squares(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    for values in values.chunks(lanes.len()) {
        for (lane, x) in lanes.iter_mut().zip(values) {
            *lane += x * x;
        }
    }
    lanes.iter().sum()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A remainder times the secret, of deviation 1.
    fn remainder(seed: u64) -> Samples {
        Samples::with_secret(1.0, seed)
    }

    /// What noise counts as at outlier roots, beside what it has there: a product of two remainders has the secret's value
    /// squared, the mean square of 128 samples scatters by a sixth, in six of these deviations.
    #[test]
    fn noise_at_outlier_roots_counts_by_what_it_settles_at() {
        let products = [(1, OUTLIER.powi(2)), (2, 2f64.sqrt() * OUTLIER.powi(2))];
        for (count, there) in products {
            let mut sum = Sum::new();
            sum.add(1.0, &remainder(1));
            for seed in 1..=count {
                sum.add_product(1.0, &remainder(2 * seed), &remainder(2 * seed + 1));
            }
            let outliers = |sum: &Sum| sum.root_mean_square(TYPICAL..ROOTS);
            assert!((outliers(&sum) / there - 1.0).abs() < 0.5, "{}", outliers(&sum) / there);
            // Products settle at the square of what their factors settle at.
            assert!(outliers(&sum) / (2.0 * OUTLIER).powi(2) < sum.typical());
            assert_eq!(sum.deviation(), sum.typical());
            // Sums with products count as products.
            let with_more = |sum: &Sum| {
                let mut more = Sum::of(&remainder(9));
                more.add(1e6, &sum.clone().finish());
                more
            };
            let more = with_more(&sum);
            assert_eq!(more.deviation(), more.typical());
            // However many products are summed, and of whatever: what they have beyond that counts.
            let mut further = Sum::new();
            for seed in [20, 21] {
                further.add_product(1.0, &sum.clone().finish(), &{
                    let mut other = Sum::new();
                    other.add_product(1.0, &remainder(seed), &remainder(seed + 2));
                    other.finish()
                });
            }
            let counted = outliers(&further) / (2.0 * OUTLIER).powi(2);
            assert!(counted > 2.0 * further.typical());
            assert!((further.deviation() / counted - 1.0).abs() < 1e-12);
            // What a division leaves is a factor of the next products.
            sum.divide(64.0);
            let counted = outliers(&sum) / (2.0 * OUTLIER);
            assert!(counted > 2.0 * sum.typical());
            assert!((sum.deviation() / counted - 1.0).abs() < 1e-12);
            let more = with_more(&sum);
            assert!((more.deviation() / (outliers(&more) / (2.0 * OUTLIER)) - 1.0).abs() < 1e-12);
        }
    }

    /// Levels that leave up to a sixtieth of products settle at once and for ever, with next to what divisions add;
    /// where more is left, that is seen before noise at outlier roots is beyond what settles.
    #[test]
    fn noise_that_runs_away_is_seen() {
        for (left, settles) in [(1.0 / 90.0, true), (1.0 / 70.0, true), (1.0 / 25.0, false)] {
            let mut chain = [remainder(1), remainder(2)];
            let mut most = 0.0f64;
            for level in 1..=12 {
                chain = [0, 1].map(|at| {
                    let mut sum = Sum::new();
                    sum.add_product(1.0, &chain[0], &chain[1 - at]);
                    sum.divide(1.0 / left);
                    sum.add(1.0, &remainder(10 * level + at as u64));
                    most = most.max(sum.deviation());
                    sum.finish()
                });
                if most > 1.5 {
                    break;
                }
            }
            assert_eq!(most < 1.5, settles, "{left}: {most}");
        }
    }
}
