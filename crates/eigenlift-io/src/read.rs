//! Reading a table in whatever format it is.

use std::io::Read;
use std::path::Path;

use crate::error::{Report, Result, TableError, quoted};
use crate::feed::Opened;
use crate::format::Format;
use crate::source::{Source, split_member};
use crate::table::{Missing, Table};
use crate::watched::unchanged;
use crate::{csv, npy, npz};

/// How a table is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; recognised from the first bytes and the extension when not given.
    pub format: Option<Format>,
    /// The delimiter of a text file, an ASCII character; a space stands for runs of blanks. Detected when not given.
    pub delimiter: Option<u8>,
    /// Whether the first line of a text file is a header. When not given, it is one if any cell is neither a number
    /// nor missing.
    pub header: Option<bool>,
    /// The columns that are data: names, positions from 1 and ranges, separated by commas (`1-3,petal_width,7`).
    /// A name goes before a position. The table has its columns in this order.
    pub columns: Option<String>,
    /// The target: a name or a position from 1; in an NPZ file also another member.
    pub target: Option<String>,
    /// What to do about missing cells.
    pub missing: Missing,
    /// The member of an NPZ file that holds the data; also `FILE.npz:NAME` as the path.
    pub member: Option<String>,
    /// The most bytes that an NPZ or Parquet file may unpack to, for files of others; any number when not given.
    pub most_unpacked: Option<u64>,
}

/// How much more a packed file may unpack to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    most: Option<u64>,
    taken: u64,
}

impl Allowance {
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self { most: options.most_unpacked, taken: 0 }
    }

    /// Counts bytes before they are unpacked.
    pub(crate) fn take(&mut self, bytes: u64, file: &str) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        match self.most {
            Some(most) if self.taken > most => Err(TableError::Memory(Report::new(
                file,
                format!("it unpacks to {} bytes or more", self.taken),
                format!("at most {most} bytes are taken"),
                "Choose fewer columns or rows, or raise the limit",
            ))),
            _ => Ok(()),
        }
    }
}

/// Reads a table; the path `-` is standard input.
///
/// Integers beyond 2⁵³ are rounded to double precision, which [`Table::large_integers`] tells. A file that changes while it
/// is read is an error. Cost: one pass; the numbers take 8 bytes each, and the text of
/// a file is never held as a whole.
///
/// # Errors
///
/// [`TableError`] when the file cannot be read, is not a table of finite numbers, or does not have the columns asked
/// for.
///
/// ```
/// use eigenlift_io::{Missing, ReadOptions, read_table};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "a;b;class\n1,5;NA;red\n2,5;4;blue\n")?;
/// let options = ReadOptions { target: Some("class".into()), missing: Missing::Drop, ..ReadOptions::default() };
/// let table = read_table(&path, &options)?;
/// assert_eq!((table.values, table.dropped_rows), (vec![2.5, 4.0], 1));
/// assert_eq!(table.target.unwrap().values, ["blue"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_table(path: &Path, options: &ReadOptions) -> Result<Table> {
    whole(open(path, options)?, options)
}

/// Reads a whole table from bytes that come from elsewhere than a file; `name` stands for it in messages, and its
/// extension for the format where the bytes do not tell.
///
/// CSV, TSV and NPY are read as they come; NPZ and Parquet pass through a nameless temporary file.
///
/// ```
/// use eigenlift_io::{ReadOptions, read_table_from};
///
/// let table = read_table_from("upload.csv", &b"a,b\n1,2\n3,4\n"[..], &ReadOptions::default())?;
/// assert_eq!((table.names, table.n_rows), (vec!["a".into(), "b".into()], 2));
/// # Ok::<(), eigenlift_io::TableError>(())
/// ```
///
/// # Errors
/// As [`read_table`].
pub fn read_table_from(
    name: &str,
    bytes: impl Read + Send + 'static,
    options: &ReadOptions,
) -> Result<Table> {
    let source = Source::from_reader(name, Box::new(bytes))?;
    whole(recognise(source, Path::new(name), None, options)?, options)
}

/// All rows of a table.
fn whole(opened: Opened, options: &ReadOptions) -> Result<Table> {
    let (name, watched) = (opened.name.clone(), opened.watched.clone());
    unchanged(&name, watched.as_ref(), all_rows(opened, options))
}

fn all_rows(mut opened: Opened, options: &ReadOptions) -> Result<Table> {
    while opened.feed.read_rows(&mut opened.draft, usize::MAX)? > 0 {}
    let large_integers = opened.draft.large_integers();
    let mut table = opened.draft.finish(options.missing)?;
    table.single_precision = opened.single_precision;
    table.number_in_header = opened.number_in_header;
    table.large_integers = large_integers;
    Ok(table)
}

/// Opens a table in whatever format it is.
pub(crate) fn open(path: &Path, options: &ReadOptions) -> Result<Opened> {
    let (file, member_in_path) = split_member(path);
    recognise(Source::open(&file)?, &file, member_in_path, options)
}

/// Finds the format of an input and begins to read it.
fn recognise(
    source: Source,
    file: &Path,
    member_in_path: Option<String>,
    options: &ReadOptions,
) -> Result<Opened> {
    let format = options
        .format
        .or_else(|| Format::from_magic(&source.head))
        .or_else(|| Format::from_extension(file))
        .unwrap_or(Format::Csv);
    let member = options.member.clone().or(member_in_path);
    if let Some(member) = &member
        && format != Format::Npz
    {
        return Err(TableError::Selection(Report::new(
            &source.name,
            format!("the member {} was asked for in a file of format {format}", quoted(member)),
            "only NPZ files have members",
            "Leave the member out",
        )));
    }
    match format {
        Format::Csv => csv::open(source, options, options.delimiter),
        Format::Tsv => csv::open(source, options, Some(options.delimiter.unwrap_or(b'\t'))),
        Format::Npy => npy::open(source, options),
        Format::Npz => npz::open(source, options, member.as_deref()),
        Format::Parquet => open_parquet(source, options),
    }
}

#[cfg(feature = "parquet")]
fn open_parquet(source: Source, options: &ReadOptions) -> Result<Opened> {
    crate::parquet::open(source, options)
}

#[cfg(not(feature = "parquet"))]
fn open_parquet(source: Source, _: &ReadOptions) -> Result<Opened> {
    Err(TableError::Binary(Report::new(
        &source.name,
        "it is a Parquet file, and this build cannot read those",
        "the cargo feature parquet must be on",
        "Build eigenlift with --features parquet, or save the table as CSV or NPY",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_read_as_a_whole_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("t.csv");
        let options = ReadOptions::default();
        let text = "a,b\n1,2\n3,4\n5,6\n";
        // Shorter at the end of a line, longer, and as long as before.
        for after in ["a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4\n5,6\n7,8\n", "a,b\n9,9\n9,9\n9,9\n"] {
            std::fs::write(&path, text).expect("a file");
            let early = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
            std::fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|f| f.set_modified(early))
                .expect("a time");
            let opened = open(&path, &options).expect("a table");
            std::fs::write(&path, after).expect("other rows");
            let error = whole(opened, &options).expect_err("it has changed").to_string();
            assert!(error.contains("it has changed since it was opened"), "{error}");
        }
        std::fs::write(&path, text).expect("a file");
        assert_eq!(read_table(&path, &options).expect("a table").n_rows, 3);
    }
}
