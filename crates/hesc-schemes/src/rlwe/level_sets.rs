//! Levels as sets of primes.

use super::{PrimeSet, Spec};
use crate::SchemeError;
use crate::error::refuse;

/// Levels of a set, at most: a ciphertext names its own in a byte.
const MOST_LEVELS: usize = 255;

impl Spec {
    /// The sets of primes of all levels, the lowest first: those listed, or else as many of the first primes as
    /// the level says.
    pub(crate) fn level_sets(&self) -> Vec<PrimeSet> {
        if self.levels.is_empty() {
            (1..=self.coeff_moduli.len()).map(|count| PrimeSet::new(0..count)).collect()
        } else {
            self.levels.clone()
        }
    }

    /// Refuses lists that are no levels: each level has a larger modulus than the one below, and the last all
    /// primes.
    pub(crate) fn check_levels(&self) -> Result<(), SchemeError> {
        let refuse = |value: String, remedy| refuse("levels", value, remedy);
        let Some(last) = self.levels.last() else { return Ok(()) };
        if self.levels.len() > MOST_LEVELS {
            return refuse(self.levels.len().to_string(), "give at most 255 levels");
        }
        if *last != PrimeSet::new(0..self.coeff_moduli.len()) {
            return refuse(format!("{last:?}"), "the last level has all primes of coeff_moduli");
        }
        let log2 = |set: &PrimeSet| -> f64 {
            set.places().filter_map(|i| self.coeff_moduli.get(i)).map(|&q| (q as f64).log2()).sum()
        };
        let moduli: Vec<f64> = self.levels.iter().map(log2).collect();
        let ascending = moduli.windows(2).all(|pair| pair[0] < pair[1]);
        let possible = |set: &PrimeSet| set.bits() != 0 && set.is_within(*last);
        if !ascending || !self.levels.iter().all(possible) {
            return refuse(
                format!("{:?}", self.levels),
                "a level has at least one prime of coeff_moduli, and a larger modulus than the one below",
            );
        }
        Ok(())
    }
}
