//! What is computed on stochastic ciphertexts, over any [`hesc_schemes::Scheme`].
//!
//! - [`Streams`]: an array of encrypted stochastic numbers with its layout, weights and the
//!   identities of its factors; products, negation, sums, constants;
//! - [`multiplexed_sum`](Streams::multiplexed_sum): the conventional sum by random selection;
//! - [`allocated_sum`](Streams::allocated_sum): sums that keep of each operand a share of its own;
//! - [`Answer`]: what goes back to the key owner, possibly fused (several ciphertexts as digits of
//!   one) and compact (modulus switched);
//! - [`vectors`]: polynomials, inner products and matrices on the schemes with multiplication;
//! - [`gates`]: gate circuits as data, and as few bootstraps as they take;
//! - [`logarithms`]: products of encrypted numbers as sums of their logarithms;
//! - [`ring_products`]: linear scores of encrypted features by one product of polynomials;
//! - [`forests`]: scores of ensembles of trees of encrypted bits;
//! - [`search`]: scores of one encrypted vector with many clear ones;
//! - [`plans`]: what all sides of the former four, and of galleries, derive;
//! - [`codes`]: Hamming distances of encrypted binary codes to clear ones;
//! - [`aes`]: AES-128 on an encrypted key, over slots of bytes, and the bits of what comes out;
//! - [`transciphering`]: from data under a stream cipher to integers in slots;
//! - [`Counts`]: the decrypted answer; [`Readout`]: separated, ready to be decoded to estimates.
//!
//! Paper: `koseki2022hesc` §3.1 (products), §3.2 (packing, sums), §3.3 (fusion and separation).

pub mod aes;
mod blocks;
pub mod codes;
mod error;
pub mod forests;
pub mod gates;
pub mod logarithms;
pub mod plans;
pub mod ring_products;
pub mod search;
pub mod streams;
pub mod transciphering;
pub mod vectors;

pub use error::CircuitError;
pub use streams::{
    Answer, Counts, Envelope, Fusion, Layout, MAX_WEIGHT, Plaintext, Readout, SeededStreams,
    Streams,
};
