//! Canonical correlation of views, each with a kernel of its own: (C1) with all that follows from it in
//! docs/theory/kernelised.md.

mod file;
mod fitted;
mod held_out;
mod moments;
mod permute;
mod plan;
mod solve;

#[cfg(test)]
mod tests;

pub use fitted::FittedKernelCca;
pub(crate) use fitted::KernelCcaBody;
pub use permute::Significance;
pub use plan::KernelCcaPlan;

use crate::data::AnySamples;
use crate::data::folds::folds_of;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{
    FEWEST_NESTED, Factor, FactorPlan, Regularization, RegularizationCurve, SHARES, Spectrum, shrunk,
};
use crate::features::FeatureSettings;
use crate::gram::Similarity;
use crate::kernel::KernelSpec;
use crate::model::{Job, Plan, Projection, check_column_names};
use crate::progress::Watch;
use held_out::{nested, study};
use moments::FoldMoments;
use permute::Permutations;
use plan::Asked;
use solve::{Solution, Whitening, plain_correlations};
use std::sync::Arc;

/// κ as a share of tr C at which permutations are compared where κ is chosen.
const TESTED_SHARE: f64 = 0.01;

/// Settings of kernel canonical correlation analysis.
///
/// Each view, a table of its own about the same rows, gets directions in the feature space of its kernel such that scores of
/// different views correlate as much as possible. With the linear kernel and κ = 0 this is canonical correlation analysis;
/// with all rows as landmarks it is that of the Gram matrices, (C13). Programs that shrink by c have κ by (C14).
///
/// ```
/// use eigenlift::{matrix::Matrix, methods::KernelCca};
/// let x = Matrix::from_fn(60, 2, |i, j| ((i * (j + 3)) as f64 * 0.37).sin());
/// let y = Matrix::from_fn(60, 1, |i, _| x[(i, 0)] * x[(i, 0)] + 0.1 * (i as f64).cos());
/// let model = KernelCca::new(1).fit(&[x.into(), y.into()])?;
/// assert!(model.held_out_correlations()[0] > 0.8);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelCca {
    n_components: usize,
    kernels: Vec<KernelSpec>,
    features: FeatureSettings,
    regularization: Regularization,
    folds: usize,
    permutations: usize,
    column_names: Vec<Vec<String>>,
}

impl KernelCca {
    /// This many components, κ by cross-validation over 5 folds, no permutations.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            kernels: Vec::new(),
            features: FeatureSettings::new(),
            regularization: Regularization::Auto,
            folds: 5,
            permutations: 0,
            column_names: Vec::new(),
        }
    }

    /// Uses this kernel for every view.
    pub fn kernel(self, spec: KernelSpec) -> Self {
        self.kernels(vec![spec])
    }

    /// One kernel for all views, or one for each.
    pub fn kernels(mut self, specs: Vec<KernelSpec>) -> Self {
        self.kernels = specs;
        self
    }

    /// Changes how rows become features, and where the work runs.
    pub fn with(mut self, change: impl FnOnce(FeatureSettings) -> FeatureSettings) -> Self {
        self.features = change(self.features);
        self
    }

    /// κ, which is added to the diagonal of each view's covariance: a number for all views, or chosen.
    pub fn regularization(mut self, kappa: Regularization) -> Self {
        self.regularization = kappa;
        self
    }

    /// Folds on which correlations of held-out rows are measured; 5 when not said. 0 measures none and needs a fixed κ; a κ that
    /// is chosen needs at least 3.
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// Permutations for the significance of correlations; none when not said.
    pub fn permutations(mut self, permutations: usize) -> Self {
        self.permutations = permutations;
        self
    }

    /// Names of the columns of each view, which the model keeps.
    pub fn column_names(mut self, names: Vec<Vec<String>>) -> Self {
        self.column_names = names;
        self
    }

    /// Plans a fit of views of the same rows, which [`Job::run`] then does.
    ///
    /// # Errors
    /// As [`KernelCca::fit`], as far as they can be known in advance.
    pub fn prepare(&self, views: &[AnySamples]) -> Result<Job<'static, KernelCcaBody>> {
        self.check(views)?;
        let engine = self.features.running_engine()?;
        let similarities = self.similarities(views, &engine)?;
        let (plan, features) = self.planned(views, &similarities, &engine)?;
        let (settings, views) = (self.clone(), views.to_vec());
        Ok(Job::new(plan, move |_| settings.run(&views, (&similarities, &features), &engine)))
    }

    /// The kernel of each view.
    fn similarities(&self, views: &[AnySamples], engine: &Arc<dyn Engine>) -> Result<Vec<Similarity>> {
        let of = |(view, x): (usize, &AnySamples)| {
            self.features_of(view, engine).similarity_of(x).map_err(|error| in_view(error, view))
        };
        views.iter().enumerate().map(of).collect()
    }

    /// The plan, and that of the features of each view.
    fn planned(
        &self,
        views: &[AnySamples],
        similarities: &[Similarity],
        engine: &Arc<dyn Engine>,
    ) -> Result<(KernelCcaPlan, Vec<Plan>)> {
        shrunk(|most| {
            let mut features = Vec::with_capacity(views.len());
            for (view, (x, similarity)) in views.iter().zip(similarities).enumerate() {
                let plan = self.features_of(view, engine).plan_within(x, similarity, most, &**engine);
                features.push(plan.map_err(|error| in_view(error, view))?);
            }
            let plan = KernelCcaPlan::new(features.iter().map(FactorPlan::of).collect(), &self.asked())?;
            Ok((plan, features))
        })
    }

    /// Fits views of the same rows: what [`KernelCca::prepare`] plans.
    ///
    /// With κ chosen, held-out correlations are those of nested cross-validation: κ is chosen without the fold that is measured.
    ///
    /// Cost: n·M² flops for M features in all, and 9·m³ for each view of m features and each fold; with κ chosen also for each
    /// pair of folds, which takes two to three times as long.
    ///
    /// # Errors
    /// Fewer than two views, different numbers of rows, settings out of range, entries that are not finite, a view that does
    /// not vary, κ = 0 where every correlation would be 1, not enough memory, cancellation.
    pub fn fit(&self, views: &[AnySamples]) -> Result<FittedKernelCca> {
        self.prepare(views)?.run()
    }

    fn run(
        &self,
        views: &[AnySamples],
        (similarities, features): (&[Similarity], &[Plan]),
        engine: &Arc<dyn Engine>,
    ) -> Result<FittedKernelCca> {
        let mut factors = Vec::with_capacity(views.len());
        for (view, (x, planned)) in views.iter().zip(similarities.iter().zip(features)).enumerate() {
            let factor = self.features_of(view, engine).choose(x, planned, engine);
            factors.push(factor.map_err(|error| in_view(error, view))?);
        }
        // Features may be fewer than planned.
        let plans = factors.iter().map(|factor| factor.plan.clone()).collect();
        let plan = KernelCcaPlan::new(plans, &self.asked())?;
        let work = Work { settings: self, views, factors, plan, watch: &self.features.watch };
        engine.complete(|| work.run(engine))
    }

    fn asked(&self) -> Asked {
        Asked {
            n_components: self.n_components,
            regularization: self.regularization,
            folds: self.folds,
            permutations: self.permutations,
        }
    }

    fn features_of(&self, view: usize, engine: &Arc<dyn Engine>) -> FeatureSettings {
        let features = self.features.clone().engine(engine.clone());
        match self.kernels.get(view).or(self.kernels.first()) {
            Some(spec) => features.kernel(spec.clone()),
            None => features,
        }
    }

    fn check(&self, views: &[AnySamples]) -> Result<()> {
        self.regularization.check_folds(self.folds)?;
        if self.regularization == Regularization::Auto && self.folds < FEWEST_NESTED {
            return Err(Error::setting(
                format!("{} folds with a regularization of auto", self.folds),
                format!("at least {FEWEST_NESTED} are needed: one is measured, the others choose"),
                "Use 5 folds, or give the regularization as a number",
            ));
        }
        if self.n_components == 0 {
            return Err(Error::setting("0 components", "at least one is needed", "Ask for 1 or more"));
        }
        if u32::try_from(self.permutations).is_err() {
            return Err(Error::setting(
                format!("{} permutations", self.permutations),
                format!("at most {} are possible", u32::MAX),
                "1000 tell a p-value of 0.001",
            ));
        }
        if views.len() < 2 {
            return Err(Error::data(
                format!("{} view(s)", views.len()),
                "canonical correlation is between two or more",
                "Give another table about the same rows",
            ));
        }
        self.check_counts(views)
    }

    fn check_counts(&self, views: &[AnySamples]) -> Result<()> {
        let n = views.first().map_or(0, AnySamples::n_rows);
        if let Some((at, other)) = views.iter().enumerate().find(|(_, x)| x.n_rows() != n) {
            return Err(Error::data(
                format!("view 1 has {n} rows, view {} has {}", at + 1, other.n_rows()),
                "all views must be about the same rows, in the same order",
                "Leave out rows that are not in every view",
            ));
        }
        if n < 3 {
            return Err(Error::data(format!("{n} row(s)"), "correlations need at least 3", "Give more rows"));
        }
        if self.kernels.len() > 1 && self.kernels.len() != views.len() {
            return Err(Error::setting(
                format!("{} kernels for {} views", self.kernels.len(), views.len()),
                "there must be one for all or one for each",
                "Give one kernel for each view",
            ));
        }
        let named: Vec<usize> = self.column_names.iter().map(Vec::len).collect();
        let widths: Vec<usize> = views.iter().map(AnySamples::n_cols).collect();
        if !named.is_empty() && named != widths {
            return Err(Error::setting(
                format!("{named:?} column names for views of {widths:?} columns"),
                "there must be one for each column of each view",
                "Leave the names out or give all of them",
            ));
        }
        self.column_names.iter().zip(widths).try_for_each(|(names, d)| check_column_names(names, d))
    }
}

/// Says which view a message is about.
fn in_view(error: Error, view: usize) -> Error {
    let told = |found: String| format!("view {}: {found}", view + 1);
    match error {
        Error::Data { found, required, action } => Error::Data { found: told(found), required, action },
        Error::NoVariance { found, required, action } => {
            Error::NoVariance { found: told(found), required, action }
        }
        Error::Kernel { found, required, action } => Error::Kernel { found: told(found), required, action },
        other => other,
    }
}

/// A fit whose features were chosen.
struct Work<'a> {
    settings: &'a KernelCca,
    views: &'a [AnySamples],
    factors: Vec<Factor>,
    plan: KernelCcaPlan,
    watch: &'a Watch,
}

/// κ of each view, and what held-out rows say of it.
struct Choice {
    kappas: Vec<f64>,
    curve: Option<RegularizationCurve>,
    held_out: Vec<f64>,
    errors: Vec<f64>,
}

impl Work<'_> {
    fn run(&self, engine: &Arc<dyn Engine>) -> Result<FittedKernelCca> {
        let (n, seed) = (self.plan.n_samples(), self.settings.features.seed);
        let without_kappa = self.plan.regularization == Regularization::Value(0.0);
        let assigned = folds_of(n, self.plan.folds.max(1), seed);
        let moments = FoldMoments::read(&self.factors, self.views, (&assigned, without_kappa), self.watch)?;
        let whole = Whitening::of(&moments.whole, &moments.layout, &moments.rounding, self.watch)?;
        let ranks = whole.ranks();
        let mut warnings = self.check_ranks(&ranks)?;
        let totals: Vec<f64> = whole.spectra.iter().map(Spectrum::total).collect();
        let choice = self.choose(&moments, &totals)?;
        let solution = whole.solve(&choice.kappas, self.settings.n_components, self.watch)?;
        let k = solution.correlations.len();
        self.check_found(k, &mut warnings)?;
        for (view, factor) in self.factors.iter().enumerate() {
            warnings.extend(factor.warning.iter().map(|warning| format!("view {}: {warning}", view + 1)));
        }
        if let Some(curve) = choice.curve.as_ref().filter(|curve| curve.may_lie_beyond()) {
            warnings.push(format!(
                "the regularisation chosen, {:.1e} of the variance, lies at the end of those that were tried: a better one may \
                 lie beyond",
                curve.shares[curve.chosen]
            ));
        }
        let significance = self.significance(&choice, &totals, k)?;
        let left_out = self
            .factors
            .iter()
            .enumerate()
            .map(|(v, factor)| factor.left_out(moments.residuals[v], moments.traces[v]));
        let body = KernelCcaBody {
            training: plain_correlations(moments.whole.scatter(), &moments.layout, &solution.directions),
            projections: self.projections(&moments, &solution),
            correlations: solution.correlations,
            held_out: choice.held_out.into_iter().take(k).collect(),
            held_out_errors: choice.errors.into_iter().take(k).collect(),
            kappas: choice.kappas,
            curve: choice.curve,
            significance,
            ranks,
            left_out: left_out.collect(),
            widths: self.views.iter().map(AnySamples::n_cols).collect(),
            samples: Some(self.views.to_vec()),
        };
        let column_names = self.settings.column_names.concat();
        Ok(FittedKernelCca { plan: self.plan.clone(), warnings, column_names, engine: engine.clone(), body })
    }

    /// Refuses views that do not vary and κ = 0 where every correlation is 1, (C7); warns where some are.
    fn check_ranks(&self, ranks: &[usize]) -> Result<Vec<String>> {
        let n = self.plan.n_samples();
        if let Some(view) = ranks.iter().position(|rank| *rank == 0) {
            return Err(Error::no_variance(
                format!("view {}: all rows look the same to {}", view + 1, self.plan.views[view].kernel),
                "every view must vary",
                "Check for constant columns, leave the view out, or change the kernel's parameters",
            ));
        }
        if self.plan.regularization != Regularization::Value(0.0) {
            return Ok(Vec::new());
        }
        if let Some(view) = ranks.iter().position(|rank| *rank + 1 >= n) {
            return Err(Error::setting(
                format!(
                    "a regularisation of 0 where the features of view {} take all {} directions that {n} centred rows have",
                    view + 1,
                    n - 1
                ),
                "every correlation would then be 1, whatever the data",
                "Use a regularisation above 0, or auto",
            ));
        }
        let mut ordered = ranks.to_vec();
        ordered.sort_unstable_by(|a, b| b.cmp(a));
        let sum: usize = ordered.iter().take(2).sum();
        if sum + 1 > n {
            return Ok(vec![format!(
                "without regularisation {} correlations are 1 whatever the data: two views take {sum} directions together, \
                 and {n} centred rows have {}",
                sum + 1 - n,
                n - 1
            )]);
        }
        Ok(Vec::new())
    }

    /// Fewer components than asked for, or none held out, are given with a warning; no component at all is refused.
    fn check_found(&self, k: usize, warnings: &mut Vec<String>) -> Result<()> {
        let asked = self.settings.n_components;
        if k == 0 {
            return Err(Error::no_variance(
                "views without any correlation beyond rounding",
                "some direction of one must correlate with one of another",
                "Check that rows of the views belong together, or ask for less regularisation",
            ));
        }
        if self.plan.folds == 0 && self.settings.folds > 0 {
            let n = self.plan.n_samples();
            warnings.push(format!(
                "{n} rows are too few to hold some out: how far new rows correlate is not known"
            ));
        }
        if k < asked {
            warnings.push(format!("{asked} components were asked for and {k} exist"));
        }
        Ok(())
    }

    /// `totals` are tr C of each view.
    fn choose(&self, moments: &FoldMoments, totals: &[f64]) -> Result<Choice> {
        let (k, at_once) = (self.settings.n_components, self.plan.at_once);
        let candidates: Vec<Vec<f64>> = match self.plan.regularization {
            Regularization::Value(kappa) => vec![vec![kappa; totals.len()]],
            Regularization::Auto => {
                SHARES.iter().map(|share| totals.iter().map(|total| share * total).collect()).collect()
            }
        };
        if self.plan.folds == 0 {
            let kappas = candidates.into_iter().next().unwrap_or_default();
            return Ok(Choice { kappas, curve: None, held_out: Vec::new(), errors: Vec::new() });
        }
        let study = study(moments, &candidates, (k, at_once), self.watch)?;
        let curve = (self.plan.regularization == Regularization::Auto).then(|| study.curve());
        let chosen = curve.as_ref().map_or(0, |curve| curve.chosen);
        let (held_out, errors) = match &curve {
            Some(_) => nested(moments, (&study, &candidates), (k, at_once), self.watch)?,
            None => study.correlations(chosen),
        };
        Ok(Choice { kappas: candidates[chosen].clone(), curve, held_out, errors })
    }

    fn significance(&self, choice: &Choice, totals: &[f64], k: usize) -> Result<Option<Significance>> {
        let fixed: Vec<f64> = totals.iter().map(|total| TESTED_SHARE * total).collect();
        let ask = Permutations {
            kappas: if choice.curve.is_some() { &fixed } else { &choice.kappas },
            n_components: k,
            count: self.plan.permutations,
            at_once: self.plan.at_once,
            seed: self.settings.features.seed,
        };
        if ask.count == 0 { Ok(None) } else { ask.run(&self.factors, self.views, self.watch).map(Some) }
    }

    /// Scores of each view as affine functions of its lift. Signs are those for which the largest coefficient of the first view
    /// is positive.
    fn projections(&self, moments: &FoldMoments, solution: &Solution) -> Vec<Projection> {
        let mean = moments.whole.mean();
        let mut projections: Vec<Projection> = self
            .factors
            .iter()
            .zip(&solution.directions)
            .enumerate()
            .map(|(view, (factor, w))| factor.projection(w, &mean[moments.layout.range(view)]))
            .collect();
        let signs = projections.first().map(Projection::signs).unwrap_or_default();
        projections.iter_mut().for_each(|projection| projection.turn(&signs));
        projections
    }
}
