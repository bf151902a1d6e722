//! A search that is kept on file after every step and taken up again.

use super::Table;
use crate::exit::Failure;
use crate::words::{Words, counted};
use eigenlift::error::Error;
use eigenlift_select::{Selection, SelectionProgress, SelectionReport};
use std::path::Path;

/// How the library begins what it says of steps that it does not take up.
const OF_THE_FILE: [&str; 2] = ["a search that was begun", "steps of a search that cannot"];

/// A search that may be kept on file.
pub(super) struct Kept<'a> {
    path: Option<&'a Path>,
    earlier: Option<SelectionProgress>,
    /// Steps that were on file.
    pub(super) n_earlier: Option<usize>,
}

impl<'a> Kept<'a> {
    /// Looks at the file, where one is named.
    pub(super) fn open(path: Option<&'a Path>) -> Result<Self, Failure> {
        let earlier = path.map_or(Ok(None), SelectionProgress::load)?;
        let n_earlier = earlier.as_ref().map(|earlier| earlier.steps.len());
        Ok(Self { path, earlier, n_earlier })
    }

    /// Says that a search was taken up.
    pub(super) fn say(&self, words: Words) {
        if let (Some(path), Some(n_steps)) = (self.path, self.n_earlier) {
            let steps = counted(n_steps, "step");
            words.say(format_args!("resumed {}: the search had made {steps}", path.display()));
        }
    }

    /// Selects, from where an earlier run ended, and keeps every step.
    pub(super) fn select(&mut self, settings: &Selection, table: &Table) -> Result<SelectionReport, Failure> {
        let path = self.path;
        let mut keep = |progress: &SelectionProgress| path.map_or(Ok(()), |path| progress.save(path));
        let found = settings.select_resumable(&table.samples, &table.labels, self.earlier.take(), &mut keep);
        found.map_err(|error| match (error, path) {
            (Error::Data { found, required, action }, Some(path))
                if OF_THE_FILE.iter().any(|start| found.starts_with(start)) =>
            {
                let found = format!("--resume {}: {found}", path.display());
                Error::Data { found, required, action }.into()
            }
            (other, _) => other.into(),
        })
    }
}
