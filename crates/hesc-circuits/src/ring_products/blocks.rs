use rayon::prelude::*;

use super::error::RingProductError;

/// Runs work for each block, on all cores where there are several of them.
pub(super) fn each_block<T: Send, S>(
    blocks: Vec<T>,
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, &mut T) -> Result<(), RingProductError> + Send + Sync,
) -> Result<Vec<T>, RingProductError> {
    let mut blocks = blocks;
    if let [only] = blocks.as_mut_slice() {
        work(&mut start(), only)?;
    } else {
        blocks.par_iter_mut().try_for_each_init(&start, |state, block| work(state, block))?;
    }
    Ok(blocks)
}
