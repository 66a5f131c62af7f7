use crate::{Fingerprint, KeyId, SchemeError, Tag};

/// Blocks under one key pair, one after the other, in one of a scheme's forms.
#[derive(Debug, Clone)]
pub struct Batch<T, S = ()> {
    pub(super) tag: Tag,
    /// What blocks consist of, equally many for each: residues, or a ciphertext.
    pub(super) words: Vec<T>,
    pub(super) blocks: usize,
    /// What is known of all blocks together: bounds of noise and counts, a seed.
    pub(super) state: S,
}

/// The words of two blocks that meet.
type Pair<'a, T> = (&'a [T], &'a [T]);

/// What every batch says of itself.
pub trait Blocks: Clone + Send + Sync {
    /// The number of blocks, at least one.
    fn blocks(&self) -> usize;
    /// The name of the key pair.
    fn key(&self) -> KeyId;
}

impl<T: Clone + Send + Sync, S: Clone + Send + Sync> Blocks for Batch<T, S> {
    fn blocks(&self) -> usize {
        self.blocks
    }

    fn key(&self) -> KeyId {
        self.tag.key
    }
}

impl<T, S> Batch<T, S> {
    /// The words of a block.
    pub(super) fn block(&self, index: usize) -> Result<&[T], SchemeError> {
        let blocks = self.blocks;
        if index >= blocks {
            return Err(SchemeError::BlockIndex { index, blocks });
        }
        let size = self.words.len() / blocks;
        Ok(&self.words[index * size..][..size])
    }

    /// Refuses a batch of another set, and bits that are not one for each position of its blocks.
    pub(super) fn check_bits(
        &self,
        params: Fingerprint,
        bits: &[u64],
        block_length: usize,
    ) -> Result<(), SchemeError> {
        self.tag.check(params, None)?;
        let (expected, found) = (self.blocks, count_blocks(bits, block_length)?);
        if expected == found { Ok(()) } else { Err(SchemeError::BlockCount { expected, found }) }
    }

    /// The operands of pairs of blocks.
    pub(super) fn pairs<'a>(
        &'a self,
        other: &'a Self,
        pairs: &[(usize, usize)],
    ) -> Result<Vec<Pair<'a, T>>, SchemeError> {
        if pairs.is_empty() {
            return Err(SchemeError::Empty);
        }
        pairs.iter().map(|&(i, j)| Ok((self.block(i)?, other.block(j)?))).collect()
    }
}

impl<T: Clone, S> Batch<T, S> {
    /// The blocks at these places, in this order, with what holds of all of them.
    pub(super) fn arranged(
        parts: &[&Self],
        places: &[(usize, usize)],
        state: S,
    ) -> Result<Self, SchemeError> {
        let first = *parts.first().ok_or(SchemeError::Empty)?;
        if places.is_empty() {
            return Err(SchemeError::Empty);
        }
        let mut words = Vec::with_capacity(places.len() * first.words.len() / first.blocks);
        for &place in places {
            words.extend_from_slice(block_at(parts, place)?);
        }
        Ok(Self { tag: first.tag, words, blocks: places.len(), state })
    }
}

/// The first of some batches, if all are of this set and of one key pair.
pub(super) fn check_parts<'a, T, S>(
    parts: &[&'a Batch<T, S>],
    params: Fingerprint,
) -> Result<&'a Batch<T, S>, SchemeError> {
    let first = *parts.first().ok_or(SchemeError::Empty)?;
    parts.iter().try_for_each(|part| part.tag.check(params, Some(first.tag)))?;
    Ok(first)
}

/// The places of all blocks of all parts, in order.
pub(super) fn all_places<B: Blocks>(parts: &[&B]) -> Vec<(usize, usize)> {
    let of_part = |(part, batch): (usize, &&B)| (0..batch.blocks()).map(move |at| (part, at));
    parts.iter().enumerate().flat_map(of_part).collect()
}

/// The block at a place: a part and a block of it.
pub(super) fn block_at<'a, T, S>(
    parts: &[&'a Batch<T, S>],
    (part, index): (usize, usize),
) -> Result<&'a [T], SchemeError> {
    parts.get(part).ok_or(SchemeError::BlockIndex { index, blocks: 0 })?.block(index)
}

/// The operands of rows of blocks, each of one at least and at most one more than there are bases.
pub(super) fn rows_of<'a, T, S>(
    parts: &[&'a Batch<T, S>],
    rows: &[Vec<(usize, usize)>],
    bases: &[u64],
) -> Result<Vec<Vec<&'a [T]>>, SchemeError> {
    if rows.is_empty() {
        return Err(SchemeError::Empty);
    }
    let most = bases.len() + 1;
    let operands = |row: &Vec<(usize, usize)>| {
        if row.is_empty() || row.len() > most {
            return Err(SchemeError::BlockCount { expected: most, found: row.len() });
        }
        row.iter().map(|&place| block_at(parts, place)).collect()
    };
    rows.iter().map(operands).collect()
}

/// Bases that make weighted sums of such rows plain ones.
pub(super) fn bases_of_one(rows: &[Vec<(usize, usize)>]) -> Vec<u64> {
    vec![1; rows.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1)]
}

/// The number of whole blocks in packed bits.
pub(super) fn count_blocks(bits: &[u64], block_length: usize) -> Result<usize, SchemeError> {
    let words = block_length / 64;
    if bits.is_empty() {
        return Err(SchemeError::Empty);
    }
    if !bits.len().is_multiple_of(words) {
        return Err(SchemeError::BlockCount {
            expected: bits.len().div_ceil(words),
            found: bits.len() / words,
        });
    }
    Ok(bits.len() / words)
}

/// Bits as counts, one for each position. Eight at a time: copies of a byte, each with another bit kept, carry
/// it to the same place.
pub(super) fn bits_of(words: &[u64]) -> Vec<u32> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut counts = vec![0; 64 * words.len()];
    for (word, counts) in words.iter().zip(counts.as_chunks_mut::<64>().0) {
        for (byte, counts) in word.to_le_bytes().into_iter().zip(counts.as_chunks_mut::<8>().0) {
            let kept = (u64::from(byte) * ONES) & 0x8040_2010_0804_0201;
            let bits = ((kept + 0x7f * ONES) >> 7) & ONES;
            *counts = bits.to_le_bytes().map(u32::from);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::bits_of;

    #[test]
    fn bits_become_counts_in_order() {
        let words: Vec<u64> =
            (0..500).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let counts = bits_of(&words);
        assert_eq!(counts.len(), 64 * words.len());
        for (i, count) in counts.into_iter().enumerate() {
            assert_eq!(u64::from(count), words[i / 64] >> (i % 64) & 1, "{i}");
        }
    }
}
