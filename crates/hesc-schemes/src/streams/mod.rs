//! Encryptions that combine bits: encryption of bits, sums or products of blocks, decryption to counts.
//!
//! One interface, [`Scheme`], in parts: keys and encryption ([`Encrypt`]), decryption ([`Decrypt`]),
//! arithmetic ([`Combine`]), a small form for answers ([`Compact`]), bytes ([`Wire`]). What only some can is
//! asked for: [`MaskPositions`], [`WeightedSums`], [`MovePositions`]. Its implementations: [`Bfv`] and
//! [`Ckks`] (both [`lattice::Lattice`] with their own encoding); with the feature `classical` those with a ciphertext for
//! each bit (all `bitwise::Bitwise` with their own cipher): `Gm`, `Elgamal`, `EcElgamal`, `EcElgamalSecp256r1` and, for
//! unipolar streams, `UnipolarElgamal`; [`UnipolarSlots`] on the slots of BFV with multiplication; with the feature `tfhe`
//! `Tfhe`, whose bits also bootstrap; [`Pad`], which is no homomorphic encryption and has the key owner
//! encrypt everything; [`Plain`], which encrypts nothing, so that every law and circuit
//! can be tested without the cryptography, and [`Simulated`], the same on bits instead of counts, fast.
//!
//! A *block* is one ciphertext, or 64 where each bit has its own: [`Encrypt::block_length`] positions, each a bit when
//! fresh. Where blocks add, positions become *counts* of ones (`koseki2022hesc` §3.2), and the exclusive or
//! of the summed bits is the count's parity; where they multiply, positions stay bits.

mod batch;
#[cfg(feature = "classical")]
pub mod bitwise;
pub mod classical_sets;
pub mod clear;
#[cfg(feature = "classical")]
pub mod elgamal;
#[cfg(feature = "classical")]
pub mod gm;
pub mod lattice;
pub mod pad;
mod scheme;
mod sets;
#[cfg(feature = "tfhe")]
pub mod tfhe;
pub mod unipolar;

pub use batch::{Batch, Blocks};
use batch::{all_places, bases_of_one, bits_of, block_at, check_parts, count_blocks, rows_of};
pub use clear::{Plain, Simulated};
pub use lattice::{Bfv, Ckks};
pub use pad::Pad;
pub use scheme::{
    BitProduct, Combine, Compact, Decrypt, Encrypt, Encryptions, Form, Lengths, MaskPositions,
    MovePositions, Scheme, WeightedSums, Wire,
};
pub use sets::{Visitor, open, open_bits, open_lattice};
#[cfg(feature = "tfhe")]
pub use tfhe::Tfhe;
pub use unipolar::UnipolarSlots;
#[cfg(feature = "classical")]
pub use {
    elgamal::{EcElgamal, EcElgamalSecp256r1, Elgamal},
    gm::Gm,
    unipolar::UnipolarElgamal,
};
