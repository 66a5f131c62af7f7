use std::cell::Cell;

thread_local! {
    /// Whether work of this thread was shared with others since that was last asked.
    static SHARED: Cell<bool> = const { Cell::new(false) };
}

/// Whether there is more than one thread, so that work is shared among them, which [`take_shared`] then tells. Even a pool
/// of one costs a change of threads, as much as the work of several blocks.
#[must_use]
pub fn several_threads() -> bool {
    // WebAssembly has one, and what several threads would do is left out of what a page fetches.
    let several = !cfg!(target_family = "wasm") && rayon::current_num_threads() > 1;
    if several {
        note_shared();
    }
    several
}

/// Notes that work on secrets goes to other threads.
pub(crate) fn note_shared() {
    SHARED.set(true);
}

/// Whether work of this thread went to others since the last call. Copies of secrets lie on their stacks, which whoever
/// promises to leave none overwrites.
#[must_use]
pub fn take_shared() -> bool {
    SHARED.take()
}
