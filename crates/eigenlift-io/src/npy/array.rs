//! The data of one NumPy array, some rows at a time.

use std::io;

use super::element::{Element, NumberType};
use super::header::{Header, damaged};
use crate::bytes::{Bytes, Section, read_block};
use crate::draft::Draft;
use crate::error::{Report, Result, TableError};

/// More columns than this are taken for a damaged file.
const MOST_COLUMNS: u64 = 1 << 24;

/// Bytes decoded at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// The data of an array, some rows at a time.
pub(crate) struct Array {
    file: String,
    header: Header,
    element: Element,
    n_rows: usize,
    n_columns: usize,
    bytes: Bytes,
    /// The next row.
    row: usize,
    block: Vec<u8>,
    numbers: Vec<f64>,
}

impl Array {
    /// Takes an array whose header was read; `bytes` begin with the header.
    ///
    /// An array in column order whose bytes cannot be sought in is copied into a nameless temporary file.
    pub(crate) fn new(mut bytes: Bytes, header: Header, file: &str) -> Result<Self> {
        let element = header.element(file)?;
        let (n_rows, n_columns) = header.table_shape(file)?;
        refuse_width(&header, n_columns, file)?;
        let needed = header.data_bytes(file, element)?;
        let (Ok(n_rows), Ok(n_columns)) = (usize::try_from(n_rows), usize::try_from(n_columns)) else {
            return Err(TableError::out_of_memory(file, u128::from(n_rows) * u128::from(n_columns)));
        };
        if let (true, Some(most)) = (bytes.can_seek(), bytes.most_bytes()) {
            let available = most.saturating_sub(header.n_bytes);
            if available < needed {
                return Err(truncated(file, &header, needed, available));
            }
        }
        let by_columns = header.is_fortran() && n_columns > 1;
        if by_columns && !bytes.can_seek() {
            bytes = spooled(bytes, &header, needed, file)?;
        }
        let file = file.to_owned();
        let (block, numbers) = (Vec::new(), Vec::new());
        let mut array = Self { file, header, element, n_rows, n_columns, bytes, row: 0, block, numbers };
        if array.bytes.can_rewind() {
            array.rewind()?;
        }
        Ok(array)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_columns(&self) -> usize {
        self.n_columns
    }

    pub(crate) fn element(&self) -> Element {
        self.element
    }

    /// Whether the data that the header announces are known to be there.
    pub(crate) fn is_complete(&self) -> bool {
        self.bytes.can_seek()
    }

    pub(crate) fn is_single(&self) -> bool {
        self.element.is_single()
    }

    pub(crate) fn can_rewind(&self) -> bool {
        self.bytes.can_rewind()
    }

    /// Back to the first row.
    pub(crate) fn rewind(&mut self) -> Result<()> {
        self.row = 0;
        let offset = self.header.n_bytes;
        self.bytes.go_to(offset).map_err(|error| self.unreadable(error, 0))
    }

    /// How many of so many rows there are still.
    pub(crate) fn rows_left(&self, most_rows: usize) -> usize {
        most_rows.min(self.n_rows - self.row)
    }

    /// The type of the numbers; an error for text.
    pub(crate) fn number_type(&self) -> Result<NumberType> {
        match self.element {
            Element::Number(number) => Ok(number),
            Element::Text { .. } => Err(TableError::Binary(Report::new(
                &self.file,
                "its array holds text",
                "a table must hold real numbers of at most 8 bytes",
                "Use the array as a --target, or convert it with astype(float)",
            ))),
        }
    }

    /// Puts at most so many rows into the first columns of a draft, and says how many.
    ///
    /// Cost: in column order, one step through the file for each column.
    pub(crate) fn read_rows(&mut self, draft: &mut Draft, most_rows: usize) -> Result<usize> {
        let number = self.number_type()?;
        let n = self.rows_left(most_rows);
        if self.is_complete() {
            draft.reserve_rows(n)?;
        }
        if self.header.is_fortran() && self.n_columns > 1 {
            self.columns_in_order(draft, number, n)?;
        } else {
            self.rows_in_order(draft, number, n)?;
        }
        Ok(n)
    }

    fn rows_in_order(&mut self, draft: &mut Draft, number: NumberType, n: usize) -> Result<()> {
        let row_bytes = number.n_bytes() * self.n_columns;
        let end = self.row + n;
        while self.row < end {
            let n = (BLOCK_BYTES / row_bytes).max(1).min(end - self.row);
            self.read(n * row_bytes, (self.row * row_bytes) as u64)?;
            number.decode(self.block.get(..n * row_bytes).unwrap_or_default(), &mut self.numbers);
            if number.is_long() {
                let numbers = self.numbers.iter().enumerate();
                numbers.for_each(|(at, x)| draft.note_integer(at % self.n_columns, *x));
            }
            draft.put_rows(&self.numbers, self.n_columns)?;
            self.row += n;
        }
        Ok(())
    }

    fn columns_in_order(&mut self, draft: &mut Draft, number: NumberType, n: usize) -> Result<()> {
        let first = draft.next_row();
        draft.open_rows(n)?;
        for column in (0..self.n_columns).filter(|&column| draft.wants(column)).collect::<Vec<_>>() {
            let offset = ((column * self.n_rows + self.row) * number.n_bytes()) as u64;
            let at = self.header.n_bytes + offset;
            self.bytes.go_to(at).map_err(|error| self.unreadable(error, offset))?;
            let mut done = 0;
            while done < n {
                let count = (BLOCK_BYTES / number.n_bytes()).min(n - done);
                let n_bytes = count * number.n_bytes();
                self.read(n_bytes, offset + (done * number.n_bytes()) as u64)?;
                number.decode(self.block.get(..n_bytes).unwrap_or_default(), &mut self.numbers);
                if number.is_long() {
                    self.numbers.iter().for_each(|x| draft.note_integer(column, *x));
                }
                draft.put_column(first + done, column, &self.numbers)?;
                done += count;
            }
        }
        self.row += n;
        Ok(())
    }

    /// Gives at most so many numbers of an array of one column, row after row.
    pub(crate) fn each_number(
        &mut self,
        n: usize,
        take: &mut dyn FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        let number = self.number_type()?;
        let mut done = 0;
        while done < n {
            let count = (BLOCK_BYTES / number.n_bytes()).min(n - done);
            let n_bytes = count * number.n_bytes();
            self.read(n_bytes, (self.row * number.n_bytes()) as u64)?;
            number.decode(self.block.get(..n_bytes).unwrap_or_default(), &mut self.numbers);
            take(done, &self.numbers)?;
            self.row += count;
            done += count;
        }
        Ok(())
    }

    /// Gives at most so many texts of an array of one dimension.
    pub(crate) fn each_text(
        &mut self,
        n: usize,
        take: &mut dyn FnMut(usize, &str) -> Result<()>,
    ) -> Result<()> {
        let Element::Text { big_endian, .. } = self.element else { return Ok(()) };
        let width = self.element.n_bytes();
        let cell_bytes =
            usize::try_from(width).map_err(|_| TableError::out_of_memory(&self.file, u128::from(width)))?;
        let mut text = String::new();
        for i in 0..n {
            self.read(cell_bytes, self.row as u64 * width)?;
            text.clear();
            let (characters, _) = self.block.get(..cell_bytes).unwrap_or_default().as_chunks::<4>();
            text.extend(characters.iter().map(|&bytes| {
                let code = if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }));
            take(i, text.trim_end_matches('\0'))?;
            self.row += 1;
        }
        Ok(())
    }

    /// Reads so many bytes into the front of the block; `before` bytes of the data are before them.
    fn read(&mut self, n_bytes: usize, before: u64) -> Result<()> {
        let have = read_block(&mut self.bytes, &mut self.block, n_bytes)
            .map_err(|error| self.unreadable(error, before))?;
        if have < n_bytes {
            let needed = self.header.data_bytes(&self.file, self.element)?;
            return Err(truncated(&self.file, &self.header, needed, before + have as u64));
        }
        Ok(())
    }

    /// A failure to read; compressed data that end too early or are damaged are told apart.
    fn unreadable(&self, error: io::Error, before: u64) -> TableError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let needed = self.header.data_bytes(&self.file, self.element).unwrap_or(u64::MAX);
        match error.kind() {
            InvalidData | InvalidInput | UnexpectedEof => truncated(&self.file, &self.header, needed, before),
            _ => TableError::unreadable(&self.file, error),
        }
    }
}

/// Copies an array into a nameless temporary file, from its header on; a pipe stands after the header already.
fn spooled(mut bytes: Bytes, header: &Header, needed: u64, file: &str) -> Result<Bytes> {
    let fail = |error| TableError::unreadable(file, error);
    if bytes.can_rewind() {
        bytes.go_to(header.n_bytes).map_err(fail)?;
    }
    let mut with_header = io::Read::chain(io::Read::take(io::repeat(0), header.n_bytes), bytes);
    let limit = header.n_bytes.saturating_add(needed);
    let section = Section::spool(&mut io::Read::take(&mut with_header, limit));
    let section = section.map_err(|_| truncated(file, header, needed, 0))?;
    let available = section.n_bytes().saturating_sub(header.n_bytes);
    if available < needed {
        Err(truncated(file, header, needed, available))
    } else {
        Ok(Bytes::Section(section))
    }
}

fn refuse_width(header: &Header, n_columns: u64, file: &str) -> Result<()> {
    if (1..=MOST_COLUMNS).contains(&n_columns) {
        return Ok(());
    }
    Err(TableError::Binary(Report::new(
        file,
        format!("its array has shape {}, so {n_columns} columns", header.shape_text()),
        format!("a table must have 1 to {MOST_COLUMNS} columns"),
        "Reshape the array to one row per sample and save it again",
    )))
}

/// The error for an array whose data are not all there.
fn truncated(file: &str, header: &Header, needed: u64, available: u64) -> TableError {
    let shape = header.shape_text();
    damaged(file, &format!("its shape {shape} needs {needed} bytes of data, and only {available} are there"))
}
