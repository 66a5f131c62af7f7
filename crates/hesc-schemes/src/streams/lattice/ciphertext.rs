use hesc_math::RngSeed;

use crate::streams::Batch;

/// Ciphertexts `(c_0, c_1)` in the coefficient domain, contiguous: block after block, part after part, row
/// after row.
pub type Ciphertexts<W> = Batch<W, Precision>;

/// Ciphertexts from the secret key: every `c_0`, and the seed of every `c_1`.
pub type SeededCiphertexts<W> = Batch<W, RngSeed>;

/// Ciphertexts modulo a power of two, which can be decrypted and nothing else.
pub type CompactCiphertexts = Batch<u32, Rounded>;

/// How exact the counts of a batch are.
#[derive(Debug, Clone, Copy)]
pub struct Precision {
    /// Sub-Gaussian parameter of the noise, see [`crate::rlwe::deviations`].
    pub(super) deviation: f64,
    /// Size of a count of one.
    pub(super) scale: f64,
}

/// The modulus of compact ciphertexts, and what counts are in it.
#[derive(Debug, Clone, Copy)]
pub struct Rounded {
    /// The modulus is two to this power.
    pub(super) bits: u32,
    /// Size of a count of one, as a fraction of the modulus.
    pub(super) relative_scale: f64,
}
