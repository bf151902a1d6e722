//! Threads: one pool for each number of threads and each process.

use crate::errors::to_python;
use crate::heap;
use eigenlift::engine::{Cpu, Engine};
use pyo3::{PyResult, Python};
use std::sync::{Arc, Mutex, PoisonError};

/// A pool, and how many calls work on it: as many as there are further references to `calls`.
struct Pool {
    threads: usize,
    engine: Arc<dyn Engine>,
    calls: Arc<()>,
}

/// Pools of one process.
struct Pools {
    process: u32,
    pools: Vec<Pool>,
}

static POOLS: Mutex<Pools> = Mutex::new(Pools { process: 0, pools: Vec::new() });

/// An engine for one call; the pool counts as in use while this lives.
pub(crate) struct Lease {
    pub(crate) engine: Arc<dyn Engine>,
    _call: Arc<()>,
}

/// The engine with this many threads (0: one for each processor) in this process.
///
/// Calls share a pool, except those with one thread: these each have their own, so that calls from several threads of Python run
/// side by side.
///
/// Why by process: a fork copies a pool without its threads, and work given to it would never be done. The copies are left as
/// they are, because taking them down would wait for those threads. Why the interpreter is asked for: a fork happens in a thread
/// that is attached to it, so no other thread can hold the lock at that moment.
pub(crate) fn lease(_: Python<'_>, threads: usize) -> PyResult<Lease> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if pools.process != process {
        std::mem::forget(std::mem::take(&mut pools.pools));
        pools.process = process;
    }
    let free =
        |pool: &&Pool| pool.threads == threads && (threads != 1 || Arc::strong_count(&pool.calls) == 1);
    if let Some(pool) = pools.pools.iter().find(free) {
        return Ok(Lease { engine: pool.engine.clone(), _call: pool.calls.clone() });
    }
    let engine: Arc<dyn Engine> = Arc::new(heap::start(threads, || Cpu::new(threads)).map_err(to_python)?);
    let calls = Arc::new(());
    pools.pools.push(Pool { threads, engine: engine.clone(), calls: calls.clone() });
    Ok(Lease { engine, _call: calls })
}

/// As [`lease`], for what goes on using the engine later.
pub(crate) fn engine(py: Python<'_>, threads: usize) -> PyResult<Arc<dyn Engine>> {
    lease(py, threads).map(|lease| lease.engine)
}

/// Leaves a pool to work that does not end; the next call gets another.
pub(crate) fn give_up(_: Python<'_>, lease: &Lease) {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    // The work has a reference of its own.
    pools.pools.retain(|pool| !Arc::ptr_eq(&pool.engine, &lease.engine));
}
