use std::sync::atomic::{AtomicU64, Ordering};

use hesc_math::{KeyStream, RngSeed};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::Tag;

/// Bytes of a nonce: 16 random ones and the number of an encryption.
pub(super) const NONCE: usize = 24;

/// What all pads of one encryption follow from, beside the key. Public.
pub type Nonce = [u8; NONCE];

/// 256 bits of which pads are made. No `Debug`, no equality, no `Clone`; wiped on drop.
pub struct SecretKey {
    pub(super) tag: Tag,
    pub(super) seed: Zeroizing<RngSeed>,
}

/// Encryptions of this process so far, by whatever key.
static ENCRYPTIONS: AtomicU64 = AtomicU64::new(0);

/// A nonce that no encryption of this process has had, nor one of another process but with a
/// probability of 2^-128.
pub(super) fn fresh_nonce(rng: &mut impl CryptoRng) -> Nonce {
    let mut nonce = Nonce::default();
    let (random, number) = nonce.split_at_mut(16);
    rng.fill_bytes(random);
    // 2^64 encryptions take longer than any process lives.
    number.copy_from_slice(&ENCRYPTIONS.fetch_add(1, Ordering::Relaxed).to_le_bytes());
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
