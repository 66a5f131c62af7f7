use std::sync::Arc;

use hesc_schemes::Scheme;
use hesc_stochastic::{Operand, Representation, SelectionLaw, Selector};

use super::array::{Streams, Term, check_weights};
use super::factors::{Factors, factors_of, merge};
use super::layout::{Place, copy_bits};
use super::masking::Passing;
use crate::CircuitError;

/// Kinds of sums whose laws are taken together in one selection.
const MOST_KINDS: usize = 4;

impl<S: Scheme> Streams<S> {
    /// Refuses elements that are not single streams, or not aligned in groups of consecutive ones.
    pub(crate) fn check_groups(&self, group: usize) -> Result<(), CircuitError> {
        if group == 0 {
            return Err(CircuitError::Empty);
        }
        if !self.elements.is_multiple_of(group) {
            return Err(CircuitError::Length {
                what: "elements in whole groups",
                expected: self.elements.div_ceil(group) * group,
                found: self.elements,
            });
        }
        if self.terms_per_element() > 1 {
            return Err(CircuitError::NotSingle { element: 0 });
        }
        for (i, term) in self.terms.iter().enumerate() {
            let left = i / group * group;
            let left_offset = self.terms[left].place.offset;
            if term.place.offset != left_offset {
                let (right, right_offset) = (i, term.place.offset);
                return Err(CircuitError::Misaligned { left, left_offset, right, right_offset });
            }
        }
        Ok(())
    }

    /// Weighted means of consecutive groups of `probabilities.len()` elements by selection, the
    /// conventional sum of stochastic computing (`koseki2022hesc` Algorithm 3): at each position
    /// one operand's bit passes, chosen with its probability. The length stays and the error
    /// grows; `sum_k p_k x_k / sum_k p_k` is what the result holds. Cost: a product with a mask
    /// for each element. Needs slots.
    ///
    /// # Errors
    /// [`CircuitError::NotSingle`] for elements that are concatenated sums or differ in weight,
    /// [`CircuitError::Misaligned`], [`CircuitError::Length`], a stochastic error for impossible
    /// probabilities, and the scheme's error if it cannot mask or has no noise budget left.
    pub fn multiplexed_sum(
        &self,
        probabilities: &[f64],
        selector: &mut Selector,
    ) -> Result<Self, CircuitError> {
        self.selected(probabilities, probabilities, selector)
    }

    /// [`Streams::multiplexed_sum`] of operands of which some were negated: their `shares` are negative.
    fn selected(
        &self,
        probabilities: &[f64],
        shares: &[f64],
        selector: &mut Selector,
    ) -> Result<Self, CircuitError> {
        let group = probabilities.len();
        self.check_groups(group)?;
        let weight_of = |i: usize| self.terms[i].weight;
        let uneven = (0..self.elements).find(|&i| weight_of(i) != weight_of(i / group * group));
        if let Some(element) = uneven {
            return Err(CircuitError::NotSingle { element });
        }
        let sums = self.elements / group;
        let (masks, chosen) = selector.choose(probabilities, sums, self.stream_length)?;

        // Each element's blocks are copied once, masked, and added to those of its group.
        let (span, words) = (self.span(), self.scheme.block_length() / 64);
        let mut rows: Vec<Vec<Passing>> = Vec::with_capacity(sums * span);
        rows.resize_with(sums * span, || Vec::with_capacity(group));
        for (i, term) in self.terms.iter().enumerate() {
            let mut bits = vec![0; span * words];
            copy_bits(masks.row(i), self.stream_length, &mut bits, term.place.offset);
            for (k, mask) in bits.chunks_exact(words).enumerate() {
                let source = (term.part, term.place.block + k);
                rows[i / group * span + k].push(Passing { source, mask: mask.to_vec() });
            }
        }
        let summed = self.masked_sums(&rows)?;
        let terms = self.terms.iter().step_by(group).enumerate().map(|(sum, term)| Term {
            part: 0,
            place: Place { block: sum * span, ..term.place },
            ..*term
        });
        let total: f64 = probabilities.iter().sum();
        let mean = |of_sum: &[f64]| {
            of_sum.iter().zip(probabilities).map(|(c, p)| c * p).sum::<f64>() / total
        };
        let chosen = chosen.with_law(self.selection_law(shares));
        let origins = merge(&self.origins, &[chosen]);
        // What errs is the selection: what its operands err themselves is part of its law.
        let mut factors = Factors::new(origins.len(), vec![0; sums * origins.len()]);
        factors.set(origins.binary_search(&chosen).unwrap_or_default(), |sum| sum as u32 + 1);
        Ok(Self {
            parts: vec![Arc::new(summed)],
            terms: terms.collect(),
            elements: sums,
            origins,
            factors,
            constants: self.constants.chunks_exact(group).map(mean).collect(),
            ..self.clone()
        })
    }

    /// The law of a selection among consecutive groups: of all kinds of groups that there are, or of the first
    /// few.
    fn selection_law(&self, shares: &[f64]) -> SelectionLaw {
        let sums = self.elements / shares.len();
        let pieces = self.encoded_length / self.stream_length;
        let pattern = self.factors.pattern(sums, &self.origins, pieces);
        let per_sum = shares.len() * self.origins.len();
        let mut kinds: Vec<&[u32]> = pattern.rows().chunks_exact(per_sum).collect();
        kinds.dedup();
        let law = |rows: &&[u32]| {
            let factors = rows.chunks_exact(self.origins.len());
            let factors = factors.map(|rows| factors_of(&self.origins, rows));
            let operands: Vec<Operand> = shares.iter().copied().zip(factors).collect();
            let (encoded, length) = (self.encoded_length, self.stream_length);
            SelectionLaw::of(&operands, self.representation, encoded, length)
        };
        let laws: Vec<SelectionLaw> = kinds.iter().take(MOST_KINDS).map(law).collect();
        SelectionLaw::between(&laws)
    }

    /// [`Streams::multiplexed_sum`] with real coefficients: `sum_k a_k x_k`, `|a_k|` being the
    /// probabilities and their sum the result's weight. Operands of negative coefficients are
    /// negated first (one plaintext addition each).
    ///
    /// # Errors
    /// As [`Streams::multiplexed_sum`]; [`CircuitError::Representation`] for negative
    /// coefficients of streams that cannot be negated.
    pub fn multiplexed_combination(
        &self,
        coefficients: &[f64],
        selector: &mut Selector,
    ) -> Result<Self, CircuitError> {
        check_weights(coefficients.iter().copied())?;
        let probabilities: Vec<f64> = coefficients.iter().map(|a| a.abs()).collect();
        let weight: f64 = probabilities.iter().sum();
        let negative = |i: usize| coefficients[i % coefficients.len()] < 0.0;
        let operands = if !coefficients.is_empty() && (0..self.elements).any(negative) {
            if self.representation != Representation::InvertedBipolar {
                return Err(CircuitError::Representation { operation: "negation" });
            }
            let (minus, plus): (Vec<_>, Vec<_>) = (0..self.elements).partition(|&i| negative(i));
            let negated = self.select(&minus)?.negate()?;
            let joined =
                if plus.is_empty() { negated } else { self.select(&plus)?.append(&negated)? };
            // Back into the old order.
            let mut order = vec![0; self.elements];
            for (new, &old) in plus.iter().chain(&minus).enumerate() {
                order[old] = new;
            }
            joined.select(&order)?
        } else {
            self.clone()
        };
        let sums = operands.selected(&probabilities, coefficients, selector)?;
        sums.scale(&vec![weight; sums.elements])
    }
}
