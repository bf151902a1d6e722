//! Reads a text table.

use std::collections::HashMap;

use super::dialect::{decimal_mark, detect};
use super::records::{Delimiter, Record, Records};
use crate::cell::{Content, DecimalMark, classify};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, counted, quoted};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::{Source, Whole};
use crate::table::Table;

/// Reads a text table.
pub(crate) fn read(mut source: Source, options: &ReadOptions, delimiter: Option<u8>) -> Result<Table> {
    refuse_other_than_utf8(&source)?;
    let head_is_all = source.head_is_all();
    if source.head.starts_with(b"\xEF\xBB\xBF") {
        source.head.drain(..3);
    }
    let file = source.name.clone();
    let delimiter = match delimiter {
        Some(b' ') => Delimiter::Blanks,
        Some(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Delimiter::Byte(byte),
        Some(byte) => return Err(bad_delimiter(byte)),
        None => detect(&source.head, head_is_all),
    };
    let mut reading = Reading {
        records: Records::new(source.into_reader(), &file, delimiter),
        mark: decimal_mark(delimiter),
        file,
        record: Record::default(),
    };
    let header = reading.first_line(options.header)?;
    let selection = Selection::resolve(
        &reading.file,
        &header.names,
        options.columns.as_deref(),
        options.target.as_deref(),
    )?;
    let mut draft = Draft::new(&reading.file, header.names, &selection);
    reading.rows(&mut draft, header.is_data, header.line)?;
    let mut table = draft.finish(options.missing)?;
    table.number_in_header = header.has_number;
    Ok(table)
}

struct Reading {
    file: String,
    records: Records<Whole>,
    mark: DecimalMark,
    record: Record,
}

/// What the first line says.
struct Header {
    names: Vec<String>,
    line: u64,
    /// The first line is a row of data, and still to be taken as such.
    is_data: bool,
    has_number: bool,
}

impl Reading {
    fn first_line(&mut self, wanted: Option<bool>) -> Result<Header> {
        if !self.records.read(&mut self.record)? {
            return Err(TableError::Layout(Report::new(
                &self.file,
                "it has only blank lines",
                "a table must have at least one row",
                "Check that the file was written completely",
            )));
        }
        let line = self.record.line;
        let text = self.record.text(&self.file)?;
        let mut mark = self.mark;
        let contents: Vec<Content> = self.record.cells(text).map(|cell| classify(cell, &mut mark)).collect();
        let is_header = wanted.unwrap_or_else(|| contents.contains(&Content::Text));
        if !is_header {
            let names = (1..=contents.len()).map(|position| format!("x{position}")).collect();
            return Ok(Header { names, line, is_data: true, has_number: false });
        }
        let has_number = contents.iter().any(|content| matches!(content, Content::Number(_)));
        let cells: Vec<&str> = self.record.cells(text).map(str::trim).collect();
        Ok(Header { names: header_names(&self.file, line, &cells)?, line, is_data: false, has_number })
    }

    fn rows(&mut self, draft: &mut Draft, first_is_data: bool, first_line: u64) -> Result<()> {
        let n_columns = self.record.n_cells();
        let mut available = first_is_data || self.records.read(&mut self.record)?;
        while available {
            if self.record.n_cells() != n_columns {
                return Err(self.ragged(n_columns, first_line));
            }
            let at = Spot { row: draft.n_rows(), line: Some(self.record.line) };
            draft.open_rows(1)?;
            let text = self.record.text(&self.file)?;
            for (position, cell) in self.record.cells(text).enumerate() {
                if draft.wants(position) {
                    draft.put(at, position, classify(cell, &mut self.mark), Some(cell))?;
                }
            }
            available = self.records.read(&mut self.record)?;
        }
        Ok(())
    }

    fn ragged(&self, expected: usize, first_line: u64) -> TableError {
        let found = self.record.n_cells();
        TableError::Layout(Report::new(
            &self.file,
            format!(
                "line {} has {}, and line {first_line} has {expected}",
                self.record.line,
                counted(found, "cell")
            ),
            "every line must have the same number of cells",
            "Fix that line; a cell that holds the delimiter must stand in double quotes",
        ))
    }
}

/// The names in a header: empty ones become `x` and the position, two of the same are refused.
fn header_names(file: &str, line: u64, cells: &[&str]) -> Result<Vec<String>> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (position, &name) in cells.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(first) = positions.insert(name, position) {
            return Err(TableError::Layout(Report::new(
                file,
                format!(
                    "line {line} has the name {} in column {} and in column {}",
                    quoted(name),
                    first + 1,
                    position + 1
                ),
                "every column must have a name of its own",
                "Rename one of them; if that line is data, put a line of names above it",
            )));
        }
    }
    let named = |(position, name): (usize, &&str)| {
        let mut name =
            if name.is_empty() { format!("x{}", position + 1) } else { return (*name).to_owned() };
        while positions.contains_key(name.as_str()) {
            name.push('_');
        }
        name
    };
    Ok(cells.iter().enumerate().map(named).collect())
}

fn refuse_other_than_utf8(source: &Source) -> Result<()> {
    let head = &source.head;
    let n_nul = head.iter().filter(|&&byte| byte == 0).count();
    // Latin text in UTF-16 has a NUL in every pair of bytes, all on the same side.
    let on_one_side =
        (0..2).any(|side| head.iter().skip(side).step_by(2).filter(|&&byte| byte == 0).count() == n_nul);
    let (found, advice) = if head.starts_with(&[0x1F, 0x8B]) {
        ("it is compressed with gzip", "To use it, decompress it first, for example with gunzip")
    } else if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
        ("it is encoded in UTF-16", "Save it again as UTF-8")
    } else if head.len() > 8 && 3 * n_nul > head.len() && on_one_side {
        ("it is encoded in UTF-16 without a mark", "Save it again as UTF-8")
    } else {
        return Ok(());
    };
    Err(TableError::Encoding(Report::new(
        &source.name,
        found,
        "a text table must be plain text in UTF-8",
        advice,
    )))
}

fn bad_delimiter(byte: u8) -> TableError {
    TableError::Setting(Report::new(
        "delimiter",
        format!("the byte 0x{byte:02X} cannot separate cells"),
        "a delimiter must be one ASCII character other than a quote or a line end",
        "Use a comma, a semicolon, a tab, a bar or a space",
    ))
}
