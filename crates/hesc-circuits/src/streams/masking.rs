//! Sums of blocks of which only some positions pass: what multiplexed and allocated sums share.

use std::sync::Arc;

use hesc_schemes::{Scheme, SchemeError};

use super::array::Streams;
use crate::CircuitError;

/// A batch and a block in it.
pub(crate) type BlockOf = (usize, usize);

/// A block and the positions of it that pass.
pub(crate) struct Passing {
    pub source: BlockOf,
    pub mask: Vec<u64>,
}

impl<S: Scheme> Streams<S> {
    /// One block for each row, the sum of what passes into it; at a position one block of a row passes
    /// at most. Cost: a copy of each block and a product with its mask; where each position has a
    /// ciphertext of its own, a copy of those that pass.
    ///
    /// # Errors
    /// The scheme's if it cannot mask or has no noise budget left.
    pub(crate) fn masked_sums(
        &self,
        rows: &[Vec<Passing>],
    ) -> Result<S::Ciphertexts, CircuitError> {
        const MASK: &str = "a product with a mask";
        if let Some(moving) = self.scheme.moving() {
            let parts: Vec<&S::Ciphertexts> = self.parts.iter().map(Arc::as_ref).collect();
            return Ok(moving.gather(&parts, &positions(rows, self.scheme.block_length()))?);
        }
        let masking = self.scheme.masking().ok_or_else(|| {
            let (packing, remedy) = (self.scheme.packing(), "slot");
            let cannot = SchemeError::PackingCannot { operation: MASK, packing, remedy };
            self.scheme.refusal(MASK).unwrap_or(cannot)
        })?;
        let mut copies: Vec<(Vec<usize>, Vec<u64>)> = vec![Default::default(); self.parts.len()];
        let mut summands: Vec<Vec<BlockOf>> = Vec::with_capacity(rows.len());
        for row in rows {
            let of_row = row.iter().map(|Passing { source: (part, block), mask }| {
                let (blocks, bits) = &mut copies[*part];
                blocks.push(*block);
                bits.extend_from_slice(mask);
                (*part, blocks.len() - 1)
            });
            summands.push(of_row.collect());
        }
        let mut masked = Vec::with_capacity(self.parts.len());
        let mut renumbered = vec![0; self.parts.len()];
        for (part, (blocks, bits)) in copies.iter().enumerate() {
            if blocks.is_empty() {
                continue;
            }
            let mut of_part = self.scheme.select(&self.parts[part], blocks)?;
            masking.mask_assign(&mut of_part, bits)?;
            renumbered[part] = masked.len();
            masked.push(of_part);
        }
        for (part, _) in summands.iter_mut().flatten() {
            *part = renumbered[*part];
        }
        let masked: Vec<&S::Ciphertexts> = masked.iter().collect();
        Ok(self.scheme.combine_rows(&masked, &summands)?)
    }
}

/// Where each position of the rows comes from: part, and position in all blocks of it.
fn positions(rows: &[Vec<Passing>], block_length: usize) -> Vec<Option<(usize, usize)>> {
    let mut sources = vec![None; rows.len() * block_length];
    for (row, sources) in rows.iter().zip(sources.chunks_exact_mut(block_length)) {
        for Passing { source: (part, block), mask } in row {
            for (at, source) in sources.iter_mut().enumerate() {
                if mask[at / 64] >> (at % 64) & 1 == 1 {
                    *source = Some((*part, block * block_length + at));
                }
            }
        }
    }
    sources
}
