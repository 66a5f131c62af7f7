//! Circuits on slots, of what the engine has: carries along slots, packing and unpacking of slots that are Galois rings,
//! operations written once for ciphertexts and dry runs, and what they cost.

mod carries;
pub(crate) mod evaluators;
mod field_slots;
mod linear_maps;
mod unpacking;
mod work;

pub use field_slots::Basis;
pub use linear_maps::{LinearMap, MappedInput};
pub use work::{Speed, Work};
