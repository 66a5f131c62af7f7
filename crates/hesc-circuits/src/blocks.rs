use rayon::prelude::*;

/// Runs work for each block, on all cores where there are several of them.
pub(crate) fn each_block<T: Send, S, E: Send>(
    blocks: Vec<T>,
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), E> + Send + Sync,
) -> Result<Vec<T>, E> {
    let mut blocks = blocks;
    if let [only] = blocks.as_mut_slice() {
        work(&mut start(), only)?;
    } else {
        blocks.par_iter_mut().try_for_each_init(&start, |state, block| work(state, block))?;
    }
    Ok(blocks)
}
