//! T² and the squared prediction error as functions of a row, with their gradients, (C58).

use super::Statistic;
use super::measure::{centred_features, with_mean};
use crate::data::{AnyPoints, AnySamples, Points};
use crate::error::{Error, Result};
use crate::features::{FeatureMap, dot};
use crate::kernel::{Kernel, Workspace};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::model::{FeatureMean, Lift, Projection};
use std::ops::Range;

/// Samples that rows are compared with at a time.
const BLOCK: usize = 512;
/// Share of the variance, or of T², below which a statistic is rounding.
const ROUNDING: f64 = 1e-12;

/// A statistic over rows of input columns.
pub(super) struct Surface<'a> {
    statistic: Statistic,
    mean: &'a FeatureMean,
    variances: Vec<f64>,
    over: Over<'a>,
}

enum Over<'a> {
    /// Components, and the mean behind them, over samples or landmarks; c of the components.
    Samples { kernel: &'a Kernel, samples: &'a AnySamples, both: Matrix<f64>, offset: &'a [f64] },
    /// Orthonormal axes over features.
    Features { map: &'a FeatureMap, axes: &'a Matrix<f64> },
}

/// Values at some rows, and gradients.
pub(super) struct Evaluated {
    pub(super) values: Vec<f64>,
    pub(super) gradients: Matrix<f64>,
}

impl<'a> Surface<'a> {
    /// # Errors
    /// When the model never saw input columns.
    pub(super) fn new(
        projection: &'a Projection,
        mean: &'a FeatureMean,
        variances: Vec<f64>,
        statistic: Statistic,
    ) -> Result<Self> {
        let over = match &projection.lift {
            Lift::Kernel { kernel, samples } => Over::Samples {
                kernel,
                samples,
                both: with_mean(projection, mean),
                offset: &projection.offset,
            },
            Lift::Features { map, .. } => Over::Features { map, axes: &projection.coefficients },
            Lift::Precomputed { .. } | Lift::Rows { .. } | Lift::Manifold(_) => {
                return Err(Error::model(
                    "a model of a precomputed Gram matrix",
                    "contributions belong to input columns, which it has never seen",
                    "Fit the rows with a kernel",
                ));
            }
        };
        Ok(Self { statistic, mean, variances, over })
    }

    /// Cost: for each row n(4d + 4k) flops and 2n kernel values, n samples or landmarks.
    pub(super) fn evaluate(&self, rows: &Matrix<f64>) -> Result<Evaluated> {
        match &self.over {
            Over::Samples { kernel, samples, both, offset } => {
                Ok(self.by_samples((kernel, samples), (both, offset), rows))
            }
            Over::Features { map, axes } => self.by_features(map, axes, rows),
        }
    }

    /// What is below this is rounding.
    pub(super) fn rounding(&self) -> f64 {
        match self.statistic {
            Statistic::TSquared => ROUNDING,
            Statistic::Spe => (ROUNDING * self.variances.iter().sum::<f64>()).max(f64::MIN_POSITIVE),
        }
    }

    /// What the statistic is at these scores, and its derivative by each.
    fn at_scores(&self, y: &[f64]) -> (f64, Vec<f64>) {
        match self.statistic {
            Statistic::TSquared => {
                let value = y.iter().zip(&self.variances).map(|(y, v)| y * y / v).sum();
                (value, y.iter().zip(&self.variances).map(|(y, v)| 2.0 * y / v).collect())
            }
            Statistic::Spe => (-dot(y, y), y.iter().map(|y| -2.0 * y).collect()),
        }
    }

    fn by_samples(
        &self,
        (kernel, samples): (&Kernel, &AnySamples),
        (both, offset): (&Matrix<f64>, &[f64]),
        rows: &Matrix<f64>,
    ) -> Evaluated {
        let (n, k) = (rows.n_rows(), offset.len());
        let mut work = Workspace::default();
        let mut products = Matrix::zeros(n, k + 1);
        each_block(samples, |range, x| {
            let mut tile = Matrix::zeros(n, range.len());
            kernel.tile(Points::Dense(rows.view()), Points::Dense(x), tile.as_mut_slice(), &mut work);
            let (tile, both) = (Factor::Plain(tile.view()), Factor::Plain(both.view().rows(range)));
            gemm(products.view_mut(), Onto::Add, 1.0, tile, both);
        });
        let mut values = vec![0.0; n];
        if self.statistic == Statistic::Spe {
            kernel.diagonal(Points::Dense(rows.view()), &mut values);
        }
        let mut gradients = Matrix::zeros(n, rows.n_cols());
        let mut slopes = Matrix::zeros(n, k + 1);
        for (i, value) in values.iter_mut().enumerate() {
            let (along, y) = products.row(i).split_last().map_or((0.0, &[][..]), |(along, y)| (*along, y));
            let y: Vec<f64> = y.iter().zip(offset).map(|(p, c)| p - c).collect();
            let (held, by_score) = self.at_scores(&y);
            *value += held;
            slopes.view_mut().row_mut(i)[..k].copy_from_slice(&by_score);
            if self.statistic == Statistic::Spe {
                *value += self.mean.square - 2.0 * along;
                slopes.view_mut().row_mut(i)[k] = -2.0;
                let own = kernel.diagonal_gradient(rows.row(i), &mut work);
                gradients.view_mut().row_mut(i).copy_from_slice(&own);
            }
        }
        each_block(samples, |range, x| {
            let mut weights = Matrix::zeros(n, range.len());
            let both = Factor::Transposed(both.view().rows(range));
            gemm(weights.view_mut(), Onto::Replace, 1.0, Factor::Plain(slopes.view()), both);
            kernel.pull_back(rows.view(), x, weights.view(), &mut gradients, &mut work);
        });
        Evaluated { values, gradients }
    }

    fn by_features(&self, map: &FeatureMap, axes: &Matrix<f64>, rows: &Matrix<f64>) -> Result<Evaluated> {
        let (n, k) = (rows.n_rows(), axes.n_cols());
        let features = map.apply(rows.into())?;
        let mut rest = centred_features(map, self.mean, rows.into())?;
        let mut scores = Matrix::zeros(n, k);
        let (from, onto) = (Factor::Plain(rest.view()), Factor::Plain(axes.view()));
        gemm(scores.view_mut(), Onto::Replace, 1.0, from, onto);
        let mut slopes = Matrix::zeros(n, k);
        let mut values = vec![0.0; n];
        for (i, value) in values.iter_mut().enumerate() {
            let (at, by_score) = self.at_scores(scores.row(i));
            *value = at;
            slopes.view_mut().row_mut(i).copy_from_slice(&by_score);
        }
        let back = Factor::Transposed(axes.view());
        match self.statistic {
            Statistic::TSquared => {
                gemm(rest.view_mut(), Onto::Replace, 1.0, Factor::Plain(slopes.view()), back);
            }
            Statistic::Spe => {
                gemm(rest.view_mut(), Onto::Add, -1.0, Factor::Plain(scores.view()), back);
                values.iter_mut().enumerate().for_each(|(i, value)| *value = dot(rest.row(i), rest.row(i)));
                rest.as_mut_slice().iter_mut().for_each(|r| *r *= 2.0);
            }
        }
        let mut gradients = Matrix::zeros(n, rows.n_cols());
        for i in 0..n {
            let slope = map.pull_back(rows.row(i), features.row(i), rest.row(i));
            gradients.view_mut().row_mut(i).copy_from_slice(&slope);
        }
        Ok(Evaluated { values, gradients })
    }
}

/// Visits samples as dense doubles, some at a time; they are copied only when they are something else.
pub(super) fn each_block(samples: &AnySamples, mut visit: impl FnMut(Range<usize>, MatRef<'_, f64>)) {
    let n = samples.n_rows();
    for from in (0..n).step_by(BLOCK) {
        let range = from..(from + BLOCK).min(n);
        match samples.points().rows(range.clone()) {
            AnyPoints::F64(Points::Dense(view)) => visit(range, view),
            other => visit(range, other.to_dense::<f64>().view()),
        }
    }
}
