//! Where k(X, Y)·B runs. A new device implements [`Engine`]; nothing else changes.

mod cpu;
mod memory;

pub use cpu::Cpu;

use crate::data::{AnyPoints, AnySamples};
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::memory::guard;
use crate::operator::{GramOperator, LinearOperator};
use std::fmt::Debug;

/// A place where Gram matrices live and are multiplied.
pub trait Engine: Debug + Send + Sync {
    /// A short name for plans and accounts.
    fn name(&self) -> String;

    /// Threads that work at once.
    fn threads(&self) -> usize;

    /// Bytes that can be had now, or `None` when that is not known.
    fn memory_available(&self) -> Option<u64>;

    /// Runs `work` with this engine's threads.
    fn run(&self, work: &mut (dyn FnMut() + Send));

    /// The Gram matrix of samples with themselves.
    ///
    /// # Errors
    /// When the similarity does not fit the samples.
    fn gram(
        &self,
        similarity: &Similarity,
        x: &AnySamples,
        storage: Storage,
    ) -> Result<Box<dyn GramOperator>>;

    /// The matrix of similarities between new rows and samples.
    ///
    /// # Errors
    /// When the device refuses.
    fn cross<'a>(
        &self,
        kernel: &'a Kernel,
        x: AnyPoints<'a>,
        samples: &'a AnySamples,
    ) -> Result<Box<dyn LinearOperator + 'a>>;
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
