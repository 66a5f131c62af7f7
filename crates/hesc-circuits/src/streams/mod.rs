//! Arrays of encrypted stochastic numbers: products, sums, selections, and what goes back to the key owner.
//!
//! An array, [`Streams`], is elements that are weighted lists of terms, and ciphertexts that they share.
//! `operations`, `multiplex` and `allocation` make arrays of arrays; [`Answer`] and [`Readout`] are what is
//! decrypted, and `errors_of_sums` says what it errs.

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
pub use wire::Envelope;
