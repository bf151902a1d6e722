//! Writing a table in whatever format is wanted.

use std::collections::HashSet;
use std::io::{self, BufWriter, Cursor, Write};
use std::path::Path;

use crate::atomic::AtomicFile;
use crate::error::{Report, Result, TableError, quoted};
use crate::format::Format;
use crate::source::is_standard;
use crate::{csv, npy, npz};

/// A table to be written: text columns in front, then columns of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Output<'a> {
    /// Text columns: name and one text per row.
    pub text: &'a [(&'a str, &'a [String])],
    /// Names of the columns of numbers.
    pub names: &'a [String],
    /// Number of rows.
    pub n_rows: usize,
    /// The numbers, row-major, `n_rows` × `names.len()`.
    pub values: &'a [f64],
    /// Whether to write single precision.
    pub single_precision: bool,
}

impl Output<'_> {
    /// The numbers of one row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        let width = self.names.len();
        self.values.get(row * width..(row + 1) * width).unwrap_or_default()
    }
}

/// Writes a table; the path `-` is standard output, as CSV unless `format` says otherwise.
///
/// The format is `format`, else what the extension stands for, else CSV. A file appears under its name only when it is
/// complete. NPY holds the numbers alone; NPZ the numbers as the member `X` and each text column under its name.
/// In text, numbers have the shortest digits that give the same bits back.
///
/// # Errors
///
/// [`TableError`] when the output cannot be written ([`ErrorKind::Output`](crate::ErrorKind::Output)), the sizes or
/// names do not fit the table ([`ErrorKind::Usage`](crate::ErrorKind::Usage)), or the reader of standard output has
/// gone away ([`ErrorKind::ClosedPipe`](crate::ErrorKind::ClosedPipe)).
///
/// ```
/// use eigenlift_io::{Output, ReadOptions, read_table, write_table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.npy");
/// let names = ["kpca1".to_owned(), "kpca2".to_owned()];
/// let output = Output { names: &names, n_rows: 1, values: &[0.5, 2.0], ..Output::default() };
/// write_table(&path, &output, None)?;
/// assert_eq!(read_table(&path, &ReadOptions::default())?.values, [0.5, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_table(path: &Path, output: &Output<'_>, format: Option<Format>) -> Result<()> {
    let name = if is_standard(path) { "standard output".to_owned() } else { path.display().to_string() };
    check(&name, output)?;
    let format = format.or_else(|| Format::from_extension(path)).unwrap_or(Format::Csv);
    refuse_uncompiled(&name, format)?;
    let fail = |error| TableError::unwritable(&name, error);
    if is_standard(path) {
        let mut sink = BufWriter::with_capacity(1 << 16, io::stdout());
        if format == Format::Npz {
            // A zip archive is written with steps back, which a pipe does not allow.
            let archive = npz::write(Cursor::new(Vec::new()), output).map_err(fail)?;
            sink.write_all(archive.get_ref()).map_err(fail)?;
        } else {
            write_stream(&mut sink, output, format).map_err(fail)?;
        }
        return sink.flush().map_err(fail);
    }
    let mut file = AtomicFile::create(path)?;
    if format == Format::Npz {
        file = npz::write(file, output).map_err(fail)?;
    } else {
        write_stream(&mut file, output, format).map_err(fail)?;
    }
    file.commit()
}

fn write_stream<W: Write + Send>(sink: &mut W, output: &Output<'_>, format: Format) -> io::Result<()> {
    match format {
        Format::Csv | Format::Npz => csv::write(sink, output, b','),
        Format::Tsv => csv::write(sink, output, b'\t'),
        Format::Npy => npy::write_numbers(
            sink,
            output.values,
            (output.n_rows, output.names.len()),
            output.single_precision,
        ),
        #[cfg(feature = "parquet")]
        Format::Parquet => crate::parquet::write(sink, output),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn refuse_uncompiled(name: &str, format: Format) -> Result<()> {
    if format == Format::Parquet && cfg!(not(feature = "parquet")) {
        return Err(TableError::Setting(Report::new(
            name,
            "the output is a Parquet file, and this build cannot write those",
            "the cargo feature parquet must be on",
            "Build eigenlift with --features parquet, or write CSV or NPY",
        )));
    }
    Ok(())
}

/// Refuses sizes that do not fit, and names that a reader could not tell apart.
fn check(name: &str, output: &Output<'_>) -> Result<()> {
    let refuse = |found: String, required: &str, advice: &str| {
        Err(TableError::Setting(Report::new(name, found, required, advice)))
    };
    let n_cells = output.n_rows.checked_mul(output.names.len());
    if n_cells != Some(output.values.len()) {
        return refuse(
            format!(
                "{} numbers for {} rows and {} columns",
                output.values.len(),
                output.n_rows,
                output.names.len()
            ),
            "there must be one number per row and column",
            "Give as many numbers as the table has cells",
        );
    }
    if let Some((column, cells)) = output.text.iter().find(|(_, cells)| cells.len() != output.n_rows) {
        return refuse(
            format!(
                "the text column {} has {} cells for {} rows",
                quoted(column),
                cells.len(),
                output.n_rows
            ),
            "there must be one text per row",
            "Give as many texts as the table has rows",
        );
    }
    let mut seen = HashSet::new();
    let mut names = output.text.iter().map(|(name, _)| *name).chain(output.names.iter().map(String::as_str));
    if let Some(twice) = names.find(|name| !seen.insert(*name)) {
        return refuse(
            format!("two columns are called {}", quoted(twice)),
            "every column must have a name of its own",
            "Rename one of them",
        );
    }
    if output.text.is_empty() && output.names.is_empty() {
        return refuse(
            "it has no columns".to_owned(),
            "a table must have at least one column",
            "Name some columns",
        );
    }
    Ok(())
}
