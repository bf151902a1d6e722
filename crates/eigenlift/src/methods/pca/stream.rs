//! Principal components of rows that come in pieces, brought by the caller.

use super::axes::{self, Axes, Wanted};
use super::sums::{self, ColumnMoments, Weighted};
use super::{FittedPca, Pca, PcaRoute, schedule};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::moments::{Directions, Partial, Triangle};
use crate::progress::Watch;
use std::sync::Arc;

/// Sums of the rows so far.
#[derive(Clone, Debug)]
enum Sums {
    Covariance(Partial),
    Triangle(Triangle),
    Directions(Directions),
    /// Of columns alone, for the iteration.
    Columns(ColumnMoments),
}

impl Sums {
    /// No rows yet, for this route.
    fn empty(route: PcaRoute, n_features: usize, settings: &Pca) -> Self {
        match route {
            PcaRoute::Tsqr => Self::Triangle(Triangle::empty(n_features)),
            PcaRoute::Directions => {
                Self::Directions(Directions::empty(n_features, settings.sketch_size(n_features)))
            }
            PcaRoute::Krylov => Self::Columns(ColumnMoments::empty(n_features)),
            PcaRoute::Covariance | PcaRoute::Dual => Self::Covariance(Partial::empty(n_features)),
        }
    }
}

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
    sums: Sums,
    engine: Arc<dyn Engine>,
    route: (PcaRoute, String),
    weighted: bool,
    single: bool,
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
        let sums = Sums::empty(route.0, n_features, &settings);
        Ok(Self { settings, n_features, sums, engine, route, weighted: false, single: true })
    }

    /// Sums of no rows yet for a route that was planned, the iteration's among them.
    pub(super) fn planned(
        settings: &Pca,
        n_features: usize,
        route: PcaRoute,
        engine: Arc<dyn Engine>,
    ) -> Self {
        let (sums, settings) = (Sums::empty(route, n_features, settings), settings.clone());
        let route = (route, "as planned".into());
        Self { settings, n_features, sums, engine, route, weighted: false, single: true }
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The axes that the sums give.
    pub(super) fn axes(&self, wanted: Wanted, watch: &Watch) -> Result<Axes> {
        match &self.sums {
            Sums::Covariance(sum) => axes::of_covariance(sum, wanted, watch),
            Sums::Triangle(sum) => axes::of_triangle(sum, wanted),
            Sums::Directions(sum) => axes::of_directions(sum, wanted),
            Sums::Columns(_) => Err(columns_alone()),
        }
    }

    /// Mean and spread of each column.
    pub(super) fn column_moments(&self) -> ColumnMoments {
        let (mean, squares) = self.columns();
        let weight = match &self.sums {
            Sums::Covariance(sum) => sum.weight(),
            Sums::Triangle(sum) => sum.weight(),
            Sums::Directions(sum) => sum.numbers().first().copied().unwrap_or(0.0),
            Sums::Columns(sum) => sum.weight,
        };
        ColumnMoments { count: self.count() as usize, weight, mean: mean.to_vec(), squares }
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

    fn check_rows(&self, data: Weighted<'_>) -> Result<()> {
        if data.n_cols() == self.n_features {
            return data.check();
        }
        Err(Error::data(
            format!("rows of {} columns", data.n_cols()),
            format!("earlier ones have {}", self.n_features),
            "Give the same columns in every piece",
        ))
    }

    pub(super) fn add(&mut self, data: Weighted<'_>) -> Result<()> {
        self.check_rows(data)?;
        let (mut result, watch) = (Ok(()), self.settings.watch.clone());
        let (engine, sums) = (self.engine.clone(), &mut self.sums);
        engine.run(&mut || {
            result = match sums {
                Sums::Covariance(sum) => sums::moments(data, &watch).and_then(|part| sum.merge(&part)),
                Sums::Triangle(sum) => sums::triangle(data, &watch).and_then(|part| sum.merge(&part)),
                Sums::Directions(sum) => {
                    // Why a copy: what is cancelled half way leaves no rows behind.
                    let mut next = sum.clone();
                    sums::add_to_directions(&mut next, data, &watch).map(|()| *sum = next)
                }
                Sums::Columns(sum) => sums::column_moments(data).map(|part| sum.merge(part)),
            };
        });
        result?;
        self.single &= matches!(data.rows, AnyPoints::F32(_));
        self.weighted |= data.weights.is_some();
        Ok(())
    }

    /// Adds the rows of another part.
    ///
    /// # Errors
    /// When the parts have other columns, or went other routes.
    pub fn merge(&mut self, other: &PcaStream) -> Result<()> {
        let engine = self.engine.clone();
        let mut result = Ok(());
        match (&mut self.sums, &other.sums) {
            (Sums::Covariance(sum), Sums::Covariance(part)) => engine.run(&mut || result = sum.merge(part)),
            (Sums::Triangle(sum), Sums::Triangle(part)) => engine.run(&mut || result = sum.merge(part)),
            (Sums::Directions(sum), Sums::Directions(part)) => engine.run(&mut || result = sum.merge(part)),
            (Sums::Columns(sum), Sums::Columns(part)) => result = sum.merge_checked(part),
            _ => {
                return Err(Error::setting(
                    "parts of two routes",
                    "both must be made by covariance, both by tsqr, or both by directions",
                    "Give both parts the same route",
                ));
            }
        }
        result?;
        self.weighted |= other.weighted;
        self.single &= other.single;
        Ok(())
    }

    /// Takes out rows that were added before.
    ///
    /// # Errors
    /// Rows of another number of columns, more rows than were added, rows that hold nearly all variance, or a stream by
    /// triangles or by a sketch, from which nothing can be taken out.
    pub fn remove<'a>(&mut self, rows: impl Into<AnyPoints<'a>>) -> Result<()> {
        let data = Weighted { rows: rows.into(), weights: None };
        self.check_rows(data)?;
        let Sums::Covariance(sum) = &mut self.sums else {
            let what = if self.route.0 == PcaRoute::Directions { "sketch" } else { "triangle" };
            return Err(Error::setting(
                format!("rows to take out of a {what}"),
                "only sums by covariance can be reversed",
                "Use the covariance route, or fit the remaining rows anew",
            ));
        };
        let (mut result, watch) = (Ok(()), self.settings.watch.clone());
        self.engine.run(&mut || result = sums::moments(data, &watch).and_then(|part| sum.remove(&part)));
        result
    }

    /// Rows added so far.
    pub fn count(&self) -> u64 {
        match &self.sums {
            Sums::Covariance(sum) => sum.count(),
            Sums::Triangle(sum) => sum.count(),
            Sums::Directions(sum) => sum.count(),
            Sums::Columns(sum) => sum.count as u64,
        }
    }

    /// Mean of each column so far, and Σw(x − mean)².
    pub fn columns(&self) -> (&[f64], Vec<f64>) {
        match &self.sums {
            Sums::Covariance(sum) => {
                (sum.mean(), (0..self.n_features).map(|j| sum.scatter()[(j, j)]).collect())
            }
            Sums::Triangle(sum) => {
                let norms = crate::linalg::column_norms(sum.r().view());
                (sum.mean(), norms.iter().map(|norm| norm * norm).collect())
            }
            Sums::Directions(sum) => (sum.mean(), sum.squares().to_vec()),
            Sums::Columns(sum) => (&sum.mean, sum.squares.clone()),
        }
    }

    /// The sums so far.
    pub fn state(&self) -> StreamState {
        let none = Matrix::zeros(0, self.n_features);
        let (numbers, mean, matrix, squares) = match &self.sums {
            Sums::Covariance(sum) => (vec![sum.weight()], sum.mean(), sum.scatter(), &[][..]),
            Sums::Triangle(sum) => (vec![sum.weight()], sum.mean(), sum.r(), &[][..]),
            Sums::Directions(sum) => (sum.numbers(), sum.mean(), sum.rows(), sum.squares()),
            Sums::Columns(sum) => (vec![sum.weight], &sum.mean[..], &none, &sum.squares[..]),
        };
        StreamState {
            route: self.route.0,
            count: self.count(),
            numbers,
            mean: mean.to_vec(),
            matrix: matrix.clone(),
            squares: squares.to_vec(),
            weighted: self.weighted,
            single: self.single,
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
        self.sums = match route {
            PcaRoute::Covariance => Sums::Covariance(Partial::from_parts(count, numbers[0], mean, matrix)),
            PcaRoute::Tsqr => Sums::Triangle(Triangle::from_parts(count, numbers[0], mean, matrix)),
            PcaRoute::Directions => {
                Sums::Directions(Directions::from_parts((count, &numbers), mean, matrix, squares))
            }
            PcaRoute::Krylov => {
                Sums::Columns(ColumnMoments { count: count as usize, weight: numbers[0], mean, squares })
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
        (self.weighted, self.single) = (weighted, single);
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

    /// Obeys `watch` from now on.
    pub(super) fn watched_by(&mut self, watch: Watch) {
        self.settings.watch = watch;
    }

    /// The model of all rows so far; more can be added afterwards.
    ///
    /// # Errors
    /// As [`Pca::fit`].
    pub fn finish(&self) -> Result<FittedPca> {
        let settings = &self.settings;
        if let Sums::Columns(_) = self.sums {
            return Err(columns_alone());
        }
        let request = schedule::Request {
            n_samples: self.count() as usize,
            n_features: self.n_features,
            precision: if self.single && self.count() > 0 { "f32" } else { "f64" },
            in_memory: false,
            most_rows: usize::MAX,
            sparse: false,
            weighted: self.weighted,
            threads: 0,
            bytes_allowed: 0,
            elsewhere: false,
            route: Some(self.route.clone()),
            settings,
        };
        let mut plan = schedule::plan(&request, &*self.engine)?;
        plan.reasons.push("rows came in pieces".into());
        let wanted = settings.wanted_axes(&plan);
        let axes = self.engine.complete(|| self.axes(wanted, &settings.watch))?;
        let most = wanted.k.min((self.count() as usize).saturating_sub(1));
        let faint = matches!(self.sums, Sums::Covariance(_)) && settings.is_faint(&axes, most);
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

fn columns_alone() -> Error {
    Error::setting(
        "sums of columns alone",
        "axes need passes over the rows as well",
        "Fit the rows as a whole, or use covariance, tsqr or directions",
    )
}
