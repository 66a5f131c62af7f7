//! What streams of the plain Sobol sequence err: nothing in it is random.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::Representation;
use crate::generators::sobol::Sobol;
use crate::measured::keep;

/// The points of a dimension in order. A stream of `c` ones has a probability above `c` of them.
#[derive(Debug, PartialEq)]
pub(crate) struct PlainPoints {
    representation: Representation,
    /// Fractions of one, ascending; 0 before and 1 behind.
    sorted: Vec<f64>,
}

type Key = (u32, usize, Representation);

static KNOWN: LazyLock<RwLock<HashMap<Key, Arc<PlainPoints>>>> = LazyLock::new(RwLock::default);

impl PlainPoints {
    /// Those of a dimension, if it exists; sorted once a process.
    pub fn of(dimension: u32, length: usize, representation: Representation) -> Option<Arc<Self>> {
        let key = (dimension, length, representation);
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if known.is_some() {
            return known;
        }
        let mut points = Sobol::new(dimension).ok()?.plain_points(length);
        points.sort_unstable();
        let fractions = points.iter().map(|point| f64::from(*point) * (-32f64).exp2());
        let sorted = std::iter::once(0.0).chain(fractions).chain([1.0]).collect();
        let new = Arc::new(Self { representation, sorted });
        keep(&KNOWN, key, Arc::clone(&new));
        Some(new)
    }

    fn length(&self) -> f64 {
        (self.sorted.len() - 2) as f64
    }

    /// Between which probabilities a stream of this value has its own.
    fn interval(&self, value: f64) -> (f64, f64) {
        let share = match self.representation {
            Representation::Unipolar => value,
            Representation::InvertedBipolar => (1.0 - value) / 2.0,
        };
        let ones = (share * self.length()).round().clamp(0.0, self.length()) as usize;
        (self.sorted[ones], self.sorted[ones + 1])
    }

    /// The variance of a probability that is somewhere in its interval.
    pub fn variance(&self, value: f64) -> f64 {
        let (low, high) = self.interval(value);
        // Probabilities are written with 32 bits.
        let width = self.representation.value(high.max(low + (-32f64).exp2()))
            - self.representation.value(low);
        width * width / 12.0
    }

    /// How far a value that is read lies above the middle of its interval.
    pub fn bias(&self, value: f64) -> f64 {
        let (low, high) = self.interval(value);
        value - self.representation.value((low + high) / 2.0)
    }

    /// The mean of the error over all probabilities.
    pub fn mean_bias(&self) -> f64 {
        let of_interval = |(ones, ends): (usize, &[f64])| {
            let read = self.representation.value(ones as f64 / self.length());
            let middle = self.representation.value((ends[0] + ends[1]) / 2.0);
            (ends[1] - ends[0]) * (read - middle)
        };
        self.sorted.windows(2).enumerate().map(of_interval).sum()
    }
}
