//! A fitted kernel PCA.

use super::dual::{DualSolution, Hidden, RATIO_UNKNOWN};
use crate::data::{AnyPoints, AnySamples};
use crate::eigen::{Certificate, SolveStats};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::Similarity;
use crate::linalg::{column_means, scale_columns};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Lift, Model, Plan, Projection, Route, Solver};
use crate::monitoring::{FitRows, Reference};
use crate::progress::Watch;
use crate::tuning::kernel_choice::KernelChoice;
use std::sync::Arc;

/// A fitted kernel PCA: scores of the samples, projection of new rows, and what is known about their accuracy.
pub type FittedKernelPca = Model<KernelPcaBody>;

/// What kernel PCA leaves.
#[derive(Clone, Debug)]
pub struct KernelPcaBody {
    pub(super) projection: Projection,
    pub(super) eigenvalues: Vec<f64>,
    pub(super) centered_trace: f64,
    pub(super) certificate: Certificate,
    pub(super) stats: SolveStats,
    /// The mean of φ; files of earlier versions do not hold it.
    pub(super) mean: Option<FeatureMean>,
    /// How the fit chose what was left to choose.
    pub(super) choice: Option<Box<KernelChoice>>,
    /// Scores of the samples, when the coefficients do not give them.
    pub(super) scores: Option<Matrix<f64>>,
    /// How far the samples lie from the mean and off the components.
    pub(super) fit_rows: FitRows,
    /// T² and squared prediction errors of samples that the model was not fitted on.
    pub(super) reference: Option<Box<Reference>>,
}

impl FittedKernelPca {
    /// From eigenpairs of the centred Gram matrix of these samples.
    pub(super) fn of_solution(
        solution: DualSolution,
        (similarity, x): (Similarity, AnySamples),
        mut plan: Plan,
        column_names: &[String],
        (engine, watch): (Arc<dyn Engine>, &Watch),
    ) -> Result<Self> {
        if let Some(why) = &solution.switched {
            plan.solver = Solver::Dense;
            plan.reasons.push(why.clone());
        }
        let (n, k) = (x.n_rows(), solution.values.len());
        let means = column_means(solution.vectors.view());
        // Numerics: eigenvectors are orthogonal to the ones vector; what rounding left of it would meet the mean of the kernel,
        // which can be far larger than a faint eigenvalue.
        // A = U|λ|^(−1/2)·sign λ, so that K_c·A = U|λ|^(1/2): new rows are projected as training rows are, (K7), (K19).
        let coefficients = Matrix::from_fn(n, k, |i, j| {
            let value = solution.values[j];
            (solution.vectors[(i, j)] - means[j]) * value.signum() / value.abs().sqrt()
        });
        let offset = (0..k)
            .map(|j| solution.row_means.iter().enumerate().map(|(i, r)| r * coefficients[(i, j)]).sum())
            .collect();
        let fit_rows = FitRows::of_samples(&similarity, &x, &solution.row_means, (&*engine, watch))?;
        let lift = match similarity {
            Similarity::Kernel(kernel) => Lift::Kernel { kernel, samples: x },
            Similarity::Precomputed => Lift::Precomputed { n_samples: n },
        };
        let mut warnings = solution.warnings;
        Hidden::name_column(&mut warnings, &lift, column_names);
        let square = solution.row_means.iter().sum::<f64>() / n as f64;
        let body = KernelPcaBody {
            mean: Some(FeatureMean { coefficients: None, square }),
            projection: Projection { lift, coefficients, offset },
            eigenvalues: solution.values,
            centered_trace: solution.total,
            certificate: solution.certificate,
            stats: solution.stats,
            choice: None,
            scores: None,
            fit_rows,
            reference: None,
        };
        Ok(Self { plan, warnings, column_names: column_names.to_vec(), engine, body })
    }

    /// Components kept; may be fewer than asked for, see [`FittedKernelPca::warnings`].
    pub fn n_components(&self) -> usize {
        self.eigenvalues.len()
    }

    /// Eigenvalues nλ of K_c, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// Variances λ along the axes: magnitudes of the eigenvalues of K_c divided by n.
    pub fn variances(&self) -> Vec<f64> {
        self.eigenvalues.iter().map(|v| v.abs() / self.n_samples() as f64).collect()
    }

    /// tr(K_c): the total variance in feature space times n, exact. For a repaired kernel whose eigenvalues are all known it is
    /// their sum after the repair. For landmarks it is the largest that it can be, for random features an estimate; [`FittedKernelPca::certify`] makes it exact.
    pub fn total(&self) -> f64 {
        self.centered_trace
    }

    /// Share of the total variance in feature space that each component holds. NaN where the total is not positive, as all
    /// kernel values are the same, and where it is not known: negative eigenvalues of an indefinite kernel make the trace
    /// smaller than the sum of the others, which only the direct solver has seen.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        let known = !self.warnings.iter().any(|warning| warning.ends_with(RATIO_UNKNOWN));
        let total = if known && self.centered_trace > 0.0 { self.centered_trace } else { f64::NAN };
        self.eigenvalues.iter().map(|v| v.abs() / total).collect()
    }

    /// α: coefficients of the axes over samples, α = β/√(nλ), (K6); over landmarks or features when the fit went through them.
    pub fn coefficients(&self) -> &Matrix<f64> {
        &self.projection.coefficients
    }

    /// Scores of the samples, one row each: U|nλ|^(1/2), which is A·nλ.
    ///
    /// # Errors
    /// When the fit went through landmarks or features and the samples were not in memory, or the model was loaded from a
    /// file: it does not hold its samples then.
    pub fn scores(&self) -> Result<Matrix<f64>> {
        if let Some(scores) = &self.scores {
            return Ok(scores.clone());
        }
        if self.plan.route != Route::Dual {
            return Err(Error::model(
                "a model that does not hold its samples",
                "scores of the samples need the samples",
                "Transform the samples with the model",
            ));
        }
        if self.is_rotated() {
            return self.projected_scores();
        }
        let a = &self.projection.coefficients;
        Ok(Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)] * self.eigenvalues[j]))
    }

    /// Scores of new rows, centred as the samples were, (K9). With a precomputed kernel each row holds k(x, samples).
    ///
    /// Cost: n_new·n·(2d + 2k) flops; memory a few tiles for each thread.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the kernel cannot take.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_watched(x, &Watch::default())
    }

    /// As [`FittedKernelPca::transform`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::transform`], and cancellation.
    pub fn transform_watched<'a>(&self, x: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Matrix<f64>> {
        self.projection.project(&*self.engine, x.into(), watch)
    }

    /// The first `k` components alone; all when there are no more, or k is 0. The plan then says that so many were asked for.
    pub fn keeping(mut self, k: usize) -> Self {
        if k == 0 {
            return self;
        }
        self.plan.n_components = k;
        if k >= self.n_components() {
            return self;
        }
        self.projection.coefficients = self.projection.coefficients.view().first_columns(k).to_matrix();
        self.projection.offset.truncate(k);
        self.eigenvalues.truncate(k);
        self.certificate.keep(k);
        self.scores = self.scores.take().map(|scores| scores.view().first_columns(k).to_matrix());
        self.fit_rows = std::mem::take(&mut self.fit_rows).of_fewer_components();
        self.reference = None;
        self
    }

    /// The same model with the axes named turned round: signs are a convention, and callers may have another.
    pub fn flipped(mut self, which: &[bool]) -> Self {
        let signs: Vec<f64> =
            (0..self.n_components()).map(|j| if which.get(j) == Some(&true) { -1.0 } else { 1.0 }).collect();
        scale_columns(self.projection.coefficients.view_mut(), &signs);
        self.projection.offset.iter_mut().zip(&signs).for_each(|(c, sign)| *c *= sign);
        if let Some(scores) = &mut self.scores {
            scale_columns(scores.view_mut(), &signs);
        }
        self
    }

    /// y(x) = lift(x)ᵀA − c.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What the residuals prove.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// What the solve took.
    pub fn stats(&self) -> SolveStats {
        self.stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::KernelPca;

    #[test]
    fn a_total_that_is_not_positive_has_no_shares() {
        let rows = Matrix::from_fn(12, 2, |i, j| ((i * (j + 3)) % 7) as f64);
        let model = KernelPca::new(2).fit(rows).unwrap();
        assert!(model.explained_variance_ratio().iter().all(|share| (0.0..=1.0).contains(share)));
        for centered_trace in [0.0, -1e-13, -3.0, f64::NAN] {
            let mut model = model.clone();
            model.centered_trace = centered_trace;
            let shares = model.explained_variance_ratio();
            assert!(shares.len() == 2 && shares.iter().all(|share| share.is_nan()), "{shares:?}");
        }
    }
}
