//! Goldwasser and Micali's encryption (`koseki2022hesc` Table 1).
//!
//! A bit is a residue modulo `n = p q` of Jacobi's symbol 1: a square for 0, a non-square for 1;
//! only who knows `p` can tell. Products of residues encrypt the exclusive or of bits, so that a
//! product of inverted-bipolar streams is a product of residues, and counts come modulo 2. A
//! ciphertext has the size of the modulus. Not secure against quantum computers.
//!
//! Three choices make it fast and small:
//! - `p = 3`, `q = 7 (mod 8)`: -1 is then a non-square of symbol 1, and adding a bit is a negation;
//! - all products are Montgomery's, `a b R^-1`, and nothing is ever converted: `R = 2^(52 limbs)` is
//!   a square, so that the factor `R^-1` changes no symbol;
//! - the key owner encrypts with *two bits* for a bit: a residue `u` from a public seed has some
//!   pair of symbols modulo `p` and `q`; times one of 1, -1, 2, -2 it has the pair that encrypts the
//!   bit, because 2 is a non-square modulo `p` alone. The product is uniform among the ciphertexts of
//!   the bit, as one under the public key is; like all seeded ciphertexts it asks of the generator
//!   that the seed may be public (SECURITY.md).

mod keys;

use std::sync::Arc;

use hesc_math::AesCtrRng;
use hesc_math::wide::{JacobiSymbol, LANES, Octet, WideModulus, copy_number};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use keys::{PublicKey, SecretKey};

use crate::error::refuse;
use crate::kinds::SchemeId;
use crate::streams::bitwise::{BitCipher, Bitwise};
use crate::streams::classical_sets::{BLOCK_LENGTH, gm_bytes};
use crate::wire::Reader;
use crate::{Assurance, BitProduct, KeyId, SchemeError, Security};

/// The scheme of Goldwasser and Micali.
pub type Gm = Bitwise<GoldwasserMicali>;

/// Groups of eight residues in a block.
const GROUPS: usize = BLOCK_LENGTH / LANES;

/// The parameter set: a size of modulus.
#[derive(Debug, Clone)]
pub struct GoldwasserMicali {
    modulus_bits: u32,
}

/// The public modulus.
pub struct Modulus {
    symbol: JacobiSymbol,
}

/// 64 residues below `2 n`.
pub type Block = Box<[Octet]>;

/// 64 residues as what makes them of those from the seed.
#[derive(Debug, Clone, Copy)]
pub struct SeededBlock {
    double: u64,
    negate: u64,
}

impl Gm {
    /// The scheme with moduli of 3072 or 4096 bits, which give 128 bits against classical computers (NIST SP
    /// 800-57 part 1, table 2), or of 2048, which give 112, if `assurance` allows it.
    ///
    /// # Errors
    /// [`SchemeError::Weak`] below the assurance, [`SchemeError::Parameter`] for other sizes.
    pub fn new(modulus_bits: u32, assurance: Assurance) -> Result<Self, SchemeError> {
        match (modulus_bits, assurance) {
            (3072 | 4096, _) | (2048, Assurance::Insecure) => {
                Ok(Self::of(GoldwasserMicali { modulus_bits }))
            }
            (2048, _) => Err(SchemeError::Weak {
                set: "a modulus of 2048 bits",
                remedy: "take 3072 or 4096",
            }),
            _ => refuse("modulus_bits", modulus_bits, "choose 3072 or 4096"),
        }
    }

    /// Reads the wire form of a parameter set.
    ///
    /// # Errors
    /// [`SchemeError::Wire`] for other bytes, and as [`Self::new`].
    pub fn spec_from_bytes(bytes: &[u8], assurance: Assurance) -> Result<Self, SchemeError> {
        let mut reader = Reader::open_params(bytes, SchemeId::Gm)?;
        let modulus_bits = reader.u32()?;
        reader.finish()?;
        Self::new(modulus_bits, assurance)
    }

    /// Bits of the modulus.
    pub fn modulus_bits(&self) -> u32 {
        self.cipher().modulus_bits
    }
}

impl BitCipher for GoldwasserMicali {
    type SecretKey = SecretKey;
    type PublicKey = PublicKey;
    type Context = Arc<Modulus>;
    type Block = Block;
    type SeededBlock = SeededBlock;

    fn name(&self) -> &'static str {
        "gm"
    }

    fn spec_to_bytes(&self) -> Vec<u8> {
        gm_bytes(self.modulus_bits)
    }

    fn security(&self) -> Security {
        if self.modulus_bits < 3072 {
            Security::Of(Assurance::Insecure)
        } else {
            Security::Classical128
        }
    }

    fn max_count(&self) -> u64 {
        1
    }

    fn counts_parity(&self) -> bool {
        true
    }

    fn bit_product(&self) -> BitProduct {
        BitProduct::ExclusiveOr
    }

    fn generate(&self, rng: &mut impl CryptoRng) -> (SecretKey, PublicKey, KeyId) {
        keys::generate(self.modulus_bits, rng)
    }

    fn public_context(&self, key: &PublicKey) -> Arc<Modulus> {
        key.clone()
    }

    fn secret_context(&self, key: &SecretKey) -> Arc<Modulus> {
        key.modulus.clone()
    }

    /// Random squares, negated for ones. Cost a bit: a squaring.
    fn encrypt(&self, modulus: &PublicKey, bits: u64, rng: &mut AesCtrRng) -> Block {
        let mut block = modulus.zeros();
        modulus.n().sample(&mut block, rng);
        modulus.n().square_assign(&mut block);
        modulus.n().negate_where(&mut block, &bits.to_le_bytes());
        block
    }

    /// What turns the residues from the seed into an encryption. Cost a bit: two symbols of half the
    /// size. A residue with a factor of `n` is met as often as one guesses the key, and its ciphertext does
    /// not decrypt.
    fn encrypt_seeded(
        &self,
        key: &SecretKey,
        bits: u64,
        public: &mut AesCtrRng,
        _private: &mut AesCtrRng,
    ) -> SeededBlock {
        let mut block = key.modulus.zeros();
        key.modulus.n().sample(&mut block, public);
        let [p, q] = [&key.p, &key.q].map(|prime| negatives(prime, &block).unwrap_or_default());
        SeededBlock { double: p ^ q, negate: q ^ bits }
    }

    fn expand(
        &self,
        modulus: &Arc<Modulus>,
        seeded: &SeededBlock,
        public: &mut AesCtrRng,
    ) -> Block {
        let mut block = modulus.zeros();
        modulus.n().sample(&mut block, public);
        modulus.n().double_where(&mut block, &seeded.double.to_le_bytes());
        modulus.n().negate_where(&mut block, &seeded.negate.to_le_bytes());
        block
    }

    /// The parities. Cost a bit: a symbol modulo one prime.
    fn decrypt(&self, key: &SecretKey, block: &Block, _bound: u64) -> Option<[u32; BLOCK_LENGTH]> {
        let bits = negatives(&key.p, block)?;
        Some(std::array::from_fn(|i| (bits >> i) as u32 & 1))
    }

    fn combine(&self, context: &Arc<Modulus>, a: &Block, b: &Block) -> Block {
        let mut product = context.zeros();
        context.n().mul(&mut product, a, b);
        product
    }

    fn combine_bits(&self, context: &Arc<Modulus>, a: &mut Block, bits: u64) {
        context.n().negate_where(a, &bits.to_le_bytes());
    }

    fn mask(&self, context: &Arc<Modulus>, a: &mut Block, bits: u64) {
        context.n().keep_where(a, &bits.to_le_bytes());
    }

    fn place(&self, a: &mut Block, to: usize, b: &Block, from: usize) {
        copy_number(a, to, b, from, GROUPS);
    }

    fn context_bytes(&self) -> usize {
        self.modulus_bits as usize / 8
    }

    fn context_to_bytes(&self, context: &Arc<Modulus>) -> Vec<u8> {
        context.n().to_be_bytes().to_vec()
    }

    fn context_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<Arc<Modulus>> {
        keys::read_modulus(self.modulus_bits, bytes, key)
    }

    fn block_bytes(&self) -> usize {
        BLOCK_LENGTH * self.modulus_bits as usize / 8
    }

    fn block_to_bytes(&self, modulus: &Arc<Modulus>, block: &Block) -> Vec<u8> {
        let mut reduced = block.clone();
        modulus.n().reduce_assign(&mut reduced);
        let mut bytes = vec![0; BLOCK_LENGTH * modulus.n().byte_length()];
        modulus.n().write_be(&mut bytes, &reduced);
        bytes
    }

    /// Residues of symbol 1: another one would decrypt to nonsense. Cost: a symbol of full size each.
    fn block_from_bytes(&self, modulus: &Arc<Modulus>, bytes: &[u8]) -> Option<Block> {
        let mut block = modulus.zeros();
        let valid =
            modulus.n().read_be(&mut block, bytes) && negatives(&modulus.symbol, &block)? == 0;
        valid.then_some(block)
    }

    fn seeded_block_bytes(&self) -> usize {
        2 * size_of::<u64>()
    }

    fn seeded_block_to_bytes(&self, block: &SeededBlock) -> Vec<u8> {
        [block.double.to_le_bytes(), block.negate.to_le_bytes()].concat()
    }

    fn seeded_block_from_bytes(
        &self,
        _context: &Arc<Modulus>,
        bytes: &[u8],
    ) -> Option<SeededBlock> {
        let (words, _) = bytes.as_chunks::<8>();
        let &[double, negate] = words else { return None };
        let [double, negate] = [double, negate].map(u64::from_le_bytes);
        Some(SeededBlock { double, negate })
    }

    fn public_key_to_bytes(&self, key: &PublicKey) -> Vec<u8> {
        self.context_to_bytes(key)
    }

    fn public_key_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<PublicKey> {
        self.context_from_bytes(bytes, key)
    }

    fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        keys::write_secret(key)
    }

    fn secret_key_from_bytes(&self, bytes: &[u8], key: KeyId) -> Option<SecretKey> {
        keys::read_secret(self.modulus_bits, bytes, key)
    }
}

impl Modulus {
    fn n(&self) -> &WideModulus {
        self.symbol.modulus()
    }

    fn zeros(&self) -> Block {
        vec![Octet::ZERO; GROUPS * self.n().limbs()].into()
    }
}

/// The positions whose symbol is -1.
fn negatives(symbol: &JacobiSymbol, block: &Block) -> Option<u64> {
    let bytes = symbol.negatives(block, block.len() / GROUPS)?;
    Some(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}
