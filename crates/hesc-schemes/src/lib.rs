//! Homomorphic encryption schemes, and encryptions *as stochastic computing needs them*.
//!
//! - [`rlwe`]: what BFV, BGV and CKKS share, with multiplication, over many primes: keys, encryption,
//!   key switching, levels, noise. What differs is in `bfv`, `bgv` and `ckks`.
//! - [`streams`]: encryption of bits, sums or products of blocks, decryption to counts. One interface,
//!   [`Scheme`], over all that can do it.
//!
//! Beside them what both need: errors, names of keys and parameter sets, the frame of what travels
//! ([`wire`]), security tables, sealing of key files.

mod bfv;
mod bgv;
mod ckks;
mod error;
mod gaussian;
mod identity;
mod interrupt;
mod kinds;
pub mod presets;
pub mod public_keys;
pub mod rlwe;
mod schemes;
pub mod sealing;
mod security;
pub mod streams;
mod threads;
pub mod wire;

pub use bgv::{DryValue, PlannedState};
pub use ckks::{Complex64, SharedSoFar, Sharing};
pub use error::{AutomorphismKey, SchemeError};
pub use identity::{Fingerprint, KeyId, Tag};
pub use interrupt::{checkpoint, interruptible};
pub use kinds::SchemeId;
pub use rlwe::Packing;
pub use security::{Assurance, Security};
#[cfg(feature = "tfhe")]
pub use streams::Tfhe;
pub use streams::{Bfv, BitProduct, Ckks, Pad, Plain, Scheme, Simulated, UnipolarSlots};
#[cfg(feature = "classical")]
pub use streams::{EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, UnipolarElgamal};
pub use threads::{several_threads, take_shared};
