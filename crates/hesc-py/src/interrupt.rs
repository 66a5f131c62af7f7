//! Long calls end when Python has a signal, and some tell how far they are.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use hesc_circuits::gates::{GateError, Monitor};
use pyo3::prelude::*;

use crate::errors::gate_to_py;
use crate::workers::{Compute, Workers};

/// How often a long evaluation looks for an interrupt and tells how far it is.
const PULSE: Duration = Duration::from_millis(100);

/// Does work without Python's lock. Python's signals are looked for meanwhile, on the main thread, and the
/// exception of one (as an interrupt's) ends the work and is raised; operands stay as they were. A forked
/// process works on other threads than its main one and looks at the end.
pub fn interruptible<R: Send, E: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<R, E> + Send,
    to_py: fn(E) -> PyErr,
) -> PyResult<R> {
    let found = py.compute(|| {
        let raised = Rc::new(RefCell::new(None));
        let seen = Rc::clone(&raised);
        let stop = move || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *seen.borrow_mut() = Some(error);
                true
            }
        };
        let found = hesc_schemes::interruptible(stop, work);
        match raised.take() {
            Some(error) => Err(error),
            None => Ok(found),
        }
    });
    found?.map_err(to_py)
}

/// Runs work of many bootstraps or products on another thread. Meanwhile this one calls `progress(done, total)` and
/// looks for an interrupt; either's exception ends the work. Where the system gives no thread, this one works, and does
/// both at the end.
pub fn watched<R: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    monitor: &Monitor,
    work: impl FnOnce() -> Result<R, GateError> + Send,
) -> PyResult<R> {
    let report = |py: Python<'_>| -> PyResult<()> {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(py, monitor.progress()).map(drop),
            None => Ok(()),
        }
    };
    let workers = Workers::of_process(py);
    // Signals come to the thread that called.
    #[expect(clippy::disallowed_methods, reason = "the work itself runs on the workers")]
    let found = py.detach(|| {
        // Not in the thread's closure, which is lost where there is no thread.
        let waiting = Mutex::new(Some(work));
        let run = &|| {
            let work = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            workers.run(work.expect("it runs once"))
        };
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let started = thread::Builder::new().spawn_scoped(scope, move || sender.send(run()));
            let Ok(worker) = started else {
                return run().map_err(gate_to_py);
            };
            loop {
                match receiver.recv_timeout(PULSE) {
                    Ok(found) => return found.map_err(gate_to_py),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(report) {
                            monitor.cancel();
                            return Err(error);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        // It panicked; so does this thread, with its message.
                        match worker.join() {
                            Err(panic) => std::panic::resume_unwind(panic),
                            Ok(_) => unreachable!("a worker that ends without a panic has sent"),
                        }
                    }
                }
            }
        })
    })?;
    report(py)?;
    Ok(found)
}
