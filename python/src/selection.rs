//! Selection of features: mutual information, filters, and searches by our scorers or by a judge in Python.

use crate::errors::{EigenliftError, to_python};
use crate::rows::{Rows, json};
use crate::work;
use eigenlift::data::Labels;
use eigenlift::error::{Error, Result};
use eigenlift_select::{
    Count, Direction, Fold, Judge, Kind, Kinds, Measure, MutualInformation, Scorer, Search, Selection,
    SelectionMethod, SelectionProgress, Split, one_standard_error,
};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json as object;
use std::path::PathBuf;

type Classes<'py> = Option<PyReadonlyArray1<'py, i64>>;
type Numbers<'py> = Option<PyReadonlyArray1<'py, f64>>;
type Folds<'py> = Vec<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>)>;

/// How information is estimated, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct InformationSettings {
    n_neighbors: usize,
    corrected: bool,
    /// Of each column; `None`: by the look of them.
    discrete: Option<Vec<bool>>,
    permutations: usize,
    seed: u64,
    column_names: Vec<String>,
}

impl InformationSettings {
    fn kinds(&self) -> Kinds {
        let kind = |discrete: &bool| if *discrete { Kind::Discrete } else { Kind::Continuous };
        self.discrete.as_ref().map_or(Kinds::Auto, |mask| Kinds::Given(mask.iter().map(kind).collect()))
    }
}

/// Settings of a selection, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct SelectionSettings {
    method: String,
    /// `None`: the fewest within one standard error of the best, or the best.
    n_features: Option<usize>,
    best: bool,
    /// knn, lda, ridge or logistic, and its number.
    scorer: Option<(String, f64)>,
    measure: Option<String>,
    /// Folds drawn here; `None` where they are given.
    n_folds: Option<usize>,
    /// The group of each row, for folds drawn here.
    groups: Option<Vec<usize>>,
    nested: Option<usize>,
    standardize: bool,
    kernel: Option<String>,
    tol: Option<f64>,
    patience: Option<usize>,
    information: InformationSettings,
}

/// The word is not known.
fn unknown(what: &str, word: &str) -> PyErr {
    EigenliftError::new_err(format!("a {what} called \"{word}\"; it is not known here. Choose another"))
}

fn scorer((word, number): &(String, f64)) -> PyResult<Scorer> {
    Ok(match word.as_str() {
        "knn" => Scorer::Knn { n_neighbors: *number as usize },
        "lda" => Scorer::Lda,
        "ridge" => Scorer::Ridge { alpha: *number },
        "logistic" => Scorer::Logistic { c: *number },
        other => return Err(unknown("scorer", other)),
    })
}

fn measure(word: &str) -> PyResult<Measure> {
    let all = [Measure::Accuracy, Measure::BalancedAccuracy, Measure::R2, Measure::NegMeanSquaredError];
    all.into_iter().find(|measure| measure.name() == word).ok_or_else(|| unknown("measure", word))
}

impl SelectionSettings {
    fn build(&self) -> PyResult<Selection> {
        let information = &self.information;
        let method: SelectionMethod = self.method.parse().map_err(to_python)?;
        let chosen = if self.best { Count::Best } else { Count::Auto };
        let mut selection = Selection::new(method)
            .features(self.n_features.map_or(chosen, Count::Exactly))
            .standardize(self.standardize)
            .neighbors(information.n_neighbors)
            .corrected(information.corrected)
            .kinds(information.kinds())
            .permutations(information.permutations)
            .seed(information.seed)
            .column_names(information.column_names.clone());
        if let Some(given) = &self.scorer {
            selection = selection.scorer(scorer(given)?);
        }
        if let Some(word) = &self.measure {
            selection = selection.measure(measure(word)?);
        }
        if let Some(parts) = self.nested {
            selection = selection.nested(parts);
        }
        if let Some(text) = &self.kernel {
            selection = selection.kernel(text.parse().map_err(to_python)?);
        }
        if let Some(tol) = self.tol {
            selection = selection.tol(tol);
        }
        if let Some(patience) = self.patience {
            selection = selection.patience(patience);
        }
        Ok(selection)
    }
}

fn labels(classes: &Classes<'_>, numbers: &Numbers<'_>) -> Labels {
    match (classes, numbers) {
        (Some(classes), _) => {
            Labels::Classes(classes.as_array().iter().map(|class| *class as usize).collect())
        }
        (None, numbers) => {
            Labels::Numbers(numbers.as_ref().map_or(Vec::new(), |numbers| numbers.as_array().to_vec()))
        }
    }
}

fn given(folds: &Folds<'_>) -> Split {
    let rows = |rows: &PyReadonlyArray1<'_, i64>| rows.as_array().iter().map(|row| *row as usize).collect();
    Split::Given(folds.iter().map(|(train, test)| Fold { train: rows(train), test: rows(test) }).collect())
}

/// Mutual information of each column and the labels, as JSON.
#[pyfunction]
#[pyo3(signature = (x, classes, numbers, settings, threads, progress=None))]
pub(crate) fn mutual_information(
    py: Python<'_>,
    x: Rows<'_>,
    classes: Classes<'_>,
    numbers: Numbers<'_>,
    settings: InformationSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (samples, labels) = (x.samples()?, labels(&classes, &numbers));
    let asked = MutualInformation::new()
        .neighbors(settings.n_neighbors)
        .corrected(settings.corrected)
        .kinds(settings.kinds())
        .permutations(settings.permutations)
        .seed(settings.seed)
        .column_names(settings.column_names);
    let found = work::run(py, threads, progress, move |engine, watch| {
        asked.engine(engine.clone()).watch(watch.clone()).of(&samples, &labels)
    })?;
    json(&found)
}

/// A selection by a filter or by our own scorers, as JSON; `checkpoint` is a file to go on from and to keep steps in.
#[pyfunction]
#[pyo3(signature = (x, classes, numbers, folds, settings, checkpoint, threads, progress=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn select_features(
    py: Python<'_>,
    x: Rows<'_>,
    classes: Classes<'_>,
    numbers: Numbers<'_>,
    folds: Folds<'_>,
    settings: SelectionSettings,
    checkpoint: Option<PathBuf>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (samples, labels) = (x.samples()?, labels(&classes, &numbers));
    let split = match (settings.n_folds, settings.groups.clone()) {
        (None, _) => given(&folds),
        (Some(n_folds), None) => Split::Folds(n_folds),
        (Some(n_folds), Some(groups)) => Split::Grouped { groups, n_folds },
    };
    let selection = settings.build()?.split(split);
    let found = work::run(py, threads, progress, move |engine, watch| {
        let selection = selection.engine(engine.clone()).watch(watch.clone());
        let earlier = checkpoint.as_deref().map_or(Ok(None), SelectionProgress::load)?;
        selection.select_resumable(&samples, &labels, earlier, &mut |steps| {
            checkpoint.as_deref().map_or(Ok(()), |path| steps.save(path))
        })
    })?;
    json(&found)
}

/// What a search by a judge is told, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct SearchSettings {
    /// forward, backward or floating.
    method: String,
    n_features: usize,
    /// Features at the end.
    to: usize,
    tol: Option<f64>,
    patience: Option<usize>,
    /// Of data and settings, for the file.
    fingerprint: String,
}

/// A function in Python that scores sets of features.
struct PythonJudge<'py> {
    judge: Bound<'py, PyAny>,
    n_features: usize,
    present: Vec<usize>,
}

impl PythonJudge<'_> {
    /// Scores of sets on each fold. What Python raises goes through the search as it is.
    fn scores(&self, sets: Vec<Vec<usize>>) -> Result<Vec<Vec<f64>>> {
        let n_sets = sets.len();
        let raised = |error: PyErr| Error::Source(Box::new(error));
        let answer = self.judge.call1((sets,)).map_err(raised)?;
        let scores: Vec<Vec<f64>> = answer.extract().map_err(raised)?;
        if scores.len() == n_sets {
            return Ok(scores);
        }
        Err(raised(EigenliftError::new_err(format!(
            "{} answers for {n_sets} sets of features",
            scores.len()
        ))))
    }
}

impl Judge for PythonJudge<'_> {
    fn n_features(&self) -> usize {
        self.n_features
    }

    fn present(&mut self) -> Result<Vec<f64>> {
        // No estimator learns from no column.
        if self.present.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.scores(vec![self.present.clone()])?.pop().unwrap_or_default())
    }

    fn with(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        let grown = |feature: &usize| {
            let mut set = self.present.clone();
            set.insert(set.partition_point(|other| other < feature), *feature);
            set
        };
        self.scores(features.iter().map(grown).collect())
    }

    fn without(&mut self, features: &[usize]) -> Result<Vec<Vec<f64>>> {
        let shrunk =
            |feature: &usize| self.present.iter().copied().filter(|other| other != feature).collect();
        self.scores(features.iter().map(shrunk).collect())
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        self.present.insert(self.present.partition_point(|other| *other < feature), feature);
        Ok(())
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        self.present.retain(|other| *other != feature);
        Ok(())
    }
}

/// A search by `judge(sets)`, which gives the scores of each set on each fold, in this thread; as JSON.
#[pyfunction]
pub(crate) fn search_features(
    judge: Bound<'_, PyAny>,
    settings: SearchSettings,
    checkpoint: Option<PathBuf>,
) -> PyResult<String> {
    let direction = match settings.method.as_str() {
        "forward" => Direction::Forward,
        "backward" => Direction::Backward,
        "floating" => Direction::Floating,
        other => return Err(unknown("method", other)),
    };
    let search = Search::new(direction, settings.to).tol(settings.tol).patience(settings.patience);
    let earlier = checkpoint.as_deref().map_or(Ok(None), SelectionProgress::load).map_err(to_python)?;
    if let Some(earlier) = &earlier {
        earlier.check(&settings.fingerprint, (settings.n_features, direction)).map_err(to_python)?;
    }
    let mut judge = PythonJudge { judge, n_features: settings.n_features, present: Vec::new() };
    let earlier = earlier.map_or(Vec::new(), |earlier| earlier.steps);
    let found = search.run(&mut judge, earlier, &mut |steps| {
        let Some(path) = &checkpoint else { return Ok(()) };
        SelectionProgress { fingerprint: settings.fingerprint.clone(), steps: steps.to_vec() }.save(path)
    });
    let found = found.map_err(raised)?;
    let choice = one_standard_error(&found.subsets);
    let (best, chosen) = (choice.map(|(best, _)| best), choice.map(|(_, chosen)| chosen));
    json(&object!({
        "steps": found.steps,
        "subsets": found.subsets,
        "best": best,
        "chosen": chosen,
        "stopped": found.stopped,
    }))
}

/// What Python raised, or the exception for an error of the library.
fn raised(error: Error) -> PyErr {
    match error {
        Error::Source(source) => match source.downcast::<PyErr>() {
            Ok(error) => *error,
            Err(source) => to_python(Error::Source(source)),
        },
        other => to_python(other),
    }
}
