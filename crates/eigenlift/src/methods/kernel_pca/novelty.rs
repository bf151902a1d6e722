//! How unusual rows are to a kernel PCA, and which input columns make them so.

use super::FittedKernelPca;
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Lift};
use crate::monitoring::{
    Baseline, Contributions, Explained, FitRows, LimitRule, Limits, Novelty, Reference, ScoreMoments,
    Statistic, check_alpha, contributions, measure, off_components,
};
use crate::progress::Watch;

/// A limit of the squared prediction error below this share of the variance is rounding.
const NOTHING_LEFT: f64 = 1e-10;

impl FittedKernelPca {
    /// T² and squared prediction error of rows, (C50), (C51).
    ///
    /// Cost: as [`FittedKernelPca::transform`] with one component more.
    ///
    /// ```
    /// use eigenlift::{matrix::Matrix, methods::KernelPca};
    /// // Points on a circle, and two new ones: on it and in the middle.
    /// let circle = Matrix::from_fn(60, 2, |i, j| { let t = 0.1047 * i as f64; if j == 0 { t.cos() } else { t.sin() } });
    /// let new = Matrix::from_vec(vec![0.6, 0.8, 0.0, 0.0], 2, 2)?;
    /// let model = KernelPca::new(6).kernel("rbf(gamma=1)".parse()?).fit(circle)?;
    /// let novelty = model.novelty(&new)?;
    /// assert!(novelty.spe[1] > 5.0 * novelty.spe[0]);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`FittedKernelPca::transform`]; for a model of a precomputed Gram matrix, whose rows do not say k(x,x), see
    /// [`FittedKernelPca::novelty_given`]; for negative eigenvalues; for model files of earlier versions without the mean.
    pub fn novelty<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Novelty> {
        self.novelty_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelPca::novelty`], on an engine, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::novelty`], and cancellation.
    pub fn novelty_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Novelty> {
        self.novelty_given(engine, (x, None), watch)
    }

    /// As [`FittedKernelPca::novelty_on`], with k(x,x) of each row where the model's kernel is precomputed and cannot tell it.
    ///
    /// # Errors
    /// As [`FittedKernelPca::novelty_on`], and when there is not one k(x,x) for each row.
    pub fn novelty_given(
        &self,
        engine: &dyn Engine,
        (x, own): (AnyPoints<'_>, Option<&[f64]>),
        watch: &Watch,
    ) -> Result<Novelty> {
        let mean = self.mean_for_distances()?;
        let slack = self.slack();
        let measured = measure(&self.projection, mean, (x, own), (engine, watch))?;
        let t_squared = self.t_squared(measured.scores())?;
        let scores = ScoreMoments::of(measured.scores(), &self.variances());
        Ok(Novelty { t_squared, spe: measured.into_spe(slack)?, scores })
    }

    /// T² = Σ yⱼ²/λⱼ of each row of scores, (C50).
    ///
    /// # Errors
    /// When there is not one score for each component.
    pub fn t_squared(&self, scores: &Matrix<f64>) -> Result<Vec<f64>> {
        if scores.n_cols() != self.n_components() {
            return Err(Error::data(
                format!("scores of {} columns", scores.n_cols()),
                format!("the model has {} components", self.n_components()),
                "Give scores of this model, all of them",
            ));
        }
        let variances = self.variances();
        let row = |i: usize| scores.row(i).iter().zip(&variances).map(|(y, v)| y * y / v).sum();
        Ok((0..scores.n_rows()).map(row).collect())
    }

    /// T² and squared prediction errors of the samples of the fit by the model itself; `None` where they were not in memory, where
    /// the kernel turned out not to be positive semi-definite, and for an exact model from a file, which holds its samples instead.
    pub fn fit_reference(&self) -> Option<Reference> {
        match &self.fit_rows {
            FitRows::Unknown => None,
            FitRows::Known(reference) => Some((**reference).clone()),
            FitRows::Squares(squares) => {
                self.mean_for_distances().ok()?;
                let scores = self.scores().ok()?;
                let t_squared = self.t_squared(&scores).ok()?;
                let spe = off_components(squares, &scores, |i| squares[i], self.slack()).ok()?;
                // A file holds finite numbers alone.
                let known = t_squared.iter().chain(&spe).all(|value| value.is_finite());
                let scores = ScoreMoments::of(&scores, &self.variances());
                let reference = Reference::of(&Novelty { t_squared, spe, scores }).ok()?;
                known.then_some(Reference { in_sample: true, ..reference })
            }
        }
    }

    /// What the model itself holds to take limits from: the numbers of [`FittedKernelPca::with_cross_validation`], otherwise those of
    /// [`FittedKernelPca::fit_reference`].
    pub fn reference(&self) -> Option<Reference> {
        self.reference.as_deref().cloned().or_else(|| self.fit_reference())
    }

    /// The same model with the numbers of [`FittedKernelPca::cross_validated`], from which [`FittedKernelPca::limits`] are then taken and
    /// which a file keeps.
    ///
    /// # Errors
    /// As [`FittedKernelPca::cross_validated`].
    pub fn with_cross_validation(mut self, x: &AnySamples, watch: &Watch) -> Result<Self> {
        self.reference = Some(Box::new(self.cross_validated(x, watch)?));
        Ok(self)
    }

    /// Limits from the samples of the fit by cross-validation, where the model holds them (an exact fit with a kernel), see
    /// [`FittedKernelPca::cross_validated`]; from those of [`FittedKernelPca::with_cross_validation`], if there are; otherwise from the samples of the
    /// fit as the model itself sees them, whose false-alarm rate differs from α, as a warning says.
    ///
    /// # Errors
    /// When the model knows nothing of its samples, or α does not lie between 0 and 1.
    pub fn limits(&self, alpha: f64, rule: LimitRule) -> Result<Limits> {
        self.limits_watched(alpha, rule, &Watch::default())
    }

    /// As [`FittedKernelPca::limits`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::limits`], and cancellation.
    pub fn limits_watched(&self, alpha: f64, rule: LimitRule, watch: &Watch) -> Result<Limits> {
        check_alpha(alpha)?;
        if let Some(reference) = &self.reference {
            return self.limits_of(reference, alpha, rule);
        }
        if let (true, Lift::Kernel { samples, .. }) = (self.holds_samples(), &self.projection.lift) {
            return self.limits_of(&self.cross_validated(samples, watch)?, alpha, rule);
        }
        let reference = self.fit_reference().ok_or_else(|| {
            Error::model(
                "a model that does not hold how unusual the rows of its fit were",
                "limits need reference rows: the fit keeps its own only when they are in memory as a whole",
                "Give a few hundred rows that are known to be normal",
            )
        })?;
        self.limits_of(&reference, alpha, rule)
    }

    /// Limits from reference rows, which are best rows that the model was not fitted on.
    ///
    /// # Errors
    /// When there are no rows, or α does not lie between 0 and 1.
    pub fn limits_from(&self, rows: &Novelty, alpha: f64, rule: LimitRule) -> Result<Limits> {
        self.limits_of(&Reference::of(rows)?, alpha, rule)
    }

    /// As [`FittedKernelPca::limits_from`], from what [`FittedKernelPca::cross_validated`] gave.
    ///
    /// # Errors
    /// As [`FittedKernelPca::limits_from`].
    pub fn limits_of(&self, reference: &Reference, alpha: f64, rule: LimitRule) -> Result<Limits> {
        let shape = (self.n_samples(), self.n_components());
        let variance = self.centered_trace / self.n_samples().max(1) as f64;
        let largest = reference.numbers.spe.iter().copied().fold(0.0, f64::max);
        if largest <= NOTHING_LEFT * variance {
            // The components hold all of the reference samples: what is left of them is rounding.
            return Limits::of(&reference.without_spe(), shape, alpha, rule);
        }
        Limits::of(reference, shape, alpha, rule)
    }

    /// The mean of φ, where distances in feature space mean something.
    pub(super) fn mean_for_distances(&self) -> Result<&FeatureMean> {
        if let Some(at) = self.eigenvalues.iter().position(|value| *value < 0.0) {
            return Err(Error::model(
                format!("component {} with the eigenvalue {}", at + 1, self.eigenvalues[at]),
                "the squared prediction error is a squared distance, which needs a kernel that is positive semi-definite",
                "Fit with repair clip or with another kernel; T² alone is known from the scores",
            ));
        }
        // Earlier versions wrote zeros for landmarks of a Gram matrix.
        let known = |mean: &&FeatureMean| {
            mean.square <= 0.0 || mean.coefficients.as_ref().is_none_or(|over| over.iter().any(|c| *c != 0.0))
        };
        self.mean.as_ref().filter(known).ok_or_else(|| {
            Error::model(
                "a model file that does not hold the mean in feature space",
                "the squared prediction error is a distance from a subspace through it",
                "Fit the model again with this version; T² alone is known from the scores",
            )
        })
    }

    /// Share of its terms by which rounding may take a squared distance below 0.
    fn slack(&self) -> f64 {
        if self.plan.precision == "f32" { 1e-2 } else { 1e-6 }
    }

    /// Contributions of input columns to a statistic of rows, (C57).
    ///
    /// Cost: for each row 8 to 128 nodes of n(4d + 4k) flops and 2n kernel values, n samples or landmarks.
    ///
    /// # Errors
    /// As [`FittedKernelPca::novelty`]; for a precomputed kernel, and for random features, which hold no usual row to start
    /// from: see [`FittedKernelPca::contributions_on`].
    pub fn contributions<'a>(
        &self,
        x: impl Into<AnyPoints<'a>>,
        statistic: Statistic,
    ) -> Result<Contributions> {
        self.contributions_on(&*self.engine, x.into(), (statistic, Baseline::Own), &Watch::default())
    }

    /// As [`FittedKernelPca::contributions`], from other rows, on an engine, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::contributions`], when rows have another number of columns, and cancellation.
    pub fn contributions_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        (statistic, baseline): (Statistic, Baseline<'_>),
        watch: &Watch,
    ) -> Result<Contributions> {
        let explained = Explained {
            projection: &self.projection,
            mean: self.mean_for_distances()?,
            variances: self.variances(),
        };
        contributions(&explained, x, (statistic, baseline), (engine, watch))
    }
}
