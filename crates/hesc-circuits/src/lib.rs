//! What is computed on stochastic ciphertexts, over any [`hesc_schemes::Scheme`].
//!
//! - [`Streams`]: an array of encrypted stochastic numbers with its layout, weights and the
//!   identities of its factors; products, negation, sums, constants ([`operations`]);
//! - [`multiplexed_sum`](Streams::multiplexed_sum): the conventional sum by random selection;
//! - [`allocated_sum`](Streams::allocated_sum): sums that keep of each operand a share of its own;
//! - [`Answer`]: what goes back to the key owner, possibly fused (several ciphertexts as digits of
//!   one) and compact (modulus switched);
//! - [`leveled`]: polynomials, inner products and matrices on the schemes with multiplication;
//! - [`gates`]: gate circuits as data, and as few bootstraps as they take;
//! - [`Counts`]: the decrypted answer; [`Readout`]: separated, ready to be decoded to estimates.
//!
//! Paper: `koseki2022hesc` §3.1 (products), §3.2 (packing, sums), §3.3 (fusion and separation).

mod allocation;
mod answer;
mod error;
mod errors_of_sums;
mod factors;
pub mod gates;
mod layout;
pub mod leveled;
mod masking;
mod multiplex;
pub mod operations;
mod plan;
mod readout;
#[cfg(feature = "tfhe")]
mod stream_bits;
mod streams;
mod wire;

pub use answer::{Answer, Fusion};
pub use error::CircuitError;
pub use layout::Layout;
pub use readout::{Counts, Readout};
pub use streams::{MAX_WEIGHT, Plaintext, SeededStreams, Streams};
