use ::tfhe::core_crypto::prelude::{CiphertextModulus, GlweSize};
use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::{CryptoRng, SeedableRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::Tfhe;
use super::polynomial::{self, add_gaussian};
use crate::streams::Encrypt;
use crate::{KeyId, Tag};

/// Binary secrets of both dimensions. No `Debug`, no equality, wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SecretKey {
    #[zeroize(skip)]
    pub(super) tag: Tag,
    /// The ring's, a bit in each word.
    pub(super) ring: Vec<u64>,
    /// The small dimension's.
    pub(super) lwe: Vec<u64>,
}

/// An encryption of zero `(a, a s + e)`; `a` comes from a seed, which is what travels.
#[derive(Clone)]
pub struct PublicKey {
    pub(super) tag: Tag,
    pub(super) seed: RngSeed,
    /// `a` and `a s + e`.
    pub(super) words: Vec<u64>,
}

/// The torus modulo 1 as words.
pub(super) const MODULUS: CiphertextModulus<u64> = CiphertextModulus::new_native();

/// Parts of a ring element.
pub(super) const RING: GlweSize = GlweSize(2);

impl SecretKey {
    /// The key pair's public name.
    pub fn key_id(&self) -> KeyId {
        self.tag.key
    }
}

impl Tfhe {
    pub(super) fn generate_secret_key(&self, rng: &mut impl CryptoRng) -> SecretKey {
        let tag = Tag { params: self.fingerprint(), key: KeyId::random(rng) };
        let (mut ring, mut lwe) = (vec![0; self.ring_degree()], vec![0; self.spec().lwe_dimension]);
        polynomial::fill_binary(&mut ring, rng);
        polynomial::fill_binary(&mut lwe, rng);
        SecretKey { tag, ring, lwe }
    }

    pub(super) fn generate_public_key(
        &self,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> PublicKey {
        let n = self.ring_degree();
        let seed = sampling::fresh_seed(rng);
        let mut key = self.public_key_of(secret.tag, seed, vec![0; n]);
        let (a, b) = key.words.split_at_mut(n);
        let room = &mut Zeroizing::new(vec![0; n]);
        self.products().multiply(b, a, &self.products().binary(&secret.ring), room);
        add_gaussian(b, self.spec().log2_ring_noise, rng);
        key
    }

    /// A public key with the uniform half of its seed.
    pub(super) fn public_key_of(&self, tag: Tag, seed: RngSeed, b: Vec<u64>) -> PublicKey {
        let mut words = vec![0; b.len()];
        fill_uniform(&mut words, &mut AesCtrRng::from_seed(seed));
        words.extend(b);
        PublicKey { tag, seed, words }
    }
}

/// Seeds of generators that work beside each other.
pub(super) fn fresh_seeds(count: usize, rng: &mut impl CryptoRng) -> Vec<Zeroizing<RngSeed>> {
    (0..count).map(|_| Zeroizing::new(sampling::fresh_seed(rng))).collect()
}

/// Uniform words.
pub(super) fn fill_uniform(words: &mut [u64], rng: &mut impl CryptoRng) {
    let mut bytes = Zeroizing::new(vec![0; 8 * words.len()]);
    rng.fill_bytes(&mut bytes);
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut array = [0; 8];
        array.copy_from_slice(bytes);
        *word = u64::from_le_bytes(array);
    }
}
