//! Rows of NumPy arrays as the library sees them, and results as NumPy arrays.

use crate::errors::{EigenliftError, to_python};
use eigenlift::data::{AnyPoints, AnySamples, Csr, Points, Samples, SharedBuffer};
use eigenlift::error::Result;
use eigenlift::graph::Neighbors;
use eigenlift::matrix::Matrix;
use eigenlift::memory;
use eigenlift::model::Numbers;
use eigenlift::real::Real;
use numpy::ndarray::{Array2, ArrayD, IxDyn};
use numpy::{
    Element, IntoPyArray, PyArray, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// A copy of numbers, or the exception that there is not enough memory.
fn copied<T: Clone>(numbers: &[T]) -> PyResult<Vec<T>> {
    memory::collect(numbers.iter().cloned()).map_err(to_python)
}

/// A copy, or the exception that there is not enough memory.
pub(crate) fn cloned<T: Clone>(of: &T) -> PyResult<T> {
    memory::guard(|| Ok(of.clone())).map_err(to_python)
}

/// Rows that Python gave, dense or sparse.
pub(crate) enum Rows<'py> {
    F32(Form<'py, f32>),
    F64(Form<'py, f64>),
}

/// Rows in one precision.
pub(crate) enum Form<'py, T: Element> {
    Dense(PyReadonlyArray2<'py, T>),
    Sparse {
        offsets: Vec<usize>,
        columns: PyReadonlyArray1<'py, u32>,
        values: PyReadonlyArray1<'py, T>,
        n_cols: usize,
    },
}

impl<'py> FromPyObject<'_, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Some(form) = Form::<f64>::extract(&object)? {
            return Ok(Self::F64(form));
        }
        if let Some(form) = Form::<f32>::extract(&object)? {
            return Ok(Self::F32(form));
        }
        Err(PyTypeError::new_err(
            "rows must be a C-ordered array of two dimensions with float32 or float64, or the parts of a CSR matrix",
        ))
    }
}

impl<'py, T: Element + Real> Form<'py, T> {
    fn extract(object: &Bound<'py, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<PyArray2<T>>() {
            return Ok(array.is_c_contiguous().then(|| Self::Dense(array.readonly())));
        }
        type Parts<'py, T> =
            (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, T>, usize);
        let Ok((offsets, columns, values, n_cols)) = object.extract::<Parts<'py, T>>() else {
            return Ok(None);
        };
        let offsets = offsets
            .as_array()
            .iter()
            .map(|at| usize::try_from(*at))
            .collect::<std::result::Result<Vec<usize>, _>>()
            .map_err(|_| EigenliftError::new_err("a CSR matrix whose indptr is negative"))?;
        Ok(Some(Self::Sparse { offsets, columns, values, n_cols }))
    }

    /// Rows that a model may keep: dense ones are not copied.
    fn samples(&self) -> PyResult<Samples<T>> {
        match self {
            Self::Dense(array) => {
                let (n, d) = (array.shape()[0], array.shape()[1]);
                Samples::shared(lent(array)?, n, d).map_err(to_python)
            }
            Self::Sparse { offsets, columns, values, n_cols } => {
                let (columns, values) = (copied(columns.as_slice()?)?, copied(values.as_slice()?)?);
                Ok(Csr::new(copied(offsets)?, columns, values, *n_cols).map_err(to_python)?.into())
            }
        }
    }
}

impl Rows<'_> {
    /// The rows; dense ones are not copied.
    pub(crate) fn samples(&self) -> PyResult<AnySamples> {
        Ok(match self {
            Self::F32(form) => AnySamples::F32(form.samples()?),
            Self::F64(form) => AnySamples::F64(form.samples()?),
        })
    }

    /// The rows of a CSR matrix as lists of neighbours with their distances; an entry that is zero is a distance of zero.
    pub(crate) fn neighbors(&self) -> PyResult<Neighbors> {
        fn lists<T: Element + Real>(form: &Form<'_, T>) -> PyResult<Neighbors> {
            let Form::Sparse { offsets, columns, values, n_cols } = form else {
                return Err(PyTypeError::new_err("lists of neighbours are the parts of a CSR matrix"));
            };
            let (offsets, columns) = (copied(offsets)?, copied(columns.as_slice()?)?);
            let distances = memory::collect(values.as_slice()?.iter().map(|value| value.f64()));
            Neighbors::new(offsets, columns, distances.map_err(to_python)?, *n_cols).map_err(to_python)
        }
        match self {
            Self::F32(form) => lists(form),
            Self::F64(form) => lists(form),
        }
    }

    /// Whether they are in single precision.
    pub(crate) fn single(&self) -> bool {
        matches!(self, Self::F32(_))
    }

    /// The dense array itself.
    pub(crate) fn array(&self) -> Option<Py<PyAny>> {
        match self {
            Self::F32(Form::Dense(array)) => Some(array.as_any().clone().unbind()),
            Self::F64(Form::Dense(array)) => Some(array.as_any().clone().unbind()),
            _ => None,
        }
    }
}

/// Memory of a NumPy array, which lives as long as this.
struct Lent<T: Element> {
    _array: Py<PyArray2<T>>,
    start: *const T,
    length: usize,
}

// SAFETY: the numbers are only read, through a pointer into memory that the reference to the array keeps alive; NumPy does
// not move the memory of an array. The reference itself is only dropped, which PyO3 allows in any thread.
#[allow(unsafe_code)]
unsafe impl<T: Element> Send for Lent<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T: Element> Sync for Lent<T> {}

impl<T: Element> SharedBuffer<T> for Lent<T> {
    #[allow(unsafe_code)]
    fn numbers(&self) -> &[T] {
        // SAFETY: `start` and `length` come from the slice of a C-contiguous array that `_array` keeps alive.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// The memory of an array, to be kept without a copy.
pub(crate) fn lent<T: Element + Real>(array: &PyReadonlyArray2<'_, T>) -> PyResult<Arc<dyn SharedBuffer<T>>> {
    let numbers = array.as_slice()?;
    let owner: &Bound<'_, PyArray2<T>> = array;
    Ok(Arc::new(Lent { start: numbers.as_ptr(), length: numbers.len(), _array: owner.clone().unbind() }))
}

/// A matrix from an array of two dimensions, copied.
pub(crate) fn matrix(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Matrix<f64>> {
    let (n, d) = (array.shape()[0], array.shape()[1]);
    let numbers = match array.as_slice() {
        Ok(numbers) if array.is_c_contiguous() => copied(numbers)?,
        _ => memory::collect(array.as_array().iter().copied()).map_err(to_python)?,
    };
    Matrix::from_vec(numbers, n, d).map_err(to_python)
}

/// A result on its way to Python, in the precision that is wanted.
pub(crate) enum Scores {
    F32(Matrix<f32>),
    F64(Matrix<f64>),
}

impl Scores {
    pub(crate) fn new(matrix: Matrix<f64>, single: bool) -> Self {
        if !single {
            return Self::F64(matrix);
        }
        Self::F32(Matrix::from_fn(matrix.n_rows(), matrix.n_cols(), |i, j| matrix[(i, j)] as f32))
    }

    pub(crate) fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::F32(matrix) => to_array(py, matrix),
            Self::F64(matrix) => to_array(py, matrix),
        }
    }
}

/// A matrix as an array, without a copy.
pub(crate) fn to_array<T: Element + Real>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Py<PyAny>> {
    let shape = [matrix.n_rows(), matrix.n_cols()];
    shaped(py, matrix.into_vec(), &shape)
}

/// Numbers as an array of this shape, without a copy.
pub(crate) fn shaped<T: Element>(py: Python<'_>, numbers: Vec<T>, shape: &[usize]) -> PyResult<Py<PyAny>> {
    if let [n, d] = shape {
        let array = Array2::from_shape_vec((*n, *d), numbers);
        return Ok(array
            .map_err(|e| EigenliftError::new_err(e.to_string()))?
            .into_pyarray(py)
            .into_any()
            .unbind());
    }
    let array = ArrayD::from_shape_vec(IxDyn(shape), numbers);
    Ok(array.map_err(|e| EigenliftError::new_err(e.to_string()))?.into_pyarray(py).into_any().unbind())
}

/// An array of a model as NumPy's.
pub(crate) fn numbers_to_array(
    py: Python<'_>,
    numbers: &Numbers<'_>,
    shape: &[usize],
) -> PyResult<Py<PyAny>> {
    match numbers {
        Numbers::F32(x) => shaped(py, copied(x)?, shape),
        Numbers::F64(x) => shaped(py, copied(x)?, shape),
        Numbers::U32(x) => shaped(py, copied(x)?, shape),
        Numbers::U64(x) => shaped(py, copied(x)?, shape),
        Numbers::SharedF32(x) => shaped(py, copied(x.numbers())?, shape),
        Numbers::SharedF64(x) => shaped(py, copied(x.numbers())?, shape),
    }
}

/// An array of NumPy as one of a model. Tables of floating-point numbers are not copied.
pub(crate) fn array_to_numbers(array: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Numbers<'static>)> {
    fn copied<T: Element + Copy>(array: &Bound<'_, PyAny>) -> Option<(Vec<usize>, Vec<T>)> {
        let array: &Bound<'_, PyArrayDyn<T>> = array.cast::<PyArray<T, IxDyn>>().ok()?;
        let numbers = array.readonly().as_array().iter().copied().collect();
        Some((array.shape().to_vec(), numbers))
    }
    fn kept<T: Element + Real>(array: &Bound<'_, PyAny>) -> Option<(Vec<usize>, Arc<dyn SharedBuffer<T>>)> {
        let table = array.cast::<PyArray2<T>>().ok().filter(|table| table.is_c_contiguous())?;
        Some((table.shape().to_vec(), lent(&table.readonly()).ok()?))
    }
    if let Some((shape, numbers)) = kept::<f64>(array) {
        return Ok((shape, Numbers::SharedF64(numbers)));
    }
    if let Some((shape, numbers)) = kept::<f32>(array) {
        return Ok((shape, Numbers::SharedF32(numbers)));
    }
    if let Some((shape, numbers)) = copied::<f64>(array) {
        return Ok((shape, Numbers::F64(numbers.into())));
    }
    if let Some((shape, numbers)) = copied::<f32>(array) {
        return Ok((shape, Numbers::F32(numbers.into())));
    }
    if let Some((shape, numbers)) = copied::<u32>(array) {
        return Ok((shape, Numbers::U32(numbers.into())));
    }
    if let Some((shape, numbers)) = copied::<u64>(array) {
        return Ok((shape, Numbers::U64(numbers.into())));
    }
    Err(PyTypeError::new_err("arrays of a model hold float32, float64, uint32 or uint64"))
}

/// Rows of a model as Python takes them: an array, or the parts of a CSR matrix.
pub(crate) fn samples_to_python(py: Python<'_>, samples: &AnySamples) -> PyResult<Py<PyAny>> {
    fn written<T: Element + Real>(py: Python<'_>, points: Points<'_, T>) -> PyResult<Py<PyAny>> {
        let shape = [points.n_rows(), points.n_cols()];
        let rows = match points {
            Points::Dense(rows) => return shaped(py, rows.buffer().to_vec(), &shape),
            Points::Sparse(rows) => rows,
        };
        let (mut offsets, mut columns, mut values) = (vec![0i64], Vec::<u32>::new(), Vec::<T>::new());
        for i in 0..shape[0] {
            let (places, entries) = rows.row(i);
            columns.extend_from_slice(places);
            values.extend_from_slice(entries);
            offsets.push(values.len() as i64);
        }
        let parts = (offsets.into_pyarray(py), columns.into_pyarray(py), values.into_pyarray(py), shape[1]);
        Ok(parts.into_pyobject(py)?.into_any().unbind())
    }
    match samples.points() {
        AnyPoints::F32(points) => written(py, points),
        AnyPoints::F64(points) => written(py, points),
    }
}

/// The text of a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| EigenliftError::new_err(e.to_string()))
}

/// Turns the library's result into Python's.
pub(crate) fn checked<T>(result: Result<T>) -> PyResult<T> {
    result.map_err(to_python)
}
