//! How unusual rows are to a kernel PCA, from which numbers on, and by which columns.

use crate::errors::to_python;
use crate::model::Model;
use crate::preimage::kernel_pca;
use crate::rows::{Rows, Scores, json};
use crate::work;
use eigenlift::monitoring::ScoreMoments;
use eigenlift::monitoring::{Baseline, Contributions, LimitRule, Novelty, Statistic};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Numbers = (Py<PyArray1<f64>>, Py<PyArray1<f64>>, Py<PyArray1<f64>>);
/// T², squared prediction errors and moments of scores.
type Reference<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// T² and squared prediction error of each row, and moments of the scores of all; `own` holds k(x,x) where the kernel is precomputed.
#[pyfunction]
#[pyo3(signature = (model, x, own, threads, progress=None))]
pub(crate) fn novelty_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    x: Rows<'_>,
    own: Option<PyReadonlyArray1<'_, f64>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Numbers> {
    let own = own.map(|own| own.as_slice().map(<[f64]>::to_vec)).transpose()?;
    let (samples, model) = (x.samples()?, model.get().shared());
    let Novelty { t_squared, spe, scores } = work::run(py, threads, progress, move |engine, watch| {
        kernel_pca(&model)?.novelty_given(&**engine, (samples.points(), own.as_deref()), watch)
    })?;
    let numbers = [t_squared, spe, scores.numbers()].map(|numbers| numbers.into_pyarray(py).unbind());
    Ok(numbers.into())
}

/// Limits as JSON: from T² and squared prediction errors of reference samples; from the samples of the fit, when they are given, by
/// cross-validation; or from what the model holds.
#[pyfunction]
#[pyo3(signature = (model, asked, reference, fit, threads, progress=None))]
pub(crate) fn limits_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    asked: (f64, String),
    reference: Option<Reference<'_>>,
    fit: Option<Rows<'_>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (alpha, rule) = asked;
    let rule: LimitRule = rule.parse().map_err(to_python)?;
    let rows = match reference {
        Some((t_squared, spe, scores)) => Some(Novelty {
            t_squared: t_squared.as_slice()?.to_vec(),
            spe: spe.as_slice()?.to_vec(),
            scores: ScoreMoments::from_numbers(scores.as_slice()?),
        }),
        None => None,
    };
    let fit = fit.map(|rows| rows.samples()).transpose()?;
    let model = model.get().shared();
    let limits = work::run(py, threads, progress, move |engine, watch| {
        let model = kernel_pca(&model)?;
        match (rows, fit) {
            (Some(rows), _) => model.limits_from(&rows, alpha, rule),
            (None, Some(fit)) => {
                let model = model.clone().with_engine(engine.clone());
                model.limits_of(&model.cross_validated(&fit, watch)?, alpha, rule)
            }
            (None, None) => model.clone().with_engine(engine.clone()).limits_watched(alpha, rule, watch),
        }
    })?;
    json(&limits)
}

/// Contributions of input columns to a statistic of each row, and the rest by name.
#[pyfunction]
#[pyo3(signature = (model, x, statistic, baseline, threads, progress=None))]
pub(crate) fn contributions_kernel_pca(
    py: Python<'_>,
    model: &Bound<'_, Model>,
    x: Rows<'_>,
    statistic: &str,
    baseline: Option<Rows<'_>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Py<PyAny>, Py<PyDict>)> {
    let statistic: Statistic = statistic.parse().map_err(to_python)?;
    let baseline = baseline.map(|rows| rows.samples()).transpose()?;
    let (samples, model) = (x.samples()?, model.get().shared());
    let found = work::run(py, threads, progress, move |engine, watch| {
        let from = baseline.as_ref().map_or(Baseline::Own, |rows| Baseline::Among(rows.points()));
        kernel_pca(&model)?.contributions_on(&**engine, samples.points(), (statistic, from), watch)
    })?;
    let Contributions { values, baselines, from, to, defect } = found;
    let rest = PyDict::new(py);
    rest.set_item("baselines", Scores::new(baselines, false).into_python(py)?)?;
    rest.set_item("at_baseline", from.into_pyarray(py))?;
    rest.set_item("at_row", to.into_pyarray(py))?;
    rest.set_item("defect", defect)?;
    Ok((Scores::new(values, false).into_python(py)?, rest.unbind()))
}
