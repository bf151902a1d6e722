//! What was chosen.

use crate::error::Result;
use crate::kernel::KernelSpec;
use serde::Serialize;

/// A kernel and a number of components that were tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GridPoint {
    /// The kernel, with every parameter a number.
    pub kernel: String,
    /// Its bandwidth in the notation of the kernel; `None` for `linear`.
    pub bandwidth: Option<f64>,
    /// Number of components.
    pub n_components: usize,
    /// The mean squared error of a hidden entry; with labels 1 − accuracy or 1 − R². Small is good.
    ///
    /// Points that dropped out early were compared with the best on fewer rows: theirs is the best's error plus the mean of these
    /// differences.
    pub error: f64,
    /// The standard error of `error`, over rows; with labels over the parts of the rows.
    pub spread: f64,
    /// Masked rows that were predicted; with labels 0.
    pub n_masks: usize,
}

/// What [`ChooseKernelPca`](super::ChooseKernelPca) found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelChoice {
    /// What was compared: `masked error`, `accuracy knn`, `accuracy ridge`, `R2 knn` or `R2 ridge`.
    pub criterion: &'static str,
    /// Every kernel and number of components that was tried, bandwidth by bandwidth.
    pub points: Vec<GridPoint>,
    /// The one chosen.
    pub chosen: usize,
    /// Those no more than one standard error of the paired difference behind the best: the uncertainty.
    pub near: Vec<usize>,
    /// The smallest and largest bandwidth among `near`, of the chosen family.
    pub gamma_range: Option<(f64, f64)>,
    /// The smallest and largest number of components among `near`.
    pub k_range: (usize, usize),
    /// The bandwidth of the median heuristic, of the chosen family.
    pub median: Option<f64>,
    /// The error without any component: of the means of the columns, of the most frequent class, or of the mean.
    pub baseline: f64,
    /// Rows looked at.
    pub n_rows: usize,
    /// Masks of each row; with labels 0.
    pub n_masks: usize,
    /// Whether what was chosen predicts better than no component at all. Where no component predicts masked entries better than the
    /// column means, the fewest of those that do as well are chosen: none stands out from noise.
    pub stands_out: bool,
    /// The result in plain words.
    pub sentence: String,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl KernelChoice {
    /// The point chosen.
    pub fn point(&self) -> Option<&GridPoint> {
        self.points.get(self.chosen)
    }

    /// The kernel chosen, with every parameter a number.
    pub fn kernel(&self) -> &str {
        self.point().map_or("", |point| &point.kernel)
    }

    /// The number of components chosen.
    pub fn n_components(&self) -> usize {
        self.point().map_or(0, |point| point.n_components)
    }

    /// The kernel chosen, ready for [`KernelPca::kernel`](crate::methods::KernelPca::kernel).
    ///
    /// # Errors
    /// When the text was changed to something that is no kernel.
    pub fn kernel_spec(&self) -> Result<KernelSpec> {
        self.kernel().parse()
    }
}
