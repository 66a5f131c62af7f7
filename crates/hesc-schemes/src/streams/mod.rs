//! Encryptions that add bits: encryption of bits, addition of blocks, decryption to counts.
//!
//! One trait, [`Scheme`], over all: [`Bfv`] and [`Ckks`] (both [`lattice::Lattice`] with their own
//! encoding); those with a ciphertext for each bit (all [`bitwise::Bitwise`] with their own cipher):
//! [`Gm`], [`Elgamal`], [`EcElgamal`], [`EcElgamalSecp256r1`] and, for unipolar streams,
//! [`UnipolarElgamal`]; [`UnipolarBfv`] on the slots of BFV with multiplication; with the feature `tfhe`
//! `Tfhe`, whose bits also bootstrap; [`Plain`], which encrypts nothing, so that every law and circuit
//! can be tested without the cryptography, and [`Simulated`], the same on bits instead of counts, fast.
//!
//! A *block* is what one ciphertext holds: [`Scheme::block_length`] positions, each a bit when
//! fresh and a *count* of ones after additions (`koseki2022hesc` §3.2). The exclusive or of the
//! summed bits is the count's parity.

pub mod bitwise;
pub mod clear;
pub mod elgamal;
pub mod gm;
pub mod lattice;
mod scheme;
#[cfg(feature = "tfhe")]
pub mod tfhe;
pub mod unipolar;

pub use clear::{Plain, Simulated};
pub use elgamal::{EcElgamal, EcElgamalSecp256r1, Elgamal};
pub use gm::Gm;
pub use lattice::{Bfv, Ckks};
pub(crate) use scheme::count_blocks;
pub use scheme::{BitProduct, Scheme};
#[cfg(feature = "tfhe")]
pub use tfhe::Tfhe;
pub use unipolar::{UnipolarBfv, UnipolarElgamal};
