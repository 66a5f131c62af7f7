//! Distances of encrypted codes to encrypted codes, by products of ciphertexts.
//!
//! Bits are signs: bit 0 is 1 and bit 1 is -1, so that codes of `L` bits at distance `d` have the inner product
//! `L - 2 d`. A code is cut in pieces of as many bits as are to lie side by side in a polynomial, those of a gallery forwards
//! and those of a probe backwards: the product of two pieces has their inner product in one coefficient, and all
//! pieces' products are added before anything else is done with them. A ciphertext of the gallery has the same piece of as many
//! codes as fit.
//!
//! Both sides are under one secret key, whose owner asks: a server that compares ([`Gallery`]) learns neither codes nor
//! distances, and has no evaluation keys. Products keep their three parts, and what travels is `c_1` whole, of `c_0` a coefficient
//! for each distance, and seeds, from which the third part follows. Distances are exact.

mod client;
mod plan;
mod server;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Found, decrypt, encrypt_gallery, encrypt_probes};
pub use plan::{Declared, Plan};
pub use server::{Gallery, Probes};
pub use wire::{distances_bytes, gallery_bytes, probes_bytes};

/// Records of one object, at most.
pub const MOST_RECORDS: usize = 1 << 20;
/// Probes of one message, at most.
pub const MOST_PROBES: usize = 1 << 12;
/// Words of an object's polynomials, at most: it is in memory at once.
const MOST_WORDS: usize = 1 << 27;
