use std::fmt;
use std::str::FromStr;

use crate::StochasticError;

/// What the share of ones in a stream means (`koseki2022hesc` §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Representation {
    /// `value = ones / L` in [0, 1]; a product is AND.
    Unipolar,
    /// `value = 1 - 2 ones / L` in [-1, 1]; a product is XOR, negation the complement.
    InvertedBipolar,
}

/// A decoded value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard error by the binomial law, see [`Representation::variance`].
    pub standard_error: f64,
}

impl Representation {
    /// The smallest value it can hold.
    pub fn lowest(self) -> f64 {
        match self {
            Self::Unipolar => 0.0,
            Self::InvertedBipolar => -1.0,
        }
    }

    /// The probability of a one for each value, in [0, 1].
    ///
    /// # Errors
    /// [`StochasticError::OutOfRange`] for the first value outside the range (or NaN),
    /// [`StochasticError::Empty`].
    pub fn probabilities(self, values: &[f64]) -> Result<Vec<f64>, StochasticError> {
        if values.is_empty() {
            return Err(StochasticError::Empty);
        }
        let range = self.lowest()..=1.0;
        if let Some(index) = values.iter().position(|value| !range.contains(value)) {
            return Err(StochasticError::OutOfRange { index, representation: self });
        }
        Ok(values
            .iter()
            .map(|&value| match self {
                Self::Unipolar => value,
                Self::InvertedBipolar => (1.0 - value) / 2.0,
            })
            .collect())
    }

    /// The value of a share of ones.
    pub fn value(self, share: f64) -> f64 {
        match self {
            Self::Unipolar => share,
            Self::InvertedBipolar => 1.0 - 2.0 * share,
        }
    }

    /// The value of the complement of a stream.
    pub fn complement(self, value: f64) -> f64 {
        match self {
            Self::Unipolar => 1.0 - value,
            Self::InvertedBipolar => -value,
        }
    }

    /// Variance of the value of a stream of `length` bits of which `ones` are set, if the bits
    /// were independent: `p (1 - p) / L` for unipolar, four times that for inverted bipolar.
    ///
    /// For one term this is Proposition 1 of `koseki2022hesc`, whose "standard deviation"
    /// `4/L sum p (1 - p)` is the variance: see the derivation there, equation (4). `p` is
    /// estimated as `(ones + 1) / (L + 2)` (Laplace), so that a stream of equal bits does not
    /// claim certainty. Exact-weight and structured streams have smaller errors:
    /// [`ErrorLaw`](crate::ErrorLaw) knows them.
    pub fn variance(self, ones: f64, length: f64) -> f64 {
        self.variance_of_bits((ones + 1.0) / (length + 2.0)) / length
    }

    /// Variance of what one bit of a stream of this value contributes to it.
    pub fn variance_of_value(self, value: f64) -> f64 {
        match self {
            Self::Unipolar => value * (1.0 - value),
            Self::InvertedBipolar => 1.0 - value * value,
        }
    }

    /// Variance of what one bit contributes to the value, a one having probability `p`.
    pub fn variance_of_bits(self, p: f64) -> f64 {
        let slope = match self {
            Self::Unipolar => 1.0,
            Self::InvertedBipolar => 2.0,
        };
        slope * slope * p * (1.0 - p)
    }
}

impl fmt::Display for Representation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unipolar => "unipolar",
            Self::InvertedBipolar => "inverted_bipolar",
        })
    }
}

impl FromStr for Representation {
    type Err = StochasticError;

    fn from_str(name: &str) -> Result<Self, StochasticError> {
        match name {
            "unipolar" => Ok(Self::Unipolar),
            "inverted_bipolar" => Ok(Self::InvertedBipolar),
            _ => Err(StochasticError::Name {
                what: "representation",
                name: name.to_owned(),
                known: "unipolar, inverted_bipolar",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_closed_and_nothing_else_enters() {
        use Representation::{InvertedBipolar, Unipolar};
        assert_eq!(InvertedBipolar.probabilities(&[-1.0, 0.0, 1.0]).unwrap(), [1.0, 0.5, 0.0]);
        assert_eq!(Unipolar.probabilities(&[0.0, 1.0]).unwrap(), [0.0, 1.0]);
        for bad in [f64::NAN, f64::INFINITY, -1.000_001, 1.000_001] {
            let error = InvertedBipolar.probabilities(&[0.5, bad]).unwrap_err();
            assert!(matches!(error, StochasticError::OutOfRange { index: 1, .. }));
        }
        assert!(Unipolar.probabilities(&[-1e-9]).is_err());
        assert!(matches!(Unipolar.probabilities(&[]), Err(StochasticError::Empty)));
        let text = Unipolar.probabilities(&[2.0]).unwrap_err().to_string();
        assert_eq!(
            text,
            "the value at index 0 is not in the unipolar range [0, 1]; scale the inputs into it and \
             multiply the result back"
        );
    }
}
