use hesc_math::RngSeed;

use crate::streams::Batch;

/// Blocks: ring elements `(a, b)` with `b = a s + e` plus a bit or count in each coefficient; block after
/// block, in each `a` and `b`.
pub type Ciphertexts = Batch<u64, Torus>;

/// Blocks from the secret key: the `b` of each, and the seed of every `a`.
pub type SeededCiphertexts = Batch<u64, RngSeed>;

/// Blocks rounded to few bits: `a` and `b` of each.
pub type CompactCiphertexts = Batch<u32, Rounded>;

/// What all positions of a batch have in common.
#[derive(Debug, Clone, Copy)]
pub struct Torus {
    /// [`super::GRID`] for bits and counts, [`super::PARITY`] for parities.
    pub(super) plain_modulus: u64,
    /// Ones that were added in a position, at most.
    pub(super) count: u64,
    /// Of the noise, at most.
    pub(super) variance: f64,
}

/// The modulus of rounded words, and what their plaintexts are.
#[derive(Debug, Clone, Copy)]
pub struct Rounded {
    /// Words are below two to this power.
    pub(super) bits: u32,
    pub(super) plain_modulus: u64,
}

impl Ciphertexts {
    /// Whether every position holds a bit: what programs take without a bootstrap.
    pub fn holds_bits(&self) -> bool {
        self.state.plain_modulus == super::GRID && self.state.count <= 1
    }
}
