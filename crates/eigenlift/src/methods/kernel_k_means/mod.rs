//! Kernel k-means: clusters in feature space, by Lloyd's iteration on features.

mod file;
mod fitted;
mod lloyd;
mod reading;
mod rows;
mod seeds;

pub use fitted::FittedKernelKMeans;
pub(crate) use fitted::KernelKMeansBody;

use crate::data::AnySamples;
use crate::data::folds::gathered;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::{Factor, FactorPlan, shrunk};
use crate::features::FeatureSettings;
use crate::gram::Similarity;
use crate::kernel::KernelSpec;
use crate::matrix::Matrix;
use crate::model::{Job, Lift, Plan, Projection, check_column_names};
use crate::progress::Watch;
use fitted::{Facts, Measure};
use lloyd::{Lloyd, Outcome};
use reading::{Keep, Reading, Wish};
use rows::{Reader, Rows};
use std::sync::Arc;

/// Kernel k-means: clusters with the least sum of squared distances, in feature space, to their centres, (C40).
///
/// Clusters need not be convex in the input: an rbf kernel follows rings and bands where plain k-means, which is the linear
/// kernel, cuts through them. Several starts are made (k-means++, (C42)) and the best is kept. With more than 20 000 rows the
/// starts are made on 20 000 of them, drawn by the seed, and the best goes on with all rows.
///
/// ```
/// use eigenlift::data::iris;
/// use eigenlift::methods::KernelKMeans;
/// let x = iris()?.samples.into();
/// let model = KernelKMeans::new(3).kernel("linear".parse()?).fit(&x)?;
/// assert!((model.inertia() - 78.851).abs() < 1e-3);
/// assert_eq!(model.predict(x.points())?, model.labels());
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelKMeans {
    clusters: usize,
    features: FeatureSettings,
    starts: usize,
    max_steps: usize,
    spectral: Option<usize>,
    initial_labels: Option<Vec<u32>>,
    column_names: Vec<String>,
}

impl KernelKMeans {
    /// This many clusters, kernel `rbf(gamma=median)`, the best of 10 starts.
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            features: FeatureSettings::new(),
            starts: 10,
            max_steps: 300,
            spectral: None,
            initial_labels: None,
            column_names: Vec::new(),
        }
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

    /// Starts, of which the best is kept.
    pub fn starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }

    /// Steps at most. A run ends before when no row changes its cluster.
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps;
        self
    }

    /// Clusters the scores of this many kernel principal components in place of all features, (C43).
    pub fn spectral(mut self, components: usize) -> Self {
        self.spectral = Some(components);
        self
    }

    /// Starts once, from these clusters, in place of drawn centres.
    pub fn initial_labels(mut self, labels: Vec<u32>) -> Self {
        self.initial_labels = Some(labels);
        self
    }

    /// Names of the input columns, kept in the model.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Plans a fit, which [`Job::run`] then does: which features it uses, and whether those of all rows are held.
    ///
    /// # Errors
    /// As [`KernelKMeans::fit`], as far as they can be known in advance.
    pub fn prepare(&self, x: &AnySamples) -> Result<Job<'static, KernelKMeansBody>> {
        self.check(x)?;
        let (engine, similarity) = (self.features.running_engine()?, self.features.similarity_of(x)?);
        let (plan, features) = shrunk(|most| {
            let features = self.features.plan_within(x, &similarity, most, &*engine)?;
            Ok((self.keep(FactorPlan::of(&features))?.0, features))
        })?;
        let (settings, x) = (self.clone(), x.clone());
        Ok(Job::new(plan, move |_| settings.run(&x, (&similarity, &features), &engine)))
    }

    /// Finds the clusters of rows: what [`KernelKMeans::prepare`] plans. Where fewer rows differ than there are clusters, some clusters stay empty, with the centre
    /// of another, and a warning says how many.
    ///
    /// Cost: one reading of the rows, n·m(2d + 2m) flops with m features, then 2·n·m·clusters for each step.
    ///
    /// # Errors
    /// Settings out of range, more clusters than rows, entries that the kernel cannot take, not enough memory,
    /// cancellation.
    pub fn fit(&self, x: &AnySamples) -> Result<FittedKernelKMeans> {
        self.prepare(x)?.run()
    }

    fn run(
        &self,
        x: &AnySamples,
        planned: (&Similarity, &Plan),
        engine: &Arc<dyn Engine>,
    ) -> Result<FittedKernelKMeans> {
        let watch = &self.features.watch;
        let mut factor = self.features.choose(x, planned, engine)?;
        // Features may be fewer than planned.
        let (plan, keep) = self.keep(factor.plan.clone())?;
        factor.plan = plan;
        let reading = Reading::of(&factor, x.points(), &keep, watch)?;
        let work = Work { settings: self, factor: &factor, x, engine: &**engine, watch };
        match self.spectral {
            Some(q) => work.spectral(reading, q, engine),
            None => work.direct(reading, engine),
        }
    }

    fn check(&self, x: &AnySamples) -> Result<()> {
        let (n, d) = (x.n_rows(), x.n_cols());
        let bad = |found: String, required: &str, action: &str| Err(Error::setting(found, required, action));
        if self.clusters == 0 || self.clusters > n {
            return bad(
                format!("{} clusters of {n} rows", self.clusters),
                "each cluster has at least one row",
                "Ask for at least one cluster and at most as many as there are rows",
            );
        }
        if self.starts == 0 || self.max_steps == 0 {
            return bad(
                format!("{} starts of {} steps", self.starts, self.max_steps),
                "there must be at least one of each",
                "Leave them at 10 and 300",
            );
        }
        if self.spectral == Some(0) {
            return bad("0 components".into(), "at least 1 is needed", "Use as many as there are clusters");
        }
        check_column_names(&self.column_names, d)?;
        match &self.initial_labels {
            Some(labels) => check_labels(labels, n, self.clusters),
            None => Ok(()),
        }
    }

    /// The plan with what is held beside features, and which rows' features are.
    fn keep(&self, plan: FactorPlan) -> Result<(FactorPlan, Keep)> {
        let starts = if self.initial_labels.is_some() { 0 } else { self.starts };
        let wish = Wish { clusters: self.clusters, starts, components: self.spectral };
        wish.within(plan, self.features.seed)
    }
}

fn check_labels(labels: &[u32], n: usize, clusters: usize) -> Result<()> {
    let mut sizes = vec![0usize; clusters];
    let known = labels.iter().all(|label| match sizes.get_mut(*label as usize) {
        Some(size) => {
            *size += 1;
            true
        }
        None => false,
    });
    if labels.len() == n && known && sizes.iter().all(|size| *size > 0) {
        return Ok(());
    }
    Err(Error::setting(
        format!("{} initial labels for {n} rows and {clusters} clusters", labels.len()),
        "each row has one, from 0 on, and each cluster has a row",
        "Give one label below the number of clusters for each row",
    ))
}

/// What a fit works with.
struct Work<'a> {
    settings: &'a KernelKMeans,
    factor: &'a Factor,
    x: &'a AnySamples,
    engine: &'a dyn Engine,
    watch: &'a Watch,
}

impl Work<'_> {
    /// Clusters of features.
    fn direct(&self, reading: Reading, engine: &Arc<dyn Engine>) -> Result<FittedKernelKMeans> {
        let reader = Reader {
            factor: self.factor,
            x: self.x.points(),
            mean: reading.partial.mean(),
            watch: self.watch,
        };
        let rows = match &reading.held {
            Some(held) => Rows::Held(held),
            None => Rows::Read(reader),
        };
        let outcome = self.run(&rows, reading.sample.as_ref())?;
        let plane = reading.components(2, self.watch)?;
        let (measure, projection, plane_at) =
            fitted::by_features(self.factor, &outcome.centres, &reading, &plane);
        let facts = Facts {
            inertia: outcome.inertia + reading.partial.residual_trace(),
            left_out: self.factor.left_out(reading.partial.residual_trace(), reading.trace),
            spectral: None,
            ..self.facts(&outcome, plane.n_cols())
        };
        Ok(self.model((measure, projection, plane_at), facts, outcome.labels, engine))
    }

    /// Clusters of kernel principal components, (C43).
    fn spectral(&self, reading: Reading, q: usize, engine: &Arc<dyn Engine>) -> Result<FittedKernelKMeans> {
        let axes = reading.components(q.max(2), self.watch)?;
        let own = q.min(axes.n_cols());
        if own == 0 {
            return Err(Error::no_variance(
                "features that do not vary beyond rounding",
                "there must be a principal component to cluster by",
                "All samples look the same to this kernel: check for constant columns, or change its parameters",
            ));
        }
        let projection = fitted::with_signs(self.factor.projection(&axes, reading.partial.mean()), 0);
        let scores = projection.project(self.engine, self.x.points(), self.watch)?.into_first_columns(own);
        let rows = reading.keep.sample.as_ref();
        let sample = rows.map(|rows| gathered(scores.view(), rows));
        let outcome = self.run(&Rows::Held(&scores), sample.as_ref())?;
        let facts = Facts {
            inertia: outcome.inertia,
            left_out: self.factor.left_out(reading.partial.residual_trace(), reading.trace),
            spectral: Some(own),
            ..self.facts(&outcome, axes.n_cols().min(2))
        };
        let measure = Measure::Coordinates { centres: outcome.centres };
        let mut model = self.model((measure, projection, 0), facts, outcome.labels, engine);
        if own < q {
            model.warnings.push(format!(
                "The features have {own} principal component(s), fewer than the {q} asked for."
            ));
        }
        Ok(model)
    }

    /// The best of all starts.
    fn run(&self, rows: &Rows<'_>, sample: Option<&Matrix<f64>>) -> Result<Outcome> {
        let KernelKMeans { clusters, starts, max_steps, .. } = self.settings;
        let lloyd = Lloyd { clusters: *clusters, max_steps: *max_steps, watch: self.watch };
        let seed = self.settings.features.seed;
        self.engine.complete(|| match &self.settings.initial_labels {
            Some(labels) => lloyd.run_from(rows, labels),
            None => lloyd.best_of(rows, sample, *starts, seed),
        })
    }

    fn facts(&self, outcome: &Outcome, n_plane: usize) -> Facts {
        Facts {
            inertia: outcome.inertia,
            steps: outcome.steps,
            converged: outcome.converged,
            starts: if self.settings.initial_labels.is_some() { 1 } else { self.settings.starts },
            spectral: None,
            n_plane,
            left_out: None,
        }
    }

    fn model(
        &self,
        (measure, projection, plane_at): (Measure, Projection, usize),
        facts: Facts,
        labels: Vec<u32>,
        engine: &Arc<dyn Engine>,
    ) -> FittedKernelKMeans {
        let mut warnings: Vec<String> = self.factor.warning.iter().cloned().collect();
        let sizes = fitted::sizes_of(&labels, self.settings.clusters);
        let filled = sizes.iter().filter(|size| **size > 0).count();
        if filled < sizes.len() {
            warnings.push(format!(
                "Number of distinct clusters ({filled}) found smaller than n_clusters ({}): that many rows differ in feature space. Ask for fewer clusters, or change the kernel's parameters.",
                sizes.len()
            ));
        }
        if !facts.converged {
            warnings.push(format!(
                "After {} steps rows still change their cluster: allow more steps.",
                self.settings.max_steps
            ));
        }
        if matches!(projection.lift, Lift::Precomputed { .. }) && facts.left_out.is_some() {
            warnings.push(
                "Distances of new rows are those of their part in the span of the landmarks: a row of a Gram matrix does not hold k(x,x)."
                    .into(),
            );
        }
        FittedKernelKMeans {
            plan: self.factor.plan.clone(),
            warnings,
            column_names: self.settings.column_names.clone(),
            engine: Arc::clone(engine),
            body: KernelKMeansBody { projection, measure, plane_at, sizes, labels, facts },
        }
    }
}
