use hesc_kernels::vectorised;
use hesc_stochastic::Estimate;

use super::errors_of_sums::{Errors, Reading};
use super::plan::{AnswerTerm, Plan};
use crate::CircuitError;

/// A decrypted answer, fused as it came.
pub struct Counts {
    counts: Vec<u32>,
    plan: Plan,
}

/// A decrypted answer with a count for each position of each block.
pub struct Readout {
    counts: Vec<u32>,
    plan: Plan,
}

impl Counts {
    pub(crate) fn new(counts: Vec<u32>, plan: Plan) -> Self {
        Self { counts, plan }
    }

    /// Takes fused digits apart (`koseki2022hesc` §3.3). Free if nothing is fused.
    ///
    /// # Errors
    /// [`CircuitError::Count`] for values that no computation of this plan gives.
    pub fn separate(self) -> Result<Readout, CircuitError> {
        let Self { mut counts, plan } = self;
        let bound = u32::try_from(plan.largest()).unwrap_or(u32::MAX);
        let largest = maximum(&counts);
        if largest > bound {
            return Err(CircuitError::Count { count: largest, max_count: u64::from(bound) });
        }
        if plan.bases.is_empty() {
            return Ok(Readout { counts, plan });
        }
        let (n, groups) = (plan.block_length, plan.groups());
        let mut digits = vec![0; plan.blocks * n];
        for (group, rest) in counts.chunks_exact_mut(n).enumerate() {
            // Blocks group, group + groups, ... were the digits, the highest first.
            let height = (plan.blocks - group).div_ceil(groups);
            for k in (1..height).rev() {
                let digit = &mut digits[(group + k * groups) * n..][..n];
                split(rest, digit, plan.bases[k - 1] as u32);
            }
            digits[group * n..][..n].copy_from_slice(rest);
        }
        let largest = maximum(&digits);
        if u64::from(largest) > plan.max_count {
            return Err(CircuitError::Count { count: largest, max_count: plan.max_count });
        }
        Ok(Readout { counts: digits, plan })
    }
}

impl Readout {
    /// The counts, block after block: what the key owner sees besides the values.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The value of each element: its constant and the weighted sum of its streams' values.
    ///
    /// Cost: a tenth of a nanosecond for each position.
    pub fn values(&self) -> Vec<f64> {
        self.each_element(|element, terms| {
            let streams = terms.iter().map(|term| {
                let merged = f64::from(term.merged);
                let share = self.ones(term) / (self.plan.stream_length as f64 * merged);
                term.weight * merged * self.plan.representation.value(share)
            });
            self.plan.constants.get(element).unwrap_or(&0.0) + streams.sum::<f64>()
        })
    }

    /// The values with their standard errors.
    ///
    /// Each term has the law of its product ([`hesc_stochastic::ErrorLaw`]), and two terms are
    /// dependent where they share streams. Given the streams `C` that both have, what else they are
    /// multiplied with is independent: their errors have the covariance `m_S\\C m_T\\C var(C)`, and how
    /// often their bits agree tells the values. Proposition 1 of `koseki2022hesc` takes it as zero.
    ///
    /// Cost: a pass over the positions of each pair of terms that share a stream, 64 at a time; and
    /// the measurement of each law once a process.
    pub fn estimates(&self) -> Vec<Estimate> {
        let values = self.values();
        let mut errors = Errors::new(&self.plan);
        self.each_element(|element, terms| {
            let readings: Vec<Reading> = terms.iter().map(|term| self.reading(term)).collect();
            let standard_error = errors.of_element(element, &readings);
            Estimate { value: values[element], standard_error }
        })
    }

    fn reading(&self, term: &AnswerTerm) -> Reading {
        let merged = f64::from(term.merged);
        let share = self.ones(term) / (self.plan.stream_length as f64 * merged);
        let counts = if term.merged == 1 { self.counts_of(term) } else { &[] };
        let word = |counts: &[u32]| {
            counts.iter().enumerate().fold(0, |word, (i, &count)| word | u64::from(count & 1) << i)
        };
        Reading {
            value: self.plan.representation.value(share),
            weight: term.weight,
            merged,
            bits: counts.chunks(64).map(word).collect(),
        }
    }

    fn each_element<T>(&self, mut of: impl FnMut(usize, &[AnswerTerm]) -> T) -> Vec<T> {
        let per_element = self.plan.terms.len() / self.plan.elements;
        let elements = self.plan.terms.chunks_exact(per_element).enumerate();
        elements.map(|(element, terms)| of(element, terms)).collect()
    }

    fn counts_of(&self, term: &AnswerTerm) -> &[u32] {
        let start = term.first * self.plan.block_length + term.offset;
        &self.counts[start..start + self.plan.stream_length]
    }

    /// Ones in a term, or in all terms merged into it.
    fn ones(&self, term: &AnswerTerm) -> f64 {
        let counts = self.counts_of(term);
        if term.merged == 1 {
            f64::from(parities(counts))
        } else {
            counts.iter().map(|&count| u64::from(count)).sum::<u64>() as f64
        }
    }
}

vectorised! {
    /// `digit = counts % base`, `counts /= base`, for counts below 2^25.
    fn split(counts: &mut [u32], digit: &mut [u32], base: u32) {
        // The quotient's distance to the next integer is at least 1 / (2 base) from both sides, far
        // above the rounding of doubles: vector lanes without an integer division.
        let inverse = 1.0 / f64::from(base);
        for (count, digit) in counts.iter_mut().zip(digit) {
            let quotient = ((f64::from(*count as i32) + 0.5) * inverse) as i32 as u32;
            *digit = *count - quotient * base;
            *count = quotient;
        }
    }

    /// The largest count.
    fn maximum(counts: &[u32]) -> u32 {
        counts.iter().fold(0, |largest, &count| largest.max(count))
    }

    /// The number of odd counts.
    fn parities(counts: &[u32]) -> u32 {
        counts.iter().map(|count| count & 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn division_without_division_is_exact(
            counts in prop::collection::vec(0u32..1 << 25, 1..40), base in 2u32..1 << 20
        ) {
            let mut quotients = counts.clone();
            let mut digit = vec![0; counts.len()];
            split(&mut quotients, &mut digit, base);
            for (i, count) in counts.iter().enumerate() {
                prop_assert_eq!((quotients[i], digit[i]), (count / base, count % base));
            }
        }
    }
}
