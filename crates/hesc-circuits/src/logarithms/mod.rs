//! Products of encrypted numbers as sums of their logarithms, on a scheme that only adds.
//!
//! A number within a declared bound is a sign, and how many steps its logarithm is below the bound's, in one coefficient
//! modulo `t = 2^b` ([`Code`]). A product of numbers under one key is the sum of their ciphertexts. Each side encrypts, for
//! every product, its own factor; whoever computes adds, and the key owner decrypts each product and adds up those that
//! belong to one output. What bounds, recipes and a wanted error make of code, ring and sizes is a [`Plan`], which all sides
//! have; nothing else is on the wire but residues.
//!
//! **The key owner sees every product**, and of one with a factor of zero how many there are and what the others make.

mod client;
mod code;
mod declared;
mod demand;
mod layout;
mod plan;
mod plan_wire;
mod recipes;
mod server;
#[cfg(test)]
mod tests;
mod wire;

use crate::blocks;

pub use client::{Decrypted, EncryptionKey, decrypt, encrypt};
pub use code::Code;
pub use declared::{Declared, Operand, Source, Sums};
pub use layout::Layout;
pub use plan::Plan;
pub use recipes::Recipes;
pub use server::Evaluator;
pub use wire::{answer_bytes, upload_bytes};
