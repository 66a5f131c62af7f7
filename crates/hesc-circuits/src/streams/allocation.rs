//! Sums that keep of each operand as many positions as it is worth: between concatenation, which
//! keeps them all, and multiplexing, which keeps in proportion to the coefficients.

use std::collections::HashMap;
use std::sync::Arc;

use hesc_schemes::Scheme;
use hesc_stochastic::{Generator, Origin};

use super::array::{Streams, Term, check_weights};
use super::factors::Factors;
use super::layout::{FreePlaces, Place};
use super::masking::{BlockOf, Passing};
use crate::CircuitError;

impl<S: Scheme> Streams<S> {
    /// `sum_k a_k x_k` of consecutive groups of elements, in `ceil(sum of pieces / granularity)`
    /// streams' worth of ciphertexts: each stream is cut into `granularity` pieces of equal length,
    /// of which operand `k` keeps `pieces[k]`. The value is the mean over what is kept, so that
    /// coefficients weigh pieces and need not be in proportion to them: give more pieces to
    /// operands with larger coefficients or variances. Cost: a product with a mask for each operand
    /// block and each result block that takes from it. Needs slots, unless every operand keeps all.
    ///
    /// Pieces of several operands meet at no position of a block, so that what passes is as
    /// independent as the streams are. `koseki2022hesc` §3.2.3 leaves the choice between its two
    /// sums as future work.
    ///
    /// # Errors
    /// [`CircuitError::Pieces`] for pieces that do not add up, [`CircuitError::Ordered`] for streams
    /// whose parts are biased, those of [`Streams::multiplexed_sum`] otherwise.
    pub fn allocated_sum(
        &self,
        coefficients: &[f64],
        pieces: &[usize],
        granularity: usize,
    ) -> Result<Self, CircuitError> {
        let group = coefficients.len();
        self.check_allocation(coefficients, pieces, granularity)?;
        let groups = self.elements / group;
        let block_length = self.scheme.block_length();
        let (words, span) = (block_length / 64, self.span());
        let piece = self.stream_length / granularity;
        // Pieces lie on a line that winds around the streams: none meets another of its operand.
        let per_sum: usize = pieces.iter().sum();
        let height = per_sum.div_ceil(granularity);

        // Sums of one block share the blocks of the result.
        let mut outputs = FreePlaces::default();
        let mut count = 0;
        let mut rows: Vec<Vec<Passing>> = Vec::new();
        let mut known: HashMap<(BlockOf, usize), usize> = HashMap::new();
        let mut terms = Vec::with_capacity(groups * per_sum);
        let mut kept_factors = Vec::new();
        for (sum, operands) in self.terms.chunks_exact(group).enumerate() {
            let head = operands[0];
            let output = outputs.place((head.part, head.place.block), head.place.offset, || {
                count += 1;
                count - 1
            });
            rows.resize_with(count * height * span, Vec::new);
            let mut line = 0;
            for (k, (term, &kept)) in operands.iter().zip(pieces).enumerate() {
                for _ in 0..kept {
                    let part_of =
                        self.factors.piece(sum * group + k, line % granularity, granularity);
                    kept_factors.extend(part_of);
                    // Where the piece starts, counted from the start of its stream's first block.
                    let start = line % granularity * piece + term.place.offset;
                    let (block, offset) = (start / block_length, start % block_length);
                    let first = (output * height + line / granularity) * span + block;
                    // Pieces longer than a block are whole blocks.
                    for k in 0..piece.div_ceil(block_length) {
                        let (source, row) = ((term.part, term.place.block + block + k), first + k);
                        let passing = *known.entry((source, row)).or_insert_with(|| {
                            rows[row].push(Passing { source, mask: vec![0; words] });
                            rows[row].len() - 1
                        });
                        let end = (offset + piece).min(block_length);
                        let mask = &mut rows[row][passing].mask;
                        (offset..end).for_each(|at| mask[at / 64] |= 1 << (at % 64));
                    }
                    let weight = term.weight * coefficients[k] / kept as f64;
                    terms.push(Term { part: 0, place: Place { block: first, offset }, weight });
                    line += 1;
                }
            }
        }
        // A stream's last blocks may be empty in the last round: they are left out.
        let mut kept_rows = vec![0; rows.len()];
        let mut used = Vec::new();
        for (i, row) in rows.into_iter().enumerate() {
            kept_rows[i] = used.len();
            if !row.is_empty() {
                used.push(row);
            }
        }
        terms.iter_mut().for_each(|term| term.place.block = kept_rows[term.place.block]);
        // Blocks that are alone pass whole: what masks would clear is read by no term. With masks in
        // other rows all have them, since a mask changes the scale of some schemes.
        let summed = if used.iter().all(|row| row.len() == 1) {
            let alone: Vec<Vec<BlockOf>> = used.iter().map(|row| vec![row[0].source]).collect();
            let parts: Vec<&S::Ciphertexts> = self.parts.iter().map(Arc::as_ref).collect();
            self.scheme.combine_rows(&parts, &alone)?
        } else {
            self.masked_sums(&used)?
        };
        let sums = Self {
            parts: vec![Arc::new(summed)],
            terms,
            elements: groups,
            stream_length: piece,
            factors: Factors::new(self.origins.len(), kept_factors),
            constants: self
                .constants
                .chunks_exact(group)
                .map(|of_sum| of_sum.iter().zip(coefficients).map(|(c, a)| c * a).sum())
                .collect(),
            ..self.clone()
        };
        sums.bounded()
    }

    fn check_allocation(
        &self,
        coefficients: &[f64],
        pieces: &[usize],
        granularity: usize,
    ) -> Result<(), CircuitError> {
        let group = coefficients.len();
        self.check_groups(group)?;
        check_weights(coefficients.iter().copied())?;
        let (length, block_length) = (self.stream_length, self.scheme.block_length());
        let whole = |piece: usize| {
            self.span() == 1
                || block_length.is_multiple_of(piece)
                || piece.is_multiple_of(block_length)
        };
        let divides =
            granularity > 0 && length.is_multiple_of(granularity) && whole(length / granularity);
        let each = |kept: &usize| (1..=granularity).contains(kept);
        if pieces.len() != group || !divides || !pieces.iter().all(each) {
            return Err(CircuitError::Pieces {
                operands: group,
                pieces: pieces.to_vec(),
                granularity,
                stream_length: length,
            });
        }
        let ordered = |origin: &Origin| {
            matches!(
                origin,
                Origin::Deterministic { .. }
                    | Origin::Dimension { generator: Generator::Hammersley, dimension: 0 }
            )
        };
        if granularity > 1 && self.origins.iter().any(ordered) {
            return Err(CircuitError::Ordered);
        }
        Ok(())
    }
}
