//! How a run ends: the message and the exit status.

use eigenlift::error::Error;
use eigenlift_io::{ErrorKind, TableError, printable};
use eigenlift_plot::PlotError;
use std::borrow::Cow;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) const FAILURE: u8 = 1;
const USAGE: u8 = 2;
const INPUT: u8 = 3;
const NOT_CONVERGED: u8 = 4;
/// After Ctrl-C; other signals have their own.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit status after the signal that came last.
static STATUS: AtomicU8 = AtomicU8::new(INTERRUPTED);

/// The exit status of work that was stopped: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
pub(crate) fn status_when_stopped() -> u8 {
    STATUS.load(Ordering::SeqCst)
}

/// Work that is stopped from now on ends with this.
pub(crate) fn stop_with(status: u8) {
    STATUS.store(status, Ordering::SeqCst);
}

/// What is said after Ctrl-C.
pub(crate) const STOPPED: &str =
    "interrupted; no file was left half-written. Run the command again to finish it.";

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// An input is missing or unusable.
    Input(String),
    /// The machine failed: disk, memory.
    Machine(String),
    /// From the library.
    Library(Error),
    /// From reading or writing a table.
    Table(TableError),
    /// The reader of standard output has gone away.
    ClosedPipe,
}

impl Failure {
    /// A message of three parts about the command line.
    pub(crate) fn usage(found: impl std::fmt::Display, required: &str, action: &str) -> Self {
        Self::Usage(format!("{found}; {required}. {action}."))
    }

    /// A failure to load a model: a file that cannot be read is an unusable input.
    pub(crate) fn loading(error: Error) -> Self {
        match error {
            Error::Io { path, source, .. } => Self::Input(format!(
                "{}: cannot be read ({source}); a model must be a readable file. Check the path and the folder you are in.",
                path.display()
            )),
            other => Self::Library(other),
        }
    }

    /// A failure to write to `path`; a closed pipe is told apart.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        let name = if path == Path::new("-") { "standard output".into() } else { path.display().to_string() };
        Self::Machine(format!(
            "{name}: cannot be written ({error}); an output must be writable until it is complete. \
             Free some space, or write somewhere else."
        ))
    }

    /// Whether the reader of standard output has gone away.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.code() == 0
    }

    /// Whether other outputs of the command can be written all the same.
    pub(crate) fn concerns_one_output(&self) -> bool {
        !matches!(self.code(), USAGE | INPUT | INTERRUPTED)
    }

    /// Several failures as one that names them all.
    pub(crate) fn all(mut failures: Vec<Self>) -> Option<Self> {
        if failures.len() < 2 {
            return failures.pop();
        }
        let texts: Vec<String> = failures.iter().map(|each| each.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(|text| text.trim_end_matches('.')).collect();
        Some(Self::Machine(format!("{}.", texts.join("; "))))
    }

    fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Input(_) => INPUT,
            Self::Machine(_) => FAILURE,
            Self::ClosedPipe => 0,
            Self::Library(error) => match error {
                Error::Kernel { .. } | Error::Setting { .. } => USAGE,
                Error::Data { .. } | Error::NoVariance { .. } | Error::Model { .. } => INPUT,
                Error::NotConverged { .. } | Error::NotReached { .. } => NOT_CONVERGED,
                Error::Cancelled => status_when_stopped(),
                _ => FAILURE,
            },
            Self::Table(error) => match error.kind() {
                ErrorKind::Usage => USAGE,
                ErrorKind::Input => INPUT,
                ErrorKind::Output => FAILURE,
                ErrorKind::ClosedPipe => 0,
            },
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::Input(text) | Self::Machine(text) => f.write_str(text),
            Self::Library(Error::Cancelled) => f.write_str(STOPPED),
            Self::Library(error) => {
                let text = error.to_string();
                write!(f, "{text}{}", if text.ends_with('.') { "" } else { "." })
            }
            Self::Table(error) => error.fmt(f),
            Self::ClosedPipe => f.write_str("the reader of standard output has gone away"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // A table that was read in pieces: its own error comes back.
            Error::Source(reason) => match reason.downcast::<TableError>() {
                Ok(error) => Self::Table(*error),
                Err(other) => Self::Library(Error::Source(other)),
            },
            other => Self::Library(other),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        Self::Machine(format!("the picture could not be drawn: {error}"))
    }
}

/// Prints what went wrong, if anything did, and gives the exit status.
pub(crate) fn code(result: Result<(), Failure>) -> ExitCode {
    let Err(failure) = result else { return ExitCode::SUCCESS };
    let code = failure.code();
    if code != 0 {
        say(&failure.to_string());
    }
    ExitCode::from(code)
}

/// Prints what the parser of the command line has to say: help on standard output, mistakes on standard error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    // A closed pipe is no failure of ours.
    let _ = match printable(&text) {
        Cow::Borrowed(_) => error.print(),
        // What the command line holds may come from names of files.
        Cow::Owned(text) if error.use_stderr() => io::stderr().write_all(text.as_bytes()),
        Cow::Owned(text) => io::stdout().write_all(text.as_bytes()),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

/// Runs `work`; a panic that reaches this far becomes one line and status 1.
///
/// Why: a panic that a reader of damaged files catches must not print anything, so the hook only keeps the place.
pub(crate) fn guarded(work: impl FnOnce() -> ExitCode) -> ExitCode {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    let place = || PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    panic::set_hook(Box::new(move |what| {
        let payload = what.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("no message");
        *place() = format!("{text} ({})", what.location().map(ToString::to_string).unwrap_or_default());
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        eigenlift_io::remove_unfinished();
        say(&format!(
            "internal error: {}; this must not happen with any input. Please report it with the command line.",
            place().replace('\n', " ")
        ));
        ExitCode::from(FAILURE)
    })
}

fn say(message: &str) {
    // When standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "error: {}", printable(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_status() {
        let parts = || ("found".to_string(), "required".to_string(), "action".to_string());
        let library = |make: fn(String, String, String) -> Error| {
            let (found, required, action) = parts();
            Failure::from(make(found, required, action)).code()
        };
        assert_eq!(library(|found, required, action| Error::Kernel { found, required, action }), 2);
        assert_eq!(library(|found, required, action| Error::Setting { found, required, action }), 2);
        assert_eq!(library(|found, required, action| Error::Data { found, required, action }), 3);
        assert_eq!(library(|found, required, action| Error::Model { found, required, action }), 3);
        assert_eq!(library(|found, required, action| Error::Memory { found, required, action }), 1);
        let slow =
            Error::NotConverged { passes: 200.0, residual: 1e-3, tolerance: 1e-6, action: "Wait".into() };
        assert_eq!(Failure::from(slow).code(), 4);
        assert_eq!(Failure::from(Error::Cancelled).code(), 130);
        let disk =
            || Error::Io { path: "m".into(), doing: "saving", source: io::ErrorKind::StorageFull.into() };
        assert_eq!((Failure::from(disk()).code(), Failure::loading(disk()).code()), (1, 3));
        let gone = Failure::writing(Path::new("-"), &io::ErrorKind::BrokenPipe.into());
        assert_eq!((gone.code(), Failure::ClosedPipe.code()), (0, 0));
    }

    #[test]
    fn a_message_ends_with_one_full_stop() {
        let text = |action: &str| {
            Failure::from(Error::Data { found: "a".into(), required: "b".into(), action: action.into() })
                .to_string()
        };
        assert_eq!((text("Do c"), text("Do c.")), ("a; b. Do c.".to_string(), "a; b. Do c.".to_string()));
        assert_eq!(Failure::usage("a", "b", "Do c").to_string(), "a; b. Do c.");
    }
}
