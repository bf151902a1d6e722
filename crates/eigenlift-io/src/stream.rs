//! Reading a table of any size, some rows at a time.

mod survey;

use std::path::Path;

use crate::draft::{Draft, Layout, Means};
use crate::error::Result;
use crate::feed::{Feed, read_once};
use crate::read::{ReadOptions, open};
use crate::table::{Missing, Table};
use crate::watched::{Watched, changed, unchanged};

/// A table that is read some rows at a time, in memory for those rows alone.
///
/// All chunks together are the table that [`read_table`](crate::read_table) gives, with the same errors, whatever the
/// sizes of the chunks. What differs by format:
///
/// - **CSV and TSV**: which columns are numbers and which are text is known only after the last row, so
///   [`open`](Self::open) reads the whole file once, and every error in it is found there. Standard input and pipes can
///   be read once: their columns are taken for what they are in the first mebibyte, and a later row that contradicts is
///   an error.
/// - **NPY and NPZ**: `open` reads headers alone. In column order (`fortran_order`) every chunk takes a step through
///   the file for each column; where such an array comes through a pipe or is compressed, it is first unpacked into a
///   temporary file. An NPZ file with a target that is text is read once by `open`.
/// - **Parquet**: the dictionary and one page of each column are held besides the chunk.
/// - NPZ and Parquet from standard input are copied into a temporary file.
/// - [`Missing::Mean`] takes a first pass over the whole table in `open`.
///
/// ```
/// use eigenlift_io::{ReadOptions, TableStream};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "name,v\nx,1\ny,2\nz,3\n")?;
/// let mut stream = TableStream::open(&path, &ReadOptions::default())?;
/// assert_eq!((stream.names(), stream.text_names()), (&["v".to_owned()][..], &["name".to_owned()][..]));
/// let mut sum = 0.0;
/// while let Some(chunk) = stream.next_chunk(2)? {
///     assert!(chunk.n_rows <= 2);
///     sum += chunk.values.iter().sum::<f64>();
/// }
/// assert_eq!(sum, 6.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableStream {
    name: String,
    feed: Box<dyn Feed>,
    draft: Draft,
    layout: Layout,
    missing: Missing,
    means: Option<Means>,
    facts: Facts,
    n_rows: Option<usize>,
    watched: Option<Watched>,
    progress: Progress,
    readings: usize,
}

/// What is known of a table once it is open.
struct Facts {
    names: Vec<String>,
    text_names: Vec<String>,
    target_name: Option<String>,
    single_precision: bool,
    number_in_header: bool,
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    ended: bool,
    n_given: usize,
    dropped_rows: usize,
    imputed_cells: usize,
    /// Rows left out since the last chunk.
    dropped_since: usize,
    /// Whether any row was asked for.
    begun: bool,
}

impl TableStream {
    /// Opens a table and reads as much of it as is needed to know its columns; the path `-` is standard input.
    ///
    /// # Errors
    ///
    /// As [`read_table`](crate::read_table); also [`TableError::Setting`](crate::TableError::Setting) for [`Missing::Mean`] with a pipe, which
    /// cannot be read twice.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let opened = open(path, options)?;
        let watched = opened.watched;
        let (mut feed, mut draft) = (opened.feed, opened.draft);
        if options.missing == Missing::Mean && !feed.can_rewind() {
            return Err(read_once(&opened.name, "the mean of a column"));
        }
        let found = survey::run(feed.as_mut(), &mut draft, opened.survey, options.missing);
        let found = unchanged(&opened.name, watched.as_ref(), found)?;
        draft.begin_chunks(found.early);
        let layout = draft.layout()?;
        let n_rows = found.n_rows.or_else(|| feed.n_rows());
        if n_rows == Some(0) {
            draft.check_rows()?;
        }
        let facts = Facts {
            names: draft.data_names(&layout),
            text_names: draft.text_names(),
            target_name: draft.target_name(),
            single_precision: opened.single_precision,
            number_in_header: opened.number_in_header,
        };
        let (name, missing, means) = (opened.name, options.missing, found.means);
        let (progress, readings) = (Progress::default(), usize::from(found.read_all));
        Ok(Self { name, feed, draft, layout, missing, means, facts, n_rows, watched, progress, readings })
    }

    /// Names of the columns of numbers, in the order of the chunks' columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.facts.names
    }

    /// Names of the columns of text that are carried, in file order.
    #[must_use]
    pub fn text_names(&self) -> &[String] {
        &self.facts.text_names
    }

    /// Name of the target.
    #[must_use]
    pub fn target_name(&self) -> Option<&str> {
        self.facts.target_name.as_deref()
    }

    /// Rows of the file, those that will be dropped included; `None` for text from a pipe.
    #[must_use]
    pub fn n_rows(&self) -> Option<usize> {
        self.n_rows
    }

    /// Whether the file itself holds single-precision numbers.
    #[must_use]
    pub fn single_precision(&self) -> bool {
        self.facts.single_precision
    }

    /// Whether the header line has a number in it; see [`Table::number_in_header`].
    #[must_use]
    pub fn number_in_header(&self) -> bool {
        self.facts.number_in_header
    }

    /// The first column that has held integers beyond ±2⁵³ so far; see [`Table::large_integers`].
    #[must_use]
    pub fn large_integers(&self) -> Option<String> {
        self.draft.large_integers()
    }

    /// Rows left out so far because a cell was missing.
    #[must_use]
    pub fn dropped_rows(&self) -> usize {
        self.progress.dropped_rows
    }

    /// Missing cells filled so far.
    #[must_use]
    pub fn imputed_cells(&self) -> usize {
        self.progress.imputed_cells
    }

    /// Whether [`rewind`](Self::rewind) is possible.
    #[must_use]
    pub fn can_rewind(&self) -> bool {
        self.feed.can_rewind()
    }

    /// How often the file was read so far from its first row on, [`open`](Self::open) included.
    #[must_use]
    pub fn readings(&self) -> usize {
        self.readings
    }

    /// About as many bytes as the stream holds besides the rows of a chunk: pages of a Parquet file.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.feed.held_bytes()
    }

    /// The next rows of the file, at most `most_rows` and at least one, as a table of their own; `None` at the end.
    ///
    /// Rows that are dropped make a chunk shorter, and [`Table::dropped_rows`] counts those since the chunk before.
    ///
    /// # Errors
    ///
    /// As [`read_table`](crate::read_table), where [`open`](Self::open) has not found them; also when the file has
    /// changed since it was opened. After an error the stream is at its end.
    pub fn next_chunk(&mut self, most_rows: usize) -> Result<Option<Table>> {
        if self.progress.ended {
            return Ok(None);
        }
        // Whatever goes wrong from here, nothing comes after it.
        self.progress.ended = true;
        self.readings += usize::from(!std::mem::replace(&mut self.progress.begun, true));
        let chunk = self.read_chunk(most_rows.max(1));
        let chunk = match chunk {
            Err(_) => unchanged(&self.name, self.watched.as_ref(), chunk)?,
            Ok(chunk) => chunk,
        };
        self.progress.ended = chunk.is_none();
        Ok(chunk)
    }

    /// Takes the memory of a chunk that is no longer needed for the numbers of the next one.
    ///
    /// Why: taking megabytes from the system for every chunk can cost more than reading them.
    pub fn recycle(&mut self, chunk: Table) {
        self.draft.recycle(chunk.values);
    }

    fn read_chunk(&mut self, most_rows: usize) -> Result<Option<Table>> {
        loop {
            if let Some(n_rows) = self.n_rows
                && self.watched.is_some()
                && self.feed.n_rows().is_none()
            {
                // The rows were counted when the table was opened.
                self.draft.reserve_rows(most_rows.min(n_rows.saturating_sub(self.draft.next_row())))?;
            }
            if self.feed.read_rows(&mut self.draft, most_rows)? == 0 {
                self.check_end()?;
                return Ok(None);
            }
            self.check_missing()?;
            let mut chunk = self.draft.take_chunk(&self.layout, self.missing, self.means.as_ref());
            self.progress.dropped_rows += chunk.dropped_rows;
            self.progress.dropped_since += chunk.dropped_rows;
            self.progress.imputed_cells += chunk.imputed_cells;
            if chunk.n_rows > 0 {
                self.progress.n_given += chunk.n_rows;
                chunk.dropped_rows = std::mem::take(&mut self.progress.dropped_since);
                chunk.single_precision = self.facts.single_precision;
                chunk.number_in_header = self.facts.number_in_header;
                return Ok(Some(chunk));
            }
        }
    }

    /// Refuses missing cells; the rest of the table is looked at first, so that the message counts them all.
    fn check_missing(&mut self) -> Result<()> {
        if self.draft.check_missing(&self.layout, self.missing).is_ok() {
            return Ok(());
        }
        survey::drain(self.feed.as_mut(), &mut self.draft)?;
        self.draft.check_rows()?;
        self.draft.check_missing(&self.layout, self.missing)
    }

    fn check_end(&self) -> Result<()> {
        self.draft.check_rows()?;
        let same_rows = self.n_rows.is_none_or(|n_rows| n_rows == self.draft.next_row());
        if !same_rows {
            return Err(changed(&self.name));
        }
        unchanged(&self.name, self.watched.as_ref(), Ok(()))?;
        if self.progress.n_given == 0 { Err(self.draft.nothing_complete()) } else { Ok(()) }
    }

    /// Back to the first row.
    ///
    /// # Errors
    ///
    /// [`TableError::Setting`](crate::TableError::Setting) for text or an NPY array from standard input or a pipe, which can be read once; an error
    /// of [`ErrorKind::Input`](crate::ErrorKind::Input) when the file can no longer be read.
    pub fn rewind(&mut self) -> Result<()> {
        self.progress = Progress { ended: true, ..Progress::default() };
        if !self.feed.can_rewind() {
            return Err(read_once(&self.name, "going back to the first row"));
        }
        let back = self.feed.rewind();
        unchanged(&self.name, self.watched.as_ref(), back)?;
        self.draft.restart();
        self.progress.ended = false;
        Ok(())
    }
}

impl std::fmt::Debug for TableStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableStream")
            .field("name", &self.name)
            .field("names", &self.facts.names)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}
