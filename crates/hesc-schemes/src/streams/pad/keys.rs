use std::sync::atomic::{AtomicU64, Ordering};

use hesc_math::{KeyStream, RngSeed};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::Tag;

/// Bytes of a nonce: of a hash of 16 random ones and the number of an encryption.
pub(super) const NONCE: usize = 24;

/// What all pads of one encryption follow from, beside the key. Public.
pub type Nonce = [u8; NONCE];

/// 256 bits of which pads are made. No `Debug`, no equality, no `Clone`; wiped on drop.
pub struct SecretKey {
    pub(super) tag: Tag,
    /// Filled in where it stays: what moves leaves copies behind.
    pub(super) seed: Box<Zeroizing<RngSeed>>,
}

/// Encryptions of this process so far, by whatever key.
static ENCRYPTIONS: AtomicU64 = AtomicU64::new(0);

/// A nonce that no encryption of this process has had, but for a collision of 192 bits of a hash, nor one of another
/// process but with a probability of 2^-128. A hash of what makes it so: how much else was encrypted is nobody's business.
pub(super) fn fresh_nonce(rng: &mut impl CryptoRng) -> Nonce {
    let mut random = Zeroizing::new([0; 16]);
    rng.fill_bytes(&mut *random);
    // 2^64 encryptions take longer than any process lives.
    let number = ENCRYPTIONS.fetch_add(1, Ordering::Relaxed);
    let mut nonce = Nonce::default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&*random).update(&number.to_le_bytes());
    hasher.finalize_xof().fill(&mut nonce);
    nonce
}

impl SecretKey {
    /// The pads of one encryption.
    pub(super) fn pads(&self, nonce: &Nonce) -> Pads {
        let mut hasher = blake3::Hasher::new_keyed(&self.seed);
        let mut seed = Zeroizing::new(RngSeed::default());
        hasher.update(nonce).finalize_xof().fill(&mut *seed);
        zeroize::Zeroize::zeroize(&mut hasher);
        Pads(KeyStream::new(&seed))
    }
}

/// The pads of one encryption, block after block.
pub(super) struct Pads(KeyStream);

impl Pads {
    /// Changes a block by its pad, by exclusive or: puts it on, or takes it away.
    pub(super) fn apply(&self, index: u32, block: &mut [u64]) {
        // Blocks begin with whole AES blocks.
        self.0.apply(u64::from(index) * block.len().div_ceil(2) as u64, block);
    }
}
