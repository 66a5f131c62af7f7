use hesc_math::{Coeff, Poly, Ring, Word};

use crate::SchemeError;
use crate::rlwe::{Packing, SchemeKind, Spec};

/// A plaintext polynomial to multiply ciphertexts with.
pub struct Mask<W: Word> {
    /// Its residues.
    pub poly: Poly<W, Coeff>,
    /// Its largest absolute value at a root of unity, at least 1: the factor on the noise whatever masks
    /// there were before. (The Euclidean norm, which is smaller, is right for noise that is alike at
    /// all roots: a first mask's, not that of a second one which is equal to it.)
    pub value: f64,
    /// The factor on the scale.
    pub scale: f64,
    /// Deviation that its own rounding adds, relative to the new scale.
    pub rounding: f64,
}

/// How bits become polynomials and polynomials counts: all that tells BFV from CKKS here.
pub trait Encoding<W: Word>: Send + Sync + Sized + 'static {
    /// The scheme.
    const KIND: SchemeKind;
    /// Buffers for one thread.
    type Scratch;

    /// Checks what concerns the plaintext and computes tables.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for a plaintext or a packing that this encoding does not have, and for a
    /// plaintext modulus or a scale out of range.
    fn new(spec: &Spec, packing: Packing, ring: &Ring<W>) -> Result<Self, SchemeError>;
    /// Buffers for one thread.
    fn scratch(&self) -> Self::Scratch;
    /// Positions in a block.
    fn block_length(&self) -> usize;
    /// Size of a count of one in a fresh ciphertext, in units of the ciphertext modulus' integers.
    fn fresh_scale(&self) -> f64;
    /// The scales that ciphertexts can have, growing: the fresh one and those after ever more masks.
    fn scales(&self) -> impl Iterator<Item = f64>;
    /// Largest count at this scale.
    fn max_count(&self, scale: f64) -> u64;
    /// Whether counts beyond the largest keep their parity.
    fn parity_survives_wrap(&self) -> bool;
    /// How far values may be off, in deviations of a coefficient: `noise::STREAM_TAILS` where values are coefficients.
    fn reach(&self) -> f64;
    /// Deviation of coefficients from rounding an encoding.
    fn rounding(&self) -> f64;
    /// Adds encoded bits to a polynomial.
    fn add_bits(
        &self,
        poly: &mut Poly<W, Coeff, &mut [W]>,
        bits: &[u64],
        scratch: &mut Self::Scratch,
        ring: &Ring<W>,
    );
    /// Encodes bits as a factor. Cost: a transform, and its values at all roots of unity.
    ///
    /// # Errors
    /// [`SchemeError::PackingCannot`] where positions are no slots.
    fn mask(&self, bits: &[u64], ring: &Ring<W>) -> Result<Mask<W>, SchemeError>;
    /// Counts of a decrypted polynomial, given as fractions of the modulus in [0, 1), which are
    /// overwritten. `scale` is relative to the modulus. Returns the largest distance of a value
    /// from its count.
    fn decode(
        &self,
        fractions: &mut [f64],
        scale: f64,
        counts: &mut [u32],
        scratch: &mut Self::Scratch,
    ) -> f64;
}
