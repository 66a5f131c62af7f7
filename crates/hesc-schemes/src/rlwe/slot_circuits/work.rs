//! What operations cost, counted: transforms, and passes over the words of a prime.

use std::ops::{Add, AddAssign};
use std::time::Instant;

use hesc_math::residues::kernels;

use crate::rlwe::Rlwe;

/// Polynomials that a measurement goes through: megabytes.
const ROWS: usize = 64;

/// How many times as long circuits take as what is counted: conversions between primes, digits, memory. The median over
/// those of `hesc reproduce hesc:integers`, which prints between what it lies.
const UNCOUNTED: f64 = 1.45;

/// Operations on polynomials modulo a prime.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Transforms, of either direction.
    pub transforms: f64,
    /// Passes that multiply.
    pub passes: f64,
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { transforms: self.transforms + other.transforms, passes: self.passes + other.passes }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Seconds that operations on polynomials take, on one thread.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// A transform.
    pub transform: f64,
    /// A pass.
    pub pass: f64,
}

impl Speed {
    /// Seconds of some work.
    pub fn seconds(&self, work: Work) -> f64 {
        UNCOUNTED * (self.transform * work.transforms + self.pass * work.passes)
    }
}

impl Rlwe {
    /// How fast this machine is in this ring, on words that are in no cache, as those of circuits are: the best of a
    /// few runs. Cost: tens of milliseconds, once.
    pub fn measured_speed(&self) -> Speed {
        *self.0.speed.get_or_init(|| {
            let (n, prime) = (self.ring_degree(), &self.chain().primes()[0]);
            let words = |from: u64| (from..from + (ROWS * n) as u64).map(|i| i % prime.value());
            let (mut rows, others): (Vec<u64>, Vec<u64>) = (words(0).collect(), words(7).collect());
            let factor = prime.factor(3);
            let mut best = |run: &dyn Fn(&mut [u64], &[u64])| {
                let times = (0..8).map(|_| {
                    let start = Instant::now();
                    let pairs = rows.chunks_exact_mut(n).zip(others.chunks_exact(n));
                    pairs.for_each(|(row, other)| run(row, other));
                    start.elapsed().as_secs_f64() / ROWS as f64
                });
                times.fold(f64::INFINITY, f64::min)
            };
            Speed {
                transform: best(&|row, _| prime.forward(row)),
                pass: best(&|row, other| kernels::scale_add(row, other, factor, prime)),
            }
        })
    }

    /// Of [`Self::combination`], of so many ciphertexts.
    pub fn work_of_sum(&self, terms: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work { transforms: 0.0, passes: 2.0 * primes * terms as f64 }
    }

    /// From one level to another, by a division or without the primes that it has not.
    pub(crate) fn work_of_switch(&self, from: usize, to: usize, dropped: bool) -> Work {
        let after = self.chain().level(to).len() as f64;
        if from == to {
            return Work::default();
        }
        if dropped {
            // Copied: nothing is read twice.
            return Work { transforms: 0.0, passes: after };
        }
        let divisors = self.chain().division(from, to).divisors.len() as f64;
        Work { transforms: 2.0 * (divisors + after), passes: 2.0 * after * (divisors + 1.0) }
    }

    /// Of [`Self::public_ciphertext`], and of encoding what it is of.
    pub fn work_of_public(&self, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work { transforms: primes + 2.0, passes: 2.0 * primes }
    }

    /// Of [`Self::unpack`], of so many outputs.
    pub fn work_of_unpacking(&self, outputs: usize, degree: usize, from: usize, to: usize) -> Work {
        let chain = self.chain();
        let (before, after) = (chain.level(from).len() as f64, chain.level(to).len() as f64);
        let (targets, digits) =
            (before + chain.special().len() as f64, chain.digits(from).len() as f64);
        let divided = chain.key_division(from, to).divisors.len() as f64;
        let (d, outputs) = (degree as f64, outputs as f64);
        Work {
            // Digits once, the constant, and a division for each output.
            transforms: digits * targets + targets + outputs * 2.0 * (divided + after),
            passes: 2.0 * (d - 1.0) * (digits + 2.0) * targets
                + outputs * (2.0 * d * targets + 2.0 * after * (divided + 1.0)),
        }
    }

    /// Of [`Self::pack`], of so many ciphertexts of a level.
    pub fn work_of_packing(&self, columns: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        let moved = columns.saturating_sub(1) as f64;
        Work { transforms: primes * moved, passes: 5.0 * primes * moved }
    }

    /// Of so many products of evaluations, summed and not relinearised.
    pub(crate) fn work_of_tensors(&self, products: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work { transforms: 0.0, passes: 4.0 * primes * products as f64 }
    }

    /// Of [`Self::combination_of_products`], of so many products and ciphertexts.
    pub fn work_of_products(&self, products: usize, terms: usize, from: usize, to: usize) -> Work {
        self.work_of_relinearising(from, to)
            + self.work_of_tensors(products, from)
            + self.work_of_sum(terms, from)
    }

    /// Of [`Self::relinearise_to`].
    pub(crate) fn work_of_relinearising(&self, from: usize, to: usize) -> Work {
        let chain = self.chain();
        let (before, after) = (chain.level(from).len() as f64, chain.level(to).len() as f64);
        let special = chain.special().len() as f64;
        let digits = chain.digits(from).len() as f64;
        let divided = chain.key_division(from, to).divisors.len() as f64;
        Work {
            // Digits in their own primes are there already.
            transforms: before + digits * (before + special) - before + 2.0 * (divided + after),
            passes: 2.0 * (digits + 1.0) * (before + special) + 2.0 * after * (divided + 1.0),
        }
    }
}
