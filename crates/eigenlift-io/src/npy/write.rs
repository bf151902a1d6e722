//! Writes NumPy arrays.

use std::io::{self, Seek, SeekFrom, Write};

use crate::outlet::Outlet;
use crate::output::Output;
use crate::sheet::{Columns, Sheet};

/// Numbers encoded at a time.
const BLOCK_NUMBERS: usize = 1 << 13;

/// Starts an NPY file.
pub(crate) fn create(mut outlet: Outlet, columns: &Columns) -> io::Result<Box<dyn Sheet>> {
    let n_rows = columns.n_rows.unwrap_or(0);
    outlet.write_all(&header_of_numbers(n_rows, columns.names.len(), columns.single_precision)?)?;
    Ok(Box::new(ArraySheet { outlet, columns: columns.clone() }))
}

/// An array whose number of rows is written at the end, unless it was known before.
struct ArraySheet {
    outlet: Outlet,
    columns: Columns,
}

impl Sheet for ArraySheet {
    fn append(&mut self, chunk: &Output<'_>) -> io::Result<()> {
        write_numbers(&mut self.outlet, chunk.values, self.columns.single_precision)
    }

    fn finish(mut self: Box<Self>, n_rows: usize) -> io::Result<Outlet> {
        if self.columns.n_rows.is_none() {
            self.outlet.seek(SeekFrom::Start(0))?;
            let (n_columns, single) = (self.columns.names.len(), self.columns.single_precision);
            self.outlet.write_all(&header_of_numbers(n_rows, n_columns, single)?)?;
        }
        Ok(self.outlet)
    }
}

/// The header of an array of numbers with two dimensions, in row order; as long for any number of rows.
pub(crate) fn header_of_numbers(n_rows: usize, n_columns: usize, single: bool) -> io::Result<Vec<u8>> {
    header(if single { "<f4" } else { "<f8" }, &format!("({n_rows}, {n_columns})"))
}

/// Writes numbers, the data of an array without its header.
pub(crate) fn write_numbers<W: Write + ?Sized>(sink: &mut W, values: &[f64], single: bool) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(8 * BLOCK_NUMBERS.min(values.len()));
    for block in values.chunks(BLOCK_NUMBERS) {
        bytes.clear();
        if single {
            bytes.extend(block.iter().flat_map(|&value| (value as f32).to_le_bytes()));
        } else {
            bytes.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        }
        sink.write_all(&bytes)?;
    }
    Ok(())
}

/// The header of an array of one dimension of UCS-4 strings.
pub(crate) fn header_of_text(n_rows: usize, n_chars: usize) -> io::Result<Vec<u8>> {
    header(&format!("<U{n_chars}"), &format!("({n_rows},)"))
}

/// Writes one text of an array of UCS-4 strings.
pub(crate) fn write_text<W: Write + ?Sized>(sink: &mut W, cell: &str, n_chars: usize) -> io::Result<()> {
    let padding = std::iter::repeat('\0');
    cell.chars().chain(padding).take(n_chars).try_for_each(|c| sink.write_all(&u32::from(c).to_le_bytes()))
}

/// A header of version 1. It ends with a line feed, and the data start at a multiple of 64 bytes: at 128 for any shape
/// of at most two dimensions.
fn header(descr: &str, shape: &str) -> io::Result<Vec<u8>> {
    const BEFORE_TEXT: usize = 10;
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(BEFORE_TEXT + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_as_long_for_any_shape() {
        for (n_rows, n_columns) in [(0, 1), (7, 12), (usize::MAX, usize::MAX)] {
            for single in [false, true] {
                let header = header_of_numbers(n_rows, n_columns, single).expect("a header");
                assert_eq!(header.len(), 128);
            }
        }
    }
}
