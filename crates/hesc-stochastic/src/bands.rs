//! Bands of values, from the middle of the range to its ends, whose errors differ.

use crate::Representation;

/// How many bands of values a law tells apart.
pub(crate) const BANDS: usize = 5;

/// Where the geometric mean of `factors` factors lies between the middle of the range (0) and its
/// ends: one more for each half of the way that is left. Bits next to an end are ones, or zeros, in
/// few boxes of the sequence's points, and how evenly those are filled differs from pair to pair.
pub(crate) fn band(product: f64, factors: f64, representation: Representation) -> f64 {
    let mean = product.abs().min(1.0).powf(1.0 / factors);
    let distance = match representation {
        Representation::InvertedBipolar => 1.0 - mean,
        Representation::Unipolar => 2.0 * mean.min(1.0 - mean),
    };
    -distance.log2()
}

/// The value at a place between bands: each has its own in its middle.
pub(crate) fn of_band(bands: &[f64; BANDS], place: f64) -> f64 {
    let place = (place - 0.5).clamp(0.0, BANDS as f64 - 1.0);
    let below = (place as usize).min(BANDS - 2);
    let above = place - below as f64;
    bands[below] * (1.0 - above) + bands[below + 1] * above
}
