//! Long work: without the GIL, with an ear for Ctrl-C, and with word of how far it has come.

use crate::errors::to_python;
use crate::heap;
use crate::pools;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::error::{Error, Result};
use eigenlift::memory;
use eigenlift::progress::{CancelToken, Observer, Watch};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

thread_local! {
    /// What the calling thread asks, besides Ctrl-C, whether work must end.
    static ASKED: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Has the work of this thread end when `check()` raises; `None` for no longer. Gives what was asked before.
#[pyfunction]
pub(crate) fn stop_when(check: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    ASKED.with(|asked| asked.replace(check))
}

/// How often the calling thread looks for Ctrl-C and reports.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long work may take to come to its next step after Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(400);

/// The last stage that was reported.
#[derive(Default)]
struct Latest(Mutex<Option<(String, u64, u64)>>);

impl Observer for Latest {
    fn progress(&self, stage: &str, done: u64, total: u64) {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *latest {
            Some((name, d, t)) if name == stage => (*d, *t) = (done.max(*d), total),
            other => *other = Some((stage.into(), done, total)),
        }
    }
}

impl Latest {
    fn take(&self) -> Option<(String, u64, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does `work` on the pool of that many threads while this thread, without the GIL, looks for Ctrl-C and reports progress.
///
/// What a signal handler or the callback raises ends the work at its next step and is raised here. Work that does not come to a
/// step in time, such as a direct eigensolver, is left to end by itself, with a pool that nobody else gets.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Engine>, &Watch) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    heap::reserve();
    let lease = pools::lease(py, threads)?;
    let (result, given_up) = run_on(py, lease.engine.clone(), progress, work);
    if given_up {
        pools::give_up(py, &lease);
    }
    result
}

/// As [`run`], with a pool of its own.
///
/// Why: the work calls back to Python, which may wait for other work of this process; that must not need the threads of this one.
pub(crate) fn apart<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Engine>, &Watch) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    heap::reserve();
    let engine: Arc<dyn Engine> = Arc::new(heap::start(threads, || Cpu::new(threads)).map_err(to_python)?);
    run_on(py, engine, progress, work).0
}

/// The result, and whether the work was left to end by itself.
fn run_on<T: Send + 'static>(
    py: Python<'_>,
    engine: Arc<dyn Engine>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Engine>, &Watch) -> Result<T> + Send + 'static,
) -> (PyResult<T>, bool) {
    let cancel = CancelToken::default();
    let latest = Arc::new(Latest::default());
    let mut watch = Watch::default().cancelled_by(cancel.clone());
    if progress.is_some() {
        watch = watch.observed_by(latest.clone());
    }
    let (done, wait) = channel();
    let worker = start(move || {
        let (mut work, mut result) = (Some(work), Err(Error::Cancelled));
        engine.run(&mut || {
            if let Some(work) = work.take() {
                result = memory::guard(|| work(&engine, &watch));
            }
        });
        // Nobody waits for work that was given up.
        let _ = done.send(result);
    });
    let worker = match worker {
        Ok(worker) => worker,
        Err(error) => return (Err(to_python(error)), false),
    };
    let mut raised: Option<(PyErr, Instant)> = None;
    let (reason, progress) = (&mut raised, progress.as_ref());
    let result = py.detach(move || {
        loop {
            match wait.recv_timeout(LOOK_EVERY) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some((_, since)) = &*reason {
                if since.elapsed() > PATIENCE {
                    return None;
                }
            } else if let Err(error) = Python::attach(|py| look(py, progress, &latest)) {
                cancel.cancel();
                *reason = Some((error, Instant::now()));
            }
        }
    });
    match (raised, result) {
        (Some((error, _)), result) => (Err(error), result.is_none()),
        (None, Some(result)) => (result.map_err(to_python), false),
        // Only a panic ends a worker without a result.
        (None, None) => match worker.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => (Err(to_python(Error::Cancelled)), false),
        },
    }
}

/// A thread that does `work`.
fn start(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    // Why in a slot: a thread that does not start must not take the work with it.
    let slot = Arc::new(Mutex::new(Some(work)));
    heap::start(1, || {
        let slot = slot.clone();
        let thread = std::thread::Builder::new().name("eigenlift".into()).spawn(move || {
            let work = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(work) = work {
                work();
            }
        });
        thread.map_err(|source| Error::Io { path: "1 thread".into(), doing: "starting it", source })
    })
}

/// As [`run`], for short work in one thread. Why not at once: what the library does in parallel must run on a pool of this process.
pub(crate) fn brief<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    run(py, 1, None, |_, _| work())
}

fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, latest: &Latest) -> PyResult<()> {
    py.check_signals()?;
    if let Some(check) = ASKED.with(|asked| asked.borrow().as_ref().map(|check| check.clone_ref(py))) {
        check.call0(py)?;
    }
    if let (Some(progress), Some(step)) = (progress, latest.take()) {
        progress.call1(py, step)?;
    }
    Ok(())
}
