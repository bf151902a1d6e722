//! The way back of kernel PCA.

use super::FittedKernelPca;
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{Lift, Route};
use crate::preimage::{Preimage, Preimages, Subspace, WayBack};
use crate::progress::Watch;

impl FittedKernelPca {
    /// Rows whose images lie close to the points that scores stand for, (K50). The distances that are left come with them.
    ///
    /// Cost: for each row and step n(4d + 3) flops and n kernel values, n samples or landmarks; 5 to 30 steps are usual.
    ///
    /// # Errors
    /// When scores do not fit the model, the kernel has no way back by this method, or a precomputed model never saw rows.
    pub fn inverse_by(&self, how: &Preimage, scores: &Matrix<f64>) -> Result<Preimages> {
        self.inverse_on(how, &*self.engine, scores, &Watch::default())
    }

    /// As [`FittedKernelPca::inverse_by`], on an engine, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::inverse_by`], and cancellation.
    pub fn inverse_on(
        &self,
        how: &Preimage,
        engine: &dyn Engine,
        scores: &Matrix<f64>,
        watch: &Watch,
    ) -> Result<Preimages> {
        self.way_back(how, engine, watch)?.of_scores(engine, scores, watch)
    }

    /// Rows projected on the components and put back: noise that lies off the components is gone.
    ///
    /// # Errors
    /// As [`FittedKernelPca::inverse_by`], and when rows do not fit the model.
    pub fn denoise_by<'a>(&self, how: &Preimage, x: impl Into<AnyPoints<'a>>) -> Result<Preimages> {
        self.denoise_on(how, &*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelPca::denoise_by`], on an engine, observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::denoise_by`], and cancellation.
    pub fn denoise_on(
        &self,
        how: &Preimage,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Preimages> {
        self.way_back(how, engine, watch)?.denoise(engine, x, watch)
    }

    fn way_back(&self, how: &Preimage, engine: &dyn Engine, watch: &Watch) -> Result<WayBack<'_>> {
        if let Some(at) = self.eigenvalues.iter().position(|value| *value < 0.0) {
            return Err(Error::model(
                format!("component {} with the eigenvalue {}", at + 1, self.eigenvalues[at]),
                "distances in feature space, which the way back goes by, need a kernel that is positive semi-definite",
                "Fit with repair clip, or with another kernel",
            ));
        }
        let mean = self.mean.as_ref().ok_or_else(|| {
            Error::model(
                "a model file that does not hold the mean in feature space",
                "the way back starts there",
                "Fit the model again with this version",
            )
        })?;
        let n = self.n_samples().max(1) as f64;
        let kept: f64 = self.eigenvalues.iter().sum();
        let subspace = Subspace {
            projection: &self.projection,
            mean,
            variance: self.centered_trace / n,
            lost: (self.centered_trace - kept).max(0.0) / n,
        };
        WayBack::new(how, subspace, self.scores_of_lift(engine, watch)?, (engine, watch))
    }

    /// Scores of the samples or landmarks that the model holds.
    fn scores_of_lift(&self, engine: &dyn Engine, watch: &Watch) -> Result<Option<Matrix<f64>>> {
        let Lift::Kernel { samples, .. } = &self.projection.lift else { return Ok(None) };
        if self.plan.route == Route::Dual
            && let Ok(scores) = self.scores()
        {
            return Ok(Some(scores));
        }
        self.projection.project(engine, samples.points(), &watch.silent()).map(Some)
    }
}
