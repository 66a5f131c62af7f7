//! Bits under one-time pads: what there is to use where no homomorphic encryption is needed.
//!
//! A block is its bits and a pad, by exclusive or. Pads are key streams of AES-256 in counter mode under a key of
//! each encryption's own, `BLAKE3(secret key, nonce)`. Exclusive ors of blocks are exclusive ors of their bits under
//! those of their pads, so that ciphertexts multiply (inverted-bipolar streams), and a block remembers which pads
//! lie on it: the key owner, who can make them again, repeats the circuit on pads to read a result. Whoever
//! does not hold the key learns nothing, not even with unbounded computing of streams that AES gives away bit by bit;
//! but who encrypts must hold it, which is what homomorphic encryption is there to spare. A bit is encrypted as
//! a bit: no noise, no counts.
//!
//! **A nonce is never used twice**: two plaintexts under one pad show their exclusive or. Each encryption takes a
//! number that no other of this process has, with 128 random bits beside it, and a hash of both, so that neither a generator that
//! repeats itself within a process nor a key that several processes hold makes a pad a second time.

mod encryption;
mod evaluation;
mod keys;
mod sources;
mod wire;

use super::Batch;
use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::wire::{Reader, Writer};
use crate::{Fingerprint, SchemeError};

pub use keys::SecretKey;
use keys::{NONCE, Nonce};
pub use sources::Sources;

/// The most pads on one block: the most factors of a product.
pub const MAX_PADS: usize = 255;

/// The scheme. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pad {
    block_length: usize,
    fingerprint: Fingerprint,
}

/// Blocks under pads, and which.
pub type Ciphertexts = Batch<u64, Sources>;

/// Blocks of one encryption: each under its own of the pads that the nonce gives.
pub type SeededCiphertexts = Batch<u64, Nonce>;

impl Pad {
    /// Blocks of `block_length` bits, a positive multiple of 64.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for other lengths.
    pub fn new(block_length: usize) -> Result<Self, SchemeError> {
        if block_length == 0 || !block_length.is_multiple_of(64) || block_length > 1 << 20 {
            return refuse("block_length", block_length, "choose a multiple of 64 up to 2^20");
        }
        Ok(Self { block_length, fingerprint: Fingerprint::of(&spec_bytes(block_length)) })
    }

    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Pad)?;
        let block_length = reader.u32()? as usize;
        reader.finish()?;
        Self::new(block_length)
    }

    /// Words of a block.
    fn words(&self) -> usize {
        self.block_length / 64
    }
}

/// The wire form of the parameter set of this block length.
pub(crate) fn spec_bytes(block_length: usize) -> Vec<u8> {
    let mut writer = Writer::params(SchemeId::Pad);
    writer.u32(block_length as u32);
    writer.finish()
}

/// Refuses what only schemes have that compute on more than exclusive ors.
fn not_in_pads(operation: &'static str, remedy: &'static str) -> SchemeError {
    SchemeError::NotInScheme { operation, scheme: "pad", remedy }
}
