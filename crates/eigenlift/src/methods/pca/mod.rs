//! Principal component analysis of rows, and whitening.

mod axes;
pub mod choose;
mod expected;
mod fitted;
mod novelty;
mod plan;
mod products;
mod file;
mod schedule;
mod solve;
mod stream;
mod whitening;

pub(crate) use fitted::PcaBody;
pub use fitted::{FittedPca, Loadings, Reconstruction};
pub use plan::{PcaPlan, PcaRoute};
pub use stream::{PcaStream, StreamState};
pub(crate) use whitening::WhiteningBody;
pub use whitening::{FittedWhitening, Whitening, WhiteningMethod};

use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::model::Job;
use crate::progress::Watch;
use crate::rows::{Data, Pass, Place, Rows, Weighted};
use choose::ChoiceOptions;
use schedule::Request;
use std::sync::Arc;

/// Smallest tolerance that makes sense in double precision.
const SMALLEST_TOLERANCE: f64 = 1e-14;

/// Settings of principal component analysis. [`Pca::fit`] gives the model.
///
/// Scores are coordinates of x − x̄ along the orthonormal directions of largest variance, (P1)–(P4); they are also the ones
/// that lose least when rows are put together from them again, (P6), (P7).
///
/// ```
/// use eigenlift::{data, methods::Pca};
/// let iris = data::iris()?.samples;
/// let model = Pca::new(2).fit(iris.clone())?;
/// assert!((model.explained_variance_ratio()[0] - 0.92461872).abs() < 1e-8);
/// // What is lost is what the other eigenvalues hold.
/// let lost = model.reconstruction(iris.points())?.total;
/// assert!((lost - model.residual_error()).abs() < 1e-12);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pca {
    n_components: Option<usize>,
    standardize: bool,
    route: Option<PcaRoute>,
    sketch_rows: Option<usize>,
    tolerance: f64,
    seed: u64,
    memory_limit: Option<u64>,
    threads: usize,
    choice: ChoiceOptions,
    weights_last: bool,
    /// Copies of the axes that are made of the result.
    further_copies: usize,
    engine: Option<Arc<dyn Engine>>,
    column_names: Vec<String>,
    watch: Watch,
}

impl Pca {
    /// Keeps `n_components` components, or as many as there are.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components: Some(n_components),
            standardize: false,
            route: None,
            sketch_rows: None,
            tolerance: 1e-6,
            seed: 0,
            memory_limit: None,
            threads: 0,
            choice: ChoiceOptions::default(),
            weights_last: false,
            further_copies: 0,
            engine: None,
            column_names: Vec::new(),
            watch: Watch::default(),
        }
    }

    /// Keeps as many components as the rules of [`choose`] agree on; the model carries the table.
    pub fn auto() -> Self {
        Self { n_components: None, ..Self::new(1) }
    }

    /// Divides every column by its standard deviation first. Columns that are constant stay zero.
    pub fn standardize(mut self) -> Self {
        self.standardize = true;
        self
    }

    /// Goes this way instead of what the plan would choose.
    pub fn route(mut self, route: PcaRoute) -> Self {
        self.route = Some(route);
        self
    }

    /// ℓ: rows of the sketch that [`PcaRoute::Directions`] keeps, more than components. Without it max(4k, 100).
    pub fn sketch_rows(mut self, rows: usize) -> Self {
        self.sketch_rows = Some(rows);
        self
    }

    /// Relative residual ‖Cu − λu‖/λ that an iteration is asked for; other routes are direct.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Fixes every random draw.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bytes the fit may use beside the rows.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Threads; 0 means one for each processor. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What [`Pca::auto`] goes by.
    pub fn choice(mut self, options: ChoiceOptions) -> Self {
        self.choice = options;
        self
    }

    /// The last column of a source holds the weights of its rows and is no data.
    pub fn weights_in_last_column(mut self) -> Self {
        self.weights_last = true;
        self
    }

    /// Runs there instead of on the processor.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Names of the columns, kept with the model.
    pub fn column_names(mut self, names: Vec<String>) -> Self {
        self.column_names = names;
        self
    }

    /// Reports to and obeys `watch`.
    pub fn watch(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Plans a fit, which [`Job::run`] then does. Rows may be in memory, with or without weights; come from a source that is read a
    /// piece at a time, once when a matrix of all columns fits and else some more; or lie in partitions, such as those on the machines of a
    /// cluster, which are asked for sums over all rows where a matrix of all columns fits, and else for products.
    ///
    /// ```
    /// use eigenlift::{data, methods::Pca};
    /// let iris = data::iris()?.samples;
    /// let job = Pca::new(2).prepare(iris)?;
    /// assert_eq!(job.plan().n_samples, 150);
    /// assert_eq!(job.run()?.n_components(), 2);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Pca::fit`], as far as they can be known in advance.
    pub fn prepare<'a>(&self, data: impl Into<Data<'a>>) -> Result<Job<'a, PcaBody>> {
        let engine = self.running_engine()?;
        let rows = data.into().rows(&engine, self.weights_last)?;
        let plan = self.planned(&*rows, &*engine)?;
        let settings = self.clone();
        Ok(Job::new(plan, move |plan| settings.run(&*rows, plan, engine)))
    }

    /// Fits the model: what [`Pca::prepare`] plans. The rows are not copied. Those given together with weights count as often as these
    /// say, (P1), (P2).
    ///
    /// ```
    /// use eigenlift::{matrix::Matrix, methods::Pca};
    /// let x = Matrix::from_vec(vec![0.0, 0.0, 1.0, 1.0, 5.0, 5.5], 3, 2)?;
    /// let model = Pca::new(1).fit((&x, Some(&[1.0, 2.0, 1.0][..])))?;
    /// assert!((model.mean()[0] - 1.75).abs() < 1e-15);
    /// # Ok::<(), eigenlift::error::Error>(())
    /// ```
    ///
    /// Cost: by route, see [`PcaRoute`]; memory as the plan says.
    ///
    /// # Errors
    /// Settings out of range, entries that are not finite, rows that all look the same, weights that are negative, not finite, all
    /// zero, or not one for each row, not enough memory, cancellation, and what a source or partitions fail with.
    pub fn fit<'a>(&self, data: impl Into<Data<'a>>) -> Result<FittedPca> {
        self.prepare(data)?.run()
    }

    fn planned(&self, rows: &dyn Rows, engine: &dyn Engine) -> Result<PcaPlan> {
        self.check(rows.weighted())?;
        let data = rows.points().map(|(points, weights)| Weighted { rows: points, weights });
        data.map_or(Ok(()), |data| data.check())?;
        let place = rows.place();
        let request = Request {
            n_samples: rows.n_rows(),
            n_features: rows.n_cols(),
            precision: rows.precision(),
            in_memory: data.is_some(),
            most_rows: if let Place::Chunks { most_rows } = place { most_rows } else { usize::MAX },
            elsewhere: matches!(place, Place::Partitions(_)),
            sparse: data.is_some_and(|data| data.is_sparse()),
            weighted: rows.weighted(),
            threads: 0,
            bytes_allowed: 0,
            route: self.route.map(|route| (route, schedule::asked_for(route))),
            settings: self,
        };
        let mut plan = schedule::plan(&request, engine)?;
        if let Place::Partitions(sentence) = place {
            plan.reasons.push(sentence);
        }
        expected::look(&mut plan, rows, &Pass::new(&self.watch))?;
        Ok(plan)
    }

    fn run(&self, rows: &dyn Rows, mut plan: PcaPlan, engine: Arc<dyn Engine>) -> Result<FittedPca> {
        let mut axes = engine.complete(|| self.solve(rows, &mut plan))?;
        plan.n_samples = axes.count;
        let choice = match (self.n_components, rows.points()) {
            (Some(_), _) => None,
            (None, Some((points, _))) => Some(engine.complete(|| self.choose(&axes, points))?),
            (None, None) => {
                let some = self.rows_to_choose_from(rows, &plan, axes.count)?;
                Some(engine.complete(|| self.choose(&axes, some.points()))?)
            }
        };
        self.keep_chosen(&mut axes, choice.as_ref());
        Ok(FittedPca::new(self, axes, (plan, choice), engine))
    }

    /// A model to which rows are brought in pieces, with parts that can be merged and taken out.
    ///
    /// # Errors
    /// Settings out of range, or too little memory.
    pub fn stream(&self, n_features: usize) -> Result<PcaStream> {
        PcaStream::new(self.clone(), n_features)
    }

    fn running_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            Some(engine) => Ok(engine.clone()),
            None => Ok(Arc::new(Cpu::new(self.threads)?)),
        }
    }

    fn check(&self, weighted: bool) -> Result<()> {
        if weighted && self.n_components.is_none() {
            return Err(Error::setting(
                "a number of components that rules choose, for rows with weights",
                "the rules take every row to count once",
                "Give a number of components",
            ));
        }
        if self.n_components == Some(0) {
            return Err(Error::setting(
                "0 components",
                "at least 1 must be kept",
                "Ask for 2 to draw a picture",
            ));
        }
        if !(self.tolerance >= SMALLEST_TOLERANCE && self.tolerance < 1.0) {
            return Err(Error::setting(
                format!("tolerance {}", self.tolerance),
                format!("it must be at least {SMALLEST_TOLERANCE:e} and below 1"),
                "Use 1e-6 unless there is a reason not to",
            ));
        }
        Ok(())
    }
}
