//! Reads Parquet files.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::{Compression, ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::cell::{Content, is_missing};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, quoted};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::Source;
use crate::table::Table;

/// Rows decoded at a time.
const BATCH_ROWS: usize = 4096;

/// Reads a Parquet file.
pub(crate) fn read(source: Source, options: &ReadOptions) -> Result<Table> {
    let name = source.name.clone();
    let file = source.into_file()?;
    // Why: the decoder may panic on a damaged file, and a damaged file is not a bug here.
    catch_unwind(AssertUnwindSafe(|| read_file(file, &name, options)))
        .unwrap_or_else(|_| Err(damaged(&name, "its contents contradict each other")))
}

fn read_file(file: File, name: &str, options: &ReadOptions) -> Result<Table> {
    let broken = |error: ParquetError| damaged(name, &error.to_string());
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().parts().join(".")).collect();
    let selection = Selection::resolve(name, &names, options.columns.as_deref(), options.target.as_deref())?;
    let single = selection
        .data
        .iter()
        .filter_map(|&position| schema.columns().get(position))
        .map(|column| column.physical_type())
        .filter(|&physical| physical != PhysicalType::BYTE_ARRAY)
        .all(|physical| physical == PhysicalType::FLOAT);
    let mut draft = Draft::new(name, names.clone(), &selection);
    let mut signs = Vec::with_capacity(names.len());
    for (position, column) in schema.columns().iter().enumerate() {
        let kind = kind(column);
        signs.push(kind == Ok(Kind::Unsigned));
        match kind {
            Ok(Kind::Text) => {}
            Ok(_) if draft.asks_for(position) => {}
            Err(found) if draft.asks_for(position) => {
                return Err(unsupported(name, position, names.get(position), &found));
            }
            _ => draft.ignore(position),
        }
    }
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(broken)?;
        read_group(&mut draft, group.as_ref(), &signs, name)?;
    }
    let mut table = draft.finish(options.missing)?;
    table.single_precision = single;
    Ok(table)
}

fn read_group(draft: &mut Draft, group: &dyn RowGroupReader, unsigned: &[bool], name: &str) -> Result<()> {
    let broken = |error: ParquetError| damaged(name, &error.to_string());
    let facts = group.metadata();
    let mut left =
        usize::try_from(facts.num_rows()).map_err(|_| damaged(name, "it has a negative number of rows"))?;
    let mut columns = Vec::new();
    for (position, &unsigned) in unsigned.iter().enumerate() {
        if draft.wants(position) {
            check_chunk(facts, position, name)?;
            columns.push((position, unsigned, group.get_column_reader(position).map_err(broken)?));
        }
    }
    while left > 0 {
        let n = left.min(BATCH_ROWS);
        let mut batch = Batch { first_row: draft.n_rows(), n, draft, name };
        for (i, (position, unsigned, reader)) in columns.iter_mut().enumerate() {
            // Rows are opened only once data for them were seen.
            batch.read_column(reader, *position, *unsigned, i == 0)?;
        }
        if columns.is_empty() {
            batch.draft.open_rows(n)?;
        }
        left -= n;
    }
    Ok(())
}

/// Some rows that are being read, column after column.
struct Batch<'a> {
    draft: &'a mut Draft,
    first_row: usize,
    n: usize,
    name: &'a str,
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
                self.numbers(r, position, first, |&v| v as u64 as f64)
            }
            Reader::Int64ColumnReader(r) => self.numbers(r, position, first, |&v| v as f64),
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
        for (i, value) in cells.iter().enumerate() {
            let content = match value.map_or(f64::NAN, &number) {
                value if value.is_nan() => Content::Missing,
                value if value.is_infinite() => Content::Infinite,
                value => Content::Number(value),
            };
            self.draft.put(Spot { row: self.first_row + i, line: None }, position, content, None)?;
        }
        Ok(())
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
        let (n_records, ..) = read.map_err(|error| damaged(self.name, &error.to_string()))?;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Unsigned,
    Text,
}

/// What a column holds; `Err` says in words what cannot be used.
fn kind(column: &ColumnDescriptor) -> std::result::Result<Kind, String> {
    if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
        return Err("nested values".to_owned());
    }
    let physical = column.physical_type();
    let text =
        matches!(column.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON);
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    );
    match (physical, column.logical_type_ref()) {
        (PhysicalType::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
            Ok(Kind::Text)
        }
        (PhysicalType::BYTE_ARRAY, None) if text => Ok(Kind::Text),
        (PhysicalType::INT32 | PhysicalType::INT64, Some(LogicalType::Integer(_))) if unsigned => {
            Ok(Kind::Unsigned)
        }
        (PhysicalType::INT32 | PhysicalType::INT64, Some(LogicalType::Integer(_))) => Ok(Kind::Number),
        (_, Some(logical)) => Err(format!("{logical:?} values")),
        (PhysicalType::INT32 | PhysicalType::INT64, None) => match column.converted_type() {
            _ if unsigned => Ok(Kind::Unsigned),
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Ok(Kind::Number),
            other => Err(format!("{other} values")),
        },
        (PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE, None) => Ok(Kind::Number),
        (other, None) => Err(format!("{other} values")),
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

fn damaged(file: &str, found: &str) -> TableError {
    TableError::Binary(Report::new(
        file,
        format!("it cannot be read as Parquet ({found})"),
        "a Parquet file must be complete and consistent",
        "Write the file again",
    ))
}
