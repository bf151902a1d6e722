//! What a running fit and the page share: how far it is, and whether it should stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a fit has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) stage: String,
    pub(crate) done: u64,
    /// 0 when the end is not known.
    pub(crate) total: u64,
    /// How often the stage began anew after it was nearly done: a method may go over its data many times.
    pub(crate) again: u64,
}

/// Held by a fit while it runs.
#[derive(Default)]
pub struct Ticket {
    cancelled: AtomicBool,
    on_cancel: Mutex<Option<Box<dyn Fn() + Send>>>,
    progress: Mutex<Progress>,
}

impl Ticket {
    /// Says how far the fit is: `done` of `total` steps of a stage, 0 when the end is not known.
    pub fn report(&self, stage: &str, done: u64, total: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.stage != stage {
            stage.clone_into(&mut progress.stage);
            progress.again = 0;
        // Why not any smaller number: threads that share a pass may tell of it in another order.
        } else if 10 * progress.done >= 9 * progress.total && 2 * done < total {
            progress.again += 1;
        }
        (progress.done, progress.total) = (done, total);
    }

    /// Whether the fit should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// What is to be done as soon as the fit should stop.
    pub fn on_cancel(&self, stop: impl Fn() + Send + 'static) {
        *self.on_cancel.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(stop));
        if self.is_cancelled() {
            self.cancel();
        }
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        if let Some(stop) = &*self.on_cancel.lock().unwrap_or_else(PoisonError::into_inner) {
            stop();
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("cancelled", &self.is_cancelled())
            .field("progress", &self.progress())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_over_the_same_data_are_counted() {
        let ticket = Ticket::default();
        let mut counted = Vec::new();
        for (stage, done) in
            [("a", 1), ("a", 3), ("a", 2), ("a", 9), ("a", 10), ("a", 1), ("a", 10), ("a", 2), ("b", 1)]
        {
            ticket.report(stage, done, 10);
            counted.push(ticket.progress().again);
        }
        assert_eq!(counted, [0, 0, 0, 0, 0, 1, 1, 2, 0]);
        for _ in 0..3 {
            ticket.report("b", 0, 0);
        }
        assert_eq!(ticket.progress().again, 0);
    }
}
