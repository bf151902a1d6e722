//! Writes NumPy arrays.

use std::io::{self, Write};

/// Writes numbers as an array of two dimensions, version 1, in row order.
pub(crate) fn write_numbers<W: Write + ?Sized>(
    sink: &mut W,
    values: &[f64],
    (n_rows, n_columns): (usize, usize),
    single: bool,
) -> io::Result<()> {
    let descr = if single { "<f4" } else { "<f8" };
    write_header(sink, descr, &format!("({n_rows}, {n_columns})"))?;
    for &value in values {
        if single {
            sink.write_all(&(value as f32).to_le_bytes())?;
        } else {
            sink.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Writes text as an array of one dimension of UCS-4 strings.
pub(crate) fn write_text<W: Write + ?Sized>(sink: &mut W, cells: &[String]) -> io::Result<()> {
    let n_chars = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0).max(1);
    write_header(sink, &format!("<U{n_chars}"), &format!("({},)", cells.len()))?;
    for cell in cells {
        let padding = std::iter::repeat('\0');
        for c in cell.chars().chain(padding).take(n_chars) {
            sink.write_all(&u32::from(c).to_le_bytes())?;
        }
    }
    Ok(())
}

/// The header ends with a line feed, and the data start at a multiple of 64 bytes.
fn write_header<W: Write + ?Sized>(sink: &mut W, descr: &str, shape: &str) -> io::Result<()> {
    const BEFORE_TEXT: usize = 10;
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(BEFORE_TEXT + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    sink.write_all(b"\x93NUMPY\x01\x00")?;
    sink.write_all(&length.to_le_bytes())?;
    sink.write_all(text.as_bytes())
}
