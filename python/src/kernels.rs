//! Kernels, landmarks and random features.

use crate::errors::{EigenliftError, to_python};
use crate::rows::{Rows, Scores, matrix, to_array};
use crate::work;
use eigenlift::data::AnyPoints;
use eigenlift::features::{self, pivoted_cholesky};
use eigenlift::gram::{Similarity, Storage};
use eigenlift::kernel::{CATALOG, Kernel, KernelSpec};
use eigenlift::matrix::Matrix;
use eigenlift::rows::{Data, Pass};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The kernels, one entry each, as JSON.
#[pyfunction]
pub(crate) fn kernel_catalog() -> PyResult<String> {
    serde_json::to_string(&CATALOG).map_err(|error| EigenliftError::new_err(error.to_string()))
}

fn spec(text: &str) -> PyResult<KernelSpec> {
    text.parse().map_err(to_python)
}

/// A kernel for these rows, whose parameters are numbers.
fn kernel(text: &str, n_features: usize) -> PyResult<Kernel> {
    Kernel::new(&spec(text)?, n_features).map_err(to_python)
}

/// Refuses rows of two lengths.
fn same_columns(x: AnyPoints<'_>, y: AnyPoints<'_>) -> PyResult<()> {
    if x.n_cols() == y.n_cols() {
        return Ok(());
    }
    Err(EigenliftError::new_err(format!(
        "rows of {} and of {} columns; a kernel compares rows of the same length. Give the same columns",
        x.n_cols(),
        y.n_cols()
    )))
}

/// A kernel description in its canonical form.
#[pyfunction]
pub(crate) fn kernel_text(text: &str) -> PyResult<String> {
    let spec = spec(text)?;
    spec.validate().map_err(to_python)?;
    Ok(spec.to_string())
}

/// Whether the kernel is known to be positive semi-definite for all rows.
#[pyfunction]
pub(crate) fn kernel_is_mercer(text: &str) -> PyResult<bool> {
    Ok(spec(text)?.is_mercer() == Some(true))
}

/// The kernel with every number found from the rows.
#[pyfunction]
pub(crate) fn resolve_kernel(
    py: Python<'_>,
    text: &str,
    x: Rows<'_>,
    seed: u64,
    threads: usize,
) -> PyResult<String> {
    let (spec, samples) = (spec(text)?, x.samples()?);
    work::run(py, threads, None, move |_, _| {
        Kernel::for_points(&spec, samples.points(), seed).map(|kernel| kernel.to_string())
    })
}

/// k(xᵢ, yⱼ).
#[pyfunction]
#[pyo3(signature = (kernel, x, y, threads, progress=None))]
pub(crate) fn kernel_matrix(
    py: Python<'_>,
    kernel: &str,
    x: Rows<'_>,
    y: Rows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (rows, samples) = (x.samples()?, y.samples()?);
    same_columns(rows.points(), samples.points())?;
    let kernel = self::kernel(kernel, rows.n_cols())?;
    let values = work::run(py, threads, progress, move |engine, watch| {
        kernel.check_points(rows.points())?;
        kernel.check_points(samples.points())?;
        Data::from(rows).rows(engine, false)?.cross(&kernel, &samples)?.to_dense(watch)
    })?;
    to_array(py, values)
}

/// K(x, y)·block.
#[pyfunction]
#[pyo3(signature = (kernel, x, y, block, threads, progress=None))]
pub(crate) fn kernel_times(
    py: Python<'_>,
    kernel: &str,
    x: Rows<'_>,
    y: Rows<'_>,
    block: PyReadonlyArray2<'_, f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (rows, single, samples, block) = (x.samples()?, x.single(), y.samples()?, matrix(&block)?);
    same_columns(rows.points(), samples.points())?;
    if block.n_rows() != samples.n_rows() {
        return Err(EigenliftError::new_err(format!(
            "a block of {} rows for {} columns of the kernel matrix; there must be one for each. Give the block of these rows",
            block.n_rows(),
            samples.n_rows()
        )));
    }
    let kernel = self::kernel(kernel, rows.n_cols())?;
    let product = work::run(py, threads, progress, move |engine, watch| {
        kernel.check_points(rows.points())?;
        let mut out = Matrix::zeros(rows.n_rows(), block.n_cols());
        let rows = Data::from(rows).rows(engine, false)?;
        rows.cross(&kernel, &samples)?.apply(block.view(), out.view_mut(), watch)?;
        Ok(Scores::new(out, single))
    })?;
    product.into_python(py)
}

/// k(xᵢ, xᵢ).
#[pyfunction]
pub(crate) fn kernel_diagonal<'py>(
    py: Python<'py>,
    kernel: &str,
    x: Rows<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let samples = x.samples()?;
    let kernel = self::kernel(kernel, samples.n_cols())?;
    let values = work::run(py, threads, None, move |engine, watch| {
        kernel.check_points(samples.points())?;
        let rows = Data::from(samples).rows(engine, false)?;
        rows.diagonal(&Similarity::Kernel(kernel), &Pass::new(watch))
    })?;
    Ok(values.into_pyarray(py))
}

/// √(2/m)·cos(x·weights + offset).
#[pyfunction]
#[pyo3(signature = (x, weights, offset, threads, progress=None))]
pub(crate) fn cosine_features(
    py: Python<'_>,
    x: Rows<'_>,
    weights: PyReadonlyArray2<'_, f64>,
    offset: PyReadonlyArray1<'_, f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (samples, single, weights) = (x.samples()?, x.single(), matrix(&weights)?);
    let offset = offset.as_array().to_vec();
    let features = work::run(py, threads, progress, move |_, watch| {
        let points = samples.points();
        Ok(if single {
            Scores::F32(features::cosine_features(points, &weights, &offset, watch)?)
        } else {
            Scores::F64(features::cosine_features(points, &weights, &offset, watch)?)
        })
    })?;
    features.into_python(py)
}

/// Rows that randomly pivoted Cholesky chooses, in order.
#[pyfunction]
#[pyo3(signature = (kernel, x, rank, seed, threads, progress=None))]
pub(crate) fn pivots<'py>(
    py: Python<'py>,
    kernel: &str,
    x: Rows<'py>,
    rank: usize,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let samples = x.samples()?;
    let kernel = self::kernel(kernel, samples.n_cols())?;
    let chosen = work::run(py, threads, progress, move |engine, watch| {
        kernel.check_points(samples.points())?;
        let (similarity, rows) = (Similarity::Kernel(kernel), Data::from(samples).rows(engine, false)?);
        let gram = rows.gram(&similarity, Storage::Tiled, false)?;
        pivoted_cholesky(&*gram, rank, seed, watch).map(|factor| factor.pivots)
    })?;
    Ok(chosen.into_iter().map(|row| row as i64).collect::<Vec<_>>().into_pyarray(py))
}
