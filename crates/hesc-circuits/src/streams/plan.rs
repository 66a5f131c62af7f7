use hesc_stochastic::{Origin, Representation};

use super::factors::Factors;

/// Where one term of an element is in the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AnswerTerm {
    /// Its first logical block: block `u` is digit `u / groups` of block `u % groups`.
    pub first: usize,
    /// Where it starts in the block.
    pub offset: usize,
    /// Streams merged by [`crate::Fusion::Ones`].
    pub merged: u32,
    /// Factor in the element's value.
    pub weight: f64,
}

/// The public part of an answer: how to read the counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub elements: usize,
    pub stream_length: usize,
    pub block_length: usize,
    pub representation: Representation,
    /// Where the factors of terms come from, without names of random states.
    pub origins: Vec<Origin>,
    /// Which terms of an element share streams: for each term of each element, or for those of one
    /// element if all are alike.
    pub factors: Factors,
    /// Bits of the streams as they were encoded.
    pub encoded_length: usize,
    /// What is added to each element; empty for nothing.
    pub constants: Vec<f64>,
    /// Element by element, the same number for each.
    pub terms: Vec<AnswerTerm>,
    /// Bases of the digits; empty if nothing is fused as digits.
    pub bases: Vec<u64>,
    /// Logical blocks, before fusion as digits.
    pub blocks: usize,
    /// Largest count of a digit.
    pub max_count: u64,
}

impl Plan {
    /// In how many pieces the streams were cut.
    pub fn pieces(&self) -> usize {
        self.encoded_length / self.stream_length
    }

    /// Blocks of a stream.
    pub fn span(&self) -> usize {
        self.stream_length.div_ceil(self.block_length)
    }

    /// The factors of each term of each element.
    pub fn factors_of_all(&self) -> Factors {
        let terms = self.terms.len();
        let pattern = self.factors.rows().len() / self.origins.len();
        self.factors.select((0..terms).map(|term| term % pattern))
    }

    /// Blocks after fusion.
    pub fn groups(&self) -> usize {
        self.blocks.div_ceil(self.bases.len() + 1)
    }

    /// The largest fused value.
    pub fn largest(&self) -> u128 {
        // Saturation is far above any plaintext modulus.
        self.bases.iter().fold(u128::from(self.max_count), |value, base| {
            value.saturating_mul(u128::from(*base)).saturating_add(u128::from(self.max_count))
        })
    }
}
