//! The factor that methods which go by features share: features f with ⟨f(x), f(y)⟩ equal or close to k(x, y).

mod affine;
mod chooser;
mod expected;
mod far;
mod plan;
mod planner;
mod regularization;
mod request;
mod spectrum;

pub(crate) use chooser::{Chooser, SAMPLE_SHARE};
pub(crate) use expected::expected_rank;
pub use plan::FactorPlan;
pub(crate) use planner::{FALLBACK_LANDMARKS, expect, fallback, landmarks_that_fit, low_rank, primal};
pub(crate) use regularization::{FEWEST_NESTED, SHARES};
pub use regularization::{Regularization, RegularizationCurve};
pub(crate) use request::{Request, check_count};
pub(crate) use spectrum::{Spectrum, inverse_deviations};

use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureRows, FeatureSettings, RowFeatures, SampledError};
use crate::gram::Similarity;
use crate::kernel::KernelSpec;
use crate::matrix::Matrix;
use crate::model::{Plan, Projection};
use crate::progress::Watch;
use crate::rows::{Data, Pass, Rows};
use chooser::choose_features;
use far::FarFromOrigin;
use planner::factor;
use std::ops::Range;
use std::sync::Arc;

impl FeatureSettings {
    /// Which features a fit would use, without choosing them; at most so many landmarks where their number was not asked for.
    ///
    /// # Errors
    /// Settings out of range, not enough memory.
    pub(crate) fn plan_within(
        &self,
        x: &AnySamples,
        similarity: &Similarity,
        most: usize,
        engine: &dyn Engine,
    ) -> Result<Plan> {
        let shape = (x.n_rows(), x.n_cols());
        let far = FarFromOrigin::of(similarity, x);
        let precision = if far.needs_double(x) { "f64" } else { x.precision() };
        let mut plan = factor(&self.request(similarity, shape, precision, true), most, engine)?;
        plan.reasons.extend(far.reason(x));
        Ok(plan)
    }

    /// Plans and chooses the features.
    ///
    /// # Errors
    /// As [`FeatureSettings::plan_within`] and [`FeatureSettings::choose`]; samples that the kernel cannot take.
    #[cfg(test)]
    pub(crate) fn of(&self, x: &AnySamples) -> Result<Factor> {
        let (engine, similarity) = (self.running_engine()?, self.similarity_of(x)?);
        let plan = self.plan_within(x, &similarity, FALLBACK_LANDMARKS, &*engine)?;
        self.choose(x, (&similarity, &plan), &engine)
    }

    /// Chooses the features as planned; rows other than those that landmarks are chosen from are not read yet.
    ///
    /// # Errors
    /// Landmarks that cannot be chosen, and cancellation.
    pub(crate) fn choose(
        &self,
        x: &AnySamples,
        (similarity, plan): (&Similarity, &Plan),
        engine: &Arc<dyn Engine>,
    ) -> Result<Factor> {
        let (features, sampled) = choose_features(self, x, similarity, plan, engine)?;
        let mut told = FactorPlan::of(plan);
        told.rank = features.dimension();
        let features = RowFeatures::new(features, x.n_rows());
        let warning = match told.approximation {
            // Features that are written out are centered before anything is squared.
            None => None,
            Some(_) => FarFromOrigin::of(similarity, x).warning(),
        };
        Ok(Factor { features, sampled, plan: told, warning, engine: Arc::clone(engine) })
    }
}

/// What `plan` gives for the usual number of landmarks or, where that does not fit into memory, for the most that do.
///
/// # Errors
/// Those of `plan` with the usual number.
pub(crate) fn shrunk<T>(plan: impl Fn(usize) -> Result<T>) -> Result<T> {
    let refused = match plan(FALLBACK_LANDMARKS) {
        Err(error @ Error::Memory { .. }) => error,
        other => return other,
    };
    let (mut low, mut high, mut found) = (0, FALLBACK_LANDMARKS, None);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match plan(middle) {
            Ok(planned) => (low, found) = (middle, Some(planned)),
            Err(_) => high = middle,
        }
    }
    found.ok_or(refused)
}

/// Features that were chosen.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    features: RowFeatures,
    sampled: Option<SampledError>,
    pub(crate) plan: FactorPlan,
    /// What a person should read about kernel values that rounding has changed.
    pub(crate) warning: Option<String>,
    engine: Arc<dyn Engine>,
}

impl Factor {
    /// Number of features.
    pub(crate) fn dimension(&self) -> usize {
        self.features.dimension()
    }

    /// Visits the features of all rows, some at a time and in order, with the place of the first; inside the engine.
    ///
    /// Cost: n·m(2d + m) flops and the profile; memory a piece.
    ///
    /// # Errors
    /// Rows that the kernel cannot take, what `visit` fails with, cancellation.
    pub(crate) fn each_piece(
        &self,
        x: AnyPoints<'_>,
        stage: &str,
        watch: &Watch,
        visit: &mut (dyn FnMut(usize, FeatureRows) -> Result<()> + Send),
    ) -> Result<()> {
        let (n, pass) = (x.n_rows(), Pass { chunk_rows: self.plan.chunk_rows, watch });
        watch.step(stage, 0, n)?;
        self.rows(x)?.features(&self.features, 0..n, &pass, &mut |from, found| {
            let done = from + found.features.n_rows();
            visit(from, found)?;
            watch.step(stage, done, n)
        })
    }

    /// Features of a range of rows.
    ///
    /// # Errors
    /// Rows that the kernel cannot take, cancellation.
    pub(crate) fn rows_of(
        &self,
        x: AnyPoints<'_>,
        range: Range<usize>,
        watch: &Watch,
    ) -> Result<FeatureRows> {
        let (mut all, pass) = (None, Pass { chunk_rows: range.len(), watch });
        self.rows(x)?.features(&self.features, range, &pass, &mut |_, found| {
            all = Some(found);
            Ok(())
        })?;
        let none = || FeatureRows {
            features: Matrix::zeros(0, self.dimension()),
            residuals: Vec::new(),
            trace: 0.0,
        };
        Ok(all.unwrap_or_else(none))
    }

    fn rows<'a>(&self, x: AnyPoints<'a>) -> Result<Box<dyn Rows + 'a>> {
        Data::from(x).rows(&self.engine, false)
    }

    /// Features of some rows of all, and Σ k(x,x) over them.
    ///
    /// # Errors
    /// As [`Factor::rows_of`].
    pub(crate) fn rows_at(
        &self,
        x: &AnySamples,
        rows: &[usize],
        watch: &Watch,
    ) -> Result<(Matrix<f64>, f64)> {
        if self.plan.kernel != KernelSpec::Precomputed.to_string() {
            let found = self.rows_of(x.gather(rows).points(), 0..rows.len(), watch)?;
            return Ok((found.features, found.trace));
        }
        // Why one by one: a row of a Gram matrix finds its own k(x,x) by its place.
        let mut features = Matrix::zeros(rows.len(), self.dimension());
        let mut trace = 0.0;
        for (i, row) in rows.iter().enumerate() {
            let found = self.rows_of(x.points(), *row..row + 1, watch)?;
            features.view_mut().row_mut(i).copy_from_slice(found.features.row(0));
            trace += found.trace;
        }
        Ok((features, trace))
    }

    /// y(x) = (f(x) − mean)ᵀW as an affine function of the lift.
    pub(crate) fn projection(&self, w: &Matrix<f64>, mean: &[f64]) -> Projection {
        self.features.features().affine(w, mean)
    }

    /// Whether features are written out, so that their rounding is that of their own size and not that of kernel values.
    pub(crate) fn is_explicit(&self) -> bool {
        self.plan.approximation.is_none()
    }

    /// Against what rounding of a scatter is measured: Σk(x,x), or for features that are written out the scatter itself and
    /// what rounding of the mean adds to it.
    pub(crate) fn rounding(&self, trace: f64, scatter: f64, (weight, mean): (f64, &[f64])) -> f64 {
        if !self.is_explicit() {
            return trace;
        }
        scatter + weight * f64::EPSILON * mean.iter().map(|m| m * m).sum::<f64>()
    }

    /// What the features leave out: for landmarks the share of Σk(x,x), for random features the relative error on sampled
    /// pairs; `None` when they are exact.
    pub(crate) fn left_out(&self, residual_trace: f64, trace: f64) -> Option<f64> {
        if self.plan.exact {
            return None;
        }
        let share = || if trace > 0.0 { residual_trace / trace } else { 0.0 };
        Some(self.sampled.map_or_else(share, |error| error.relative()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are picked have the features that they have among all, by a kernel and of a Gram matrix.
    #[test]
    fn features_of_some_rows_are_those_of_all() {
        let x = Matrix::from_fn(20, 3, |i, j| ((i * 5 + j * 3) as f64 * 0.37).sin());
        let product = |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum::<f64>();
        let gram = Matrix::from_fn(20, 20, |i, j| (product(i, j) + 1.0).powi(2));
        let chosen = [2, 7, 19];
        let own: f64 = chosen.iter().map(|i| gram[(*i, *i)]).sum();
        for (kernel, samples) in [("polynomial(degree=2)", x.into()), ("precomputed", AnySamples::from(gram))]
        {
            let features = FeatureSettings::new().kernel(kernel.parse().unwrap());
            let factor = features.of(&samples).unwrap();
            let all = factor.rows_of(samples.points(), 0..20, &Watch::default()).unwrap();
            let (some, trace) = factor.rows_at(&samples, &chosen, &Watch::default()).unwrap();
            assert!((trace - own).abs() < 1e-12 * own, "{kernel}: {trace} {own}");
            for (at, row) in chosen.iter().enumerate() {
                // The same sums over columns, perhaps in another order.
                let apart = some.row(at).iter().zip(all.features.row(*row)).map(|(a, b)| (a - b).abs());
                assert!(apart.fold(0.0, f64::max) < 1e-12, "{kernel}");
            }
        }
    }
}
