//! What a model of any method says of itself.

use crate::rows::json;
use eigenlift::methods::AnyModel;
use pyo3::PyResult;
use pyo3::exceptions::PyAttributeError;

/// Rows it was fitted on.
pub(crate) fn n_samples(model: &AnyModel) -> usize {
    match model {
        AnyModel::KernelPca(model) => model.n_samples(),
        AnyModel::Pca(model) => model.n_samples(),
        AnyModel::Whitening(model) => model.pca().n_samples(),
        AnyModel::Manifold(model) => model.n_samples(),
        AnyModel::KernelCca(model) => model.n_samples(),
        AnyModel::KernelDiscriminant(model) => model.plan().n_samples,
        AnyModel::KernelKMeans(model) => model.plan().n_samples,
    }
}

/// Components, or clusters.
pub(crate) fn n_components(model: &AnyModel) -> usize {
    match model {
        AnyModel::KernelPca(model) => model.n_components(),
        AnyModel::Pca(model) => model.n_components(),
        AnyModel::Whitening(model) => model.pca().n_components(),
        AnyModel::Manifold(model) => model.n_components(),
        AnyModel::KernelCca(model) => model.n_components(),
        AnyModel::KernelDiscriminant(model) => model.n_components(),
        AnyModel::KernelKMeans(model) => model.n_clusters(),
    }
}

/// Of the samples, f32 or f64; of several tables that of the first.
pub(crate) fn precision(model: &AnyModel) -> String {
    match model {
        AnyModel::KernelPca(model) => model.plan().precision.clone(),
        AnyModel::Pca(model) => model.plan().precision.clone(),
        AnyModel::Whitening(model) => model.plan().precision.clone(),
        AnyModel::Manifold(model) => model.plan().precision.clone(),
        AnyModel::KernelCca(model) => {
            model.plan().views.first().map_or("f64".into(), |view| view.precision.clone())
        }
        AnyModel::KernelDiscriminant(model) => model.plan().precision.clone(),
        AnyModel::KernelKMeans(model) => model.plan().precision.clone(),
    }
}

/// What was decided and why, as JSON.
pub(crate) fn plan(model: &AnyModel) -> PyResult<String> {
    match model {
        AnyModel::KernelPca(model) => json(model.plan()),
        AnyModel::Pca(model) => json(model.plan()),
        AnyModel::Whitening(model) => json(model.plan()),
        AnyModel::Manifold(model) => json(model.plan()),
        AnyModel::KernelCca(model) => json(model.plan()),
        AnyModel::KernelDiscriminant(model) => json(model.plan()),
        AnyModel::KernelKMeans(model) => json(model.plan()),
    }
}

/// The same in words.
pub(crate) fn plan_text(model: &AnyModel) -> String {
    match model {
        AnyModel::KernelPca(model) => model.plan().to_string(),
        AnyModel::Pca(model) => model.plan().to_string(),
        AnyModel::Whitening(model) => model.plan().to_string(),
        AnyModel::Manifold(model) => model.plan().to_string(),
        AnyModel::KernelCca(model) => model.plan().to_string(),
        AnyModel::KernelDiscriminant(model) => model.plan().to_string(),
        AnyModel::KernelKMeans(model) => model.plan().to_string(),
    }
}

/// Iterations, passes and products, as JSON.
pub(crate) fn stats(model: &AnyModel) -> PyResult<String> {
    match model {
        AnyModel::KernelPca(model) => json(&model.stats()),
        AnyModel::Pca(model) => json(&model.stats()),
        AnyModel::Whitening(model) => json(&model.pca().stats()),
        AnyModel::Manifold(model) => json(&model.facts().stats),
        _ => Err(PyAttributeError::new_err("kernelised methods do not have that")),
    }
}
