//! The model that kernel k-means leaves.

use super::reading::Reading;
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::Factor;
use crate::features::{FeatureMap, dot};
use crate::gram::Similarity;
use crate::linalg::{Onto, combine, shift_columns};
use crate::matrix::Matrix;
use crate::model::{Lift, Model, Projection};
use crate::progress::Watch;
use crate::rows::{Pass, in_memory};
use serde::{Deserialize, Serialize};

/// Rows that are compared with centres at a time.
const PIECE_ROWS: usize = 4096;

/// What was found beside the centres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) inertia: f64,
    pub(super) steps: usize,
    pub(super) converged: bool,
    pub(super) starts: usize,
    /// Principal components that rows were clustered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spectral: Option<usize>,
    /// Columns of the plane, fewer than 2 when features vary along fewer directions.
    pub(super) n_plane: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<f64>,
}

/// How squared distances come from the projection.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Measure {
    /// ‖y − c‖², with y the first columns of the projection: principal components, or features from a row of a Gram matrix.
    Coordinates {
        /// A row for each cluster.
        centres: Matrix<f64>,
    },
    /// ‖φ − m‖² − 2⟨f − m, c − m⟩ + ‖c − m‖², (C44), with m the mean. The projection has a column for each centre, ⟨f − m, c − m⟩, and
    /// one for the mean, ⟨f − m, m⟩.
    Products {
        /// ‖c − m‖² of each cluster.
        squares: Vec<f64>,
        /// ‖m‖².
        mean_square: f64,
    },
}

impl Measure {
    pub(super) fn n_clusters(&self) -> usize {
        match self {
            Self::Coordinates { centres } => centres.n_rows(),
            Self::Products { squares, .. } => squares.len(),
        }
    }
}

/// Measure and projection for centres over features, minus their mean; the columns of the plane start at the last number.
pub(super) fn by_features(
    factor: &Factor,
    centres: &Matrix<f64>,
    reading: &Reading,
    plane: &Matrix<f64>,
) -> (Measure, Projection, usize) {
    let (clusters, m) = (centres.n_rows(), centres.n_cols());
    let mean = reading.partial.mean();
    let columns = Matrix::from_fn(m, clusters + 1 + plane.n_cols(), |i, j| match j {
        j if j < clusters => centres[(j, i)],
        j if j == clusters => mean[i],
        j => plane[(i, j - clusters - 1)],
    });
    let projection = factor.projection(&columns, mean);
    if !matches!(projection.lift, Lift::Precomputed { .. }) {
        let squares = (0..clusters).map(|c| dot(centres.row(c), centres.row(c))).collect();
        let measure = Measure::Products { squares, mean_square: dot(mean, mean) };
        return (measure, with_signs(projection, clusters + 1), clusters + 1);
    }
    // A row of a Gram matrix does not hold k(x,x); its features have the length of what the landmarks see of it.
    let columns = Matrix::from_fn(m, m + plane.n_cols(), |i, j| match j {
        j if j < m => f64::from(u8::from(i == j)),
        j => plane[(i, j - m)],
    });
    let projection = with_signs(factor.projection(&columns, mean), m);
    (Measure::Coordinates { centres: centres.clone() }, projection, m)
}

/// Fixes the signs of the columns from `first` on.
pub(super) fn with_signs(mut projection: Projection, first: usize) -> Projection {
    let mut signs = projection.signs();
    signs.iter_mut().take(first).for_each(|sign| *sign = 1.0);
    projection.turn(&signs);
    projection
}

/// Rows of each cluster.
pub(super) fn sizes_of(labels: &[u32], clusters: usize) -> Vec<u64> {
    let mut sizes = vec![0; clusters];
    labels.iter().filter_map(|label| sizes.get_mut(*label as usize).map(|size| *size += 1)).count();
    sizes
}

/// Fitted kernel k-means.
pub type FittedKernelKMeans = Model<KernelKMeansBody>;

/// What a fit of kernel k-means leaves.
#[derive(Clone, Debug)]
pub struct KernelKMeansBody {
    pub(super) projection: Projection,
    pub(super) measure: Measure,
    /// Where the columns of the plane start.
    pub(super) plane_at: usize,
    pub(super) labels: Vec<u32>,
    pub(super) sizes: Vec<u64>,
    pub(super) facts: Facts,
}

impl FittedKernelKMeans {
    /// Clusters.
    pub fn n_clusters(&self) -> usize {
        self.measure.n_clusters()
    }

    /// The cluster of each row of the fit, from 0.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Rows of each cluster.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Sum of squared distances of the rows to their centres: in feature space, or in that of the principal components that rows were
    /// clustered by.
    pub fn inertia(&self) -> f64 {
        self.facts.inertia
    }

    /// Steps of the run that was kept.
    pub fn steps(&self) -> usize {
        self.facts.steps
    }

    /// Whether no row changed its cluster in the last step.
    pub fn converged(&self) -> bool {
        self.facts.converged
    }

    /// Starts of which the best was kept.
    pub fn starts(&self) -> usize {
        self.facts.starts
    }

    /// Kernel principal components that rows were clustered by, when not by all features.
    pub fn spectral(&self) -> Option<usize> {
        self.facts.spectral
    }

    /// What landmarks leave out of Σk(x,x), or the relative error of random features; `None` when features are exact.
    pub fn left_out(&self) -> Option<f64> {
        self.facts.left_out
    }

    /// Distances of rows to the centres in feature space, a column for each cluster, (C44).
    ///
    /// Cost: n·m(2d + 2·clusters) flops and the profile with m landmarks.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the kernel cannot take.
    pub fn distances<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.distances_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelKMeans::distances`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::distances`], and cancellation.
    pub fn distances_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        let mut out = Matrix::zeros(x.n_rows(), self.n_clusters());
        self.each_piece(engine, x, watch, |from, squares, lengths| {
            for (i, length) in lengths.iter().enumerate() {
                let mut into = out.view_mut();
                let places = into.row_mut(from + i).iter_mut().zip(squares.row(i));
                places.for_each(|(place, square)| *place = (length + square).max(0.0).sqrt());
            }
        })?;
        Ok(out)
    }

    /// The cluster of each row, from 0: that of the nearest centre.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::distances`].
    pub fn predict<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Vec<u32>> {
        self.predict_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelKMeans::predict`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::distances_on`].
    pub fn predict_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Vec<u32>> {
        let mut labels = Vec::with_capacity(x.n_rows());
        self.each_piece(engine, x, watch, |_, squares, lengths| {
            labels.extend((0..lengths.len()).map(|i| least(squares.row(i), &self.sizes)));
        })?;
        Ok(labels)
    }

    /// Places of rows along the first two kernel principal components of the fit, for pictures; 0 along those that the features
    /// do not have.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::distances`].
    pub fn plane<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.plane_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelKMeans::plane`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelKMeans::distances_on`].
    pub fn plane_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        let columns = self.plane_at..self.plane_at + self.facts.n_plane;
        let projection = Projection {
            lift: self.projection.lift.clone(),
            coefficients: self.projection.coefficients.view().columns(columns.clone()).to_matrix(),
            offset: self.projection.offset[columns].to_vec(),
        };
        let found = projection.project(engine, x, watch)?;
        Ok(Matrix::from_fn(found.n_rows(), 2, |i, j| if j < found.n_cols() { found[(i, j)] } else { 0.0 }))
    }

    /// Visits the rows some at a time: place of the first, for each row and centre ‖f − c‖² minus a length of the row, and these
    /// lengths.
    fn each_piece(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
        mut visit: impl FnMut(usize, &Matrix<f64>, &[f64]),
    ) -> Result<()> {
        let n = x.n_rows();
        if x.n_cols() != self.n_features() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the model was fitted on {}", self.n_features()),
                "Give the same columns, in the same order, as in fit",
            ));
        }
        for from in (0..n).step_by(PIECE_ROWS) {
            watch.step("distances to centres", from, n)?;
            let piece = x.rows(from..(from + PIECE_ROWS).min(n));
            let (squares, lengths) = self.measured(engine, piece, &watch.silent())?;
            for (i, length) in lengths.iter().enumerate() {
                if !squares.row(i).iter().all(|square| (square + length).is_finite()) {
                    return Err(Error::data(
                        format!("row {} has distances that are not finite", from + i + 1),
                        "kernel values must stay within double precision",
                        "Look for entries of extreme size in that row",
                    ));
                }
            }
            visit(from, &squares, &lengths);
        }
        Ok(())
    }

    fn measured(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<(Matrix<f64>, Vec<f64>)> {
        match (&self.measure, &self.projection.lift) {
            (Measure::Coordinates { centres }, _) => {
                let places = self.projection.project(engine, x, watch)?;
                let square = |i: usize, c: usize| -> f64 {
                    places.row(i).iter().zip(centres.row(c)).map(|(y, c)| (y - c) * (y - c)).sum()
                };
                Ok((Matrix::from_fn(x.n_rows(), centres.n_rows(), square), vec![0.0; x.n_rows()]))
            }
            (Measure::Products { squares, .. }, Lift::Features { kernel, map }) => {
                kernel.check_points(x)?;
                let (products, lengths) = engine.complete(|| self.by_features(map, x))?;
                Ok((gaps(&products, squares), lengths))
            }
            (Measure::Products { squares, mean_square }, lift) => {
                let products = self.projection.project(engine, x, watch)?;
                let mut lengths = match lift {
                    Lift::Kernel { kernel, .. } => {
                        let similarity = Similarity::Kernel(kernel.clone());
                        in_memory(x, engine).diagonal(&similarity, &Pass::new(watch))?
                    }
                    _ => vec![0.0; x.n_rows()],
                };
                let clusters = squares.len();
                for (i, length) in lengths.iter_mut().enumerate() {
                    *length -= 2.0 * products[(i, clusters)] + mean_square;
                }
                Ok((gaps(&products, squares), lengths))
            }
        }
    }

    /// ⟨f − m, c − m⟩ for each centre and ‖f − m‖², from features that are written out.
    fn by_features(&self, map: &FeatureMap, x: AnyPoints<'_>) -> Result<(Matrix<f64>, Vec<f64>)> {
        let clusters = self.n_clusters();
        let coefficients = self.projection.coefficients.view();
        let mut features = map.apply(x)?;
        let shift: Vec<f64> = (0..features.n_cols()).map(|j| -coefficients.row(j)[clusters]).collect();
        shift_columns(features.view_mut(), &shift);
        let mut products = Matrix::zeros(x.n_rows(), clusters);
        combine(
            products.view_mut(),
            Onto::Replace,
            1.0,
            features.view(),
            coefficients.first_columns(clusters),
        );
        let lengths = (0..x.n_rows()).map(|i| dot(features.row(i), features.row(i))).collect();
        Ok((products, lengths))
    }
}

/// ‖c − m‖² − 2⟨f − m, c − m⟩.
fn gaps(products: &Matrix<f64>, squares: &[f64]) -> Matrix<f64> {
    Matrix::from_fn(products.n_rows(), squares.len(), |i, c| squares[c] - 2.0 * products[(i, c)])
}

/// The place of the least, the first of equals, among clusters that have rows: an empty one has the centre of another.
fn least(values: &[f64], sizes: &[u64]) -> u32 {
    let mut best: Option<usize> = None;
    for (at, value) in values.iter().enumerate().filter(|(at, _)| sizes.get(*at) != Some(&0)) {
        if best.is_none_or(|best| *value < values[best]) {
            best = Some(at);
        }
    }
    best.unwrap_or(0) as u32
}
