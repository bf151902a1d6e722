//! Writes text tables.

use std::io::{self, Write};

use crate::outlet::Outlet;
use crate::output::Output;
use crate::sheet::{Columns, Sheet};

/// Starts a text table with its header.
pub(crate) fn create(mut outlet: Outlet, columns: &Columns, delimiter: u8) -> io::Result<Box<dyn Sheet>> {
    let style = Style { delimiter, alone: columns.text_names.len() + columns.names.len() == 1 };
    style.write_header(&mut outlet, columns.text_names.iter().chain(&columns.names).map(String::as_str))?;
    Ok(Box::new(TextSheet { outlet, style }))
}

/// A whole text table in memory.
pub(crate) fn bytes(output: &Output<'_>, delimiter: u8) -> io::Result<Vec<u8>> {
    let style = Style { delimiter, alone: output.text.len() + output.names.len() == 1 };
    let mut bytes = Vec::new();
    let names = output.text.iter().map(|(name, _)| *name).chain(output.names.iter().map(String::as_str));
    style.write_header(&mut bytes, names)?;
    style.write_rows(&mut bytes, output)?;
    Ok(bytes)
}

/// A text table, one line for each row, with the shortest digits that give the same number back.
struct TextSheet {
    outlet: Outlet,
    style: Style,
}

/// How lines are written.
#[derive(Clone, Copy)]
struct Style {
    delimiter: u8,
    /// There is one column alone, whose empty cells would look like blank lines.
    alone: bool,
}

impl Style {
    fn write_header<'a>(self, sink: &mut impl Write, names: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut line = String::new();
        names.for_each(|name| push_text(&mut line, name, self.delimiter, self.alone));
        end_line(sink, &mut line)
    }

    fn write_rows(self, sink: &mut impl Write, chunk: &Output<'_>) -> io::Result<()> {
        let mut line = String::new();
        for row in 0..chunk.n_rows {
            for (_, cells) in chunk.text {
                push_text(&mut line, cells.get(row).map_or("", String::as_str), self.delimiter, self.alone);
            }
            for &value in chunk.row(row) {
                push_number(&mut line, value, chunk.single_precision);
                line.push(char::from(self.delimiter));
            }
            end_line(sink, &mut line)?;
        }
        Ok(())
    }
}

impl Sheet for TextSheet {
    fn append(&mut self, chunk: &Output<'_>) -> io::Result<()> {
        self.style.write_rows(&mut self.outlet, chunk)
    }

    fn finish(self: Box<Self>, _: usize) -> io::Result<Outlet> {
        Ok(self.outlet)
    }
}

fn end_line<W: Write>(sink: &mut W, line: &mut String) -> io::Result<()> {
    line.pop();
    line.push('\n');
    sink.write_all(line.as_bytes())?;
    line.clear();
    Ok(())
}

fn push_text(line: &mut String, cell: &str, delimiter: u8, alone: bool) {
    let delimiter = char::from(delimiter);
    let needs_quotes = cell.contains([delimiter, '"', '\n', '\r'])
        || cell.starts_with(char::is_whitespace)
        || cell.ends_with(char::is_whitespace)
        || (alone && cell.is_empty());
    if needs_quotes {
        line.push('"');
        line.push_str(&cell.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(cell);
    }
    line.push(delimiter);
}

/// The shortest digits that give the same number back; whole numbers without a decimal point.
fn push_number(line: &mut String, value: f64, single: bool) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = if single { write!(line, "{:?}", value as f32) } else { write!(line, "{value:?}") };
    if line.ends_with(".0") {
        line.truncate(line.len() - 2);
    }
}
