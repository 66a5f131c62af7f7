//! Long calls end when Python has a signal.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;

use crate::workers::Compute;

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
