//! Fits of rows that lie elsewhere: what the library asks of them is answered by a Python object.

use crate::errors::to_python;
use crate::fits::{self, KernelPcaSettings, PcaSettings};
use crate::model::Model;
use crate::rows::{cloned, json, matrix, to_array};
use crate::stream::PcaStream;
use crate::sums::{FeatureSums, Features};
use crate::work;
use eigenlift::error::{Error, Result};
use eigenlift::features::{FeatureSums as Moments, RowFeatures, Stop};
use eigenlift::gram::Similarity;
use eigenlift::kernel::{Kernel, KernelSpec};
use eigenlift::matrix::{MatRef, Matrix};
use eigenlift::methods::pca::WhiteningMethod;
use eigenlift::methods::{AnyModel, Pca, Whitening};
use eigenlift::rows::{Data, Fitted, Found, GramPass, Partitions, PivotDraw, RowSums};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// The Python object, asked for its shape once.
pub(crate) struct Remote {
    object: Py<PyAny>,
    n_rows: usize,
    n_cols: usize,
    precision: &'static str,
    weighted: bool,
    place: String,
}

impl<'py> FromPyObject<'_, 'py> for Remote {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let single = object.getattr("precision")?.extract::<String>()? == "f32";
        Ok(Self {
            n_rows: object.getattr("n_rows")?.extract()?,
            n_cols: object.getattr("n_cols")?.extract()?,
            precision: if single { "f32" } else { "f64" },
            weighted: object.getattr("weighted")?.extract()?,
            place: object.getattr("place")?.extract()?,
            object: object.to_owned().unbind(),
        })
    }
}

/// What Python raised, on its way through the library.
fn raised(error: PyErr) -> Error {
    Error::Source(Box::new(error))
}

impl Remote {
    /// Asks the object, in whatever thread the library works.
    fn ask<R>(&self, question: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R> {
        Python::attach(|py| question(self.object.bind(py))).map_err(raised)
    }
}

fn numbers<'py>(py: Python<'py>, rows: &[usize]) -> Bound<'py, PyArray1<i64>> {
    rows.iter().map(|row| *row as i64).collect::<Vec<_>>().into_pyarray(py)
}

fn block<'py>(py: Python<'py>, block: MatRef<'_, f64>) -> PyResult<Py<PyAny>> {
    to_array(py, block.to_matrix())
}

fn table(object: Bound<'_, PyAny>) -> PyResult<Matrix<f64>> {
    matrix(&object.extract::<PyReadonlyArray2<'_, f64>>()?)
}

fn vector(object: Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(object.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
}

impl Partitions for Remote {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn precision(&self) -> &'static str {
        self.precision
    }

    fn weighted(&self) -> bool {
        self.weighted
    }

    fn place(&self) -> String {
        self.place.clone()
    }

    fn gather(&self, rows: &[usize]) -> Result<Matrix<f64>> {
        self.ask(|object| table(object.call_method1("gather", (numbers(object.py(), rows),))?))
    }

    fn row_sums(&self, empty: RowSums) -> Result<RowSums> {
        self.ask(|object| {
            let empty = PcaStream::sent(object.py(), empty)?;
            let found = object.call_method1("pca_sums", (empty,))?;
            Ok(found.cast::<PcaStream>()?.get().sums()?.into_sums())
        })
    }

    fn centered_product(&self, center: &[f64], by: MatRef<'_, f64>) -> Result<Matrix<f64>> {
        self.ask(|object| {
            let py = object.py();
            table(object.call_method1("product", (center.to_vec().into_pyarray(py), block(py, by)?))?)
        })
    }

    fn feature_sums(&self, features: &RowFeatures) -> Result<Moments> {
        self.ask(|object| {
            let found = object.call_method1("feature_sums", (Features::new(features),))?;
            found.cast::<FeatureSums>()?.get().sums()
        })
    }

    fn begin_rounds(&self, sample: Option<&[usize]>) -> Result<()> {
        self.ask(|object| {
            object.call_method1("begin_rounds", (sample.map(|rows| numbers(object.py(), rows)),)).map(|_| ())
        })
    }

    fn left_out(&self, features: &RowFeatures, spent: &[usize]) -> Result<Vec<f64>> {
        self.ask(|object| {
            let asked = (Features::new(features), numbers(object.py(), spent));
            vector(object.call_method1("left_out", asked)?)
        })
    }

    fn locate(&self, targets: &[(usize, f64)]) -> Result<Found> {
        self.ask(|object| {
            let py = object.py();
            let pieces: Vec<usize> = targets.iter().map(|(piece, _)| *piece).collect();
            let sums: Vec<f64> = targets.iter().map(|(_, target)| *target).collect();
            let found = object.call_method1("locate", (numbers(py, &pieces), sums.into_pyarray(py)))?;
            let (rows, entries) =
                found.extract::<(PyReadonlyArray1<'_, i64>, PyReadonlyArray2<'_, f64>)>()?;
            let rows = rows.as_array().iter().map(|row| usize::try_from(*row).ok()).collect();
            Ok(Found { rows, entries: matrix(&entries)? })
        })
    }

    fn gram_pass(&self, kernel: &Kernel, by: MatRef<'_, f64>, single: bool) -> Result<GramPass> {
        self.ask(|object| {
            let asked = (kernel.to_string(), block(object.py(), by)?, single);
            let found = object.call_method1("kernel_product", asked)?;
            let (product, row_sums, squared_norm) =
                found.extract::<(PyReadonlyArray2<'_, f64>, PyReadonlyArray1<'_, f64>, f64)>()?;
            let row_sums = row_sums.as_array().to_vec();
            Ok(GramPass { product: matrix(&product)?, row_sums, squared_norm })
        })
    }

    fn kernel_columns(&self, kernel: &Kernel, with: &Matrix<f64>, single: bool) -> Result<Matrix<f64>> {
        self.ask(|object| {
            let asked = (kernel.to_string(), to_array(object.py(), with.clone())?, single);
            table(object.call_method1("kernel_columns", asked)?)
        })
    }

    fn kernel_diagonal(&self, kernel: &Kernel, single: bool) -> Result<Vec<f64>> {
        self.ask(|object| vector(object.call_method1("kernel_diagonal", (kernel.to_string(), single))?))
    }

    fn project(&self, model: &dyn Fitted) -> Result<Matrix<f64>> {
        let model = AnyModel::from_bytes(&model.bytes()?)?;
        self.ask(|object| {
            let model = Model::new(model);
            table(object.call_method1("project", (model,))?)
        })
    }
}

/// Fits principal components.
#[pyfunction]
#[pyo3(signature = (pieces, settings, threads, progress=None))]
pub(crate) fn fit_pca_pieces(
    py: Python<'_>,
    pieces: Remote,
    settings: PcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let settings = settings.build()?;
    let model = work::apart(py, threads, progress, move |engine, watch| {
        fits::running(settings, engine, watch).fit(&pieces)
    })?;
    Ok(Model::new(model))
}

/// What fitting principal components would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_pca_pieces(
    py: Python<'_>,
    pieces: Remote,
    settings: PcaSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let settings = settings.build()?;
    let plan = work::apart(py, threads, None, move |engine, watch| {
        Ok(fits::running(settings, engine, watch).prepare(&pieces)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Fits a whitening.
#[pyfunction]
#[pyo3(signature = (pieces, method, ridge, settings, threads, progress=None))]
pub(crate) fn fit_whitening_pieces(
    py: Python<'_>,
    pieces: Remote,
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
    let model = work::apart(py, threads, progress, move |engine, watch| {
        whitening
            .with(|pca| fits::running(settings.onto(pca.clone()).unwrap_or(pca), engine, watch))
            .fit(&pieces)
    })?;
    Ok(Model::new(model))
}

/// Fits kernel PCA.
#[pyfunction]
#[pyo3(signature = (pieces, settings, threads, progress=None))]
pub(crate) fn fit_kernel_pca_pieces(
    py: Python<'_>,
    pieces: Remote,
    settings: KernelPcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let settings = settings.build()?;
    let model = work::apart(py, threads, progress, move |engine, watch| {
        settings.engine(engine.clone()).watch(watch.clone()).fit(&pieces)
    })?;
    Ok(Model::new(model))
}

/// What fitting kernel PCA would do: JSON and text.
#[pyfunction]
pub(crate) fn plan_kernel_pca_pieces(
    py: Python<'_>,
    pieces: Remote,
    settings: KernelPcaSettings,
    threads: usize,
) -> PyResult<(String, String)> {
    let settings = settings.build()?;
    let plan = work::apart(py, threads, None, move |engine, _| {
        Ok(settings.engine(engine.clone()).prepare(&pieces)?.plan().clone())
    })?;
    Ok((json(&plan)?, plan.to_string()))
}

/// Bounds for a kernel PCA from one exact pass over pairs of pieces.
#[pyfunction]
#[pyo3(signature = (model, pieces, threads, progress=None))]
pub(crate) fn certify_kernel_pca_pieces(
    py: Python<'_>,
    model: &Model,
    pieces: Remote,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let rough = cloned(model.kernel_pca()?)?;
    let sure = work::apart(py, threads, progress, move |engine, watch| {
        rough.with_engine(engine.clone()).certify_watched(&pieces, watch)
    })?;
    Ok(model.replaced(py, sure))
}

/// An exact kernel PCA from a rough one.
#[pyfunction]
#[pyo3(signature = (model, pieces, settings, threads, progress=None))]
pub(crate) fn refine_kernel_pca_pieces(
    py: Python<'_>,
    model: &Model,
    pieces: Remote,
    settings: KernelPcaSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Model> {
    let (rough, settings) = (cloned(model.kernel_pca()?)?, settings.build()?);
    let exact = work::apart(py, threads, progress, move |engine, watch| {
        let rough = rough.with_engine(engine.clone());
        settings.engine(engine.clone()).watch(watch.clone()).refine(&rough, &pieces)
    })?;
    Ok(Model::new(exact))
}

/// Numbers of rows chosen by randomly pivoted Cholesky.
#[pyfunction]
#[pyo3(signature = (kernel, pieces, n, seed, threads, progress=None))]
pub(crate) fn pivots_pieces<'py>(
    py: Python<'py>,
    kernel: &str,
    pieces: Remote,
    n: usize,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let spec: KernelSpec = kernel.parse().map_err(to_python)?;
    let chosen = work::apart(py, threads, progress, move |engine, watch| {
        let kernel = Similarity::Kernel(Kernel::new(&spec, pieces.n_cols())?);
        let draw = PivotDraw { sample: None, stop: Stop { rank: n, share: 0.0 }, seed, watch };
        Ok(Data::from(&pieces).rows(engine, false)?.pivots(&kernel, &draw)?.rows)
    })?;
    Ok(numbers(py, &chosen))
}
