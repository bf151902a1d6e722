//! Fitted models as Python objects.

use crate::errors::to_python;
use crate::fits::{self, KernelPcaSettings};
use crate::kernelised;
use crate::manifold;
use crate::rows::{
    Rows, Scores, array_to_numbers, checked, cloned, json, matrix, numbers_to_array, samples_to_python,
    to_array,
};
use crate::work;
use eigenlift::eigen::Certificate;
use eigenlift::error::Error;
use eigenlift::methods::{
    AnyModel, FittedKernelKMeans, FittedKernelPca, FittedManifold, FittedPca, FittedWhitening,
};
use eigenlift::model::{Array, Header, Lift, Route};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::Arc;

/// Names under which a kernel PCA and a manifold model keep dense samples.
const SAMPLES: [&str; 2] = ["samples", "part0.samples"];

/// A fitted model of any method.
#[pyclass(frozen, module = "eigenlift._native")]
pub(crate) struct Model {
    model: Arc<AnyModel>,
    /// The array whose memory the model uses for its samples.
    samples: Option<Py<PyAny>>,
}

impl Model {
    pub(crate) fn new(model: impl Into<AnyModel>) -> Self {
        Self { model: Arc::new(model.into()), samples: None }
    }

    /// A model fitted on `array`, which it goes on using if its lift is by samples.
    pub(crate) fn with_samples(model: impl Into<AnyModel>, array: Option<Py<PyAny>>) -> Self {
        let model = model.into();
        let of_kernel_pca = |m: &FittedKernelPca| {
            m.plan().route == Route::Dual && matches!(m.projection().lift, Lift::Kernel { .. })
        };
        let of_manifold = |m: &FittedManifold| manifold::samples_of(m).is_some();
        let uses = model.get().is_some_and(of_kernel_pca) || model.get().is_some_and(of_manifold);
        Self { model: Arc::new(model), samples: array.filter(|_| uses) }
    }

    /// Another model with the same samples.
    pub(crate) fn replaced(&self, py: Python<'_>, model: impl Into<AnyModel>) -> Self {
        Self {
            model: Arc::new(model.into()),
            samples: self.samples.as_ref().map(|samples| samples.clone_ref(py)),
        }
    }

    /// The model itself, for work that goes on beside Python.
    pub(crate) fn shared(&self) -> Arc<AnyModel> {
        self.model.clone()
    }

    pub(crate) fn kernel_pca(&self) -> PyResult<&FittedKernelPca> {
        self.model.get().ok_or_else(|| PyAttributeError::new_err("only kernel PCA has that"))
    }

    fn manifold(&self) -> PyResult<&FittedManifold> {
        self.model.get().ok_or_else(|| PyAttributeError::new_err("only manifold methods have that"))
    }

    fn pca(&self) -> PyResult<&FittedPca> {
        let whitened = || self.model.get().map(FittedWhitening::pca);
        self.model
            .get()
            .or_else(whitened)
            .ok_or_else(|| PyAttributeError::new_err("only principal components and whitening have that"))
    }

    fn certificate_of_model(&self) -> PyResult<&Certificate> {
        match self.kernel_pca() {
            Ok(model) => Ok(model.certificate()),
            Err(_) => Ok(self.pca()?.certificate()),
        }
    }
}

fn vector<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyArray1<f64>> {
    numbers.to_vec().into_pyarray(py)
}

/// Loads a model file of any method.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
    Ok(Model::new(work::brief(py, move || AnyModel::load(&path))?))
}

#[pymethods]
impl Model {
    /// From the header and arrays that `parts` gave.
    #[staticmethod]
    fn from_parts(py: Python<'_>, header: &str, arrays: &Bound<'_, PyDict>) -> PyResult<Self> {
        let header = Header::from_text(header).map_err(to_python)?;
        let mut parts = Vec::new();
        for (name, array) in arrays {
            let (shape, numbers) = array_to_numbers(&array)?;
            parts.push(Array::new(name.extract::<String>()?, &shape, numbers));
        }
        let model = work::brief(py, move || AnyModel::from_parts(header, parts))?;
        let mut samples = None;
        for name in SAMPLES {
            samples = samples.or(arrays.get_item(name)?.map(Bound::unbind));
        }
        Ok(Self::with_samples(model, samples))
    }

    /// Header and arrays, which make the model again.
    fn parts(&self, py: Python<'_>) -> PyResult<(String, Py<PyDict>)> {
        let (mut text, arrays) = (String::new(), PyDict::new(py));
        let mut failed = Ok(());
        let known = self.samples.as_ref();
        let result = self.model.with_parts(&mut |header: &Header, parts: &[Array<'_>]| {
            text = header.to_text()?;
            failed = parts.iter().try_for_each(|array| match known {
                Some(samples) if SAMPLES.contains(&&*array.name) => arrays.set_item(&*array.name, samples),
                _ => arrays.set_item(&*array.name, numbers_to_array(py, &array.numbers, &array.shape)?),
            });
            Ok(())
        });
        checked(result)?;
        failed?;
        Ok((text, arrays.unbind()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let make = slf.get_type().getattr("from_parts")?;
        (make, slf.get().parts(slf.py())?).into_pyobject(slf.py())
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.model.fitted().method()
    }

    #[getter]
    fn n_samples(&self) -> usize {
        self.model.stored().n_samples()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.model.fitted().n_features()
    }

    #[getter]
    fn n_outputs(&self) -> usize {
        self.model.fitted().n_outputs()
    }

    #[getter]
    fn n_components(&self) -> usize {
        self.model.stored().n_components()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.model.fitted().column_names().to_vec()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.model.fitted().warnings().to_vec()
    }

    #[getter]
    fn precision(&self) -> String {
        self.model.stored().precision().into()
    }

    #[getter]
    fn plan(&self) -> PyResult<String> {
        checked(self.model.stored().plan_json())
    }

    #[getter]
    fn plan_text(&self) -> String {
        self.model.stored().plan_text()
    }

    #[getter]
    fn certificate(&self) -> PyResult<String> {
        json(self.certificate_of_model()?)
    }

    #[getter]
    fn stats(&self) -> PyResult<String> {
        match self.model.stored().stats() {
            Some(stats) => json(&stats),
            None => Err(PyAttributeError::new_err("kernelised methods do not have that")),
        }
    }

    #[getter]
    fn choice(&self) -> PyResult<Option<String>> {
        match self.kernel_pca() {
            Ok(model) => model.choice().map(json).transpose(),
            Err(_) => self.pca()?.choice().map(json).transpose(),
        }
    }

    #[getter]
    fn eigenvalues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(match (self.kernel_pca(), self.manifold()) {
            (Ok(model), _) => vector(py, model.eigenvalues()),
            (_, Ok(model)) => vector(py, model.eigenvalues()),
            _ => vector(py, self.pca()?.eigenvalues()),
        })
    }

    #[getter]
    fn total(&self) -> PyResult<f64> {
        match self.kernel_pca() {
            Ok(model) => {
                // Ratios are taken of it.
                let unknown = model.explained_variance_ratio().iter().any(|ratio| ratio.is_nan());
                Ok(if unknown { f64::NAN } else { model.total() })
            }
            Err(_) => self.pca().map(|pca| pca.total_variance() * pca.weight()),
        }
    }

    #[getter]
    fn coefficients(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let matrix = match self.kernel_pca() {
            Ok(model) => model.coefficients(),
            Err(_) => &self.pca()?.projection().coefficients,
        };
        to_array(py, cloned(matrix)?)
    }

    /// Where rows are taken from before they are compared; `None` for rows as they are.
    #[getter]
    fn origin<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        match &self.kernel_pca().ok()?.projection().lift {
            Lift::Kernel { kernel, .. } => kernel.origin().map(|origin| vector(py, origin)),
            _ => None,
        }
    }

    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(match self.kernel_pca() {
            Ok(model) => vector(py, &model.projection().offset),
            Err(_) => vector(py, &self.pca()?.projection().offset),
        })
    }

    #[getter]
    fn kernel(&self) -> PyResult<String> {
        Ok(self.kernel_pca()?.plan().kernel.clone())
    }

    #[getter]
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if let Some(samples) = &self.samples {
            return Ok(Some(samples.clone_ref(py)));
        }
        if let Ok(model) = self.manifold() {
            return manifold::samples_of(model).map(|samples| samples_to_python(py, samples)).transpose();
        }
        match &self.kernel_pca()?.projection().lift {
            Lift::Kernel { samples, .. } => samples_to_python(py, samples).map(Some),
            _ => Ok(None),
        }
    }

    #[getter]
    fn facts(&self) -> PyResult<String> {
        match kernelised::facts(&self.model) {
            Some(facts) => json(&facts),
            None => json(self.manifold()?.facts()),
        }
    }

    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let labels = match self.model.get::<FittedKernelKMeans>() {
            Some(model) => model.labels().to_vec(),
            None => self.manifold()?.labels(),
        };
        Ok(labels.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
    }

    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let part = self.manifold()?.parts().first();
        Ok(vector(py, part.map_or(&[], |part| &part.residuals)))
    }

    /// Distances along the graph from every row to every landmark.
    fn geodesics(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.manifold()?.geodesics().map(|distances| to_array(py, cloned(distances)?)).transpose()
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, self.pca()?.mean()))
    }

    #[getter]
    fn scale<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.pca()?.scale().map(|scale| vector(py, scale)))
    }

    #[getter]
    fn components(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        to_array(py, self.pca()?.components())
    }

    #[getter]
    fn spectrum<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pca = self.pca()?;
        let weight = pca.weight();
        Ok(pca.spectrum().iter().map(|v| v * weight).collect::<Vec<f64>>().into_pyarray(py))
    }

    #[getter]
    fn is_whole(&self) -> PyResult<bool> {
        self.pca().map(FittedPca::is_whole)
    }

    #[getter]
    fn weight(&self) -> PyResult<f64> {
        self.pca().map(FittedPca::weight)
    }

    #[getter]
    fn whitening(&self) -> PyResult<(String, f64, usize, String, f64)> {
        match self.model.get::<FittedWhitening>() {
            Some(w) => Ok((w.method().to_string(), w.ridge(), w.rank(), w.statement(), w.distance())),
            None => Err(PyAttributeError::new_err("only whitening has that")),
        }
    }

    /// The first `k` components alone.
    fn keeping(&self, py: Python<'_>, k: usize) -> PyResult<Self> {
        let kept = match (self.model.get::<FittedKernelPca>(), self.model.get::<FittedPca>()) {
            (Some(model), _) => AnyModel::from(cloned(model)?.keeping(k)),
            (_, Some(model)) => AnyModel::from(cloned(model)?.keeping(k)),
            _ => return Err(PyAttributeError::new_err("only pca and kernel PCA have that")),
        };
        Ok(self.replaced(py, kept))
    }

    /// The same model with the axes named turned round.
    fn flipped(&self, py: Python<'_>, which: Vec<bool>) -> PyResult<Self> {
        if let Ok(model) = self.manifold() {
            return Ok(self.replaced(py, cloned(model)?.flipped(&which)));
        }
        let model = cloned(self.kernel_pca()?)?;
        let turned = work::brief(py, move || Ok(model.flipped(&which)))?;
        Ok(self.replaced(py, turned))
    }

    /// Scores of the samples.
    fn scores(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.manifold() {
            Ok(model) => to_array(py, cloned(model.scores())?),
            Err(_) => to_array(py, checked(self.kernel_pca()?.scores())?),
        }
    }

    /// Scores of rows.
    #[pyo3(signature = (x, threads, progress=None))]
    fn transform(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let (samples, single, model) = (x.samples()?, x.single(), self.model.clone());
        let scores = work::run(py, threads, progress, move |engine, watch| {
            let scores = model.fitted().project_on(&**engine, samples.points(), watch)?;
            Ok(Scores::new(scores, single))
        })?;
        scores.into_python(py)
    }

    /// The part in which each row is placed.
    #[pyo3(signature = (x, threads, progress=None))]
    fn labels_of<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let labels = manifold::labels_of(py, self.model.clone(), x, (threads, progress))?;
        Ok(labels.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py))
    }

    /// Scores of rows that are known by their neighbours among the samples.
    #[pyo3(signature = (x, threads, progress=None))]
    fn transform_neighbors(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        to_array(py, manifold::transform_neighbors(py, self.model.clone(), &x, (threads, progress))?)
    }

    /// Rows from scores.
    fn inverse(
        &self,
        py: Python<'_>,
        scores: PyReadonlyArray2<'_, f64>,
        threads: usize,
    ) -> PyResult<Py<PyAny>> {
        let (scores, model) = (matrix(&scores)?, self.model.clone());
        let rows = work::run(py, threads, None, move |engine, watch| {
            model.fitted().invert_on(&**engine, &scores, watch)
        })?;
        to_array(py, rows)
    }

    /// Bounds from one exact pass over the samples.
    #[pyo3(signature = (x, threads, progress=None))]
    fn certify(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let model = fits::certify(py, &self.model, x.samples()?, (threads, progress))?;
        Ok(self.replaced(py, model))
    }

    /// An exact model from a rough one.
    #[pyo3(signature = (x, settings, threads, progress=None))]
    fn refine(
        &self,
        py: Python<'_>,
        x: Rows<'_>,
        settings: KernelPcaSettings,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let model = fits::refine(py, &self.model, (x.samples()?, settings), (threads, progress))?;
        Ok(Self::with_samples(model, x.array()))
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let model = self.model.fitted();
        py.detach(|| -> Result<(), Error> { model.write(&path) }).map_err(to_python)
    }

    fn __repr__(&self) -> String {
        format!(
            "<{} model, {} components of {} columns>",
            self.method(),
            self.n_components(),
            self.n_features()
        )
    }
}
