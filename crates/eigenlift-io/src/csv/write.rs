//! Writes a text table.

use std::io::{self, Write};

use crate::write::Output;

/// Writes a header and one line per row, with the shortest digits that give the same number back.
pub(crate) fn write<W: Write>(sink: &mut W, output: &Output<'_>, delimiter: u8) -> io::Result<()> {
    let alone = output.text.len() + output.names.len() == 1;
    let mut line = String::new();
    let names = output.text.iter().map(|(name, _)| *name).chain(output.names.iter().map(String::as_str));
    for name in names {
        push_text(&mut line, name, delimiter, alone);
    }
    end_line(sink, &mut line)?;
    for row in 0..output.n_rows {
        for (_, cells) in output.text {
            push_text(&mut line, cells.get(row).map_or("", String::as_str), delimiter, alone);
        }
        for &value in output.row(row) {
            push_number(&mut line, value, output.single_precision);
            line.push(char::from(delimiter));
        }
        end_line(sink, &mut line)?;
    }
    Ok(())
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
