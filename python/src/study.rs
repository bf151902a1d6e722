//! How far a kernel PCA hangs on its bandwidth, its rows and chance; and one model matched to another.

use crate::errors::to_python;
use crate::model::Model;
use crate::preimage::kernel_pca;
use crate::rows::{Rows, json};
use crate::work;
use eigenlift::methods::AlignOptions;
use eigenlift::tuning::kernel_study::{KernelParallel, Sensitivity, Stability};
use pyo3::prelude::*;

/// What every study is told, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct StudySettings {
    kernel: String,
    max_rows: Option<usize>,
    seed: u64,
}

/// The settings that all studies share, put into a study's own.
macro_rules! told {
    ($study:expr, $settings:expr) => {{
        let study = $study.kernel($settings.kernel.parse().map_err(to_python)?).seed($settings.seed);
        match $settings.max_rows {
            Some(rows) => study.max_rows(rows),
            None => study,
        }
    }};
}

/// How the leading subspace turns with the bandwidth, as JSON.
#[pyfunction]
#[pyo3(signature = (x, n_components, bandwidths, settings, threads, progress=None))]
pub(crate) fn kernel_sensitivity(
    py: Python<'_>,
    x: Rows<'_>,
    n_components: usize,
    bandwidths: Vec<f64>,
    settings: StudySettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let study = told!(Sensitivity::new(n_components).bandwidths(bandwidths), settings);
    let samples = x.samples()?;
    let report = work::run(py, threads, progress, move |engine, watch| {
        study.engine(engine.clone()).watch(watch.clone()).study(&samples)
    })?;
    json(&report)
}

/// How the leading subspaces turn when rows are drawn anew, as JSON.
#[pyfunction]
#[pyo3(signature = (x, n_components, resamples, settings, threads, progress=None))]
pub(crate) fn kernel_stability(
    py: Python<'_>,
    x: Rows<'_>,
    n_components: usize,
    resamples: Option<usize>,
    settings: StudySettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut study = told!(Stability::new(n_components), settings);
    if let Some(count) = resamples {
        study = study.resamples(count);
    }
    let samples = x.samples()?;
    let report = work::run(py, threads, progress, move |engine, watch| {
        study.engine(engine.clone()).watch(watch.clone()).study(&samples)
    })?;
    json(&report)
}

/// Which eigenvalues exceed those of permuted columns, as JSON.
#[pyfunction]
#[pyo3(signature = (x, permutations, quantile, settings, threads, progress=None))]
pub(crate) fn kernel_parallel_analysis(
    py: Python<'_>,
    x: Rows<'_>,
    permutations: Option<usize>,
    quantile: Option<f64>,
    settings: StudySettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut study = told!(KernelParallel::new(), settings);
    if let Some(count) = permutations {
        study = study.permutations(count);
    }
    if let Some(share) = quantile {
        study = study.quantile(share);
    }
    let samples = x.samples()?;
    let report = work::run(py, threads, progress, move |engine, watch| {
        study.engine(engine.clone()).watch(watch.clone()).run(&samples)
    })?;
    json(&report)
}

/// The model with its axes turned to those of an earlier one, as seen on common rows; and how, as JSON.
#[pyfunction]
#[pyo3(signature = (model, earlier, x, near_tie, threads, progress=None))]
pub(crate) fn align_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    earlier: &Bound<'_, Model>,
    x: Rows<'_>,
    near_tie: f64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Model, String)> {
    let (samples, own, other) = (x.samples()?, model.get().shared(), earlier.get().shared());
    let (turned, how) = work::run(py, threads, progress, move |engine, watch| {
        let options = AlignOptions { near_tie, watch: watch.clone() };
        // The models run with the threads that were asked for here.
        let own = kernel_pca(&own)?.clone().with_engine(engine.clone());
        let other = kernel_pca(&other)?.clone().with_engine(engine.clone());
        own.aligned_with(&other, samples.points(), &options)
    })?;
    Ok((model.get().replaced(py, turned), json(&how)?))
}
