use std::collections::BTreeMap;

use super::{Ciphertexts, MAX_PADS, Nonce};
use crate::SchemeError;
use crate::error::refuse;
use crate::streams::block_at;

/// Which pads lie on the blocks of a batch. Public: it says which encrypted blocks were multiplied.
///
/// There is one form for one content: nonces ascend, and each is used; so do the pads of a block.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Nonces of encryptions.
    pub(super) nonces: Vec<Nonce>,
    /// Pads of all blocks, one block's after the other's.
    pub(super) pads: Vec<Source>,
    /// Where each block's end.
    pub(super) ends: Vec<usize>,
}

const REMEDY: &str = "a block remembers 255 pads; multiply fewer factors, or decrypt in between";

/// One pad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source {
    /// Which of the nonces.
    pub(super) nonce: u32,
    /// Which block of its encryption.
    pub(super) index: u32,
}

impl Sources {
    /// Those of a fresh encryption.
    pub(super) fn fresh(nonce: Nonce, blocks: usize) -> Self {
        let pads = (0..blocks as u32).map(|index| Source { nonce: 0, index }).collect();
        Self { nonces: vec![nonce], pads, ends: (1..=blocks).collect() }
    }

    /// The pads of a block.
    pub(super) fn of(&self, block: usize) -> &[Source] {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        &self.pads[start..self.ends[block]]
    }

    /// Those of rows of blocks that are combined, given as pairs of a part and a block in it: a pad that lies on
    /// an even number of them is gone.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for more than [`MAX_PADS`] on a block, [`SchemeError::BlockIndex`].
    pub(super) fn combined(
        parts: &[&Ciphertexts],
        rows: impl ExactSizeIterator<Item: AsRef<[(usize, usize)]>>,
    ) -> Result<Self, SchemeError> {
        let all: BTreeMap<Nonce, u32> = {
            let nonces = parts.iter().flat_map(|part| &part.state.nonces).copied();
            let mut all: Vec<Nonce> = nonces.collect();
            all.sort_unstable();
            all.dedup();
            all.into_iter().zip(0..).collect()
        };
        let numbered = |part: &&Ciphertexts| -> Vec<u32> {
            part.state.nonces.iter().map(|nonce| all[nonce]).collect()
        };
        let numbers: Vec<Vec<u32>> = parts.iter().map(numbered).collect();
        let (mut pads, mut ends) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        let mut of_row = Vec::new();
        for row in rows {
            of_row.clear();
            for &(part, block) in row.as_ref() {
                block_at(parts, (part, block))?;
                let of_block = parts[part].state.of(block).iter();
                of_row.extend(of_block.map(|source| Source {
                    nonce: numbers[part][source.nonce as usize],
                    index: source.index,
                }));
            }
            of_row.sort_unstable();
            let left = of_row.chunk_by(Source::eq).filter(|same| same.len() % 2 == 1);
            let before = pads.len();
            pads.extend(left.map(|same| same[0]));
            if pads.len() - before > MAX_PADS {
                return refuse("factors", pads.len() - before, REMEDY);
            }
            ends.push(pads.len());
        }
        Ok(Self { nonces: all.into_keys().collect(), pads, ends }.without_unused())
    }

    /// The same without nonces that no block is left with.
    fn without_unused(mut self) -> Self {
        let mut used = vec![false; self.nonces.len()];
        self.pads.iter().for_each(|source| used[source.nonce as usize] = true);
        let mut number = 0;
        let renumbered = |used: &bool| {
            number += u32::from(*used);
            number.saturating_sub(1)
        };
        let numbers: Vec<u32> = used.iter().map(renumbered).collect();
        self.pads.iter_mut().for_each(|source| source.nonce = numbers[source.nonce as usize]);
        let mut used = used.into_iter();
        self.nonces.retain(|_| used.next() == Some(true));
        self
    }
}
