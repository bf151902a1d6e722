//! Fitting, planning and projecting.

use crate::errors::{EigenliftError, ModelFileError, to_python};
use crate::model::Model;
use crate::rows::{Rows, Scores, json};
use crate::work;
use eigenlift::data::AnySamples;
use eigenlift::eigen::Indefinite;
use eigenlift::engine::Engine;
use eigenlift::features::{LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::{PcaPlan, PcaRoute};
use eigenlift::methods::{AnyModel, FittedKernelPca, KernelPca, Pca, Whitening, WhiteningMethod};
use eigenlift::model::{Lift, Projection, Solver};
use eigenlift::progress::Watch;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::Arc;

/// Settings of kernel PCA, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct KernelPcaSettings {
    /// `None`: chosen by cross-validation.
    n_components: Option<usize>,
    kernel: String,
    tolerance: f64,
    seed: u64,
    repair: String,
    solver: Option<String>,
    memory: Option<u64>,
    exact: bool,
    approximation: Option<String>,
    rank: Option<usize>,
    error: Option<f64>,
    column_names: Vec<String>,
}

impl KernelPcaSettings {
    /// The library's settings; engine and watch come with the work.
    pub(crate) fn build(self) -> PyResult<KernelPca> {
        let repair = match self.repair.as_str() {
            "flip" => Indefinite::Flip,
            "refuse" => Indefinite::Refuse,
            _ => Indefinite::Clip,
        };
        let low_rank = low_rank(self.approximation.as_deref(), (self.rank, self.error))?;
        let start = KernelPca::new(self.n_components.unwrap_or(1));
        let start = if self.n_components.is_none() { start.auto_components() } else { start };
        let mut settings = start
            .kernel(self.kernel.parse().map_err(to_python)?)
            .tolerance(self.tolerance)
            .seed(self.seed)
            .repair(repair)
            .column_names(self.column_names);
        if let Some(bytes) = self.memory {
            settings = settings.memory_limit(bytes);
        }
        settings = match self.solver.as_deref() {
            Some("dense") => settings.solver(Solver::Dense),
            Some(_) => settings.solver(Solver::Davidson),
            None => settings,
        };
        Ok(match low_rank {
            Some(how) => settings.low_rank(how),
            None if self.exact => settings.exact(),
            None => settings,
        })
    }
}

/// The approximation asked for, by landmarks or features as many as a rank or an error says; `None` when nothing was asked.
pub(crate) fn low_rank(
    approximation: Option<&str>,
    (count, error): (Option<usize>, Option<f64>),
) -> PyResult<Option<LowRank>> {
    let rank = match (count, error) {
        (Some(count), _) => Rank::Exactly(count),
        (None, Some(share)) => Rank::UntilShare(share),
        (None, None) => Rank::default(),
    };
    Ok(match approximation {
        None if count.is_none() && error.is_none() => None,
        None | Some("pivoted") => Some(LowRank::pivoted(rank)),
        Some("uniform") => Some(LowRank::uniform(rank)),
        Some("kmeans") => Some(LowRank::k_means(rank)),
        Some("fourier") => Some(LowRank::fourier(rank)),
        Some("tensorsketch") => Some(LowRank::tensor_sketch(rank)),
        Some(other) => {
            return Err(EigenliftError::new_err(format!(
                "an approximation called {other}; it must be pivoted, uniform, kmeans, fourier or tensorsketch. \
                 Use one of these"
            )));
        }
    })
}

/// Settings of PCA, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct PcaSettings {
    pub(crate) n_components: Option<usize>,
    standardize: bool,
    route: Option<String>,
    tolerance: f64,
    seed: u64,
    memory: Option<u64>,
    sketch_rows: Option<usize>,
    column_names: Vec<String>,
}

impl PcaSettings {
    /// The library's settings; engine and watch come with the work.
    pub(crate) fn build(self) -> PyResult<Pca> {
        let start = self.n_components.map_or_else(Pca::auto, Pca::new);
        self.onto(start)
    }

    /// These settings on top of others; the number of components is left as it is.
    pub(crate) fn onto(self, start: Pca) -> PyResult<Pca> {
        let mut settings = start.tolerance(self.tolerance).seed(self.seed).column_names(self.column_names);
        if self.standardize {
            settings = settings.standardize();
        }
        if let Some(route) = self.route {
            settings = settings.route(route.parse::<PcaRoute>().map_err(to_python)?);
        }
        if let Some(bytes) = self.memory {
            settings = settings.memory_limit(bytes);
        }
        if let Some(rows) = self.sketch_rows {
            settings = settings.sketch_rows(rows);
        }
        Ok(settings)
    }
}

/// Fits kernel PCA.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_kernel_pca(
    py: Python<'_>,
    x: Rows<'_>,
    settings: KernelPcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (settings, samples) = (settings.build()?, x.samples()?);
    let model = work::run(py, threads, progress, move |engine, watch| {
        settings.engine(engine.clone()).watch(watch.clone()).fit(samples)
    })?;
    Ok(Model::with_samples(model, x.array()))
}

/// What fitting kernel PCA would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_kernel_pca(
    py: Python<'_>,
    x: Rows<'_>,
    settings: KernelPcaSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let (settings, samples) = (settings.build()?, x.samples()?);
    let plan = work::run(py, threads, None, move |engine, _| {
        Ok(settings.engine(engine.clone()).prepare(&samples)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// The library's settings run on `engine` under `watch`.
pub(crate) fn running(settings: Pca, engine: &Arc<dyn Engine>, watch: &Watch) -> Pca {
    settings.engine(engine.clone()).watch(watch.clone())
}

/// Fits principal components.
#[pyfunction]
#[pyo3(signature = (x, weights, settings, threads, progress=None))]
pub(crate) fn fit_pca(
    py: Python<'_>,
    x: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    settings: PcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (settings, samples) = (settings.build()?, x.samples()?);
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let model = work::run(py, threads, progress, move |engine, watch| {
        running(settings, engine, watch).fit((samples.points(), weights.as_deref()))
    })?;
    Ok(Model::new(model))
}

/// What fitting principal components would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_pca(
    py: Python<'_>,
    x: Rows<'_>,
    settings: PcaSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let (settings, samples) = (settings.build()?, x.samples()?);
    let plan: PcaPlan = work::run(py, threads, None, move |engine, _| {
        Ok(settings.engine(engine.clone()).prepare(&samples)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Fits a whitening.
#[pyfunction]
#[pyo3(signature = (x, weights, method, ridge, settings, threads, progress=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit_whitening(
    py: Python<'_>,
    x: Rows<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    method: &str,
    ridge: f64,
    settings: PcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let method: WhiteningMethod = method.parse().map_err(to_python)?;
    let mut whitening = Whitening::new(method).ridge(ridge);
    if let Some(n_components) = settings.n_components {
        whitening = whitening.components(n_components);
    }
    // Only an unknown route can be wrong here.
    settings.clone().onto(Pca::new(1))?;
    let samples = x.samples()?;
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let model = work::run(py, threads, progress, move |engine, watch| {
        whitening
            .with(|pca| running(settings.onto(pca.clone()).unwrap_or(pca), engine, watch))
            .fit((samples.points(), weights.as_deref()))
    })?;
    Ok(Model::new(model))
}

/// Rows as columns, some rows at a time, so that what is written lies close together.
fn transposed(rows: &PyReadonlyArray2<'_, f64>) -> Matrix<f64> {
    const TOGETHER: usize = 32;
    let view = rows.as_array();
    let (k, d) = view.dim();
    let mut out = Matrix::zeros(d, k);
    for from in (0..k).step_by(TOGETHER) {
        let to = k.min(from + TOGETHER);
        for i in 0..d {
            (from..to).for_each(|j| out[(i, j)] = view[(j, i)]);
        }
    }
    out
}

/// (x − center)·axesᵀ.
#[pyfunction]
#[pyo3(signature = (x, center, axes, threads, progress=None))]
pub(crate) fn project(
    py: Python<'_>,
    x: Rows<'_>,
    center: PyReadonlyArray1<'_, f64>,
    axes: PyReadonlyArray2<'_, f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (samples, single) = (x.samples()?, x.single());
    let (k, d) = (axes.shape()[0], axes.shape()[1]);
    let projection = Projection {
        lift: Lift::Rows { center: center.as_array().to_vec() },
        coefficients: transposed(&axes),
        offset: vec![0.0; k],
    };
    if projection.lift.n_features() != d {
        return Err(EigenliftError::new_err(format!(
            "axes of {d} numbers and a center of {}; both must have one for each column. Fit again",
            projection.lift.n_features()
        )));
    }
    let scores = work::run(py, threads, progress, move |engine, watch| {
        projection.project(&**engine, samples.points(), watch).map(|scores| Scores::new(scores, single))
    })?;
    scores.into_python(py)
}

/// Bounds for a kernel PCA from one exact pass over the samples of its fit.
pub(crate) fn certify(
    py: Python<'_>,
    model: &AnyModel,
    samples: AnySamples,
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<AnyModel> {
    let Some(model) = model.get::<FittedKernelPca>().cloned() else { return Err(only_kernel_pca("certify")) };
    let sure = work::run(py, threads, progress, move |engine, watch| {
        model.with_engine(engine.clone()).certify_watched(samples, watch)
    })?;
    Ok(sure.into())
}

/// An exact kernel PCA from a rough one.
pub(crate) fn refine(
    py: Python<'_>,
    model: &AnyModel,
    (samples, settings): (AnySamples, KernelPcaSettings),
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<AnyModel> {
    let Some(model) = model.get::<FittedKernelPca>().cloned() else { return Err(only_kernel_pca("refine")) };
    let settings = settings.build()?;
    let exact = work::run(py, threads, progress, move |engine, watch| {
        let model = model.with_engine(engine.clone());
        settings.engine(engine.clone()).watch(watch.clone()).refine(&model, samples)
    })?;
    Ok(exact.into())
}

fn only_kernel_pca(what: &str) -> PyErr {
    ModelFileError::new_err(format!(
        "{what} of a model that is no kernel PCA; principal components and whitening come with their certificate. Look at \
         certificate_"
    ))
}
