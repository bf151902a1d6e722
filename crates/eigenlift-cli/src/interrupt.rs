//! Ctrl-C and termination: stop, leave no half file, end with 130.

use crate::exit::{Failure, INTERRUPTED, STOPPED};
use crate::progress;
use eigenlift::error::Error;
use eigenlift::progress::{CancelToken, Watch};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long watched work may take to notice that it should stop.
const GRACE: Duration = Duration::from_secs(2);

/// What lives as long as the command: the switch that stops it.
#[derive(Debug)]
pub(crate) struct Session {
    cancel: CancelToken,
    /// Whether the work that runs now looks at the switch.
    watched: Arc<AtomicBool>,
}

impl Session {
    /// Starts to listen for signals.
    pub(crate) fn start() -> Result<Self, Failure> {
        let session = Self { cancel: CancelToken::default(), watched: Arc::default() };
        let (cancel, watched) = (session.cancel.clone(), session.watched.clone());
        ctrlc::set_handler(move || {
            if cancel.is_cancelled() || !watched.load(Ordering::SeqCst) {
                stop_now();
            }
            cancel.cancel();
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                stop_now();
            });
        })
        .map_err(|error| Failure::Machine(format!("cannot listen for Ctrl-C ({error}); try again.")))?;
        Ok(session)
    }

    /// Runs work that looks at the switch and may show a progress bar.
    pub(crate) fn watched<T>(
        &self,
        quiet: bool,
        work: impl FnOnce(&Watch) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let bar = progress::Bar::new(quiet);
        let watch = Watch::default().cancelled_by(self.cancel.clone()).observed_by(bar.clone());
        self.watched.store(true, Ordering::SeqCst);
        let result = work(&watch);
        bar.finish();
        self.watched.store(false, Ordering::SeqCst);
        if self.cancel.is_cancelled() { Err(Error::Cancelled.into()) } else { result }
    }
}

/// Ends at once without half files.
fn stop_now() -> ! {
    eigenlift_io::remove_unfinished();
    let _ = writeln!(std::io::stderr(), "error: {STOPPED}");
    std::process::exit(i32::from(INTERRUPTED))
}
