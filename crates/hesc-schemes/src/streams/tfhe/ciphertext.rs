use hesc_math::RngSeed;

use crate::Tag;

/// A batch of blocks: ring elements `(a, b)` with `b = a s + e` plus a bit or count in each coefficient.
#[derive(Clone)]
pub struct Ciphertexts {
    pub(super) tag: Tag,
    /// Block after block, in each `a` and `b`.
    pub(super) words: Vec<u64>,
    /// [`super::GRID`] for bits and counts, [`super::PARITY`] for parities.
    pub(super) plain_modulus: u64,
    /// Ones that were added in a position, at most.
    pub(super) count: u64,
    /// Of the noise, at most.
    pub(super) variance: f64,
}

/// A batch from the secret key: `a` is a seed.
#[derive(Clone)]
pub struct SeededCiphertexts {
    pub(super) tag: Tag,
    pub(super) seed: RngSeed,
    /// The `b` of each block.
    pub(super) bodies: Vec<u64>,
}

/// A batch rounded to few bits.
#[derive(Clone)]
pub struct CompactCiphertexts {
    pub(super) tag: Tag,
    /// Block after block, in each `a` and `b`, below `2^bits`.
    pub(super) words: Vec<u32>,
    pub(super) bits: u32,
    pub(super) plain_modulus: u64,
}

impl Ciphertexts {
    /// Whether every position holds a bit: what programs take without a bootstrap.
    pub fn holds_bits(&self) -> bool {
        self.plain_modulus == super::GRID && self.count <= 1
    }
}
