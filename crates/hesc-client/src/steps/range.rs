//! Limits of a feature, and what operations make of them.

/// Limits of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether all its values are whole numbers.
    pub(crate) whole: bool,
}

impl Range {
    /// Of a feature that nothing is known of.
    pub(crate) const UNKNOWN: Self =
        Self { low: f64::NEG_INFINITY, high: f64::INFINITY, whole: false };
    /// Of a feature that is zero or one.
    pub(crate) const BIT: Self = Self { low: 0.0, high: 1.0, whole: true };

    /// Limits that are numbers, or unknown ones.
    pub(crate) fn of(low: f64, high: f64) -> Self {
        if low <= high { Self { low, high, whole: false } } else { Self::UNKNOWN }
    }

    /// What encloses some values; nothing of none of them.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut found: Option<Self> = None;
        for value in values {
            let (low, high, whole) =
                found.map_or((value, value, true), |r| (r.low, r.high, r.whole));
            let whole = whole && value == value.floor();
            found = Some(Self { low: low.min(value), high: high.max(value), whole });
        }
        found
    }

    /// What encloses both.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            whole: self.whole && other.whole,
        }
    }

    /// No more than what is between two numbers.
    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        Self { low: clipped(self.low, low, high), high: clipped(self.high, low, high), ..self }
    }

    /// After one operation of those that every processor rounds alike, with a factor of this sign.
    pub(crate) fn scaled(self, factor: f64, of: impl Fn(f64) -> f64) -> Self {
        if factor == 0.0 {
            let value = of(clipped(0.0, self.low, self.high));
            return Self::of(value, value);
        }
        let (a, b) = (of(self.low), of(self.high));
        if factor > 0.0 { Self::of(a, b) } else { Self::of(b, a) }
    }

    /// After a function that rises, and that systems round differently.
    pub(crate) fn monotone(self, of: impl Fn(f64) -> f64) -> Self {
        let (low, high) = (of(self.low), of(self.high));
        let known = |end: f64, other: f64| if end.is_nan() { other } else { end };
        let (low, high) = (known(low, f64::NEG_INFINITY), known(high, f64::INFINITY));
        Self::of(low - ROOM * low.abs(), high + ROOM * high.abs())
    }
}

/// What functions of libraries for numbers differ by, and more.
const ROOM: f64 = 1.0 / (1u64 << 48) as f64;

/// A number brought within limits, as numpy does; NaN stays.
pub(crate) fn clipped(x: f64, low: f64, high: f64) -> f64 {
    let raised = if x.is_nan() || x > low { x } else { low };
    if raised.is_nan() || raised < high { raised } else { high }
}
