//! Loops over residue polynomials, on both cores where there is enough to do.

use rayon::prelude::*;

use super::buffer::Buffer;
use crate::threads::several_threads;

/// Words below which a second thread costs more than it brings.
const PARALLEL_WORDS: usize = 1 << 15;

/// Words below which one pass of arithmetic, which waits for memory, is not worth a second thread.
const PASS_WORDS: usize = 1 << 20;

/// Whether this many words are worth a second thread.
pub(crate) fn worth_threads(words: usize) -> bool {
    words >= PARALLEL_WORDS && several_threads()
}

/// Runs an operation of several loops on a thread of the pool: the caller waits once for all of them
/// and not once for each.
pub(crate) fn on_pool<R: Send>(words: usize, operation: impl FnOnce() -> R + Send) -> R {
    if worth_threads(words) { rayon::scope(|_| operation()) } else { operation() }
}

/// What is done with a chunk: scratch of the thread's own, the chunk's index and its words. Chunks are long, so that a
/// call costs nothing; compiled for each body, rayon's loops took longer than all arithmetic.
type Body<'a> = &'a (dyn Fn(&mut [u64], usize, &mut [u64]) + Sync);

/// Calls `body` for each chunk of `size` words, with a [`Buffer`] of `scratch` words of the thread's own.
pub(crate) fn for_each_chunk(words: &mut [u64], size: usize, scratch: usize, body: Body<'_>) {
    if worth_threads(words.len()) {
        words.par_chunks_exact_mut(size).enumerate().for_each_init(
            || Buffer::take(scratch),
            |scratch, (index, chunk)| body(scratch, index, chunk),
        );
    } else {
        one_by_one(words, size, scratch, body);
    }
}

/// [`for_each_chunk`] for a pass of arithmetic, which waits for memory: on both cores only where there is much of it.
pub(crate) fn for_each_pass(words: &mut [u64], size: usize, scratch: usize, body: Body<'_>) {
    if words.len() >= PASS_WORDS {
        for_each_chunk(words, size, scratch, body);
    } else {
        one_by_one(words, size, scratch, body);
    }
}

fn one_by_one(words: &mut [u64], size: usize, scratch: usize, body: Body<'_>) {
    let mut scratch = Buffer::take(scratch);
    for (index, chunk) in words.chunks_exact_mut(size).enumerate() {
        body(&mut scratch, index, chunk);
    }
}

/// Runs both.
pub(crate) fn both<A: Send, B: Send>(
    words: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if worth_threads(words) { rayon::join(a, b) } else { (a(), b()) }
}
