//! What every format gives: rows, in order.

use crate::draft::Draft;
use crate::error::{Report, Result, TableError};
use crate::watched::Watched;

/// Rows of a table, in order.
pub(crate) trait Feed: Send {
    /// Rows of the whole table, where the file itself tells.
    fn n_rows(&self) -> Option<usize>;

    /// Puts at most so many further rows into the draft and says how many; 0 at the end.
    fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize>;

    /// Whether [`rewind`](Self::rewind) is possible.
    fn can_rewind(&self) -> bool;

    /// Back to the first row.
    fn rewind(&mut self) -> Result<()>;

    /// About as many bytes as are held besides the rows in hand.
    fn held_bytes(&self) -> u64 {
        0
    }
}

/// What has to be read before the columns of a table are known.
pub(crate) enum Survey {
    /// Rows until each column has shown what it holds; often none.
    UntilKnown,
    /// All rows.
    Full,
    /// These rows, a copy of the first of a pipe; `complete` when they are all.
    Head { feed: Box<dyn Feed>, complete: bool },
}

/// A table that was opened, none of its rows read.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) feed: Box<dyn Feed>,
    pub(crate) draft: Draft,
    pub(crate) survey: Survey,
    /// The file, to tell whether it changes.
    pub(crate) watched: Option<Watched>,
    pub(crate) single_precision: bool,
    pub(crate) number_in_header: bool,
}

/// The error for reading a pipe twice.
pub(crate) fn read_once(name: &str, what: &str) -> TableError {
    TableError::Setting(Report::new(
        name,
        format!("{what} needs a second pass, and this is a pipe, whose rows come once"),
        "what is read twice must be a file",
        "Write the table to a file first and give its path",
    ))
}
