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

use crate::bitwise::{BLOCK_LENGTH, BitCipher, Bitwise};
use crate::wire::{Kind, Reader, Writer};
use crate::{KeyId, SchemeError};

/// Lifted ElGamal over ffdhe3072.
pub type Elgamal = Bitwise<LiftedElgamal<Ffdhe3072>>;
/// Lifted ElGamal over ristretto255.
pub type EcElgamal = Bitwise<LiftedElgamal<Ristretto255>>;

/// Lifted ElGamal over secp256r1, the paper's curve.
pub type EcElgamalSecp256r1 = Bitwise<LiftedElgamal<Secp256r1>>;

/// Largest bound on counts: the search looks at every candidate.
const LARGEST_COUNT: u64 = 1 << 12;

/// A group with the largest count that decryption looks for.
#[derive(Clone)]
pub struct LiftedElgamal<G: Group> {
    group: G,
    powers: G::Powers,
    max_count: u64,
}

/// The public element in its wire form, and prepared.
pub struct PublicKey<G: Group> {
    element: Vec<u8>,
    pub(crate) base: Arc<G::Base>,
}

impl<G: Group> PublicKey<G> {
    /// Reads an element; `None` if it is the neutral one or not in the group.
    pub(crate) fn from_bytes(group: &G, bytes: &[u8]) -> Option<Self> {
        let base = Arc::new(group.prepare_base(bytes)?);
        Some(Self { element: bytes.to_vec(), base })
    }

    /// The element's wire form.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.element.clone()
    }
}

/// A key pair of any ElGamal scheme.
pub(crate) fn generate<G: Group>(
    group: &G,
    rng: &mut impl CryptoRng,
) -> (G::Secret, PublicKey<G>, KeyId) {
    loop {
        let key = KeyId::random(rng);
        let secret = group.sample_secret(rng);
        if let Some(public) = PublicKey::from_bytes(group, &group.public_element(&secret)) {
            return (secret, public, key);
        }
    }
}

impl<G: Group> Clone for PublicKey<G> {
    fn clone(&self) -> Self {
        Self { element: self.element.clone(), base: self.base.clone() }
    }
}

impl<G: Group> LiftedElgamal<G> {
    /// The group.
    pub fn group(&self) -> &G {
        &self.group
    }
}

impl<G: Group> std::fmt::Debug for LiftedElgamal<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiftedElgamal")
            .field("group", &self.group.identifier())
            .field("max_count", &self.max_count)
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
            return Err(SchemeError::Parameter {
                name: "max_count",
                value: max_count.to_string(),
                remedy: "choose 1 to 4096",
            });
        }
        let powers = group.prepare_powers(max_count);
        Ok(Self::of(LiftedElgamal { group, powers, max_count }))
    }

    /// Reads the wire form of a parameter set over this group.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, [`SchemeError::Parameter`] for values out of range.
    pub fn over_from_bytes(group: G, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        if [reader.u32()?, reader.u32()?] != group.identifier() {
            return Err(reader.error("it is the set of another scheme"));
        }
        let max_count = reader.u64()?;
        reader.finish()?;
        Self::over(group, max_count)
    }

    /// The largest count that decrypts.
    pub fn max_count(&self) -> u64 {
        self.cipher().max_count
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

impl<G: Group> BitCipher for LiftedElgamal<G> {
    type SecretKey = G::Secret;
    type PublicKey = PublicKey<G>;
    type Context = ();
    type Block = [G::Elements; 2];
    type SeededBlock = G::Elements;

    fn name(&self) -> &'static str {
        self.group.scheme()
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        let [family, member] = self.group.identifier();
        let mut writer = Writer::new(Kind::Params);
        writer.u32(family).u32(member).u64(self.max_count);
        writer.finish()
    }

    fn max_count(&self) -> u64 {
        self.max_count
    }

    fn counts_parity(&self) -> bool {
        false
    }

    fn generate(&self, rng: &mut impl CryptoRng) -> (G::Secret, PublicKey<G>, KeyId) {
        generate(&self.group, rng)
    }

    fn public_context(&self, _key: &PublicKey<G>) {}

    fn secret_context(&self, _key: &G::Secret) {}

    /// Cost a bit: two powers of prepared bases.
    fn encrypt(&self, key: &PublicKey<G>, bits: u64, rng: &mut AesCtrRng) -> Self::Block {
        let exponents = self.group.sample_exponents(rng);
        let first = self.group.generator_powers(&exponents);
        let mut second = self.group.powers(&key.base, &exponents);
        self.group.multiply_generator_where(&mut second, bits);
        [first, second]
    }

    /// Cost a bit: a power, and an element from the seed.
    fn encrypt_seeded(
        &self,
        key: &G::Secret,
        bits: u64,
        public: &mut AesCtrRng,
        _private: &mut AesCtrRng,
    ) -> Self::SeededBlock {
        let mut second = self.group.secret_powers(&self.group.sample_elements(public), key);
        self.group.multiply_generator_where(&mut second, bits);
        second
    }

    fn expand(&self, (): &(), block: &G::Elements, public: &mut AesCtrRng) -> Self::Block {
        [self.group.sample_elements(public), block.clone()]
    }

    /// Cost a position: one power with the secret exponent and a comparison with each candidate.
    fn decrypt(
        &self,
        key: &G::Secret,
        [first, second]: &Self::Block,
        bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let shared = self.group.secret_powers(first, key);
        self.group.logarithms(&self.powers, second, &shared, bound)
    }

    fn add(&self, (): &(), a: &Self::Block, b: &Self::Block) -> Self::Block {
        [self.group.multiply(&a[0], &b[0]), self.group.multiply(&a[1], &b[1])]
    }

    fn times(&self, (): &(), a: &Self::Block, base: u64) -> Self::Block {
        let mut result = a.clone();
        if base == 0 {
            self.mask(&(), &mut result, 0);
            return result;
        }
        // The highest bit is there already.
        for bit in (0..u64::BITS - 1 - base.leading_zeros()).rev() {
            result = self.add(&(), &result, &result);
            if base >> bit & 1 == 1 {
                result = self.add(&(), &result, a);
            }
        }
        result
    }

    fn add_bits(&self, (): &(), a: &mut Self::Block, bits: u64) {
        self.group.multiply_generator_where(&mut a[1], bits);
    }

    fn mask(&self, (): &(), a: &mut Self::Block, bits: u64) {
        a.iter_mut().for_each(|half| self.group.keep_where(half, bits));
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
        BLOCK_LENGTH * self.group.element_bytes()
    }

    fn seeded_block_to_bytes(&self, block: &G::Elements) -> Vec<u8> {
        self.group.elements_to_bytes(block)
    }

    fn seeded_block_from_bytes(&self, (): &(), bytes: &[u8]) -> Option<G::Elements> {
        self.group.elements_from_bytes(bytes)
    }

    fn public_key_to_bytes(&self, key: &PublicKey<G>) -> Vec<u8> {
        key.to_bytes()
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
