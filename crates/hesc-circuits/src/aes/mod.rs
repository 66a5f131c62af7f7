//! AES-128 on an encrypted key, over slots of `GF(2^8)` or extensions of it (Gentry, Halevi and Smart 2012), and the bits of
//! what comes out in ciphertexts of their own: `carpov2016packing`, section 1.1, an efficient AES and a boolean circuit on
//! its result in one domain.
//!
//! A block lies in a slot of sixteen ciphertexts, a byte in each: nothing moves between slots. An inverse takes four products,
//! three in sequence, since Frobenius maps are squares; the affine map, `ShiftRows` and `MixColumns` are one sum of
//! conjugates with constants; that of the last round has the bits as values. Counter mode takes the cipher in this direction,
//! of public counters: any implementation of AES makes messages.

mod bytes;
mod clear;
mod plan;
mod server;

pub use clear::{AesKey, BLOCK_BYTES, NONCE_BYTES, ROUNDS, counter};
pub use plan::AesPlan;

#[cfg(test)]
mod tests;
