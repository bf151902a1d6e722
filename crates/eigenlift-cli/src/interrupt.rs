//! Ctrl-C and termination: stop, leave no half file, end with 128 and the number of the signal.

use crate::exit::{self, Failure, INTERRUPTED, STOPPED};
use crate::progress;
use eigenlift::error::Error;
use eigenlift::progress::{CancelToken, Watch};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Calls `stop` with the exit status whenever a signal asks to end.
#[cfg(unix)]
fn listen(stop: impl Fn(u8) + Send + 'static) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    // Why: with a handler a file that grows past the limit of the system is a write that fails, not the end of the process.
    signal_hook::flag::register(SIGXFSZ, Arc::<AtomicBool>::default())?;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    // Why: `nohup` starts programs that are to outlive their terminal.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let listener = std::thread::Builder::new().name("signals".into());
    listener.spawn(move || {
        for signal in signals.forever() {
            stop(u8::try_from(128 + signal).unwrap_or(INTERRUPTED));
        }
    })?;
    Ok(())
}

/// Whether whoever started this process has it ignore a signal, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(not(unix))]
fn listen(stop: impl Fn(u8) + Send + 'static) -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(move || stop(INTERRUPTED))
}

/// How long watched work may take to notice that it should stop.
const GRACE: Duration = Duration::from_secs(2);

/// What is said when the command is stopped, where that is not that its work is unfinished.
static LAST_WORDS: Mutex<Option<&str>> = Mutex::new(None);

/// What lives as long as the command: the switch that stops it.
#[derive(Debug)]
pub(crate) struct Session {
    cancel: CancelToken,
    /// Whether the work that runs now looks at the switch.
    watched: Arc<AtomicBool>,
    /// The bar of the work that runs now.
    bar: Mutex<Option<Arc<progress::Bar>>>,
}

impl Session {
    /// Starts to listen for signals.
    pub(crate) fn start() -> Result<Self, Failure> {
        let session = Self { cancel: CancelToken::default(), watched: Arc::default(), bar: Mutex::default() };
        let (cancel, watched) = (session.cancel.clone(), session.watched.clone());
        listen(move |status| {
            exit::stop_with(status);
            if cancel.is_cancelled() || !watched.load(Ordering::SeqCst) {
                stop_now();
            }
            cancel.cancel();
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                stop_now();
            });
        })
        .map_err(|error| {
            Failure::Machine(format!(
                "cannot listen for Ctrl-C ({error}); the system must allow one more thread and two more open files. Raise the limit \
                 of processes (ulimit -u) or of open files (ulimit -n)."
            ))
        })?;
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
        self.show(Some(bar.clone()));
        self.watched.store(true, Ordering::SeqCst);
        let result = work(&watch);
        self.show(None);
        bar.finish();
        self.watched.store(false, Ordering::SeqCst);
        if self.cancel.is_cancelled() { Err(Error::Cancelled.into()) } else { result }
    }

    /// Prints while the bar is out of the way.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match bar {
            Some(bar) => bar.aside(print),
            None => print(),
        }
    }

    fn show(&self, bar: Option<Arc<progress::Bar>>) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    /// Says these words when the command is stopped: for one that has no other end.
    pub(crate) fn ends_with(&self, words: &'static str) {
        *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }
}

/// Removes outputs that are not complete.
pub(crate) fn remove_half_files() {
    eigenlift_io::remove_unfinished();
}

/// Ends at once without half files.
fn stop_now() -> ! {
    remove_half_files();
    let _ = match *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(words) => writeln!(std::io::stderr(), "{words}"),
        None => writeln!(std::io::stderr(), "error: {STOPPED}"),
    };
    std::process::exit(i32::from(exit::status_when_stopped()))
}
