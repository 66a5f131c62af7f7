//! Generators that the operating system seeds, for who has one: nothing else in this crate asks for randomness or a clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use zeroize::Zeroizing;

use crate::{AesCtrRng, MathError, RngSeed};

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

#[cfg(test)]
mod tests {
    use rand_core::{Rng as _, SeedableRng as _};

    use super::*;

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
