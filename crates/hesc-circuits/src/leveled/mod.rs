//! Circuits on the schemes with multiplication: what exact competitors of stochastic circuits are
//! made of.
//!
//! Vectors lie in slots with a *period*, the next power of two from their length on: number `i` is
//! in every slot that is `i` modulo the period, in both rows of slots alike. What is behind the
//! numbers within a period is zero, or something that the vector's label says is not ([`Label`]).

mod linear;
mod numbers;
mod polynomial;
mod vector;

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, RelinKey, Rlwe, SchemeKind};

pub use linear::{Matrix, dot_rotations, inner_product, matrix_rotations};
pub use numbers::Numbers;
pub use polynomial::polynomial;
pub use vector::{Label, seeded_vector_to_bytes, vector_from_bytes, vector_to_bytes};

/// Slots that a rotation moves in a circle.
fn row_length(scheme: &Rlwe) -> usize {
    scheme.ring_degree() / 2
}

/// A product of two parts, a square if there is no second factor: relinearised; CKKS's rescaled; BGV's
/// of operands at the level where it has most room ([`Rlwe::product_level`]). The policy of levels
/// for all circuits.
///
/// # Errors
/// Those of [`Rlwe::multiply`], [`Rlwe::relinearise`] and [`Rlwe::rescale`].
pub fn product(
    scheme: &Rlwe,
    relin: &RelinKey,
    a: &Ciphertext,
    b: Option<&Ciphertext>,
) -> Result<Ciphertext, SchemeError> {
    let level = scheme.product_level(a, b.unwrap_or(a));
    let lowered;
    let a = if a.level() == level {
        a
    } else {
        lowered = scheme.mod_switch_to(a, level)?;
        &lowered
    };
    let product = match b {
        Some(b) if b.level() == level => scheme.multiply(a, b)?,
        Some(b) => scheme.multiply(a, &scheme.mod_switch_to(b, level)?)?,
        None => scheme.square(a)?,
    };
    let product = scheme.relinearise(&product, relin)?;
    if scheme.scheme() == SchemeKind::Ckks { scheme.rescale(&product) } else { Ok(product) }
}

/// A sum, or a difference, of what may lie at different levels and, in CKKS, scales. Different scales
/// at one level cost another level.
///
/// # Errors
/// Those of [`Rlwe::add`]; [`SchemeError::ScaleMismatch`] where no level is left.
pub fn sum(
    scheme: &Rlwe,
    a: &Ciphertext,
    b: &Ciphertext,
    subtract: bool,
) -> Result<Ciphertext, SchemeError> {
    let combined = |a: &Ciphertext, b: &Ciphertext| {
        if subtract { scheme.sub(a, b) } else { scheme.add(a, b) }
    };
    let result = if a.level() == b.level() {
        combined(a, b)
    } else {
        combined(&scheme.matched(a, b)?, &scheme.matched(b, a)?)
    };
    match result {
        Err(SchemeError::ScaleMismatch { .. }) if a.level() == b.level() && a.level() > 1 => {
            // The larger scale goes down unchanged, the other one takes it on its way.
            if a.scale() > b.scale() {
                let a = scheme.mod_switch(a)?;
                combined(&a, &scheme.matched(b, &a)?)
            } else {
                let b = scheme.mod_switch(b)?;
                combined(&scheme.matched(a, &b)?, &b)
            }
        }
        result => result,
    }
}
