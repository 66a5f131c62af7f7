//! Work without Python's lock, on threads that are there.
//!
//! rayon starts its threads once and for all in the process that first needs them. A forked child
//! has the pool's memory and none of its threads: whatever it hands over is never done. The child
//! therefore gets a pool of its own, at its first call. A system that gives fewer threads than there
//! are processors is worked with as it is; where it gives none, the calling thread does all of it.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{io, process, thread};

use pyo3::Python;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

/// The process that loaded the module: rayon's own pool is there, or will be.
static HOME: OnceLock<u32> = OnceLock::new();
/// Whether rayon's own pool has threads, once the process that loaded the module has started it.
static AT_HOME: OnceLock<bool> = OnceLock::new();
/// The pool of a forked process and whose it is. Locked only by who holds Python's lock, as a
/// process does that forks: no fork finds it locked.
static FORKED: Mutex<Option<Forked>> = Mutex::new(None);

#[derive(Clone)]
struct Forked {
    owner: u32,
    /// None where the system gave no thread.
    pool: Option<Arc<ThreadPool>>,
}

thread_local! {
    /// A pool that this thread is all of.
    static ALONE: RefCell<Option<ThreadPool>> = const { RefCell::new(None) };
}

/// Remembers the process that loads the module.
pub fn remember_home() {
    HOME.get_or_init(process::id);
}

/// Starts threads of a pool, as many as the system gives, and counts them. One that it does not give is for the pool
/// one that is busy for ever: others do the work.
fn starting(started: &mut usize) -> impl FnMut(ThreadBuilder) -> io::Result<()> {
    |thread| {
        *started += usize::from(thread::Builder::new().spawn(|| thread.run()).is_ok());
        Ok(())
    }
}

/// Starts rayon's own pool; whether it has threads.
fn start_at_home() -> bool {
    let mut started = 0;
    let built = ThreadPoolBuilder::new().spawn_handler(starting(&mut started)).build_global();
    // Of two that start it the first one's has threads, or none could be started then.
    built.is_err() || started > 0
}

/// A pool for a forked process.
fn start_forked(owner: u32) -> Forked {
    let mut started = 0;
    let built = ThreadPoolBuilder::new().spawn_handler(starting(&mut started)).build();
    let pool = built.ok().filter(|_| started > 0).map(Arc::new);
    Forked { owner, pool }
}

/// Threads that the current process has.
pub enum Workers {
    /// rayon's own.
    AtHome,
    /// Those of a forked process.
    Forked(Arc<ThreadPool>),
    /// The thread that calls.
    Alone,
}

impl Workers {
    /// Those of this process. Cost: a system call; a process starts threads at its first.
    pub fn of_process(_: Python<'_>) -> Self {
        let process = process::id();
        if HOME.get().is_none_or(|&home| home == process) {
            return if *AT_HOME.get_or_init(start_at_home) { Self::AtHome } else { Self::Alone };
        }
        let mut forked = FORKED.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match &*forked {
            Some(found) if found.owner == process => found.clone(),
            _ => {
                let found = start_forked(process);
                // The parent's is not dropped, which would wait for threads that are not here.
                std::mem::forget(forked.replace(found.clone()));
                found
            }
        };
        found.pool.map_or(Self::Alone, Self::Forked)
    }

    /// Runs work, whose parallel parts run on these threads.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self {
            Self::AtHome => work(),
            Self::Forked(pool) => pool.install(work),
            Self::Alone => {
                ALONE.with_borrow_mut(|alone| {
                    if alone.is_none() {
                        let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
                        *alone = builder.build().ok();
                    }
                });
                work()
            }
        }
    }
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
