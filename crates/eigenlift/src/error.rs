//! One error type. Every message says what was found, what was required and what to do next.

use std::path::PathBuf;

/// Result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A kernel description that cannot be used.
    #[error("{found}; {required}. {action}")]
    Kernel {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// A setting that cannot be used.
    #[error("{found}; {required}. {action}")]
    Setting {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// Data that cannot be used.
    #[error("{found}; {required}. {action}")]
    Data {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// Data without variance: all rows look the same.
    #[error("{found}; {required}. {action}")]
    NoVariance {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// A model file that cannot be used.
    #[error("{found}; {required}. {action}")]
    Model {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// The work does not fit into the memory allowed.
    #[error("{found}; {required}. {action}")]
    Memory {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// An iteration ended before its tolerance was met.
    #[error(
        "after {passes:.1} passes the worst relative residual is {residual:.1e}; {tolerance:.1e} was required. \
         {action}"
    )]
    NotConverged {
        /// Passes over the Gram matrix spent.
        passes: f64,
        /// Worst relative residual reached.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
        /// What to do next.
        action: String,
    },
    /// An approximation did not become as close as was asked for.
    #[error("{found}; {required}. {action}")]
    NotReached {
        /// What was found.
        found: String,
        /// What was required.
        required: String,
        /// What to do next.
        action: String,
    },
    /// The operating system refused a file operation.
    #[error("{}: {doing} failed: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A source of rows failed; the reason is its own.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// The caller asked to stop.
    #[error("interrupted; nothing was written")]
    Cancelled,
}

macro_rules! shorthand {
    ($($name:ident => $variant:ident),* $(,)?) => {$(
        /// An error that says what was found, what was required, and what to do next.
        pub fn $name(found: impl Into<String>, required: impl Into<String>, action: impl Into<String>) -> Self {
            Self::$variant { found: found.into(), required: required.into(), action: action.into() }
        }
    )*};
}

impl Error {
    shorthand! { kernel => Kernel, setting => Setting, data => Data, no_variance => NoVariance, model => Model, memory => Memory }
}
