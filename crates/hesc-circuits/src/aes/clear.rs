//! AES-128 in the clear (FIPS 197), in counter mode (SP 800-38A): what the owner of the data does. Sixteen bytes at once in a
//! word, by arithmetic alone: no table is read at a secret place.

use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Bytes of a key, and of a block.
pub const BLOCK_BYTES: usize = 16;
/// Bytes of a nonce; the other four of a counter are the block's number, the highest first.
pub const NONCE_BYTES: usize = 12;
/// What the cipher has, as it is standardised.
pub const ROUNDS: usize = 10;

/// The lowest bit of each byte.
const ONES: u128 = u128::from_le_bytes([1; BLOCK_BYTES]);
/// The affine map's constant.
const CONSTANT: u8 = 0x63;

/// A key of AES-128. Neither printed nor compared, and wiped.
pub struct AesKey(Box<Zeroizing<[u8; BLOCK_BYTES]>>);

impl AesKey {
    /// A new one.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = Self(Box::default());
        rng.fill_bytes(&mut key.0[..]);
        key
    }

    /// One that was made before.
    pub fn new(bytes: &[u8; BLOCK_BYTES]) -> Self {
        let mut key = Self(Box::default());
        key.0.copy_from_slice(bytes);
        key
    }

    /// What its owner keeps.
    pub fn secret_bytes(&self) -> &[u8; BLOCK_BYTES] {
        &self.0
    }

    /// The keys that are added before the first round and after each (FIPS 197, section 5.2).
    pub fn round_keys(&self, rounds: usize) -> Zeroizing<Vec<[u8; BLOCK_BYTES]>> {
        let mut keys = Zeroizing::new(Vec::with_capacity(rounds + 1));
        let mut last = Zeroizing::new(**self.0);
        keys.push(*last);
        let mut constant = 1;
        for _ in 0..rounds {
            let mut word = Zeroizing::new([0; BLOCK_BYTES]);
            word[..4].copy_from_slice(&[last[13], last[14], last[15], last[12]]);
            let mut word = Zeroizing::new(substituted(u128::from_le_bytes(*word)).to_le_bytes());
            word[0] ^= constant;
            constant = doubled(u128::from(constant)) as u8;
            for i in 0..BLOCK_BYTES {
                last[i] ^= if i < 4 { word[i] } else { last[i - 4] };
            }
            keys.push(*last);
        }
        keys
    }

    /// What messages begin with: never the same twice under a key.
    pub fn draw_nonce(rng: &mut impl CryptoRng) -> [u8; NONCE_BYTES] {
        let mut nonce = [0; NONCE_BYTES];
        rng.fill_bytes(&mut nonce);
        nonce
    }

    /// Adds the keystream of a nonce to bytes, the first block's counter being `first`: encryption, and decryption. Cost:
    /// microseconds a block.
    pub fn apply(&self, rounds: usize, nonce: &[u8; NONCE_BYTES], first: u32, bytes: &mut [u8]) {
        let keys = self.round_keys(rounds);
        for (number, block) in bytes.chunks_mut(BLOCK_BYTES).enumerate() {
            let counter = counter(nonce, first.wrapping_add(number as u32));
            let stream = Zeroizing::new(encrypted(&keys, counter));
            block.iter_mut().zip(stream.iter()).for_each(|(byte, key)| *byte ^= key);
        }
    }
}

/// The block that a number of a stream is the encryption of.
pub fn counter(nonce: &[u8; NONCE_BYTES], number: u32) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..NONCE_BYTES].copy_from_slice(nonce);
    block[NONCE_BYTES..].copy_from_slice(&number.to_be_bytes());
    block
}

/// A block under keys of rounds, of which the last has no `MixColumns`.
pub(super) fn encrypted(keys: &[[u8; BLOCK_BYTES]], block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let key = |round: usize| u128::from_le_bytes(keys[round]);
    let rounds = keys.len() - 1;
    let mut state = u128::from_le_bytes(block) ^ key(0);
    for round in 1..=rounds {
        state = substituted(state);
        let bytes = state.to_le_bytes();
        let shifted = std::array::from_fn(|i| bytes[shifted_from(i)]);
        state = u128::from_le_bytes(shifted);
        if round < rounds {
            // Each byte of a column, and the next three.
            let next = |by: usize| {
                u128::from_le_bytes(std::array::from_fn(|i| shifted[i / 4 * 4 + (i + by) % 4]))
            };
            state = doubled(state ^ next(1)) ^ next(1) ^ next(2) ^ next(3);
        }
        state ^= key(round);
    }
    state.to_le_bytes()
}

/// Which byte `ShiftRows` brings to a place; bytes are numbered down the columns.
pub(super) const fn shifted_from(place: usize) -> usize {
    (place + place % 4 * 4) % BLOCK_BYTES
}

/// Each byte times `x`, modulo `x^8 + x^4 + x^3 + x + 1`.
fn doubled(a: u128) -> u128 {
    let high = a >> 7 & ONES;
    ((a & !(ONES << 7)) << 1) ^ (high * 0x1b)
}

/// Products of bytes.
fn product(a: u128, b: u128) -> u128 {
    let (mut sum, mut power) = (0, a);
    for bit in 0..8 {
        // Ones in each byte whose factor has the bit.
        sum ^= power & ((b >> bit & ONES) * 0xff);
        power = doubled(power);
    }
    sum
}

/// `S` of each byte: the affine map of `x^254`.
fn substituted(x: u128) -> u128 {
    let square = |a: u128| product(a, a);
    let x2 = square(x);
    let x3 = product(x, x2);
    let x12 = square(square(x3));
    let x15 = product(x3, x12);
    let x240 = square(square(square(square(x15))));
    affine(product(x240, product(x12, x2))) ^ (ONES * u128::from(CONSTANT))
}

/// The linear part of the affine map (FIPS 197, section 5.1.1), of each byte.
pub(super) fn affine(a: u128) -> u128 {
    // The bits of each byte moved up, those at the top coming in at the bottom.
    let turned = |by: u32| {
        let low = ONES * ((1 << by) - 1);
        (a << by & !low) | (a >> (8 - by) & low)
    };
    a ^ turned(1) ^ turned(2) ^ turned(3) ^ turned(4)
}

/// What the affine map adds.
pub(super) const fn constant() -> u8 {
    CONSTANT
}

/// A byte times `x`, as often as is said.
pub(super) fn times_power(byte: u8, power: u32) -> u8 {
    (0..power).fold(byte, |byte, _| doubled(u128::from(byte)) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hexadecimal: &str) -> [u8; BLOCK_BYTES] {
        std::array::from_fn(|i| u8::from_str_radix(&hexadecimal[2 * i..2 * i + 2], 16).unwrap())
    }

    /// FIPS 197, appendices A.1 and C.1.
    #[test]
    fn blocks_and_round_keys_are_those_of_the_standard() {
        let keys = AesKey::new(&bytes("2b7e151628aed2a6abf7158809cf4f3c")).round_keys(ROUNDS);
        assert_eq!(keys[1], bytes("a0fafe1788542cb123a339392a6c7605"));
        assert_eq!(keys[10], bytes("d014f9a8c9ee2589e13f0cc8b6630ca6"));
        let keys = AesKey::new(&bytes("000102030405060708090a0b0c0d0e0f")).round_keys(ROUNDS);
        let found = encrypted(&keys, bytes("00112233445566778899aabbccddeeff"));
        assert_eq!(found, bytes("69c4e0d86a7b0430d8cdb78070b4c55a"));
    }

    /// SP 800-38A, F.5.1: the counter's last four bytes are a number there too.
    #[test]
    fn counters_are_those_of_the_standard() {
        let key = AesKey::new(&bytes("2b7e151628aed2a6abf7158809cf4f3c"));
        let first = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let mut data =
            [bytes("6bc1bee22e409f96e93d7e117393172a"), bytes("ae2d8a571e03ac9c9eb76fac45af8e51")]
                .concat();
        let clear = data.clone();
        let nonce: [u8; NONCE_BYTES] = first[..NONCE_BYTES].try_into().unwrap();
        let number = u32::from_be_bytes(first[NONCE_BYTES..].try_into().unwrap());
        key.apply(ROUNDS, &nonce, number, &mut data);
        assert_eq!(data[..16], bytes("874d6191b620e3261bef6864990db6ce"));
        assert_eq!(data[16..], bytes("9806f66b7970fdff8617187bb9fffdff"));
        key.apply(ROUNDS, &nonce, number, &mut data);
        assert_eq!(data, clear);
    }
}
