//! Ending long work from outside: the loops that take long ask now and then whether to go on.
//!
//! The question is the calling thread's own, so that no operation has an argument for it; whoever has a
//! user at a keyboard asks it ([`interruptible`]). Results are given back whole or not at all.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::SchemeError;

/// How often the question is asked, at most.
const PULSE: Duration = Duration::from_millis(50);

struct Question {
    stop: Rc<dyn Fn() -> bool>,
    next: Instant,
}

thread_local! {
    static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// Puts the question back that was asked before, also after a panic.
struct Restore(Option<Question>);

impl Drop for Restore {
    fn drop(&mut self) {
        QUESTION.with(|question| *question.borrow_mut() = self.0.take());
    }
}

/// Does some work, which ends with [`SchemeError::Interrupted`] soon after `stop` says so. It is asked on this
/// thread, twenty times a second at most.
pub fn interruptible<R>(stop: impl Fn() -> bool + 'static, work: impl FnOnce() -> R) -> R {
    let question = Question { stop: Rc::new(stop), next: Instant::now() + PULSE };
    let before = QUESTION.with(|asked| asked.borrow_mut().replace(question));
    let _restore = Restore(before);
    work()
}

/// Asks whether to go on. Cost: a look at the clock.
///
/// # Errors
/// [`SchemeError::Interrupted`] if not.
pub fn checkpoint() -> Result<(), SchemeError> {
    let due = QUESTION.with(|question| {
        let mut question = question.borrow_mut();
        let asked = question.as_mut()?;
        let now = Instant::now();
        (now >= asked.next).then(|| {
            asked.next = now + PULSE;
            Rc::clone(&asked.stop)
        })
    });
    // The answer may do work of its own.
    match due {
        Some(stop) if stop() => Err(SchemeError::Interrupted),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn until_interrupted() -> Result<(), SchemeError> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            checkpoint()?;
        }
        Ok(())
    }

    #[test]
    fn work_ends_when_it_is_told_to_and_only_then() {
        assert!(checkpoint().is_ok());
        let asked = Rc::new(Cell::new(0));
        let count = Rc::clone(&asked);
        let stop = move || {
            count.set(count.get() + 1);
            count.get() > 2
        };
        assert_eq!(interruptible(stop, until_interrupted), Err(SchemeError::Interrupted));
        assert_eq!(asked.get(), 3);
        // Nobody asks any more.
        assert!(checkpoint().is_ok());
    }
}
