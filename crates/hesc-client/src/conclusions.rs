//! What follows from scores: classes and probabilities, as scikit-learn has them.

use crate::steps::sigmoid;
use crate::{ClientError, document};

/// How a client makes probabilities of scores, if it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// It cannot.
    None,
    /// Of one score.
    Sigmoid,
    /// Of all scores.
    Softmax,
    /// Of each score, brought to a sum of one.
    OneAgainstRest,
    /// Scores are probabilities, of two classes less 1/2.
    Shares,
}

impl Link {
    /// Names of all, as documents have them.
    pub const NAMES: [&'static str; 5] =
        ["none", "sigmoid", "softmax", "one_against_rest", "shares"];

    const ALL: [Self; 5] =
        [Self::None, Self::Sigmoid, Self::Softmax, Self::OneAgainstRest, Self::Shares];

    /// The link of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|own| *own == name).map(|place| Self::ALL[place])
    }

    pub(crate) fn read(value: &crate::json::Json, what: &str) -> Result<Self, ClientError> {
        document::one_of(value, &Self::NAMES, what).map(|place| Self::ALL[place])
    }

    /// Probabilities of all classes: a row for each of these rows of so many scores.
    ///
    /// # Errors
    /// [`ClientError::NoProbabilities`] for scores that give none.
    pub fn probabilities(self, scores: &[f64], outputs: usize) -> Result<Vec<f64>, ClientError> {
        if self == Self::None {
            return Err(ClientError::NoProbabilities);
        }
        let mut found = Vec::with_capacity(scores.len() / outputs * outputs.max(2));
        for row in scores.chunks_exact(outputs) {
            let start = found.len();
            match (self, row) {
                // Errors bring some below zero.
                (Self::Shares, [score]) => {
                    found.extend([0.5 - score, 0.5 + score].map(|x| x.max(0.0)));
                }
                (Self::Shares, _) => found.extend(row.iter().map(|x| x.max(0.0))),
                (_, [score]) => {
                    let high = sigmoid(*score);
                    found.extend([1.0 - high, high]);
                    continue;
                }
                (Self::Softmax, _) => {
                    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    found.extend(row.iter().map(|x| (x - most).exp()));
                }
                _ => found.extend(row.iter().map(|x| sigmoid(*x))),
            }
            normalise(&mut found[start..]);
        }
        Ok(found)
    }
}

/// Brings a row to a sum of one; as scikit-learn does, evenly where no class wants a sample.
fn normalise(row: &mut [f64]) {
    let total: f64 = row.iter().sum();
    let even = 1.0 / row.len() as f64;
    row.iter_mut().for_each(|x| *x = if total > 0.0 { *x / total } else { even });
}

/// Places of classes, one for each row of so many scores: of one score the second where it is above zero, otherwise the
/// first of the highest.
pub fn places(scores: &[f64], outputs: usize) -> Vec<usize> {
    let place = |row: &[f64]| match row {
        [score] => usize::from(*score > 0.0),
        _ => (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best }),
    };
    scores.chunks_exact(outputs).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_scikit_learns() {
        let of = |name: &str, row: &[f64]| Link::named(name).unwrap().probabilities(row, row.len());
        assert_eq!(of("none", &[0.0]), Err(ClientError::NoProbabilities));
        assert_eq!(of("sigmoid", &[0.0,]), Ok(vec![0.5, 0.5]));
        assert_eq!(of("shares", &[-0.75]), Ok(vec![1.0, 0.0]));
        assert_eq!(of("shares", &[-1.0, -2.0, 0.0]), Ok(vec![1.0 / 3.0; 3]));
        assert_eq!(of("one_against_rest", &[-1e9; 4]), Ok(vec![0.25; 4]));
        let softmax = of("softmax", &[1e300, 1e300 - 1.0]).unwrap();
        assert_eq!(softmax, [0.5, 0.5]);
    }

    #[test]
    fn the_first_of_the_highest_scores_wins() {
        assert_eq!(places(&[1.0, 3.0, 3.0, 2.0, 1.0, 2.0], 3), [1, 0]);
        assert_eq!(places(&[0.0, 1e-300, -1.0], 1), [0, 1, 0]);
    }
}
