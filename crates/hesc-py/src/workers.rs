//! Work without Python's lock, on threads that are there.
//!
//! rayon starts its threads once and for all in the process that first needs them. A forked child
//! has the pool's memory and none of its threads: whatever it hands over is never done. The child
//! therefore gets a pool of its own, at its first call.

use std::hint::black_box;
use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::Python;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that loaded the module: rayon's own pool is there, or will be.
static HOME: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process and whose it is. Locked only by who holds Python's lock, as a
/// process does that forks: no fork finds it locked.
static FORKED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers the process that loads the module.
pub fn remember_home() {
    HOME.get_or_init(process::id);
}

/// Threads that the current process has.
pub struct Workers(Option<Arc<ThreadPool>>);

impl Workers {
    /// Those of this process. Cost: a system call; a forked process starts threads at its first.
    pub fn of_process(_: Python<'_>) -> Self {
        let process = process::id();
        if HOME.get().is_none_or(|&home| home == process) {
            return Self(None);
        }
        let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = match &*forked {
            Some((owner, pool)) if *owner == process => Arc::clone(pool),
            _ => {
                let pool = ThreadPoolBuilder::new().build();
                let pool = Arc::new(pool.expect("a process that computes may start threads"));
                // The parent's is not dropped, which would wait for threads that are not here.
                std::mem::forget(forked.replace((process, Arc::clone(&pool))));
                pool
            }
        };
        Self(Some(pool))
    }

    /// Runs work, whose parallel parts run on these threads. Where it ran, its stack is overwritten at the end.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let work = || {
            let found = below(work);
            wipe_stack();
            found
        };
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Bytes of the stack that are overwritten: more than any work has in its frames.
const STACK: usize = 1 << 17;

/// Runs work in frames of its own, below its caller's, where they are overwritten.
#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Overwrites what calls before this one left on the stack: a value that moves leaves a copy where it was, keys and
/// the blocks of them that are hashed among the rest. What is dropped later lies in memory of its own, which is wiped
/// when it is freed. Cost: some microseconds.
#[inline(never)]
fn wipe_stack() {
    black_box(&mut [0u8; STACK]);
}

/// What every call does that takes longer than a moment.
pub trait Compute {
    /// Runs work without Python's lock, on threads of this process.
    fn compute<T: Send>(self, work: impl FnOnce() -> T + Send) -> T;
}

impl Compute for Python<'_> {
    #[expect(clippy::disallowed_methods, reason = "this is what others use instead")]
    fn compute<T: Send>(self, work: impl FnOnce() -> T + Send) -> T {
        let workers = Workers::of_process(self);
        self.detach(|| workers.run(work))
    }
}
