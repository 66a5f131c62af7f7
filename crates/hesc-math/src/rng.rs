use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use ctr::Ctr64LE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use rand_core::{Infallible, SeedableRng, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::MathError;

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
    /// A generator seeded by the operating system, with a moment of its own in the half of the counter that does not
    /// count: copies of a machine in one state, whose systems give the same seed, have other streams unless their
    /// clocks agree to the nanosecond.
    ///
    /// # Errors
    /// [`MathError::NoEntropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, MathError> {
        Self::seeded(|seed| getrandom::fill(seed).is_ok())
    }

    /// What the system gives, at a moment of its own.
    fn seeded(system: impl FnOnce(&mut [u8]) -> bool) -> Result<Self, MathError> {
        let mut seed = Zeroizing::new(RngSeed::default());
        if !system(seed.as_mut()) {
            return Err(MathError::NoEntropy);
        }
        Ok(Self::at_moment(&seed, own_moment()))
    }

    /// Moment 0 is the generator with this seed; under one seed the streams of different moments have no block of AES
    /// in common.
    fn at_moment(seed: &RngSeed, moment: u64) -> Self {
        let mut first = [0; 16];
        first[8..].copy_from_slice(&moment.to_le_bytes());
        let cipher = Ctr64LE::<Aes256>::new(seed.into(), &first.into());
        Self { cipher, buffer: [0; BUFFER], used: BUFFER }
    }
}

/// Nanoseconds since 1970 by the system's clock, or one more than this process had before: never the same twice.
fn own_moment() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let next = |last: u64| now.max(last.wrapping_add(1));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    next(last.unwrap_or_default())
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

    /// What copies of a machine share is the seed. Streams that agreed in a word of 64 bits would be a false alarm of
    /// 10^-15.
    #[test]
    fn streams_of_other_moments_have_no_block_in_common() {
        let seed: RngSeed = std::array::from_fn(|i| 3 * i as u8);
        let words = |moment: u64| -> Vec<u64> {
            let mut rng = AesCtrRng::at_moment(&seed, moment);
            (0..64).map(|_| rng.next_u64()).collect()
        };
        let now = own_moment();
        let all = [0, 1, now, now + 1].map(words).concat();
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
        assert_eq!(words(now), words(now));
        let mut seeded = AesCtrRng::from_seed(seed);
        assert!(words(0).iter().all(|&word| word == seeded.next_u64()));
    }

    /// On threads, too, whatever the resolution of the clock; and it is a clock: beyond 2001.
    #[test]
    fn moments_never_come_twice() {
        let many = || (0..1000).map(|_| own_moment()).collect::<Vec<_>>();
        let all = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(many));
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 4000);
        assert!(all.iter().all(|&moment| moment > 1_000_000_000_000_000_000));
    }

    /// Systems in one state give the same seed.
    #[test]
    fn generators_of_equal_systems_differ() {
        let twin = |seed: &mut [u8]| {
            seed.fill(5);
            true
        };
        let mut generators = [(); 2].map(|()| AesCtrRng::seeded(twin).unwrap());
        let [a, b] = generators.each_mut().map(|rng| rng.next_u64());
        assert_ne!(a, b);
        assert!(matches!(AesCtrRng::seeded(|_| false), Err(MathError::NoEntropy)));
    }

    #[test]
    fn generators_from_the_system_differ() {
        let (mut a, mut b) = (AesCtrRng::from_os().unwrap(), AesCtrRng::from_os().unwrap());
        assert_ne!(a.next_u64(), b.next_u64());
    }
}
