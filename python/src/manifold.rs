//! Manifold methods: fitting and planning.

use crate::errors::{EigenliftError, to_python};
use crate::model::Model;
use crate::rows::{Rows, json};
use crate::work;
use eigenlift::data::AnySamples;
use eigenlift::engine::Engine;
use eigenlift::error::{Error, Result};
use eigenlift::graph::{Graph, Search, Space};
use eigenlift::matrix::Matrix;
use eigenlift::methods::manifold::{Cut, FittedManifold, ManifoldBody, ManifoldInput};
use eigenlift::methods::{AnyModel, ClassicalMds, DiffusionMap, Isomap, LaplacianEigenmaps, LocallyLinear};
use eigenlift::model::{Job, Lift, ManifoldLift};
use eigenlift::progress::Watch;
use pyo3::prelude::*;
use std::sync::Arc;

/// What all manifold methods are told, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct Common {
    pub(crate) n_components: usize,
    /// What the rows are: rows, distances, neighbors or affinities.
    given: String,
    pub(crate) metric: String,
    pub(crate) n_neighbors: Option<usize>,
    pub(crate) radius: Option<f64>,
    search: String,
    pub(crate) tolerance: f64,
    pub(crate) seed: u64,
    pub(crate) memory: Option<u64>,
    pub(crate) column_names: Vec<String>,
}

impl Common {
    pub(crate) fn search(&self) -> PyResult<Search> {
        match self.search.as_str() {
            "auto" => Ok(Search::Auto),
            "brute" => Ok(Search::Brute),
            "tree" => Ok(Search::Tree),
            other => Err(EigenliftError::new_err(format!(
                "a search called \"{other}\"; known are auto, brute and tree. Choose one of them"
            ))),
        }
    }

    pub(crate) fn input(&self, x: &Rows<'_>) -> PyResult<ManifoldInput> {
        Ok(match self.given.as_str() {
            "distances" => ManifoldInput::distances(x.samples()?),
            "neighbors" => ManifoldInput::neighbors(x.neighbors()?, None),
            "affinities" => ManifoldInput::affinities(x.samples()?),
            _ => x.samples()?.into(),
        })
    }
}

/// The settings that all methods share, put into a method's own.
macro_rules! told {
    ($method:expr, $common:expr) => {{
        let common = &$common;
        let mut method = $method
            .metric(common.metric.parse().map_err(to_python)?)
            .tolerance(common.tolerance)
            .seed(common.seed)
            .column_names(common.column_names.clone());
        if let Some(bytes) = common.memory {
            method = method.memory_limit(bytes);
        }
        method
    }};
}

/// The neighbourhood, put into a method's own settings.
macro_rules! told_neighbors {
    ($method:expr, $common:expr) => {{
        let mut method = $method.search($common.search()?);
        if let Some(k) = $common.n_neighbors {
            method = method.neighbors(k);
        }
        if let Some(radius) = $common.radius {
            method = method.radius(radius);
        }
        method
    }};
}

pub(crate) use {told, told_neighbors};

/// A manifold method of the library.
pub(crate) trait Manifold: Send + 'static {
    /// Its fit on an engine, planned.
    fn prepare_on(self, engine: &Arc<dyn Engine>, watch: &Watch, input: ManifoldInput) -> Result<Embedding>;
}

/// A fit of a manifold method that is planned.
pub(crate) type Embedding = Job<'static, ManifoldBody>;

macro_rules! manifold {
    ($($method:ty),*) => {$(
        impl Manifold for $method {
            fn prepare_on(
                self,
                engine: &Arc<dyn Engine>,
                watch: &Watch,
                input: ManifoldInput,
            ) -> Result<Embedding> {
                self.engine(engine.clone()).watch(watch.clone()).prepare(input)
            }
        }
    )*};
}

manifold!(Isomap, ClassicalMds, LaplacianEigenmaps, DiffusionMap, LocallyLinear);

/// Fits a manifold method; the model goes on using `x` for its samples.
pub(crate) fn fit(
    py: Python<'_>,
    x: &Rows<'_>,
    (method, input): (impl Manifold, ManifoldInput),
    (threads, progress): (usize, Option<Py<PyAny>>),
) -> PyResult<Model> {
    let model = work::run(py, threads, progress, move |engine, watch| {
        method.prepare_on(engine, watch, input)?.run()
    })?;
    Ok(Model::with_samples(model, x.array()))
}

/// What a fit would do: JSON and text.
pub(crate) fn plan(
    py: Python<'_>,
    (method, input): (impl Manifold, ManifoldInput),
    threads: usize,
) -> PyResult<(String, String)> {
    let plan = work::run(py, threads, None, move |engine, watch| {
        Ok(method.prepare_on(engine, watch, input)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Settings of isomap, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct IsomapSettings {
    common: Common,
    exact: bool,
    landmarks: Option<usize>,
    disconnected: String,
    cut_suspects: bool,
    cut_edges: Vec<(usize, usize)>,
}

impl IsomapSettings {
    fn build(&self) -> PyResult<Isomap> {
        let mut method =
            told_neighbors!(told!(Isomap::new(self.common.n_components), self.common), self.common)
                .disconnected(self.disconnected.parse().map_err(to_python)?);
        if self.exact {
            method = method.exact();
        }
        if let Some(count) = self.landmarks {
            method = method.landmarks(count);
        }
        Ok(match (self.cut_suspects, self.cut_edges.is_empty()) {
            (true, _) => method.cut(Cut::Suspects),
            (false, false) => method.cut(Cut::Edges(self.cut_edges.clone())),
            (false, true) => method,
        })
    }
}

/// Settings of classical scaling, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct MdsSettings {
    common: Common,
    landmarks: Option<usize>,
}

impl MdsSettings {
    fn build(&self) -> PyResult<ClassicalMds> {
        let method = told!(ClassicalMds::new(self.common.n_components), self.common);
        Ok(match self.landmarks {
            Some(count) => method.landmarks(count),
            None => method,
        })
    }
}

/// Fits isomap; along `graph` where that is given, edges as the parts of a CSR matrix.
#[pyfunction]
#[pyo3(signature = (x, graph, settings, threads, progress=None))]
pub(crate) fn fit_isomap(
    py: Python<'_>,
    x: Rows<'_>,
    graph: Option<Rows<'_>>,
    settings: IsomapSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let input = match (settings.common.input(&x)?, graph) {
        (ManifoldInput::Samples(rows), Some(graph)) => {
            ManifoldInput::graph(Graph::from_neighbors(&graph.neighbors()?), Some(rows))
        }
        (input, _) => input,
    };
    fit(py, &x, (settings.build()?, input), (threads, progress))
}

/// What fitting isomap would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_isomap(
    py: Python<'_>,
    x: Rows<'_>,
    settings: IsomapSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    plan(py, (settings.build()?, settings.common.input(&x)?), threads)
}

/// Fits classical scaling.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn fit_mds(
    py: Python<'_>,
    x: Rows<'_>,
    settings: MdsSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    fit(py, &x, (settings.build()?, settings.common.input(&x)?), (threads, progress))
}

/// What classical scaling would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_mds(
    py: Python<'_>,
    x: Rows<'_>,
    settings: MdsSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    plan(py, (settings.build()?, settings.common.input(&x)?), threads)
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
