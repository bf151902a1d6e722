//! From entries in any order to rows whose columns increase.

use super::SparseTable;
use super::stored::{Numbers, Stored};
use crate::error::{Report, Result, TableError, quoted};

/// Turns columns into rows; entries of the same place keep their order.
///
/// Cost: one pass to count and one to move the entries; a second copy of these.
pub(super) fn from_columns(stored: Stored) -> Result<Stored> {
    let Stored { file, n_rows, values: from, .. } = &stored;
    let mut offsets = zeros(file, n_rows.saturating_add(1), 0_usize)?;
    for &row in &stored.places {
        if let Some(count) = offsets.get_mut(row as usize) {
            *count += 1;
        }
    }
    let mut start = 0;
    for offset in &mut offsets {
        let count = std::mem::replace(offset, start);
        start += count;
    }
    let (mut columns, mut values) = (zeros(file, from.len(), 0_u32)?, zeros(file, from.len(), 0.0)?);
    for (column, ends) in stored.offsets.windows(2).enumerate() {
        let &[start, end] = ends else { continue };
        let rows = stored.places.get(start..end).unwrap_or_default();
        for (&row, &value) in rows.iter().zip(from.get(start..end).unwrap_or_default()) {
            let Some(next) = offsets.get_mut(row as usize) else { continue };
            if let (Some(to_column), Some(to_value)) = (columns.get_mut(*next), values.get_mut(*next)) {
                (*to_column, *to_value) = (column as u32, value);
            }
            *next += 1;
        }
    }
    // Each offset has moved to the end of its row, where the next one begins.
    offsets.rotate_right(1);
    if let Some(first) = offsets.first_mut() {
        *first = 0;
    }
    Ok(Stored { by_columns: false, offsets, places: columns, values, ..stored })
}

/// Sorts the columns of each row, sums what is in the same place and leaves out zeros.
///
/// Cost: one pass, in the memory of the entries and a copy of the longest row.
pub(super) fn tidy(stored: Stored) -> Result<SparseTable> {
    let Stored { file, n_rows, n_cols, mut offsets, places: mut columns, mut values, numbers, .. } = stored;
    let (mut start, mut n_kept) = (0, 0);
    let mut missing = Missing { n_cells: 0, first: None };
    let mut cells: Vec<(u32, f64)> = Vec::new();
    for (row, end) in offsets.iter_mut().skip(1).enumerate() {
        let entries = start..*end;
        cells.clear();
        cells
            .try_reserve(entries.len())
            .map_err(|_| TableError::out_of_memory(&file, values.len() as u128))?;
        let of_row = columns.get(entries.clone()).unwrap_or_default();
        cells.extend(of_row.iter().copied().zip(values.get(entries).unwrap_or_default().iter().copied()));
        merge(&mut cells, numbers).map_err(|column| infinite(&file, row, column))?;
        for &(column, value) in cells.iter().filter(|(_, value)| *value != 0.0) {
            if value.is_nan() {
                missing.note(row, column);
            }
            // What is kept never overtakes what is read.
            if let (Some(to_column), Some(to_value)) = (columns.get_mut(n_kept), values.get_mut(n_kept)) {
                (*to_column, *to_value) = (column, value);
            }
            n_kept += 1;
        }
        start = std::mem::replace(end, n_kept);
    }
    missing.refuse(&file)?;
    columns.truncate(n_kept);
    values.truncate(n_kept);
    Ok(SparseTable { n_rows, n_cols, offsets, columns, values, single_precision: numbers == Numbers::Single })
}

/// Sorts the cells of a row and sums those of the same column; `Err` is the column of an infinity.
fn merge(cells: &mut Vec<(u32, f64)>, numbers: Numbers) -> std::result::Result<(), u32> {
    let infinity = |cells: &[(u32, f64)]| match cells.iter().find(|(_, value)| value.is_infinite()) {
        Some(&(column, _)) => Err(column),
        None => Ok(()),
    };
    if !cells.is_sorted_by(|a, b| a.0 < b.0) {
        cells.sort_by_key(|cell| cell.0);
        // Why: infinities of both signs would make a missing cell.
        infinity(cells)?;
        cells.dedup_by(|later, sum| {
            let same = later.0 == sum.0;
            if same {
                sum.1 = numbers.sum(sum.1, later.1);
            }
            same
        });
    }
    infinity(cells)
}

impl Numbers {
    fn sum(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Double => a + b,
            Self::Single => f64::from(a as f32 + b as f32),
            Self::Bool => a.max(b),
        }
    }
}

/// Cells that are NaN.
struct Missing {
    n_cells: usize,
    first: Option<(usize, u32)>,
}

impl Missing {
    fn note(&mut self, row: usize, column: u32) {
        self.n_cells += 1;
        self.first.get_or_insert((row, column));
    }

    fn refuse(&self, file: &str) -> Result<()> {
        let Some((row, column)) = self.first else { return Ok(()) };
        let n_cells = self.n_cells;
        let cells = if n_cells == 1 { "1 cell is".to_owned() } else { format!("{n_cells} cells are") };
        Err(TableError::Missing(Report::new(
            file,
            format!("{cells} missing (NaN), the first at {}", place(row, column)),
            "every entry must be a number",
            "Fill in those cells or leave out their rows, and save the matrix again",
        )))
    }
}

fn infinite(file: &str, row: usize, column: u32) -> TableError {
    TableError::Cell(Report::new(
        file,
        format!("{} is infinite", place(row, column)),
        "every entry must be finite",
        "Fix that cell and save the matrix again",
    ))
}

/// A place, counted from 1, as in other tables.
fn place(row: usize, column: u32) -> String {
    let column = u64::from(column) + 1;
    format!("row {}, column {column} ({})", row + 1, quoted(&format!("x{column}")))
}

/// So many equal numbers, where there is memory for them.
fn zeros<T: Clone>(file: &str, n: usize, zero: T) -> Result<Vec<T>> {
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(n).map_err(|_| TableError::out_of_memory(file, n as u128))?;
    numbers.resize(n, zero);
    Ok(numbers)
}
