//! The law of sums by selection as it travels: ten numbers.

/// Values at which a law is told.
pub(crate) const KNOTS: usize = 10;

/// Steps of a law for each halving of the variance.
pub(crate) const STEPS: f64 = 8.0;

/// The variance of a sum by selection at ten values between the ends of the range, as shares of that
/// of independent bits: `2^(-step / 8)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SelectionLaw(pub(crate) [u8; KNOTS]);

impl SelectionLaw {
    /// The law of independent bits.
    pub const INDEPENDENT: Self = Self([0; KNOTS]);

    /// The law between several, where sums of one selection are of operands of several kinds.
    pub fn between(laws: &[Self]) -> Self {
        let mean = |knot: usize| {
            laws.iter().map(|law| f64::from(law.0[knot])).sum::<f64>() / laws.len().max(1) as f64
        };
        Self(std::array::from_fn(|knot| mean(knot).round() as u8))
    }

    /// The variance of a sum of this value, as a share of that of independent bits.
    pub(crate) fn share(self, value: f64, lowest: f64) -> f64 {
        let at =
            ((value - lowest) / (1.0 - lowest) * KNOTS as f64 - 0.5).clamp(0.0, KNOTS as f64 - 1.0);
        let (below, rest) = (at as usize, at.fract());
        let above = (below + 1).min(KNOTS - 1);
        let steps = f64::from(self.0[below]) * (1.0 - rest) + f64::from(self.0[above]) * rest;
        (-steps / STEPS).exp2()
    }

    /// The value in the middle of a knot.
    pub(crate) fn knot(number: usize, lowest: f64) -> f64 {
        lowest + (1.0 - lowest) * (number as f64 + 0.5) / KNOTS as f64
    }
}
