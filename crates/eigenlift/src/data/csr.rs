//! Sparse rows in compressed form.

use crate::error::{Error, Result};
use crate::memory::{collected, room_for};
use crate::real::Real;
use std::ops::Range;

/// Owned sparse rows: the entries of row i are `values[offsets[i]..offsets[i+1]]`, in the columns named by `columns`.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
    n_cols: usize,
}

/// A view of sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct CsrRef<'a, T> {
    offsets: &'a [usize],
    columns: &'a [u32],
    values: &'a [T],
    n_cols: usize,
}

impl<T: Real> Csr<T> {
    /// Takes compressed rows; columns within a row must increase.
    ///
    /// # Errors
    /// When offsets do not start at 0, decrease or end elsewhere than at the number of entries, or when a column is out
    /// of range or out of order. The message names the row.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, values: Vec<T>, n_cols: usize) -> Result<Self> {
        CsrRef::new(&offsets, &columns, &values, n_cols)?;
        Ok(Self { offsets, columns, values, n_cols })
    }

    /// A view of all rows.
    pub fn view(&self) -> CsrRef<'_, T> {
        CsrRef { offsets: &self.offsets, columns: &self.columns, values: &self.values, n_cols: self.n_cols }
    }
}

impl<'a, T: Real> CsrRef<'a, T> {
    /// Borrows compressed rows after checking them.
    ///
    /// # Errors
    /// As [`Csr::new`].
    pub fn new(offsets: &'a [usize], columns: &'a [u32], values: &'a [T], n_cols: usize) -> Result<Self> {
        let bad = |found: String| {
            let required =
                "offsets must rise from 0 to the number of entries and columns must increase within a row";
            Err(Error::data(found, required, "Sort each row's columns and sum duplicates first"))
        };
        if offsets.first() != Some(&0)
            || offsets.last() != Some(&values.len())
            || columns.len() != values.len()
        {
            return bad(format!(
                "sparse rows with {} offsets, {} columns and {} values",
                offsets.len(),
                columns.len(),
                values.len()
            ));
        }
        for (row, pair) in offsets.windows(2).enumerate() {
            if pair[0] > pair[1] || pair[1] > columns.len() {
                return bad(format!("sparse row {row} runs from {} to {}", pair[0], pair[1]));
            }
            let within = &columns[pair[0]..pair[1]];
            let ordered = within.windows(2).all(|c| c[0] < c[1]);
            if !ordered || within.last().is_some_and(|c| *c as usize >= n_cols) {
                return bad(format!("sparse row {row} has columns out of order or beyond {n_cols}"));
            }
        }
        Ok(Self { offsets, columns, values, n_cols })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Columns and values of row i.
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The same rows with their numbers seen as another type.
    pub(super) fn with_numbers<S>(&self, cast: impl Fn(&'a [T]) -> Option<&'a [S]>) -> Option<CsrRef<'a, S>> {
        let values = cast(self.values)?;
        Some(CsrRef { offsets: self.offsets, columns: self.columns, values, n_cols: self.n_cols })
    }

    /// Whether at least a quarter of all entries are stored: a dense copy takes not much more memory.
    pub(crate) fn is_nearly_full(&self) -> bool {
        let stored: usize = (0..self.n_rows()).map(|i| self.row(i).0.len()).sum();
        4 * stored as u128 >= self.n_rows() as u128 * self.n_cols() as u128
    }

    /// A copy in another precision.
    pub(super) fn to_precision<S: Real>(self) -> Csr<S> {
        let all = self.gather(&(0..self.n_rows()).collect::<Vec<_>>());
        let values = collected(all.values.len(), all.values.iter().map(|v| S::of(v.f64())));
        Csr { offsets: all.offsets, columns: all.columns, values, n_cols: all.n_cols }
    }

    /// The rows named, copied.
    pub fn gather(&self, rows: &[usize]) -> Csr<T> {
        let stored = rows.iter().map(|i| self.row(*i).0.len()).sum();
        let mut offsets = room_for(rows.len() + 1);
        offsets.push(0);
        let mut out =
            Csr { offsets, columns: room_for(stored), values: room_for(stored), n_cols: self.n_cols };
        for i in rows {
            let (columns, values) = self.row(*i);
            out.columns.extend_from_slice(columns);
            out.values.extend_from_slice(values);
            out.offsets.push(out.values.len());
        }
        out
    }

    /// Rows `range`.
    pub fn rows(&self, range: Range<usize>) -> CsrRef<'a, T> {
        CsrRef { offsets: &self.offsets[range.start..=range.end], ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sliced_in_place() {
        let m = Csr::new(vec![0, 2, 2, 3], vec![0, 3, 1], vec![1.0f64, 2.0, 3.0], 4).unwrap();
        let v = m.view().rows(1..3);
        assert_eq!(v.n_rows(), 2);
        assert_eq!(v.row(1), ([1].as_slice(), [3.0].as_slice()));
        assert_eq!(v.row(0), ([].as_slice(), [].as_slice()));
    }

    #[test]
    fn broken_rows_are_named() {
        let text = |r: Result<Csr<f64>>| r.unwrap_err().to_string();
        assert!(text(Csr::new(vec![0, 2], vec![3, 1], vec![1.0, 1.0], 4)).contains("sparse row 0"));
        assert!(text(Csr::new(vec![0, 1], vec![4], vec![1.0], 4)).contains("beyond 4"));
        assert!(text(Csr::new(vec![0, 3, 2], vec![0, 1], vec![1.0, 1.0], 4)).contains("runs from 0 to 3"));
        assert!(text(Csr::new(vec![], vec![], vec![], 4)).contains("0 offsets"));
    }
}
