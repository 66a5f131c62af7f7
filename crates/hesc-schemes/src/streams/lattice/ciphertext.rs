use hesc_math::{RngSeed, Word};

use crate::Tag;

/// A batch of ciphertexts `(c_0, c_1)` in the coefficient domain, contiguous: block after block,
/// part after part, limb after limb.
#[derive(Debug, Clone)]
pub struct Ciphertexts<W: Word> {
    pub(super) tag: Tag,
    pub(super) words: Vec<W>,
    pub(super) blocks: usize,
    /// Sub-Gaussian parameter of the noise, see [`crate::rlwe::deviations`].
    pub(super) deviation: f64,
    /// Size of a count of one.
    pub(super) scale: f64,
}

/// A batch encrypted under the secret key: `c_0` and the seed of every `c_1`.
#[derive(Debug, Clone)]
pub struct SeededCiphertexts<W: Word> {
    pub(super) tag: Tag,
    pub(super) seed: RngSeed,
    pub(super) words: Vec<W>,
    pub(super) blocks: usize,
}

/// A batch modulo `2^bits`, which can be decrypted and nothing else.
#[derive(Debug, Clone)]
pub struct CompactCiphertexts {
    pub(super) tag: Tag,
    pub(super) words: Vec<u32>,
    pub(super) blocks: usize,
    pub(super) bits: u32,
    /// Size of a count of one, as a fraction of the modulus.
    pub(super) relative_scale: f64,
}
