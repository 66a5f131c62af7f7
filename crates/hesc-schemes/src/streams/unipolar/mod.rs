//! Encryptions whose operation on bits is the conjunction: the product of *unipolar* streams, whose
//! value is their share of ones (`koseki2022hesc` §2.2, §3.1).
//!
//! `UnipolarElgamal` has it from a group's multiplication, a ciphertext for each bit, any number of
//! factors. [`UnipolarSlots`] multiplies slots, thousands of bits a ciphertext, and few factors: the
//! noise and the size of ciphertexts grow with each.

#[cfg(feature = "classical")]
pub(crate) mod elgamal;
pub(crate) mod slots;

#[cfg(feature = "classical")]
pub use elgamal::{Neutral, UnipolarElgamal};
pub use slots::UnipolarSlots;
