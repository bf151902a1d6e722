//! Reads text tables.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use super::dialect::{cells_by_comma, decimal_mark, detect};
use super::records::{Delimiter, Record, Records, binary};
use crate::bytes::{Bytes, buffered, complete_lines};
use crate::cell::{Content, DecimalMark, classify};
use crate::draft::{Draft, Spot};
use crate::error::{Report, Result, TableError, counted, quoted};
use crate::feed::{Feed, Opened, Survey};
use crate::read::ReadOptions;
use crate::selection::Selection;
use crate::source::Source;

/// Opens a text table.
pub(crate) fn open(mut source: Source, options: &ReadOptions, delimiter: Option<u8>) -> Result<Opened> {
    refuse_other_than_utf8(&source)?;
    let name = source.name.clone();
    let complete = source.head_is_all();
    if source.is_pipe() && !complete {
        source.lengthen_head()?;
    }
    let start = if source.head.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let head = source.head.get(start..).unwrap_or_default();
    let delimiter = match delimiter {
        Some(b' ') => Delimiter::Blanks,
        Some(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r' | 0) => Delimiter::Byte(byte),
        Some(byte) => return Err(bad_delimiter(byte)),
        None => detect(head, complete),
    };
    if let Some(n_cells) = cells_by_comma(head, complete, delimiter) {
        return Err(other_delimiter(&name, delimiter, n_cells));
    }
    let dialect = Dialect { delimiter, header: options.header, start: start as u64 };
    let survey = if source.is_pipe() {
        let lines = if complete { source.head.clone() } else { complete_lines(&source.head).to_vec() };
        let (feed, _) = TextFeed::open(Bytes::once(lines, Box::new(std::io::empty())), &name, dialect)?;
        Survey::Head { feed: Box::new(feed), complete }
    } else {
        Survey::Full
    };
    let watched = source.watched();
    let (feed, first) = TextFeed::open(source.into_bytes(), &name, dialect)?;
    let selection =
        Selection::resolve(&name, &first.names, options.columns.as_deref(), options.target.as_deref())?;
    let draft = Draft::new(&name, first.names, &selection);
    let number_in_header = first.has_number;
    Ok(Opened {
        name,
        feed: Box::new(feed),
        draft,
        survey,
        watched,
        single_precision: false,
        number_in_header,
    })
}

/// How a text is cut into cells.
#[derive(Debug, Clone, Copy)]
struct Dialect {
    delimiter: Delimiter,
    /// Whether the first line is a header; `None` to decide by its cells.
    header: Option<bool>,
    /// The place of the first byte after a byte order mark.
    start: u64,
}

/// The rows of a text.
struct TextFeed {
    file: String,
    dialect: Dialect,
    can_rewind: bool,
    records: Records<BufReader<Bytes>>,
    mark: DecimalMark,
    record: Record,
    /// The record holds a row that is still to be taken.
    pending: bool,
    n_columns: usize,
    first_line: u64,
}

/// What the first line says.
struct FirstLine {
    names: Vec<String>,
    has_number: bool,
}

impl TextFeed {
    fn open(mut bytes: Bytes, file: &str, dialect: Dialect) -> Result<(Self, FirstLine)> {
        let fail = |error| TableError::unreadable(file, error);
        let can_rewind = bytes.can_rewind();
        if can_rewind {
            bytes.go_to(dialect.start).map_err(fail)?;
        } else {
            std::io::copy(&mut (&mut bytes).take(dialect.start), &mut std::io::sink()).map_err(fail)?;
        }
        let mut feed = Self {
            records: Records::new(buffered(bytes), file, dialect.delimiter),
            mark: decimal_mark(dialect.delimiter),
            file: file.to_owned(),
            dialect,
            can_rewind,
            record: Record::default(),
            pending: false,
            n_columns: 0,
            first_line: 0,
        };
        let first = feed.read_first_line()?;
        Ok((feed, first))
    }

    fn read_first_line(&mut self) -> Result<FirstLine> {
        if !self.records.read(&mut self.record)? {
            return Err(TableError::Layout(Report::new(
                &self.file,
                "it has only blank lines",
                "a table must have at least one row",
                "Check that the file was written completely",
            )));
        }
        self.n_columns = self.record.n_cells();
        self.first_line = self.record.line;
        let text = self.record.text(&self.file)?;
        let mut mark = self.mark;
        let contents: Vec<Content> = self.record.cells(text).map(|cell| classify(cell, &mut mark)).collect();
        self.pending = !self.dialect.header.unwrap_or_else(|| contents.contains(&Content::Text));
        if self.pending {
            let names = (1..=contents.len()).map(|position| format!("x{position}")).collect();
            return Ok(FirstLine { names, has_number: false });
        }
        let has_number = contents.iter().any(|content| matches!(content, Content::Number(_)));
        let cells: Vec<&str> = self.record.cells(text).map(str::trim).collect();
        let names = header_names(&self.file, self.first_line, &cells)?;
        Ok(FirstLine { names, has_number })
    }

    fn ragged(&self) -> TableError {
        let found = self.record.n_cells();
        TableError::Layout(Report::new(
            &self.file,
            format!(
                "line {} has {}, and line {} has {}",
                self.record.line,
                counted(found, "cell"),
                self.first_line,
                self.n_columns
            ),
            "every line must have the same number of cells",
            "Fix that line; a cell that holds the delimiter must stand in double quotes",
        ))
    }
}

impl Feed for TextFeed {
    fn n_rows(&self) -> Option<usize> {
        None
    }

    fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize> {
        let mut n = 0;
        while n < most_rows {
            if !std::mem::take(&mut self.pending) && !self.records.read(&mut self.record)? {
                break;
            }
            if self.record.n_cells() != self.n_columns {
                return Err(self.ragged());
            }
            let at = Spot { row: draft.next_row(), line: Some(self.record.line) };
            draft.open_rows(1)?;
            let text = self.record.text(&self.file)?;
            for (position, cell) in self.record.cells(text).enumerate() {
                if draft.wants(position) {
                    let content = classify(cell, &mut self.mark);
                    if let Content::Number(number) = content
                        && !cell.contains(['.', ',', 'e', 'E'])
                    {
                        draft.note_integer(position, number);
                    }
                    draft.put(at, position, content, Some(cell))?;
                }
            }
            n += 1;
        }
        Ok(n)
    }

    fn can_rewind(&self) -> bool {
        self.can_rewind
    }

    fn rewind(&mut self) -> Result<()> {
        self.records.restart(self.dialect.start)?;
        self.mark = decimal_mark(self.dialect.delimiter);
        let n_columns = self.n_columns;
        self.read_first_line()?;
        // A file that has changed may have more or fewer columns now; its first line is then the ragged one.
        self.n_columns = n_columns;
        if self.record.n_cells() == n_columns { Ok(()) } else { Err(self.ragged()) }
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
        let before = head.iter().position(|&byte| byte == 0).and_then(|at| head.get(..at));
        let Some(before) = before else { return Ok(()) };
        // A CR LF ends one line.
        let ends = before.iter().zip(before.iter().skip(1).chain([&0]));
        let lines = ends.filter(|&(&byte, &next)| byte == b'\n' || (byte == b'\r' && next != b'\n')).count();
        return Err(binary(&source.name, lines as u64 + 1));
    };
    Err(TableError::Encoding(Report::new(
        &source.name,
        found,
        "a text table must be plain text in UTF-8",
        advice,
    )))
}

fn other_delimiter(file: &str, given: Delimiter, n_cells: usize) -> TableError {
    let given = match given {
        Delimiter::Byte(b'\t') => "tabs".to_owned(),
        Delimiter::Byte(byte) => quoted(&char::from(byte).to_string()),
        Delimiter::Blanks => "blanks".to_owned(),
    };
    TableError::Layout(Report::new(
        file,
        format!("no line is divided by {given}, and every line is divided by commas into {n_cells} cells"),
        "it must be known whether these commas separate columns or are decimal marks",
        "Use --delimiter , if they separate columns; if they are decimal marks of one column, put a line with its name, in double quotes, above the numbers",
    ))
}

fn bad_delimiter(byte: u8) -> TableError {
    TableError::Setting(Report::new(
        "delimiter",
        format!("the byte 0x{byte:02X} cannot separate cells"),
        "a delimiter must be one ASCII character other than a quote or a line end",
        "Use a comma, a semicolon, a tab, a bar or a space",
    ))
}
