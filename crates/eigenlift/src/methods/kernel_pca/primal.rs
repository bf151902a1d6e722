//! The primal recipe: moments of features, read a piece at a time, and their leading axes.

use super::dual::{Hidden, no_variance_action};
use crate::eigen::{Certificate, EigenPairs, SolveStats, Whole, leading_eigenpairs, rank_threshold};
use crate::error::{Error, Result};
use crate::features::{Against, FeatureSums, Features, dot};
use crate::gram::check_magnitude;
use crate::linalg::{Onto, combine, inner};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Projection};
use crate::progress::Watch;

impl Features {
    /// Eigenvalues of M₂ up to this are rounding. Features that are written out are centred before they are squared, so that a mean
    /// far larger than the spread costs its rounding, and not that of its square.
    fn null(&self, sum: &FeatureSums, largest: f64) -> f64 {
        let threshold = |trace: f64| rank_threshold(self.dimension(), largest, trace, f64::EPSILON / 2.0);
        match self {
            Self::Map(..) => threshold(sum.partial.trace()) + feature_rounding(sum).powi(2),
            Self::Landmarks(_) => threshold(sum.trace),
        }
    }

    /// Bound on what rounding does to eigenvalues: that of sums over features, and that of kernel values on the way to
    /// features, with κ the mean of k(x,x): ‖δF‖ ≤ ‖L⁻¹‖·32u·κ√(nm).
    fn rounding(&self, sum: &FeatureSums, largest: f64) -> f64 {
        let Self::Landmarks(map) = self else {
            let error = feature_rounding(sum);
            let sums = 32.0 * f64::EPSILON * sum.partial.trace();
            return sums + (2.0 * largest.max(0.0).sqrt() + error) * error;
        };
        let sums = 32.0 * f64::EPSILON * (sum.trace + sum.partial.trace());
        let (n, m) = (sum.partial.count() as f64, map.dimension() as f64);
        let mean = sum.trace / n.max(1.0);
        let grown = map.amplification();
        let features = grown.sqrt() * 32.0 * map.unit_roundoff() * mean * (n * m).sqrt();
        let moments = if self.by_kernel_moments(n as usize).is_some() {
            4.0 * f64::EPSILON * grown * n * m * mean * mean
        } else {
            0.0
        };
        sums + 2.0 * largest.max(0.0).sqrt() * features + features * features + moments
    }

    /// The mean of the features as a combination of the coordinates of the lift.
    fn mean(&self, mean: &[f64]) -> FeatureMean {
        let over = match self {
            Self::Landmarks(map) => match map.against() {
                Against::Rows { .. } => {
                    map.over_landmarks(&Matrix::from_fn(mean.len(), 1, |i, _| mean[i])).into_vec()
                }
                Against::Columns { chosen, n_samples } => {
                    let over = map.over_landmarks(&Matrix::from_fn(mean.len(), 1, |i, _| mean[i]));
                    let mut all = vec![0.0; *n_samples];
                    chosen.iter().zip(over.as_slice()).for_each(|(at, value)| all[*at] = *value);
                    all
                }
            },
            Self::Map(..) => mean.to_vec(),
        };
        FeatureMean { coefficients: Some(over), square: dot(mean, mean) }
    }

    /// As [`Features::affine`], signs fixed on the coefficients.
    fn projection(&self, axes: &Matrix<f64>, mean: &[f64]) -> Projection {
        let mut projection = self.affine(axes, mean);
        projection.turn(&projection.signs());
        projection
    }
}

/// Bound on what rounding of features and of their means does to singular values of the centred features: 32u√Σ‖f‖².
fn feature_rounding(sum: &FeatureSums) -> f64 {
    16.0 * f64::EPSILON * sum.trace.max(0.0).sqrt()
}

/// Leading axes of features.
#[derive(Clone, Debug)]
pub(crate) struct Axes {
    /// Eigenvalues of M₂, largest first: nλ̂.
    pub(crate) values: Vec<f64>,
    /// The eigenvalue after the last, when it is known.
    pub(crate) next: Option<f64>,
    /// Bound on the rounding error of the eigenvalues.
    pub(crate) rounding: f64,
    /// ‖K_c u − θu‖ of the eigenvector over samples that belongs to each axis.
    residuals: Vec<f64>,
    /// ‖M₂‖²_F.
    squared_norm: f64,
    /// All eigenvalues, when they were computed.
    all: Option<Vec<f64>>,
    pub(crate) projection: Projection,
    /// The mean of the features over the lift.
    pub(crate) mean: FeatureMean,
}

impl Axes {
    /// What follows when the features give the kernel exactly, and tr(K_c) is `trace`.
    pub(crate) fn certificate(&self, trace: f64) -> Certificate {
        let pairs = EigenPairs {
            values: self.values.clone(),
            vectors: Matrix::zeros(0, self.values.len()),
            residuals: self.residuals.clone(),
            next: self.next,
            all: self.all.clone(),
            basis: None,
            stats: SolveStats::default(),
        };
        let whole = Whole {
            trace,
            trace_error: self.rounding,
            squared_norm: Some(self.squared_norm),
            valid: true,
            at_most: None,
        };
        Certificate::new(&pairs, self.rounding).bounded_by(&pairs, whole)
    }
}

/// ‖K_c u − λu‖ = ‖F_c(M₂w − λw)‖/√λ for u = F_c·w/√λ: the residual over samples from moments alone, (K38).
fn residuals_over_samples(scatter: &Matrix<f64>, axes: &Matrix<f64>, values: &[f64]) -> Vec<f64> {
    let mut rest = Matrix::zeros(axes.n_rows(), axes.n_cols());
    combine(rest.view_mut(), Onto::Replace, 1.0, scatter.view(), axes.view());
    for i in 0..axes.n_rows() {
        let mut rows = rest.view_mut();
        rows.row_mut(i).iter_mut().zip(axes.row(i)).zip(values).for_each(|((r, w), v)| *r -= v * w);
    }
    let mut product = Matrix::zeros(axes.n_rows(), axes.n_cols());
    combine(product.view_mut(), Onto::Replace, 1.0, scatter.view(), rest.view());
    let squares = inner(rest.view(), product.view());
    values.iter().enumerate().map(|(j, v)| (squares[(j, j)].max(0.0) / v).sqrt()).collect()
}

/// Eigenvectors of the scatter matrix M₂, and the projection on them, (K34).
///
/// Cost: 9m³ flops for few features, about 100·m²k for many.
pub(crate) fn axes(features: &Features, sum: &FeatureSums, k: usize, watch: &Watch) -> Result<Axes> {
    let partial = &sum.partial;
    if partial.count() < 2 {
        return Err(Error::data(
            format!("{} row(s)", partial.count()),
            "centring leaves nothing of fewer than 2",
            "Give more rows",
        ));
    }
    check_magnitude(sum.trace / partial.count() as f64, partial.count() as usize)?;
    let (pairs, norm) = leading_eigenpairs(partial.scatter(), k, watch)?;
    let largest = pairs.values.first().copied().unwrap_or(0.0);
    let rounding = features.rounding(sum, largest);
    let threshold = features.null(sum, largest);
    let rank = pairs.values.iter().take_while(|v| **v > threshold).count();
    if rank == 0 {
        return Err(Error::no_variance(
            format!("features whose largest eigenvalue is {largest:.1e}"),
            format!("at least one must exceed rounding ({threshold:.1e})"),
            no_variance_action(Hidden::of(sum.trace, partial.trace() + partial.residual_trace())),
        ));
    }
    let next = pairs.values.get(rank).copied().or(pairs.next);
    let axes = pairs.vectors.view().first_columns(rank).to_matrix();
    let values = pairs.values[..rank].to_vec();
    let residuals = residuals_over_samples(partial.scatter(), &axes, &values);
    let projection = features.projection(&axes, partial.mean());
    let squared_norm = norm * norm;
    let mean = features.mean(partial.mean());
    Ok(Axes { values, next, rounding, residuals, squared_norm, all: pairs.all, projection, mean })
}
