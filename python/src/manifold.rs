//! Manifold methods: fitting and planning.

use crate::errors::to_python;
use crate::model::Model;
use crate::rows::{Rows, json};
use crate::work;
use eigenlift::data::AnySamples;
use eigenlift::describe::{Settings, Value};
use eigenlift::engine::Engine;
use eigenlift::error::Error;
use eigenlift::graph::{Graph, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::AnyModel;
use eigenlift::methods::manifold::{FittedManifold, Manifold, ManifoldInput, Run, manifold};
use eigenlift::model::{Lift, ManifoldLift};
use eigenlift::progress::Watch;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a fit of a manifold method is given beside its settings, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct Given {
    /// What the rows are: rows, distances, neighbors or affinities.
    given: String,
    /// Parameters by the names of their description; `None` for those that are not given.
    values: BTreeMap<String, Option<Setting>>,
    seed: u64,
    memory: Option<u64>,
    column_names: Vec<String>,
}

/// The value of a parameter.
#[derive(FromPyObject, Clone)]
pub(crate) enum Setting {
    Flag(bool),
    Count(usize),
    Number(f64),
    Text(String),
    Pairs(Vec<(usize, usize)>),
}

impl From<Setting> for Value {
    fn from(setting: Setting) -> Self {
        match setting {
            Setting::Flag(flag) => Self::Flag(flag),
            Setting::Count(count) => Self::Count(count),
            Setting::Number(x) => Self::Number(x),
            Setting::Text(text) => Self::Text(text),
            Setting::Pairs(pairs) => Self::Pairs(Some(pairs)),
        }
    }
}

/// What a table is to a manifold method.
pub(crate) fn input(given: &str, x: &Rows<'_>) -> PyResult<ManifoldInput> {
    Ok(match given {
        "distances" => ManifoldInput::distances(x.samples()?),
        "neighbors" => ManifoldInput::neighbors(x.neighbors()?, None),
        "affinities" => ManifoldInput::affinities(x.samples()?),
        _ => x.samples()?.into(),
    })
}

impl Given {
    /// The method and its checked settings.
    fn method(&self, name: &str) -> PyResult<(&'static Manifold, Settings)> {
        let method = manifold(name).map_err(to_python)?;
        let given =
            self.values.clone().into_iter().filter_map(|(name, value)| Some((name, Value::from(value?))));
        Ok((method, method.description.settings(given).map_err(to_python)?))
    }

    fn run(&self, engine: &Arc<dyn Engine>, watch: &Watch) -> Run {
        Run {
            seed: self.seed,
            memory_limit: self.memory,
            engine: Some(engine.clone()),
            watch: watch.clone(),
            column_names: self.column_names.clone(),
            ..Run::default()
        }
    }
}

/// Fits a manifold method, which goes on using `x` for its samples; along `graph` where that is given, edges as the parts of a CSR matrix.
#[pyfunction]
#[pyo3(signature = (method, x, graph, settings, threads, progress=None))]
pub(crate) fn fit_manifold(
    py: Python<'_>,
    method: &str,
    x: Rows<'_>,
    graph: Option<Rows<'_>>,
    settings: Given,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let input = match (input(&settings.given, &x)?, graph) {
        (ManifoldInput::Samples(rows), Some(graph)) => {
            ManifoldInput::graph(Graph::from_neighbors(&graph.neighbors()?), Some(rows))
        }
        (input, _) => input,
    };
    let (method, values) = settings.method(method)?;
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.prepare(&values, input, settings.run(engine, watch))?.run()
    })?;
    Ok(Model::with_samples(model, x.array()))
}

/// What a fit would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_manifold(
    py: Python<'_>,
    method: &str,
    x: Rows<'_>,
    settings: Given,
    threads: usize,
) -> PyResult<(String, String)> {
    let (input, (method, values)) = (input(&settings.given, &x)?, settings.method(method)?);
    let plan = work::run(py, threads, None, move |engine, watch| {
        Ok(method.prepare(&values, input, settings.run(engine, watch))?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

pub(crate) fn no_lists() -> Error {
    let words = ["neighbours or affinities", "rows or distances are needed here", "Give rows"];
    let [found, required, action] = words.map(String::from);
    Error::Data { found, required, action }
}

/// The rows of the fit, when the model has them all in one part.
pub(crate) fn samples_of(model: &FittedManifold) -> Option<&AnySamples> {
    let [part] = model.parts() else { return None };
    let Lift::Manifold(lift) = &part.projection.lift else { return None };
    let samples = match &**lift {
        ManifoldLift::Geodesics { space, .. }
        | ManifoldLift::Distances { space }
        | ManifoldLift::Weights { space, .. } => match space {
            Space::Rows { samples, .. } => samples,
            _ => return None,
        },
        ManifoldLift::Steps { samples, .. } => samples,
    };
    Some(samples).filter(|samples| part.rows.is_empty() && samples.n_rows() == model.n_samples())
}

/// The part in which each row is placed.
pub(crate) fn labels_of(
    py: Python<'_>,
    model: Arc<AnyModel>,
    x: Rows<'_>,
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<Vec<u32>> {
    let samples = x.samples()?;
    work::run(py, threads, progress, move |engine, watch| {
        let labels = model.fitted().labels_on(&**engine, samples.points(), watch)?;
        Ok(labels.unwrap_or_else(|| vec![0; samples.n_rows()]))
    })
}

/// Coordinates of rows that are known by their neighbours among the samples.
pub(crate) fn transform_neighbors(
    py: Python<'_>,
    model: Arc<AnyModel>,
    x: &Rows<'_>,
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<Matrix<f64>> {
    let lists = x.neighbors()?;
    work::run(py, threads, progress, move |engine, watch| {
        let Some(model) = model.get::<FittedManifold>() else { return Err(no_lists()) };
        match model.parts() {
            [part] if part.rows.is_empty() => part.projection.project_neighbors(&**engine, &lists, watch),
            // Which says what is wrong.
            _ => model.transform_neighbors(&lists, watch),
        }
    })
}
