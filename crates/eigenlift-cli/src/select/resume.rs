//! A search that is kept on file after every step and taken up again.

use super::Table;
use crate::exit::Failure;
use crate::words::{Words, counted};
use eigenlift::methods::selection::{Selection, SelectionProgress, SelectionReport};
use std::path::Path;

/// A search that may be kept on file.
pub(super) struct Kept<'a> {
    path: Option<&'a Path>,
    earlier: Option<SelectionProgress>,
    /// Steps that were on file.
    pub(super) n_earlier: Option<usize>,
}

impl<'a> Kept<'a> {
    /// Looks at the file, where one is named.
    pub(super) fn open(path: Option<&'a Path>, words: Words) -> Result<Self, Failure> {
        let earlier = path.map_or(Ok(None), SelectionProgress::load)?;
        let n_earlier = earlier.as_ref().map(|earlier| earlier.steps.len());
        if let (Some(path), Some(n_steps)) = (path, n_earlier) {
            words.say(format_args!(
                "resumed {}: the search had made {}",
                path.display(),
                counted(n_steps, "step")
            ));
        }
        Ok(Self { path, earlier, n_earlier })
    }

    /// Selects, from where an earlier run ended, and keeps every step.
    pub(super) fn select(&mut self, settings: &Selection, table: &Table) -> Result<SelectionReport, Failure> {
        let path = self.path;
        let mut keep = |progress: &SelectionProgress| path.map_or(Ok(()), |path| progress.save(path));
        Ok(settings.select_resumable(&table.samples, &table.labels, self.earlier.take(), &mut keep)?)
    }
}
