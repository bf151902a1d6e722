//! Several outputs of one command: one that fails does not keep the others from being written.

use super::{ScoreWriter, Written};
use crate::exit::Failure;
use crate::standard::is_standard;
use crate::table::Carried;
use crate::words::timed;
use eigenlift::matrix::Matrix;
use std::path::Path;

/// Outputs of a command, as they are written.
#[derive(Debug, Default)]
pub(crate) struct OutputFiles {
    written: Vec<Written>,
    failed: Vec<Failure>,
}

impl OutputFiles {
    /// Writes an output and gives the seconds that took. A failure is kept for [`end`](Self::end), except one that the other
    /// outputs would meet as well: an unusable input, or Ctrl-C.
    pub(crate) fn put(
        &mut self,
        path: &Path,
        what: &'static str,
        write: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<f64, Failure> {
        let (result, seconds) = timed(write);
        match result {
            Ok(()) => self.note(path, what),
            Err(failure) if failure.concerns_one_output() => self.failed.push(failure),
            Err(failure) => return Err(failure),
        }
        Ok(seconds)
    }

    /// Notes an output that is written already.
    pub(crate) fn note(&mut self, path: &Path, what: &'static str) {
        if !is_standard(path) {
            self.written.push(Written { path: path.to_owned(), what });
        }
    }

    /// The files that were written.
    pub(crate) fn written(&self) -> &[Written] {
        &self.written
    }

    /// How the command ends after `told`, the last of its outputs: well only when every output was written.
    pub(crate) fn end(self, told: Result<(), Failure>) -> Result<(), Failure> {
        let (gone, failed): (Vec<Failure>, Vec<Failure>) =
            self.failed.into_iter().chain(told.err()).partition(Failure::is_closed_pipe);
        Failure::all(failed).or(gone.into_iter().next()).map_or(Ok(()), Err)
    }
}

/// A table that is written while rows go by.
pub(crate) struct PassingTable {
    /// `None` after a failure.
    writer: Option<ScoreWriter>,
    failed: Option<Failure>,
    /// Whether rows go on after a failure, because something else is made of them.
    to_the_end: bool,
}

impl PassingTable {
    pub(crate) fn new(writer: ScoreWriter, to_the_end: bool) -> Self {
        Self { writer: Some(writer), failed: None, to_the_end }
    }

    /// Adds rows; after a failure that is kept for later, does nothing.
    pub(crate) fn append(&mut self, carried: &Carried, rows: &Matrix<f64>) -> Result<(), Failure> {
        let Some(Err(failure)) = self.writer.as_mut().map(|writer| writer.append(carried, rows)) else {
            return Ok(());
        };
        if !self.to_the_end || !failure.concerns_one_output() {
            return Err(failure);
        }
        (self.writer, self.failed) = (None, Some(failure));
        Ok(())
    }

    /// Lets the file appear, or tells why it does not.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        self.failed.map_or(Ok(()), Err)?;
        self.writer.map_or(Ok(()), ScoreWriter::commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(path: &str) -> Failure {
        Failure::writing(Path::new(path), &std::io::ErrorKind::StorageFull.into())
    }

    #[test]
    fn one_that_fails_does_not_keep_the_others_back_and_all_are_named() {
        let mut outputs = OutputFiles::default();
        outputs.put(Path::new("a.svg"), "scatter", || Err(full("a.svg"))).unwrap();
        outputs.put(Path::new("b.csv"), "scores", || Ok(())).unwrap();
        outputs.put(Path::new("-"), "scores", || Ok(())).unwrap();
        outputs.put(Path::new("c.html"), "report", || Err(full("c.html"))).unwrap();
        let names: Vec<_> = outputs.written().iter().map(|file| file.path.clone()).collect();
        assert_eq!(names, [Path::new("b.csv")]);
        let failure = outputs.end(Ok(())).unwrap_err();
        let text = failure.to_string();
        assert!(text.starts_with("a.svg: cannot be written") && text.contains("; c.html: cannot"), "{text}");
        assert!(!failure.is_closed_pipe());
    }

    #[test]
    fn an_unusable_input_ends_it_at_once_and_a_closed_pipe_hides_nothing() {
        let mut outputs = OutputFiles::default();
        assert!(outputs.put(Path::new("a"), "scores", || Err(Failure::Input("x".into()))).is_err());
        outputs.put(Path::new("-"), "scores", || Err(Failure::ClosedPipe)).unwrap();
        assert!(OutputFiles::default().end(Err(Failure::ClosedPipe)).unwrap_err().is_closed_pipe());
        assert!(!outputs.end(Err(full("b"))).unwrap_err().is_closed_pipe());
    }
}
