//! An approximate model made certain: one exact pass for bounds, more passes for an exact model.

use super::dual;
use super::fitted::KernelPcaBody;
use super::proof::{Proof, entry_error, trace_error};
use super::{FittedKernelPca, KernelPca};
use crate::eigen::{BasisProducts, Certificate, EigenPairs, SolveStats, Whole};
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::kernel::KernelSpec;
use crate::linalg::{column_means, inner, orthonormal_columns, shift_columns};
use crate::matrix::Matrix;
use crate::model::{Lift, Route};
use crate::operator::GramOperator;
use crate::progress::Watch;
use crate::rows::{Data, Pass, Rows, in_memory};

/// How far scores may be from what the model says of its samples, relative to their size.
const SAME_SAMPLES: f64 = 1e-4;

impl FittedKernelPca {
    /// Bounds for this model from one exact pass over the Gram matrix of its samples: for each component a residual and an
    /// interval that holds an eigenvalue and the model's own, how many components are certified as leading, the exact total
    /// variance, and what the best axes can hold, (K37). The projection stays what it is.
    ///
    /// Cost: n²(2d + 2k)/2 flops where the rows are, whatever the fit was; memory a few tiles and 3·n·k numbers.
    ///
    /// ```
    /// use eigenlift::{data, features::{LowRank, Rank}, methods::KernelPca};
    /// let x = data::iris()?.samples;
    /// let rough = KernelPca::new(2).low_rank(LowRank::pivoted(Rank::Exactly(20))).fit(x.clone())?;
    /// let sure = rough.certify(x)?;
    /// assert!(sure.certificate().residuals[0] < 1e-2);
    /// assert!(sure.certificate().intervals[0].high >= rough.eigenvalues()[0]);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// When these are not the samples that the model was fitted on, when they can only be read a piece at a time, and on cancellation.
    pub fn certify<'a>(&self, data: impl Into<Data<'a>>) -> Result<FittedKernelPca> {
        self.certify_watched(data, &Watch::default())
    }

    /// As [`FittedKernelPca::certify`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedKernelPca::certify`].
    pub fn certify_watched<'a>(&self, data: impl Into<Data<'a>>, watch: &Watch) -> Result<FittedKernelPca> {
        let similarity = self.similarity();
        let mut rows = data.into().rows(&self.engine, false)?;
        if let (Similarity::Kernel(kernel), Some((x, _))) = (&similarity, rows.points())
            && kernel.needs_double(x)
        {
            // The fit took rows of single precision for such.
            let samples = rows.samples(&Pass::new(watch))?.to_double();
            rows = in_memory(samples, &self.engine);
        }
        let vectors = self.vectors_over(&*rows, watch)?;
        let gram = rows.gram(&similarity, Storage::Tiled, false)?;
        self.certify_by(&*gram, vectors, watch)
    }

    /// Bounds from one pass over the matrix, for orthonormal vectors that span the scores.
    fn certify_by(
        &self,
        gram: &dyn GramOperator,
        vectors: Matrix<f64>,
        watch: &Watch,
    ) -> Result<FittedKernelPca> {
        let product = self.engine.complete(|| dual::centred_product(gram, &vectors, watch))?;
        let known_valid = dual::known_valid(&self.similarity());
        let (n, k) = (vectors.n_rows(), vectors.n_cols());
        let values: Vec<f64> =
            (0..k).map(|j| (0..n).map(|i| vectors[(i, j)] * product.block[(i, j)]).sum()).collect();
        let residuals: Vec<f64> = (0..k)
            .map(|j| {
                let square = |i: usize| (product.block[(i, j)] - values[j] * vectors[(i, j)]).powi(2);
                (0..n).map(square).sum::<f64>().sqrt()
            })
            .collect();
        let stats =
            SolveStats { passes: self.stats.passes + 1, products: self.stats.products + k, ..self.stats };
        let basis = BasisProducts::new(vectors.view(), product.block.view(), gram.unit_roundoff());
        let pairs = EigenPairs { values, vectors, residuals, next: None, all: None, basis: None, stats };
        let summary = &product.summary;
        let size = if known_valid { summary.trace } else { summary.squared_norm.sqrt() };
        let entries = entry_error(self.plan.n_features) * size;
        let rounding = entries * gram.unit_roundoff();
        // A model that was loaded does not know what was allowed for its fit.
        let free = match self.plan.bytes_allowed {
            0 => u128::MAX,
            allowed => u128::from(allowed),
        };
        let proof = Proof::new(gram, summary, Some(basis), (entries, known_valid), (free, watch));
        let whole = Whole {
            trace: summary.centered_trace(),
            trace_error: trace_error(summary, rounding),
            squared_norm: Some(summary.centered_squared_norm_bound()),
            valid: known_valid,
            at_most: Some(&|t, limit| proof.at_most(t, limit)),
        };
        let mut certificate =
            Certificate::new(&pairs, rounding).bounded_by(&pairs, whole).holding(&self.eigenvalues);
        certificate.ties.clone_from(&self.certificate.ties);
        certificate.bounds.residual_trace = self.certificate.bounds.residual_trace;
        certificate.bounds.residual_share = self.certificate.bounds.residual_share;
        certificate.bounds.sampled_error = self.certificate.bounds.sampled_error;
        if let (Some(explained), Some(left)) =
            (&mut certificate.bounds.explained, certificate.bounds.residual_trace)
        {
            let rounding = self.eigenvalues.len() as f64 * (rounding + self.certificate.rounding);
            let held = self.eigenvalues.iter().sum::<f64>() + left + rounding;
            let most = held / (whole.trace - whole.trace_error);
            explained.high = explained.high.min(most).max(explained.low);
        }
        let mut model = self.clone();
        model.body = KernelPcaBody { certificate, stats, centered_trace: whole.trace, ..model.body };
        Ok(model)
    }

    /// How the model compares samples.
    pub(super) fn similarity(&self) -> Similarity {
        match &self.projection.lift {
            Lift::Kernel { kernel, .. } | Lift::Features { kernel, .. } => Similarity::Kernel(kernel.clone()),
            Lift::Precomputed { .. } | Lift::Rows { .. } | Lift::Manifold(_) => Similarity::Precomputed,
        }
    }

    /// Orthonormal vectors over the rows that span their scores, one after the other.
    fn vectors_over(&self, rows: &dyn Rows, watch: &Watch) -> Result<Matrix<f64>> {
        self.check_shape_of_samples(rows.n_rows(), rows.n_cols())?;
        let scores = match (&self.projection.lift, self.plan.route, rows.points()) {
            (Lift::Kernel { samples, .. }, Route::Dual, Some((x, _))) => {
                let same = (0..x.n_rows()).all(|i| {
                    let (mut there, mut here) = (vec![0.0f64; x.n_cols()], vec![0.0f64; x.n_cols()]);
                    samples.points().copy_row(i, &mut there);
                    x.copy_row(i, &mut here);
                    there.iter().zip(&here).all(|(a, b)| (a - b).abs() <= 1e-6 * a.abs())
                });
                if !same {
                    return Err(other_samples("rows that differ from the samples in the model".into()));
                }
                self.scores()?
            }
            (_, _, Some((x, _))) => self.projection.project(&*self.engine, x, watch)?,
            (_, _, None) => rows.project(self, &Pass::new(watch))?,
        };
        self.engine.complete(|| Ok(self.orthonormal(scores)))?
    }

    /// Refuses rows that cannot be those of the fit.
    fn check_shape_of_samples(&self, n: usize, d: usize) -> Result<()> {
        let (samples, columns) = (self.n_samples(), self.projection.lift.n_features());
        if (n, d) == (samples, columns) {
            return Ok(());
        }
        Err(other_samples(format!("{n} rows of {d} columns for a model of {samples} samples with {columns}")))
    }

    /// Orthonormal vectors that span the scores of the samples, which are checked.
    fn orthonormal(&self, mut scores: Matrix<f64>) -> Result<Matrix<f64>> {
        let means = column_means(scores.view());
        self.check_scores(&scores, &means)?;
        let shift: Vec<f64> = means.iter().map(|m| -m).collect();
        shift_columns(scores.view_mut(), &shift);
        Ok(orthonormal_columns(scores.view()))
    }

    /// Scores of the samples have mean 0, are uncorrelated, and have the eigenvalues as sums of squares.
    fn check_scores(&self, scores: &Matrix<f64>, means: &[f64]) -> Result<()> {
        let (n, k) = (scores.n_rows(), scores.n_cols());
        let products = inner(scores.view(), scores.view());
        let size = |j: usize| self.eigenvalues[j].abs();
        for i in 0..k {
            let drift = means[i].abs() * (n as f64).sqrt() / size(i).sqrt();
            let off = (0..k).map(|j| {
                let wanted = if i == j { size(i) } else { 0.0 };
                // Components that are tied may have been rotated among each other.
                (products[(i, j)] - wanted).abs() / (size(i) * size(j)).sqrt() - self.spread_of_tie(i, j)
            });
            let worst = off.fold(drift, f64::max);
            // Rounding on the way to features is larger in single precision and for landmarks close to each other.
            let allowed =
                SAME_SAMPLES + 10.0 * self.certificate.rounding / size(k - 1).max(f64::MIN_POSITIVE);
            if worst.is_nan() || worst > allowed {
                return Err(other_samples(format!(
                    "scores of component {} that are off by {worst:.1e} of what the model says",
                    i + 1
                )));
            }
        }
        Ok(())
    }
}

fn other_samples(found: String) -> Error {
    Error::data(
        found,
        "the very samples that the model was fitted on are needed, in the same order",
        "Give the data of the fit",
    )
}

impl KernelPca {
    /// An exact model from an approximate one: passes over the Gram matrix until the tolerance of these settings holds, starting
    /// from the model's own axes. The kernel is the model's; components, tolerance, memory and threads are these settings'.
    ///
    /// # Errors
    /// As [`FittedKernelPca::certify`] and [`KernelPca::fit`].
    pub fn refine<'a>(&self, model: &FittedKernelPca, data: impl Into<Data<'a>>) -> Result<FittedKernelPca> {
        let engine = self.features.running_engine()?;
        let rows = data.into().rows(&engine, false)?;
        let start = model.vectors_over(&*rows, &self.features.watch)?;
        let settings = match model.similarity() {
            Similarity::Kernel(kernel) => self.clone().exact().ready_kernel(kernel),
            Similarity::Precomputed => self.clone().exact().kernel(KernelSpec::Precomputed),
        };
        let settings = Self { auto_components: false, ..settings.column_names(model.column_names.clone()) };
        settings.prepare_rows(rows, engine, Some(start))?.run()
    }
}
