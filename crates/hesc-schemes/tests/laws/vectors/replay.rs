//! A generator that can give the same bytes again but for one request.

use std::convert::Infallible;

use hesc_math::AesCtrRng;
use rand_core::{Rng, TryCryptoRng, TryRng};

use super::party::generator;

/// Answers requests in order, each from a generator of its own: what one request is given depends on its
/// number alone. One request may be given other bytes.
pub struct Replay {
    seed: u64,
    changed: Option<u64>,
    /// Requests so far.
    pub requests: u64,
}

impl Replay {
    pub fn new(seed: u64, changed: Option<u64>) -> Self {
        Self { seed, changed, requests: 0 }
    }

    fn next(&mut self) -> AesCtrRng {
        let other = u64::from(self.changed == Some(self.requests));
        let rng = generator((self.seed << 40) | (self.requests << 1) | other);
        self.requests += 1;
        rng
    }
}

impl TryRng for Replay {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next().next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next().next_u64())
    }

    fn try_fill_bytes(&mut self, destination: &mut [u8]) -> Result<(), Infallible> {
        self.next().fill_bytes(destination);
        Ok(())
    }
}

impl TryCryptoRng for Replay {}
