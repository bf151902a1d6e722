//! Kernelised methods: canonical correlation, discriminants and clustering.

use crate::errors::to_python;
use crate::fits::low_rank;
use crate::model::Model;
use crate::rows::{Rows, Scores, json, to_array};
use crate::work;
use eigenlift::engine::Engine;
use eigenlift::error::Error;
use eigenlift::factor::Regularization;
use eigenlift::features::{FeatureSettings, LowRank};
use eigenlift::kernel::KernelSpec;
use eigenlift::methods::{
    AnyModel, FittedKernelCca, FittedKernelDiscriminant, FittedKernelKMeans, KernelCca, KernelDiscriminant,
    KernelKMeans,
};
use eigenlift::progress::Watch;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json as object;
use std::sync::Arc;

/// How rows become features, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
struct RequestedFeatures {
    /// One for each table.
    kernels: Vec<String>,
    seed: u64,
    memory: Option<u64>,
    exact: bool,
    approximation: Option<String>,
    rank: Option<usize>,
    error: Option<f64>,
}

impl RequestedFeatures {
    fn kernels(&self) -> PyResult<Vec<KernelSpec>> {
        self.kernels.iter().map(|text| text.parse().map_err(to_python)).collect()
    }

    /// A change of features, with the kernel of the only table where there is one alone.
    fn change(&self) -> PyResult<impl FnOnce(FeatureSettings) -> FeatureSettings + Send + use<>> {
        let how: Option<LowRank> = low_rank(self.approximation.as_deref(), (self.rank, self.error))?;
        let kernel = self.kernels()?.into_iter().next();
        let (seed, memory, exact) = (self.seed, self.memory, self.exact);
        Ok(move |features: FeatureSettings| {
            let mut features = features.seed(seed);
            if let Some(kernel) = kernel {
                features = features.kernel(kernel);
            }
            if let Some(bytes) = memory {
                features = features.memory_limit(bytes);
            }
            match how {
                Some(how) => features.low_rank(how),
                None if exact => features.exact(),
                None => features,
            }
        })
    }
}

/// Where the work runs.
fn running(features: FeatureSettings, engine: &Arc<dyn Engine>, watch: &Watch) -> FeatureSettings {
    features.engine(engine.clone()).watch(watch.clone())
}

fn kappa(value: Option<f64>) -> Regularization {
    value.map_or(Regularization::Auto, Regularization::Value)
}

/// Settings of canonical correlation, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct KernelCcaSettings {
    n_components: usize,
    features: RequestedFeatures,
    /// `None`: chosen on held-out rows.
    regularization: Option<f64>,
    folds: usize,
    n_permutations: usize,
    column_names: Vec<Vec<String>>,
}

impl KernelCcaSettings {
    fn build(&self) -> PyResult<KernelCca> {
        Ok(KernelCca::new(self.n_components)
            .kernels(self.features.kernels()?)
            .with(self.features.change()?)
            .regularization(kappa(self.regularization))
            .folds(self.folds)
            .permutations(self.n_permutations)
            .column_names(self.column_names.clone()))
    }
}

/// Settings of discriminants, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct KernelDiscriminantSettings {
    n_components: Option<usize>,
    features: RequestedFeatures,
    /// `None`: chosen on held-out rows.
    regularization: Option<f64>,
    folds: usize,
    column_names: Vec<String>,
    class_names: Vec<String>,
}

impl KernelDiscriminantSettings {
    fn build(&self) -> PyResult<KernelDiscriminant> {
        let method = KernelDiscriminant::new()
            .with(self.features.change()?)
            .regularization(kappa(self.regularization))
            .folds(self.folds)
            .column_names(self.column_names.clone())
            .class_names(self.class_names.clone());
        Ok(match self.n_components {
            Some(k) => method.components(k),
            None => method,
        })
    }
}

/// Settings of k-means, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct KernelKMeansSettings {
    n_clusters: usize,
    n_init: usize,
    max_iter: usize,
    spectral: Option<usize>,
    features: RequestedFeatures,
    column_names: Vec<String>,
}

impl KernelKMeansSettings {
    fn build(&self) -> PyResult<KernelKMeans> {
        let method = KernelKMeans::new(self.n_clusters)
            .with(self.features.change()?)
            .starts(self.n_init)
            .max_steps(self.max_iter)
            .column_names(self.column_names.clone());
        Ok(match self.spectral {
            Some(components) => method.spectral(components),
            None => method,
        })
    }
}

/// Fits canonical correlations of tables.
#[pyfunction]
#[pyo3(signature = (tables, settings, threads, progress=None))]
pub(crate) fn fit_kernel_cca(
    py: Python<'_>,
    tables: Vec<Rows<'_>>,
    settings: KernelCcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let method = settings.build()?;
    let views = tables.iter().map(Rows::samples).collect::<PyResult<Vec<_>>>()?;
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.with(|features| running(features, engine, watch)).fit(&views)
    })?;
    Ok(Model::new(model))
}

/// What fitting canonical correlations would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_kernel_cca(
    py: Python<'_>,
    tables: Vec<Rows<'_>>,
    settings: KernelCcaSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let method = settings.build()?;
    let views = tables.iter().map(Rows::samples).collect::<PyResult<Vec<_>>>()?;
    let plan = work::run(py, threads, None, move |engine, watch| {
        Ok(method.with(|features| running(features, engine, watch)).prepare(&views)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Scores of rows of one table, counted from 0.
#[pyfunction]
#[pyo3(signature = (model, view, x, threads, progress=None))]
pub(crate) fn kernel_cca_scores(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    view: usize,
    x: Rows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (samples, single, model) = (x.samples()?, x.single(), model.get().shared());
    let scores = work::run(py, threads, progress, move |engine, watch| {
        let Some(model) = model.get::<FittedKernelCca>() else {
            return Err(another("canonical correlations"));
        };
        model.transform_on(&**engine, view, samples.points(), watch).map(|scores| Scores::new(scores, single))
    })?;
    scores.into_python(py)
}

/// Fits discriminants of rows whose classes are numbered from 0.
#[pyfunction]
#[pyo3(signature = (x, classes, settings, threads, progress=None))]
pub(crate) fn fit_kernel_discriminant(
    py: Python<'_>,
    x: Rows<'_>,
    classes: PyReadonlyArray1<'_, u32>,
    settings: KernelDiscriminantSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (method, samples, classes) = (settings.build()?, x.samples()?, classes.as_array().to_vec());
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.with(|features| running(features, engine, watch)).fit(&samples, &classes)
    })?;
    Ok(Model::new(model))
}

/// What fitting discriminants would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_kernel_discriminant(
    py: Python<'_>,
    x: Rows<'_>,
    classes: PyReadonlyArray1<'_, u32>,
    settings: KernelDiscriminantSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let (method, samples, classes) = (settings.build()?, x.samples()?, classes.as_array().to_vec());
    let plan = work::run(py, threads, None, move |engine, watch| {
        let method = method.with(|features| running(features, engine, watch));
        Ok(method.prepare(&samples, &classes)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Logarithms of the probabilities of classes.
#[pyfunction]
#[pyo3(signature = (model, x, threads, progress=None))]
pub(crate) fn kernel_discriminant_log_proba(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    x: Rows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (samples, model) = (x.samples()?, model.get().shared());
    let found = work::run(py, threads, progress, move |engine, watch| {
        let Some(model) = model.get::<FittedKernelDiscriminant>() else {
            return Err(another("discriminants"));
        };
        model.log_probabilities_on(&**engine, samples.points(), watch)
    })?;
    to_array(py, found)
}

/// Fits clusters.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_kernel_k_means(
    py: Python<'_>,
    x: Rows<'_>,
    settings: KernelKMeansSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (method, samples) = (settings.build()?, x.samples()?);
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.with(|features| running(features, engine, watch)).fit(&samples)
    })?;
    Ok(Model::new(model))
}

/// What fitting clusters would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_kernel_k_means(
    py: Python<'_>,
    x: Rows<'_>,
    settings: KernelKMeansSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let (method, samples) = (settings.build()?, x.samples()?);
    let plan = work::run(py, threads, None, move |engine, watch| {
        Ok(method.with(|features| running(features, engine, watch)).prepare(&samples)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Scores of rows on two kernel principal components of the features that clusters were found in.
#[pyfunction]
#[pyo3(signature = (model, x, threads, progress=None))]
pub(crate) fn kernel_k_means_plane(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    x: Rows<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (samples, single, model) = (x.samples()?, x.single(), model.get().shared());
    let scores = work::run(py, threads, progress, move |engine, watch| {
        let Some(model) = model.get::<FittedKernelKMeans>() else { return Err(another("clusters")) };
        model.plane_on(&**engine, samples.points(), watch).map(|scores| Scores::new(scores, single))
    })?;
    scores.into_python(py)
}

fn another(what: &str) -> Error {
    Error::Model {
        found: "a model of another method".into(),
        required: format!("{what} are needed"),
        action: "Fit again".into(),
    }
}

/// What a fit found, as JSON; `None` for other methods.
pub(crate) fn facts(model: &AnyModel) -> Option<serde_json::Value> {
    let discriminant = || model.get::<FittedKernelDiscriminant>().map(discriminants);
    let k_means = || model.get::<FittedKernelKMeans>().map(clusters);
    model.get::<FittedKernelCca>().map(correlations).or_else(discriminant).or_else(k_means)
}

fn correlations(model: &FittedKernelCca) -> serde_json::Value {
    object!({
        "widths": model.widths(),
        "correlations": model.correlations(),
        "training_correlations": model.training_correlations(),
        "held_out_correlations": model.held_out_correlations(),
        "held_out_errors": model.held_out_errors(),
        "regularization": model.regularization(),
        "curve": model.curve(),
        "significance": model.significance(),
        "ranks": model.ranks(),
        "left_out": model.left_out(),
    })
}

fn discriminants(model: &FittedKernelDiscriminant) -> serde_json::Value {
    object!({
        "class_names": model.class_names(),
        "class_means": model.class_means().as_slice(),
        "priors": model.priors(),
        "eigenvalues": model.eigenvalues(),
        "regularization": model.regularization(),
        "curve": model.curve(),
        "held_out_accuracy": model.held_out_accuracy(),
        "training_accuracy": model.training_accuracy(),
        "left_out": model.left_out(),
    })
}

fn clusters(model: &FittedKernelKMeans) -> serde_json::Value {
    object!({
        "inertia": model.inertia(),
        "sizes": model.sizes(),
        "steps": model.steps(),
        "converged": model.converged(),
        "starts": model.starts(),
        "spectral": model.spectral(),
        "left_out": model.left_out(),
    })
}
