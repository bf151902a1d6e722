//! Principal component analysis of rows, and whitening.

mod axes;
pub mod choose;
mod fitted;
mod novelty;
mod pieces;
mod plan;
mod products;
mod file;
mod schedule;
mod solve;
mod stream;
mod sums;
mod whitening;

pub(super) use fitted::PcaBody;
pub use fitted::{FittedPca, Loadings, Reconstruction};
pub use pieces::{PcaPieces, centred_product};
pub use plan::{PcaPlan, PcaRoute};
pub use stream::{PcaStream, StreamState};
pub(super) use whitening::WhiteningBody;
pub use whitening::{FittedWhitening, Whitening, WhiteningMethod};

use crate::data::{AnyPoints, AnySamples, RowSource};
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::progress::Watch;
use choose::ChoiceOptions;
use pieces::SourcePieces;
use schedule::Request;
use std::sync::Arc;
use sums::Weighted;

/// Smallest tolerance that makes sense in double precision.
const SMALLEST_TOLERANCE: f64 = 1e-14;
/// Most rows of a source that the rules on the number of components look at.
const SAMPLE_ROWS: usize = 10_000;

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

    /// What [`Pca::fit`] would do, without doing it.
    ///
    /// # Errors
    /// As [`Pca::fit`], as far as they can be known in advance.
    pub fn plan(&self, x: &AnySamples) -> Result<PcaPlan> {
        self.plan_points(x.points(), None)
    }

    /// As [`Pca::plan`], for what [`Pca::fit_points`] would do.
    ///
    /// # Errors
    /// As [`Pca::fit_points`], as far as they can be known in advance.
    pub fn plan_points<'a>(&self, x: impl Into<AnyPoints<'a>>, weights: Option<&[f64]>) -> Result<PcaPlan> {
        let data = Weighted { rows: x.into(), weights };
        self.check(weights.is_some())?;
        schedule::plan(&self.request(data), &*self.running_engine()?)
    }

    /// As [`Pca::plan`], for rows that are read in pieces.
    ///
    /// # Errors
    /// As [`Pca::fit_source`], as far as they can be known in advance.
    pub fn plan_source(&self, source: &mut dyn RowSource) -> Result<PcaPlan> {
        self.check(self.weights_last)?;
        schedule::plan(&self.source_request(source)?, &*self.running_engine()?)
    }

    /// Fits the model.
    ///
    /// Cost: by route, see [`PcaRoute`]; memory as the plan says. The rows are not copied.
    ///
    /// # Errors
    /// Settings out of range, entries that are not finite, rows that all look the same, not enough memory, cancellation.
    pub fn fit(&self, x: impl Into<AnySamples>) -> Result<FittedPca> {
        self.fit_points(x.into().points(), None)
    }

    /// As [`Pca::fit`], each row counted as often as its weight says, (P1), (P2).
    ///
    /// # Errors
    /// As [`Pca::fit`], and weights that are negative, not finite, all zero, or not one for each row.
    pub fn fit_weighted(&self, x: impl Into<AnySamples>, weights: &[f64]) -> Result<FittedPca> {
        self.fit_points(x.into().points(), Some(weights))
    }

    /// As [`Pca::fit_weighted`], for borrowed rows.
    ///
    /// # Errors
    /// As [`Pca::fit_weighted`].
    pub fn fit_points<'a>(&self, x: impl Into<AnyPoints<'a>>, weights: Option<&[f64]>) -> Result<FittedPca> {
        let data = Weighted { rows: x.into(), weights };
        self.check(weights.is_some())?;
        data.check()?;
        let engine = self.running_engine()?;
        let mut plan = schedule::plan(&self.request(data), &*engine)?;
        let mut axes = engine.complete(|| self.solve(data, &mut plan))?;
        let mut choice = None;
        if self.n_components.is_none() {
            let found = engine.complete(|| self.choose(&axes, data));
            choice = Some(found?);
        }
        self.keep_chosen(&mut axes, choice.as_ref());
        Ok(FittedPca::new(self, axes, (plan, choice), engine))
    }

    /// Fits rows that are read in pieces, exactly: one reading when a matrix of all columns fits, else some more.
    ///
    /// # Errors
    /// As [`Pca::fit`], and what the source fails with.
    pub fn fit_source(&self, source: &mut dyn RowSource) -> Result<FittedPca> {
        self.check(self.weights_last)?;
        let engine = self.running_engine()?;
        let plan = schedule::plan(&self.source_request(source)?, &*engine)?;
        let (n, chunk) = (plan.n_samples, plan.chunk_rows);
        let pieces = SourcePieces::new(source, n, chunk, self.weights_last, self.watch.clone());
        self.fit_planned(&pieces, plan, engine)
    }

    /// Fits rows that lie in pieces, such as those on the machines of a cluster: by sums over all rows where a matrix of all columns fits, else by
    /// passes over them.
    ///
    /// # Errors
    /// As [`Pca::fit`], and what the pieces fail with.
    pub fn fit_pieces(&self, pieces: &dyn PcaPieces) -> Result<FittedPca> {
        let engine = self.running_engine()?;
        let plan = self.planned_pieces(pieces, &*engine)?;
        self.fit_planned(pieces, plan, engine)
    }

    /// What [`Pca::fit_pieces`] would do.
    ///
    /// # Errors
    /// As [`Pca::fit_pieces`], as far as they can be known in advance.
    pub fn plan_pieces(&self, pieces: &dyn PcaPieces) -> Result<PcaPlan> {
        self.planned_pieces(pieces, &*self.running_engine()?)
    }

    fn planned_pieces(&self, pieces: &dyn PcaPieces, engine: &dyn Engine) -> Result<PcaPlan> {
        self.check(pieces.weighted())?;
        let request = Request {
            n_samples: pieces.n_rows(),
            n_features: pieces.n_cols(),
            precision: pieces.precision(),
            in_memory: false,
            most_rows: usize::MAX,
            elsewhere: true,
            sparse: false,
            weighted: pieces.weighted(),
            threads: 0,
            bytes_allowed: 0,
            route: self.route.map(|route| (route, schedule::asked_for(route))),
            settings: self,
        };
        let mut plan = schedule::plan(&request, engine)?;
        plan.reasons.push(pieces.place());
        Ok(plan)
    }

    fn fit_planned(
        &self,
        pieces: &dyn PcaPieces,
        mut plan: PcaPlan,
        engine: Arc<dyn Engine>,
    ) -> Result<FittedPca> {
        let mut axes = engine.complete(|| self.solve_pieces(pieces, &mut plan, &engine))?;
        plan.n_samples = axes.count;
        let mut choice = None;
        if self.n_components.is_none() {
            let n = axes.count;
            // A quarter of the memory allowed may go to rows that the rules look at.
            let most =
                (plan.bytes_allowed / 4 / (8 * plan.n_features.max(1) as u64)).clamp(64, SAMPLE_ROWS as u64);
            let wanted = crate::random::Stream::new(self.seed, crate::random::Purpose::SampleRows)
                .rows(n, most as usize);
            let rows = pieces.gather(&wanted)?;
            let found =
                engine.complete(|| self.choose(&axes, Weighted { rows: (&rows).into(), weights: None }));
            choice = Some(found?);
        }
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

    fn request(&self, data: Weighted<'_>) -> Request<'_> {
        Request {
            n_samples: data.n_rows(),
            n_features: data.n_cols(),
            precision: if matches!(data.rows, AnyPoints::F32(_)) { "f32" } else { "f64" },
            in_memory: true,
            most_rows: usize::MAX,
            elsewhere: false,
            sparse: data.is_sparse(),
            weighted: data.weights.is_some(),
            threads: 0,
            bytes_allowed: 0,
            route: self.route.map(|route| (route, schedule::asked_for(route))),
            settings: self,
        }
    }

    fn source_request(&self, source: &mut dyn RowSource) -> Result<Request<'_>> {
        let weighted = self.weights_last;
        if weighted && source.n_cols() < 2 {
            return Err(Error::data(
                "one column, which holds weights",
                "at least one column of data is needed beside it",
                "Select data columns",
            ));
        }
        Ok(Request {
            n_samples: source.n_rows()?,
            n_features: source.n_cols() - usize::from(weighted),
            precision: source.precision(),
            in_memory: false,
            most_rows: source.most_rows(),
            elsewhere: false,
            sparse: false,
            weighted,
            threads: 0,
            bytes_allowed: 0,
            route: self.route.map(|route| (route, schedule::asked_for(route))),
            settings: self,
        })
    }
}
