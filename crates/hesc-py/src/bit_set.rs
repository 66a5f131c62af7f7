//! What sets of single bits have besides: none in builds without the feature `tfhe`.

use crate::erased::Set;

/// What a set of single bits says of itself.
pub struct Numbers {
    pub ring_degree: usize,
    pub plain_modulus: u64,
    /// Variances of bits and of lookups of one and of two tables.
    pub precision: (f64, [f64; 2]),
}

/// Those of a set, if it is of single bits.
#[cfg(feature = "tfhe")]
pub fn numbers(set: &dyn Set) -> Option<Numbers> {
    use hesc_schemes::streams::tfhe::{GRID, Tfhe};
    let scheme: &Tfhe = set.as_any().downcast_ref()?;
    let noise = scheme.noise();
    Some(Numbers {
        ring_degree: scheme.spec().ring_degree,
        plain_modulus: GRID,
        precision: (noise.bit, noise.lookup),
    })
}

/// There are none.
#[cfg(not(feature = "tfhe"))]
pub fn numbers(_: &dyn Set) -> Option<Numbers> {
    None
}
