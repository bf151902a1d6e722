//! What a task does with its piece of the rows: moments of features, products, kernel values with another piece.

use crate::errors::{EigenliftError, to_python};
use crate::rows::{Rows, cloned, matrix, samples_to_python, shaped, to_array};
use crate::work;
use eigenlift::features::{FeatureKind, FeatureParts, FeatureSums as Sums, RowFeatures};
use eigenlift::gram::Pair;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::rows::centered_product;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Features that rows are summed by. Sent to where the rows are.
#[pyclass(frozen, module = "eigenlift._native")]
pub(crate) struct Features(Arc<RowFeatures>);

impl Features {
    pub(crate) fn new(features: &RowFeatures) -> Self {
        Self(Arc::new(features.clone()))
    }
}

/// A member of a dict that a pickle kept.
fn item<'py>(parts: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    parts
        .get_item(name)?
        .ok_or_else(|| EigenliftError::new_err(format!("features without {name}. Fit again")))
}

#[pymethods]
impl Features {
    /// From what `__reduce__` kept.
    #[staticmethod]
    fn from_parts(py: Python<'_>, parts: &Bound<'_, PyDict>) -> PyResult<Self> {
        let kernel: KernelSpec = item(parts, "kernel")?.extract::<String>()?.parse().map_err(to_python)?;
        let by_kernel: bool = item(parts, "by_kernel")?.extract()?;
        let sent = if let Some(root) = parts.get_item("root")? {
            let landmarks: Rows<'_> = item(parts, "landmarks")?.extract()?;
            let root: PyReadonlyArray2<'_, f64> = root.extract()?;
            FeatureParts::Landmarks { kernel, landmarks: landmarks.samples()?, root: matrix(&root)? }
        } else {
            let kind: FeatureKind = item(parts, "kind")?.extract::<String>()?.parse().map_err(to_python)?;
            FeatureParts::Map {
                kernel,
                kind,
                n_features: item(parts, "n_features")?.extract()?,
                dimension: item(parts, "dimension")?.extract()?,
                seed: item(parts, "seed")?.extract()?,
            }
        };
        let features = work::brief(py, move || RowFeatures::from_parts(sent, by_kernel))?;
        Ok(Self(Arc::new(features)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (sent, by_kernel) = slf.get().0.parts().map_err(to_python)?;
        let parts = PyDict::new(py);
        parts.set_item("by_kernel", by_kernel)?;
        match sent {
            FeatureParts::Landmarks { kernel, landmarks, root } => {
                parts.set_item("kernel", kernel.to_string())?;
                parts.set_item("landmarks", samples_to_python(py, &landmarks)?)?;
                parts.set_item("root", to_array(py, root)?)?;
            }
            FeatureParts::Map { kernel, kind, n_features, dimension, seed } => {
                parts.set_item("kernel", kernel.to_string())?;
                parts.set_item("kind", kind.to_string())?;
                parts.set_item("n_features", n_features)?;
                parts.set_item("dimension", dimension)?;
                parts.set_item("seed", seed)?;
            }
        }
        (slf.get_type().getattr("from_parts")?, (parts,)).into_pyobject(py)
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    /// Moments of the features of rows, the first of which is row `first_row` of all.
    fn sums(&self, py: Python<'_>, x: Rows<'_>, first_row: usize, threads: usize) -> PyResult<FeatureSums> {
        let (features, samples) = (self.0.clone(), x.samples()?);
        let sums =
            work::run(py, threads, None, move |_, watch| features.sums(samples.points(), first_row, watch))?;
        Ok(FeatureSums::new(sums))
    }

    /// k(x,x) − ‖f(x)‖² of each row.
    fn left_out<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (features, samples) = (self.0.clone(), x.samples()?);
        let left = work::run(py, threads, None, move |_, watch| features.left_out(samples.points(), watch))?;
        Ok(left.into_pyarray(py))
    }
}

/// Moments of features of some rows.
#[pyclass(frozen, module = "eigenlift._native")]
pub(crate) struct FeatureSums(Arc<Mutex<Sums>>);

impl FeatureSums {
    pub(crate) fn new(sums: Sums) -> Self {
        Self(Arc::new(Mutex::new(sums)))
    }

    fn lock(&self) -> MutexGuard<'_, Sums> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn sums(&self) -> PyResult<Sums> {
        cloned(&*self.lock())
    }
}

#[pymethods]
impl FeatureSums {
    /// From what `__reduce__` kept: of the scatter the upper triangle, row after row.
    #[staticmethod]
    fn from_parts(
        count: u64,
        mean: PyReadonlyArray1<'_, f64>,
        triangle: PyReadonlyArray1<'_, f64>,
        traces: (f64, f64),
    ) -> PyResult<Self> {
        let (mean, triangle) = (mean.as_array().to_vec(), triangle.as_array().to_vec());
        let m = mean.len();
        if triangle.len() != m * (m + 1) / 2 {
            return Err(EigenliftError::new_err("sums of features that do not fit each other. Fit again"));
        }
        let starts: Vec<usize> = (0..m).map(|i| i * m - i * i.saturating_sub(1) / 2).collect();
        let entry = |i: usize, j: usize| triangle[starts[i.min(j)] + i.abs_diff(j)];
        let scatter = Matrix::from_fn(m, m, entry);
        Sums::from_parts(count, mean, scatter, traces.0, traces.1).map(Self::new).map_err(to_python)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let sums = slf.get().lock();
        let partial = sums.partial();
        let m = partial.dimension();
        let mut triangle = Vec::with_capacity(m * (m + 1) / 2);
        (0..m).for_each(|i| triangle.extend_from_slice(&partial.scatter().row(i)[i..]));
        let parts = (
            partial.count(),
            partial.mean().to_vec().into_pyarray(py),
            triangle.into_pyarray(py),
            (partial.residual_trace(), sums.trace()),
        );
        (slf.get_type().getattr("from_parts")?, parts).into_pyobject(py)
    }

    #[getter]
    fn count(&self) -> u64 {
        self.lock().count()
    }

    /// Adds the rows of other sums.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let (into, part) = (self.0.clone(), other.sums()?);
        work::brief(py, move || into.lock().unwrap_or_else(PoisonError::into_inner).merge(&part))
    }
}

/// Σw(x − c)(x − c)ᵀB over rows.
#[pyfunction]
pub(crate) fn centred_product(
    py: Python<'_>,
    x: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    center: PyReadonlyArray1<'_, f64>,
    block: PyReadonlyArray2<'_, f64>,
    threads: usize,
) -> PyResult<Py<PyAny>> {
    let (samples, block, center) = (x.samples()?, matrix(&block)?, center.as_array().to_vec());
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let product = work::run(py, threads, None, move |_, _| {
        centered_product(samples.points(), weights.as_deref(), &center, block.view())
    })?;
    to_array(py, product)
}

/// K(x, y)·vy, K(x, y)ᵀ·vx, sums of rows and columns, Σk². Without y the rows are compared with themselves, and there is no second product.
#[pyfunction]
#[pyo3(signature = (kernel, x, y, vx, vy, threads))]
pub(crate) fn kernel_pair(
    py: Python<'_>,
    kernel: &str,
    x: Rows<'_>,
    y: Option<Rows<'_>>,
    vx: PyReadonlyArray2<'_, f64>,
    vy: Option<PyReadonlyArray2<'_, f64>>,
    threads: usize,
) -> PyResult<Py<PyTuple>> {
    let spec: KernelSpec = kernel.parse().map_err(to_python)?;
    let alone = y.is_none();
    let (left, a) = (x.samples()?, matrix(&vx)?);
    let right = y.map(|rows| rows.samples()).transpose()?.unwrap_or_else(|| left.clone());
    let b = vy.map(|block| matrix(&block)).transpose()?.unwrap_or_else(|| a.clone());
    let a = if alone { Matrix::zeros(a.n_rows(), 0) } else { a };
    let found = work::run(py, threads, None, move |_, watch| {
        let kernel = Kernel::new(&spec, left.n_cols())?;
        Pair { x: (&left, a.view()), y: (&right, b.view()) }.products(&kernel, watch)
    })?;
    let down = if alone { None } else { Some(to_array(py, found.down)?) };
    let sums = if alone { None } else { Some(found.column_sums.into_pyarray(py)) };
    let rows = found.row_sums.len();
    let all = (to_array(py, found.across)?, down, shaped(py, found.row_sums, &[rows])?, sums, found.squares);
    Ok(all.into_pyobject(py)?.unbind())
}
