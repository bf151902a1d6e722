//! The processor. The only file that starts threads.

use super::Engine;
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Runs on this machine's processor with a pool of threads of its own.
#[derive(Debug)]
pub struct Cpu {
    threads: usize,
    pool: OnceLock<rayon::ThreadPool>,
}

impl Cpu {
    /// `threads` threads; 0 means one for each processor.
    ///
    /// # Errors
    /// When the system refuses to start threads.
    pub fn new(threads: usize) -> Result<Self> {
        let pool = build(threads).map_err(|error| Error::Io {
            path: match threads {
                0 => "one thread for each processor".into(),
                1 => "1 thread".into(),
                _ => format!("{threads} threads").into(),
            },
            doing: "starting them",
            source: std::io::Error::other(format!(
                "{error}; the system must allow that many. Use fewer threads, or raise the limit of processes (ulimit -u)"
            )),
        })?;
        Ok(Self { threads, pool: OnceLock::from(pool) })
    }

    /// One thread for each processor, started when the first work comes: for models that were loaded and may never run here.
    pub(crate) fn at_first_use() -> Self {
        Self { threads: 0, pool: OnceLock::new() }
    }

    /// The pool; `None` when the system refuses to start threads.
    fn pool(&self) -> Option<&rayon::ThreadPool> {
        if self.pool.get().is_none() {
            let pool = build(self.threads).ok()?;
            // Another thread may have been faster; its pool is as good.
            let _ = self.pool.set(pool);
        }
        self.pool.get()
    }
}

fn build(threads: usize) -> std::result::Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn threads(&self) -> usize {
        self.pool().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    fn memory_available(&self) -> Option<u64> {
        super::memory::available()
    }

    fn run(&self, work: &mut (dyn FnMut() + Send)) {
        match self.pool() {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
