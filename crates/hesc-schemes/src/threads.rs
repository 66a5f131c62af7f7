/// Whether there is more than one thread. Even a pool of one costs a change of threads, as much as
/// the work of several blocks.
#[must_use]
pub fn several_threads() -> bool {
    rayon::current_num_threads() > 1
}
