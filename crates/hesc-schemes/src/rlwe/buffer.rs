//! The memory of ciphertexts.

use std::ops::{Deref, DerefMut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Buffers that wait for their next use. Clearing fresh memory costs as much as a pass of arithmetic,
/// on one thread. Nobody waits for the lock: a forked process may find it taken for ever, and who finds it
/// taken does without.
static POOL: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());
/// Buffers kept, and their words; further ones are freed.
const KEPT: usize = 128;
const MOST_WORDS: usize = 1 << 23;
/// What is kept beyond that while somebody holds a [`KeptBuffers`].
static MORE: AtomicUsize = AtomicUsize::new(0);
/// Words that a buffer has on average then, at least: so many of them are looked through.
const LEAST_WORDS: usize = 1 << 14;

/// As long as it lives, so many words more are kept instead of being freed: a computation on many ciphertexts has those
/// of its next step when it is done with those of the last.
#[derive(Debug)]
pub struct KeptBuffers(usize);

impl KeptBuffers {
    pub(crate) fn new(words: usize) -> Self {
        MORE.fetch_add(words, Ordering::Relaxed);
        Self(words)
    }
}

impl Drop for KeptBuffers {
    fn drop(&mut self) {
        MORE.fetch_sub(self.0, Ordering::Relaxed);
        if let Ok(mut pool) = POOL.try_lock() {
            trim(&mut pool);
        }
    }
}

/// Frees what is too much.
fn trim(pool: &mut Vec<Vec<u64>>) {
    let more = MORE.load(Ordering::Relaxed);
    while pool.len() > KEPT + more / LEAST_WORDS
        || pool.iter().map(Vec::len).sum::<usize>() > MOST_WORDS + more
    {
        // The smallest is the cheapest to make again.
        let smallest = (0..pool.len()).min_by_key(|&i| pool[i].len());
        smallest.map(|i| pool.swap_remove(i));
    }
}

/// Memory of ciphertexts and for work, from a pool and back to it; with anything in it at first.
/// Whoever puts secrets there wipes them.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    words: Vec<u64>,
    used: usize,
}

impl Buffer {
    /// A buffer of this many words.
    pub(crate) fn take(words: usize) -> Self {
        let found = POOL.try_lock().ok().and_then(|mut pool| {
            // The smallest that is large enough, but not much too large; a computation whose ciphertexts get smaller
            // uses larger ones again.
            let most = if MORE.load(Ordering::Relaxed) > 0 { 8 * words } else { words + words / 2 };
            let best = (0..pool.len())
                .filter(|&i| (words..=most).contains(&pool[i].len()))
                .min_by_key(|&i| pool[i].len())?;
            Some(pool.swap_remove(best))
        });
        Self { words: found.unwrap_or_else(|| vec![0; words]), used: words }
    }
}

impl From<&[u64]> for Buffer {
    fn from(words: &[u64]) -> Self {
        let mut buffer = Self::take(words.len());
        buffer.copy_from_slice(words);
        buffer
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.words.is_empty() {
            return;
        }
        let Ok(mut pool) = POOL.try_lock() else { return };
        pool.push(std::mem::take(&mut self.words));
        trim(&mut pool);
    }
}

impl Deref for Buffer {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.words[..self.used]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words[..self.used]
    }
}

impl AsRef<[u64]> for Buffer {
    fn as_ref(&self) -> &[u64] {
        self
    }
}

impl AsMut<[u64]> for Buffer {
    fn as_mut(&mut self) -> &mut [u64] {
        self
    }
}
