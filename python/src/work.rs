//! Long work: without the GIL, with an ear for Ctrl-C, and with word of how far it has come.

use crate::errors::to_python;
use crate::pools;
use eigenlift::engine::Engine;
use eigenlift::error::{Error, Result};
use eigenlift::progress::{CancelToken, Observer, Watch};
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the calling thread looks for Ctrl-C and reports.
const LOOK_EVERY: Duration = Duration::from_millis(50);

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
/// What a signal handler or the callback raises ends the work at its next step and is raised here.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Arc<dyn Engine>, &Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let engine = pools::engine(py, threads)?;
    let cancel = CancelToken::default();
    let latest = Arc::new(Latest::default());
    let mut watch = Watch::default().cancelled_by(cancel.clone());
    if progress.is_some() {
        watch = watch.observed_by(latest.clone());
    }
    let mut raised = None;
    let result = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, wait) = channel();
            let (engine, watch) = (&engine, &watch);
            let worker = scope.spawn(move || {
                let (mut work, mut result) = (Some(work), Err(Error::Cancelled));
                engine.run(&mut || {
                    if let Some(work) = work.take() {
                        result = work(engine, watch);
                    }
                });
                // Nobody waits only when the waiting thread panicked.
                let _ = done.send(());
                result
            });
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(LOOK_EVERY) {
                if raised.is_none() {
                    raised = Python::attach(|py| look(py, progress.as_ref(), &latest)).err();
                }
                if raised.is_some() {
                    cancel.cancel();
                }
            }
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(to_python),
    }
}

fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, latest: &Latest) -> PyResult<()> {
    py.check_signals()?;
    if let (Some(progress), Some(step)) = (progress, latest.take()) {
        progress.call1(py, step)?;
    }
    Ok(())
}
