//! Watching long work and stopping it.

use crate::error::{Error, Result};
use crate::memory::shortage;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Told how far a stage of the work has come.
pub trait Observer: Send + Sync {
    /// `done` of `total` steps of `stage` are finished; `total` is 0 when the end is not known in advance.
    fn progress(&self, stage: &str, done: u64, total: u64);
}

/// A switch that stops long work at its next step. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks the work to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether stopping was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What long work reports to and obeys: an optional observer and a cancel token.
#[derive(Clone, Default)]
pub struct Watch {
    observer: Option<Arc<dyn Observer>>,
    cancel: CancelToken,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("observed", &self.observer.is_some()).finish()
    }
}

impl Watch {
    /// Reports to `observer`.
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Obeys `cancel`.
    pub fn cancelled_by(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Obeys the same switch but reports nothing: for parts of work whose progress is reported as a whole.
    pub fn silent(&self) -> Self {
        Self { observer: None, cancel: self.cancel.clone() }
    }

    /// Reports progress, then fails as [`Watch::check`].
    pub fn step(&self, stage: &str, done: usize, total: usize) -> Result<()> {
        if let Some(observer) = &self.observer {
            observer.progress(stage, done as u64, total as u64);
        }
        self.check()
    }

    /// Fails with [`Error::Cancelled`] if stopping was asked for, and with [`Error::Memory`] while memory is short.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { shortage::check() }
    }
}
