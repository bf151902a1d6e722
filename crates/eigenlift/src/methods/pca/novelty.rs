//! Novelty of principal components.

use super::FittedPca;
use crate::data::{AnyPoints, CentredRows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::linalg::{Onto, combine};
use crate::matrix::Matrix;
use crate::monitoring::{
    Contributions, LimitRule, Limits, Novelty, Reference, ScoreMoments, Statistic, check_alpha, of_each,
    spe_limit_of_spectrum, t_squared_limit,
};
use crate::progress::Watch;

impl FittedPca {
    /// T² and squared prediction error of rows, (P27).
    ///
    /// # Errors
    /// As [`FittedPca::transform`].
    pub fn novelty<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Novelty> {
        self.novelty_watched(x, &Watch::default())
    }

    /// As [`FittedPca::novelty`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedPca::novelty`], and cancellation.
    pub fn novelty_watched<'a>(&self, x: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Novelty> {
        let x = x.into();
        let scores = self.transform_watched(x, watch)?;
        let spe = self.reconstruction_from(x, &scores)?.per_row;
        let moments = ScoreMoments::of(&scores, &self.variances());
        Ok(Novelty { t_squared: self.t_squared(&scores)?, spe, scores: moments })
    }

    /// Parametric limits from the spectrum alone, for Gaussian data: the F distribution for T², (C55), and a χ² distribution for the squared
    /// prediction error, with the moments that new samples from a normal distribution give it, (C65) and (C66).
    ///
    /// # Errors
    /// When α does not lie between 0 and 1, there are no more samples than components, or not all variances are known.
    pub fn limits(&self, alpha: f64) -> Result<Limits> {
        check_alpha(alpha)?;
        if !self.is_whole() {
            return Err(Error::model(
                "a model that does not know the variances it leaves out",
                "the limit of the squared prediction error is made of them",
                "Give reference rows, or fit by the exact route",
            ));
        }
        let (n, k) = (self.n_samples(), self.n_components());
        let spectrum = self.spectrum();
        // Nothing is left out: what there is of an error is rounding.
        let all = spectrum.len() <= k;
        let each = if all { alpha } else { of_each(alpha) };
        Ok(Limits {
            alpha,
            rule: LimitRule::Parametric,
            t_squared: t_squared_limit(n, k, each)?,
            spe: (!all).then(|| spe_limit_of_spectrum((&spectrum, k), n, each)),
            t_squared_share: None,
            spe_share: None,
            share: None,
            rows: n,
            in_sample: false,
            cross_validated: false,
            warnings: vec![format!(
                "the limits assume Gaussian data, which the spectrum alone cannot confirm: otherwise the false-alarm rate will differ \
                 from {alpha}; give reference rows for limits that assume nothing"
            )],
        })
    }

    /// Limits from reference rows, which are best rows that the model was not fitted on.
    ///
    /// # Errors
    /// When there are no rows, or α does not lie between 0 and 1.
    pub fn limits_from(&self, rows: &Novelty, alpha: f64, rule: LimitRule) -> Result<Limits> {
        let (shape, reference) = ((self.n_samples(), self.n_components()), Reference::of(rows)?);
        if self.is_whole() && self.spectrum().len() <= self.n_components() {
            return Limits::of(&reference.without_spe(), shape, alpha, rule);
        }
        Limits::of(&reference, shape, alpha, rule)
    }

    /// Contributions of input columns to a statistic of rows, counted from the mean row, in closed form, (C59).
    ///
    /// # Errors
    /// As [`FittedPca::transform`].
    pub fn contributions<'a>(
        &self,
        x: impl Into<AnyPoints<'a>>,
        statistic: Statistic,
    ) -> Result<Contributions> {
        self.contributions_on(&*self.engine, x.into(), statistic, &Watch::default())
    }

    /// As [`FittedPca::contributions`], on an engine, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedPca::contributions`], and cancellation.
    pub fn contributions_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        statistic: Statistic,
        watch: &Watch,
    ) -> Result<Contributions> {
        let mut scores = self.projection().project(engine, x, watch)?;
        let (n, d) = (x.n_rows(), self.n_features());
        let mut rows = CentredRows::new(x, self.mean()).tile(0..n, 0..d);
        if let Some(scale) = self.scale() {
            for i in 0..n {
                rows.view_mut().row_mut(i).iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
            }
        }
        let mut slopes = Matrix::zeros(n, d);
        let axes = self.components();
        engine.run(&mut || match statistic {
            Statistic::TSquared => {
                let inverse: Vec<f64> = self.variances().iter().map(|v| 1.0 / v).collect();
                crate::linalg::scale_columns(scores.view_mut(), &inverse);
                combine(slopes.view_mut(), Onto::Replace, 1.0, scores.view(), axes.view());
            }
            Statistic::Spe => {
                slopes.view_mut().copy_from(rows.view());
                combine(slopes.view_mut(), Onto::Add, -1.0, scores.view(), axes.view());
            }
        });
        let values = Matrix::from_fn(n, d, |i, j| rows[(i, j)] * slopes[(i, j)]);
        let to = (0..n).map(|i| values.row(i).iter().sum()).collect();
        let baselines = Matrix::from_fn(n, d, |_, j| self.mean()[j]);
        Ok(Contributions { values, baselines, from: vec![0.0; n], to, defect: 0.0 })
    }
}
