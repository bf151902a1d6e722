//! Borrowed rows of numbers.

use super::csr::CsrRef;
use super::samples::{AnySamples, Samples};
use crate::error::{Error, Result};
use crate::matrix::{MatRef, Matrix};
use crate::memory::collected;
use crate::real::Real;
use std::ops::Range;

/// Rows of numbers, dense or sparse, borrowed without copying.
#[derive(Clone, Copy, Debug)]
pub enum Points<'a, T> {
    /// Every entry is stored.
    Dense(MatRef<'a, T>),
    /// Only non-zero entries are stored.
    Sparse(CsrRef<'a, T>),
}

impl<'a, T: Real> Points<'a, T> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Dense(m) => m.n_rows(),
            Self::Sparse(m) => m.n_rows(),
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Self::Dense(m) => m.n_cols(),
            Self::Sparse(m) => m.n_cols(),
        }
    }

    /// Rows `range`.
    pub fn rows(&self, range: Range<usize>) -> Points<'a, T> {
        match self {
            Self::Dense(m) => Self::Dense(m.rows(range)),
            Self::Sparse(m) => Self::Sparse(m.rows(range)),
        }
    }

    /// The rows named, copied.
    pub fn gather(&self, rows: &[usize]) -> Samples<T> {
        match self {
            Self::Dense(m) => {
                let numbers = rows.iter().flat_map(|i| m.row(*i).iter().copied());
                let numbers = collected(rows.len() * m.n_cols(), numbers);
                Samples::of_numbers(numbers, rows.len(), m.n_cols())
            }
            Self::Sparse(m) => m.gather(rows).into(),
        }
    }

    /// Writes row i into `out`, zeros included, converted to `out`'s precision.
    pub fn copy_row<S: Real>(&self, i: usize, out: &mut [S]) {
        match self {
            Self::Dense(m) => out.iter_mut().zip(m.row(i)).for_each(|(o, x)| *o = S::of(x.f64())),
            Self::Sparse(m) => {
                out.fill(S::ZERO);
                let (columns, values) = m.row(i);
                columns.iter().zip(values).for_each(|(c, x)| out[*c as usize] = S::of(x.f64()));
            }
        }
    }

    /// A dense copy in the wanted precision.
    pub fn to_dense<S: Real>(&self) -> Matrix<S> {
        let mut out = Matrix::zeros(self.n_rows(), self.n_cols());
        let mut view = out.view_mut();
        (0..self.n_rows()).for_each(|i| self.copy_row(i, view.row_mut(i)));
        out
    }

    /// The first stored entry that fails `wanted`, as row, column and value.
    pub fn find(&self, wanted: impl Fn(T) -> bool) -> Option<(usize, usize, f64)> {
        (0..self.n_rows()).find_map(|i| {
            let (at, value) = match self {
                Self::Dense(m) => m.row(i).iter().position(|x| !wanted(*x)).map(|j| (j, m.row(i)[j]))?,
                Self::Sparse(m) => {
                    let (columns, values) = m.row(i);
                    values.iter().position(|x| !wanted(*x)).map(|p| (columns[p] as usize, values[p]))?
                }
            };
            Some((i, at, value.f64()))
        })
    }

    /// Checks that there is at least one column and that every entry is finite.
    ///
    /// # Errors
    /// Names the first entry that is not, counting rows and columns from 1.
    pub fn check(&self) -> Result<()> {
        if self.n_cols() == 0 {
            return Err(Error::data(
                "rows without columns",
                "at least one column is needed",
                "Select data columns",
            ));
        }
        match self.find(T::finite) {
            None => Ok(()),
            Some((i, j, value)) => Err(Error::data(
                format!("row {}, column {} is {value}", i + 1, j + 1),
                "every entry must be finite",
                "Impute or drop that row",
            )),
        }
    }
}

impl<'a, T> From<MatRef<'a, T>> for Points<'a, T> {
    fn from(m: MatRef<'a, T>) -> Self {
        Self::Dense(m)
    }
}

impl<'a, T: Real> From<&'a Matrix<T>> for Points<'a, T> {
    fn from(m: &'a Matrix<T>) -> Self {
        Self::Dense(m.view())
    }
}

impl<'a, T> From<CsrRef<'a, T>> for Points<'a, T> {
    fn from(m: CsrRef<'a, T>) -> Self {
        Self::Sparse(m)
    }
}

/// Rows in either precision.
#[derive(Clone, Copy, Debug)]
pub enum AnyPoints<'a> {
    /// Single precision.
    F32(Points<'a, f32>),
    /// Double precision.
    F64(Points<'a, f64>),
}

impl<'a> AnyPoints<'a> {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::F32(p) => p.n_rows(),
            Self::F64(p) => p.n_rows(),
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Self::F32(p) => p.n_cols(),
            Self::F64(p) => p.n_cols(),
        }
    }

    /// Rows `range`.
    pub fn rows(&self, range: Range<usize>) -> AnyPoints<'a> {
        match self {
            Self::F32(p) => Self::F32(p.rows(range)),
            Self::F64(p) => Self::F64(p.rows(range)),
        }
    }

    /// The rows named, copied.
    pub fn gather(&self, rows: &[usize]) -> AnySamples {
        match self {
            Self::F32(p) => AnySamples::F32(p.gather(rows)),
            Self::F64(p) => AnySamples::F64(p.gather(rows)),
        }
    }

    /// As [`Points::copy_row`].
    pub fn copy_row<T: Real>(&self, i: usize, out: &mut [T]) {
        match self {
            Self::F32(p) => p.copy_row(i, out),
            Self::F64(p) => p.copy_row(i, out),
        }
    }

    /// As [`Points::check`].
    ///
    /// # Errors
    /// As [`Points::check`].
    pub fn check(&self) -> Result<()> {
        match self {
            Self::F32(p) => p.check(),
            Self::F64(p) => p.check(),
        }
    }

    /// The rows as `T`, if that is their precision.
    pub fn exactly<T: Real>(&self) -> Option<Points<'a, T>> {
        match self {
            Self::F32(p) => p.with_numbers(T::from_f32),
            Self::F64(p) => p.with_numbers(T::from_f64),
        }
    }

    /// A dense copy in the wanted precision.
    pub fn to_dense<T: Real>(&self) -> Matrix<T> {
        match self {
            Self::F32(p) => p.to_dense(),
            Self::F64(p) => p.to_dense(),
        }
    }
}

impl<'a, T: Real> Points<'a, T> {
    fn with_numbers<S: Real>(&self, cast: impl Fn(&'a [T]) -> Option<&'a [S]>) -> Option<Points<'a, S>> {
        match self {
            Self::Dense(m) => {
                let view = MatRef::strided(cast(m.buffer())?, m.n_rows(), m.n_cols(), m.row_stride());
                view.ok().map(Points::Dense)
            }
            Self::Sparse(m) => m.with_numbers(cast).map(Points::Sparse),
        }
    }
}

impl<'a> From<Points<'a, f32>> for AnyPoints<'a> {
    fn from(p: Points<'a, f32>) -> Self {
        Self::F32(p)
    }
}

impl<'a> From<Points<'a, f64>> for AnyPoints<'a> {
    fn from(p: Points<'a, f64>) -> Self {
        Self::F64(p)
    }
}

impl<'a> From<&'a Matrix<f64>> for AnyPoints<'a> {
    fn from(m: &'a Matrix<f64>) -> Self {
        Self::F64(m.into())
    }
}

impl<'a> From<&'a Matrix<f32>> for AnyPoints<'a> {
    fn from(m: &'a Matrix<f32>) -> Self {
        Self::F32(m.into())
    }
}

impl<'a> From<&'a AnySamples> for AnyPoints<'a> {
    fn from(samples: &'a AnySamples) -> Self {
        samples.points()
    }
}
