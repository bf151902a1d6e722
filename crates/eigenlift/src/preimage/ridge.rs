//! Kernel ridge regression from scores to rows, docs/theory (K55).

use super::anchors::Anchors;
use crate::data::Points;
use crate::error::Result;
use crate::graph::Space;
use crate::kernel::{Kernel, KernelSpec, Param, Width, gaussian_rate};
use crate::linalg::{Onto, column_means, combine, inner, shift_columns, symmetric_eigen};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};

/// Rows that the regression learns from at most.
const MOST_ROWS: usize = 2000;
/// Centres of the regression at most.
const MOST_CENTRES: usize = 300;
/// Bandwidths tried, as multiples of that by the median distance between scores.
const WIDTHS: [f64; 5] = [0.015625, 0.0625, 0.25, 1.0, 4.0];
/// Ridges tried, as shares of the mean variance of the features: 10⁻¹⁰ to 1.
const RIDGES: std::ops::RangeInclusive<i32> = -10..=0;

/// Eigenvalues of the kernel between centres below this share of the largest are left out.
const FAINT: f64 = 1e-12;

/// f(z) = Λ^(−1/2)Qᵀk(z) with k(z) the kernel against centres, whose Gram matrix is QΛQᵀ.
#[derive(Clone, Debug)]
struct Features {
    kernel: Kernel,
    centres: Matrix<f64>,
    map: Matrix<f64>,
}

impl Features {
    fn new(kernel: Kernel, centres: &Matrix<f64>) -> Result<Self> {
        let between = kernel.matrix(Points::Dense(centres.view()), Points::Dense(centres.view()));
        let (values, vectors) = symmetric_eigen(&between)?;
        let floor = FAINT * values.first().copied().unwrap_or(0.0);
        let kept = values.iter().take_while(|value| **value > floor).count();
        let map = Matrix::from_fn(centres.n_rows(), kept, |i, j| vectors[(i, j)] / values[j].sqrt());
        Ok(Self { kernel, centres: centres.clone(), map })
    }

    fn of(&self, scores: &Matrix<f64>) -> Matrix<f64> {
        let values = self.kernel.matrix(Points::Dense(scores.view()), Points::Dense(self.centres.view()));
        let mut out = Matrix::zeros(scores.n_rows(), self.map.n_cols());
        combine(out.view_mut(), Onto::Replace, 1.0, values.view(), self.map.view());
        out
    }
}

/// x̂(z) = mean x + (f(z) − mean f)ᵀB with features f of an rbf kernel on scores.
#[derive(Clone, Debug)]
pub(super) struct Ridge {
    features: Features,
    coefficients: Matrix<f64>,
    feature_means: Vec<f64>,
    row_means: Vec<f64>,
}

/// A fit and its generalised cross-validation.
struct Candidate {
    ridge: Ridge,
    score: f64,
}

impl Ridge {
    /// Learns from the anchors; bandwidth and ridge have the least generalised cross-validation.
    pub(super) fn fit(anchors: &Anchors<'_>, seed: u64, watch: &Watch) -> Result<Self> {
        let Space::Rows { samples: scores, .. } = &anchors.space else {
            return Err(super::way_back::no_rows("the ridge learns from rows and their scores"));
        };
        let mut stream = Stream::new(seed, Purpose::RidgeRows);
        let rows = stream.rows(scores.n_rows(), MOST_ROWS);
        let which: Vec<u32> = rows.iter().map(|i| *i as u32).collect();
        let (z, mut x) = (scores.gather(&rows), anchors.rows(&which));
        let learned: Matrix<f64> = z.points().to_dense();
        let row_means = column_means(x.view());
        let shift: Vec<f64> = row_means.iter().map(|m| -m).collect();
        shift_columns(x.view_mut(), &shift);
        let centres: Matrix<f64> = z.gather(&stream.rows(rows.len(), MOST_CENTRES)).points().to_dense();
        let base = Kernel::resolve(&KernelSpec::default(), z.points().into(), seed)?;
        let rate = match &base {
            KernelSpec::Rbf(width) => gaussian_rate(*width)?,
            _ => 1.0,
        };
        let mut best: Option<Candidate> = None;
        for (done, width) in WIDTHS.iter().enumerate() {
            watch.step("learning the way back", done, WIDTHS.len())?;
            let spec = KernelSpec::Rbf(Width::Gamma(Param::Value(rate * width)));
            let kernel = Kernel::new(&spec, z.n_cols())?;
            let found = candidate(Features::new(kernel, &centres)?, &learned, (&x, &row_means))?;
            if best.as_ref().is_none_or(|best| found.score < best.score) {
                best = Some(found);
            }
        }
        best.map(|best| best.ridge)
            .ok_or_else(|| super::way_back::no_rows("the ridge learns from rows and their scores"))
    }

    /// Rows for scores.
    pub(super) fn rows(&self, scores: &Matrix<f64>) -> Matrix<f64> {
        let mut features = self.features.of(scores);
        let shift: Vec<f64> = self.feature_means.iter().map(|m| -m).collect();
        shift_columns(features.view_mut(), &shift);
        let mut out = Matrix::zeros(scores.n_rows(), self.row_means.len());
        combine(out.view_mut(), Onto::Replace, 1.0, features.view(), self.coefficients.view());
        shift_columns(out.view_mut(), &self.row_means);
        out
    }
}

/// The best ridge for one bandwidth: with FᵀF = VSVᵀ, GCV(α) = n·RSS(α)/(n − 1 − Σs/(s + α))².
fn candidate(
    features: Features,
    z: &Matrix<f64>,
    (x, row_means): (&Matrix<f64>, &[f64]),
) -> Result<Candidate> {
    let mut f = features.of(z);
    let feature_means = column_means(f.view());
    let shift: Vec<f64> = feature_means.iter().map(|m| -m).collect();
    shift_columns(f.view_mut(), &shift);
    let (n, m) = (f.n_rows() as f64, f.n_cols());
    let (values, vectors) = symmetric_eigen(&inner(f.view(), f.view()))?;
    let along = inner(vectors.view(), inner(f.view(), x.view()).view());
    let power: Vec<f64> = (0..m).map(|i| along.row(i).iter().map(|v| v * v).sum()).collect();
    let whole: f64 = x.as_slice().iter().map(|v| v * v).sum();
    let mean_value = values.iter().sum::<f64>().max(f64::MIN_POSITIVE) / m as f64;
    let gcv = |alpha: f64| {
        let (mut left, mut free) = (whole, n - 1.0);
        for (s, p) in values.iter().map(|s| s.max(0.0)).zip(&power) {
            left -= p * (2.0 / (s + alpha) - s / (s + alpha).powi(2));
            free -= s / (s + alpha);
        }
        if free > 0.0 { n * left.max(0.0) / (free * free) } else { f64::INFINITY }
    };
    let scored = RIDGES.map(|exponent| {
        let alpha = mean_value * 10f64.powi(exponent);
        (gcv(alpha), alpha)
    });
    let (score, alpha) =
        scored.fold((f64::INFINITY, mean_value), |best, next| if next.0 < best.0 { next } else { best });
    let shrunk = Matrix::from_fn(m, x.n_cols(), |i, j| along[(i, j)] / (values[i].max(0.0) + alpha));
    let mut coefficients = Matrix::zeros(m, x.n_cols());
    combine(coefficients.view_mut(), Onto::Replace, 1.0, vectors.view(), shrunk.view());
    let ridge = Ridge { features, coefficients, feature_means, row_means: row_means.to_vec() };
    Ok(Candidate { ridge, score })
}
