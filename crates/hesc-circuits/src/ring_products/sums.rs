//! Sums of products of doubles that lose nothing to cancellation.

use zeroize::Zeroizing;

/// Passes over the terms, each of which leaves what it rounded to the next.
const PASSES: usize = 20;

/// The sum of products of pairs and of numbers: off by a rounding of the result, and by less than 2^-700 of the sum of
/// absolute values, for as many terms as a ring has places. No branch depends on the numbers.
///
/// `DotK` of Ogita, Rump and Oishi 2005, "Accurate sum and dot product", algorithms 4.8 and 5.10.
pub(super) fn sum_of_products(
    pairs: impl ExactSizeIterator<Item = (f64, f64)>,
    numbers: &[f64],
) -> f64 {
    let mut terms = Zeroizing::new(Vec::with_capacity(2 * pairs.len() + numbers.len()));
    for (a, b) in pairs {
        let product = a * b;
        terms.extend([product, a.mul_add(b, -product)]);
    }
    terms.extend_from_slice(numbers);
    for _ in 1..PASSES {
        for at in 1..terms.len() {
            (terms[at], terms[at - 1]) = two_sum(terms[at], terms[at - 1]);
        }
    }
    terms.iter().sum()
}

/// A sum as it is rounded, and what that leaves (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let second = sum - a;
    (sum, (a - (sum - second)) + (b - second))
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::{Rng, SeedableRng};

    use super::*;

    /// Whatever cancels: terms of all sizes with their negatives in another order, and a number that is left. Its
    /// exact value is known since all terms but it cancel.
    #[test]
    fn what_cancels_leaves_the_rest() {
        let rng = &mut AesCtrRng::seed_from_u64(1);
        let mut number = |most: u64| {
            let size = (rng.next_u64() % most) as i32 - (most / 2) as i32;
            ((rng.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0) * 2f64.powi(size)
        };
        for count in [1, 2, 3, 10, 100, 3000] {
            for most in [2, 60, 300] {
                let pairs: Vec<(f64, f64)> =
                    (0..count).map(|_| (number(most), number(most))).collect();
                let negative = pairs.iter().rev().map(|&(a, b)| (-b, a));
                let all: Vec<(f64, f64)> = pairs.iter().copied().chain(negative).collect();
                let rest = number(40);
                assert_eq!(sum_of_products(all.iter().copied(), &[rest]), rest, "{count} {most}");
                let (large, small) = (2f64.powi(60), 2f64.powi(-60));
                let more = [large, small, -large];
                assert_eq!(sum_of_products(all.iter().copied(), &more), small, "{count} {most}");
            }
        }
    }
}
