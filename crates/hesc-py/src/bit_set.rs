//! What sets of single bits have besides: none in builds without the feature `tfhe`.

use hesc_schemes::Assurance;
use hesc_schemes::streams::Visitor;
use pyo3::PyResult;

use crate::erased::Set;
#[cfg(not(feature = "tfhe"))]
use crate::errors::ParameterError;

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

/// A set of the ring's and the small dimension, `log2` of the noise of each, and bits of a digit and
/// digits of bootstrap, key switch and packing.
#[cfg(feature = "tfhe")]
pub fn choose<V: Visitor>(
    dimensions: [usize; 2],
    log2_noise: [f64; 2],
    digits: [(u32, u32); 3],
    assurance: Assurance,
    visitor: V,
) -> PyResult<V::Output> {
    use hesc_schemes::streams::tfhe::{Spec, Tfhe};
    let scheme = Tfhe::new(Spec::of(dimensions, log2_noise, digits), assurance);
    Ok(visitor.visit(scheme.map_err(crate::errors::scheme_to_py)?))
}

/// Refuses to make one.
#[cfg(not(feature = "tfhe"))]
pub fn choose<V: Visitor>(
    _: [usize; 2],
    _: [f64; 2],
    _: [(u32, u32); 3],
    _: Assurance,
    _: V,
) -> PyResult<V::Output> {
    Err(ParameterError::new_err(
        "this build of hesc leaves out the scheme tfhe, which takes minutes to compile: build it with \
         the feature tfhe (make build)",
    ))
}
