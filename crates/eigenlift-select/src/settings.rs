//! The settings of a selection.

use super::filter::{Filter, FilterSettings};
use super::information::Estimator;
use super::kinds::Kinds;
use super::recipe::{Data, Recipe};
use super::report::SelectionReport;
use super::resume::{Fingerprint, Keep, Resume, SelectionProgress};
use super::scorers::{Measure, Scorer};
use super::search::Direction;
use super::splits::Split;
use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::error::{Error, Result};
use eigenlift::kernel::KernelSpec;
use eigenlift::progress::Watch;
use serde::Serialize;
use std::sync::Arc;

/// Features tried at most when their number is chosen, unless something else is said.
const MOST: usize = 100;
/// Steps without a better score after which a search for the number of features ends, unless something else is said.
const PATIENCE: usize = 10;

/// How features are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SelectionMethod {
    /// Mutual information with the labels, (S1), (S4).
    Mi,
    /// Minimal redundancy and maximal relevance, (S8).
    Mrmr,
    /// Joint mutual information, (S9).
    Jmi,
    /// F of the analysis of variance, or of a linear correlation, (S10), (S11).
    F,
    /// Chi-squared of counts, (S12).
    Chi2,
    /// Kernel dependence, (S13).
    Hsic,
    /// Forward steps, (S23).
    Forward,
    /// Backward steps, (S23).
    Backward,
    /// Forward steps, with steps back where they help, (S24).
    Floating,
}

impl SelectionMethod {
    const ALL: [(Self, &'static str); 9] = [
        (Self::Mi, "mi"),
        (Self::Mrmr, "mrmr"),
        (Self::Jmi, "jmi"),
        (Self::F, "f"),
        (Self::Chi2, "chi2"),
        (Self::Hsic, "hsic"),
        (Self::Forward, "forward"),
        (Self::Backward, "backward"),
        (Self::Floating, "floating"),
    ];

    /// Words of all methods.
    pub fn names() -> [&'static str; 9] {
        Self::ALL.map(|(_, name)| name)
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(method, _)| *method == self).map_or("", |(_, name)| name)
    }

    /// Whether it scores features without a model.
    pub fn is_filter(self) -> bool {
        self.filter().is_some()
    }

    pub(super) fn filter(self) -> Option<Filter> {
        match self {
            Self::Mi => Some(Filter::Information),
            Self::Mrmr => Some(Filter::MinimalRedundancy),
            Self::Jmi => Some(Filter::JointInformation),
            Self::F => Some(Filter::FScore),
            Self::Chi2 => Some(Filter::ChiSquared),
            Self::Hsic => Some(Filter::Hsic),
            Self::Forward | Self::Backward | Self::Floating => None,
        }
    }

    pub(super) fn direction(self) -> Direction {
        match self {
            Self::Backward => Direction::Backward,
            Self::Floating => Direction::Floating,
            _ => Direction::Forward,
        }
    }

    /// Whether it looks at information, and so at the kinds of columns.
    pub fn sees_kinds(self) -> bool {
        matches!(self, Self::Mi | Self::Mrmr | Self::Jmi)
    }
}

impl std::fmt::Display for SelectionMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for SelectionMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(method, _)| *method).ok_or_else(|| {
            Error::setting(
                format!("the method {text:?}"),
                format!("one of {} is required", Self::names().join(", ")),
                "Name one of them",
            )
        })
    }
}

/// How many features are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exactly(usize),
    /// The fewest within one standard error of the best score on rows held out, (S22).
    #[default]
    Auto,
    /// As many as have the best score on rows held out.
    Best,
}

/// A selection of features.
///
/// ```
/// use eigenlift::data::{self, Labels};
/// use eigenlift_select::{Count, Scorer, Selection, SelectionMethod};
///
/// let iris = data::iris()?;
/// let labels = Labels::of_words(&iris.target);
/// let found = Selection::new(SelectionMethod::Forward).scorer(Scorer::Lda).select(&iris.samples.into(), &labels)?;
/// assert!(found.selected.contains(&3));
/// let best = Selection::new(SelectionMethod::Mi).features(Count::Exactly(2)).select(&data::iris()?.samples.into(), &labels)?;
/// assert_eq!(best.selected, [2, 3]);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    method: SelectionMethod,
    count: Count,
    scorer: Option<Scorer>,
    measure: Option<Measure>,
    split: Split,
    nested: Option<usize>,
    standardize: bool,
    estimator: Estimator,
    kinds: Kinds,
    permutations: usize,
    kernel: KernelSpec,
    tol: Option<f64>,
    patience: Option<usize>,
    most: Option<usize>,
    seed: u64,
    column_names: Vec<String>,
    engine: Option<Arc<dyn Engine>>,
    watch: Watch,
}

impl Selection {
    /// Selects by this method as many features as [`Count::Auto`] finds, judged by 5 nearest neighbours in 5 folds.
    pub fn new(method: SelectionMethod) -> Self {
        Self {
            method,
            count: Count::Auto,
            scorer: None,
            measure: None,
            split: Split::default(),
            nested: None,
            standardize: false,
            estimator: Estimator { n_neighbors: 3, corrected: false },
            kinds: Kinds::Auto,
            permutations: 0,
            kernel: KernelSpec::default(),
            tol: None,
            patience: None,
            most: None,
            seed: 0,
            column_names: Vec::new(),
            engine: None,
            watch: Watch::default(),
        }
    }

    /// How many features are kept.
    pub fn features(mut self, count: Count) -> Self {
        self.count = count;
        self
    }

    /// What learns from features. A filter that keeps a fixed number of them is judged on rows held out only when this is said.
    pub fn scorer(mut self, scorer: Scorer) -> Self {
        self.scorer = Some(scorer);
        self
    }

    /// How predictions are judged; accuracy for classes and R² for numbers unless said.
    pub fn measure(mut self, measure: Measure) -> Self {
        self.measure = Some(measure);
        self
    }

    /// How rows are held out.
    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Does the whole selection again without each of `n_folds` parts of the rows, and judges it on them, (S25).
    pub fn nested(mut self, n_folds: usize) -> Self {
        self.nested = Some(n_folds);
        self
    }

    /// Whether columns get mean 0 and variance 1 over the rows learned from, for the scorer.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// Neighbours that estimates of information go by.
    pub fn neighbors(mut self, n_neighbors: usize) -> Self {
        self.estimator.n_neighbors = n_neighbors;
        self
    }

    /// Whether information between discrete columns is corrected for its bias, (S2).
    pub fn corrected(mut self, corrected: bool) -> Self {
        self.estimator.corrected = corrected;
        self
    }

    /// Which columns are discrete.
    pub fn kinds(mut self, kinds: Kinds) -> Self {
        self.kinds = kinds;
        self
    }

    /// Permutations of the labels for p-values; 0 for none, (S7).
    pub fn permutations(mut self, permutations: usize) -> Self {
        self.permutations = permutations;
        self
    }

    /// The kernel of [`SelectionMethod::Hsic`], on each column by itself.
    pub fn kernel(mut self, kernel: KernelSpec) -> Self {
        self.kernel = kernel;
        self
    }

    /// A step of a search that changes the score by less than this is not taken and ends the search.
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = Some(tol);
        self
    }

    /// Steps in a row without a better score after which a search ends; 10 where the number of features is chosen, otherwise
    /// none.
    pub fn patience(mut self, patience: usize) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Features tried at most where their number is chosen, 100 unless said. Backward steps begin with all and know no such limit.
    pub fn most(mut self, most: usize) -> Self {
        self.most = Some(most);
        self
    }

    /// Fixes all random draws.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Names of the columns, for messages.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Runs on this engine's threads.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Selects features.
    ///
    /// # Errors
    /// When entries are missing, labels do not fit the rows or are all the same, settings do not fit the labels, or the watch says
    /// so.
    pub fn select(&self, x: &AnySamples, labels: &Labels) -> Result<SelectionReport> {
        self.select_resumable(x, labels, None, &mut |_| Ok(()))
    }

    /// As [`Selection::select`]; a search goes on from an earlier one, and `keep` is told after each of its steps.
    ///
    /// # Errors
    /// Also when the earlier search was on other data or with other settings, and what `keep` says.
    pub fn select_resumable(
        &self,
        x: &AnySamples,
        labels: &Labels,
        earlier: Option<SelectionProgress>,
        keep: &mut Keep<'_>,
    ) -> Result<SelectionReport> {
        labels.check(x.n_rows())?;
        self.check()?;
        let engine = match &self.engine {
            Some(engine) => engine.clone(),
            None => Arc::new(Cpu::new(0)?),
        };
        let mut work = Some((earlier, keep));
        let mut result = Err(Error::Cancelled);
        engine.run(&mut || {
            if let Some((earlier, keep)) = work.take() {
                result = self.work(x, labels, earlier, keep);
            }
        });
        result
    }

    fn check(&self) -> Result<()> {
        let refuse = |found: &str, required: &str| Err(Error::setting(found, required, "Give such a number"));
        if self.count == Count::Exactly(0) || self.most == Some(0) {
            return refuse("0 features", "at least 1 is kept");
        }
        if self.estimator.n_neighbors == 0 {
            return refuse("0 neighbours", "estimates of information go by at least 1");
        }
        if self.patience == Some(0) {
            return refuse("a patience of 0 steps", "a search takes at least 1 step");
        }
        if self.tol.is_some_and(|tol| !tol.is_finite()) {
            return refuse("a tolerance that is not finite", "it is a number");
        }
        Ok(())
    }

    fn work(
        &self,
        x: &AnySamples,
        labels: &Labels,
        earlier: Option<SelectionProgress>,
        keep: &mut Keep<'_>,
    ) -> Result<SelectionReport> {
        let data = Data::of(x, labels, (&self.kinds, self.method.sees_kinds()), &self.column_names)?;
        let recipe = self.recipe(&data)?;
        let fingerprint = match self.method.is_filter() {
            true => String::new(),
            false => Fingerprint::new()
                .words(&format!("{:?} {:?} {:?}", self.method, recipe.scorer, recipe.measure))
                .words(&format!("{:?} {} {}", self.split, self.standardize, self.seed))
                .data(&data)
                .text(),
        };
        let mut resume =
            Resume::new(fingerprint, earlier, (data.columns.n_cols(), self.method.direction()), keep)?;
        recipe.report(&data, &self.split, self.nested, &mut resume)
    }

    /// What is done, on these rows and on parts of them.
    fn recipe(&self, data: &Data) -> Result<Recipe> {
        let d = data.columns.n_cols();
        let open = !matches!(self.count, Count::Exactly(_));
        let judged = self.scorer.is_some() || open || self.nested.is_some() || !self.method.is_filter();
        let scorer = judged.then(|| self.scorer.unwrap_or(Scorer::Knn { n_neighbors: 5 }));
        let measure = self.measure.unwrap_or(Measure::usual(&data.goal));
        if let Some(scorer) = &scorer {
            scorer.check(&data.goal)?;
            measure.check(&data.goal)?;
        }
        let mut warnings = Vec::new();
        if let Count::Exactly(k) = self.count
            && k > d
        {
            warnings.push(format!("{k} features were asked for; there are {d}, and all of them are kept."));
        }
        let most = self.most.unwrap_or(MOST).min(d);
        let to = match (self.count, self.method) {
            (Count::Exactly(k), _) => k.min(d),
            (_, SelectionMethod::Backward) => 1,
            _ => most,
        };
        Ok(Recipe {
            method: self.method,
            count: self.count,
            to,
            scorer,
            measure,
            // Whether the inner folds are needed, or only a judge for the selection as a whole.
            with_curve: judged && (open || self.scorer.is_some() || !self.method.is_filter()),
            standardize: self.standardize,
            filter: FilterSettings {
                estimator: self.estimator,
                kernel: self.kernel.clone(),
                permutations: self.permutations,
                seed: self.seed,
            },
            tol: self.tol,
            patience: self.patience.or(open.then_some(PATIENCE)),
            seed: self.seed,
            watch: self.watch.clone(),
            warnings,
        })
    }
}
