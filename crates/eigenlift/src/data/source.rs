//! Rows that come in pieces: from memory, or from a file that does not fit into it.

use super::points::AnyPoints;
use crate::error::Result;

/// Rows that can be read from the first to the last, a piece at a time, as often as needed.
pub trait RowSource: Send {
    /// Number of columns.
    fn n_cols(&self) -> usize;

    /// Precision in which rows come, `f32` or `f64`.
    fn precision(&self) -> &'static str {
        "f64"
    }

    /// Number of rows. May take one reading to count them.
    ///
    /// # Errors
    /// When the rows cannot be read.
    fn n_rows(&mut self) -> Result<usize>;

    /// Most rows that [`next_rows`](Self::next_rows) gives at a time, however many are asked for.
    fn most_rows(&self) -> usize {
        usize::MAX
    }

    /// Back to the first row.
    ///
    /// # Errors
    /// When the rows can be read only once.
    fn rewind(&mut self) -> Result<()>;

    /// Calls `visit` with the next rows, at most `most_rows` of them; `false` when there are none.
    ///
    /// # Errors
    /// When the rows cannot be read, and what `visit` fails with.
    fn next_rows(
        &mut self,
        most_rows: usize,
        visit: &mut dyn FnMut(AnyPoints<'_>) -> Result<()>,
    ) -> Result<bool>;
}

/// Rows in memory, read as a source.
#[derive(Clone, Debug)]
pub struct RowsInMemory<'a> {
    rows: AnyPoints<'a>,
    at: usize,
}

impl<'a> RowsInMemory<'a> {
    /// All of `rows`, from the first on.
    pub fn new(rows: impl Into<AnyPoints<'a>>) -> Self {
        Self { rows: rows.into(), at: 0 }
    }
}

impl RowSource for RowsInMemory<'_> {
    fn n_cols(&self) -> usize {
        self.rows.n_cols()
    }

    fn n_rows(&mut self) -> Result<usize> {
        Ok(self.rows.n_rows())
    }

    fn precision(&self) -> &'static str {
        match self.rows {
            AnyPoints::F32(_) => "f32",
            AnyPoints::F64(_) => "f64",
        }
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn next_rows(
        &mut self,
        most_rows: usize,
        visit: &mut dyn FnMut(AnyPoints<'_>) -> Result<()>,
    ) -> Result<bool> {
        let to = self.at.saturating_add(most_rows.max(1)).min(self.rows.n_rows());
        if self.at == to {
            return Ok(false);
        }
        let piece = self.rows.rows(self.at..to);
        self.at = to;
        visit(piece).map(|()| true)
    }
}

/// The rows named by `wanted` (in ascending order), copied in double precision, in one reading from the first row on.
///
/// # Errors
/// When the rows cannot be read.
pub(crate) fn gather(
    source: &mut dyn RowSource,
    wanted: &[usize],
    most_rows: usize,
) -> Result<crate::matrix::Matrix<f64>> {
    let d = source.n_cols();
    let mut out = crate::matrix::Matrix::zeros(wanted.len(), d);
    let (mut first, mut next) = (0, 0);
    source.rewind()?;
    while next < wanted.len() {
        let more = source.next_rows(most_rows, &mut |piece| {
            while let Some(row) = wanted.get(next).filter(|row| **row < first + piece.n_rows()) {
                piece.copy_row(row - first, out.view_mut().row_mut(next));
                next += 1;
            }
            first += piece.n_rows();
            Ok(())
        })?;
        if !more {
            return Err(crate::error::Error::data(
                format!("{first} rows where row {} was expected", wanted[next] + 1),
                "the rows must stay the same while they are read",
                "Wait until the file is complete, then run again",
            ));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn rows_come_in_order_and_can_be_gathered() {
        let x = Matrix::from_fn(10, 2, |i, j| (10 * i + j) as f64);
        let mut source = RowsInMemory::new(&x);
        let mut sizes = Vec::new();
        while source
            .next_rows(4, &mut |piece| {
                sizes.push(piece.n_rows());
                Ok(())
            })
            .unwrap()
        {}
        assert_eq!(sizes, [4, 4, 2]);
        for most in [1, 3, 100] {
            let rows = gather(&mut source, &[0, 3, 4, 9], most).unwrap();
            assert_eq!(rows.column(1), [1.0, 31.0, 41.0, 91.0]);
        }
        let message = gather(&mut source, &[2, 10], 3).unwrap_err().to_string();
        assert!(message.starts_with("10 rows where row 11 was expected"), "{message}");
    }
}
