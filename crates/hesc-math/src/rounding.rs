//! Rounding of many doubles, vectorised: the end of every decryption.

use hesc_kernels::vectorised;

/// Adding and subtracting 1.5 * 2^52 rounds to the nearest integer without a branch and without
/// a library call; the low mantissa bits of the sum are that integer in two's complement.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// Independent maxima, so that no addition waits for the one before.
const LANES: usize = 8;

vectorised! {
    /// `counts = round(values * factor)` for products below 2^31 in absolute value, negative ones in
    /// two's complement. Returns the largest distance of a product from its integer.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn round_scaled(counts: &mut [u32], values: &[f64], factor: f64) -> f64 {
        assert_eq!(counts.len(), values.len(), "there is a count for each value");
        let mut distances = [0f64; LANES];
        let (chunks, tail) = counts.as_chunks_mut::<LANES>();
        let (value_chunks, value_tail) = values.as_chunks::<LANES>();
        for (counts, values) in chunks.iter_mut().zip(value_chunks) {
            for ((count, value), distance) in counts.iter_mut().zip(values).zip(&mut distances) {
                let product = value * factor;
                let rounded = product + ROUNDER;
                let off = (product - (rounded - ROUNDER)).abs();
                *distance = if off > *distance { off } else { *distance };
                *count = rounded.to_bits() as u32;
            }
        }
        for ((count, value), distance) in tail.iter_mut().zip(value_tail).zip(&mut distances) {
            let product = value * factor;
            let rounded = product + ROUNDER;
            *distance = distance.max((product - (rounded - ROUNDER)).abs());
            *count = rounded.to_bits() as u32;
        }
        distances.into_iter().fold(0.0, f64::max)
    }

    /// Subtracts from each value, up to 2^50 in absolute value, its nearest integer: the result lies
    /// in [-1/2, 1/2].
    pub fn centre(values: &mut [f64]) {
        for value in values {
            *value -= (*value + ROUNDER) - ROUNDER;
        }
    }

    /// Brings counts from `[-modulus, modulus]`, negative ones in two's complement, into
    /// `[0, modulus)`.
    pub fn wrap(counts: &mut [u32], modulus: u32) {
        for count in counts {
            let lifted = count.wrapping_add(modulus & (*count as i32 >> 31) as u32);
            *count = if lifted == modulus { 0 } else { lifted };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounds_as_the_library_does(
            values in prop::collection::vec(-1000.0..1000.0f64, 1..40), factor in 0.1..1e6f64
        ) {
            let mut counts = vec![0; values.len()];
            let distance = round_scaled(&mut counts, &values, factor);
            let mut expected = 0f64;
            for (count, value) in counts.iter().zip(&values) {
                let product = value * factor;
                let nearest = product.round_ties_even();
                prop_assert_eq!(*count as i32, nearest as i32);
                expected = expected.max((product - nearest).abs());
            }
            prop_assert_eq!(distance, expected);
            let mut centred = values.clone();
            centre(&mut centred);
            for (c, v) in centred.iter().zip(&values) {
                prop_assert_eq!(*c, v - v.round_ties_even());
            }
        }

        #[test]
        fn wrapping_is_the_remainder(modulus in 2u32..1 << 30, raw in prop::collection::vec(any::<u64>(), 1..40)) {
            let signed: Vec<i64> =
                raw.iter().map(|r| (r % (2 * u64::from(modulus) + 1)) as i64 - i64::from(modulus)).collect();
            let mut counts: Vec<u32> = signed.iter().map(|&x| x as u32).collect();
            wrap(&mut counts, modulus);
            for (count, x) in counts.iter().zip(signed) {
                prop_assert_eq!(i64::from(*count), x.rem_euclid(i64::from(modulus)));
            }
        }
    }
}
