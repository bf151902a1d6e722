//! Moments of features: of a piece of rows, merged with those of others, on one machine or on many.

use super::chosen::{Features, counted_from};
use super::{Against, FeatureKind, FeatureMap, FeatureRows, LandmarkFeatures};
use crate::data::{AnyPoints, AnySamples};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::moments::Partial;
use crate::progress::Watch;

/// Numbers of features that are held at a time, and the fewest rows.
const HELD: usize = 3 << 20;
const FEWEST_ROWS: usize = 512;

/// The moments of features of some rows, and Σ k(x,x). Those of two sets of rows merge.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureSums {
    pub(crate) partial: Partial,
    pub(crate) trace: f64,
}

impl FeatureSums {
    /// Of no rows, with this many features.
    pub(crate) fn empty(dimension: usize) -> Self {
        Self { partial: Partial::empty(dimension), trace: 0.0 }
    }

    /// From a number of rows, the mean, the scatter, what features leave out of the trace, and the trace.
    ///
    /// # Errors
    /// When mean and scatter do not fit each other.
    pub fn from_parts(
        count: u64,
        mean: Vec<f64>,
        scatter: Matrix<f64>,
        residual_trace: f64,
        trace: f64,
    ) -> Result<Self> {
        let m = mean.len();
        if (scatter.n_rows(), scatter.n_cols()) != (m, m) {
            return Err(Error::data(
                format!("a mean of {m} and a scatter of {} × {}", scatter.n_rows(), scatter.n_cols()),
                "both must be of the same features",
                "Give what a sum of features kept",
            ));
        }
        let partial = Partial::from_parts(count, count as f64, mean, scatter).leaving(residual_trace);
        Ok(Self { partial, trace })
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.partial.count()
    }

    /// Number, mean, scatter, and what features leave out of the trace.
    pub fn partial(&self) -> &Partial {
        &self.partial
    }

    /// Σ k(x,x).
    pub fn trace(&self) -> f64 {
        self.trace
    }

    /// Adds the rows of `other`.
    ///
    /// # Errors
    /// When the number of features differs.
    pub fn merge(&mut self, other: &FeatureSums) -> Result<()> {
        self.partial.merge(&other.partial)?;
        self.trace += other.trace;
        Ok(())
    }
}

/// What makes the same [`RowFeatures`] on another machine.
#[derive(Clone, Debug)]
pub enum FeatureParts {
    /// Landmarks and L.
    Landmarks {
        /// k, every parameter a number.
        kernel: KernelSpec,
        /// Z, one row each.
        landmarks: AnySamples,
        /// L with K_ZZ = LLᵀ.
        root: Matrix<f64>,
    },
    /// A map that kernel, number and seed give.
    Map {
        /// k, every parameter a number.
        kernel: KernelSpec,
        /// How features are made.
        kind: FeatureKind,
        /// Columns of a row.
        n_features: usize,
        /// Features.
        dimension: usize,
        /// Fixes the draws.
        seed: u64,
    },
}

/// Features as they are summed: of rows one by one, or by way of kernel values with the landmarks where that is safe and worth it.
#[derive(Clone, Debug)]
pub struct RowFeatures {
    features: Features,
    /// Whether sums are of kernel values.
    by_kernel: bool,
    seed: u64,
}

impl RowFeatures {
    /// For `n` rows in all.
    pub(crate) fn new(features: Features, n: usize) -> Self {
        let by_kernel = features.by_kernel_moments(n).is_some();
        Self { features, by_kernel, seed: 0 }
    }

    /// The seed that random features were drawn with.
    pub(crate) fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// What makes these features again, and whether sums go by kernel values.
    ///
    /// # Errors
    /// When the kernel is a function or a Gram matrix, which cannot be sent.
    pub fn parts(&self) -> Result<(FeatureParts, bool)> {
        let kernel = self.features.kernel().and_then(Kernel::spec).cloned().ok_or_else(cannot_be_sent)?;
        let parts = match &self.features {
            Features::Landmarks(map) => match map.against() {
                Against::Rows { landmarks, .. } => {
                    FeatureParts::Landmarks { kernel, landmarks: landmarks.clone(), root: map.root().clone() }
                }
                Against::Columns { .. } => return Err(cannot_be_sent()),
            },
            Features::Map(_, map) => FeatureParts::Map {
                kernel,
                kind: map.kind(),
                n_features: map.n_features(),
                dimension: map.dimension(),
                seed: self.seed,
            },
        };
        Ok((parts, self.by_kernel))
    }

    /// From what [`RowFeatures::parts`] gave.
    ///
    /// # Errors
    /// When the parts do not fit each other.
    pub fn from_parts(parts: FeatureParts, by_kernel: bool) -> Result<Self> {
        let (features, seed) = match parts {
            FeatureParts::Landmarks { kernel, landmarks, root } => {
                let m = landmarks.n_rows();
                if (root.n_rows(), root.n_cols()) != (m, m) {
                    return Err(Error::data(
                        format!("{m} landmarks with a triangle of {} × {}", root.n_rows(), root.n_cols()),
                        "there must be a row of it for each",
                        "Give what features were made of",
                    ));
                }
                let kernel = Kernel::new(&kernel, landmarks.n_cols())?;
                let against = Against::Rows { kernel, landmarks };
                (Features::Landmarks(LandmarkFeatures::with_root(against, root)), 0)
            }
            FeatureParts::Map { kernel, kind, n_features: d, dimension, seed } => {
                let map = match kind {
                    FeatureKind::Exact => {
                        FeatureMap::exact(&kernel, d, dimension).ok_or_else(cannot_be_sent)?
                    }
                    FeatureKind::Fourier => FeatureMap::fourier(&kernel, d, dimension, seed)?,
                    FeatureKind::TensorSketch => FeatureMap::tensor_sketch(&kernel, d, dimension, seed)?,
                };
                (Features::Map(Kernel::new(&kernel, d)?, map), seed)
            }
        };
        Ok(Self { features, by_kernel, seed })
    }

    /// Features of a row.
    pub fn dimension(&self) -> usize {
        self.features.dimension()
    }

    /// Columns that a row must have.
    pub fn n_cols(&self) -> usize {
        self.features.n_cols()
    }

    /// Sums of no rows.
    pub fn empty(&self) -> FeatureSums {
        FeatureSums::empty(self.dimension())
    }

    /// The features.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }

    /// Features of rows few enough to be held with them, the first of which is row `first_row` of all.
    pub(crate) fn chunk(&self, rows: AnyPoints<'_>, first_row: usize, watch: &Watch) -> Result<FeatureRows> {
        self.features.check_points(rows).map_err(|error| counted_from(error, first_row))?;
        self.features.rows(rows, first_row, watch)
    }

    /// Sums of rows few enough to be held with their features, the first of which is row `first_row` of all.
    pub(crate) fn chunk_sums(
        &self,
        rows: AnyPoints<'_>,
        first_row: usize,
        watch: &Watch,
    ) -> Result<FeatureSums> {
        self.features.sums_of(self.by_kernel, rows, first_row, watch)
    }

    /// Sums of some rows, the first of which is row `first_row` of all.
    ///
    /// Cost: n·m(2d + 2m) flops, half of the second part by way of kernel values; memory some thousand rows of features.
    ///
    /// # Errors
    /// Rows that the kernel cannot take or of other columns, values that are not finite, cancellation.
    pub fn sums<'a>(
        &self,
        rows: impl Into<AnyPoints<'a>>,
        first_row: usize,
        watch: &Watch,
    ) -> Result<FeatureSums> {
        let rows = rows.into();
        let mut sum = self.empty();
        self.each(rows, |piece, at| sum.merge(&self.chunk_sums(piece, first_row + at, watch)?))?;
        Ok(sum)
    }

    /// k(x,x) − ‖f(x)‖² of each row.
    ///
    /// # Errors
    /// As [`RowFeatures::sums`].
    pub fn left_out<'a>(&self, rows: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Vec<f64>> {
        let rows = rows.into();
        let mut left = Vec::with_capacity(rows.n_rows());
        self.each(rows, |piece, at| {
            self.features.check_points(piece)?;
            left.extend(self.features.rows(piece, at, watch)?.residuals);
            Ok(())
        })?;
        Ok(left)
    }

    /// The moments of features, once all rows are in the sums.
    pub(crate) fn finish(&self, sum: FeatureSums) -> FeatureSums {
        self.features.finish_sums(self.by_kernel, sum)
    }

    /// Pieces of rows whose features fit into the memory meant for them.
    fn each(
        &self,
        rows: AnyPoints<'_>,
        mut visit: impl FnMut(AnyPoints<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let (n, height) = (rows.n_rows(), (HELD / self.dimension().max(1)).max(FEWEST_ROWS));
        (0..n).step_by(height).try_for_each(|from| visit(rows.rows(from..(from + height).min(n)), from))
    }
}

impl Features {
    /// Sums of rows few enough to be held with their features, the first of which is row `first_row` of all.
    fn sums_of(
        &self,
        by_kernel: bool,
        rows: AnyPoints<'_>,
        first_row: usize,
        watch: &Watch,
    ) -> Result<FeatureSums> {
        self.check_points(rows).map_err(|error| counted_from(error, first_row))?;
        let (values, left, trace) = match self {
            Self::Landmarks(map) if by_kernel => {
                let (values, trace) = map.kernel_rows(rows, first_row, watch)?;
                (values, trace, trace)
            }
            _ => {
                let found = self.rows(rows, first_row, watch)?;
                (found.features, found.residuals.iter().sum(), found.trace)
            }
        };
        Ok(FeatureSums { partial: Partial::of_matrix(values, left), trace })
    }

    /// The moments of features, once all rows are in the sums.
    fn finish_sums(&self, by_kernel: bool, sum: FeatureSums) -> FeatureSums {
        match self {
            Self::Landmarks(map) if by_kernel => {
                FeatureSums { partial: map.moments_from_kernel(&sum.partial), ..sum }
            }
            _ => sum,
        }
    }
}

fn cannot_be_sent() -> Error {
    Error::kernel(
        "a kernel that is a function or a Gram matrix, or features without a formula",
        "rows that lie elsewhere are compared by a kernel that can be written down",
        "Write the kernel as text, such as rbf(gamma=0.1) or expr(...)",
    )
}
