//! Which bandwidth and how many components for kernel PCA.

use crate::errors::{EigenliftError, to_python};
use crate::rows::{Rows, json};
use crate::work;
use eigenlift::data::Labels;
use eigenlift::kernel::KernelSpec;
use eigenlift::tuning::kernel_choice::{ChooseKernelPca, Mask, Scorer};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// Settings of the choice, as a dict.
#[derive(FromPyObject, Clone)]
#[pyo3(from_item_all)]
pub(crate) struct ChoiceSettings {
    /// Kernels that are compared; the word auto alone for the usual ones.
    kernels: Vec<String>,
    n_components: Option<usize>,
    most_components: Option<usize>,
    /// entries, blocks or image.
    mask: String,
    /// The length of a block, or height and width of an image.
    mask_shape: Vec<usize>,
    /// best, knn or ridge.
    scorer: String,
    seed: u64,
    max_rows: Option<usize>,
}

impl ChoiceSettings {
    fn build(&self) -> PyResult<ChooseKernelPca> {
        let specs = self.kernels.iter().map(|text| text.parse::<KernelSpec>().map_err(to_python));
        let specs = specs.collect::<PyResult<Vec<KernelSpec>>>()?;
        let mut choice = match specs.as_slice() {
            [KernelSpec::Auto] => ChooseKernelPca::automatic(),
            _ => ChooseKernelPca::new().families(specs),
        };
        if let Some(k) = self.most_components {
            choice = choice.most_components(k);
        }
        if let Some(rows) = self.max_rows {
            choice = choice.max_rows(rows);
        }
        let scorer = match self.scorer.as_str() {
            "knn" => Scorer::Neighbors,
            "ridge" => Scorer::Ridge,
            _ => Scorer::Best,
        };
        Ok(choice.components(self.n_components).mask(self.mask()?).scorer(scorer).seed(self.seed))
    }

    fn mask(&self) -> PyResult<Mask> {
        match (self.mask.as_str(), self.mask_shape.as_slice()) {
            ("entries", []) => Ok(Mask::Entries),
            ("blocks", [length]) => Ok(Mask::Blocks(*length)),
            ("image", [height, width]) => Ok(Mask::Image { height: *height, width: *width }),
            (other, _) => Err(EigenliftError::new_err(format!(
                "a mask called \"{other}\"; known are entries, blocks of a length, and images of a height and width. \
                 Choose one of them"
            ))),
        }
    }
}

/// The choice as JSON: by hidden entries, or with labels by what can be learned from the scores.
#[pyfunction]
#[pyo3(signature = (x, classes, numbers, settings, threads, progress=None))]
pub(crate) fn choose_kernel_pca(
    py: Python<'_>,
    x: Rows<'_>,
    classes: Option<PyReadonlyArray1<'_, i64>>,
    numbers: Option<PyReadonlyArray1<'_, f64>>,
    settings: ChoiceSettings,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (choice, samples) = (settings.build()?, x.samples()?);
    let labels = match (classes, numbers) {
        (Some(classes), _) => {
            Some(Labels::Classes(classes.as_array().iter().map(|class| *class as usize).collect()))
        }
        (None, Some(numbers)) => Some(Labels::Numbers(numbers.as_array().to_vec())),
        (None, None) => None,
    };
    let found = work::run(py, threads, progress, move |engine, watch| {
        let choice = choice.engine(engine.clone()).watch(watch.clone());
        match &labels {
            Some(labels) => choice.choose_for_labels(&samples, labels),
            None => choice.choose(&samples),
        }
    })?;
    json(&found)
}
