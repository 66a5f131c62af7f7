//! Homomorphic encryption schemes *as stochastic computing needs them*: encryption of bits,
//! addition of blocks, decryption to counts.
//!
//! One trait, [`Scheme`], over all: [`Bfv`] and [`Ckks`] (both [`rlwe::Rlwe`] with their own
//! encoding); those with a ciphertext for each bit (all [`bitwise::Bitwise`] with their own cipher):
//! [`Gm`], [`Elgamal`], [`EcElgamal`], [`EcElgamalSecp256r1`] and, for unipolar streams,
//! [`UnipolarElgamal`]; [`UnipolarBfv`] on the slots of [`leveled`] BFV; with the feature `tfhe` `Tfhe`, whose
//! bits also bootstrap; [`Plain`], which encrypts nothing, so that every law and circuit can be
//! tested without the cryptography, and [`Simulated`], the same on bits instead of counts, fast.
//!
//! A *block* is what one ciphertext holds: [`Scheme::block_length`] positions, each a bit when
//! fresh and a *count* of ones after additions (`koseki2022hesc` §3.2). The exclusive or of the
//! summed bits is the count's parity.

pub mod bfv;
pub mod bitwise;
pub mod ckks;
pub mod elgamal;
mod error;
pub mod gm;
mod identity;
mod interrupt;
pub mod leveled;
pub mod plain;
pub mod rlwe;
mod roots;
mod scheme;
pub mod sealing;
mod security;
pub mod simulated;
#[cfg(feature = "tfhe")]
pub mod tfhe;
pub mod unipolar;
pub mod wire;

pub use bfv::Bfv;
pub use ckks::Ckks;
pub use elgamal::{EcElgamal, EcElgamalSecp256r1, Elgamal};
pub use error::SchemeError;
pub use gm::Gm;
pub use identity::{Fingerprint, KeyId, Tag};
pub use interrupt::{checkpoint, interruptible};
pub use plain::Plain;
pub use scheme::{BitProduct, Packing, Scheme};
pub use security::Assurance;
pub use simulated::Simulated;
#[cfg(feature = "tfhe")]
pub use tfhe::Tfhe;
pub use unipolar::{UnipolarBfv, UnipolarElgamal};
