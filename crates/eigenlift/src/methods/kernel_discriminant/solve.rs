//! Directions from moments: a problem as small as there are classes, for any number of κ.

use super::sums::ClassMoments;
use crate::eigen::rank_threshold;
use crate::error::{Error, Result};
use crate::linalg::{Onto, combine, inner, symmetric_eigen};
use crate::matrix::Matrix;

/// The covariance within classes in its own axes: S_W/n = VDVᵀ, and VᵀB.
pub(super) struct Within {
    /// D, largest first, never negative.
    values: Vec<f64>,
    /// V, all axes: those without variance within are the ones along which classes lie apart best.
    axes: Matrix<f64>,
    /// VᵀB, a column for each class.
    between: Matrix<f64>,
    /// Variances up to this are rounding.
    threshold: f64,
    mean: Vec<f64>,
    priors: Vec<f64>,
    /// As in [`ClassMoments`].
    scales: Vec<f64>,
}

/// Directions for one κ.
#[derive(Clone, Debug)]
pub(super) struct Discriminants {
    pub(super) kappa: f64,
    /// W, (C22), a column for each direction, largest ratio first.
    pub(super) directions: Matrix<f64>,
    /// Class means along the directions, a row for each class, (C23).
    pub(super) means: Matrix<f64>,
    /// θ: variance between classes over κ plus that within, along each direction.
    pub(super) ratios: Vec<f64>,
    pub(super) mean: Vec<f64>,
}

/// Directions in the axes of [`Within`], before they are turned back into features.
struct Small {
    weighted: Matrix<f64>,
    means: Matrix<f64>,
    ratios: Vec<f64>,
}

impl Within {
    /// Cost: 9m³ flops in one thread; all κ after that cost m²·C each.
    ///
    /// # Errors
    /// When class means coincide, or the eigenproblem fails, which takes entries of extreme size.
    pub(super) fn new(moments: &ClassMoments) -> Result<Self> {
        let (mut values, axes) = symmetric_eigen(&moments.within)?;
        let largest = values.first().copied().unwrap_or(0.0);
        let threshold = rank_threshold(values.len(), largest, moments.scale, f64::EPSILON / 2.0);
        values.iter_mut().for_each(|value| *value = value.max(0.0));
        let apart: f64 = moments.between.as_slice().iter().map(|b| b * b).sum();
        if apart <= (64.0 * f64::EPSILON).powi(2) * moments.scale {
            return Err(Error::no_variance(
                format!("class means whose variance is {apart:.1e}"),
                "they must differ beyond rounding",
                "Check that rows and classes belong together, or change the kernel",
            ));
        }
        let classes = moments.between.n_rows();
        let columns = Matrix::from_fn(moments.between.n_cols(), classes, |i, c| moments.between[(c, i)]);
        let between = inner(axes.view(), columns.view());
        let (mean, priors) = (moments.mean.clone(), moments.priors.clone());
        Ok(Self { values, axes, between, threshold, mean, priors, scales: moments.scales.clone() })
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    pub(super) fn priors(&self) -> &[f64] {
        &self.priors
    }

    /// 1/(d + κ) along each axis, (C21). For κ = 0 axes along which neither rows nor class means vary are left out.
    ///
    /// Numerics: for a κ below rounding, variances within are taken to be at least that of rounding.
    fn inverses(&self, kappa: f64) -> Result<Vec<f64>> {
        if kappa > 0.0 {
            let floor = if kappa > self.threshold { 0.0 } else { self.threshold };
            return Ok(self.values.iter().map(|value| 1.0 / (value.max(floor) + kappa)).collect());
        }
        let square = |i: usize| self.between.row(i).iter().map(|b| b * b).sum::<f64>();
        let flat = |i: &usize| self.values[*i] <= self.threshold;
        let infinite =
            (0..self.values.len()).filter(flat).filter(|i| square(*i) > 16.0 * self.threshold).count();
        if infinite > 0 {
            return Err(Error::setting(
                format!(
                    "a regularisation of 0 where classes lie apart along {infinite} direction(s) without variance within"
                ),
                "the ratio of variances between and within must be finite",
                "Give a regularisation above 0, or auto, which chooses it by cross-validation",
            ));
        }
        let inverse = |i: usize| if flat(&i) { 0.0 } else { 1.0 / self.values[i] };
        Ok((0..self.values.len()).map(inverse).collect())
    }

    /// BᵀA⁻¹B = UΘUᵀ with A = S_W/n + κI, (C22): W = A⁻¹BUΘ^(−½) has WᵀAW = I, and class means are Θ^½Uᵀ over √(n_c/n).
    fn small(&self, kappa: f64) -> Result<Small> {
        let inverses = self.inverses(kappa)?;
        let (m, classes) = (self.between.n_rows(), self.between.n_cols());
        let scaled = Matrix::from_fn(m, classes, |i, c| inverses[i] * self.between[(i, c)]);
        let (ratios, turns) = symmetric_eigen(&inner(self.between.view(), scaled.view()))?;
        let largest = ratios.first().copied().unwrap_or(0.0);
        let least = 64.0 * classes as f64 * f64::EPSILON * largest;
        let most = classes.saturating_sub(1).min(m);
        let rank = ratios.iter().take(most).take_while(|ratio| **ratio > least).count();
        if rank == 0 {
            return Err(Error::no_variance(
                "class means that coincide where the features vary",
                "they must differ beyond rounding",
                "Check that rows and classes belong together, or change the kernel",
            ));
        }
        let turns_scaled = Matrix::from_fn(classes, rank, |c, j| turns[(c, j)] / ratios[j].sqrt());
        let mut weighted = Matrix::zeros(m, rank);
        combine(weighted.view_mut(), Onto::Replace, 1.0, scaled.view(), turns_scaled.view());
        let means =
            Matrix::from_fn(classes, rank, |c, j| ratios[j].sqrt() * turns[(c, j)] / self.priors[c].sqrt());
        Ok(Small { weighted, means, ratios: ratios[..rank].to_vec() })
    }

    /// From directions in the axes to those over features.
    fn over_features(&self, weighted: &Matrix<f64>) -> Matrix<f64> {
        let mut directions = Matrix::zeros(self.axes.n_rows(), weighted.n_cols());
        combine(directions.view_mut(), Onto::Replace, 1.0, self.axes.view(), weighted.view());
        for (i, scale) in self.scales.iter().enumerate() {
            directions.view_mut().row_mut(i).iter_mut().for_each(|w| *w *= scale);
        }
        directions
    }

    /// Directions for one κ.
    ///
    /// # Errors
    /// κ = 0 where classes lie apart along a direction without variance within.
    pub(super) fn discriminants(&self, kappa: f64) -> Result<Discriminants> {
        let small = self.small(kappa)?;
        let directions = self.over_features(&small.weighted);
        Ok(Discriminants {
            kappa,
            directions,
            means: small.means,
            ratios: small.ratios,
            mean: self.mean.clone(),
        })
    }

    /// W of every κ side by side, classes − 1 columns each, and the class means along them; columns after the rank are zero.
    ///
    /// # Errors
    /// As [`Within::discriminants`].
    pub(super) fn all(&self, kappas: &[f64]) -> Result<(Matrix<f64>, Vec<Matrix<f64>>)> {
        let (m, classes) = (self.between.n_rows(), self.between.n_cols());
        let width = classes.saturating_sub(1);
        let mut weighted = Matrix::zeros(m, kappas.len() * width);
        let mut means = Vec::with_capacity(kappas.len());
        for (number, kappa) in kappas.iter().enumerate() {
            let small = self.small(*kappa)?;
            let rank = small.ratios.len();
            for i in 0..m {
                weighted.view_mut().row_mut(i)[number * width..][..rank]
                    .copy_from_slice(small.weighted.row(i));
            }
            means.push(Matrix::from_fn(
                classes,
                width,
                |c, j| if j < rank { small.means[(c, j)] } else { 0.0 },
            ));
        }
        let directions = self.over_features(&weighted);
        Ok((directions, means))
    }
}
