use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use ctr::Ctr64LE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use rand_core::{Infallible, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Seed of an [`AesCtrRng`]: 32 bytes.
pub type RngSeed = [u8; 32];

const BUFFER: usize = 1024;

/// The cryptographic generator of hesc: AES-256 in counter mode.
///
/// Chosen over ChaCha20 by measurement, since noise sampling is bound by it: with VAES it gives
/// three times the bytes a second (docs/adr/0003-randomness.md). The key is the seed, the block
/// counter starts at zero; output is the key stream in order, whatever the sizes of the requests.
/// Wiped on drop, no `Debug`, no `Clone`: a cloned generator would encrypt twice with the same
/// noise.
#[derive(ZeroizeOnDrop)]
pub struct AesCtrRng {
    // The `zeroize` features of `aes` and `ctr` wipe the key schedule.
    #[zeroize(skip)]
    cipher: Ctr64LE<Aes256>,
    buffer: [u8; BUFFER],
    used: usize,
}

impl AesCtrRng {
    /// Moment 0 is the generator with this seed; under one seed the streams of different moments have no block of AES
    /// in common.
    pub(crate) fn at_moment(seed: &RngSeed, moment: u64) -> Self {
        let mut first = [0; 16];
        first[8..].copy_from_slice(&moment.to_le_bytes());
        let cipher = Ctr64LE::<Aes256>::new(seed.into(), &first.into());
        Self { cipher, buffer: [0; BUFFER], used: BUFFER }
    }
}

impl SeedableRng for AesCtrRng {
    type Seed = RngSeed;

    fn from_seed(mut seed: RngSeed) -> Self {
        let generator = Self::at_moment(&seed, 0);
        seed.zeroize();
        generator
    }
}

impl TryRng for AesCtrRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        let buffered = destination.len().min(BUFFER - self.used);
        let (first, rest) = destination.split_at_mut(buffered);
        first.copy_from_slice(&self.buffer[self.used..][..buffered]);
        self.used += buffered;
        // Large requests bypass the buffer, in whole AES blocks.
        let whole = rest.len() / 16 * 16;
        let (blocks, tail) = rest.split_at_mut(whole);
        blocks.fill(0);
        self.cipher.apply_keystream(blocks);
        if !tail.is_empty() {
            self.buffer.fill(0);
            self.cipher.apply_keystream(&mut self.buffer);
            tail.copy_from_slice(&self.buffer[..tail.len()]);
            self.used = tail.len();
        }
        Ok(())
    }
}

impl TryCryptoRng for AesCtrRng {}

/// AES blocks that are encrypted at a time: as many as vector instructions take, and more.
const AT_ONCE: usize = 16;
/// Words of an AES block.
const WORDS: usize = 2;

/// The key stream of an [`AesCtrRng`] at any place. No `Debug`, no `Clone`; wiped on drop.
pub struct KeyStream {
    // The `zeroize` feature of `aes` wipes the key schedule.
    cipher: Aes256,
}

impl KeyStream {
    /// The stream of the generator with this seed.
    pub fn new(seed: &RngSeed) -> Self {
        Self { cipher: Aes256::new(seed.into()) }
    }

    /// Changes words by those of the stream from AES block `first` on, by exclusive or. Cost: a
    /// nanosecond or two a block where the processor knows AES.
    pub fn apply(&self, first: u64, words: &mut [u64]) {
        let mut stream = Zeroizing::new([0u8; 16 * AT_ONCE]);
        for (group, words) in words.chunks_mut(WORDS * AT_ONCE).enumerate() {
            let mut blocks = [Block::default(); AT_ONCE];
            let used = &mut blocks[..words.len().div_ceil(WORDS)];
            for (at, block) in (first + (group * AT_ONCE) as u64..).zip(used.iter_mut()) {
                block[..8].copy_from_slice(&at.to_le_bytes());
            }
            self.cipher.encrypt_blocks(used);
            for (bytes, block) in stream.chunks_exact_mut(16).zip(used.iter_mut()) {
                bytes.copy_from_slice(block);
                block.zeroize();
            }
            for (word, bytes) in words.iter_mut().zip(stream.as_chunks().0) {
                *word ^= u64::from_le_bytes(*bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;

    #[test]
    fn output_is_the_key_stream_whatever_the_request_sizes() {
        let seed: RngSeed = std::array::from_fn(|i| i as u8);
        let aes = Aes256::new(&seed.into());
        let mut expected = Vec::new();
        for counter in 0u64..512 {
            let mut block = [0u8; 16];
            block[..8].copy_from_slice(&counter.to_le_bytes());
            let mut block = block.into();
            aes.encrypt_block(&mut block);
            expected.extend_from_slice(&block);
        }
        for sizes in [vec![8192], vec![4, 8, 1, 3, 2048, 17, 1024, 5000], vec![1; 3000]] {
            let mut rng = AesCtrRng::from_seed(seed);
            let mut at = 0;
            for size in sizes {
                let mut bytes = vec![0xAA; size];
                rng.fill_bytes(&mut bytes);
                assert_eq!(bytes, expected[at..at + size]);
                at += size;
                if at + 5000 > expected.len() {
                    break;
                }
            }
        }
    }

    #[test]
    fn key_streams_begin_at_any_block() {
        let seed: RngSeed = std::array::from_fn(|i| 7 * i as u8);
        let mut rng = AesCtrRng::from_seed(seed);
        let stream: Vec<u64> = (0..400).map(|_| rng.next_u64()).collect();
        for (first, count) in [(0, 400), (0, 1), (1, 5), (3, 32), (7, 33), (100, 200)] {
            let mut words = vec![u64::MAX; count];
            KeyStream::new(&seed).apply(first as u64, &mut words);
            let expected = stream[WORDS * first..][..count].iter().map(|word| !word);
            assert!(words.into_iter().eq(expected), "{count} words from block {first}");
        }
    }
}
