//! Work without Python's lock, on threads that are there.
//!
//! rayon starts its threads once and for all in the process that first needs them. A forked child
//! has the pool's memory and none of its threads: whatever it hands over is never done. The child
//! therefore gets a pool of its own, at its first call. A system that gives fewer threads than there
//! are processors is worked with as it is; where it gives none, the calling thread does all of it.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{io, process, thread};

use hesc_schemes::take_shared;
use pyo3::Python;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

/// The process that loaded the module.
static HOME: OnceLock<u32> = OnceLock::new();
/// Whether rayon's own pool has all its threads, once that process has started it.
static AT_HOME: OnceLock<bool> = OnceLock::new();
/// The pool of a process that has not rayon's own, and whose it is. Locked only by who holds Python's lock, as a
/// process does that forks: no fork finds it locked.
static OWN: Mutex<Option<Own>> = Mutex::new(None);

#[derive(Clone)]
struct Own {
    process: u32,
    /// None where the system gave no thread.
    pool: Option<Arc<ThreadPool>>,
}

impl Own {
    /// Starts as many threads as the system gives. One that it does not give is for the pool one that is busy for
    /// ever: others do the work.
    fn start(process: u32) -> Self {
        let mut started = 0;
        let spawn = |thread: ThreadBuilder| -> io::Result<()> {
            started += usize::from(thread::Builder::new().spawn(|| thread.run()).is_ok());
            Ok(())
        };
        let built = ThreadPoolBuilder::new().spawn_handler(spawn).build();
        Self { process, pool: built.ok().filter(|_| started > 0).map(Arc::new) }
    }
}

thread_local! {
    /// A pool that this thread is all of.
    static ALONE: RefCell<Option<ThreadPool>> = const { RefCell::new(None) };
}

/// Remembers the process that loads the module.
pub fn remember_home() {
    HOME.get_or_init(process::id);
}

/// Starts rayon's own pool; whether it has all its threads.
fn start_at_home() -> bool {
    match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Of the system, or else that it is there already.
        Err(error) => error.source().is_none(),
    }
}

/// Threads that the current process has.
pub enum Workers {
    /// Those of rayon's own pool.
    AtHome,
    /// Those of a pool of this process.
    Own(Arc<ThreadPool>),
    /// The thread that calls.
    Alone,
}

impl Workers {
    /// Those of this process. Cost: a system call; a process starts threads at its first.
    pub fn of_process(_: Python<'_>) -> Self {
        let process = process::id();
        let is_home = HOME.get().is_none_or(|&home| home == process);
        if is_home && *AT_HOME.get_or_init(start_at_home) {
            return Self::AtHome;
        }
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match &*own {
            Some(found) if found.process == process => found.clone(),
            _ => {
                let found = Own::start(process);
                // The parent's is not dropped, which would wait for threads that are not here.
                std::mem::forget(own.replace(found.clone()));
                found
            }
        };
        found.pool.map_or(Self::Alone, Self::Own)
    }

    /// Runs work, whose parallel parts run on these threads. Where it ran, stacks are overwritten at the end: the
    /// thread's own, and if it was shared all threads' by themselves, which nobody waits for.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let (mut work, mut found) = (Some(work), None);
        self.run_once(&mut || found = work.take().map(below));
        found.expect("work was run")
    }

    /// [`Self::run`] of what leaves its result with its caller: the threads' machinery is compiled once, and not for
    /// each kind of work.
    fn run_once(&self, work: &mut (dyn FnMut() + Send)) {
        let mut work = || {
            work();
            wipe_stack();
            if take_shared() {
                rayon::spawn_broadcast(|_| wipe_stack());
            }
        };
        match self {
            Self::AtHome => work(),
            Self::Own(pool) => pool.install(work),
            Self::Alone => {
                ALONE.with_borrow_mut(|alone| {
                    if alone.is_none() {
                        let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
                        *alone = builder.build().ok();
                    }
                });
                work();
            }
        }
    }
}

/// Bytes of the stack that are overwritten: more than any work has in its frames.
const STACK: usize = 1 << 15;

/// Runs work in frames of its own, below its caller's, where they are overwritten.
#[inline(never)]
fn below<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Overwrites what calls before this one left on the stack: a value that moves leaves a copy where it was, keys and
/// the blocks of them that are hashed among the rest. What is dropped later lies in memory of its own, which is wiped
/// when it is freed. Cost: about a microsecond.
#[inline(never)]
fn wipe_stack() {
    black_box(&mut [0u8; STACK]);
    // Vector registers hold what was copied last, and the next function that is bound late puts them on the stack.
    // Copies of each size have registers of their own.
    let zeros = [0u8; LONGEST];
    let mut copied = [0u8; LONGEST];
    for size in (0..).map(|power| 16 << power).take_while(|&size| size <= LONGEST) {
        for size in [size, size + size / 2] {
            let size = size.min(LONGEST);
            black_box(&mut copied[..size]).copy_from_slice(&black_box(&zeros)[..size]);
        }
    }
    black_box(&copied);
}

/// Bytes of the longest copy that uses vector registers in a way of its own.
const LONGEST: usize = 1 << 12;

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
