//! Reads NumPy arrays.

use std::io::Read;

use super::element::{Element, NumberType};
use super::header::{Header, damaged};
use crate::cell::Content;
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::Source;
use crate::table::Table;

/// More columns than this are taken for a damaged file.
const MOST_COLUMNS: u64 = 1 << 24;

/// Bytes decoded at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// Reads an NPY file.
pub(crate) fn read(source: Source, options: &ReadOptions) -> Result<Table> {
    let file = source.name.clone();
    let (mut reader, n_bytes) = source.into_seekable()?;
    let header = Header::read(&mut reader, &file)?;
    let names = names(&header, &file)?;
    let needed = header.data_bytes(&file, header.element(&file)?)?;
    let available = n_bytes.saturating_sub(header.n_bytes);
    if available < needed {
        return Err(truncated(&file, &header, needed, available));
    }
    let selection = Selection::resolve(&file, &names, options.columns.as_deref(), options.target.as_deref())?;
    let mut draft = Draft::new(&file, names, &selection);
    fill(&mut draft, &mut reader, &header, &file, true)?;
    let mut table = draft.finish(options.missing)?;
    table.single_precision = header.element(&file)?.is_single();
    Ok(table)
}

/// The names `x1`, `x2`, … of an array that can be a table.
pub(crate) fn names(header: &Header, file: &str) -> Result<Vec<String>> {
    let (_, n_columns) = header.table_shape(file)?;
    if !(1..=MOST_COLUMNS).contains(&n_columns) {
        return Err(TableError::Binary(Report::new(
            file,
            format!("its array has shape {}, so {n_columns} columns", header.shape_text()),
            format!("a table must have 1 to {MOST_COLUMNS} columns"),
            "Reshape the array to one row per sample and save it again",
        )));
    }
    Ok((1..=n_columns).map(|position| format!("x{position}")).collect())
}

/// Decodes the data of an array into the first columns of a draft, opening its rows.
///
/// An array in row order grows the draft as the data come in, so a header that lies costs nothing. One in column
/// order needs all rows at once: `verified` says that the data are known to be there; otherwise they are read first.
pub(crate) fn fill(
    draft: &mut Draft,
    reader: &mut dyn Read,
    header: &Header,
    file: &str,
    verified: bool,
) -> Result<()> {
    let element = header.element(file)?;
    let Element::Number(number) = element else {
        return Err(TableError::Binary(Report::new(
            file,
            "its array holds text",
            "a table must hold real numbers of at most 8 bytes",
            "Use the array as a --target, or convert it with astype(float)",
        )));
    };
    let (n_rows, n_columns) = header.table_shape(file)?;
    let needed = header.data_bytes(file, element)?;
    let (Ok(n_rows), Ok(n_columns)) = (usize::try_from(n_rows), usize::try_from(n_columns)) else {
        return Err(TableError::out_of_memory(file, u128::from(n_rows) * u128::from(n_columns)));
    };
    let truncated = |available| truncated(file, header, needed, available);
    if !header.is_fortran() || n_columns == 1 {
        return rows_in_order(draft, reader, number, (n_rows, n_columns), &truncated);
    }
    let bytes = if verified { Vec::new() } else { read_all(reader, needed, header, file)? };
    let mut held = bytes.as_slice();
    draft.open_rows(n_rows)?;
    columns_in_order(
        draft,
        if verified { reader } else { &mut held },
        number,
        (n_rows, n_columns),
        &truncated,
    )
}

fn columns_in_order(
    draft: &mut Draft,
    reader: &mut dyn Read,
    number: NumberType,
    (n_rows, n_columns): (usize, usize),
    truncated: &dyn Fn(u64) -> TableError,
) -> Result<()> {
    let mut block = Vec::new();
    let n_cells = n_rows * n_columns;
    let mut cell = 0;
    while cell < n_cells {
        block.clear();
        let wanted = (n_cells - cell).min(BLOCK_BYTES / 8) * number.n_bytes();
        let end = reader.take(wanted as u64).read_to_end(&mut block);
        if end.is_err() || block.len() < wanted {
            return Err(truncated((cell * number.n_bytes() + block.len()) as u64));
        }
        for bytes in block.chunks_exact(number.n_bytes()) {
            let at = Spot { row: cell % n_rows, line: None };
            draft.put(at, cell / n_rows, content(number.decode(bytes)), None)?;
            cell += 1;
        }
    }
    Ok(())
}

fn rows_in_order(
    draft: &mut Draft,
    reader: &mut dyn Read,
    number: NumberType,
    (n_rows, n_columns): (usize, usize),
    truncated: &dyn Fn(u64) -> TableError,
) -> Result<()> {
    let row_bytes = number.n_bytes() * n_columns;
    let rows_at_once = (BLOCK_BYTES / row_bytes).max(1);
    let mut block = Vec::new();
    let mut row = 0;
    while row < n_rows {
        let n = rows_at_once.min(n_rows - row);
        block.clear();
        let wanted = n * row_bytes;
        let end = reader.take(wanted as u64).read_to_end(&mut block);
        if end.is_err() || block.len() < wanted {
            return Err(truncated((row * row_bytes + block.len()) as u64));
        }
        draft.open_rows(n)?;
        for cells in block.chunks_exact(row_bytes) {
            for (position, bytes) in cells.chunks_exact(number.n_bytes()).enumerate() {
                draft.put(Spot { row, line: None }, position, content(number.decode(bytes)), None)?;
            }
            row += 1;
        }
    }
    Ok(())
}

fn content(value: f64) -> Content {
    if value.is_nan() {
        Content::Missing
    } else if value.is_infinite() {
        Content::Infinite
    } else {
        Content::Number(value)
    }
}

/// Reads the data of an array of text with one dimension.
pub(crate) fn read_text(reader: &mut dyn Read, header: &Header, file: &str) -> Result<Vec<String>> {
    let element = header.element(file)?;
    let Element::Text { n_chars, big_endian } = element else { return Ok(Vec::new()) };
    let needed = header.data_bytes(file, element)?;
    let bytes = read_all(reader, needed, header, file)?;
    if n_chars == 0 {
        let n = header.shape.first().and_then(|&n| usize::try_from(n).ok()).unwrap_or(0);
        return Ok(vec![String::new(); n]);
    }
    let character = |bytes: &[u8]| {
        let mut raw = [0; 4];
        raw.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let code = if big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    };
    let text = |cell: &[u8]| {
        cell.chunks_exact(4).map(character).collect::<String>().trim_end_matches('\0').to_owned()
    };
    Ok(bytes.chunks_exact(element.n_bytes() as usize).map(text).collect())
}

fn read_all(reader: &mut dyn Read, needed: u64, header: &Header, file: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let end = reader.take(needed).read_to_end(&mut bytes);
    if end.is_err() || (bytes.len() as u64) < needed {
        return Err(truncated(file, header, needed, bytes.len() as u64));
    }
    Ok(bytes)
}

/// The error for an array whose data are not all there.
fn truncated(file: &str, header: &Header, needed: u64, available: u64) -> TableError {
    let shape = header.shape_text();
    damaged(file, &format!("its shape {shape} needs {needed} bytes of data, and only {available} are there"))
}
