//! How well an embedding keeps what it was made from, and what stands in its way.

use crate::errors::to_python;
use crate::manifold::{input, no_lists};
use crate::rows::{Rows, json, matrix};
use crate::work;
use eigenlift::graph::{Metric, Search, Space};
use eigenlift::methods::manifold::{IsomapDoctor, ManifoldInput};
use eigenlift::quality;
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

/// Trustworthiness and continuity. `metric` is a word, or precomputed when `x` holds distances.
#[pyfunction]
pub(crate) fn neighborhoods(
    py: Python<'_>,
    x: Rows<'_>,
    embedding: PyReadonlyArray2<'_, f64>,
    n_neighbors: usize,
    metric: &str,
    threads: usize,
) -> PyResult<(f64, f64)> {
    let (samples, embedding) = (x.samples()?, matrix(&embedding)?);
    let n_samples = samples.n_rows();
    let space = match metric {
        "precomputed" => Space::Distances { n_samples },
        word => Space::Rows { samples: samples.clone(), metric: word.parse::<Metric>().map_err(to_python)? },
    };
    let found = work::run(py, threads, None, move |_, watch| {
        let all = (n_samples, 0);
        quality::neighborhoods((&space, samples.points()), &embedding, n_neighbors, all, watch)
    })?;
    Ok((found.trustworthiness, found.continuity))
}

/// What the doctor of isomap is told, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DoctorSettings {
    n_components: usize,
    /// What the rows are: rows or distances.
    given: String,
    metric: String,
    n_neighbors: Option<usize>,
    search: String,
    seed: u64,
    cut: bool,
}

/// What the doctor of isomap finds: JSON, and a sentence for each suspected edge.
#[pyfunction]
#[pyo3(signature = (x, settings, threads, progress=None))]
pub(crate) fn examine_isomap(
    py: Python<'_>,
    x: Rows<'_>,
    settings: DoctorSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let mut doctor = IsomapDoctor::new(settings.n_components)
        .metric(settings.metric.parse::<Metric>().map_err(to_python)?)
        .search(settings.search.parse::<Search>().map_err(to_python)?)
        .seed(settings.seed)
        .cut(settings.cut);
    if let Some(k) = settings.n_neighbors {
        doctor = doctor.neighbors(k);
    }
    let input = input(&settings.given, &x)?;
    let report = work::run(py, threads, progress, move |engine, watch| {
        let doctor = doctor.engine(engine.clone()).watch(watch.clone());
        match input {
            ManifoldInput::Samples(rows) => doctor.examine(rows),
            ManifoldInput::Distances(matrix) => doctor.examine_distances(matrix),
            ManifoldInput::Neighbors(..) | ManifoldInput::Graph(..) | ManifoldInput::Affinities(_) => {
                Err(no_lists())
            }
        }
    })?;
    Ok((json(&report)?, report.suspects.iter().map(|suspect| suspect.sentence()).collect()))
}
