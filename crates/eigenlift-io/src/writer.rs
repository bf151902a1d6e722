//! Writing a table of any size, some rows at a time.

use std::io;
use std::path::Path;

use crate::error::{Report, Result, TableError, counted, name_list};
use crate::format::Format;
use crate::outlet::Outlet;
use crate::output::{Output, check_names, check_sizes, refuse_uncompiled};
use crate::sheet::{Columns, Sheet};
use crate::source::is_standard;
use crate::{csv, npy, npz};

/// The columns of a table that is written in chunks, and how it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteOptions<'a> {
    /// Names of the text columns, which come first.
    pub text_names: &'a [String],
    /// Names of the columns of numbers.
    pub names: &'a [String],
    /// The format; what the extension stands for when not given, else CSV.
    pub format: Option<Format>,
    /// Whether to write single precision.
    pub single_precision: bool,
    /// The number of rows, where it is known before; the table must then have that many.
    ///
    /// NPY to a pipe and NPZ to anywhere are written without a temporary file for the numbers when it is given.
    pub n_rows: Option<usize>,
}

/// A table that is written some rows at a time, in memory for those rows alone.
///
/// The file appears under its name with [`commit`](Self::commit); dropped before that, nothing appears and a file that
/// was there before stays as it was. What goes to standard output or a pipe cannot be taken back.
///
/// Text columns of an NPZ file lie in temporary files until the end, next to the output. A Parquet file gets row groups
/// of at most 131072 rows, however small the chunks are; one row group is held in memory.
///
/// ```
/// use eigenlift_io::{Output, ReadOptions, TableWriter, WriteOptions, read_table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.npy");
/// let names = ["kpca1".to_owned(), "kpca2".to_owned()];
/// let mut writer = TableWriter::create(&path, &WriteOptions { names: &names, ..WriteOptions::default() })?;
/// for row in [[0.5, 2.0], [1.5, 3.0]] {
///     writer.append(&Output { names: &names, n_rows: 1, values: &row, ..Output::default() })?;
/// }
/// assert!(!path.exists());
/// writer.commit()?;
/// assert_eq!(read_table(&path, &ReadOptions::default())?.values, [0.5, 2.0, 1.5, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    /// Its name in messages.
    name: String,
    columns: Columns,
    /// `None` after a failure.
    sheet: Option<Box<dyn Sheet>>,
    n_rows: usize,
}

impl TableWriter {
    /// Starts an output; the path `-` is standard output, as CSV unless the options say otherwise.
    ///
    /// # Errors
    ///
    /// [`TableError`] when nothing can be written there ([`ErrorKind::Output`](crate::ErrorKind::Output)), or the names
    /// of the columns do not fit a table ([`ErrorKind::Usage`](crate::ErrorKind::Usage)).
    pub fn create(path: &Path, options: &WriteOptions<'_>) -> Result<Self> {
        let name = output_name(path);
        check_names(&name, options.text_names.iter().chain(options.names).map(String::as_str))?;
        let format = options.format.or_else(|| Format::from_extension(path)).unwrap_or(Format::Csv);
        refuse_uncompiled(&name, format)?;
        let columns = Columns {
            text_names: options.text_names.to_vec(),
            names: options.names.to_vec(),
            single_precision: options.single_precision,
            n_rows: options.n_rows,
        };
        let must_seek = format == Format::Npz || (format == Format::Npy && columns.n_rows.is_none());
        let outlet = Outlet::create(path, &name, must_seek)?;
        let sheet = open(outlet, &columns, format).map_err(|error| TableError::unwritable(&name, error))?;
        Ok(Self { name, columns, sheet: Some(sheet), n_rows: 0 })
    }

    /// Writes further rows. Whether they are in single precision is what [`create`](Self::create) was told.
    ///
    /// # Errors
    ///
    /// [`TableError`] when they cannot be written ([`ErrorKind::Output`](crate::ErrorKind::Output)), their columns are
    /// others than before or their sizes do not fit ([`ErrorKind::Usage`](crate::ErrorKind::Usage)), or the reader of
    /// standard output has gone away ([`ErrorKind::ClosedPipe`](crate::ErrorKind::ClosedPipe)). The output cannot be
    /// committed after a failure to write.
    pub fn append(&mut self, chunk: &Output<'_>) -> Result<()> {
        check_sizes(&self.name, chunk)?;
        self.check_columns(chunk)?;
        let Some(sheet) = &mut self.sheet else { return Err(self.failed_before()) };
        // The setting of the whole output counts, not that of a chunk.
        let chunk = Output { single_precision: self.columns.single_precision, ..*chunk };
        if let Err(error) = sheet.append(&chunk) {
            self.sheet = None;
            return Err(TableError::unwritable(&self.name, error));
        }
        self.n_rows += chunk.n_rows;
        Ok(())
    }

    /// Writes the rest; the file appears now.
    ///
    /// # Errors
    ///
    /// [`TableError`] as for [`append`](Self::append), and when the number of rows is not the one that was promised.
    pub fn commit(mut self) -> Result<()> {
        let Some(sheet) = self.sheet.take() else { return Err(self.failed_before()) };
        if let Some(promised) = self.columns.n_rows.filter(|&n_rows| n_rows != self.n_rows) {
            return Err(TableError::Setting(Report::new(
                &self.name,
                format!("{} came, and {promised} were announced", counted(self.n_rows, "row")),
                "a table must have as many rows as were announced",
                "Announce the right number, or none",
            )));
        }
        let outlet = sheet.finish(self.n_rows).map_err(|error| TableError::unwritable(&self.name, error))?;
        outlet.commit(&self.name)
    }

    /// Rows written so far.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn check_columns(&self, chunk: &Output<'_>) -> Result<()> {
        let same_text = chunk.text.iter().map(|(name, _)| *name).eq(self.columns.text_names.iter());
        if same_text && chunk.names == self.columns.names {
            return Ok(());
        }
        let found: Vec<&str> =
            chunk.text.iter().map(|(name, _)| *name).chain(chunk.names.iter().map(String::as_str)).collect();
        let wanted: Vec<&String> = self.columns.text_names.iter().chain(&self.columns.names).collect();
        Err(TableError::Setting(Report::new(
            &self.name,
            format!("from row {} on the columns are {}", self.n_rows + 1, name_list(&found)),
            format!("all rows must have the columns {}", name_list(&wanted)),
            "Give every chunk the columns that the output was started with",
        )))
    }

    fn failed_before(&self) -> TableError {
        let found = format!("writing failed after {}", counted(self.n_rows, "row"));
        let required = "an output must be writable until it is complete";
        TableError::refused_output(&self.name, &found, required, "Start it again")
    }
}

impl std::fmt::Debug for TableWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableWriter")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .field("n_rows", &self.n_rows)
            .finish_non_exhaustive()
    }
}

/// What an output is called in messages.
pub(crate) fn output_name(path: &Path) -> String {
    if is_standard(path) { "standard output".to_owned() } else { path.display().to_string() }
}

fn open(outlet: Outlet, columns: &Columns, format: Format) -> io::Result<Box<dyn Sheet>> {
    match format {
        Format::Csv => csv::create(outlet, columns, b','),
        Format::Tsv => csv::create(outlet, columns, b'\t'),
        Format::Npy => npy::create(outlet, columns),
        Format::Npz => npz::create(outlet, columns),
        #[cfg(feature = "parquet")]
        Format::Parquet => crate::parquet::create(outlet, columns),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
    }
}
