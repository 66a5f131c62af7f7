use hesc_math::KeyStream;

use crate::plans::Seed;

/// Words of an AES block.
const WORDS: u64 = 2;

/// Public signs of records: a bit for each of the key stream of a seed.
pub(super) struct Signs {
    stream: KeyStream,
    ring_degree: usize,
}

impl Signs {
    pub fn new(seed: &Seed, ring_degree: usize) -> Self {
        Self { stream: KeyStream::new(seed), ring_degree }
    }

    /// All ones for each record of a block whose sign is negative.
    pub fn of_block(&self, block: usize) -> Vec<i64> {
        let mut words = vec![0; self.ring_degree / u64::BITS as usize];
        let first = block as u64 * words.len() as u64 / WORDS;
        self.stream.apply(first, &mut words);
        let bit = |i: usize| words[i / u64::BITS as usize] >> (i % u64::BITS as usize) & 1;
        (0..self.ring_degree).map(|i| -(bit(i) as i64)).collect()
    }
}

/// A number times the sign that a mask stands for.
pub(super) fn signed(x: i64, mask: i64) -> i64 {
    (x ^ mask) - mask
}
