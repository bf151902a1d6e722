//! Laplacian eigenmaps, diffusion maps and locally linear embedding: fitting and planning.

use crate::errors::to_python;
use crate::manifold::{Common, Given, adopted, no_lists, told, told_neighbors, told_plan};
use crate::model::Model;
use crate::rows::Rows;
use crate::work;
use eigenlift::data::AnySamples;
use eigenlift::engine::Engine;
use eigenlift::error::Result;
use eigenlift::methods::manifold::{
    Affinity, DiffusionMap, FittedManifold, LaplacianEigenmaps, LleVariant, LocallyLinear, ManifoldPlan,
};
use eigenlift::progress::Watch;
use pyo3::prelude::*;
use std::sync::Arc;

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
    let (method, given) = (settings.build()?, settings.common.given(&x)?);
    let model = work::run(py, threads, progress, move |engine, watch| {
        let method = method.engine(engine.clone()).watch(watch.clone());
        match given {
            Given::Rows(rows) => method.fit(rows),
            Given::Distances(matrix) => method.fit_distances(matrix),
            Given::Neighbors(lists) => method.fit_neighbors(lists),
            Given::Affinities(matrix) => method.fit_affinity(matrix),
        }
    })?;
    Ok(adopted(model, &x))
}

/// What Laplacian eigenmaps would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_laplacian(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LaplacianSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let (method, given) = (settings.build()?, settings.common.given(&x)?);
    let plan = work::run(py, threads, None, move |engine, _| {
        let method = method.engine(engine.clone());
        match given {
            Given::Rows(rows) => method.plan(rows),
            Given::Distances(matrix) => method.plan_distances(matrix),
            _ => Err(no_lists()),
        }
    })?;
    told_plan(&plan)
}

/// A method that takes rows alone.
trait ByRows: Send + Sized + 'static {
    fn running(self, engine: &Arc<dyn Engine>, watch: &Watch) -> Self;
    fn fit_rows(&self, x: AnySamples) -> Result<FittedManifold>;
    fn plan_rows(&self, x: AnySamples) -> Result<ManifoldPlan>;
}

macro_rules! by_rows {
    ($method:ty) => {
        impl ByRows for $method {
            fn running(self, engine: &Arc<dyn Engine>, watch: &Watch) -> Self {
                self.engine(engine.clone()).watch(watch.clone())
            }

            fn fit_rows(&self, x: AnySamples) -> Result<FittedManifold> {
                self.fit(x)
            }

            fn plan_rows(&self, x: AnySamples) -> Result<ManifoldPlan> {
                self.plan(x)
            }
        }
    };
}

by_rows!(DiffusionMap);
by_rows!(LocallyLinear);

fn fit_by_rows(
    py: Python<'_>,
    x: &Rows<'_>,
    method: impl ByRows,
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<Model> {
    let samples = x.samples()?;
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.running(engine, watch).fit_rows(samples)
    })?;
    Ok(adopted(model, x))
}

fn plan_by_rows(
    py: Python<'_>,
    x: &Rows<'_>,
    method: impl ByRows,
    threads: usize,
) -> PyResult<(String, String)> {
    let samples = x.samples()?;
    let plan =
        work::run(py, threads, None, move |engine, watch| method.running(engine, watch).plan_rows(samples))?;
    told_plan(&plan)
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
    fit_by_rows(py, &x, settings.build()?, (threads, progress))
}

/// What diffusion maps would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_diffusion(
    py: Python<'_>,
    x: Rows<'_>,
    settings: DiffusionSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    plan_by_rows(py, &x, settings.build()?, threads)
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
    fit_by_rows(py, &x, settings.build()?, (threads, progress))
}

/// What locally linear embedding would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_lle(
    py: Python<'_>,
    x: Rows<'_>,
    settings: LleSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    plan_by_rows(py, &x, settings.build()?, threads)
}
