use std::sync::Arc;

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::{RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use rand_core::CryptoRng;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Fingerprint, KeyId, Tag};

/// A scalar, not zero. No `Debug`, no equality, no `Clone`; wiped on drop.
#[derive(ZeroizeOnDrop)]
pub struct SecretKey {
    #[zeroize(skip)]
    pub(super) tag: Tag,
    pub(super) scalar: Scalar,
}

/// `P = s G` with a table of its multiples: encryption multiplies nothing but fixed points.
#[derive(Clone)]
pub struct PublicKey {
    pub(super) tag: Tag,
    pub(super) point: RistrettoPoint,
    pub(super) table: Arc<RistrettoBasepointTable>,
}

impl PublicKey {
    pub(super) fn new(tag: Tag, point: RistrettoPoint) -> Self {
        Self { tag, point, table: Arc::new(RistrettoBasepointTable::create(&point)) }
    }
}

/// A key pair.
pub(super) fn generate(params: Fingerprint, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey) {
    let tag = Tag { params, key: KeyId::random(rng) };
    let mut scalar = Scalar::random(rng);
    // Probability 2^-252, and then encryption would hide nothing.
    while scalar == Scalar::ZERO {
        scalar = Scalar::random(rng);
    }
    let public = PublicKey::new(tag, RISTRETTO_BASEPOINT_TABLE * &scalar);
    let secret = SecretKey { tag, scalar };
    scalar.zeroize();
    (secret, public)
}
