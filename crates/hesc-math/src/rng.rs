use aes::Aes256;
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
    /// A generator seeded by the operating system.
    ///
    /// # Errors
    /// [`MathError::NoEntropy`] if the system has none to give.
    pub fn from_os() -> Result<Self, MathError> {
        let mut seed = Zeroizing::new(RngSeed::default());
        getrandom::fill(seed.as_mut()).map_err(|_| MathError::NoEntropy)?;
        Ok(Self::from_seed(*seed))
    }
}

impl SeedableRng for AesCtrRng {
    type Seed = RngSeed;

    fn from_seed(mut seed: RngSeed) -> Self {
        let cipher = Ctr64LE::<Aes256>::new(&seed.into(), &[0; 16].into());
        seed.zeroize();
        Self { cipher, buffer: [0; BUFFER], used: BUFFER }
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

#[cfg(test)]
mod tests {
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
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
    fn generators_from_the_system_differ() {
        let (mut a, mut b) = (AesCtrRng::from_os().unwrap(), AesCtrRng::from_os().unwrap());
        assert_ne!(a.next_u64(), b.next_u64());
    }
}
