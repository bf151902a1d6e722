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
