use hesc_stochastic::Estimate;
#[cfg(not(feature = "portable"))]
use multiversion::multiversion;

use crate::CircuitError;
use crate::answer::Plan;

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

    /// The value of each element with its standard error: weighted sums of the streams' values;
    /// variances add, weighted by squares (Proposition 1 of `koseki2022hesc`, generalised).
    pub fn estimates(&self) -> Vec<Estimate> {
        let plan = &self.plan;
        let per_element = plan.terms.len() / plan.elements;
        plan.terms
            .chunks_exact(per_element)
            .map(|terms| {
                let (mut value, mut variance) = (0.0, 0.0);
                for term in terms {
                    let start = term.first * plan.block_length + term.offset;
                    let counts = &self.counts[start..start + plan.stream_length];
                    let ones = if term.merged == 1 {
                        f64::from(parities(counts))
                    } else {
                        counts.iter().map(|&count| u64::from(count)).sum::<u64>() as f64
                    };
                    let merged = f64::from(term.merged);
                    // Merged streams read as one that is as long as all of them.
                    let length = plan.stream_length as f64 * merged;
                    value += term.weight * merged * plan.representation.value(ones / length);
                    variance +=
                        (term.weight * merged).powi(2) * plan.representation.variance(ones, length);
                }
                Estimate { value, standard_error: variance.sqrt() }
            })
            .collect()
    }
}

/// `digit = counts % base`, `counts /= base`, for counts below 2^25.
#[cfg_attr(
    not(feature = "portable"),
    multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))
)]
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
#[cfg_attr(
    not(feature = "portable"),
    multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))
)]
fn maximum(counts: &[u32]) -> u32 {
    counts.iter().fold(0, |largest, &count| largest.max(count))
}

/// The number of odd counts.
#[cfg_attr(
    not(feature = "portable"),
    multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2+fma"))
)]
fn parities(counts: &[u32]) -> u32 {
    counts.iter().map(|count| count & 1).sum()
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
