use hesc_math::AesCtrRng;
use hesc_math::wide::JacobiSymbol;

use super::{Block, GROUPS, Modulus, SecretKey, SeededBlock};
use crate::streams::bitwise::BLOCK_LENGTH;

/// Random squares, negated for ones. Cost a bit: a squaring.
pub(super) fn encrypt(modulus: &Modulus, bits: u64, rng: &mut AesCtrRng) -> Block {
    let mut block = modulus.zeros();
    modulus.n().sample(&mut block, rng);
    modulus.n().square_assign(&mut block);
    modulus.n().negate_where(&mut block, &bits.to_le_bytes());
    block
}

/// What turns the residues from the seed into an encryption. Cost a bit: two symbols of half the
/// size. A residue with a factor of `n` is met as often as one guesses the key, and its ciphertext does
/// not decrypt.
pub(super) fn encrypt_seeded(key: &SecretKey, bits: u64, public: &mut AesCtrRng) -> SeededBlock {
    let mut block = key.modulus.zeros();
    key.modulus.n().sample(&mut block, public);
    let [p, q] = [&key.p, &key.q].map(|prime| negatives(prime, &block).unwrap_or_default());
    SeededBlock { double: p ^ q, negate: q ^ bits }
}

pub(super) fn expand(modulus: &Modulus, seeded: SeededBlock, public: &mut AesCtrRng) -> Block {
    let mut block = modulus.zeros();
    modulus.n().sample(&mut block, public);
    modulus.n().double_where(&mut block, &seeded.double.to_le_bytes());
    modulus.n().negate_where(&mut block, &seeded.negate.to_le_bytes());
    block
}

/// The parities. Cost a bit: a symbol modulo one prime.
pub(super) fn decrypt(key: &SecretKey, block: &Block) -> Option<[u32; BLOCK_LENGTH]> {
    let bits = negatives(&key.p, block)?;
    Some(std::array::from_fn(|i| (bits >> i) as u32 & 1))
}

/// The positions whose symbol is -1.
pub(super) fn negatives(symbol: &JacobiSymbol, block: &Block) -> Option<u64> {
    let bytes = symbol.negatives(block, block.len() / GROUPS)?;
    Some(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}
