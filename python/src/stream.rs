//! Principal components of rows that come in pieces.

use crate::errors::{EigenliftError, to_python};
use crate::fits::PcaSettings;
use crate::model::Model;
use crate::pools;
use crate::rows::{Rows, checked, cloned, matrix, to_array};
use crate::work;
use eigenlift::memory;
use eigenlift::methods::pca::{PcaStream as Sums, StreamState};
use eigenlift::rows::RowSums;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sums of rows that come in pieces.
#[pyclass(frozen, module = "eigenlift._native")]
pub(crate) struct PcaStream {
    sums: Arc<Mutex<Sums>>,
    n_features: usize,
    settings: Py<PyDict>,
}

/// What a pickle keeps beside the settings, as a dict of numbers and arrays.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Kept<'py> {
    route: String,
    count: u64,
    numbers: PyReadonlyArray1<'py, f64>,
    mean: PyReadonlyArray1<'py, f64>,
    matrix: PyReadonlyArray2<'py, f64>,
    squares: PyReadonlyArray1<'py, f64>,
    weighted: bool,
    single: bool,
}

impl PcaStream {
    /// Sums that are on their way to where rows are. The settings are those that a pickle needs to make them anew.
    pub(crate) fn sent(py: Python<'_>, sums: RowSums) -> PyResult<Self> {
        let settings = PyDict::new(py);
        settings.set_item("n_components", 1)?;
        settings.set_item("standardize", false)?;
        settings.set_item("route", py.None())?;
        settings.set_item("tolerance", 1e-6)?;
        settings.set_item("seed", 0)?;
        settings.set_item("memory", u64::MAX)?;
        settings.set_item("sketch_rows", py.None())?;
        settings.set_item("column_names", Vec::<String>::new())?;
        let n_features = sums.n_cols();
        let sums = Sums::of_sums(sums, pools::engine(py, 0)?);
        Ok(Self { sums: Arc::new(Mutex::new(sums)), n_features, settings: settings.unbind() })
    }

    /// A copy of the sums.
    pub(crate) fn sums(&self) -> PyResult<Sums> {
        cloned(&*lock(&self.sums))
    }
}

fn lock(sums: &Mutex<Sums>) -> MutexGuard<'_, Sums> {
    sums.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PcaStream {
    #[new]
    fn new(
        py: Python<'_>,
        n_features: usize,
        settings: &Bound<'_, PyDict>,
        threads: usize,
    ) -> PyResult<Self> {
        let parsed: PcaSettings = settings.extract()?;
        if parsed.n_components.is_none() {
            return Err(EigenliftError::new_err(
                "rows that come in pieces without a number of components; rules need all rows. Give a number",
            ));
        }
        let library = parsed.build()?.engine(pools::engine(py, threads)?);
        Ok(Self {
            sums: Arc::new(Mutex::new(checked(memory::guard(|| library.stream(n_features)))?)),
            n_features,
            settings: settings.clone().unbind(),
        })
    }

    #[getter]
    fn count(&self) -> u64 {
        lock(&self.sums).count()
    }

    /// Mean of each column, and the sum of its squared distances from it.
    fn columns<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let sums = lock(&self.sums);
        let (mean, squares) = sums.columns();
        (mean.to_vec().into_pyarray(py), squares.into_pyarray(py))
    }

    /// Adds rows, each counted as often as its weight says.
    #[pyo3(signature = (x, threads, progress=None, weights=None))]
    fn add(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        threads: usize,
        progress: Option<Py<PyAny>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let (samples, sums) = (x.samples()?, self.sums.clone());
        let weights = weights.map(|weights| weights.as_array().to_vec());
        work::run(py, threads, progress, move |engine, watch| {
            let mut sums = lock(&sums);
            sums.run_on(engine.clone(), watch.clone());
            match weights {
                None => sums.partial_fit(samples.points()),
                Some(weights) => sums.partial_fit_weighted(samples.points(), &weights),
            }
        })
    }

    /// Adds the rows of other sums.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let (sums, part) = (self.sums.clone(), other.sums()?);
        work::run(py, 1, None, move |engine, watch| {
            let mut sums = lock(&sums);
            sums.run_on(engine.clone(), watch.clone());
            sums.merge(&part)
        })
    }

    /// The model of all rows so far.
    fn finish(&self, py: Python<'_>, n_components: usize, threads: usize) -> PyResult<Model> {
        // A copy, because an eigensolver that is given up goes on with it.
        let mut sums = self.sums()?;
        let model = work::run(py, threads, None, move |engine, watch| {
            sums.keep(n_components);
            sums.run_on(engine.clone(), watch.clone());
            sums.finish()
        })?;
        Ok(Model::new(model))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        let StreamState { route, count, numbers, mean, matrix, squares, weighted, single } =
            checked(memory::guard(|| Ok(lock(&this.sums).state())))?;
        let kept = PyDict::new(py);
        kept.set_item("route", route.to_string())?;
        kept.set_item("count", count)?;
        kept.set_item("numbers", numbers.into_pyarray(py))?;
        kept.set_item("mean", mean.into_pyarray(py))?;
        kept.set_item("matrix", to_array(py, matrix)?)?;
        kept.set_item("squares", squares.into_pyarray(py))?;
        kept.set_item("weighted", weighted)?;
        kept.set_item("single", single)?;
        let make = (this.n_features, this.settings.clone_ref(py), 0);
        (slf.get_type(), make, kept).into_pyobject(py)
    }

    fn __setstate__(&self, kept: Kept<'_>) -> PyResult<()> {
        let state = StreamState {
            route: kept.route.parse().map_err(to_python)?,
            count: kept.count,
            numbers: kept.numbers.as_array().to_vec(),
            mean: kept.mean.as_array().to_vec(),
            matrix: matrix(&kept.matrix)?,
            squares: kept.squares.as_array().to_vec(),
            weighted: kept.weighted,
            single: kept.single,
        };
        checked(lock(&self.sums).resume(state))
    }
}
