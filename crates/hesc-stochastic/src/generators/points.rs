//! Comparison of a threshold with points that are fractions of 2^32.

use hesc_kernels::vectorised;

/// A probability as a threshold: points below it give ones.
pub(crate) fn threshold(p: f64) -> u64 {
    (p * 32f64.exp2()).round() as u64
}

/// Sets bit `i` of a zeroed row where point `i`, moved around the circle by `shift`, is below the
/// threshold. One point for each bit.
pub(crate) fn compare(row: &mut [u64], points: &[u32], shift: u32, threshold: u64) {
    if let Ok(threshold) = u32::try_from(threshold) {
        below(row, points, shift, threshold);
    } else {
        for (word, points) in row.iter_mut().zip(points.chunks(64)) {
            *word = u64::MAX >> (64 - points.len());
        }
    }
}

vectorised! {
    fn below(row: &mut [u64], points: &[u32], shift: u32, threshold: u32) {
        for (word, points) in row.iter_mut().zip(points.chunks(64)) {
            for (i, point) in points.iter().enumerate() {
                *word |= u64::from(point.wrapping_add(shift) < threshold) << i;
            }
        }
    }
}
