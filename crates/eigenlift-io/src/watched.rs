//! Whether a file changes while it is read.

use std::fs::{File, Metadata};
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::{Report, Result, TableError};

/// A file as it was when it was opened.
#[derive(Clone)]
pub(crate) struct Watched {
    file: Arc<File>,
    n_bytes: u64,
    modified: Option<SystemTime>,
}

impl Watched {
    pub(crate) fn new(file: Arc<File>, facts: &Metadata) -> Self {
        Self { file, n_bytes: facts.len(), modified: facts.modified().ok() }
    }

    fn has_changed(&self) -> bool {
        let same = |facts: Metadata| facts.len() == self.n_bytes && facts.modified().ok() == self.modified;
        !self.file.metadata().is_ok_and(same)
    }
}

/// What was read, unless the file has changed meanwhile: then neither rows nor an error are those of one file.
pub(crate) fn unchanged<T>(name: &str, watched: Option<&Watched>, read: Result<T>) -> Result<T> {
    if watched.is_some_and(Watched::has_changed) { Err(changed(name)) } else { read }
}

pub(crate) fn changed(name: &str) -> TableError {
    TableError::Layout(Report::new(
        name,
        "it has changed since it was opened",
        "a file must stay as it is while it is read",
        "Wait until it is complete, and try again",
    ))
}
