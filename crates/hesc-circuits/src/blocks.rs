use hesc_schemes::several_threads;
use rayon::prelude::*;

/// Coefficients of all blocks below which a second thread costs more than it brings: to hand work over takes as
/// long as several blocks of a small ring.
const PARALLEL_WORDS: usize = 1 << 14;

/// Runs work for each block of so many coefficients, on all cores where there are several of them and enough to do.
pub(crate) fn each_block<T: Send, S, E: Send>(
    words: usize,
    mut blocks: Vec<T>,
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), E> + Send + Sync,
) -> Result<Vec<T>, E> {
    map_blocks(words, &mut blocks, start, work)?;
    Ok(blocks)
}

/// [`each_block`] for work that gives something.
pub(crate) fn map_blocks<T: Send, U: Send, S, E: Send>(
    words: usize,
    blocks: &mut [T],
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<U, E> + Send + Sync,
) -> Result<Vec<U>, E> {
    if blocks.len() > 1 && blocks.len() * words >= PARALLEL_WORDS && several_threads() {
        return blocks.par_iter_mut().map_init(&start, |state, block| work(state, block)).collect();
    }
    let mut state = start();
    blocks.iter_mut().map(|block| work(&mut state, block)).collect()
}
