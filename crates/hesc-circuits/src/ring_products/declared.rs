use hesc_schemes::rlwe::flooding::LEAST_STATISTICAL_BITS;

use super::sums::sum_of_products;
use crate::plans::PlanError;

/// Coefficients of the largest ring.
pub(super) const MOST_PLACES: usize = 32768;
/// Nothing declared is larger, so that sums and products of it are finite.
const LARGEST: f64 = 1e100;
/// Room for sums in another order.
pub(super) const UP: f64 = 1.0 + 1e-8;

/// That the weights are hidden from the key owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hiding {
    /// Numbers that a model gives in all its life.
    pub answers: u64,
    /// Bits of statistical security, at least 40: `2^-23` as a statistical distance.
    pub statistical_bits: u32,
}

/// Under which key weights are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Under {
    /// The secret key of who asks: the model is his own.
    Secret,
    /// The public key of who asks.
    Public,
}

/// From whom weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// From nobody: the server has them in the clear, and the key owner finds them.
    Open,
    /// From the key owner.
    Hidden(Hiding),
    /// From the server.
    Encrypted(Under),
}

/// What both sides know: ranges and bounds that somebody declared, and never took from numbers to be hidden.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The least value of each feature.
    pub low: Vec<f64>,
    /// The greatest.
    pub high: Vec<f64>,
    /// For each output a number that is added after decryption: public.
    pub centres: Vec<f64>,
    /// Bound on what the model adds to the scores beyond the centres, at the middle of all ranges.
    pub offset: f64,
    /// Bound on `sum_j |w_kj| h_j` for each output, `h_j` half the range of a feature.
    pub weights_l1: f64,
    /// Bound on the root of `sum_kj (w_kj h_j)^2`.
    pub weights_l2: f64,
    /// The root mean square of a score's error that is wanted.
    pub error: f64,
    /// From whom the weights are kept.
    pub protection: Protection,
}

impl Declared {
    /// For a model that the key owner may know: bounds and centres are those of its weights, `outputs` rows of a
    /// weight for each feature.
    ///
    /// # Errors
    /// [`PlanError::Declared`] and [`PlanError::Count`] for what cannot be.
    pub fn of_model(
        weights: &[f64],
        intercepts: &[f64],
        low: &[f64],
        high: &[f64],
        error: f64,
    ) -> Result<Self, PlanError> {
        check_ranges(low, high)?;
        let (expected, found) = (low.len() * intercepts.len(), weights.len());
        if expected != found {
            return Err(PlanError::Count { what: "weights".into(), expected, found });
        }
        let rows = || weights.chunks_exact(low.len());
        let row_l1 = rows().map(|row| scaled(row, low, high).map(f64::abs).sum());
        let weights_l1 = row_l1.fold(0.0, f64::max);
        let squares = rows().flat_map(|row| scaled(row, low, high)).map(|w| w * w);
        let weights_l2 = squares.sum::<f64>().sqrt();
        let centres: Vec<f64> =
            rows().zip(intercepts).map(|(row, &b)| middle(row, low, high, &[b])).collect();
        // What the caller gave has other names than what follows from it.
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        if !centres.iter().all(|&x| sized(x)) {
            return refuse(
                "weights and intercepts",
                "give finite numbers, with scores within 1e100 at the middle of the features' ranges",
            );
        }
        if !(positive(weights_l1) && positive(weights_l2)) {
            return refuse(
                "weights",
                "give some that are not zero, for features whose ranges are no points, with scores within 1e100",
            );
        }
        let (low, high) = (low.to_vec(), high.to_vec());
        // Sums in another order are a little larger.
        let up = 1.0 + 1e-9;
        let (weights_l1, weights_l2) = (weights_l1 * up, weights_l2 * up);
        let (offset, protection) = (0.0, Protection::Open);
        Ok(Self { low, high, centres, offset, weights_l1, weights_l2, error, protection })
    }

    /// How weights are hidden from the key owner, if they are.
    pub fn hiding(&self) -> Option<Hiding> {
        match self.protection {
            Protection::Hidden(hiding) => Some(hiding),
            _ => None,
        }
    }

    /// Under which key weights are encrypted, if they are.
    pub fn encrypted(&self) -> Option<Under> {
        match self.protection {
            Protection::Encrypted(under) => Some(under),
            _ => None,
        }
    }

    /// What roundings of doubles are relative to: scores, and what they are made of at the client and at the server.
    /// However far weights times features go beyond, nothing of it is rounded: [`middle`] loses nothing, and what
    /// features are away from the middle is rounded relative to half the width of their range.
    pub(super) fn largest(&self) -> f64 {
        let centre = self.centres.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        centre + self.offset + self.weights_l1
    }

    pub(super) fn check(&self) -> Result<(), PlanError> {
        check_ranges(&self.low, &self.high)?;
        let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
        let (features, outputs) = (self.low.len(), self.centres.len());
        if outputs == 0 {
            return refuse("outputs", "a model has one at least");
        }
        if features.saturating_mul(outputs) > MOST_PLACES {
            return Err(PlanError::Places { features, outputs, most: MOST_PLACES });
        }
        if !self.centres.iter().all(|&x| sized(x)) {
            return refuse("centres", "give numbers below 1e100");
        }
        if !(sized(self.offset) && self.offset >= 0.0) {
            return refuse("offset", "give a bound on what the model adds, 0 or more");
        }
        for (name, bound) in [("weights_l1", self.weights_l1), ("weights_l2", self.weights_l2)] {
            if !positive(bound) {
                return refuse(
                    name,
                    "give a bound above zero; weights that are all zero need no product",
                );
            }
        }
        if !positive(self.error) {
            return refuse(
                "error",
                "give the root mean square that you want, above zero and within 1e100",
            );
        }
        if let Some(Hiding { answers, statistical_bits }) = self.hiding() {
            if !(1..=1 << 50).contains(&answers) {
                return refuse(
                    "answers",
                    "say how many numbers the model will give in all, up to 2^50",
                );
            }
            if !(LEAST_STATISTICAL_BITS..=128).contains(&statistical_bits) {
                return refuse("statistical_bits", "take 40 to 128");
            }
        }
        Ok(())
    }

    /// Refuses features that are not so many, or beyond their ranges. Which is the first one shows in the time this
    /// takes: it is the owner's own.
    pub(super) fn check_features(&self, features: &[f64], samples: usize) -> Result<(), PlanError> {
        let (expected, found) = (self.low.len().saturating_mul(samples), features.len());
        if expected != found {
            return Err(PlanError::Count { what: "features".into(), expected, found });
        }
        for (sample, row) in features.chunks_exact(self.low.len()).enumerate() {
            let ranges = || row.iter().zip(self.low.iter().zip(&self.high));
            // Without a branch where all are well; what is no number is not inside.
            let outside = |(x, (low, high)): (&f64, (&f64, &f64))| !((x >= low) & (x <= high));
            if ranges().fold(false, |bad, at| bad | outside(at)) {
                let feature = ranges().position(outside).unwrap_or(0);
                return Err(PlanError::Feature { sample, feature });
            }
        }
        Ok(())
    }

    /// Refuses weights of another number, and those beyond what is declared.
    pub(super) fn check_weights(&self, weights: &[f64]) -> Result<(), PlanError> {
        let (low, high) = (&self.low, &self.high);
        let (expected, found) = (low.len() * self.centres.len(), weights.len());
        if expected != found {
            return Err(PlanError::Count { what: "weights".into(), expected, found });
        }
        let mut squares = 0.0;
        let mut inside = true;
        for row in weights.chunks_exact(low.len()) {
            inside &= scaled(row, low, high).map(f64::abs).sum::<f64>() <= self.weights_l1 * UP;
            // Of a feature that is always the same weights count as well: they are finite.
            inside &= row.iter().fold(true, |finite, w| finite & w.is_finite());
            squares += scaled(row, low, high).map(|w| w * w).sum::<f64>();
        }
        if !inside {
            return Err(PlanError::Weights { what: "the sizes of an output's weights are" });
        }
        if squares.sqrt() > self.weights_l2 * UP {
            return Err(PlanError::Weights { what: "the norm of all weights is" });
        }
        Ok(())
    }
}

/// Whether sums of it stay far from what doubles end at.
fn sized(x: f64) -> bool {
    x.is_finite() && x.abs() <= LARGEST
}

/// Whether it is a bound that can be divided by.
fn positive(x: f64) -> bool {
    sized(x) && x >= 1.0 / LARGEST
}

fn check_ranges(low: &[f64], high: &[f64]) -> Result<(), PlanError> {
    let refuse = |name, remedy| Err(PlanError::Declared { name, remedy });
    if low.is_empty() || low.len() != high.len() {
        return refuse("low and high", "give one of each for every feature");
    }
    let possible = |(&a, &b): (&f64, &f64)| a <= b && a.abs() <= LARGEST && b.abs() <= LARGEST;
    if !low.iter().zip(high).all(possible) {
        return refuse("low and high", "give finite ranges, low at most high, within 1e100");
    }
    let wide = |(&a, &b): (&f64, &f64)| a == b || half(a, b) >= 1.0 / LARGEST;
    if !low.iter().zip(high).all(wide) {
        return refuse(
            "low and high",
            "ranges are points, or wider than 1e-100; scale the feature",
        );
    }
    Ok(())
}

/// Half the width of a range, or what its ends are away from its middle as that is rounded: no feature is farther.
pub(super) fn half(low: f64, high: f64) -> f64 {
    let mid = mid(low, high);
    (high - mid).max(mid - low)
}

/// The middle of a range.
pub(super) fn mid(low: f64, high: f64) -> f64 {
    low + (high - low) / 2.0
}

/// Weights of features in [-1, 1].
pub(super) fn scaled(row: &[f64], low: &[f64], high: &[f64]) -> impl Iterator<Item = f64> {
    row.iter().zip(low.iter().zip(high)).map(|(w, (&low, &high))| w * half(low, high))
}

/// What a row of weights gives at the middle of all ranges, and these numbers, whatever cancels; no number where a
/// weight goes too far.
pub(super) fn middle(row: &[f64], low: &[f64], high: &[f64], more: &[f64]) -> f64 {
    let mids = || low.iter().zip(high).map(|(&low, &high)| mid(low, high));
    let pairs = || row.iter().copied().zip(mids());
    let inside = pairs().fold(true, |inside, (w, mid)| inside & ((w * mid).abs() <= LARGEST));
    if inside { sum_of_products(pairs(), more) } else { f64::NAN }
}
