//! Writes Parquet files.

use std::io;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::outlet::Outlet;
use crate::output::Output;
use crate::sheet::{Columns, Sheet};

/// Most rows in one row group.
const GROUP_ROWS: usize = 1 << 17;

/// Most numbers in one row group, which is held in memory.
const GROUP_NUMBERS: usize = 1 << 23;

/// Starts a file of text columns and columns of numbers, compressed with snappy.
pub(crate) fn create(outlet: Outlet, columns: &Columns) -> io::Result<Box<dyn Sheet>> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let schema = schema(columns).map_err(to_io)?;
    let file = SerializedFileWriter::new(outlet, schema, Arc::new(properties)).map_err(to_io)?;
    let n_columns = (columns.names.len() + columns.text_names.len()).max(1);
    let text = vec![Vec::new(); columns.text_names.len()];
    Ok(Box::new(GroupSheet {
        file,
        width: columns.names.len(),
        single: columns.single_precision,
        group_rows: (GROUP_NUMBERS / n_columns).clamp(1, GROUP_ROWS),
        n_held: 0,
        text,
        values: Vec::new(),
    }))
}

/// A file that gets a row group whenever there are rows enough.
struct GroupSheet {
    file: SerializedFileWriter<Outlet>,
    width: usize,
    single: bool,
    group_rows: usize,
    /// Rows that wait for their row group to be full, and their cells.
    n_held: usize,
    text: Vec<Vec<String>>,
    values: Vec<f64>,
}

impl Sheet for GroupSheet {
    fn append(&mut self, chunk: &Output<'_>) -> io::Result<()> {
        let mut start = 0;
        while start < chunk.n_rows {
            let end = chunk.n_rows.min(start + self.group_rows - self.n_held);
            let values = chunk.values.get(start * self.width..end * self.width).unwrap_or_default();
            let text = chunk.text.iter().map(|(_, cells)| cells.get(start..end).unwrap_or_default());
            if end - start == self.group_rows {
                self.write_group(&text.collect::<Vec<_>>(), values).map_err(to_io)?;
            } else {
                self.values.extend_from_slice(values);
                self.text.iter_mut().zip(text).for_each(|(held, cells)| held.extend_from_slice(cells));
                self.n_held += end - start;
                if self.n_held == self.group_rows {
                    self.write_held().map_err(to_io)?;
                }
            }
            start = end;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: usize) -> io::Result<Outlet> {
        if self.n_held > 0 {
            self.write_held().map_err(to_io)?;
        }
        self.file.into_inner().map_err(to_io)
    }
}

impl GroupSheet {
    fn write_held(&mut self) -> Result<(), ParquetError> {
        let (mut text, mut values) = (std::mem::take(&mut self.text), std::mem::take(&mut self.values));
        let cells: Vec<&[String]> = text.iter().map(Vec::as_slice).collect();
        self.write_group(&cells, &values)?;
        text.iter_mut().for_each(Vec::clear);
        values.clear();
        (self.text, self.values, self.n_held) = (text, values, 0);
        Ok(())
    }

    fn write_group(&mut self, text: &[&[String]], values: &[f64]) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        let mut position = 0;
        while let Some(mut column) = group.next_column()? {
            if let Some(cells) = text.get(position) {
                let cells: Vec<ByteArray> = cells.iter().map(|cell| ByteArray::from(cell.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&cells, None, None)?;
            } else {
                let cells = values.iter().skip(position - text.len()).step_by(self.width.max(1));
                if self.single {
                    let cells: Vec<f32> = cells.map(|&value| value as f32).collect();
                    column.typed::<FloatType>().write_batch(&cells, None, None)?;
                } else {
                    let cells: Vec<f64> = cells.copied().collect();
                    column.typed::<DoubleType>().write_batch(&cells, None, None)?;
                }
            }
            column.close()?;
            position += 1;
        }
        group.close()?;
        Ok(())
    }
}

fn schema(columns: &Columns) -> Result<TypePtr, ParquetError> {
    let number = if columns.single_precision { PhysicalType::FLOAT } else { PhysicalType::DOUBLE };
    let column = |name: &str, physical, logical| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let text = columns
        .text_names
        .iter()
        .map(|name| column(name, PhysicalType::BYTE_ARRAY, Some(LogicalType::String)));
    let numbers = columns.names.iter().map(|name| column(name, number, None));
    let fields = text.chain(numbers).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

/// The error of the operating system, where there is one underneath.
fn to_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}
