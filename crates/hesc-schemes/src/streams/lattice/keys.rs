use hesc_math::sampling::{self, Noise};
use hesc_math::{AesCtrRng, Coeff, Eval, Poly, Ring, RngSeed, Word};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Fingerprint, KeyId, Tag};

/// A uniform ternary polynomial. No `Debug`, no equality, no `Clone`; wiped on drop.
pub struct SecretKey<W: Word> {
    pub(super) tag: Tag,
    pub(super) secret: Poly<W, Eval>,
}

impl<W: Word> SecretKey<W> {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }

    /// From the ternary coefficients.
    pub(super) fn from_ternary(tag: Tag, ternary: &[i16], ring: &Ring<W>) -> Self {
        let mut secret = Poly::<W, Coeff>::zero(ring);
        secret.set_small(ternary, ring);
        Self { tag, secret: secret.forward(ring) }
    }

    /// The ternary coefficients, each plus one: 0, 1 or 2.
    pub(super) fn to_trits(&self, ring: &Ring<W>) -> Trits<W> {
        let mut coefficients = self.secret.clone().inverse(ring);
        // 1 is added modulo q, which turns -1, 0, 1 to 0, 1, 2 without a branch.
        let ones = vec![1; ring.ring_degree()];
        coefficients.add_small(&ones, ring);
        Trits(coefficients)
    }
}

impl<W: Word> Drop for SecretKey<W> {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl<W: Word> ZeroizeOnDrop for SecretKey<W> {}

/// Secret coefficients on their way out, wiped on drop.
pub(super) struct Trits<W: Word>(Poly<W, Coeff>);

impl<W: Word> Trits<W> {
    pub(super) fn words(&self, ring: &Ring<W>) -> &[W] {
        &self.0.words()[..ring.ring_degree()]
    }
}

impl<W: Word> Drop for Trits<W> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// An encryption of zero, `(-(a s + e), a)`, in the evaluation domain; `a` is expanded from a
/// seed, which is what travels.
#[derive(Clone)]
pub struct PublicKey<W: Word> {
    pub(super) tag: Tag,
    pub(super) seed: RngSeed,
    pub(super) parts: [Poly<W, Eval>; 2],
}

impl<W: Word> PublicKey<W> {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }

    /// From the first part and the seed of the second.
    pub(super) fn from_parts(
        tag: Tag,
        first: Poly<W, Coeff>,
        seed: RngSeed,
        ring: &Ring<W>,
    ) -> Self {
        let second = expand_uniform(&mut AesCtrRng::from_seed(seed), ring);
        Self { tag, seed, parts: [first.forward(ring), second] }
    }
}

/// A uniform polynomial in the evaluation domain.
pub(super) fn expand_uniform<W: Word>(rng: &mut AesCtrRng, ring: &Ring<W>) -> Poly<W, Eval> {
    let mut uniform = Poly::zero(ring);
    sampling::fill_uniform(uniform.words_mut(), ring, rng);
    uniform
}

/// A key pair.
pub(super) fn generate<W: Word>(
    params: Fingerprint,
    ring: &Ring<W>,
    rng: &mut impl CryptoRng,
) -> (SecretKey<W>, PublicKey<W>) {
    let tag = Tag { params, key: KeyId::random(rng) };
    let mut noise = Noise::new(ring.index());
    noise.sample_ternary(rng);
    let secret = SecretKey::from_ternary(tag, noise.coefficients(), ring);

    let seed = sampling::fresh_seed(rng);
    let uniform = expand_uniform(&mut AesCtrRng::from_seed(seed), ring);
    let mut first = uniform.mul_inverse(&secret.secret, ring);
    noise.sample_centred_binomial(rng);
    first.add_small(noise.coefficients(), ring);
    first.neg_assign(ring);
    let public = PublicKey::from_parts(tag, first, seed, ring);
    (secret, public)
}
