//! The settings of mutual information.

use super::{Estimator, FeatureScore};
use crate::columns::{Columns, Goal};
use crate::kinds::Kinds;
use eigenlift::data::AnySamples;
use eigenlift::data::Labels;
use eigenlift::engine::{Cpu, Engine};
use eigenlift::error::{Error, Result};
use eigenlift::progress::Watch;
use std::sync::Arc;

/// Mutual information between each column and the labels, in nats.
///
/// Columns and labels that are counted give Σ p(a, b) ln(p(a, b)/(p(a)·p(b))), (S1). Where one or both are numbers, nearest rows
/// take the place of counts, (S4): for row i, ρ_i is the distance to the k-th nearest row of the same discrete value, n_A and n_B
/// are the rows of each side within ρ_i, and the estimate is the mean of ψ(k) + ψ(N) − ψ(n_A) − ψ(n_B). Rows at the same
/// distance are counted together instead, (S5), so that columns with repeated values need no noise, and no
/// estimate exceeds the entropy of the column or of the labels, (S6). The error is its standard error: by the jackknife for
/// counts, (S3), and from disjoint groups of rows for neighbors, (S27).
///
/// With permutations of the labels, each column has a p-value of its own and one that holds for all columns together, (S7).
/// The result is the same for any number of threads.
///
/// Cost: O(n log n) for each column, and O(n) to O(n log n) for each permutation of each. Memory: one copy of the table.
///
/// ```
/// use eigenlift::data::{self, Labels};
/// use eigenlift_select::MutualInformation;
/// let iris = data::iris()?;
/// let classes = Labels::Classes(iris.target.iter().map(|species| species.len()).collect());
/// let scores = MutualInformation::new().of(&iris.samples.into(), &classes)?;
/// assert!(scores[2].value > 2.0 * scores[1].value);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MutualInformation {
    estimator: Estimator,
    kinds: Kinds,
    permutations: usize,
    seed: u64,
    column_names: Vec<String>,
    engine: Option<Arc<dyn Engine>>,
    watch: Watch,
}

impl Default for MutualInformation {
    fn default() -> Self {
        Self::new()
    }
}

impl MutualInformation {
    /// Three neighbours, no correction, columns looked at by what they hold, no permutations.
    pub fn new() -> Self {
        Self {
            estimator: Estimator { n_neighbors: 3, corrected: false },
            kinds: Kinds::Auto,
            permutations: 0,
            seed: 0,
            column_names: Vec::new(),
            engine: None,
            watch: Watch::default(),
        }
    }

    /// Nearest rows looked for; fewer of them mean less bias and more noise.
    pub fn neighbors(mut self, n_neighbors: usize) -> Self {
        self.estimator.n_neighbors = n_neighbors;
        self
    }

    /// Whether columns that are counted get Miller and Madow's correction of their bias, (S2).
    pub fn corrected(mut self, corrected: bool) -> Self {
        self.estimator.corrected = corrected;
        self
    }

    /// Which columns are counted.
    pub fn kinds(mut self, kinds: Kinds) -> Self {
        self.kinds = kinds;
        self
    }

    /// Permutations of the labels for p-values; 0 for none.
    pub fn permutations(mut self, permutations: usize) -> Self {
        self.permutations = permutations;
        self
    }

    /// Fixes the permutations.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Names of columns for messages.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Runs with the threads of this engine.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// The information that each column has about the labels.
    ///
    /// Labels that are all the same, and columns that are, have none. A row that is alone in its class says nothing about numbers
    /// and is left out, as is a row alone with its value of a counted column where labels are numbers.
    ///
    /// # Errors
    /// Entries or labels that are not finite, labels of another number than rows, kinds of another number than columns, 0
    /// neighbours, cancellation.
    pub fn of(&self, x: &AnySamples, labels: &Labels) -> Result<Vec<FeatureScore>> {
        self.check(x, labels)?;
        let engine: Arc<dyn Engine> = match &self.engine {
            Some(engine) => engine.clone(),
            None => Arc::new(Cpu::new(0)?),
        };
        engine.complete(|| self.scores(x, labels))
    }

    fn scores(&self, x: &AnySamples, labels: &Labels) -> Result<Vec<FeatureScore>> {
        let columns = Columns::of(x.points(), &self.column_names)?;
        let kinds = self.kinds.of(&columns)?;
        let goal = Goal::of(labels);
        self.estimator.with_goal((&columns, &kinds, &goal), (self.permutations, self.seed), &self.watch)
    }

    fn check(&self, x: &AnySamples, labels: &Labels) -> Result<()> {
        if self.estimator.n_neighbors == 0 {
            return Err(Error::setting("0 neighbours", "at least one is needed", "3 is usual"));
        }
        let constant = match labels {
            Labels::Classes(classes) => classes.windows(2).all(|pair| pair[0] == pair[1]),
            Labels::Numbers(numbers) => {
                numbers.first().is_none_or(|y| y.is_finite())
                    && numbers.windows(2).all(|pair| pair[0] == pair[1])
            }
        };
        // Why: labels that are all the same are a question with an answer here: 0.
        if constant && labels.n_rows() == x.n_rows() { Ok(()) } else { labels.check(x.n_rows()) }
    }
}
