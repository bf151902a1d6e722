//! A sparse matrix as its file holds it, checked.

use std::io;
use std::sync::Arc;

use crate::bytes::read_block;
use crate::error::{Report, Result, TableError, counted, name_list, quoted};
use crate::npy::Array;
use crate::npz::{Contents, Member};
use crate::source::Source;

const ADVICE: &str = "Write the file again with scipy.sparse.save_npz";

/// The most columns that a sparse table may have.
const MOST_COLUMNS: usize = u32::MAX as usize;

/// The rows that a matrix in CSC form may always have, and those that it may have more for each entry.
///
/// Why: nothing in such a file is as long as it has rows, so their number is a mere claim. In CSR form `indptr` is.
const MOST_ROWS: usize = 1 << 16;
const MOST_ROWS_FOR_AN_ENTRY: usize = 8;

/// A sparse matrix as its file holds it: line after line, which are rows or columns.
pub(super) struct Stored {
    /// The name of the file.
    pub(super) file: String,
    pub(super) n_rows: usize,
    pub(super) n_cols: usize,
    /// Whether the lines are columns.
    pub(super) by_columns: bool,
    /// Where each line begins, and where the last one ends; never falling, from 0 to the number of entries.
    pub(super) offsets: Vec<usize>,
    /// The place of each entry in its line, less than the length of a line.
    pub(super) places: Vec<u32>,
    pub(super) values: Vec<f64>,
    pub(super) numbers: Numbers,
}

/// The numbers that a file holds, which tell how entries of the same place are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Double,
    Single,
    /// Truth values, whose sum is 1 at most.
    Bool,
}

impl Stored {
    /// Reads a matrix in CSR or CSC form.
    pub(super) fn read(source: Source) -> Result<Self> {
        let mut archive = Archive(Contents::open(source)?);
        let by_columns = archive.is_by_columns()?;
        let (n_rows, n_cols) = archive.shape()?;
        let file = archive.0.name.clone();
        let (mut data, mut indices) = (archive.array("data")?, archive.integers("indices")?);
        let n_entries = data.n_rows();
        if indices.n_rows() != n_entries {
            let found = format!("it has {n_entries} entries in data and {} in indices", indices.n_rows());
            return Err(damaged(&file, &found, "each entry must have its number and its place"));
        }
        if by_columns {
            refuse_rows(&file, n_rows, n_entries)?;
        }
        let (rows, columns) = ((n_rows, "row"), (n_cols, "column"));
        let ((n_lines, line), (length, across)) = if by_columns { (columns, rows) } else { (rows, columns) };
        let offsets = archive.offsets(n_lines, line, n_entries)?;
        let places = places(&mut indices, &archive.full_name("indices"), length, across)?;
        data.number_type()?;
        let numbers = match data.element() {
            element if element.is_bool() => Numbers::Bool,
            element if element.is_single() => Numbers::Single,
            _ => Numbers::Double,
        };
        let values = gather(&mut data, &file, |_, value| Ok(value))?;
        Ok(Self { file, n_rows, n_cols, by_columns, offsets, places, values, numbers })
    }
}

/// An archive with the members of a sparse matrix.
struct Archive(Contents);

impl Archive {
    fn full_name(&self, member: &str) -> String {
        format!("{}:{member}", self.0.name)
    }

    /// The member of that name; where it is not there, what was wrong with the one that could not be read.
    fn member(&mut self, name: &str) -> Result<&Member> {
        let Contents { name: file, members, trouble, .. } = &mut self.0;
        members.iter().find(|member| member.name == name).ok_or_else(|| {
            trouble.take().unwrap_or_else(|| {
                let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
                damaged(
                    file,
                    &format!("it has no member {} among {}", quoted(name), name_list(&names)),
                    "a sparse matrix must have the members format, shape, data, indices and indptr",
                )
            })
        })
    }

    /// A member of one dimension.
    fn array(&mut self, name: &str) -> Result<Array> {
        let full_name = self.full_name(name);
        let file = Arc::clone(&self.0.file);
        let member = self.member(name)?;
        if member.header.shape.len() != 1 {
            let found = format!("its array has shape {}", member.header.shape_text());
            return Err(damaged(&full_name, &found, "it must have one dimension"));
        }
        member.array(&file, &full_name)
    }

    /// A member of one dimension that holds whole numbers.
    fn integers(&mut self, name: &str) -> Result<Array> {
        let array = self.array(name)?;
        if array.element().is_integer() {
            return Ok(array);
        }
        let found = "its array does not hold integers";
        Err(damaged(&self.full_name(name), found, "it must hold integers of at most 8 bytes"))
    }

    /// Whether the form is CSC; refuses what is neither this nor CSR.
    fn is_by_columns(&mut self) -> Result<bool> {
        const LONGEST: usize = 64;
        let full_name = self.full_name("format");
        let file = Arc::clone(&self.0.file);
        let member = self.member("format")?;
        let fail = |error: io::Error| TableError::unreadable(&full_name, error);
        let mut bytes = member.bytes(&file, &full_name)?;
        bytes.go_to(member.header.n_bytes).map_err(fail)?;
        let mut text = Vec::new();
        let n = read_block(&mut bytes, &mut text, LONGEST).map_err(fail)?;
        text.truncate(n);
        // A string of bytes ends with zeros; each character of a string of text has some.
        text.retain(|&byte| byte != 0);
        match text.as_slice() {
            b"csr" => Ok(false),
            b"csc" => Ok(true),
            other => Err(TableError::Binary(Report::new(
                &self.0.name,
                format!("its sparse matrix has the format {}", quoted(&String::from_utf8_lossy(other))),
                "a sparse matrix must have the format \"csr\" or \"csc\"",
                "Call .tocsr() on the matrix first and save that with scipy.sparse.save_npz",
            ))),
        }
    }

    /// Number of rows and of columns.
    fn shape(&mut self) -> Result<(usize, usize)> {
        let full_name = self.full_name("shape");
        let mut array = self.integers("shape")?;
        if array.n_rows() != 2 {
            let found = format!("the matrix has {}", counted(array.n_rows(), "dimension"));
            return Err(damaged(&full_name, &found, "a table must have 2 dimensions"));
        }
        let lengths = gather(&mut array, &full_name, |_, length| Ok(length))?;
        let &[n_rows, n_cols] = lengths.as_slice() else { return Ok((0, 0)) };
        let found = format!("its sparse matrix has shape ({n_rows}, {n_cols})");
        if n_rows < 0.0 || n_cols < 0.0 {
            return Err(damaged(&self.0.name, &found, "no length may be negative"));
        }
        if !(1.0..=MOST_COLUMNS as f64).contains(&n_cols) {
            return Err(TableError::Binary(Report::new(
                &self.0.name,
                format!("{found}, so {n_cols} columns"),
                format!("a sparse table must have 1 to {MOST_COLUMNS} columns"),
                "Save a matrix with one row per sample and one column per feature",
            )));
        }
        if n_rows < 1.0 {
            return Err(TableError::no_rows(&self.0.name, n_cols as usize));
        }
        Ok((n_rows as usize, n_cols as usize))
    }

    /// Where each line begins, and where the last one ends.
    fn offsets(&mut self, n_lines: usize, line: &str, n_entries: usize) -> Result<Vec<usize>> {
        let full_name = self.full_name("indptr");
        let mut array = self.integers("indptr")?;
        if n_lines.checked_add(1) != Some(array.n_rows()) {
            let found = format!("it has {} entries, and the matrix has {n_lines} {line}s", array.n_rows());
            return Err(damaged(&full_name, &found, &format!("it must have one entry more than {line}s")));
        }
        let wrong = |found: &str| {
            let required =
                format!("it must rise from 0 to {n_entries}, the number of entries, and never fall");
            damaged(&full_name, found, &required)
        };
        let mut before = 0.0;
        let offsets = gather(&mut array, &full_name, |i, offset| {
            if i == 0 && offset != 0.0 || offset > n_entries as f64 {
                return Err(wrong(&format!("its entry {} is {offset}", i + 1)));
            }
            if offset < before {
                return Err(wrong(&format!("its entry {} is {offset}, after {before}", i + 1)));
            }
            before = offset;
            Ok(offset as usize)
        })?;
        match offsets.last() {
            Some(&last) if last == n_entries => Ok(offsets),
            _ => Err(wrong(&format!("it ends with {before}"))),
        }
    }
}

/// The place of each entry in its line.
fn places(array: &mut Array, full_name: &str, length: usize, across: &str) -> Result<Vec<u32>> {
    let end = length as f64;
    gather(array, full_name, |i, place| {
        if (0.0..end).contains(&place) {
            return Ok(place as u32);
        }
        let required =
            format!("every {across} must be 0 to {}, because the matrix has {length} {across}s", length - 1);
        Err(damaged(full_name, &format!("its entry {} is {place}", i + 1), &required))
    })
}

/// Reads an array of one dimension into memory, which is taken only for data that are there.
///
/// Numerics: integers come as doubles. All that pass the checks are below 2⁵³, so exact; larger ones are rounded in
/// messages.
fn gather<T>(
    array: &mut Array,
    name: &str,
    mut entry: impl FnMut(usize, f64) -> Result<T>,
) -> Result<Vec<T>> {
    let n = array.n_rows();
    let too_large = |_| TableError::out_of_memory(name, n as u128);
    let mut entries = Vec::new();
    if array.is_complete() {
        entries.try_reserve_exact(n).map_err(too_large)?;
    }
    array.each_number(n, &mut |first, numbers| {
        entries.try_reserve(numbers.len()).map_err(too_large)?;
        for (i, &number) in numbers.iter().enumerate() {
            entries.push(entry(first + i, number)?);
        }
        Ok(())
    })?;
    Ok(entries)
}

/// Refuses more rows than a matrix in CSC form can be trusted to have.
fn refuse_rows(file: &str, n_rows: usize, n_entries: usize) -> Result<()> {
    let most = n_entries.saturating_mul(MOST_ROWS_FOR_AN_ENTRY).saturating_add(MOST_ROWS);
    let most = most.min(u32::MAX as usize);
    if n_rows <= most {
        return Ok(());
    }
    Err(TableError::Binary(Report::new(
        file,
        format!("its sparse matrix claims {n_rows} rows, and has {n_entries} entries in CSC form"),
        format!("with so many entries that form may have at most {most} rows"),
        "Call .tocsr() on the matrix first and save that with scipy.sparse.save_npz",
    )))
}

/// A file that is not a sparse matrix, or a damaged one.
fn damaged(file: &str, found: &str, required: &str) -> TableError {
    TableError::Binary(Report::new(file, found, required, ADVICE))
}
