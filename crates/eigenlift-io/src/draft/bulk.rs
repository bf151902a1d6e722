//! Numbers that come many at a time.

use super::{Draft, Role, Spot, State};
use crate::cell::Content;
use crate::error::Result;

impl Draft {
    /// Puts whole rows of numbers, row-major, into the first `n_columns` columns; NaN is a missing cell.
    ///
    /// Cost: where every column is data and every number finite, a copy.
    pub(crate) fn put_rows(&mut self, cells: &[f64], n_columns: usize) -> Result<()> {
        let n = cells.len() / n_columns.max(1);
        if self.takes_rows_as_they_are(n_columns) && all_finite(cells) {
            self.grow(n, false)?;
            self.values.extend_from_slice(cells);
            self.n_rows += n;
            return Ok(());
        }
        let first = self.next_row();
        self.open_rows(n)?;
        let wanted: Vec<bool> = (0..n_columns).map(|position| self.wants(position)).collect();
        for (row, cells) in cells.chunks_exact(n_columns.max(1)).enumerate() {
            let at = Spot { row: first + row, line: None };
            for ((position, &value), _) in
                cells.iter().enumerate().zip(&wanted).filter(|(_, wanted)| **wanted)
            {
                self.put(at, position, number(value), None)?;
            }
        }
        Ok(())
    }

    /// Puts numbers into one column of rows that are open, from row `first` on; NaN is a missing cell.
    pub(crate) fn put_column(&mut self, first: usize, position: usize, cells: &[f64]) -> Result<()> {
        let width = self.slots.len().max(1);
        let slot = match self.columns.get(position).map(|column| (column.role, column.state)) {
            Some((Role::Data { slot, .. }, State::Numbers(_))) if all_finite(cells) => slot,
            Some((_, State::Ignored)) => return Ok(()),
            _ => {
                for (i, &value) in cells.iter().enumerate() {
                    self.put(Spot { row: first + i, line: None }, position, number(value), None)?;
                }
                return Ok(());
            }
        };
        let start = (first - self.first_row) * width + slot;
        let places = self.values.get_mut(start..).unwrap_or_default().iter_mut().step_by(width);
        places.zip(cells).for_each(|(place, &value)| *place = value);
        Ok(())
    }

    fn takes_rows_as_they_are(&self, n_columns: usize) -> bool {
        let is_number = |column: &super::Column| matches!(column.state, State::Numbers(_));
        self.slots.len() == n_columns
            && self.slots.iter().enumerate().all(|(place, &position)| place == position)
            && self.columns.iter().take(n_columns).all(is_number)
    }
}

/// What a number from a binary file is.
pub(crate) fn number(value: f64) -> Content {
    if value.is_nan() {
        Content::Missing
    } else if value.is_infinite() {
        Content::Infinite
    } else {
        Content::Number(value)
    }
}

/// Why: a fold without a way out early is compiled to vector instructions.
fn all_finite(cells: &[f64]) -> bool {
    cells.iter().fold(true, |finite, value| finite & value.is_finite())
}
