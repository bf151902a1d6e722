//! What every format does with rows that are to be written.

use std::io;

use crate::outlet::Outlet;
use crate::output::Output;

/// The columns of an output, the same in every chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) text_names: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) single_precision: bool,
    /// Rows that were promised.
    pub(crate) n_rows: Option<usize>,
}

/// An output of one format that is being written.
pub(crate) trait Sheet: Send {
    /// Writes further rows.
    fn append(&mut self, chunk: &Output<'_>) -> io::Result<()>;

    /// Writes what comes after the last of `n_rows` rows, and gives the outlet back.
    fn finish(self: Box<Self>, n_rows: usize) -> io::Result<Outlet>;
}
