//! Writing a table in whatever format is wanted.

use std::path::Path;

use crate::csv;
use crate::error::{Result, TableError};
use crate::format::Format;
use crate::output::{Output, check_names, check_sizes};
use crate::writer::{TableWriter, WriteOptions, output_name};

/// Writes a table; the path `-` is standard output, as CSV unless `format` says otherwise.
///
/// The format is `format`, else what the extension stands for, else CSV. A file appears under its name only when it is
/// complete. NPY holds the numbers alone; NPZ the numbers as the member `X` and each text column under its name.
/// In text, numbers have the shortest digits that give the same bits back.
///
/// # Errors
///
/// [`TableError`](crate::TableError) when the output cannot be written ([`ErrorKind::Output`](crate::ErrorKind::Output)), the sizes or
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
    // Nothing is begun that cannot be right.
    check_sizes(&output_name(path), output)?;
    let text_names: Vec<String> = output.text.iter().map(|(name, _)| (*name).to_owned()).collect();
    let options = WriteOptions {
        text_names: &text_names,
        names: output.names,
        format,
        single_precision: output.single_precision,
        n_rows: Some(output.n_rows),
    };
    let mut writer = TableWriter::create(path, &options)?;
    writer.append(output)?;
    writer.commit()
}

/// A table as the bytes of a CSV file, the same as [`write_table`] would write.
///
/// # Errors
///
/// [`TableError`] when the sizes of the table disagree or two columns have the same name.
pub fn csv_bytes(output: &Output<'_>) -> Result<Vec<u8>> {
    const NAME: &str = "the table";
    check_sizes(NAME, output)?;
    check_names(
        NAME,
        output.text.iter().map(|(name, _)| *name).chain(output.names.iter().map(String::as_str)),
    )?;
    csv::bytes(output, b',').map_err(|error| TableError::unwritable(NAME, error))
}
