//! Arrays of encrypted stochastic numbers: products, sums, selections, and what goes back to the key owner.
//!
//! An array is [`Streams`](array): elements that are weighted lists of terms, and ciphertexts that they share.
//! [`operations`], [`multiplex`] and [`allocation`] make arrays of arrays, [`answer`] and [`readout`] what is
//! decrypted, [`errors_of_sums`] what it errs.

mod allocation;
mod answer;
mod array;
#[cfg(feature = "tfhe")]
mod bits;
mod errors_of_sums;
mod factors;
mod layout;
mod masking;
mod multiplex;
mod operations;
mod plan;
mod readout;
mod wire;

pub use answer::{Answer, Fusion};
pub use array::{MAX_WEIGHT, Plaintext, SeededStreams, Streams};
pub use layout::Layout;
pub use readout::{Counts, Readout};
