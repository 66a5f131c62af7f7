use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use hesc_stochastic::BitStreams;

use crate::CircuitError;

/// How streams share ciphertext blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Each stream starts a block of its own and spreads over as many as it needs: the paper's
    /// layout. Any two elements align; short streams waste positions.
    OnePerBlock,
    /// Streams of one row (the last axis) lie one after the other in as few blocks as they need;
    /// each row starts a new block. Elements align if they have the same place in their rows.
    SideBySide,
}

/// Where one stream lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub block: usize,
    pub offset: usize,
}

/// Places in blocks that are made as they are needed: for each key, the blocks so far and the
/// offsets taken in each.
#[derive(Clone)]
pub(crate) struct FreePlaces<K>(HashMap<K, Vec<(usize, HashSet<usize>)>>);

impl<K> Default for FreePlaces<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash> FreePlaces<K> {
    /// Takes an offset in the first block of the key where it is free; `new` makes another block.
    pub fn place(&mut self, key: K, offset: usize, new: impl FnOnce() -> usize) -> usize {
        let blocks = self.0.entry(key).or_default();
        for (block, taken) in blocks.iter_mut() {
            if taken.insert(offset) {
                return *block;
            }
        }
        let block = new();
        blocks.push((block, HashSet::from([offset])));
        block
    }
}

/// Packed bits of blocks and the places of the streams in them.
pub(crate) struct Arranged {
    pub bits: Vec<u64>,
    pub places: Vec<Place>,
}

/// Where the streams of rows lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    stream_length: usize,
    row_length: usize,
    /// Streams in a block, and blocks of a stream; one of them is 1.
    per_block: usize,
    span: usize,
}

impl Rows {
    /// The place of each stream, row after row.
    pub fn place(&self, stream: usize) -> Place {
        let (row, column) = (stream / self.row_length, stream % self.row_length);
        Place {
            block: row * self.blocks_per_row() + column / self.per_block * self.span,
            offset: column % self.per_block * self.stream_length,
        }
    }

    /// Blocks that a row takes.
    pub fn blocks_per_row(&self) -> usize {
        self.row_length.div_ceil(self.per_block) * self.span
    }
}

impl Layout {
    /// What Python calls "auto": side by side where a stream fits a block.
    pub(crate) fn automatic(stream_length: usize, block_length: usize) -> Self {
        if stream_length <= block_length { Self::SideBySide } else { Self::OnePerBlock }
    }

    /// Where streams of this length lie in rows of `row_length` and blocks of `block_length` positions.
    pub(crate) fn rows(
        self,
        stream_length: usize,
        row_length: usize,
        block_length: usize,
    ) -> Result<Rows, CircuitError> {
        let (per_block, span) = match self {
            Self::OnePerBlock => (1, stream_length.div_ceil(block_length)),
            Self::SideBySide if stream_length > block_length => {
                return Err(CircuitError::DoesNotFit { stream_length, block_length });
            }
            Self::SideBySide => (block_length / stream_length, 1),
        };
        Ok(Rows { stream_length, row_length, per_block, span })
    }

    /// Arranges streams in rows of `row_length` into blocks of `block_length` positions.
    pub(crate) fn arrange(
        self,
        streams: &BitStreams,
        row_length: usize,
        block_length: usize,
    ) -> Result<Arranged, CircuitError> {
        let length = streams.stream_length();
        let rows = self.rows(length, row_length, block_length)?;
        let words_per_block = block_length / 64;
        let blocks = streams.streams() / row_length * rows.blocks_per_row();
        let mut bits = vec![0; blocks * words_per_block];
        let mut places = Vec::with_capacity(streams.streams());
        for i in 0..streams.streams() {
            let place = rows.place(i);
            copy_bits(
                streams.row(i),
                length,
                &mut bits[place.block * words_per_block..],
                place.offset,
            );
            places.push(place);
        }
        Ok(Arranged { bits, places })
    }
}

/// Sets `length` bits from `offset` on to those of `source`; the target bits are zero before, as
/// are the unused bits of `source`.
pub(crate) fn copy_bits(source: &[u64], length: usize, target: &mut [u64], offset: usize) {
    let (word, shift) = (offset / 64, offset % 64);
    for (i, &bits) in source[..length.div_ceil(64)].iter().enumerate() {
        target[word + i] |= bits << shift;
        if shift > 0 && bits >> (64 - shift) != 0 {
            target[word + i + 1] |= bits >> (64 - shift);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_bit_lands_where_its_place_says(
            length in 1usize..300,
            rows in 1usize..4,
            row_length in 1usize..6,
            seed: u64,
        ) {
            let words = length.div_ceil(64);
            let mut state = seed;
            let mut packed = Vec::new();
            for _ in 0..rows * row_length {
                for w in 0..words {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    let used = (length - 64 * w).min(64);
                    packed.push(state.rotate_left(17) & (u64::MAX >> (64 - used)));
                }
            }
            let streams = BitStreams::from_words(packed, length).unwrap();
            for layout in [Layout::OnePerBlock, Layout::SideBySide] {
                let Ok(arranged) = layout.arrange(&streams, row_length, 256) else {
                    prop_assert!(layout == Layout::SideBySide && length > 256);
                    continue;
                };
                let mut ones = 0;
                for (i, place) in arranged.places.iter().enumerate() {
                    for j in 0..length {
                        let at = place.block * 256 + place.offset + j;
                        let bit = arranged.bits[at / 64] >> (at % 64) & 1 == 1;
                        prop_assert_eq!(bit, streams.bit(i, j));
                        ones += u32::from(bit);
                    }
                }
                let set: u32 = arranged.bits.iter().map(|w| w.count_ones()).sum();
                prop_assert_eq!(set, ones, "no other bit is set");
            }
        }
    }
}
