//! Laplacian eigenmaps, diffusion maps and locally linear embedding: fitting and planning.

use crate::errors::to_python;
use crate::manifold::{self, Common, told, told_neighbors};
use crate::model::Model;
use crate::rows::Rows;
use eigenlift::methods::manifold::{Affinity, DiffusionMap, LaplacianEigenmaps, LleVariant, LocallyLinear};
use pyo3::prelude::*;

/// Settings of Laplacian eigenmaps, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct LaplacianSettings {
    common: Common,
    /// With `heat`: exp(−γd²) between neighbours.
    heat: Option<f64>,
    /// A kernel between all rows.
    kernel: Option<String>,
}

impl LaplacianSettings {
    fn build(&self) -> PyResult<LaplacianEigenmaps> {
        let method = told!(LaplacianEigenmaps::new(self.common.n_components), self.common);
        let method = told_neighbors!(method, self.common);
        Ok(match (&self.kernel, self.heat) {
            (Some(kernel), _) => method.affinity(Affinity::Kernel(kernel.parse().map_err(to_python)?)),
            (None, Some(gamma)) => method.affinity(Affinity::Heat { gamma }),
            (None, None) => method,
        })
    }
}

/// Settings of diffusion maps, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct DiffusionSettings {
    common: Common,
    kernel: String,
    alpha: f64,
    time: f64,
}

impl DiffusionSettings {
    fn build(&self) -> PyResult<DiffusionMap> {
        Ok(told!(DiffusionMap::new(self.common.n_components), self.common)
            .kernel(self.kernel.parse().map_err(to_python)?)
            .alpha(self.alpha)
            .time(self.time))
    }
}

/// Settings of locally linear embedding, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct LleSettings {
    common: Common,
    variant: String,
    ridge: f64,
    hessian_zero: f64,
    modified_zero: f64,
}

impl LleSettings {
    fn build(&self) -> PyResult<LocallyLinear> {
        let method = told!(LocallyLinear::new(self.common.n_components), self.common);
        Ok(told_neighbors!(method, self.common)
            .variant(self.variant.parse::<LleVariant>().map_err(to_python)?)
            .ridge(self.ridge)
            .zero_below(self.hessian_zero, self.modified_zero))
    }
}

/// Fits Laplacian eigenmaps.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_laplacian(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LaplacianSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    manifold::fit(py, &x, (settings.build()?, settings.common.input(&x)?), (threads, progress))
}

/// What Laplacian eigenmaps would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_laplacian(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LaplacianSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    manifold::plan(py, (settings.build()?, settings.common.input(&x)?), threads)
}

/// Fits diffusion maps.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_diffusion(
    py: Python<'_>,
    x: Rows<'_>,
    settings: DiffusionSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    manifold::fit(py, &x, (settings.build()?, x.samples()?.into()), (threads, progress))
}

/// What diffusion maps would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_diffusion(
    py: Python<'_>,
    x: Rows<'_>,
    settings: DiffusionSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    manifold::plan(py, (settings.build()?, x.samples()?.into()), threads)
}

/// Fits locally linear embedding.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_lle(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LleSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    manifold::fit(py, &x, (settings.build()?, x.samples()?.into()), (threads, progress))
}

/// What locally linear embedding would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_lle(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LleSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    manifold::plan(py, (settings.build()?, x.samples()?.into()), threads)
}
