//! Transciphering: data travel under a symmetric stream cipher, as short as they are, and a server that has the
//! cipher's key in encrypted form turns them into ciphertexts (Canteaut, Carpov and others 2018).
//!
//! A stream for each slot: its initial value is a message's nonce and the stream's number, both public. Number `i` of
//! a message lies in slot `i mod slots` of block `i / slots`; blocks take the keystream one after the other, and where
//! it ends the next streams go on.

use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{Rlwe, SecretKey};
use hesc_schemes::wire::{Kind, Reader, Writer};
use rand_core::CryptoRng;
use zeroize::{Zeroize as _, Zeroizing};

use crate::gates::ciphers::Cipher;
use crate::gates::{Builder, GateError, Netlist};
use crate::vectors::{Integers, Layout, seeded_integers_to_bytes};

/// Bytes of a key.
pub const KEY_BYTES: usize = 16;
/// Bytes of a message's nonce.
pub const NONCE_BYTES: usize = 12;
const KEY_BITS: usize = 8 * KEY_BYTES;
const MOST_SLOTS: usize = 1 << 16;
/// Bits of a stream, at most: far beyond what any set has room for.
const MOST_BITS: usize = 1 << 12;
/// Bits of all streams of a run, at most: they are there at once.
const MOST_STREAM_BITS: usize = 1 << 24;
/// Streams under a nonce, at most: their numbers have 32 bits.
const MOST_STREAMS: usize = u32::MAX as usize;
/// Runs of fewer slots than a word has bits, at most.
const MOST_SMALL_RUNS: usize = 1 << 12;

/// A key of Kreyvium. Neither printed nor compared, and wiped: it stays where it was filled in, since what moves leaves
/// copies behind.
pub struct CipherKey(Box<Zeroizing<[u8; KEY_BYTES]>>);

impl CipherKey {
    /// A new one.
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        let mut key = Self(Box::default());
        rng.fill_bytes(&mut key.0[..]);
        key
    }

    /// One that was made before.
    pub fn new(bytes: &[u8; KEY_BYTES]) -> Self {
        let mut key = Self(Box::default());
        key.0.copy_from_slice(bytes);
        key
    }

    /// What its owner keeps.
    pub fn secret_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// The key's bits, each in all slots of a ciphertext, in the wire form of integers of 128 bits: once for a server.
    ///
    /// # Errors
    /// Those of encryption.
    pub fn encrypt_key(
        &self,
        scheme: &Rlwe,
        secret: &SecretKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, SchemeError> {
        scheme.check_combines()?;
        let slots = scheme.slot_count();
        let bit = |at: usize| i64::from(self.0[at / 8] >> (at % 8) & 1);
        let bits = (0..KEY_BITS)
            .map(|at| {
                let row = Zeroizing::new(vec![bit(at); slots]);
                scheme.encrypt_seeded(secret, &scheme.encode_integers(&row)?, rng)
            })
            .collect::<Result<Vec<_>, SchemeError>>()?;
        let integers = Integers { count: slots, width: KEY_BITS, signed: false, boolean: false };
        Ok(seeded_integers_to_bytes(scheme, (integers, Layout::Sliced), &bits))
    }

    /// Numbers under a nonce that is drawn, by the rows of their bits ([`Message::rows`]).
    ///
    /// Cost: for each run about 12,000 gates on 64 streams at once.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for rows of another length than the numbers have, or a shape that none has.
    pub fn encrypt(
        &self,
        integers: Integers,
        shape: Shape,
        rows: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Message, GateError> {
        let mut nonce = [0; NONCE_BYTES];
        rng.fill_bytes(&mut nonce);
        let mut message = Message { nonce, integers, shape, rows: rows.to_vec() };
        if let Err(error) = self.apply(&mut message) {
            message.rows.zeroize();
            return Err(error);
        }
        Ok(message)
    }

    /// The rows of the bits of a message's numbers.
    ///
    /// # Errors
    /// As [`Self::encrypt`].
    pub fn decrypt(&self, message: &Message) -> Result<Zeroizing<Vec<u8>>, GateError> {
        let mut clear = message.clone();
        self.apply(&mut clear)?;
        Ok(Zeroizing::new(clear.rows))
    }

    /// Adds keystream to the rows of a message.
    fn apply(&self, message: &mut Message) -> Result<(), GateError> {
        message.check_shape()?;
        if !message.is_possible() {
            let (what, found) = ("bytes that the numbers take in this shape", message.rows.len());
            return Err(GateError::Inputs { what, expected: message.expected_bytes(), found });
        }
        let slots = message.shape.slots as usize;
        let (per_run, width) = (message.shape.blocks as usize, message.integers.width);
        let words = slots.div_ceil(64);
        let circuit = Cipher::Kreyvium.keystream(per_run * width)?;
        let (shape, nonce, runs) = (message.shape, message.nonce, message.runs());
        let mut rows = message.rows.as_mut_slice();
        let mut left = message.integers.count;
        for run in 0..runs {
            let mut inputs = Zeroizing::new(Vec::with_capacity(2 * KEY_BITS * words));
            for at in 0..KEY_BITS {
                let bit = u64::from(self.0[at / 8] >> (at % 8) & 1);
                inputs.extend(std::iter::repeat_n(bit.wrapping_neg(), words));
            }
            for row in shape.initial_bits(&nonce, run) {
                let word = |bits: &[bool]| {
                    bits.iter().enumerate().fold(0, |word, (i, &bit)| word | u64::from(bit) << i)
                };
                inputs.extend(row.chunks(64).map(word));
            }
            let stream = Zeroizing::new(circuit.evaluate(&inputs, words)?);
            for block in 0..per_run.min(left.div_ceil(slots)) {
                let here = left.min(slots);
                for bit in 0..width {
                    let (row, rest) = rows.split_at_mut(here.div_ceil(8));
                    let from = &stream[(block * width + bit) * words..][..words];
                    for (at, byte) in row.iter_mut().enumerate() {
                        *byte ^= (from[at / 8] >> (8 * (at % 8))) as u8;
                    }
                    // What lies behind the last number stays zero.
                    if !here.is_multiple_of(8) {
                        row[here / 8] &= (1 << (here % 8)) - 1;
                    }
                    rows = rest;
                }
                left -= here;
            }
        }
        Ok(())
    }
}

/// How numbers are cut into streams, which both sides have to do alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Streams at once: slots of the server's parameters.
    pub slots: u32,
    /// Numbers of a stream.
    pub blocks: u32,
}

impl Shape {
    /// The initial values of a run's streams: 128 rows of a bit for each.
    pub fn initial_bits(self, nonce: &[u8; NONCE_BYTES], run: usize) -> Vec<Vec<bool>> {
        let slots = self.slots as usize;
        let first = run * slots;
        let bit = |slot: usize, at: usize| match nonce.get(at / 8) {
            Some(byte) => byte >> (at % 8) & 1 == 1,
            None => (first + slot) >> (at - 8 * NONCE_BYTES) & 1 == 1,
        };
        (0..KEY_BITS).map(|at| (0..slots).map(|slot| bit(slot, at)).collect()).collect()
    }
}

/// Numbers under the cipher: rows of their bits, each rounded up to bytes, and a few bytes more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Never the same twice under a key.
    pub nonce: [u8; NONCE_BYTES],
    /// Which numbers they are.
    pub integers: Integers,
    /// How they are cut into streams.
    pub shape: Shape,
    /// For each block the rows of its numbers' bits, the lowest first, eight numbers in a byte.
    pub rows: Vec<u8>,
}

impl Message {
    /// As many times as all slots' streams are taken.
    pub fn runs(&self) -> usize {
        let (slots, blocks) = (self.shape.slots as usize, self.shape.blocks as usize);
        self.integers.count.div_ceil((slots * blocks).max(1))
    }

    /// What a server needs of a run beside the key: initial values, then the bits of its numbers, a row of a bit for each
    /// slot; zeros where there are no more numbers.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for a run that the message has not, or a message that [`Self::from_bytes`] would not read.
    pub fn public_rows(&self, run: usize) -> Result<Vec<Vec<bool>>, GateError> {
        let (slots, blocks) = (self.shape.slots as usize, self.shape.blocks as usize);
        let width = self.integers.width;
        if !self.is_possible() || run >= self.runs() {
            let (what, expected) = ("a run of the message", self.runs().saturating_sub(1));
            return Err(GateError::Inputs { what, expected, found: run });
        }
        let mut rows = self.shape.initial_bits(&self.nonce, run);
        for block in run * blocks..(run + 1) * blocks {
            let here = self.integers.count.saturating_sub(block * slots).min(slots);
            // All blocks before are whole.
            let from = (block * slots.div_ceil(8) * width).min(self.rows.len());
            for bit in 0..width {
                let row = &self.rows[from + bit * here.div_ceil(8)..];
                let bit_of = |slot: usize| slot < here && row[slot / 8] >> (slot % 8) & 1 == 1;
                rows.push((0..slots).map(bit_of).collect());
            }
        }
        Ok(rows)
    }

    /// Whether what it says of itself is possible, and the rows are as long as that takes.
    pub fn is_possible(&self) -> bool {
        self.check_shape().is_ok()
            && self.expected_bytes() == self.rows.len()
            && self.padding_is_zero()
    }

    /// Refuses numbers and streams that there are not, by the limit that they break.
    fn check_shape(&self) -> Result<(), GateError> {
        let (slots, blocks) = (self.shape.slots as usize, self.shape.blocks as usize);
        let bits = blocks.saturating_mul(self.integers.width);
        // A run takes as long for one slot as for 64.
        let most_runs = if slots >= 64 { MOST_STREAMS / slots } else { MOST_SMALL_RUNS };
        let limits = [
            ("slots of a message", slots, MOST_SLOTS),
            ("numbers of a stream", blocks, MOST_BITS),
            ("bits of a stream", bits, MOST_BITS),
            ("bits of all streams", bits.saturating_mul(slots), MOST_STREAM_BITS),
            (
                "runs that the numbers take, for more of which there are more slots",
                self.runs(),
                most_runs,
            ),
        ];
        let broken = limits.into_iter().find(|&(_, value, most)| !(1..=most).contains(&value));
        if let Some((what, value, most)) = broken {
            return Err(GateError::Size { what, value, least: 1, most });
        }
        if !self.integers.is_possible() {
            let (what, value) = (
                "bits of a number: two at least with a sign, one of truth values",
                self.integers.width,
            );
            return Err(GateError::Size { what, value, least: 1, most: 256 });
        }
        Ok(())
    }

    /// Bytes of the rows.
    fn expected_bytes(&self) -> usize {
        let slots = (self.shape.slots as usize).max(1);
        let (whole, rest) = (self.integers.count / slots, self.integers.count % slots);
        (whole * slots.div_ceil(8) + rest.div_ceil(8)).saturating_mul(self.integers.width)
    }

    fn padding_is_zero(&self) -> bool {
        let slots = self.shape.slots as usize;
        let mut rows = self.rows.as_slice();
        let mut left = self.integers.count;
        while left > 0 {
            let here = left.min(slots);
            for _ in 0..self.integers.width {
                let (row, rest) = rows.split_at(here.div_ceil(8));
                if !here.is_multiple_of(8) && row[here / 8] >> (here % 8) != 0 {
                    return false;
                }
                rows = rest;
            }
            left -= here;
        }
        true
    }

    /// Wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::with_capacity(Kind::Message, self.rows.len() + 64);
        writer.bytes(&self.nonce).u32(self.integers.count as u32).u32(self.integers.width as u32);
        writer.u8(self.integers.flags()).u32(self.shape.slots).u32(self.shape.blocks);
        writer.nested(&self.rows);
        writer.finish()
    }

    /// Reads some; strict.
    ///
    /// # Errors
    /// [`SchemeError::Wire`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::Message)?;
        let nonce = reader.array()?;
        let (count, width) = (reader.u32()? as usize, reader.u32()? as usize);
        let integers = Integers::with_flags(count, width, reader.u8()?);
        let shape = Shape { slots: reader.u32()?, blocks: reader.u32()? };
        let rows = reader.nested()?.to_vec();
        let message = integers.map(|integers| Self { nonce, integers, shape, rows });
        let Some(message) = message.filter(Self::is_possible) else {
            return Err(reader.error("what it says of its numbers is impossible"));
        };
        reader.finish()?;
        Ok(message)
    }
}

/// What a server computes: of a key's bits, encrypted, and of initial values and a message's bits, both public, the
/// bits of the numbers.
///
/// # Errors
/// [`GateError::Size`] for no bits, or more than 4096.
pub fn decipherer(bits: usize) -> Result<Netlist, GateError> {
    if bits > MOST_BITS {
        let what = "bits of a stream";
        return Err(GateError::Size { what, value: bits, least: 1, most: MOST_BITS });
    }
    let keystream = Cipher::Kreyvium.keystream(bits)?;
    let (mut builder, inputs) = Builder::new(&[KEY_BITS, KEY_BITS, bits]);
    let stream = builder.append(&keystream, &inputs[..2].concat())?.remove(0);
    let clear = stream.iter().zip(&inputs[2]).map(|(&a, &b)| builder.xor(a, b)).collect();
    builder.finish(vec![clear])
}

#[cfg(test)]
mod tests {
    use hesc_math::AesCtrRng;
    use rand_core::SeedableRng;

    use super::*;

    fn message(count: usize, width: usize, shape: Shape) -> Message {
        let integers = Integers { count, width, signed: false, boolean: false };
        let empty = Message { nonce: *b"never again.", integers, shape, rows: Vec::new() };
        let rows = vec![0; empty.expected_bytes()];
        Message { rows, ..empty }
    }

    /// Stream by stream as the cipher's definition has it: another way through the bits.
    #[test]
    fn rows_are_bits_of_the_streams() {
        let key = CipherKey::new(b"sixteen bytes...");
        let shape = Shape { slots: 21, blocks: 3 };
        let (count, width) = (150, 5);
        let mut all = message(count, width, shape);
        key.apply(&mut all).unwrap();
        assert!(all.is_possible());
        let circuit = Cipher::Kreyvium.keystream(3 * width).unwrap();
        let public: Vec<_> = (0..all.runs()).map(|run| all.public_rows(run).unwrap()).collect();
        for number in 0..count {
            let (block, slot) = (number / 21, number % 21);
            let (run, place) = (block / 3, block % 3);
            let counter = (run * 21 + slot) as u32;
            let initial = [&all.nonce[..], &counter.to_le_bytes()].concat();
            let bits = |bytes: &[u8]| -> Vec<u64> {
                (0..128).map(|at| u64::from(bytes[at / 8] >> (at % 8) & 1)).collect()
            };
            let stream =
                circuit.evaluate(&[bits(key.secret_bytes()), bits(&initial)].concat(), 1).unwrap();
            for bit in 0..width {
                let before = block * width * 3 + if block < 7 { bit * 3 } else { bit };
                let found = all.rows[before + slot / 8] >> (slot % 8) & 1;
                let expected = stream[place * width + bit] & 1;
                assert_eq!(u64::from(found), expected, "number {number}, bit {bit}");
                // What a server is given of it.
                let row = &public[run][KEY_BITS + place * width + bit];
                assert_eq!(u64::from(row[slot]), expected, "number {number}, bit {bit}");
            }
        }
        key.apply(&mut all).unwrap();
        assert!(all.rows.iter().all(|&byte| byte == 0));
    }

    /// Every byte of a nonce takes other values among sixteen messages; one of twelve does not with a probability
    /// below 2^-116.
    #[test]
    fn whole_nonces_are_drawn() {
        let rng = &mut AesCtrRng::from_seed([7; 32]);
        let key = CipherKey::generate(rng);
        let clear = message(8, 1, Shape { slots: 8, blocks: 1 });
        let mut nonce =
            || key.encrypt(clear.integers, clear.shape, &clear.rows, rng).unwrap().nonce;
        let nonces: Vec<[u8; NONCE_BYTES]> = (0..16).map(|_| nonce()).collect();
        for at in 0..NONCE_BYTES {
            assert!(nonces.iter().any(|nonce| nonce[at] != nonces[0][at]), "byte {at}");
        }
    }

    #[test]
    fn only_what_was_written_is_read() {
        let written = message(150, 5, Shape { slots: 21, blocks: 3 });
        assert_eq!(Message::from_bytes(&written.to_bytes()).unwrap(), written);
        let mut padded = written.clone();
        *padded.rows.last_mut().unwrap() = 1 << 7;
        let shapes = [(0, 3), (21, 0), (21, 1000), (1 << 17, 1)];
        let lies = shapes.map(|(slots, blocks)| {
            let shape = Shape { slots, blocks };
            Message { shape, ..written.clone() }
        });
        for lie in lies.into_iter().chain([padded]) {
            assert!(Message::from_bytes(&lie.to_bytes()).is_err(), "{lie:?}");
        }
    }
}
