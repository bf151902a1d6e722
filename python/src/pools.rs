//! Threads: one pool for each number of threads and each process.

use crate::errors::to_python;
use eigenlift::engine::{Cpu, Engine};
use pyo3::{PyResult, Python};
use std::sync::{Arc, Mutex, PoisonError};

/// Pools of one process.
struct Pools {
    process: u32,
    pools: Vec<(usize, Arc<dyn Engine>)>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, pools: Vec::new() });

/// The engine with this many threads (0: one for each processor) in this process.
///
/// Why by process: a fork copies a pool without its threads, and work given to it would never be done. The copies are left as
/// they are, because taking them down would wait for those threads. Why the interpreter is asked for: a fork happens in a thread
/// that is attached to it, so no other thread can hold the lock at that moment.
pub(crate) fn engine(_: Python<'_>, threads: usize) -> PyResult<Arc<dyn Engine>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.process != process {
        std::mem::forget(std::mem::take(&mut pools.pools));
        pools.process = process;
    }
    if let Some((_, engine)) = pools.pools.iter().find(|(count, _)| *count == threads) {
        return Ok(engine.clone());
    }
    let engine: Arc<dyn Engine> = Arc::new(Cpu::new(threads).map_err(to_python)?);
    pools.pools.push((threads, engine.clone()));
    Ok(engine)
}

/// Leaves the pool of this many threads to work that does not end; the next call gets another.
pub(crate) fn give_up(_: Python<'_>, threads: usize) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = pools.pools.iter().position(|(count, _)| *count == threads) {
        // The work has a reference of its own.
        pools.pools.swap_remove(at);
    }
}
