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

/// Bytes of integers; see `Params::bit_integers_length`.
#[cfg(feature = "tfhe")]
pub fn integers_length(
    set: &dyn Set,
    shape: (usize, usize),
    answer: Option<usize>,
) -> Option<usize> {
    hesc_circuits::gates::integers_length(set.as_any().downcast_ref()?, shape, answer)
}

/// There are none.
#[cfg(not(feature = "tfhe"))]
pub fn integers_length(_: &dyn Set, _: (usize, usize), _: Option<usize>) -> Option<usize> {
    None
}

/// Bytes of public keys, those for bootstraps among them.
#[cfg(feature = "tfhe")]
pub fn keys_length(set: &dyn Set) -> Option<usize> {
    let scheme: &hesc_schemes::Tfhe = set.as_any().downcast_ref()?;
    let keys = [scheme.public_key_length(), scheme.evaluation_key_length()];
    Some(hesc_schemes::public_keys::length(&keys))
}

/// There are none.
#[cfg(not(feature = "tfhe"))]
pub fn keys_length(_: &dyn Set) -> Option<usize> {
    None
}
