//! Linear scores of encrypted features by one product in the ring, without evaluation keys.
//!
//! A client encrypts features in the coefficients of a polynomial under its secret key; a server multiplies with a
//! polynomial of its weights, in reverse order, and sends back of `c_0` the coefficients that hold scores, and `c_1`
//! whole, both with few bits. What ranges, bounds and a wanted error make of sizes and scales is a [`Plan`], which both
//! sides have; nothing else is on the wire but residues.
//!
//! The weights of an unprotected answer are for the key owner to read: its `c_1` is `a w`, and `a` is known. Where a plan
//! hides them ([`Hiding`]), an encryption of zero under the public key comes to both parts, and a flood to the scores.
//!
//! Where a plan says that weights are encrypted ([`Under`]), the server has an [`EncryptedModel`] and multiplies ciphertexts,
//! without relinearisation: who has the secret key decrypts with its square. The server learns neither features nor
//! weights; the key owner finds the weights in such an answer as he does in an unprotected one.

mod client;
mod declared;
mod encrypted;
mod encrypted_noise;
#[cfg(test)]
mod encrypted_tests;
mod layout;
mod plan;
mod plan_wire;
mod scales;
mod server;
mod sums;
#[cfg(test)]
mod tests;
mod weights;
mod wire;

use crate::blocks;

pub use client::{decrypt, encrypt};
pub use declared::{Declared, Hiding, Protection, Under};
pub use encrypted::{EncryptedModel, encrypt_model, encrypt_model_public};
pub use layout::Layout;
pub use plan::Plan;
pub use scales::Scales;
pub use server::Model;
pub use wire::{answer_bytes, model_bytes, query_bytes};
