//! ElGamal's encryption as it is, multiplicative, for unipolar streams (`koseki2022hesc` §2.2,
//! §3.1): a one is the neutral element, a zero a random one, and a product of ciphertexts encrypts
//! the conjunction of bits.
//!
//! A product that contains a zero is a random element too, and the neutral one by chance: a one
//! that should be a zero has the probability `1 / order`, 2^-252 and less. The decrypted elements
//! tell the key owner nothing but the conjunction.
//!
//! The paper also names RSA as a multiplicative scheme. Without padding it is deterministic: two
//! encryptions of the neutral element are equal, so that anyone reads the bits. It is not offered.

use hesc_math::AesCtrRng;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::bitwise::{BLOCK_LENGTH, BitCipher, Bitwise};
use crate::elgamal::{self, Group, PublicKey};
use crate::wire::{Kind, Reader, Writer};
use crate::{BitProduct, KeyId, SchemeError};

/// Unipolar HESC over a group.
pub type UnipolarElgamal<G> = Bitwise<Multiplicative<G>>;

/// This scheme among the parameter sets without a ring.
const UNIPOLAR: u32 = 4;

/// A group.
#[derive(Clone)]
pub struct Multiplicative<G> {
    group: G,
}

impl<G: Group> std::fmt::Debug for Multiplicative<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Multiplicative").field("group", &self.group.identifier()).finish()
    }
}

impl<G: Group> UnipolarElgamal<G> {
    /// The scheme over a group.
    pub fn over(group: G) -> Self {
        Self::of(Multiplicative { group })
    }

    /// Reads the wire form of the parameter set over this group.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes.
    pub fn over_from_bytes(group: G, bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Params)?;
        let [family, member] = group.identifier();
        if [reader.u32()?, reader.u32()?, reader.u32()?] != [UNIPOLAR, family, member] {
            return Err(reader.error("it is the set of another scheme"));
        }
        reader.finish()?;
        Ok(Self::over(group))
    }
}

impl<G: Group> BitCipher for Multiplicative<G> {
    type SecretKey = G::Secret;
    type PublicKey = PublicKey<G>;
    type Context = ();
    type Block = [G::Elements; 2];
    type SeededBlock = G::Elements;

    fn name(&self) -> &'static str {
        "unipolar_elgamal"
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        let [family, member] = self.group.identifier();
        let mut writer = Writer::new(Kind::Params);
        writer.u32(UNIPOLAR).u32(family).u32(member);
        writer.finish()
    }

    fn max_count(&self) -> u64 {
        1
    }

    fn counts_parity(&self) -> bool {
        true
    }

    fn bit_product(&self) -> BitProduct {
        BitProduct::Conjunction
    }

    fn generate(&self, rng: &mut impl CryptoRng) -> (G::Secret, PublicKey<G>, KeyId) {
        elgamal::generate(&self.group, rng)
    }

    fn public_context(&self, _key: &PublicKey<G>) {}

    fn secret_context(&self, _key: &G::Secret) {}

    /// `(g^r, h^r)` for a one, `(g^r, g^u)` for a zero. Cost a bit: three powers of prepared bases.
    fn encrypt(&self, key: &PublicKey<G>, bits: u64, rng: &mut AesCtrRng) -> Self::Block {
        let exponents = self.group.sample_exponents(rng);
        let first = self.group.generator_powers(&exponents);
        let mut second = self.group.powers(&key.base, &exponents);
        let random = self.group.generator_powers(&self.group.sample_exponents(rng));
        self.group.replace_where(&mut second, &random, !bits);
        [first, second]
    }

    fn encrypt_seeded(
        &self,
        key: &G::Secret,
        bits: u64,
        public: &mut AesCtrRng,
        private: &mut AesCtrRng,
    ) -> G::Elements {
        let mut second = self.group.secret_powers(&self.group.sample_elements(public), key);
        let random = self.group.generator_powers(&self.group.sample_exponents(private));
        self.group.replace_where(&mut second, &random, !bits);
        second
    }

    fn expand(&self, (): &(), block: &G::Elements, public: &mut AesCtrRng) -> Self::Block {
        [self.group.sample_elements(public), block.clone()]
    }

    /// Cost a position: one power with the secret exponent.
    fn decrypt(
        &self,
        key: &G::Secret,
        [first, second]: &Self::Block,
        _bound: u64,
    ) -> Option<[u32; BLOCK_LENGTH]> {
        let ones = self.group.equal(&self.group.secret_powers(first, key), second);
        Some(std::array::from_fn(|i| (ones >> i) as u32 & 1))
    }

    fn add(&self, (): &(), a: &Self::Block, b: &Self::Block) -> Self::Block {
        [self.group.multiply(&a[0], &b[0]), self.group.multiply(&a[1], &b[1])]
    }

    fn times(&self, (): &(), a: &Self::Block, _base: u64) -> Self::Block {
        // A bit and itself, however often.
        a.clone()
    }

    fn add_bits(&self, context: &(), a: &mut Self::Block, bits: u64) {
        // A zero that everyone knows: (1, g).
        self.mask(context, a, bits);
        self.group.multiply_generator_where(&mut a[1], !bits);
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
