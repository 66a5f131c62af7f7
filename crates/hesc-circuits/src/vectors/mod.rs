//! Circuits on the schemes with multiplication: what exact competitors of stochastic circuits are
//! made of.
//!
//! Vectors lie in slots with a *period*, the next power of two from their length on: number `i` is
//! in every slot that is `i` modulo the period, in both rows of slots alike. What is behind the
//! numbers within a period is zero, or something that the vector's label says is not ([`Label`]). At which
//! level products and sums are made is decided in one place, [`Rlwe::product`] and [`Rlwe::sum`].

mod digits;
mod integers;
mod linear;
mod numbers;
mod polynomial;
mod slots;
mod vector;

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Ciphertext, Rlwe};

pub use digits::Digits;
pub use integers::{
    Integers, Layout, integers_from_bytes, integers_length, integers_to_bytes,
    seeded_integers_to_bytes,
};
pub use linear::{Matrix, dot_rotations, inner_product, matrix_rotations};
pub use numbers::Numbers;
pub use polynomial::polynomial;
pub use slots::{Content, seeded_slots_to_bytes, slots_from_bytes, slots_to_bytes};
pub use vector::{
    Label, seeded_vector_to_bytes, vector_from_bytes, vector_length, vector_to_bytes,
};

/// The flag of a frame whose ciphertext is seeded.
const SEEDED: u8 = 4;

/// Bytes of a ciphertext of two parts at a level, or of a seeded one.
fn ciphertext_length(scheme: &Rlwe, level: usize, seeded: bool) -> usize {
    if seeded { scheme.seeded_length(level) } else { scheme.ciphertext_length(level, 2) }
}

/// The ciphertext in a frame with these flags, in full form.
fn expanded(scheme: &Rlwe, flags: u8, nested: &[u8]) -> Result<Ciphertext, SchemeError> {
    if flags & SEEDED != 0 {
        scheme.expand(&scheme.seeded_from_bytes(nested)?)
    } else {
        scheme.ciphertext_from_bytes(nested)
    }
}

/// Slots that a rotation moves in a circle.
fn row_length(scheme: &Rlwe) -> usize {
    scheme.ring_degree() / 2
}
