//! Fits that run and fits that are done.

use crate::{Done, FitRequest, Problem, Ticket, Workbench};
use serde_json::{Value, json};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Fits of a pane that ended well and are kept; older ones are forgotten.
const KEPT: usize = 2;
/// Fits of a pane that did not, which are kept to be asked how they ended.
const KEPT_FAILED: usize = 8;

enum State<F> {
    Running,
    Done(Done<F>),
    Failed(Problem),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Well,
    Badly,
}

/// A fit, running or done.
pub(crate) struct Job<F> {
    number: u64,
    pane: String,
    ticket: Arc<Ticket>,
    started: Instant,
    state: Mutex<State<F>>,
    ended: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<F> Job<F> {
    /// How it stands, after waiting for its end for at most so long.
    pub(crate) fn wait(&self, patience: Duration) -> Value {
        let state = locked(&self.state);
        let waited = self.ended.wait_timeout_while(state, patience, |s| matches!(s, State::Running));
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Running => {
                let progress = self.ticket.progress();
                json!({
                    "job": self.number,
                    "state": "running",
                    "stage": progress.stage,
                    "done": progress.done,
                    "total": progress.total,
                    "seconds": self.started.elapsed().as_secs_f64(),
                })
            }
            State::Done(done) => json!({"job": self.number, "state": "done", "result": done.shown}),
            State::Failed(Problem::Cancelled) => json!({"job": self.number, "state": "cancelled"}),
            State::Failed(problem) => {
                json!({"job": self.number, "state": "failed", "error": problem.to_string()})
            }
        }
    }

    /// Asks it to stop.
    pub(crate) fn cancel(&self) {
        self.ticket.cancel();
    }

    /// What is kept of it, once it is done.
    pub(crate) fn fit(&self) -> Result<Arc<F>, Problem> {
        match &*locked(&self.state) {
            State::Done(done) => Ok(Arc::clone(&done.fit)),
            _ => Err(Problem::Missing("this fit is not finished; wait for it, or fit again.".into())),
        }
    }

    fn ending(&self) -> Option<Ending> {
        match *locked(&self.state) {
            State::Running => None,
            State::Done(_) => Some(Ending::Well),
            State::Failed(_) => Some(Ending::Badly),
        }
    }

    fn end(&self, state: State<F>) {
        *locked(&self.state) = state;
        self.ended.notify_all();
    }
}

/// All fits of a server.
pub(crate) struct Jobs<F> {
    all: Mutex<(u64, Vec<Arc<Job<F>>>)>,
}

impl<F> Default for Jobs<F> {
    fn default() -> Self {
        Self { all: Mutex::new((0, Vec::new())) }
    }
}

impl<F: Send + Sync + 'static> Jobs<F> {
    /// Starts a fit where it does not hold up requests; one of the same pane that still runs is asked to stop.
    pub(crate) fn start<W: Workbench<Fit = F>>(&self, workbench: Arc<W>, request: FitRequest) -> Arc<Job<F>> {
        let job = self.add(&request.pane);
        let worker = Arc::clone(&job);
        let run = move || {
            let fit = || workbench.fit(worker.number, &request, &worker.ticket);
            // A mistake in the program must not leave the page waiting.
            let outcome = panic::catch_unwind(AssertUnwindSafe(fit)).unwrap_or_else(|_| {
                Err(Problem::Machine("the fit ended in an internal error; please report it.".into()))
            });
            worker.end(match outcome {
                _ if worker.ticket.is_cancelled() => State::Failed(Problem::Cancelled),
                Ok(done) => State::Done(done),
                Err(problem) => State::Failed(problem),
            });
        };
        tokio::task::spawn_blocking(run);
        job
    }

    fn add(&self, pane: &str) -> Arc<Job<F>> {
        let mut all = locked(&self.all);
        all.0 += 1;
        let job = Arc::new(Job {
            number: all.0,
            pane: pane.to_owned(),
            ticket: Arc::default(),
            started: Instant::now(),
            state: Mutex::new(State::Running),
            ended: Condvar::new(),
        });
        all.1.iter().filter(|other| other.pane == pane).for_each(|other| other.cancel());
        all.1.push(Arc::clone(&job));
        for (ending, kept) in [(Ending::Well, KEPT), (Ending::Badly, KEPT_FAILED)] {
            let ended = |job: &Arc<Job<F>>| job.pane == pane && job.ending() == Some(ending);
            let mut spare = all.1.iter().filter(|job| ended(job)).count().saturating_sub(kept);
            all.1.retain(|job| {
                let forgotten = spare > 0 && ended(job);
                spare -= usize::from(forgotten);
                !forgotten
            });
        }
        job
    }

    /// The fit of a number.
    pub(crate) fn get(&self, number: u64) -> Result<Arc<Job<F>>, Problem> {
        let found = locked(&self.all).1.iter().find(|job| job.number == number).cloned();
        found.ok_or_else(|| Problem::Missing(format!("the fit {number} is not kept any more; fit again.")))
    }
}
