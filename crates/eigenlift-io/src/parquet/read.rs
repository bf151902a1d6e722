//! Reads Parquet files.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::{Compression, Type as PhysicalType};
use parquet::column::page::Page;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::kind::{Kind, kind};
use crate::cell::{Content, is_missing};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, quoted};
use crate::feed::{Feed, Opened, Survey};
use crate::read::{Allowance, ReadOptions};
use crate::selection::Selection;
use crate::source::Source;
use crate::watched::Watched;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 4096;

/// Opens a Parquet file; a pipe is copied into a temporary file first, because the list of columns is at the end.
pub(crate) fn open(source: Source, options: &ReadOptions) -> Result<Opened> {
    let name = source.name.clone();
    let watched = source.watched();
    let (file, _) = source.into_section()?;
    guarded(&name, || open_file(&file, watched, &name, options))
}

/// Why: the decoder may panic on a damaged file, and a damaged file is not a bug here.
fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(damaged(name, "its contents contradict each other")))
}

fn open_file(
    file: &Arc<File>,
    watched: Option<Watched>,
    name: &str,
    options: &ReadOptions,
) -> Result<Opened> {
    let handle = file.try_clone().map_err(|error| TableError::unreadable(name, error))?;
    let reader = SerializedFileReader::new(handle).map_err(|error| broken(name, error))?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().parts().join(".")).collect();
    let selection = Selection::resolve(name, &names, options.columns.as_deref(), options.target.as_deref())?;
    let single_precision = selection
        .data
        .iter()
        .filter_map(|&position| schema.columns().get(position))
        .map(|column| column.physical_type())
        .filter(|&physical| physical != PhysicalType::BYTE_ARRAY)
        .all(|physical| physical == PhysicalType::FLOAT);
    let mut draft = Draft::new(name, names.clone(), &selection);
    let mut unsigned = Vec::with_capacity(names.len());
    for (position, column) in schema.columns().iter().enumerate() {
        let kind = kind(column);
        unsigned.push(kind == Ok(Kind::Unsigned));
        match kind {
            Ok(Kind::Text) => {}
            Ok(_) if draft.asks_for(position) => draft.declare_numbers(position),
            Err(found) if draft.asks_for(position) => {
                return Err(unsupported(name, position, names.get(position), &found));
            }
            _ => draft.ignore(position),
        }
    }
    let name = name.to_owned();
    let held_bytes = held_by_columns(&reader, &draft, unsigned.len());
    let (columns, next_group, left) = (Vec::new(), 0, 0);
    let mut allowance = Allowance::new(options);
    allowance.take(unpacked(&reader, &draft), &name)?;
    let groups =
        Groups { name: name.clone(), reader, unsigned, held_bytes, next_group, columns, left, allowance };
    let (feed, survey) = (Box::new(groups), Survey::UntilKnown);
    Ok(Opened { name, feed, draft, survey, watched, single_precision, number_in_header: false })
}

/// Bytes that the pages of all columns take while rows are read: for each column a dictionary and a page, as large as the largest
/// of the first column of numbers or text in the first row group.
fn held_by_columns(reader: &SerializedFileReader<File>, draft: &Draft, n_columns: usize) -> u64 {
    let mut wanted = (0..n_columns).filter(|&position| draft.wants(position));
    let Some(first) = wanted.next() else { return 0 };
    let group = reader.get_row_group(0);
    let Ok(group) = group else { return 0 };
    // What is wrong with the file is told when its rows are read.
    let Ok(mut pages) = group.get_column_page_reader(first) else { return 0 };
    let packed = group.metadata().column(first).compression() != Compression::UNCOMPRESSED;
    let (mut dictionary, mut largest) = (0, 0);
    while let Ok(Some(page)) = pages.get_next_page() {
        let size = page.buffer().len() as u64;
        let held = if matches!(page, Page::DictionaryPage { .. }) { &mut dictionary } else { &mut largest };
        *held = size.max(*held);
    }
    // A dictionary as it is read, and decoded; a page, and what is left of the buffer that it was unpacked from.
    let bytes = dictionary + dictionary / 4 + if packed { largest + largest / 4 } else { largest };
    bytes * (1 + wanted.count() as u64)
}

/// The bytes that the numbers of a file take once they are unpacked, or all its pages if that is more. Text is counted as it
/// comes, because a dictionary repeats it at no cost in the file.
fn unpacked(reader: &SerializedFileReader<File>, draft: &Draft) -> u64 {
    let (mut pages, mut numbers) = (0_u64, 0_u64);
    for group in reader.metadata().row_groups() {
        let n_rows = u64::try_from(group.num_rows()).unwrap_or(0);
        for (position, chunk) in group.columns().iter().enumerate().filter(|(i, _)| draft.wants(*i)) {
            let width = match group.schema_descr().columns().get(position).map(|c| c.physical_type()) {
                Some(PhysicalType::BOOLEAN) => 1,
                Some(PhysicalType::INT32 | PhysicalType::FLOAT) => 4,
                Some(PhysicalType::INT64 | PhysicalType::DOUBLE) => 8,
                _ => 0,
            };
            numbers = numbers.saturating_add(n_rows.saturating_mul(width));
            pages = pages.saturating_add(u64::try_from(chunk.uncompressed_size()).unwrap_or(0));
        }
    }
    pages.max(numbers)
}

/// A file, row group after row group.
struct Groups {
    name: String,
    reader: SerializedFileReader<File>,
    /// For each column of the file, whether its whole numbers have no sign.
    unsigned: Vec<bool>,
    held_bytes: u64,
    next_group: usize,
    /// The columns of the row group that is being read, with their positions.
    columns: Vec<(usize, ColumnReader)>,
    /// Rows of it that are still to come.
    left: usize,
    allowance: Allowance,
}

impl Feed for Groups {
    fn n_rows(&self) -> Option<usize> {
        let groups = self.reader.metadata().row_groups();
        groups.iter().try_fold(0_usize, |n, group| n.checked_add(usize::try_from(group.num_rows()).ok()?))
    }

    fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize> {
        let name = self.name.clone();
        guarded(&name, || {
            let mut n = 0;
            while n < most_rows {
                if self.left == 0 && !self.open_group(draft)? {
                    break;
                }
                let more = self.left.min(most_rows - n);
                self.read_together(draft, more)?;
                n += more;
            }
            Ok(n)
        })
    }

    fn can_rewind(&self) -> bool {
        true
    }

    fn rewind(&mut self) -> Result<()> {
        (self.next_group, self.left) = (0, 0);
        self.columns.clear();
        Ok(())
    }

    fn held_bytes(&self) -> u64 {
        self.held_bytes
    }
}

impl Groups {
    /// Goes to the next row group that has rows; `false` at the end.
    fn open_group(&mut self, draft: &Draft) -> Result<bool> {
        let broken = |error: ParquetError| broken(&self.name, error);
        self.columns.clear();
        while self.left == 0 {
            if self.next_group >= self.reader.num_row_groups() {
                return Ok(false);
            }
            let group = self.reader.get_row_group(self.next_group).map_err(broken)?;
            self.next_group += 1;
            let facts = group.metadata();
            self.left = usize::try_from(facts.num_rows())
                .map_err(|_| damaged(&self.name, "it has a negative number of rows"))?;
            for position in (0..self.unsigned.len()).filter(|&position| draft.wants(position)) {
                check_chunk(facts, position, &self.name)?;
                self.columns.push((position, group.get_column_reader(position).map_err(broken)?));
            }
        }
        Ok(true)
    }

    /// The next rows of the row group, column after column. Columns that come to their end are closed, so that a row group read as a
    /// whole holds the pages of one column at a time.
    fn read_together(&mut self, draft: &mut Draft, n: usize) -> Result<()> {
        let first_row = draft.next_row();
        let mut opened = 0;
        let ends = n == self.left;
        for (position, mut reader) in std::mem::take(&mut self.columns) {
            let unsigned = self.unsigned.get(position) == Some(&true);
            for start in (0..n).step_by(BATCH_ROWS) {
                let more = (n - start).min(BATCH_ROWS);
                let (name, allowance) = (&self.name, &mut self.allowance);
                let mut batch = Batch { first_row: first_row + start, n: more, draft, name, allowance };
                // Rows are opened only once data for them were seen.
                batch.read_column(&mut reader, position, unsigned, start >= opened)?;
                opened = opened.max(start + more);
            }
            if !ends {
                self.columns.push((position, reader));
            }
        }
        draft.open_rows(n - opened)?;
        self.left -= n;
        Ok(())
    }
}

/// Some rows that are being read, column after column.
struct Batch<'a> {
    draft: &'a mut Draft,
    first_row: usize,
    n: usize,
    name: &'a str,
    allowance: &'a mut Allowance,
}

impl Batch<'_> {
    fn read_column(
        &mut self,
        reader: &mut ColumnReader,
        position: usize,
        unsigned: bool,
        first: bool,
    ) -> Result<()> {
        use ColumnReader as Reader;
        match reader {
            Reader::BoolColumnReader(r) => self.numbers(r, position, first, |&v| f64::from(u8::from(v))),
            Reader::Int32ColumnReader(r) if unsigned => {
                self.numbers(r, position, first, |&v| f64::from(v as u32))
            }
            Reader::Int32ColumnReader(r) => self.numbers(r, position, first, |&v| f64::from(v)),
            Reader::Int64ColumnReader(r) if unsigned => {
                self.integers(r, position, first, |&v| v as u64 as f64)
            }
            Reader::Int64ColumnReader(r) => self.integers(r, position, first, |&v| v as f64),
            Reader::FloatColumnReader(r) => self.numbers(r, position, first, |&v| f64::from(v)),
            Reader::DoubleColumnReader(r) => self.numbers(r, position, first, |&v| v),
            Reader::ByteArrayColumnReader(r) => self.text(r, position, first),
            _ => Err(unsupported(self.name, position, None, "values of an unknown type")),
        }
    }

    fn numbers<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        position: usize,
        first: bool,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<()> {
        let cells = self.cells(reader, first)?;
        let numbers: Vec<f64> = cells.iter().map(|value| value.map_or(f64::NAN, &number)).collect();
        self.draft.put_column(self.first_row, position, &numbers)
    }

    /// As [`numbers`](Self::numbers), of integers that may be too large for double precision.
    fn integers<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        position: usize,
        first: bool,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<()> {
        let cells = self.cells(reader, first)?;
        let numbers: Vec<f64> = cells.iter().map(|value| value.map_or(f64::NAN, &number)).collect();
        numbers.iter().for_each(|number| self.draft.note_integer(position, *number));
        self.draft.put_column(self.first_row, position, &numbers)
    }

    fn text(
        &mut self,
        reader: &mut ColumnReaderImpl<parquet::data_type::ByteArrayType>,
        position: usize,
        first: bool,
    ) -> Result<()> {
        let cells = self.cells(reader, first)?;
        for (i, value) in cells.iter().enumerate() {
            let bytes = value.map_or(&[][..], ByteArray::data);
            self.allowance.take((bytes.len() + size_of::<String>()) as u64, self.name)?;
            let text = std::str::from_utf8(bytes)
                .map_err(|_| damaged(self.name, &format!("text in column {} is not UTF-8", position + 1)))?;
            let content = if is_missing(text.trim()) { Content::Missing } else { Content::Text };
            self.draft.put(Spot { row: self.first_row + i, line: None }, position, content, Some(text))?;
        }
        Ok(())
    }

    /// Decodes one cell per row; `None` for a null.
    fn cells<T: DataType>(&mut self, reader: &mut ColumnReaderImpl<T>, first: bool) -> Result<Cells<T::T>> {
        let mut cells = Cells { values: Vec::new(), levels: Vec::new(), n: self.n };
        let read = reader.read_records(self.n, Some(&mut cells.levels), None, &mut cells.values);
        let (n_records, ..) = read.map_err(|error| broken(self.name, error))?;
        if n_records != self.n {
            return Err(damaged(self.name, "a column ends before the last row"));
        }
        if first {
            self.draft.open_rows(self.n)?;
        }
        Ok(cells)
    }
}

/// The cells of one column: the values that are there, and for each row whether it has one.
struct Cells<T> {
    values: Vec<T>,
    /// 0 for a null; empty when there can be none.
    levels: Vec<i16>,
    n: usize,
}

impl<T> Cells<T> {
    fn iter(&self) -> impl Iterator<Item = Option<&T>> {
        let mut values = self.values.iter();
        (0..self.n).map(move |i| if self.levels.get(i) == Some(&0) { None } else { values.next() })
    }
}

/// Refuses a column chunk whose place in the file is nonsense or whose codec is not built in.
fn check_chunk(facts: &RowGroupMetaData, position: usize, name: &str) -> Result<()> {
    let Some(chunk) = facts.columns().get(position) else {
        return Err(damaged(name, &format!("column {} is not in every row group", position + 1)));
    };
    let numbers =
        [chunk.data_page_offset(), chunk.compressed_size(), chunk.dictionary_page_offset().unwrap_or(0)];
    if numbers.iter().any(|&number| number < 0) {
        return Err(damaged(name, &format!("the place of column {} is negative", position + 1)));
    }
    let codec = chunk.compression();
    if matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY) {
        return Ok(());
    }
    let label = format!("{codec:?}");
    let label = label.split('(').next().unwrap_or_default();
    Err(TableError::Binary(Report::new(
        name,
        format!("column {} is compressed with {label}", position + 1),
        "a Parquet file must be uncompressed or compressed with SNAPPY",
        "Write it again with snappy compression, or save it as CSV or NPY",
    )))
}

fn unsupported(file: &str, position: usize, name: Option<&String>, found: &str) -> TableError {
    let name = quoted(name.map_or("", String::as_str));
    TableError::Binary(Report::new(
        file,
        format!("column {} ({name}) holds {found}", position + 1),
        "a column must hold plain numbers, truth values or text",
        "Leave that column out with --columns, or convert it",
    ))
}

/// What the decoder says: a refusal of the operating system is not the fault of the file.
fn broken(file: &str, error: ParquetError) -> TableError {
    match &error {
        ParquetError::External(inner) => {
            match inner.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
                Some(code) => TableError::unreadable(file, io::Error::from_raw_os_error(code)),
                None => damaged(file, &error.to_string()),
            }
        }
        _ => damaged(file, &error.to_string()),
    }
}

fn damaged(file: &str, found: &str) -> TableError {
    TableError::Binary(Report::new(
        file,
        format!("it cannot be read as Parquet ({found})"),
        "a Parquet file must be complete and consistent",
        "Write the file again",
    ))
}
