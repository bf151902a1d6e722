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
}

/// Held by a fit while it runs.
#[derive(Debug, Default)]
pub struct Ticket {
    cancelled: AtomicBool,
    progress: Mutex<Progress>,
}

impl Ticket {
    /// Says how far the fit is: `done` of `total` steps of a stage, 0 when the end is not known.
    pub fn report(&self, stage: &str, done: u64, total: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.stage != stage {
            stage.clone_into(&mut progress.stage);
        }
        (progress.done, progress.total) = (done, total);
    }

    /// Whether the fit should stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
