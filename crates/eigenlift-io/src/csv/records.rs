//! Splits text into records: lines, cells, quotes.

use std::io::{BufRead, BufReader};

use crate::bytes::{Bytes, restart};
use crate::error::{Report, Result, TableError};

/// What stands between two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

impl Delimiter {
    fn separates(self, byte: u8) -> bool {
        match self {
            Self::Byte(delimiter) => byte == delimiter,
            Self::Blanks => byte == b' ' || byte == b'\t',
        }
    }
}

/// The cells of one record.
#[derive(Debug, Default)]
pub(crate) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The line on which it starts, from 1.
    pub(crate) line: u64,
    quoted: bool,
}

impl Record {
    pub(crate) fn n_cells(&self) -> usize {
        self.ends.len()
    }

    /// The text of the record, to be cut with [`Record::cells`].
    pub(crate) fn text(&self, file: &str) -> Result<&str> {
        std::str::from_utf8(&self.bytes).map_err(|error| {
            let byte = self.bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            TableError::Encoding(Report::new(
                file,
                format!("line {} has the byte 0x{byte:02X}, which is not valid UTF-8", self.line),
                "a text table must be encoded in UTF-8",
                "Save it again as UTF-8",
            ))
        })
    }

    /// The cells of the record's text.
    pub(crate) fn cells<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let cell = text.get(start..end).unwrap_or_default();
            start = end;
            cell
        })
    }

    fn is_blank(&self) -> bool {
        !self.quoted && self.ends.len() <= 1 && self.bytes.iter().all(|&byte| byte == b' ' || byte == b'\t')
    }

    fn close_cell(&mut self) {
        self.ends.push(self.bytes.len());
    }

    fn cell_is_blank(&self) -> bool {
        let start = self.ends.last().copied().unwrap_or(0);
        self.bytes.get(start..).unwrap_or_default().iter().all(|&byte| byte == b' ')
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a cell, at most blanks so far.
    Start,
    Plain,
    Quoted,
    /// After a quote inside a quoted cell: its end, or the first of a doubled quote.
    QuoteInQuoted,
}

/// A text, record by record. Line ends are LF, CR LF or CR; blank lines are skipped.
pub(crate) struct Records<R> {
    input: R,
    scanner: Scanner,
}

struct Scanner {
    file: String,
    delimiter: Delimiter,
    /// For each byte, whether it ends a run of bytes that mean nothing in particular.
    special: [bool; 256],
    state: State,
    line: u64,
    quote_line: u64,
    /// The byte before was a CR, so that an LF now belongs to it.
    after_cr: bool,
}

/// A quoted cell longer than this is a quote that was never closed.
const LONGEST_QUOTED: usize = 1 << 24;
/// A line longer than this is none: some ten million numbers.
const LONGEST_LINE: usize = 1 << 28;

impl<R: BufRead> Records<R> {
    pub(crate) fn new(input: R, file: &str, delimiter: Delimiter) -> Self {
        Self { input, scanner: Scanner::new(file, delimiter) }
    }

    /// Reads the next record that is not blank; `false` at the end.
    pub(crate) fn read(&mut self, record: &mut Record) -> Result<bool> {
        loop {
            record.bytes.clear();
            record.ends.clear();
            record.quoted = false;
            record.line = self.scanner.line;
            self.scanner.state = State::Start;
            let more = self.read_line(record)?;
            if !record.is_blank() {
                return Ok(true);
            }
            if !more {
                return Ok(false);
            }
        }
    }

    /// Reads up to the end of a line outside quotes; `false` at the end of the input.
    fn read_line(&mut self, record: &mut Record) -> Result<bool> {
        loop {
            let buffer =
                self.input.fill_buf().map_err(|error| TableError::unreadable(&self.scanner.file, error))?;
            if buffer.is_empty() {
                self.scanner.finish(record)?;
                return Ok(false);
            }
            let (used, ended) = self.scanner.scan(buffer, record)?;
            self.input.consume(used);
            if ended {
                return Ok(true);
            }
            if record.bytes.len().max(record.ends.len()) > LONGEST_LINE {
                return Err(self.scanner.endless());
            }
        }
    }
}

impl Records<BufReader<Bytes>> {
    /// Goes back to a place where a line begins, and counts it as the first.
    pub(crate) fn restart(&mut self, offset: u64) -> Result<()> {
        self.scanner = Scanner::new(&self.scanner.file, self.scanner.delimiter);
        restart(&mut self.input, offset).map_err(|error| TableError::unreadable(&self.scanner.file, error))
    }
}

impl Scanner {
    fn new(file: &str, delimiter: Delimiter) -> Self {
        let mut special = [false; 256];
        for (byte, special) in (0..=u8::MAX).zip(&mut special) {
            *special = matches!(byte, b'\n' | b'\r' | 0) || delimiter.separates(byte);
        }
        let file = file.to_owned();
        Self { file, delimiter, special, state: State::Start, line: 1, quote_line: 1, after_cr: false }
    }

    /// Takes bytes up to the end of the record or of the buffer; returns how many, and whether the record ended.
    fn scan(&mut self, buffer: &[u8], record: &mut Record) -> Result<(usize, bool)> {
        let mut used = 0;
        while let Some(&byte) = buffer.get(used) {
            used += 1;
            if std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n' {
                if self.state == State::Quoted {
                    record.bytes.push(byte);
                } else {
                    record.line = self.line;
                }
                continue;
            }
            if byte == 0 {
                return Err(self.binary());
            }
            if self.state == State::Quoted {
                self.quoted_byte(byte, record)?;
            } else if byte == b'\n' || byte == b'\r' {
                self.line += 1;
                self.end_record(record);
                return Ok((used, true));
            } else if byte == b'"' && self.opens_quote(record) {
                let start = record.ends.last().copied().unwrap_or(0);
                record.bytes.truncate(start);
                record.quoted = true;
                self.quote_line = self.line;
                self.state = State::Quoted;
            } else if byte == b'"' && self.state == State::QuoteInQuoted {
                record.bytes.push(byte);
                self.state = State::Quoted;
            } else if self.delimiter.separates(byte) {
                self.separate(record);
            } else {
                if !(self.state == State::QuoteInQuoted && byte == b' ') {
                    record.bytes.push(byte);
                    self.state =
                        if byte == b' ' && self.state == State::Start { State::Start } else { State::Plain };
                }
                used += self.plain_run(buffer.get(used..).unwrap_or_default(), record);
            }
        }
        Ok((used, false))
    }

    /// Takes a run of bytes that mean nothing in particular.
    fn plain_run(&self, rest: &[u8], record: &mut Record) -> usize {
        if self.state != State::Plain {
            return 0;
        }
        let special = |byte: &u8| self.special.get(usize::from(*byte)) == Some(&true);
        let length = rest.iter().position(special).unwrap_or(rest.len());
        record.bytes.extend_from_slice(rest.get(..length).unwrap_or_default());
        length
    }

    fn opens_quote(&self, record: &Record) -> bool {
        self.state == State::Start && record.cell_is_blank()
    }

    fn quoted_byte(&mut self, byte: u8, record: &mut Record) -> Result<()> {
        match byte {
            b'"' => {
                self.state = State::QuoteInQuoted;
                return Ok(());
            }
            b'\n' | b'\r' => self.line += 1,
            _ => {}
        }
        record.bytes.push(byte);
        let start = record.ends.last().copied().unwrap_or(0);
        if record.bytes.len() - start > LONGEST_QUOTED { Err(self.unclosed()) } else { Ok(()) }
    }

    fn separate(&mut self, record: &mut Record) {
        if self.delimiter != Delimiter::Blanks || self.state != State::Start {
            record.close_cell();
        }
        self.state = State::Start;
    }

    fn end_record(&mut self, record: &mut Record) {
        if self.delimiter != Delimiter::Blanks || self.state != State::Start || record.ends.is_empty() {
            record.close_cell();
        }
    }

    fn finish(&mut self, record: &mut Record) -> Result<()> {
        if self.state == State::Quoted {
            return Err(self.unclosed());
        }
        self.end_record(record);
        Ok(())
    }

    fn unclosed(&self) -> TableError {
        TableError::Layout(Report::new(
            &self.file,
            format!("the quote that opens on line {} is never closed", self.quote_line),
            "a cell that starts with a double quote must end with one",
            "Close the quote, or remove it",
        ))
    }

    fn binary(&self) -> TableError {
        binary(&self.file, self.line)
    }

    fn endless(&self) -> TableError {
        TableError::Layout(Report::new(
            &self.file,
            format!("line {} does not end within {LONGEST_LINE} bytes", self.line),
            "a text table must have a line for each row",
            "Check that it is a table, and that its lines end with LF, CR LF or CR",
        ))
    }
}

/// Refuses what has a NUL byte.
pub(super) fn binary(file: &str, line: u64) -> TableError {
    TableError::Encoding(Report::new(
        file,
        format!("line {line} has a NUL byte, so this is not text"),
        "a text table must be encoded in UTF-8",
        "Save it as CSV, TSV, NPY, NPZ or Parquet",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, delimiter: Delimiter) -> Result<Vec<(u64, Vec<String>)>> {
        // A tiny buffer, so that every record crosses its end.
        let input = std::io::BufReader::with_capacity(3, text.as_bytes());
        let mut records = Records::new(input, "f.csv", delimiter);
        let mut record = Record::default();
        let mut all = Vec::new();
        while records.read(&mut record)? {
            let text = record.text("f.csv")?;
            all.push((record.line, record.cells(text).map(str::to_owned).collect()));
        }
        Ok(all)
    }

    fn cells(text: &str, delimiter: Delimiter) -> Vec<Vec<String>> {
        split(text, delimiter).expect(text).into_iter().map(|(_, cells)| cells).collect()
    }

    #[test]
    fn line_ends_and_blank_lines() {
        for text in
            ["a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\r1,2", "\n\na,b\n\n  \n1,2\n\n\n", "a,b\r\n\r\n1,2\r\n\r\n"]
        {
            assert_eq!(cells(text, Delimiter::Byte(b',')), [["a", "b"], ["1", "2"]], "{text:?}");
        }
        let lines: Vec<u64> = split("a\r\n\r\n1\r\n\"x\r\ny\"\r\n2\r\n", Delimiter::Byte(b','))
            .expect("well formed")
            .into_iter()
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [1, 3, 4, 6]);
    }

    #[test]
    fn quotes() {
        let text = "\"a,b\",\"c\"\"d\" , \"e\nf\",5\",\"\",g\"h\"\n";
        assert_eq!(cells(text, Delimiter::Byte(b',')), [["a,b", "c\"d", "e\nf", "5\"", "", "g\"h\""]]);
        assert_eq!(cells("\"\"\n", Delimiter::Byte(b',')), [[""]]);
        let error = split("a\n1\n\"2\n3\n", Delimiter::Byte(b',')).expect_err("unclosed").to_string();
        assert!(error.contains("opens on line 3 is never closed"), "{error}");
    }

    #[test]
    fn runs_of_blanks() {
        assert_eq!(cells("  a   b\t c \n1 2 3\n", Delimiter::Blanks), [["a", "b", "c"], ["1", "2", "3"]]);
        assert_eq!(cells("\"a b\" c\n", Delimiter::Blanks), [["a b", "c"]]);
    }

    #[test]
    fn empty_cells_at_both_ends() {
        assert_eq!(cells(",1,\n\t\n", Delimiter::Byte(b',')), [["", "1", ""]]);
        assert_eq!(cells("\t1\t\n", Delimiter::Byte(b'\t')), [["", "1", ""]]);
    }
}
