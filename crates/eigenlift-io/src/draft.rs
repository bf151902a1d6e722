//! A table while it is being read: cells come in, a [`Table`](crate::Table) comes out.

mod bulk;
mod chunk;
mod finish;
mod means;

pub(crate) use finish::Layout;
pub(crate) use means::Means;

use crate::cell::{Content, is_missing};
use crate::error::{Report, Result, TableError, quoted};
use crate::selection::Selection;

/// Where a cell stands: the row of data from 0, and the line of a text file from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) row: usize,
    pub(crate) line: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Data in this place of each row; `explicit` when asked for by name.
    Data {
        slot: usize,
        explicit: bool,
    },
    Target,
    /// Not asked for: carried when it is text alone.
    Aside,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only missing cells so far.
    Unknown,
    /// Numbers, the first of them here.
    Numbers(Spot),
    /// Text, the first of it here.
    Text(Spot),
    /// Neither data nor carried.
    Ignored,
}

#[derive(Debug)]
struct Column {
    role: Role,
    state: State,
    n_missing: usize,
    first_missing: Option<Spot>,
    /// The cells as written, as long as the column may be text, or is the target.
    cells: Vec<String>,
    /// The first text, for messages.
    first_text: String,
}

/// What a draft is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// All rows, kept until the end.
    Whole,
    /// Learning what the columns hold; no text is kept.
    Survey,
    /// Chunks of rows whose columns are known; `early` when not all rows were looked at to know them.
    Chunks { early: bool },
}

/// A table while it is being read.
///
/// The rows lie in one row-major array with a place for every column that may be data; missing cells and text are NaN
/// there. Columns that turn out to be text are squeezed out in place at the end, so a file of numbers needs no more
/// than its numbers. Rows may be taken out, or forgotten, while more are to come; what is known of the columns stays.
#[derive(Debug)]
pub(crate) struct Draft {
    file: String,
    names: Vec<String>,
    columns: Vec<Column>,
    slots: Vec<usize>,
    values: Vec<f64>,
    /// Rows that were taken out before.
    first_row: usize,
    /// Rows that are held.
    n_rows: usize,
    purpose: Purpose,
    /// The first column seen with integers that double precision may have rounded.
    large_integers: Option<usize>,
}

/// From here on double precision does not have every integer.
const LARGE: f64 = 9_007_199_254_740_992.0;

impl Draft {
    pub(crate) fn new(file: &str, names: Vec<String>, selection: &Selection) -> Self {
        let column = |role| Column {
            role,
            state: State::Unknown,
            n_missing: 0,
            first_missing: None,
            cells: Vec::new(),
            first_text: String::new(),
        };
        let mut columns: Vec<Column> = names.iter().map(|_| column(Role::Aside)).collect();
        for (slot, &position) in selection.data.iter().enumerate() {
            if let Some(column) = columns.get_mut(position) {
                column.role = Role::Data { slot, explicit: selection.explicit };
            }
        }
        if let Some(column) = selection.target.and_then(|position| columns.get_mut(position)) {
            column.role = Role::Target;
        }
        let slots = selection.data.clone();
        let file = file.to_owned();
        let purpose = Purpose::Whole;
        Self {
            file,
            names,
            columns,
            slots,
            values: Vec::new(),
            first_row: 0,
            n_rows: 0,
            purpose,
            large_integers: None,
        }
    }

    /// Notes a number that was an integer in the file, and is too large for double precision to have them all.
    pub(crate) fn note_integer(&mut self, position: usize, number: f64) {
        if number.abs() >= LARGE && self.wants(position) {
            self.large_integers.get_or_insert(position);
        }
    }

    /// The name of the first column with such integers.
    pub(crate) fn large_integers(&self) -> Option<String> {
        self.names.get(self.large_integers?).cloned()
    }

    /// The number that the next row will have, from 0.
    pub(crate) fn next_row(&self) -> usize {
        self.first_row + self.n_rows
    }

    /// Whether cells of this column are of any use.
    pub(crate) fn wants(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|column| column.state != State::Ignored)
    }

    /// Whether text in this column would be an error or data, rather than simply left out.
    pub(crate) fn asks_for(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|column| column.role != Role::Aside)
    }

    /// Leaves a column out that was not asked for.
    #[cfg(feature = "parquet")]
    pub(crate) fn ignore(&mut self, column: usize) {
        if let Some(column) = self.columns.get_mut(column) {
            column.state = State::Ignored;
        }
    }

    /// Says that a column holds numbers alone, as the file itself tells.
    pub(crate) fn declare_numbers(&mut self, position: usize) {
        if let Some(column) = self.columns.get_mut(position) {
            let aside = column.role == Role::Aside;
            column.state = if aside { State::Ignored } else { State::Numbers(Spot { row: 0, line: None }) };
        }
    }

    /// Makes room for further rows, of missing cells so far.
    pub(crate) fn open_rows(&mut self, n: usize) -> Result<()> {
        let n_cells = self.grow(n, false)?;
        self.values.resize(n_cells, f64::NAN);
        self.n_rows += n;
        Ok(())
    }

    /// Takes memory for further rows that are known to come.
    pub(crate) fn reserve_rows(&mut self, n: usize) -> Result<()> {
        self.grow(n, true).map(|_| ())
    }

    /// Takes memory for so many rows more; returns the number of cells that there will be.
    fn grow(&mut self, n: usize, exactly: bool) -> Result<usize> {
        let width = self.slots.len();
        let too_large =
            || TableError::out_of_memory(&self.file, (self.n_rows as u128 + n as u128) * width as u128);
        let n_rows = self.n_rows.checked_add(n);
        let n_cells = n_rows.and_then(|n_rows| n_rows.checked_mul(width)).ok_or_else(too_large)?;
        if n_cells > self.values.capacity() {
            let more = n_cells - self.values.len();
            let had =
                if exactly { self.values.try_reserve_exact(more) } else { self.values.try_reserve(more) };
            had.map_err(|_| too_large())?;
        }
        Ok(n_cells)
    }

    /// Puts a cell into a row that is open. `raw` is the cell as written, where the file has it as text.
    /// The cells of one column come in the order of the rows.
    pub(crate) fn put(
        &mut self,
        at: Spot,
        position: usize,
        content: Content,
        raw: Option<&str>,
    ) -> Result<()> {
        let place = (at.row - self.first_row) * self.slots.len();
        if let (Some(column), Content::Number(number)) = (self.columns.get(position), content)
            && let (Role::Data { slot, .. }, State::Numbers(_)) = (column.role, column.state)
        {
            if let Some(place) = self.values.get_mut(place + slot) {
                *place = number;
            }
            return Ok(());
        }
        self.learn(at, position, content, raw)
    }

    /// Puts a cell that is not just one more number in a column of numbers.
    fn learn(&mut self, at: Spot, position: usize, content: Content, raw: Option<&str>) -> Result<()> {
        let place = (at.row - self.first_row) * self.slots.len();
        let (keeps, strict) =
            (self.purpose != Purpose::Survey, matches!(self.purpose, Purpose::Chunks { .. }));
        let Some(column) = self.columns.get_mut(position) else { return Ok(()) };
        let as_written = || match (raw, content) {
            (Some(raw), _) => raw.trim().to_owned(),
            (None, Content::Number(number)) => number.to_string(),
            (None, _) => String::new(),
        };
        let mut contradiction = false;
        match (column.role, column.state, content) {
            (Role::Target, State::Numbers(_), Content::Text | Content::Infinite | Content::OtherMark)
                if strict =>
            {
                contradiction = true;
            }
            (Role::Target, _, Content::Infinite) if raw.is_none() => contradiction = true,
            (Role::Target, _, _) => column.put_target(at, content, keeps.then(as_written)),
            (_, State::Ignored, _) => {}
            (Role::Aside, State::Text(_), Content::Number(_)) if strict => contradiction = true,
            (Role::Aside, _, Content::Number(_)) => {
                column.state = State::Ignored;
                column.cells = Vec::new();
            }
            (_, State::Unknown, Content::Missing) => {
                column.note_missing(at);
                column.cells.extend(keeps.then(as_written));
            }
            (_, State::Numbers(_), Content::Missing) => column.note_missing(at),
            (Role::Data { slot, .. }, State::Unknown, Content::Number(number)) => {
                column.state = State::Numbers(at);
                column.cells = Vec::new();
                if let Some(place) = self.values.get_mut(place + slot) {
                    *place = number;
                }
            }
            (Role::Aside, _, _)
            | (
                _,
                State::Text(_),
                Content::Text | Content::Missing | Content::Infinite | Content::OtherMark,
            )
            | (Role::Data { explicit: false, .. }, State::Unknown, Content::Text) => {
                if column.state == State::Unknown {
                    column.begin_text(at, as_written());
                }
                column.cells.extend(keeps.then(as_written));
            }
            (Role::Data { .. }, _, _) => contradiction = true,
        }
        if contradiction {
            let shown = raw.map(str::to_owned).unwrap_or_else(|| "infinite".to_owned());
            return Err(self.bad_cell(at, position, content, shown.trim()));
        }
        Ok(())
    }

    fn bad_cell(&self, at: Spot, position: usize, content: Content, raw: &str) -> TableError {
        let state = self.columns.get(position).map_or(State::Unknown, |column| column.state);
        let place = self.place(at, position);
        let number = "every entry of a column of numbers must be a number";
        let advice = match self.purpose {
            Purpose::Chunks { early: true } => {
                "Fix that cell, leave the column out with --columns, or give the table as a file: all rows of a file are looked at before its columns are taken for numbers or text"
            }
            _ => "Fix that cell, or leave the column out with --columns",
        };
        let (found, required, advice) = match (content, state) {
            (Content::Infinite, _) => {
                let found = if raw == "infinite" {
                    format!("{place} is infinite")
                } else {
                    format!("{place} is {}", quoted(raw))
                };
                (found, "every entry must be finite", advice)
            }
            (Content::OtherMark, _) => (
                format!("{place} is {}, with another decimal mark than the numbers before it", quoted(raw)),
                "all numbers of a file must use the same decimal mark, and a comma only where it does not separate cells",
                "Write every number with a decimal point",
            ),
            (Content::Number(_), State::Text(first)) => {
                let text = quoted(self.columns.get(position).map_or("", |column| &column.first_text));
                let here = self.line_or_row(at);
                (
                    format!(
                        "{} is {text}, and {here} of that column is the number {raw}",
                        self.place(first, position)
                    ),
                    "a column must hold numbers alone or text alone",
                    "Fix those cells, or leave the column out with --columns",
                )
            }
            (_, State::Unknown) => {
                return TableError::Selection(Report::new(
                    &self.file,
                    format!("{place} is {}: --columns chose a column of text", quoted(raw)),
                    "data must be numbers",
                    "Leave that column out of --columns",
                ));
            }
            _ => (format!("{place} is {}", quoted(raw)), number, advice),
        };
        TableError::Cell(Report::new(&self.file, found, required, advice))
    }

    fn line_or_row(&self, at: Spot) -> String {
        match at.line {
            Some(line) => format!("line {line} (row {})", at.row + 1),
            None => format!("row {}", at.row + 1),
        }
    }

    fn place(&self, at: Spot, position: usize) -> String {
        let name = self.names.get(position).map_or("", String::as_str);
        format!("{}, column {} ({})", self.line_or_row(at), position + 1, quoted(name))
    }
}

impl Column {
    fn note_missing(&mut self, at: Spot) {
        self.n_missing += 1;
        self.first_missing.get_or_insert(at);
    }

    fn begin_text(&mut self, at: Spot, cell: String) {
        if !is_missing(&cell) {
            self.state = State::Text(at);
            self.first_text = cell;
        }
    }

    fn put_target(&mut self, at: Spot, content: Content, cell: Option<String>) {
        match content {
            Content::Missing => self.note_missing(at),
            Content::Number(_) if self.state == State::Unknown => self.state = State::Numbers(at),
            Content::Number(_) => {}
            _ if !matches!(self.state, State::Text(_)) => self.state = State::Text(at),
            _ => {}
        }
        self.cells.extend(cell);
    }
}
