//! Principal components of rows that come in pieces, brought by the caller.

use super::solve::{axes_of, columns_alone};
use super::{FittedPca, Pca, PcaRoute, schedule};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::moments::{Directions, Partial, Triangle};
use crate::progress::Watch;
use crate::rows::{ColumnMoments, Kind, RowSums, Weighted, moments};
use std::sync::Arc;

/// The sums of a stream as plain numbers, to be kept and taken up again.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamState {
    /// By which route they were made.
    pub route: PcaRoute,
    /// Number of rows.
    pub count: u64,
    /// Sum of their weights, then for a sketch Δ, the number of cuts and ℓ.
    pub numbers: Vec<f64>,
    /// Mean of the rows.
    pub mean: Vec<f64>,
    /// M₂, a triangle, or the rows of a sketch; no rows for the iteration.
    pub matrix: Matrix<f64>,
    /// For a sketch and the iteration, the spread of each column; else empty.
    pub squares: Vec<f64>,
    /// Whether rows came with weights.
    pub weighted: bool,
    /// Whether all rows came in single precision.
    pub single: bool,
}

/// Principal components of rows that come in pieces. The result is that of all rows at once, whatever the pieces.
///
/// Parts that were made on different machines merge; rows can be taken out again. When the covariance of the columns does not
/// fit into the memory allowed, a sketch takes its place, [`PcaRoute::Directions`]: its result depends on the pieces, and its
/// certificate bounds by how much, (P13).
///
/// ```
/// use eigenlift::{data, methods::Pca};
/// let iris = data::iris()?.samples;
/// let mut all = Pca::new(2).stream(4)?;
/// all.partial_fit(iris.points().rows(0..70))?;
/// let mut rest = Pca::new(2).stream(4)?;
/// rest.partial_fit(iris.points().rows(70..150))?;
/// all.merge(&rest)?;
/// let (model, whole) = (all.finish()?, Pca::new(2).fit(iris)?);
/// assert!((model.variances()[1] - whole.variances()[1]).abs() < 1e-12);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[doc(alias = "IncrementalPca")]
#[derive(Clone, Debug)]
pub struct PcaStream {
    settings: Pca,
    n_features: usize,
    sums: RowSums,
    engine: Arc<dyn Engine>,
    route: (PcaRoute, String),
}

impl PcaStream {
    pub(super) fn new(settings: Pca, n_features: usize) -> Result<Self> {
        settings.check(false)?;
        if settings.n_components.is_none() {
            return Err(Error::setting(
                "a number of components that rules choose, for rows that come in pieces",
                "some of the rules need the rows",
                "Give a number of components, or use fit or fit_source",
            ));
        }
        if let Some(route) = settings.route.filter(|r| matches!(r, PcaRoute::Dual | PcaRoute::Krylov)) {
            return Err(Error::setting(
                format!("the {route} route for rows that come in pieces"),
                "it must be covariance, tsqr or directions",
                "Leave it out",
            ));
        }
        let engine = settings.running_engine()?;
        let request = schedule::Request {
            // Why: sums of more rows need no more than those of as many rows as columns.
            n_samples: n_features,
            n_features,
            precision: "f64",
            in_memory: false,
            most_rows: usize::MAX,
            sparse: false,
            weighted: false,
            threads: 0,
            bytes_allowed: 0,
            elsewhere: false,
            route: None,
            settings: &settings,
        };
        let route = schedule::stream_route(&request, &*engine);
        schedule::plan(&schedule::Request { route: Some(route.clone()), ..request }, &*engine)?;
        let sums = settings.empty_sums(route.0, n_features);
        Ok(Self { settings, n_features, sums, engine, route })
    }

    /// Goes on with sums that a fit asks [`crate::rows::Partitions`] for, the iteration's among them.
    pub fn of_sums(sums: RowSums, engine: Arc<dyn Engine>) -> Self {
        let route = match &sums.kind {
            Kind::Covariance(_) => PcaRoute::Covariance,
            Kind::Triangle(_) => PcaRoute::Tsqr,
            Kind::Directions(_) => PcaRoute::Directions,
            Kind::Columns(_) => PcaRoute::Krylov,
        };
        let (settings, n_features) = (Pca::new(1), sums.n_cols());
        Self { settings, n_features, sums, engine, route: (route, "as planned".into()) }
    }

    /// The sums so far.
    pub fn into_sums(self) -> RowSums {
        self.sums
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Adds rows.
    ///
    /// Cost: n·d² flops; twice that by triangles; 12·n·d·ℓ by a sketch of ℓ rows.
    ///
    /// # Errors
    /// Rows of another number of columns, entries that are not finite.
    pub fn partial_fit<'a>(&mut self, rows: impl Into<AnyPoints<'a>>) -> Result<()> {
        self.add(Weighted { rows: rows.into(), weights: None })
    }

    /// Adds rows, each counted as often as its weight says.
    ///
    /// # Errors
    /// As [`PcaStream::partial_fit`], and weights that are negative, not finite, or not one for each row.
    pub fn partial_fit_weighted<'a>(
        &mut self,
        rows: impl Into<AnyPoints<'a>>,
        weights: &[f64],
    ) -> Result<()> {
        self.add(Weighted { rows: rows.into(), weights: Some(weights) })
    }

    fn add(&mut self, data: Weighted<'_>) -> Result<()> {
        self.sums.check(data)?;
        let (sums, watch) = (&mut self.sums, &self.settings.watch);
        self.engine.complete(|| sums.add(data, watch))
    }

    /// Adds the rows of another part.
    ///
    /// # Errors
    /// When the parts have other columns, or went other routes.
    pub fn merge(&mut self, other: &PcaStream) -> Result<()> {
        let sums = &mut self.sums;
        self.engine.complete(|| sums.merge(&other.sums))
    }

    /// Takes out rows that were added before.
    ///
    /// # Errors
    /// Rows of another number of columns, more rows than were added, rows that hold nearly all variance, or a stream by
    /// triangles or by a sketch, from which nothing can be taken out.
    pub fn remove<'a>(&mut self, rows: impl Into<AnyPoints<'a>>) -> Result<()> {
        let data = Weighted { rows: rows.into(), weights: None };
        self.sums.check(data)?;
        let Kind::Covariance(sum) = &mut self.sums.kind else {
            let what = if self.route.0 == PcaRoute::Directions { "sketch" } else { "triangle" };
            return Err(Error::setting(
                format!("rows to take out of a {what}"),
                "only sums by covariance can be reversed",
                "Use the covariance route, or fit the remaining rows anew",
            ));
        };
        let watch = &self.settings.watch;
        self.engine.complete(|| sum.remove(&moments(data, watch)?))
    }

    /// Rows added so far.
    pub fn count(&self) -> u64 {
        self.sums.count()
    }

    /// Mean of each column so far, and Σw(x − mean)².
    pub fn columns(&self) -> (&[f64], Vec<f64>) {
        self.sums.columns()
    }

    /// The sums so far, as numbers.
    pub fn state(&self) -> StreamState {
        let none = Matrix::zeros(0, self.n_features);
        let (numbers, mean, matrix, squares) = match &self.sums.kind {
            Kind::Covariance(sum) => (vec![sum.weight()], sum.mean(), sum.scatter(), &[][..]),
            Kind::Triangle(sum) => (vec![sum.weight()], sum.mean(), sum.r(), &[][..]),
            Kind::Directions(sum) => (sum.numbers(), sum.mean(), sum.rows(), sum.squares()),
            Kind::Columns(sum) => (vec![sum.weight], &sum.mean[..], &none, &sum.squares[..]),
        };
        StreamState {
            route: self.route.0,
            count: self.count(),
            numbers,
            mean: mean.to_vec(),
            matrix: matrix.clone(),
            squares: squares.to_vec(),
            weighted: self.sums.weighted,
            single: self.sums.single,
        }
    }

    /// Goes on from sums that [`PcaStream::state`] gave, in place of those of this stream, which must have the same columns.
    ///
    /// # Errors
    /// When the numbers do not fit each other or the columns.
    pub fn resume(&mut self, state: StreamState) -> Result<()> {
        let (d, rows) = (self.n_features, state.matrix.n_rows());
        let is_sketch = state.route == PcaRoute::Directions;
        let with_squares = is_sketch || state.route == PcaRoute::Krylov;
        let fits = state.mean.len() == d
            && state.matrix.n_cols() == d
            && state.squares.len() == if with_squares { d } else { 0 }
            && state.numbers.len() == if is_sketch { 4 } else { 1 }
            && (state.route != PcaRoute::Covariance || rows == d);
        let StreamState { route, count, numbers, mean, matrix, squares, weighted, single } = state;
        let finite =
            numbers.iter().chain(&mean).chain(matrix.as_slice()).chain(&squares).all(|x| x.is_finite());
        if !fits || !finite || numbers.iter().any(|x| *x < 0.0) {
            return Err(Error::data(
                format!("sums of {} columns with a matrix of {rows} × {}", mean.len(), matrix.n_cols()),
                format!("they must be finite and fit {d} columns"),
                "Give what a stream of the same columns kept",
            ));
        }
        let kind = match route {
            PcaRoute::Covariance => Kind::Covariance(Partial::from_parts(count, numbers[0], mean, matrix)),
            PcaRoute::Tsqr => Kind::Triangle(Triangle::from_parts(count, numbers[0], mean, matrix)),
            PcaRoute::Directions => {
                Kind::Directions(Directions::from_parts((count, &numbers), mean, matrix, squares))
            }
            PcaRoute::Krylov => {
                Kind::Columns(ColumnMoments { count: count as usize, weight: numbers[0], mean, squares })
            }
            PcaRoute::Dual => {
                return Err(Error::setting(
                    format!("sums by the {route} route"),
                    "a stream goes by covariance, tsqr or directions",
                    "Give what a stream kept",
                ));
            }
        };
        if self.route.0 != route {
            self.route = (route, "taken up from earlier sums".into());
        }
        self.sums = RowSums { kind, weighted, single };
        Ok(())
    }

    /// Keeps this many components in what [`PcaStream::finish`] gives.
    pub fn keep(&mut self, n_components: usize) {
        self.settings.n_components = Some(n_components);
    }

    /// Reports to and obeys `watch` from now on, with the threads of `engine`.
    pub fn run_on(&mut self, engine: Arc<dyn Engine>, watch: Watch) {
        self.settings.watch = watch;
        self.engine = engine;
    }

    /// The model of all rows so far; more can be added afterwards.
    ///
    /// # Errors
    /// As [`Pca::fit`].
    pub fn finish(&self) -> Result<FittedPca> {
        let settings = &self.settings;
        if let Kind::Columns(_) = self.sums.kind {
            return Err(columns_alone());
        }
        let request = schedule::Request {
            n_samples: self.count() as usize,
            n_features: self.n_features,
            precision: if self.sums.single && self.count() > 0 { "f32" } else { "f64" },
            in_memory: false,
            most_rows: usize::MAX,
            sparse: false,
            weighted: self.sums.weighted,
            threads: 0,
            bytes_allowed: 0,
            elsewhere: false,
            route: Some(self.route.clone()),
            settings,
        };
        let mut plan = schedule::plan(&request, &*self.engine)?;
        plan.reasons.push("rows came in pieces".into());
        let wanted = settings.wanted_axes(&plan);
        let axes = self.engine.complete(|| axes_of(&self.sums, wanted, &settings.watch))?;
        let most = wanted.k.min((self.count() as usize).saturating_sub(1));
        let faint = matches!(self.sums.kind, Kind::Covariance(_)) && settings.is_faint(&axes, most);
        let mut model = FittedPca::new(settings, axes, (plan, None), self.engine.clone());
        if faint {
            model.warnings.push(
                "components that were asked for are so faint beside the first that sums of squares lose their digits; \
                 a stream by the route tsqr keeps them"
                    .into(),
            );
        }
        Ok(model)
    }
}
