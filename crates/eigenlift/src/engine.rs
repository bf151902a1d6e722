//! The threads and the memory that work runs with. What is computed of rows is asked of [`crate::rows::Rows`].

mod cpu;
mod memory;

pub use cpu::Cpu;

use crate::error::{Error, Result};
use crate::memory::guard;
use std::fmt::Debug;

/// Threads, and what memory they may have.
pub trait Engine: Debug + Send + Sync {
    /// A short name for plans and accounts.
    fn name(&self) -> String;

    /// Threads that work at once.
    fn threads(&self) -> usize;

    /// Bytes that can be had now, or `None` when that is not known.
    fn memory_available(&self) -> Option<u64>;

    /// Runs `work` with this engine's threads.
    fn run(&self, work: &mut (dyn FnMut() + Send));
}

impl dyn Engine + '_ {
    /// The result of `work`, done with this engine's threads; memory that the system refuses is an error.
    ///
    /// # Errors
    /// [`Error::Memory`], or that of the work.
    pub fn complete<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let (mut work, mut result) = (Some(work), Err(Error::Cancelled));
        self.run(&mut || {
            if let Some(work) = work.take() {
                result = guard(work);
            }
        });
        result
    }
}
