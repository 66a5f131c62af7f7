use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::GateError;

/// How far an evaluation is, and whether it is to stop.
#[derive(Debug, Default)]
pub struct Monitor {
    done: AtomicUsize,
    total: AtomicUsize,
    cancelled: AtomicBool,
}

impl Monitor {
    /// Bootstraps, or sums of products, done, and all that there will be.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Ends the evaluation with [`GateError::Cancelled`], within one bootstrap or product. Inputs stay as they are.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Nothing of so many is done.
    pub(crate) fn start(&self, total: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Refuses to go on after a [`Self::cancel`].
    pub(crate) fn check(&self) -> Result<(), GateError> {
        if self.cancelled.load(Ordering::Relaxed) { Err(GateError::Cancelled) } else { Ok(()) }
    }

    /// One more is done.
    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}
