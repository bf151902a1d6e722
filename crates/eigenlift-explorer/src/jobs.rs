//! Fits that run and fits that are done.

use crate::{Done, FitRequest, Pane, Problem, Ticket, Workbench};
use serde_json::{Value, json};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Fits of a pane that ended well and are kept; older ones are forgotten.
const KEPT: usize = 2;
/// Fits of a pane that did not, which are kept to be asked how they ended.
const KEPT_FAILED: usize = 8;
/// Open pages whose fits are kept.
const WORKSPACES: usize = 8;
/// Bytes of the name of a workspace.
const MOST_NAME: usize = 64;

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
    pane: Pane,
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
                    "pass": progress.again + 1,
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

/// The fits of one open page.
struct Workspace<F> {
    name: String,
    /// When it was last asked about, as a count of questions.
    used: u64,
    jobs: Vec<Arc<Job<F>>>,
}

impl<F> Workspace<F> {
    fn is_idle(&self) -> bool {
        self.jobs.iter().all(|job| job.ending().is_some())
    }

    /// Forgets all but the newest fits of a pane.
    fn trim(&mut self, pane: Pane) {
        for (ending, kept) in [(Ending::Well, KEPT), (Ending::Badly, KEPT_FAILED)] {
            let ended = |job: &Arc<Job<F>>| job.pane == pane && job.ending() == Some(ending);
            let mut spare = self.jobs.iter().filter(|job| ended(job)).count().saturating_sub(kept);
            self.jobs.retain(|job| {
                let forgotten = spare > 0 && ended(job);
                spare -= usize::from(forgotten);
                !forgotten
            });
        }
    }
}

struct Shelf<F> {
    last: u64,
    questions: u64,
    workspaces: Vec<Workspace<F>>,
}

impl<F> Shelf<F> {
    /// The workspace of a name. A new one takes the place of the one that has been idle longest, where there are too many.
    fn workspace(&mut self, name: &str) -> Result<&mut Workspace<F>, Problem> {
        self.questions += 1;
        let used = self.questions;
        let at = match self.workspaces.iter().position(|own| own.name == name) {
            Some(at) => at,
            None => {
                self.make_room()?;
                self.workspaces.push(Workspace { name: name.to_owned(), used, jobs: Vec::new() });
                self.workspaces.len() - 1
            }
        };
        let found = &mut self.workspaces[at];
        found.used = used;
        Ok(found)
    }

    fn make_room(&mut self) -> Result<(), Problem> {
        if self.workspaces.len() < WORKSPACES {
            return Ok(());
        }
        let idle = self.workspaces.iter().enumerate().filter(|(_, own)| own.is_idle());
        let (at, _) = idle.min_by_key(|(_, own)| own.used).ok_or_else(|| {
            Problem::Request(format!(
                "{WORKSPACES} pages of this explorer are fitting at the same time, and no more are taken; cancel a fit in one of \
                 them, or close it."
            ))
        })?;
        self.workspaces.remove(at);
        Ok(())
    }
}

/// All fits of a server. Each open page has a workspace of its own, so that none disturbs another.
pub(crate) struct Jobs<F> {
    all: Mutex<Shelf<F>>,
}

impl<F> Default for Jobs<F> {
    fn default() -> Self {
        Self { all: Mutex::new(Shelf { last: 0, questions: 0, workspaces: Vec::new() }) }
    }
}

impl<F: Send + Sync + 'static> Jobs<F> {
    /// Starts a fit where it does not hold up requests; one of the same pane that still runs is asked to stop.
    pub(crate) fn start<W: Workbench<Fit = F>>(
        &self,
        workbench: Arc<W>,
        request: FitRequest,
    ) -> Result<Arc<Job<F>>, Problem> {
        let job = self.add(&request.workspace, request.pane)?;
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
        Ok(job)
    }

    fn add(&self, workspace: &str, pane: Pane) -> Result<Arc<Job<F>>, Problem> {
        if workspace.is_empty() || workspace.len() > MOST_NAME {
            return Err(Problem::Request(format!(
                "a workspace with a name of {} bytes; 1 to {MOST_NAME} are required.",
                workspace.len()
            )));
        }
        let mut all = locked(&self.all);
        let number = all.last + 1;
        let own = all.workspace(workspace)?;
        own.jobs.iter().filter(|other| other.pane == pane).for_each(|other| other.cancel());
        own.trim(pane);
        let job = Arc::new(Job {
            number,
            pane,
            ticket: Arc::default(),
            started: Instant::now(),
            state: Mutex::new(State::Running),
            ended: Condvar::new(),
        });
        own.jobs.push(Arc::clone(&job));
        all.last = number;
        Ok(job)
    }

    /// The fit of a number.
    pub(crate) fn get(&self, number: u64) -> Result<Arc<Job<F>>, Problem> {
        let mut all = locked(&self.all);
        all.questions += 1;
        let used = all.questions;
        for own in &mut all.workspaces {
            if let Some(job) = own.jobs.iter().find(|job| job.number == number) {
                own.used = used;
                return Ok(Arc::clone(job));
            }
        }
        Err(Problem::Missing(format!("the fit {number} is not kept any more; fit again.")))
    }

    /// Forgets a workspace, whose page was closed, and asks its fits to stop.
    pub(crate) fn leave(&self, workspace: &str) {
        locked(&self.all).workspaces.retain(|own| {
            let left = own.name == workspace;
            if left {
                own.jobs.iter().for_each(|job| job.cancel());
            }
            !left
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(jobs: &Jobs<u32>, workspace: &str, pane: Pane) -> u64 {
        let job = jobs.add(workspace, pane).unwrap();
        job.end(State::Done(Done { shown: json!({}), fit: Arc::new(0) }));
        job.number
    }

    fn kept(jobs: &Jobs<u32>) -> usize {
        locked(&jobs.all).workspaces.iter().map(|own| own.jobs.len()).sum()
    }

    #[test]
    fn a_fit_in_one_workspace_leaves_those_of_another_alone() {
        let jobs = Jobs::<u32>::default();
        let shown = done(&jobs, "one", Pane::A);
        let running = jobs.add("one", Pane::A).unwrap();
        for _ in 0..10 {
            done(&jobs, "other", Pane::A);
        }
        assert!(!running.ticket.is_cancelled());
        assert!(jobs.get(shown).is_ok());
        // The same pane of the same workspace is another matter, and the other pane is not.
        jobs.add("one", Pane::B).unwrap();
        assert!(!running.ticket.is_cancelled());
        jobs.add("one", Pane::A).unwrap();
        assert!(running.ticket.is_cancelled());
    }

    #[test]
    fn results_of_a_workspace_and_workspaces_are_bounded() {
        let jobs = Jobs::<u32>::default();
        for _ in 0..20 {
            done(&jobs, "one", Pane::A);
            done(&jobs, "one", Pane::B);
        }
        // Those that are kept and the newest.
        assert_eq!(kept(&jobs), 2 * (KEPT + 1));
        for i in 0..500 {
            done(&jobs, &format!("invented {i}"), Pane::A);
        }
        assert_eq!(kept(&jobs), WORKSPACES);
        for name in [String::new(), "x".repeat(MOST_NAME + 1)] {
            assert!(matches!(jobs.add(&name, Pane::A), Err(Problem::Request(_))), "{name}");
        }
    }

    #[test]
    fn the_workspace_that_was_idle_longest_makes_room_and_one_that_fits_never() {
        let jobs = Jobs::<u32>::default();
        let running = jobs.add("busy", Pane::A).unwrap();
        let numbers: Vec<u64> = (1..WORKSPACES).map(|i| done(&jobs, &i.to_string(), Pane::A)).collect();
        // Asking about the oldest makes the second the one that goes.
        jobs.get(numbers[0]).unwrap();
        done(&jobs, "new", Pane::A);
        assert!(jobs.get(running.number).is_ok() && jobs.get(numbers[0]).is_ok());
        let gone = jobs.get(numbers[1]).err().map(|problem| problem.to_string()).unwrap_or_default();
        assert!(gone.contains("not kept any more"), "{gone}");
        for i in 0..WORKSPACES - 1 {
            jobs.add(&format!("busy {i}"), Pane::A).unwrap();
        }
        assert!(jobs.add("one more", Pane::A).is_err());
        assert!(!running.ticket.is_cancelled());
    }

    #[test]
    fn a_page_that_is_closed_leaves_nothing_behind() {
        let jobs = Jobs::<u32>::default();
        let running = jobs.add("one", Pane::A).unwrap();
        let other = jobs.add("other", Pane::A).unwrap();
        jobs.leave("one");
        jobs.leave("nobody");
        assert!(running.ticket.is_cancelled() && jobs.get(running.number).is_err());
        assert!(!other.ticket.is_cancelled() && jobs.get(other.number).is_ok());
    }
}
