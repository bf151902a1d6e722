//! Writes Parquet files.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::write::Output;

/// Rows in one row group.
const GROUP_ROWS: usize = 1 << 17;

/// Writes text columns and columns of numbers, compressed with snappy.
pub(crate) fn write<W: Write + Send>(sink: &mut W, output: &Output<'_>) -> io::Result<()> {
    write_file(sink, output).map_err(to_io)
}

fn write_file<W: Write + Send>(sink: &mut W, output: &Output<'_>) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut file = SerializedFileWriter::new(sink, schema(output)?, Arc::new(properties))?;
    for start in (0..output.n_rows).step_by(GROUP_ROWS) {
        let end = output.n_rows.min(start + GROUP_ROWS);
        let mut group = file.next_row_group()?;
        write_group(&mut group, output, start, end)?;
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn schema(output: &Output<'_>) -> Result<TypePtr, ParquetError> {
    let number = if output.single_precision { PhysicalType::FLOAT } else { PhysicalType::DOUBLE };
    let column = |name: &str, physical, logical| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let text =
        output.text.iter().map(|(name, _)| column(name, PhysicalType::BYTE_ARRAY, Some(LogicalType::String)));
    let numbers = output.names.iter().map(|name| column(name, number, None));
    let fields = text.chain(numbers).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

fn write_group<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    output: &Output<'_>,
    start: usize,
    end: usize,
) -> Result<(), ParquetError> {
    let width = output.names.len();
    let mut position = 0;
    while let Some(mut column) = group.next_column()? {
        if let Some((_, cells)) = output.text.get(position) {
            let cells = cells.get(start..end).unwrap_or_default();
            let cells: Vec<ByteArray> = cells.iter().map(|cell| ByteArray::from(cell.as_str())).collect();
            column.typed::<ByteArrayType>().write_batch(&cells, None, None)?;
        } else {
            let place = position - output.text.len();
            let rows = output.values.get(start * width..end * width).unwrap_or_default().chunks_exact(width);
            let values = rows.filter_map(|row| row.get(place).copied());
            if output.single_precision {
                let values: Vec<f32> = values.map(|value| value as f32).collect();
                column.typed::<FloatType>().write_batch(&values, None, None)?;
            } else {
                let values: Vec<f64> = values.collect();
                column.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        column.close()?;
        position += 1;
    }
    Ok(())
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
