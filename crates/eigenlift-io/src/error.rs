//! What can go wrong with a table, in messages of three parts.

use std::fmt;
use std::io;

/// A result whose error is a [`TableError`].
pub type Result<T> = std::result::Result<T, TableError>;

/// The three parts of a message, and the file it is about.
///
/// Shown as `subject: found; required. advice.`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The file, or the option, that the message is about.
    pub subject: String,
    /// What was found, with numbers, row and column.
    pub found: String,
    /// What was required.
    pub required: String,
    /// What to do next.
    pub advice: String,
}

impl Report {
    pub(crate) fn new(
        subject: &str,
        found: impl Into<String>,
        required: impl Into<String>,
        advice: impl Into<String>,
    ) -> Box<Self> {
        let subject = subject.to_owned();
        Box::new(Self { subject, found: found.into(), required: required.into(), advice: advice.into() })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}. {}.", self.subject, self.found, self.required, self.advice)
    }
}

/// How a program should end after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The command line is wrong: exit status 2.
    Usage,
    /// An input is missing or unusable: exit status 3.
    Input,
    /// The machine failed (disk full, no permission to write, no memory, too many open files): exit status 1.
    Output,
    /// The reader of standard output has gone away: end quietly with exit status 0.
    ClosedPipe,
}

/// A table that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The columns, the target or the member asked for do not fit the file.
    #[error("{0}")]
    Selection(Box<Report>),
    /// An option has a value that no file could satisfy.
    #[error("{0}")]
    Setting(Box<Report>),
    /// The input cannot be opened or read.
    #[error("{report}")]
    Unreadable {
        /// The message.
        report: Box<Report>,
        /// What the operating system said.
        source: io::Error,
    },
    /// The input is not text in UTF-8, or not in the format it was taken for.
    #[error("{0}")]
    Encoding(Box<Report>),
    /// The input is not a rectangular table with data: empty, ragged, duplicate names, an unclosed quote.
    #[error("{0}")]
    Layout(Box<Report>),
    /// A cell cannot be used: text among numbers, an infinity.
    #[error("{0}")]
    Cell(Box<Report>),
    /// Cells are missing.
    #[error("{0}")]
    Missing(Box<Report>),
    /// A binary file is damaged, or holds something that is not a table of numbers.
    #[error("{0}")]
    Binary(Box<Report>),
    /// The output cannot be written.
    #[error("{report}")]
    Unwritable {
        /// The message.
        report: Box<Report>,
        /// What the operating system said, where it said anything.
        source: Option<io::Error>,
    },
    /// The table does not fit in memory.
    #[error("{0}")]
    Memory(Box<Report>),
    /// The reader of standard output has gone away.
    #[error(
        "standard output: the reader has closed the pipe; it must stay open until the end. Nothing to do."
    )]
    ClosedPipe,
}

impl TableError {
    /// How a program should end after this error.
    ///
    /// ```
    /// use eigenlift_io::{ErrorKind, ReadOptions, read_table};
    /// let error = read_table("no-such-file.csv".as_ref(), &ReadOptions::default()).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Input);
    /// ```
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Selection(_) | Self::Setting(_) => ErrorKind::Usage,
            Self::Unreadable { source, .. } if out_of_files(source) => ErrorKind::Output,
            Self::Unreadable { .. }
            | Self::Encoding(_)
            | Self::Layout(_)
            | Self::Cell(_)
            | Self::Missing(_)
            | Self::Binary(_) => ErrorKind::Input,
            Self::Unwritable { .. } | Self::Memory(_) => ErrorKind::Output,
            Self::ClosedPipe => ErrorKind::ClosedPipe,
        }
    }

    pub(crate) fn unreadable(file: &str, source: io::Error) -> Self {
        let advice = match source.kind() {
            io::ErrorKind::NotFound => {
                "Check the path and the folder you are in, or use - for standard input"
            }
            io::ErrorKind::PermissionDenied => "Check the permissions of the file",
            _ if out_of_files(&source) => "Raise the limit of open files (ulimit -n), or close some",
            _ => "Check the file and the disk it is on, and try again",
        };
        let report = Report::new(
            file,
            format!("cannot be read ({source})"),
            "an input must be a readable file",
            advice,
        );
        Self::Unreadable { report, source }
    }

    /// A failure to write; a closed pipe is told apart.
    pub(crate) fn unwritable(file: &str, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        let advice = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "Free some space, or write to another disk"
            }
            io::ErrorKind::FileTooLarge => {
                "Raise the limit of file sizes (ulimit -f), or write to a disk that allows larger files"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "Choose a place where you may write"
            }
            _ if out_of_files(&source) => "Raise the limit of open files (ulimit -n), or close some",
            _ => "Check the disk, or write somewhere else",
        };
        let found = format!("cannot be written ({source})");
        let report = Report::new(file, found, "an output must be writable until it is complete", advice);
        Self::Unwritable { report, source: Some(source) }
    }

    pub(crate) fn refused_output(file: &str, found: &str, required: &str, advice: &str) -> Self {
        Self::Unwritable { report: Report::new(file, found, required, advice), source: None }
    }

    pub(crate) fn no_rows(file: &str, n_columns: usize) -> Self {
        Self::Layout(Report::new(
            file,
            format!("it has {} and no rows of data", counted(n_columns, "column")),
            "a table must have at least one row",
            "Check that the file was written completely",
        ))
    }

    pub(crate) fn out_of_memory(file: &str, n_cells: u128) -> Self {
        Self::Memory(Report::new(
            file,
            format!("its {n_cells} numbers need {} bytes, which cannot be had", n_cells.saturating_mul(8)),
            "a table must fit in memory",
            "Read fewer columns with --columns, or use a machine with more memory",
        ))
    }
}

/// Whether the process or the system has no room for another open file (EMFILE, ENFILE), which says nothing of the file.
fn out_of_files(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// A cell or a name in double quotes, with control characters escaped, cut after 40 characters.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// At most 20 names in quotes, and how many more there are.
pub(crate) fn name_list<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 20;
    let mut shown: Vec<String> = names.iter().take(MOST).map(|name| quoted(name.as_ref())).collect();
    if names.len() > MOST {
        shown.push(format!("and {} more", names.len() - MOST));
    }
    shown.join(", ")
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_told_apart_from_a_full_disk() {
        let kind = |error: io::ErrorKind| TableError::unwritable("standard output", error.into()).kind();
        assert_eq!(kind(io::ErrorKind::BrokenPipe), ErrorKind::ClosedPipe);
        assert_eq!(kind(io::ErrorKind::StorageFull), ErrorKind::Output);
        let error = TableError::out_of_memory("a.csv", 10);
        assert_eq!(error.kind(), ErrorKind::Output);
        assert_eq!(
            error.to_string(),
            "a.csv: its 10 numbers need 80 bytes, which cannot be had; a table must fit in memory. \
             Read fewer columns with --columns, or use a machine with more memory."
        );
    }

    #[test]
    fn long_names_and_lists_are_cut() {
        assert_eq!(quoted("a\tb"), "\"a\\tb\"");
        assert_eq!(quoted(&"é".repeat(41)), format!("\"{}\"…", "é".repeat(40)));
        let names: Vec<String> = (0..22).map(|i| i.to_string()).collect();
        assert!(name_list(&names).ends_with("\"19\", and 2 more"));
        assert_eq!((counted(1, "row"), counted(2, "row")), ("1 row".to_owned(), "2 rows".to_owned()));
    }
}
