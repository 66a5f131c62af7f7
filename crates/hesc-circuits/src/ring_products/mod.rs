//! Linear scores of encrypted features by one product in the ring, without evaluation keys.
//!
//! A client encrypts features in the coefficients of a polynomial under its secret key; a server multiplies with a
//! polynomial of its weights, in reverse order, and sends back of `c_0` the coefficients that hold scores, and `c_1`
//! whole, both with few bits. What ranges, bounds and a wanted error make of sizes and scales is a [`Plan`], which both
//! sides have; nothing else is on the wire but residues.
//!
//! The weights of an unprotected answer are for the key owner to read: its `c_1` is `a w`, and `a` is known. Where a plan
//! hides them ([`Hiding`]), an encryption of zero under the public key comes to both parts, and a flood to the scores.

mod client;
mod declared;
mod error;
mod layout;
mod plan;
mod plan_wire;
mod scales;
mod server;
#[cfg(test)]
mod tests;
mod wire;

use crate::blocks;

pub use client::{decrypt, encrypt};
pub use declared::{Declared, Hiding};
pub use error::RingProductError;
pub use layout::Layout;
pub use plan::Plan;
pub use scales::Scales;
pub use server::Model;
pub use wire::{answer_bytes, query_bytes};
