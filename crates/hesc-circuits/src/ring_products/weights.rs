//! A model's numbers as the integers that products take.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::declared::{UP, middle, scaled};
use super::plan::Plan;
use super::scales::dithered;
use crate::plans::PlanError;

/// A model's centre is its plan's if it is off by no more than this share of the wanted error, and its own rounding.
const SAME: f64 = 1e-3;

/// Weights of a row for each output in the places of the layout, rounded at random.
pub(super) fn polynomial(
    plan: &Plan,
    weights: &[f64],
    rng: &mut impl CryptoRng,
) -> Result<Zeroizing<Vec<i64>>, PlanError> {
    let (layout, declared) = (plan.layout(), plan.declared());
    declared.check_weights(weights)?;
    let (low, high) = (&declared.low, &declared.high);
    let mut polynomial = Zeroizing::new(vec![0; layout.ring_degree]);
    for (output, row) in weights.chunks_exact(layout.features).enumerate() {
        for (feature, w) in scaled(row, low, high).enumerate() {
            let point = low[feature] == high[feature];
            let rounded = if point { 0 } else { dithered(w * plan.scales().weight_scale, rng) };
            polynomial[layout.weight(output, feature)] = rounded;
        }
    }
    Ok(polynomial)
}

/// What is added to the coefficient of each output, for weights that [`polynomial`] took.
pub(super) fn added(
    plan: &Plan,
    weights: &[f64],
    intercepts: &[f64],
) -> Result<Zeroizing<Vec<i64>>, PlanError> {
    let (layout, declared) = (plan.layout(), plan.declared());
    let (expected, found) = (layout.outputs, intercepts.len());
    if expected != found {
        return Err(PlanError::Count { what: "intercepts".into(), expected, found });
    }
    let mut added = Zeroizing::new(Vec::with_capacity(layout.outputs));
    let rows = weights.chunks_exact(layout.features).zip(intercepts);
    for ((row, &intercept), &centre) in rows.zip(&declared.centres) {
        let beyond = middle(row, &declared.low, &declared.high, &[intercept, -centre]);
        // Where centres are the model's own, what is left is their rounding. What is no number is beyond both.
        let own = declared.hiding().is_none() && declared.offset == 0.0;
        let (size, rounding) = (beyond.abs(), centre.abs() * f64::EPSILON);
        if !(size <= declared.offset * UP || own && size <= SAME * declared.error + rounding) {
            let what = "what the model adds beyond the centres is";
            return Err(PlanError::Weights { what });
        }
        let beyond = if own { 0.0 } else { beyond.clamp(-declared.offset, declared.offset) };
        added.push((beyond * plan.scales().product()).round_ties_even() as i64);
    }
    Ok(added)
}
