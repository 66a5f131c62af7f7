use crate::bit_streams::check_length;
use crate::generators::bernoulli::Probability;
use crate::generators::{Purpose, row_rng};
use crate::selection_law::SelectionLaw;
use crate::{BitStreams, Generator, Origin, StochasticError};

/// Draws, for each position of a stream, which of several streams passes: the selector of a
/// multiplexed sum (`koseki2022hesc` Algorithm 3, with any number of operands and any
/// probabilities).
#[derive(Debug, Clone)]
pub struct Selector {
    random_state: u64,
    next: u32,
}

impl Selector {
    /// A selector; equal random states make equal choices.
    pub fn new(random_state: u64) -> Self {
        Self { random_state, next: 0 }
    }

    /// For each of `draws` sums one mask for each probability: at every position exactly one of
    /// the masks of a sum is set, the `k`-th with `probabilities[k]` over their sum. Masks of one
    /// sum follow one another. The selection has the law of independent bits until somebody says what it is
    /// among ([`Origin::with_law`]).
    ///
    /// # Errors
    /// [`StochasticError::Probability`], [`StochasticError::StreamLength`].
    pub fn choose(
        &mut self,
        probabilities: &[f64],
        draws: usize,
        stream_length: usize,
    ) -> Result<(BitStreams, Origin), StochasticError> {
        check_length(stream_length)?;
        let total: f64 = probabilities.iter().sum();
        if let Some(&value) = probabilities.iter().find(|p| !(p.is_finite() && **p >= 0.0)) {
            return Err(StochasticError::Probability { value });
        }
        if !(total > 0.0 && total.is_finite()) {
            return Err(StochasticError::Probability { value: total });
        }
        let choices = probabilities.len();
        // The chance of each choice if none before it was taken.
        let mut left = total;
        let chances: Vec<Probability> = probabilities
            .iter()
            .map(|p| {
                let chance = if left > *p { p / left } else { 1.0 };
                left -= p;
                Probability::new(chance)
            })
            .collect();
        // Rounding must not leave a position to a choice of probability zero.
        let last = probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0);

        let mut masks = BitStreams::zeros(draws * choices, stream_length);
        let words = masks.words_per_stream();
        // No selection repeats the numbers of an encoder of the same state, which would choose by
        // the bits that it chooses among.
        let number = self.next;
        self.next = number.checked_add(1).ok_or(StochasticError::Dimension {
            generator: Generator::Bernoulli,
            dimension: number,
            available: u32::MAX,
        })?;
        for (draw, sum) in masks.words_mut().chunks_exact_mut(choices * words).enumerate() {
            let name = Purpose::Selection.draw(number);
            let mut rng = row_rng(self.random_state, name, draw as u64);
            for word in 0..words {
                let mut undecided = u64::MAX >> (64 - (stream_length - 64 * word).min(64));
                for (choice, chance) in chances.iter().enumerate().take(last + 1) {
                    let taken =
                        if choice == last { undecided } else { chance.word(&mut rng) & undecided };
                    sum[choice * words + word] = taken;
                    undecided &= !taken;
                }
            }
        }
        let source = Purpose::Selection.source(self.random_state);
        let law = SelectionLaw::INDEPENDENT;
        Ok((masks, Origin::Selection { source, number, law }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mask_is_set_at_every_position_with_its_probability() {
        let probabilities = [0.5, 0.0, 1.5, 2.0];
        let length = 100_003;
        let (masks, _) = Selector::new(3).choose(&probabilities, 2, length).unwrap();
        for sum in 0..2 {
            for i in 0..length {
                assert_eq!((0..4).filter(|k| masks.bit(4 * sum + k, i)).count(), 1);
            }
            for (k, p) in probabilities.iter().enumerate() {
                let share = f64::from(masks.ones(4 * sum + k)) / length as f64;
                // Five standard deviations: a false alarm in about 300,000 seeds.
                assert!((share - p / 4.0).abs() < 5.0 * (0.25 / length as f64).sqrt());
            }
        }
    }

    #[test]
    fn impossible_probabilities_are_refused() {
        for bad in [&[0.0, 0.0][..], &[-0.1, 1.0], &[f64::NAN], &[f64::INFINITY], &[]] {
            let refused = Selector::new(0).choose(bad, 1, 64);
            assert!(matches!(refused, Err(StochasticError::Probability { .. })));
        }
    }
}
