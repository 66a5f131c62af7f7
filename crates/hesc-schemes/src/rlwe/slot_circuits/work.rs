//! What operations cost, counted: transforms, and passes over the words of a prime.

use std::ops::{Add, AddAssign};
use std::time::Instant;

use hesc_math::residues::kernels;
use hesc_math::ring::Prime;

use crate::rlwe::Rlwe;

/// Polynomials that a measurement goes through: megabytes.
const ROWS: usize = 64;
/// Words that are measured together at least, so that clocks see them; the fewer they are, the less does other work on
/// the machine come between.
const TOGETHER: usize = 1 << 15;

/// How many times as long circuits take as what is counted: conversions between primes, digits, memory. The median over
/// those of `hesc reproduce hesc:integers`, which prints between what it lies.
const UNCOUNTED: f64 = 1.45;

/// Operations on polynomials modulo a prime.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Operations {
    /// Transforms, of either direction.
    pub(crate) transforms: f64,
    /// Passes that multiply.
    pub(crate) passes: f64,
}

impl Operations {
    fn plus(self, other: Self) -> Self {
        Self { transforms: self.transforms + other.transforms, passes: self.passes + other.passes }
    }

    fn times(self, count: f64) -> Self {
        Self { transforms: count * self.transforms, passes: count * self.passes }
    }
}

/// Operations that something takes. Special primes may be larger than those of ciphertexts, and beyond the vector
/// instructions: one such operation then takes as long as ten.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Modulo primes of ciphertexts.
    pub(crate) own: Operations,
    /// Modulo special primes.
    pub(crate) special: Operations,
}

impl Work {
    /// Modulo primes of ciphertexts alone.
    pub(crate) fn of(transforms: f64, passes: f64) -> Self {
        Self { own: Operations { transforms, passes }, special: Operations::default() }
    }

    /// The same so many times.
    #[must_use]
    pub fn times(self, count: usize) -> Self {
        let count = count as f64;
        Self { own: self.own.times(count), special: self.special.times(count) }
    }
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { own: self.own.plus(other.own), special: self.special.plus(other.special) }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Seconds that operations on polynomials take, on one thread: of one each.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Modulo primes of ciphertexts.
    own: Operations,
    /// Modulo special primes.
    special: Operations,
}

impl Speed {
    /// Seconds of some work.
    pub fn seconds(&self, work: Work) -> f64 {
        let of = |speed: Operations, work: Operations| {
            speed.transforms * work.transforms + speed.passes * work.passes
        };
        UNCOUNTED * (of(self.own, work.own) + of(self.special, work.special))
    }
}

impl Rlwe {
    /// How fast this machine is in this ring, on words that are in no cache, as those of circuits are: the best of a
    /// few runs, modulo a prime of ciphertexts and a special one. Cost: tens of milliseconds, once.
    pub fn measured_speed(&self) -> Speed {
        *self.0.speed.get_or_init(|| {
            let own = self.speed_of(&self.chain().primes()[0]);
            let special = self.chain().special().last().map_or(own, |prime| self.speed_of(prime));
            Speed { own, special }
        })
    }

    /// Seconds of one operation each.
    fn speed_of(&self, prime: &Prime) -> Operations {
        let n = self.ring_degree();
        let words = |from: u64| (from..from + (ROWS * n) as u64).map(|i| i % prime.value());
        let (mut rows, others): (Vec<u64>, Vec<u64>) = (words(0).collect(), words(7).collect());
        let factor = prime.factor(3);
        let together = (TOGETHER / n).clamp(1, ROWS);
        let mut best = |run: &dyn Fn(&mut [u64], &[u64])| {
            let mut least = f64::INFINITY;
            for _ in 0..8 {
                let groups = rows.chunks_mut(together * n).zip(others.chunks(together * n));
                for (group, beside) in groups {
                    let (count, start) = (group.len() / n, Instant::now());
                    let pairs = group.chunks_exact_mut(n).zip(beside.chunks_exact(n));
                    pairs.for_each(|(row, other)| run(row, other));
                    least = least.min(start.elapsed().as_secs_f64() / count as f64);
                }
            }
            least
        };
        Operations {
            transforms: best(&|row, _| prime.forward(row)),
            passes: best(&|row, other| kernels::scale_add(row, other, factor, prime)),
        }
    }

    /// Of [`Self::combination`], of so many ciphertexts.
    pub fn work_of_sum(&self, terms: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work::of(0.0, 2.0 * primes * terms as f64)
    }

    /// From one level to another, by a division or without the primes that it has not.
    pub(crate) fn work_of_switch(&self, from: usize, to: usize, dropped: bool) -> Work {
        let after = self.chain().level(to).len() as f64;
        if from == to {
            return Work::default();
        }
        if dropped {
            // Copied: nothing is read twice.
            return Work::of(0.0, after);
        }
        let divisors = self.chain().division(from, to).divisors.len() as f64;
        Work::of(2.0 * (divisors + after), 2.0 * after * (divisors + 1.0))
    }

    /// Of [`Self::public_ciphertext`], and of encoding what it is of.
    pub fn work_of_public(&self, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work::of(primes + 2.0, 2.0 * primes)
    }

    /// Of [`Self::unpack`], of so many outputs.
    pub fn work_of_unpacking(&self, outputs: usize, degree: usize, from: usize, to: usize) -> Work {
        let chain = self.chain();
        let (before, special) = (chain.level(from).len() as f64, chain.special().len() as f64);
        let digits = chain.digits(from).len() as f64;
        let d = degree as f64;
        // Digits once, the constant, and a division for each output.
        let (of_digits, of_output) = (2.0 * (d - 1.0) * (digits + 2.0), 2.0 * d);
        let at = |targets: f64| Operations {
            transforms: (digits + 1.0) * targets,
            passes: (of_digits + outputs as f64 * of_output) * targets,
        };
        let divisions = self.work_of_key_division(from, to).times(outputs);
        Work { own: at(before), special: at(special) } + divisions
    }

    /// Of [`Self::pack`], of so many ciphertexts of a level.
    pub fn work_of_packing(&self, columns: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        let moved = columns.saturating_sub(1) as f64;
        Work::of(primes * moved, 5.0 * primes * moved)
    }

    /// Of so many products of evaluations, summed and not relinearised.
    pub(crate) fn work_of_tensors(&self, products: usize, level: usize) -> Work {
        let primes = self.chain().level(level).len() as f64;
        Work::of(0.0, 4.0 * primes * products as f64)
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
        let (before, special) = (chain.level(from).len() as f64, chain.special().len() as f64);
        let digits = chain.digits(from).len() as f64;
        let passes = 2.0 * (digits + 1.0);
        // Digits in their own primes are there already.
        let own = Operations { transforms: digits * before, passes: passes * before };
        let special = Operations { transforms: digits * special, passes: passes * special };
        Work { own, special } + self.work_of_key_division(from, to)
    }

    /// Of the division of two components by the special primes and those that the lower level has not.
    pub(crate) fn work_of_key_division(&self, from: usize, to: usize) -> Work {
        let chain = self.chain();
        let (after, special) = (chain.level(to).len() as f64, chain.special().len() as f64);
        let divided = chain.key_division(from, to).divisors.len() as f64;
        let own = Operations {
            transforms: 2.0 * (divided - special + after),
            passes: 2.0 * after * (divided + 1.0),
        };
        Work { own, special: Operations { transforms: 2.0 * special, passes: 0.0 } }
    }
}
