//! Kernel discriminants: directions in feature space along which classes lie apart, and the classes of new rows.

mod classify;
mod cross_validation;
mod file;
mod fitted;
mod labels;
mod solve;
mod sums;

pub use fitted::FittedKernelDiscriminant;
pub(crate) use fitted::KernelDiscriminantBody;

use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{FEWEST_NESTED, Factor, FactorPlan, Regularization, RegularizationCurve, SHARES, shrunk};
use crate::features::FeatureSettings;
use crate::gram::Similarity;
use crate::kernel::KernelSpec;
use crate::linalg::scale_columns;
use crate::matrix::Matrix;
use crate::model::{Job, Plan, Projection, check_column_names};
use classify::Rule;
use cross_validation::{Trials, cross_validate};
use fitted::Facts;
use labels::Labels;
use solve::{Discriminants, Within};
use std::sync::Arc;
use sums::Sums;

/// Kernel discriminant analysis (kernel Fisher, LDA): the directions with the largest ratio of the variance between classes
/// to that within, (C21), (C22).
///
/// A linear kernel with κ = 0 is linear discriminant analysis. Classes may differ in size: each counts with its share of the
/// rows.
///
/// ```
/// use eigenlift::data::iris;
/// use eigenlift::methods::KernelDiscriminant;
/// let flowers = iris()?;
/// let species: Vec<u32> = (0..150).map(|row| row / 50).collect();
/// let x = flowers.samples.into();
/// let model = KernelDiscriminant::new().kernel("rbf(gamma=0.1)".parse()?).fit(&x, &species)?;
/// assert_eq!(model.transform(x.points())?.n_cols(), 2);
/// assert!(model.held_out_accuracy().is_some_and(|(share, _)| share > 0.9));
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelDiscriminant {
    features: FeatureSettings,
    components: Option<usize>,
    regularization: Regularization,
    folds: usize,
    column_names: Vec<String>,
    class_names: Vec<String>,
}

impl Default for KernelDiscriminant {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelDiscriminant {
    /// All directions, kernel `rbf(gamma=median)`, κ by five-fold cross-validation.
    pub fn new() -> Self {
        Self {
            features: FeatureSettings::new(),
            components: None,
            regularization: Regularization::Auto,
            folds: 5,
            column_names: Vec::new(),
            class_names: Vec::new(),
        }
    }

    /// Directions that scores are given along, at most classes − 1, which is the default. Classification goes by all of them.
    pub fn components(mut self, k: usize) -> Self {
        self.components = Some(k);
        self
    }

    /// Uses this kernel.
    pub fn kernel(self, spec: KernelSpec) -> Self {
        self.with(|features| features.kernel(spec))
    }

    /// Changes how rows become features, and where it runs.
    pub fn with(mut self, change: impl FnOnce(FeatureSettings) -> FeatureSettings) -> Self {
        self.features = change(self.features);
        self
    }

    /// κ, (C21).
    pub fn regularization(mut self, kappa: Regularization) -> Self {
        self.regularization = kappa;
        self
    }

    /// Parts of the rows that are held out in turn; 0 measures nothing on held-out rows and needs a fixed κ.
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// Names of the input columns, kept in the model.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Names of the classes, in the order of their numbers; the numbers themselves by default.
    pub fn class_names(mut self, names: Vec<String>) -> Self {
        self.class_names = names;
        self
    }

    /// Plans a fit on rows of known classes, numbered from 0, which [`Job::run`] then does.
    ///
    /// # Errors
    /// As [`KernelDiscriminant::fit`], as far as they can be known in advance.
    pub fn prepare(&self, x: &AnySamples, classes: &[u32]) -> Result<Job<'static, KernelDiscriminantBody>> {
        self.check_settings(x)?;
        let mut warnings = Vec::new();
        let labels = Labels::new(classes, x.n_rows(), &self.class_names)?.split(
            self.folds,
            self.features.seed,
            &mut warnings,
        );
        let n_components = self.shown_components(labels.n_classes(), &mut warnings)?;
        let (engine, similarity) = (self.features.running_engine()?, self.features.similarity_of(x)?);
        let (plan, features) = shrunk(|most| {
            let features = self.features.plan_within(x, &similarity, most, &*engine)?;
            Ok((self.with_all(FactorPlan::of(&features), &labels)?, features))
        })?;
        let (settings, x) = (self.clone(), x.clone());
        let prepared = Prepared { similarity, features, labels, n_components, warnings, engine };
        Ok(Job::new(plan, move |_| settings.run(&x, prepared)))
    }

    /// The plan of features with all that a fit needs beside them.
    fn with_all(&self, plan: FactorPlan, labels: &Labels) -> Result<FactorPlan> {
        let needed = self.bytes(&plan, labels.n_classes(), labels.n_folds);
        let mut plan = plan.needing(needed)?;
        plan.reasons.push(self.reason(labels.n_folds));
        Ok(plan)
    }

    /// Fits on rows of known classes, numbered from 0: what [`KernelDiscriminant::prepare`] plans.
    ///
    /// With κ chosen, the accuracy on held-out rows is that of nested cross-validation: κ is chosen without the fold that is measured.
    ///
    /// Cost: one reading of the rows for moments, n·m(2d + 2m) flops with m features; (folds + 1)·9m³ for the directions, and as much for
    /// each pair of folds where κ is chosen; one more reading, n·m(2d + m), for held-out rows.
    ///
    /// # Errors
    /// One class, a class of fewer than 2 rows, settings out of range, κ = 0 where classes have no variance within
    /// ([`KernelDiscriminant::regularization`]), entries that the kernel cannot take, not enough memory, cancellation.
    pub fn fit(&self, x: &AnySamples, classes: &[u32]) -> Result<FittedKernelDiscriminant> {
        self.prepare(x, classes)?.run()
    }

    fn run(&self, x: &AnySamples, prepared: Prepared) -> Result<FittedKernelDiscriminant> {
        let Prepared { similarity, features, labels, n_components: k, mut warnings, engine } = prepared;
        let factor = self.features.choose(x, (&similarity, &features), &engine)?;
        warnings.extend(factor.warning.clone());
        // Features may be fewer than planned.
        let plan = self.with_all(factor.plan.clone(), &labels)?;
        let work = Work { settings: self, factor: &factor, x, labels: &labels, engine: &*engine };
        let without_kappa = self.regularization == Regularization::Value(0.0);
        let sums = Sums::read(&factor, x.points(), (&labels, without_kappa), &self.features.watch)?;
        let (solved, held_out) = work.solve(&sums, &mut warnings)?;
        let (projection, means) = work.projection(&solved);
        let rank = solved.ratios.len();
        if rank < k {
            warnings
                .push(format!("Class means differ along {rank} direction(s), fewer than the {k} asked for."));
        }
        let body = KernelDiscriminantBody {
            n_components: k.min(rank),
            projection,
            rule: Rule { means, priors: labels.priors() },
            counts: labels.counts.clone(),
            ratios: solved.ratios,
            facts: Facts {
                regularization: solved.kappa,
                folds: labels.n_folds,
                held_out: held_out.accuracy,
                curve: held_out.curve,
                training_accuracy: 0.0,
                left_out: factor.left_out(sums.residual_trace(), sums.trace),
            },
            class_names: labels.names.clone(),
        };
        let column_names = self.column_names.clone();
        let mut model =
            FittedKernelDiscriminant { plan, warnings, column_names, engine: Arc::clone(&engine), body };
        model.facts.training_accuracy = work.training_accuracy(&model)?;
        Ok(model)
    }

    fn check_settings(&self, x: &AnySamples) -> Result<()> {
        check_column_names(&self.column_names, x.n_cols())?;
        self.regularization.check_folds(self.folds)?;
        Ok(())
    }

    fn shown_components(&self, n_classes: usize, warnings: &mut Vec<String>) -> Result<usize> {
        let most = n_classes - 1;
        match self.components {
            Some(0) => {
                Err(Error::setting("0 components", "at least 1 is needed", "Leave it out for classes − 1"))
            }
            Some(k) if k > most => {
                warnings.push(format!(
                    "{n_classes} classes lie apart along {most} direction(s) at most, {k} were asked for."
                ));
                Ok(most)
            }
            Some(k) => Ok(k),
            None => Ok(most),
        }
    }

    fn n_tried(&self) -> usize {
        if self.regularization == Regularization::Auto { SHARES.len() } else { 1 }
    }

    /// What choosing features takes, or what follows: moments of each fold, and beside them the features of a chunk with those of a fold and
    /// along all directions, or the decompositions that run at once and their directions.
    fn bytes(&self, plan: &FactorPlan, n_classes: usize, folds: usize) -> u128 {
        let (m, folds) = (plan.rank as u128, folds.max(1) as u128);
        let pairs = if self.n_tried() > 1 { folds * (folds - 1) / 2 } else { 0 };
        let at_once = (folds + pairs).min(plan.threads as u128).max(1);
        let columns = self.n_tried() as u128 * n_classes as u128;
        let chunk = plan.chunk_rows as u128 * (3 * m / 2 + columns);
        let models = (folds + pairs) * m * (columns + 2 * n_classes as u128);
        let numbers = m * m * (folds + 2) + chunk.max(6 * m * m * at_once + models);
        u128::from(plan.bytes_needed).max(8 * numbers)
    }

    fn reason(&self, folds: usize) -> String {
        match (self.regularization, folds) {
            (Regularization::Auto, _) => {
                format!(
                    "the regularisation is the one of {} with the best accuracy on held-out rows of {folds} folds",
                    SHARES.len()
                )
            }
            (kappa, 0) => format!("the regularisation is {kappa}, and no rows are held out"),
            (kappa, _) => {
                format!("the regularisation is {kappa}; {folds} folds tell the accuracy on held-out rows")
            }
        }
    }
}

/// What a fit begins with.
struct Prepared {
    similarity: Similarity,
    /// The plan of features.
    features: Plan,
    labels: Labels,
    n_components: usize,
    warnings: Vec<String>,
    engine: Arc<dyn Engine>,
}

/// What a fit works with.
struct Work<'a> {
    settings: &'a KernelDiscriminant,
    factor: &'a Factor,
    x: &'a AnySamples,
    labels: &'a Labels,
    engine: &'a dyn Engine,
}

/// What is known of held-out rows.
#[derive(Default)]
struct HeldOut {
    /// With its standard error.
    accuracy: Option<(f64, f64)>,
    /// Over κ, where it was chosen.
    curve: Option<RegularizationCurve>,
}

impl Work<'_> {
    /// Directions for the κ asked for or the best one.
    fn solve(&self, sums: &Sums, warnings: &mut Vec<String>) -> Result<(Discriminants, HeldOut)> {
        let all = sums.of_all()?;
        let total = all.total();
        if total <= 64.0 * f64::EPSILON * all.scale {
            return Err(Error::no_variance(
                format!("features whose variance is {total:.1e}"),
                "they must vary beyond rounding",
                "All samples look the same to this kernel: check for constant columns, or change its parameters",
            ));
        }
        let kappas: Vec<f64> = match self.settings.regularization {
            Regularization::Auto => SHARES.iter().map(|share| share * total).collect(),
            Regularization::Value(kappa) => vec![kappa],
        };
        let trials = self.trials(sums, &kappas, warnings)?;
        let (held_out, chosen) = match (trials, self.settings.regularization) {
            (Some(trials), Regularization::Auto) => {
                let curve = trials.curve();
                let at = curve.chosen;
                let accuracy = trials.nested_accuracy();
                if accuracy.is_none() {
                    warnings.push(format!(
                        "No accuracy on held-out samples is reported: the regularization is chosen, and the accuracy of the choice takes \
                         {FEWEST_NESTED} folds, one that is measured and others that choose, whose samples differ. Give more samples of \
                         each class, or the regularization as a number."
                    ));
                }
                (HeldOut { accuracy, curve: Some(curve) }, at)
            }
            (Some(trials), _) => (HeldOut { accuracy: Some(trials.accuracy(0)), curve: None }, 0),
            (None, _) => (HeldOut::default(), 0),
        };
        let watch = &self.settings.features.watch;
        watch.step("directions", 0, 1)?;
        let solved = self
            .engine
            .complete(|| Within::new(&all).and_then(|within| within.discriminants(kappas[chosen])));
        Ok((solved?, held_out))
    }

    fn trials(&self, sums: &Sums, kappas: &[f64], warnings: &mut Vec<String>) -> Result<Option<Trials>> {
        if self.labels.n_folds < 2 {
            return Ok(None);
        }
        let watch = &self.settings.features.watch;
        match cross_validate(self, sums, kappas, watch) {
            Ok(trials) => Ok(Some(trials)),
            // κ = 0 may be possible with all rows and not with some of them.
            Err(Error::Setting { found, .. }) => {
                warnings.push(format!("The accuracy on held-out rows is not known: {found}."));
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// y(x) = (f(x) − mean)ᵀW with signs fixed on the coefficients, and the class means there.
    fn projection(&self, solved: &Discriminants) -> (Projection, Matrix<f64>) {
        let mut projection = self.factor.projection(&solved.directions, &solved.mean);
        let signs = projection.signs();
        projection.turn(&signs);
        let mut means = solved.means.clone();
        scale_columns(means.view_mut(), &signs);
        (projection, means)
    }

    fn training_accuracy(&self, model: &FittedKernelDiscriminant) -> Result<f64> {
        let (n, step) = (self.x.n_rows(), self.factor.plan.chunk_rows.max(1));
        let watch = &self.settings.features.watch;
        let mut right = 0;
        for from in (0..n).step_by(step) {
            watch.step("training accuracy", from, n)?;
            let to = (from + step).min(n);
            let found = model.predict_on(self.engine, self.x.points().rows(from..to), &watch.silent())?;
            right += found.iter().zip(&self.labels.classes[from..to]).filter(|(a, b)| a == b).count();
        }
        Ok(right as f64 / n as f64)
    }
}
