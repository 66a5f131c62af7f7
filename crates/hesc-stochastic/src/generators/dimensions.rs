//! Which Sobol dimensions serve streams of a given length.
//!
//! The first `2^m` points tell dimensions apart by few digits only: at most `2^(m-1)` have first
//! digits of their own, and dimensions that agree in them give one stream or its complement. Where
//! the first digits of several add up to nothing, the product of streams of small numbers is nearly
//! constant, since these digits are all that such streams are made of. So encoders take dimensions
//! in an order that depends on the length, the ones that go well with each other first, and only
//! such as have independent first digits: one for each digit of the index.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::sobol::{SOBOL_DIMENSIONS, index_digits};

/// The most that the variance of a product may be of two dimensions that are offered, in turn: as a
/// share of that of random arrangements.
const LIMITS: [f64; 3] = [0.25, 0.5, 1.0];

/// Longest streams with an order of their own; longer ones have that of this many binary digits.
const MOST_DIGITS: u32 = 16;

/// The dimensions of one length, found as they are asked for.
struct Chosen {
    dimensions: Vec<u32>,
    /// What the first digits of the independent ones, which come first, depend on.
    basis: [u32; 32],
    independent: usize,
    /// Where the search goes on: how often all candidates were looked at, and a candidate.
    round: usize,
    candidate: u32,
}

static CHOSEN: LazyLock<Vec<Mutex<Chosen>>> = LazyLock::new(|| {
    let none = || Chosen {
        dimensions: Vec::new(),
        basis: [0; 32],
        independent: 0,
        round: 0,
        candidate: 0,
    };
    (0..=MOST_DIGITS).map(|_| Mutex::new(none())).collect()
});

impl Chosen {
    /// Looks at the next candidate: once for each limit for one with an independent first digit, then
    /// for any.
    fn search(&mut self, digits: u32) {
        let (candidate, limit) = (self.candidate, LIMITS[self.round % LIMITS.len()]);
        let alone = self.round < LIMITS.len();
        let good = |of: &u32| pair_gain(*of, candidate, digits) <= limit;
        if !self.dimensions.contains(&candidate) && self.dimensions.iter().all(good) {
            let first = index_digits(candidate, digits as usize).first().copied().unwrap_or(0);
            if !alone {
                self.dimensions.push(candidate);
            } else if insert(&mut self.basis, first) {
                self.dimensions.push(candidate);
                self.independent += 1;
            }
        }
        self.candidate += 1;
        // No more are independent than there are digits.
        let all = alone && self.independent == digits as usize;
        if all || self.candidate == SOBOL_DIMENSIONS {
            self.candidate = 0;
            self.round = if all { LIMITS.len() } else { self.round + 1 };
        }
    }
}

/// The `slot`-th dimension for streams of this length, if there are so many whose products, of however
/// many factors, are no worse than random arrangements: 6 for 64 bits, 8 for 256, 10 for 1024, 12 for
/// 4096.
///
/// Cost: a microsecond for each pair of dimensions up to the slot, once a process.
pub(crate) fn good_dimension(slot: u32, length: usize) -> Option<u32> {
    let (digits, mut chosen) = of_length(length);
    while chosen.independent <= slot as usize && chosen.round < LIMITS.len() {
        chosen.search(digits);
    }
    chosen.dimensions[..chosen.independent].get(slot as usize).copied()
}

/// The `slot`-th of all dimensions: the good ones in their order, those whose pairs are good, then the
/// rest: for generators that need a dimension but do not live by its products. `None` beyond the last.
///
/// Cost: as [`good_dimension`], and a millisecond for each dimension of the sequence behind the good ones.
pub(crate) fn any_dimension(slot: u32, length: usize) -> Option<u32> {
    let (digits, mut chosen) = of_length(length);
    while chosen.dimensions.len() <= slot as usize && chosen.round < 2 * LIMITS.len() {
        chosen.search(digits);
    }
    let good = &chosen.dimensions;
    good.get(slot as usize).copied().or_else(|| {
        (0..SOBOL_DIMENSIONS)
            .filter(|dimension| !good.contains(dimension))
            .nth(slot as usize - good.len())
    })
}

/// The dimensions of a length: points beyond a power of two repeat its boxes.
fn of_length(length: usize) -> (u32, MutexGuard<'static, Chosen>) {
    let digits = length.max(1).ilog2().min(MOST_DIGITS);
    (digits, CHOSEN[digits as usize].lock().unwrap_or_else(PoisonError::into_inner))
}

/// The variance of a product of the first `2^m` scrambled points of two dimensions, as a share of
/// that of random arrangements and averaged over all values, without the rounding of each factor.
///
/// The variance is a sum over pairs of Walsh functions that agree on the points (Owen 1997). A
/// scramble makes functions of one leading digit alike, so that it is enough to count, for leading
/// digits `i` and `j`, the pairs of combinations of rows of the two generator matrices that are
/// equal. The step function has the energy `4^-i` there, averaged over where it steps.
fn pair_gain(a: u32, b: u32, m: u32) -> f64 {
    let m = m as usize;
    let (rows_a, rows_b) = (index_digits(a, m), index_digits(b, m));
    // Logarithms of how many combinations of the first i rows of one are some of the other's first j.
    let mut before = [0u32; 32];
    let mut basis = [0u32; 32];
    let mut gain = 0.0;
    for (i, row) in rows_a.iter().enumerate() {
        insert(&mut basis, *row);
        let (mut both, mut common, mut here) = (basis, 0, [0u32; 32]);
        for (j, row) in rows_b.iter().enumerate() {
            common += u32::from(!insert(&mut both, *row));
            here[j + 1] = common;
            let count = |dimension: u32| f64::from(dimension).exp2();
            let pairs =
                count(here[j + 1]) - count(here[j]) - count(before[j + 1]) + count(before[j]);
            gain += pairs * (-2.0 * (i + j + 2) as f64).exp2();
        }
        before = here;
    }
    let digits = f64::from(m as u32);
    // Digits beyond the m-th are random.
    gain * (digits + 2.0).exp2() + 1.0 - (1.0 - (-digits).exp2()).powi(2)
}

/// Adds a row to a basis by leading digits; whether it is independent of it.
fn insert(basis: &mut [u32; 32], mut row: u32) -> bool {
    while row != 0 {
        let leading = &mut basis[31 - row.leading_zeros() as usize];
        if *leading == 0 {
            *leading = row;
            return true;
        }
        row ^= *leading;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_dimensions_are_the_best_and_the_worst_are_never_offered() {
        // Dimensions 0 and 1 are a net of full strength; these are the same stream at 256 bits.
        assert!(pair_gain(0, 1, 8) < 0.06);
        assert!(pair_gain(90, 112, 8) > 50.0);
        for length in [64, 100, 256, 1000, 4096] {
            let offered: Vec<u32> = (0..200).map_while(|d| good_dimension(d, length)).collect();
            assert_eq!(offered[..2], [0, 1]);
            let digits = length.ilog2();
            for (k, &a) in offered.iter().enumerate() {
                assert!(offered[..k].iter().all(|&b| a != b && pair_gain(a, b, digits) <= 1.0));
            }
        }
    }

    /// What streams of small numbers are made of adds up to nothing in no product of any number of
    /// dimensions, and as many are offered as that allows.
    #[test]
    fn first_digits_are_independent_at_every_length() {
        for digits in 0..=MOST_DIGITS {
            let length = 1 << digits;
            let offered: Vec<u32> =
                (0..40).map_while(|slot| good_dimension(slot, length)).collect();
            assert_eq!(offered.len(), digits as usize, "{length}");
            let mut basis = [0; 32];
            for &dimension in &offered {
                let first = index_digits(dimension, digits as usize)[0];
                assert!(insert(&mut basis, first), "{length}: {dimension}");
            }
        }
        // These once were the first, second, third and fifth of 64 bits.
        let first = [0, 1, 2, 135].map(|dimension| index_digits(dimension, 6)[0]);
        assert_eq!(first.iter().fold(0, |sum, row| sum ^ row), 0);
    }

    #[test]
    fn every_dimension_has_its_place() {
        let mut all: Vec<u32> = (0..).map_while(|slot| any_dimension(slot, 64)).collect();
        assert_eq!(all[..20].iter().position(|d| *d == 3), Some(5));
        all.sort_unstable();
        assert!(all.into_iter().eq(0..SOBOL_DIMENSIONS));
    }
}
