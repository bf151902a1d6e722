//! The way back of kernel PCA: rows from scores, and rows without noise.

use crate::errors::to_python;
use crate::model::Model;
use crate::rows::{Rows, Scores, matrix};
use crate::work;
use eigenlift::error::{Error, Result};
use eigenlift::methods::{AnyModel, FittedKernelPca};
use eigenlift::preimage::{Preimage, Preimages};
use numpy::{IntoPyArray, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How to go back, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct PreimageSettings {
    method: String,
    penalty: f64,
    seed: u64,
    /// Whether rows are wanted in single precision.
    single: bool,
}

impl PreimageSettings {
    fn build(&self) -> PyResult<Preimage> {
        let method = self.method.parse().map_err(to_python)?;
        Ok(Preimage::new().method(method).penalty(self.penalty).seed(self.seed))
    }
}

/// Rows for scores, and what is known about each.
#[pyfunction]
#[pyo3(signature = (model, scores, settings, threads, progress=None))]
pub(crate) fn invert_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    scores: PyReadonlyArray2<'_, f64>,
    settings: PreimageSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Py<PyAny>, Py<PyDict>)> {
    let (how, scores, model) = (settings.build()?, matrix(&scores)?, model.get().shared());
    let found = work::run(py, threads, progress, move |engine, watch| {
        kernel_pca(&model)?.inverse_on(&how, &**engine, &scores, watch)
    })?;
    told(py, found, settings.single)
}

/// Rows projected and put back, and what is known about each.
#[pyfunction]
#[pyo3(signature = (model, x, settings, threads, progress=None))]
pub(crate) fn denoise_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    x: Rows<'_>,
    settings: PreimageSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Py<PyAny>, Py<PyDict>)> {
    let (how, samples, model) = (settings.build()?, x.samples()?, model.get().shared());
    let found = work::run(py, threads, progress, move |engine, watch| {
        kernel_pca(&model)?.denoise_on(&how, &**engine, samples.points(), watch)
    })?;
    told(py, found, settings.single)
}

pub(crate) fn kernel_pca(model: &AnyModel) -> Result<&FittedKernelPca> {
    model.get().ok_or_else(|| {
        let found = format!("a model of the method {}", model.fitted().method());
        let [required, action] = ["a kernel PCA is needed here", "Give a fitted KernelPCA"].map(String::from);
        Error::Model { found, required, action }
    })
}

/// The rows, and the rest by name.
fn told(py: Python<'_>, found: Preimages, single: bool) -> PyResult<(Py<PyAny>, Py<PyDict>)> {
    let info = PyDict::new(py);
    let starts: Vec<String> = found.starts.iter().map(ToString::to_string).collect();
    info.set_item("distances", found.distances.into_pyarray(py))?;
    info.set_item("deviations", found.deviations.into_pyarray(py))?;
    info.set_item("starts", starts)?;
    info.set_item("trusted", found.trusted.into_pyarray(py))?;
    info.set_item(
        "steps",
        found.steps.into_iter().map(|steps| steps as i64).collect::<Vec<_>>().into_pyarray(py),
    )?;
    info.set_item("converged", found.converged.into_pyarray(py))?;
    info.set_item("limit", found.limit)?;
    info.set_item("method", found.method.to_string())?;
    Ok((Scores::new(found.rows, single).into_python(py)?, info.unbind()))
}
