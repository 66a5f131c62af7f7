use crate::{Representation, StochasticError};

/// Longest stream.
pub const MAX_STREAM_LENGTH: usize = 1 << 24;

/// A batch of bit streams of one length, packed: bit `j` of a stream is bit `j % 64` of its word
/// `j / 64`; bits beyond the length are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitStreams {
    words: Vec<u64>,
    stream_length: usize,
}

impl BitStreams {
    /// Streams of zeros.
    pub(crate) fn zeros(streams: usize, stream_length: usize) -> Self {
        Self { words: vec![0; streams * stream_length.div_ceil(64)], stream_length }
    }

    /// Streams from packed words.
    ///
    /// # Errors
    /// [`StochasticError::StreamLength`], or [`StochasticError::Packing`] if the words are not
    /// whole streams or a bit beyond the length is set.
    pub fn from_words(words: Vec<u64>, stream_length: usize) -> Result<Self, StochasticError> {
        check_length(stream_length)?;
        let per_stream = stream_length.div_ceil(64);
        let unused = (64 - stream_length % 64) % 64;
        let clean = |row: &[u64]| row[per_stream - 1] & !(u64::MAX >> unused) == 0;
        if !words.len().is_multiple_of(per_stream) || !words.chunks_exact(per_stream).all(clean) {
            return Err(StochasticError::Packing { stream_length });
        }
        Ok(Self { words, stream_length })
    }

    /// Number of streams.
    pub fn streams(&self) -> usize {
        self.words.len() / self.words_per_stream()
    }

    /// Bits of a stream.
    pub fn stream_length(&self) -> usize {
        self.stream_length
    }

    /// Words of a stream.
    pub fn words_per_stream(&self) -> usize {
        self.stream_length.div_ceil(64)
    }

    /// All words, stream after stream.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, for encoders, which keep the bits beyond the length zero.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The words of one stream.
    pub fn row(&self, stream: usize) -> &[u64] {
        &self.words[stream * self.words_per_stream()..][..self.words_per_stream()]
    }

    /// One bit.
    pub fn bit(&self, stream: usize, at: usize) -> bool {
        self.row(stream)[at / 64] >> (at % 64) & 1 == 1
    }

    /// Ones in one stream.
    pub fn ones(&self, stream: usize) -> u32 {
        self.row(stream).iter().map(|word| word.count_ones()).sum()
    }

    /// Bit by bit exclusive or: the product of inverted bipolar streams.
    ///
    /// # Errors
    /// [`StochasticError::Shape`] for batches of different shapes.
    pub fn xor(&self, other: &Self) -> Result<Self, StochasticError> {
        self.zip(other, |a, b| a ^ b)
    }

    /// Bit by bit and: the product of unipolar streams.
    ///
    /// # Errors
    /// [`StochasticError::Shape`] for batches of different shapes.
    pub fn and(&self, other: &Self) -> Result<Self, StochasticError> {
        self.zip(other, |a, b| a & b)
    }

    /// Bit by bit or: the saturated sum `1 - (1 - x)(1 - y)` of independent unipolar streams, about
    /// `x + y` where both are small.
    ///
    /// # Errors
    /// [`StochasticError::Shape`] for batches of different shapes.
    pub fn or(&self, other: &Self) -> Result<Self, StochasticError> {
        self.zip(other, |a, b| a | b)
    }

    /// The complement of every bit: `-x` for inverted bipolar streams, `1 - x` for unipolar ones.
    pub fn complement(&self) -> Self {
        let last = u64::MAX >> ((64 - self.stream_length % 64) % 64);
        let per_stream = self.words_per_stream();
        let flip = |(i, word): (usize, &u64)| {
            !word & if i % per_stream == per_stream - 1 { last } else { u64::MAX }
        };
        Self { words: self.words.iter().enumerate().map(flip).collect(), ..*self }
    }

    /// The streams of these indices, in this order.
    ///
    /// # Errors
    /// [`StochasticError::Index`].
    pub fn select(&self, indices: &[usize]) -> Result<Self, StochasticError> {
        let streams = self.streams();
        if let Some(&index) = indices.iter().find(|index| **index >= streams) {
            return Err(StochasticError::Index { index, streams });
        }
        let words = indices.iter().flat_map(|&index| self.row(index)).copied().collect();
        Ok(Self { words, ..*self })
    }

    /// Streams of other bits, `bit(stream, at)`.
    pub(crate) fn from_bits(
        streams: usize,
        stream_length: usize,
        mut bit: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let mut result = Self::zeros(streams, stream_length);
        let words = result.words_per_stream();
        for (stream, row) in result.words.chunks_exact_mut(words).enumerate() {
            for at in 0..stream_length {
                row[at / 64] |= u64::from(bit(stream, at)) << (at % 64);
            }
        }
        result
    }

    fn zip(&self, other: &Self, op: impl Fn(u64, u64) -> u64) -> Result<Self, StochasticError> {
        if self.words.len() != other.words.len() || self.stream_length != other.stream_length {
            return Err(StochasticError::Shape {
                left_streams: self.streams(),
                left_length: self.stream_length,
                right_streams: other.streams(),
                right_length: other.stream_length,
            });
        }
        let words = self.words.iter().zip(&other.words).map(|(&a, &b)| op(a, b)).collect();
        Ok(Self { words, stream_length: self.stream_length })
    }

    /// The value of each stream.
    ///
    /// Cost: a population count for each word, some ten bits in a nanosecond.
    pub fn values(&self, representation: Representation) -> Vec<f64> {
        let length = self.stream_length as f64;
        let value = |stream| representation.value(f64::from(self.ones(stream)) / length);
        (0..self.streams()).map(value).collect()
    }
}

/// Refuses a stream length of zero or beyond [`MAX_STREAM_LENGTH`].
pub(crate) fn check_length(stream_length: usize) -> Result<(), StochasticError> {
    if (1..=MAX_STREAM_LENGTH).contains(&stream_length) {
        return Ok(());
    }
    Err(StochasticError::StreamLength { stream_length, max: MAX_STREAM_LENGTH })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_words_are_checked() {
        assert!(BitStreams::from_words(vec![1, 2, 3], 65).is_err());
        assert!(BitStreams::from_words(vec![0, 2], 65).is_err());
        assert!(BitStreams::from_words(vec![], 0).is_err());
        let streams = BitStreams::from_words(vec![u64::MAX, 1, 0, 1], 65).unwrap();
        assert_eq!((streams.streams(), streams.ones(0), streams.ones(1)), (2, 65, 1));
        assert!(streams.bit(1, 64) && !streams.bit(1, 0));
    }

    #[test]
    fn products_of_constants_are_exact() {
        let plus = BitStreams::from_words(vec![0], 64).unwrap();
        let minus = BitStreams::from_words(vec![u64::MAX], 64).unwrap();
        let ibp = Representation::InvertedBipolar;
        assert_eq!(plus.xor(&minus).unwrap().values(ibp)[0], -1.0);
        assert_eq!(minus.xor(&minus).unwrap().values(ibp)[0], 1.0);
        let up = Representation::Unipolar;
        assert_eq!(minus.and(&plus).unwrap().values(up)[0], 0.0);
        let short = BitStreams::from_words(vec![1], 32).unwrap();
        assert!(matches!(plus.xor(&short), Err(StochasticError::Shape { .. })));
    }
}
