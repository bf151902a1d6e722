//! Row-major matrices and views of them, so that NumPy's C order comes in without a copy.

use crate::error::{Error, Result};
use crate::memory::{resize, room_for, zeroed};
use crate::real::Real;

/// An owned row-major matrix.
#[derive(Debug, Default, PartialEq)]
pub struct Matrix<T> {
    data: Vec<T>,
    n_rows: usize,
    n_cols: usize,
}

/// A row-major view; consecutive rows start `row_stride` entries apart.
#[derive(Clone, Copy, Debug)]
pub struct MatRef<'a, T> {
    data: &'a [T],
    n_rows: usize,
    n_cols: usize,
    row_stride: usize,
}

/// A row-major view that can be written.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    data: &'a mut [T],
    n_rows: usize,
    n_cols: usize,
    row_stride: usize,
}

fn shape_error(len: usize, n_rows: usize, n_cols: usize, row_stride: usize) -> Error {
    Error::data(
        format!("a buffer of {len} numbers for a {n_rows} × {n_cols} matrix with row stride {row_stride}"),
        "the buffer must hold every row and the stride must be at least the number of columns",
        "Check the shape that goes with the buffer",
    )
}

/// Stops where a buffer is not that of a shape. Why not an error: no input leads here, so whoever called is wrong.
fn assert_holds(len: usize, n_rows: usize, n_cols: usize) {
    assert!(
        n_rows.checked_mul(n_cols) == Some(len),
        "a buffer of {len} numbers for a {n_rows} × {n_cols} matrix"
    );
}

/// `range` cut to 0..end. Why: views reach only entries that exist, which products rely on.
fn within(range: std::ops::Range<usize>, end: usize) -> std::ops::Range<usize> {
    let to = range.end.min(end);
    range.start.min(to)..to
}

/// Entries that a strided view touches, or `None` when that overflows.
fn extent(n_rows: usize, n_cols: usize, row_stride: usize) -> Option<usize> {
    if n_rows == 0 { Some(0) } else { (n_rows - 1).checked_mul(row_stride)?.checked_add(n_cols) }
}

impl<T: Copy> Clone for Matrix<T> {
    fn clone(&self) -> Self {
        let mut data = room_for(self.data.len());
        data.extend_from_slice(&self.data);
        Self { data, n_rows: self.n_rows, n_cols: self.n_cols }
    }
}

impl<T: Real> Matrix<T> {
    /// All zeros. Memory that the system refuses unwinds to the nearest [`guard`](crate::memory::guard).
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        Self { data: zeroed(n_rows.saturating_mul(n_cols)), n_rows, n_cols }
    }

    /// All zeros, or an error where the system refuses that much memory: for matrices whose size grows with the data.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn try_zeros(n_rows: usize, n_cols: usize) -> Result<Self> {
        let mut data = Vec::new();
        let refused = || {
            let bytes = n_rows as u128 * n_cols as u128 * size_of::<T>() as u128;
            Error::memory(
                format!("a {n_rows} × {n_cols} matrix of {bytes} bytes"),
                "the system refuses that much memory",
                "Set a memory limit, so that the work is planned within it, or give fewer rows",
            )
        };
        let count = n_rows.checked_mul(n_cols).ok_or_else(refused)?;
        data.try_reserve_exact(count).map_err(|_| refused())?;
        data.resize(count, T::ZERO);
        Ok(Self { data, n_rows, n_cols })
    }

    /// From row-major numbers.
    ///
    /// # Errors
    /// When `data` does not hold exactly `n_rows · n_cols` numbers.
    pub fn from_vec(data: Vec<T>, n_rows: usize, n_cols: usize) -> Result<Self> {
        if n_rows.checked_mul(n_cols) == Some(data.len()) {
            Ok(Self { data, n_rows, n_cols })
        } else {
            Err(shape_error(data.len(), n_rows, n_cols, n_cols))
        }
    }

    /// Takes rows one after the other where their number is known to be right.
    ///
    /// # Panics
    /// When there are more or fewer numbers than the shape has: a mistake in this crate.
    pub fn shaped(data: Vec<T>, n_rows: usize, n_cols: usize) -> Self {
        assert_holds(data.len(), n_rows, n_cols);
        Self { data, n_rows, n_cols }
    }

    /// Entry (i, j) is `f(i, j)`.
    pub fn from_fn(n_rows: usize, n_cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = room_for(n_rows.saturating_mul(n_cols));
        data.extend((0..n_rows * n_cols).map(|at| f(at / n_cols.max(1), at % n_cols.max(1))));
        Self { data, n_rows, n_cols }
    }

    /// Another shape in the same memory as far as it reaches; what stands there is left over from before.
    pub(crate) fn reshape(&mut self, n_rows: usize, n_cols: usize) {
        resize(&mut self.data, n_rows * n_cols, T::ZERO);
        (self.n_rows, self.n_cols) = (n_rows, n_cols);
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All entries, row after row, writable.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// Gives up the entries.
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[T] {
        &self.data[i * self.n_cols..(i + 1) * self.n_cols]
    }

    /// The first `n_cols` columns; without a copy when these are all.
    pub(crate) fn into_first_columns(self, n_cols: usize) -> Self {
        let Self { mut data, n_rows, n_cols: before } = self;
        if n_cols >= before {
            return Self { data, n_rows, n_cols: before };
        }
        // Why in place: the matrix may take most of the memory that is allowed.
        (1..n_rows).for_each(|i| data.copy_within(i * before..i * before + n_cols, i * n_cols));
        data.truncate(n_rows * n_cols);
        data.shrink_to_fit();
        Self { data, n_rows, n_cols }
    }

    /// Column j, copied.
    pub fn column(&self, j: usize) -> Vec<T> {
        (0..self.n_rows).map(|i| self[(i, j)]).collect()
    }

    /// A view of the whole.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef { data: &self.data, n_rows: self.n_rows, n_cols: self.n_cols, row_stride: self.n_cols }
    }

    /// A writable view of the whole.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut { n_rows: self.n_rows, n_cols: self.n_cols, row_stride: self.n_cols, data: &mut self.data }
    }
}

impl<T> std::ops::Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.data[i * self.n_cols + j]
    }
}

impl<T> std::ops::IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.data[i * self.n_cols + j]
    }
}

impl<'a, T: Real> MatRef<'a, T> {
    /// A view of row-major numbers, rows following each other without a gap.
    ///
    /// # Errors
    /// When the slice does not hold exactly `n_rows · n_cols` numbers.
    pub fn new(data: &'a [T], n_rows: usize, n_cols: usize) -> Result<Self> {
        if n_rows.checked_mul(n_cols) == Some(data.len()) {
            Ok(Self { data, n_rows, n_cols, row_stride: n_cols })
        } else {
            Err(shape_error(data.len(), n_rows, n_cols, n_cols))
        }
    }

    /// A view of a slice whose length is known to be right.
    ///
    /// # Panics
    /// When there are more or fewer numbers than the shape has: a mistake in this crate.
    pub fn shaped(data: &'a [T], n_rows: usize, n_cols: usize) -> Self {
        assert_holds(data.len(), n_rows, n_cols);
        Self { data, n_rows, n_cols, row_stride: n_cols }
    }

    /// A view whose rows start `row_stride` entries apart.
    ///
    /// # Errors
    /// When the slice is too short or the stride smaller than a row.
    pub fn strided(data: &'a [T], n_rows: usize, n_cols: usize, row_stride: usize) -> Result<Self> {
        match extent(n_rows, n_cols, row_stride) {
            Some(needed) if needed <= data.len() && row_stride >= n_cols => {
                Ok(Self { data, n_rows, n_cols, row_stride })
            }
            _ => Err(shape_error(data.len(), n_rows, n_cols, row_stride)),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Distance between the starts of consecutive rows.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// The buffer, from the first entry to the last.
    pub fn buffer(&self) -> &'a [T] {
        self.data
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.row_stride..][..self.n_cols]
    }

    /// Rows `range`, as far as they exist.
    pub fn rows(&self, range: std::ops::Range<usize>) -> MatRef<'a, T> {
        let range = within(range, self.n_rows);
        let from = if range.is_empty() { 0 } else { range.start * self.row_stride };
        MatRef { data: &self.data[from..], n_rows: range.len(), ..*self }
    }

    /// The first `n_cols` columns.
    pub fn first_columns(&self, n_cols: usize) -> MatRef<'a, T> {
        MatRef { n_cols: n_cols.min(self.n_cols), ..*self }
    }

    /// Columns `range`, as far as they exist.
    pub fn columns(&self, range: std::ops::Range<usize>) -> MatRef<'a, T> {
        let range = within(range, self.n_cols);
        let from = range.start.min(self.data.len());
        MatRef { data: &self.data[from..], n_cols: range.len(), ..*self }
    }

    /// No rows, `n_cols` columns.
    pub fn empty(n_cols: usize) -> MatRef<'static, T> {
        MatRef { data: &[], n_rows: 0, n_cols, row_stride: n_cols }
    }

    /// A copy without gaps.
    pub fn to_matrix(&self) -> Matrix<T> {
        let mut data = room_for(self.n_rows * self.n_cols);
        (0..self.n_rows).for_each(|i| data.extend_from_slice(self.row(i)));
        Matrix { data, n_rows: self.n_rows, n_cols: self.n_cols }
    }
}

impl<'a, T: Real> MatMut<'a, T> {
    /// A view of a slice whose length is known to be right.
    ///
    /// # Panics
    /// When there are more or fewer numbers than the shape has: a mistake in this crate.
    pub fn shaped(data: &'a mut [T], n_rows: usize, n_cols: usize) -> Self {
        assert_holds(data.len(), n_rows, n_cols);
        Self { data, n_rows, n_cols, row_stride: n_cols }
    }

    /// A writable view whose rows start `row_stride` entries apart.
    ///
    /// # Errors
    /// When the slice is too short or the stride smaller than a row.
    pub fn strided(data: &'a mut [T], n_rows: usize, n_cols: usize, row_stride: usize) -> Result<Self> {
        match extent(n_rows, n_cols, row_stride) {
            Some(needed) if needed <= data.len() && row_stride >= n_cols => {
                Ok(Self { data, n_rows, n_cols, row_stride })
            }
            _ => Err(shape_error(data.len(), n_rows, n_cols, row_stride)),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Row i.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.data[i * self.row_stride..][..self.n_cols]
    }

    /// Reads what was written.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { data: self.data, n_rows: self.n_rows, n_cols: self.n_cols, row_stride: self.row_stride }
    }

    /// A shorter borrow of the same view.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { data: self.data, n_rows: self.n_rows, n_cols: self.n_cols, row_stride: self.row_stride }
    }

    /// Columns `range`, as far as they exist.
    pub fn columns(self, range: std::ops::Range<usize>) -> MatMut<'a, T> {
        let range = within(range, self.n_cols);
        let from = range.start.min(self.data.len());
        MatMut {
            data: &mut self.data[from..],
            n_rows: self.n_rows,
            n_cols: range.len(),
            row_stride: self.row_stride,
        }
    }

    /// The view cut into pieces of `height` rows (the last may be shorter).
    pub fn row_chunks(self, height: usize) -> Vec<MatMut<'a, T>> {
        let (n_cols, row_stride) = (self.n_cols, self.row_stride);
        let mut left = self.n_rows;
        let mut rest = self.data;
        let mut pieces = Vec::with_capacity(left.div_ceil(height.max(1)));
        while left > 0 {
            let n_rows = left.min(height.max(1));
            let cut = if left == n_rows { rest.len() } else { n_rows * row_stride };
            let (piece, after) = rest.split_at_mut(cut);
            pieces.push(MatMut { data: piece, n_rows, n_cols, row_stride });
            rest = after;
            left -= n_rows;
        }
        pieces
    }

    /// Rows, columns, row stride and the buffer.
    pub(crate) fn into_parts(self) -> (usize, usize, usize, &'a mut [T]) {
        (self.n_rows, self.n_cols, self.row_stride, self.data)
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: T) {
        (0..self.n_rows).for_each(|i| self.row_mut(i).fill(value));
    }

    /// Copies `from`.
    ///
    /// # Panics
    /// When `from` has another shape.
    pub fn copy_from(&mut self, from: MatRef<'_, T>) {
        let (own, other) = ((self.n_rows, self.n_cols), (from.n_rows, from.n_cols));
        assert!(own == other, "a matrix of shape {other:?} copied into one of shape {own:?}");
        (0..self.n_rows).for_each(|i| self.row_mut(i).copy_from_slice(from.row(i)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_share_the_numbers() {
        let mut m = Matrix::from_fn(5, 4, |i, j| (10 * i + j) as f64);
        let v = m.view().rows(1..4).columns(2..4);
        assert_eq!((v.n_rows(), v.n_cols(), v.row(2)), (3, 2, [32.0, 33.0].as_slice()));
        for (at, mut piece) in m.view_mut().columns(1..3).row_chunks(2).into_iter().enumerate() {
            piece.fill(at as f64);
        }
        assert_eq!(m.row(4), [40.0, 2.0, 2.0, 43.0]);
        assert_eq!(m.row(1), [10.0, 0.0, 0.0, 13.0]);
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert_eq!(Matrix::<f64>::try_zeros(3, 2).unwrap(), Matrix::zeros(3, 2));
        for (n_rows, n_cols) in [(usize::MAX, 2), (1 << 40, 1 << 20)] {
            let error = Matrix::<f64>::try_zeros(n_rows, n_cols).unwrap_err();
            assert!(matches!(error, Error::Memory { .. }), "{error}");
        }
    }

    #[test]
    fn wrong_shapes_are_refused() {
        assert!(Matrix::from_vec(vec![0.0f64; 5], 2, 3).is_err());
        assert!(MatRef::new(&[0.0f64; 6], usize::MAX, 2).is_err());
        assert!(MatRef::strided(&[0.0f64; 6], 2, 3, 2).is_err());
        assert!(MatRef::strided(&[0.0f64; 6], 2, 2, 4).is_ok());
    }
}
