//! Lifted ElGamal (`koseki2022hesc` §3.1, Table 1), over the squares modulo a safe prime and over
//! elliptic curves.
//!
//! A bit `b` is the pair `(g^r, h^r g^b)`, `h = g^s` the public key; products of pairs add bits, and
//! `g^m = c_2 / c_1^s` is looked for among the powers of `g` up to a bound that every ciphertext
//! carries. Not secure against quantum computers, in contrast to the lattice schemes.
//!
//! The groups have prime order, and every element that is read is checked to be in its group.
//! Secret exponents meet constant-time arithmetic only, and the search for a count looks at every
//! candidate.

mod groups;

use std::sync::Arc;

use hesc_math::AesCtrRng;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use groups::{Exponents, Ffdhe3072, Group, Ristretto255, Secp256r1};

use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::streams::bitwise::{BitCipher, Bitwise};
use crate::streams::classical_sets::{BLOCK_LENGTH, elgamal_bytes};
use crate::wire::Reader;
use crate::{BitProduct, KeyId, SchemeError};

/// Lifted ElGamal over ffdhe3072.
pub type Elgamal = Bitwise<LiftedElgamal<Ffdhe3072>>;
/// Lifted ElGamal over ristretto255.
pub type EcElgamal = Bitwise<LiftedElgamal<Ristretto255>>;

/// Lifted ElGamal over secp256r1, the paper's curve.
pub type EcElgamalSecp256r1 = Bitwise<LiftedElgamal<Secp256r1>>;

/// Largest bound on counts: the search looks at every candidate.
const LARGEST_COUNT: u64 = 1 << 12;

/// ElGamal's encryption over a group, with bits as the group elements that `B` makes of them.
#[derive(Clone)]
pub struct ElgamalCipher<G, B> {
    group: G,
    bits: B,
}

/// Lifted ElGamal: bits in the exponent.
pub type LiftedElgamal<G> = ElgamalCipher<G, Counts<G>>;

/// How bits become group elements, and elements bits or counts: what the ElGamal schemes differ in.
pub trait Embedding<G: Group>: Clone + Send + Sync + 'static {
    /// What multiplying elements does to their bits.
    const BIT_PRODUCT: BitProduct;

    /// The scheme's name in the interface.
    fn scheme(&self, group: &G) -> &'static str;
    /// The parameter set's wire form.
    fn spec_to_bytes(&self, group: &G) -> Vec<u8>;
    /// The largest count that decrypts.
    fn max_count(&self) -> u64;
    /// Whether a position decrypts to a bit, whatever was combined.
    fn counts_parity(&self) -> bool;
    /// Puts bits into `h^r`.
    fn embed(&self, group: &G, shared: &mut G::Elements, bits: u64, rng: &mut AesCtrRng);
    /// What was put into `shared` to make `element`; `None` if it is nothing.
    fn extract(
        &self,
        group: &G,
        element: &G::Elements,
        shared: &G::Elements,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]>;
    /// Combines a ciphertext with public bits.
    fn combine_bits(&self, group: &G, block: &mut [G::Elements; 2], bits: u64);
    /// A ciphertext of the same bits in which nothing but they is left for who decrypts it.
    fn blind(&self, _group: &G, a: &[G::Elements; 2], _rng: &mut AesCtrRng) -> [G::Elements; 2] {
        a.clone()
    }
}

/// A bit `b` is `g^b`, and a count the logarithm of a product, up to a largest one.
#[derive(Clone)]
pub struct Counts<G: Group> {
    powers: G::Powers,
    max_count: u64,
}

/// Products of both parts.
fn multiply<G: Group>(group: &G, a: &[G::Elements; 2], b: &[G::Elements; 2]) -> [G::Elements; 2] {
    [group.multiply(&a[0], &b[0]), group.multiply(&a[1], &b[1])]
}

/// The neutral ciphertext where the bit is not set; bits are public.
pub(crate) fn keep_where<G: Group>(group: &G, block: &mut [G::Elements; 2], bits: u64) {
    block.iter_mut().for_each(|half| group.keep_where(half, bits));
}

impl<G: Group> Embedding<G> for Counts<G> {
    const BIT_PRODUCT: BitProduct = BitProduct::ExclusiveOr;

    fn scheme(&self, group: &G) -> &'static str {
        group.scheme()
    }

    fn spec_to_bytes(&self, group: &G) -> Vec<u8> {
        elgamal_bytes(group.name(), self.max_count)
    }

    fn max_count(&self) -> u64 {
        self.max_count
    }

    fn counts_parity(&self) -> bool {
        false
    }

    fn embed(&self, group: &G, shared: &mut G::Elements, bits: u64, _rng: &mut AesCtrRng) {
        group.multiply_generator_where(shared, bits);
    }

    /// Cost a position: a comparison with each candidate.
    fn extract(
        &self,
        group: &G,
        element: &G::Elements,
        shared: &G::Elements,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        group.logarithms(&self.powers, element, shared, bound)
    }

    fn combine_bits(&self, group: &G, block: &mut [G::Elements; 2], bits: u64) {
        group.multiply_generator_where(&mut block[1], bits);
    }
}

/// The public element in its wire form, and prepared.
pub struct PublicKey<G: Group> {
    element: Vec<u8>,
    base: Arc<G::Base>,
}

impl<G: Group> PublicKey<G> {
    /// Reads an element; `None` if it is the neutral one or not in the group.
    fn from_bytes(group: &G, bytes: &[u8]) -> Option<Self> {
        let base = Arc::new(group.prepare_base(bytes)?);
        Some(Self { element: bytes.to_vec(), base })
    }
}

impl<G: Group> Clone for PublicKey<G> {
    fn clone(&self) -> Self {
        Self { element: self.element.clone(), base: self.base.clone() }
    }
}

impl<G, B> ElgamalCipher<G, B> {
    /// The cipher over a group.
    pub(crate) fn new(group: G, bits: B) -> Self {
        Self { group, bits }
    }

    /// The group.
    pub fn group(&self) -> &G {
        &self.group
    }
}

impl<G: Group, B: Embedding<G>> std::fmt::Debug for ElgamalCipher<G, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct(self.bits.scheme(&self.group))
            .field("group", &self.group.name())
            .field("max_count", &self.bits.max_count())
            .finish()
    }
}

impl<G: Group> Bitwise<LiftedElgamal<G>> {
    /// The scheme over a group for counts up to `max_count` (1 to 4096); decryption costs some
    /// time a candidate.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] outside this range.
    pub fn over(group: G, max_count: u64) -> Result<Self, SchemeError> {
        if !(1..=LARGEST_COUNT).contains(&max_count) {
            return refuse("max_count", max_count, "choose 1 to 4096");
        }
        let powers = group.prepare_powers(max_count);
        Ok(Self::of(ElgamalCipher::new(group, Counts { powers, max_count })))
    }

    /// Reads the wire form of a parameter set over this group.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn over_from_bytes(group: G, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Elgamal)?;
        if [reader.u32()?, reader.u32()?] != group.name().identifier() {
            return Err(reader.error("it is the set of another scheme"));
        }
        let max_count = reader.u64()?;
        reader.finish()?;
        Self::over(group, max_count)
    }

    /// The largest count that decrypts.
    pub fn max_count(&self) -> u64 {
        self.cipher().bits.max_count
    }
}

impl<G: Group + Default> Bitwise<LiftedElgamal<G>> {
    /// The scheme over its usual group; see [`Bitwise::over`].
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] outside 1 to 4096.
    pub fn new(max_count: u64) -> Result<Self, SchemeError> {
        Self::over(G::default(), max_count)
    }

    /// Reads the wire form of a parameter set over the usual group.
    ///
    /// # Errors
    /// See [`Bitwise::over_from_bytes`].
    pub fn spec_from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        Self::over_from_bytes(G::default(), bytes)
    }
}

impl<G: Group, B: Embedding<G>> BitCipher for ElgamalCipher<G, B> {
    type SecretKey = G::Secret;
    type PublicKey = PublicKey<G>;
    type Context = ();
    type Block = [G::Elements; 2];
    type SeededBlock = G::Elements;

    fn name(&self) -> &'static str {
        self.bits.scheme(&self.group)
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        self.bits.spec_to_bytes(&self.group)
    }

    fn max_count(&self) -> u64 {
        self.bits.max_count()
    }

    fn counts_parity(&self) -> bool {
        self.bits.counts_parity()
    }

    fn bit_product(&self) -> BitProduct {
        B::BIT_PRODUCT
    }

    fn generate(&self, rng: &mut impl CryptoRng) -> (G::Secret, PublicKey<G>, KeyId) {
        loop {
            let key = KeyId::random(rng);
            let secret = self.group.sample_secret(rng);
            let element = self.group.public_element(&secret);
            if let Some(public) = PublicKey::from_bytes(&self.group, &element) {
                return (secret, public, key);
            }
        }
    }

    fn public_context(&self, _key: &PublicKey<G>) {}

    fn secret_context(&self, _key: &G::Secret) {}

    /// Cost a bit: two powers of prepared bases, and what the embedding takes.
    fn encrypt(&self, key: &PublicKey<G>, bits: u64, rng: &mut AesCtrRng) -> Self::Block {
        let exponents = self.group.sample_exponents(rng);
        let first = self.group.generator_powers(&exponents);
        let mut second = self.group.powers(&key.base, &exponents);
        self.bits.embed(&self.group, &mut second, bits, rng);
        [first, second]
    }

    /// Cost a bit: a power, and an element from the seed.
    fn encrypt_seeded(
        &self,
        key: &G::Secret,
        bits: u64,
        public: &mut AesCtrRng,
        private: &mut AesCtrRng,
    ) -> Self::SeededBlock {
        let mut second = self.group.secret_powers(&self.group.sample_elements(public), key);
        self.bits.embed(&self.group, &mut second, bits, private);
        second
    }

    fn expand(&self, (): &(), block: &G::Elements, public: &mut AesCtrRng) -> Self::Block {
        [self.group.sample_elements(public), block.clone()]
    }

    /// Cost a position: one power with the secret exponent, and what the embedding takes.
    fn decrypt(
        &self,
        key: &G::Secret,
        [first, second]: &Self::Block,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let shared = Zeroizing::new(self.group.secret_powers(first, key));
        self.bits.extract(&self.group, second, &shared, bound)
    }

    fn combine(&self, (): &(), a: &Self::Block, b: &Self::Block) -> Self::Block {
        multiply(&self.group, a, b)
    }

    fn combine_bits(&self, (): &(), a: &mut Self::Block, bits: u64) {
        self.bits.combine_bits(&self.group, a, bits);
    }

    fn mask(&self, (): &(), a: &mut Self::Block, bits: u64) {
        keep_where(&self.group, a, bits);
    }

    fn place(&self, a: &mut Self::Block, to: usize, b: &Self::Block, from: usize) {
        a.iter_mut().zip(b).for_each(|(a, b)| self.group.place(a, to, b, from));
    }

    fn rerandomise(
        &self,
        key: &PublicKey<G>,
        context: &(),
        a: &Self::Block,
        rng: &mut AesCtrRng,
    ) -> Self::Block {
        let blinded = self.bits.blind(&self.group, a, rng);
        self.combine(context, &blinded, &self.encrypt(key, self.neutral(), rng))
    }

    fn context_bytes(&self) -> usize {
        0
    }

    fn context_to_bytes(&self, (): &()) -> Vec<u8> {
        Vec::new()
    }

    fn context_from_bytes(&self, _bytes: &[u8], _key: KeyId) -> Option<()> {
        Some(())
    }

    fn block_bytes(&self) -> usize {
        2 * self.seeded_block_bytes()
    }

    fn block_to_bytes(&self, (): &(), block: &Self::Block) -> Vec<u8> {
        block.each_ref().map(|half| self.group.elements_to_bytes(half)).concat()
    }

    fn block_from_bytes(&self, (): &(), bytes: &[u8]) -> Option<Self::Block> {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        Some([self.group.elements_from_bytes(first)?, self.group.elements_from_bytes(second)?])
    }

    fn seeded_block_bytes(&self) -> usize {
        BLOCK_LENGTH * self.group.name().element_bytes()
    }

    fn seeded_block_to_bytes(&self, block: &G::Elements) -> Vec<u8> {
        self.group.elements_to_bytes(block)
    }

    fn seeded_block_from_bytes(&self, (): &(), bytes: &[u8]) -> Option<G::Elements> {
        self.group.elements_from_bytes(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey<G>) -> Vec<u8> {
        key.element.clone()
    }

    fn public_key_from_bytes(&self, bytes: &[u8], _key: KeyId) -> Option<PublicKey<G>> {
        PublicKey::from_bytes(&self.group, bytes)
    }

    fn secret_key_to_bytes(&self, key: &G::Secret) -> Zeroizing<Vec<u8>> {
        self.group.secret_to_bytes(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8], _key: KeyId) -> Option<G::Secret> {
        self.group.secret_from_bytes(bytes)
    }
}
