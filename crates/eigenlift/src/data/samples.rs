//! Owned rows of numbers, shared cheaply.

use super::csr::Csr;
use super::points::{AnyPoints, Points};
use crate::error::Result;
use crate::matrix::{MatRef, Matrix};
use crate::real::Real;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

/// Memory that belongs to someone else, such as a NumPy array, kept alive while samples use it.
pub trait SharedBuffer<T>: Send + Sync {
    /// All numbers, row after row.
    fn numbers(&self) -> &[T];
}

impl<T: Real> SharedBuffer<T> for Vec<T> {
    fn numbers(&self) -> &[T] {
        self
    }
}

#[derive(Clone)]
enum Storage<T> {
    Dense { buffer: Arc<dyn SharedBuffer<T>>, n_rows: usize, n_cols: usize },
    Sparse(Arc<Csr<T>>),
}

/// Rows of numbers that a model keeps. Cloning shares the memory.
#[derive(Clone)]
pub struct Samples<T> {
    storage: Storage<T>,
}

impl<T: Real> Samples<T> {
    /// Rows in memory that is shared with its owner: nothing is copied.
    ///
    /// # Errors
    /// When the buffer does not hold exactly `n_rows · n_cols` numbers.
    pub fn shared(buffer: Arc<dyn SharedBuffer<T>>, n_rows: usize, n_cols: usize) -> Result<Self> {
        MatRef::new(buffer.numbers(), n_rows, n_cols)?;
        Ok(Self { storage: Storage::Dense { buffer, n_rows, n_cols } })
    }

    /// The rows.
    pub fn points(&self) -> Points<'_, T> {
        match &self.storage {
            Storage::Dense { buffer, n_rows, n_cols } => {
                let numbers = buffer.numbers();
                match MatRef::new(numbers, *n_rows, *n_cols) {
                    Ok(view) => Points::Dense(view),
                    // The length was checked when the samples were made; a buffer that shrank since shows no rows.
                    Err(_) => Points::Dense(MatRef::<T>::empty(*n_cols)),
                }
            }
            Storage::Sparse(rows) => Points::Sparse(rows.view()),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.points().n_rows()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.points().n_cols()
    }

    /// The rows named, copied.
    pub fn gather(&self, rows: &[usize]) -> Samples<T> {
        self.points().gather(rows)
    }

    /// Row after row, as many numbers as rows and columns say.
    pub(super) fn of_numbers(numbers: Vec<T>, n_rows: usize, n_cols: usize) -> Self {
        Self { storage: Storage::Dense { buffer: Arc::new(numbers), n_rows, n_cols } }
    }
}

impl<T: Real> From<Matrix<T>> for Samples<T> {
    fn from(m: Matrix<T>) -> Self {
        let (n_rows, n_cols) = (m.n_rows(), m.n_cols());
        Self::of_numbers(m.into_vec(), n_rows, n_cols)
    }
}

impl<T: Real> From<Csr<T>> for Samples<T> {
    fn from(rows: Csr<T>) -> Self {
        Self { storage: Storage::Sparse(Arc::new(rows)) }
    }
}

impl<T: Real> Debug for Samples<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "Samples<{}>({} × {})", T::NAME, self.n_rows(), self.n_cols())
    }
}

/// Samples in either precision, as a model file holds them.
#[derive(Clone, Debug)]
pub enum AnySamples {
    /// Single precision.
    F32(Samples<f32>),
    /// Double precision.
    F64(Samples<f64>),
}

impl AnySamples {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::F32(s) => s.n_rows(),
            Self::F64(s) => s.n_rows(),
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Self::F32(s) => s.n_cols(),
            Self::F64(s) => s.n_cols(),
        }
    }

    /// The rows.
    pub fn points(&self) -> AnyPoints<'_> {
        match self {
            Self::F32(s) => AnyPoints::F32(s.points()),
            Self::F64(s) => AnyPoints::F64(s.points()),
        }
    }

    /// The rows named, copied.
    pub fn gather(&self, rows: &[usize]) -> AnySamples {
        match self {
            Self::F32(s) => Self::F32(s.gather(rows)),
            Self::F64(s) => Self::F64(s.gather(rows)),
        }
    }

    /// The rows in single precision: a copy, or the samples themselves if that is what they are.
    pub fn to_single(&self) -> AnySamples {
        match self {
            Self::F32(s) => Self::F32(s.clone()),
            Self::F64(s) => Self::F32(match s.points() {
                Points::Dense(_) => s.points().to_dense::<f32>().into(),
                Points::Sparse(m) => m.to_precision::<f32>().into(),
            }),
        }
    }

    /// The rows in double precision: a copy, or the samples themselves if that is what they are.
    pub fn to_double(&self) -> AnySamples {
        match self {
            Self::F64(s) => Self::F64(s.clone()),
            Self::F32(s) => Self::F64(match s.points() {
                Points::Dense(_) => s.points().to_dense::<f64>().into(),
                Points::Sparse(m) => m.to_precision::<f64>().into(),
            }),
        }
    }

    /// `"f32"` or `"f64"`.
    pub fn precision(&self) -> &'static str {
        match self {
            Self::F32(_) => f32::NAME,
            Self::F64(_) => f64::NAME,
        }
    }
}

impl From<Samples<f32>> for AnySamples {
    fn from(s: Samples<f32>) -> Self {
        Self::F32(s)
    }
}

impl From<Samples<f64>> for AnySamples {
    fn from(s: Samples<f64>) -> Self {
        Self::F64(s)
    }
}

impl From<Matrix<f64>> for AnySamples {
    fn from(m: Matrix<f64>) -> Self {
        Self::F64(m.into())
    }
}

impl From<Matrix<f32>> for AnySamples {
    fn from(m: Matrix<f32>) -> Self {
        Self::F32(m.into())
    }
}
