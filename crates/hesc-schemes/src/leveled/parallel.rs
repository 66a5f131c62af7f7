//! Loops over limbs, on both cores where there is enough to do.

use rayon::prelude::*;

use crate::scheme::several_threads;

/// Words below which a second thread costs more than it brings.
const PARALLEL_WORDS: usize = 1 << 14;

/// Whether this many words are worth a second thread.
pub(super) fn worth_threads(words: usize) -> bool {
    words >= PARALLEL_WORDS && several_threads()
}

/// Calls `body(scratch, index, chunk)` for each chunk of `size` words; `scratch` words of a thread's
/// own.
pub(super) fn for_each_chunk(
    words: &mut [u64],
    size: usize,
    scratch: usize,
    body: impl Fn(&mut [u64], usize, &mut [u64]) + Send + Sync,
) {
    if worth_threads(words.len()) {
        words.par_chunks_exact_mut(size).enumerate().for_each_init(
            || vec![0; scratch],
            |scratch, (index, chunk)| body(scratch, index, chunk),
        );
    } else {
        let mut scratch = vec![0; scratch];
        for (index, chunk) in words.chunks_exact_mut(size).enumerate() {
            body(&mut scratch, index, chunk);
        }
    }
}
