//! Isomap: distances along a graph of neighbours, kept by classical scaling.

mod described;

pub(super) use described::METHOD;

use super::ManifoldInput;
use super::connect::{Connected, Cut, Disconnected, connect, no_graph};
use super::described::embedder;
use super::embedding::{Coordinates, NegativeShare, Wanted, embed_all, embed_landmarks};
use super::fitted::{FittedManifold, ManifoldBody, ManifoldFacts, ManifoldKind, Part, PathQuality};
use super::plan::{ManifoldPlan, Way, graph_bytes, most_that_fit};
use super::settings::{Common, common_settings, neighborhood_settings};
use crate::eigen::{SolveStats, basis_columns};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{Graph, NeighborSearch, Reach, Space, all_distances, distances_from, spread_sources};
use crate::matrix::Matrix;
use crate::model::{Job, Lift, ManifoldLift, Projection};
use crate::quality::{residual_variance, residual_variance_estimate};
use crate::random::{Purpose, Stream};
use std::sync::Arc;

/// Up to so many rows every row is a source when that fits.
const EXACT_ROWS: usize = 10_000;
/// Rows on which the embedding is judged by exact distances.
const JUDGED_ROWS: usize = 32;

/// Which rows are sources of shortest paths.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sources {
    /// By the plan.
    Auto,
    /// Every row.
    All,
    /// So many landmarks.
    Landmarks(usize),
}

/// Isomap, (G2)–(G12): rows are joined to their neighbours, distances are those of shortest paths, and coordinates keep them.
///
/// Every row is a source of paths while that fits (n² numbers); otherwise some landmarks are, and nothing of size n² exists.
///
/// ```
/// use eigenlift::{data, methods::Isomap};
/// let roll = data::synthetic("swiss-roll", Some(500), None, 0)?;
/// let model = Isomap::new(2).neighbors(8).fit(roll.samples.clone())?;
/// assert_eq!(model.scores().n_cols(), 2);
/// // The rows again, as if they were new.
/// let again = model.transform(roll.samples.points())?;
/// assert!((again[(7, 0)] - model.scores()[(7, 0)]).abs() < 1e-6);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Isomap {
    pub(super) common: Common,
    sources: Sources,
    disconnected: Disconnected,
    cut: Cut,
}

common_settings!(Isomap);
embedder!(Isomap);
neighborhood_settings!(Isomap);

impl Isomap {
    /// So many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self {
            common: Common::new(n_components),
            sources: Sources::Auto,
            disconnected: Disconnected::Bridge,
            cut: Cut::Nothing,
        }
    }

    /// Every row is a source of paths, whatever their number.
    pub fn exact(mut self) -> Self {
        self.sources = Sources::All;
        self
    }

    /// So many landmarks are sources of paths.
    pub fn landmarks(mut self, count: usize) -> Self {
        self.sources = Sources::Landmarks(count);
        self
    }

    /// What becomes of a graph with several components.
    pub fn disconnected(mut self, choice: Disconnected) -> Self {
        self.disconnected = choice;
        self
    }

    /// Edges to take out of the graph first.
    pub fn cut(mut self, cut: Cut) -> Self {
        self.cut = cut;
        self
    }

    /// Plans a fit, which [`Job::run`] then does; of samples, distances between all of them, lists of neighbors or a graph.
    ///
    /// # Errors
    /// As [`Isomap::fit`], as far as they can be known in advance.
    pub fn prepare(&self, input: impl Into<ManifoldInput>) -> Result<Job<'static, ManifoldBody>> {
        let (input, engine, mut settings) = (input.into(), self.common.running_engine()?, self.clone());
        if let (ManifoldInput::Graph(graph, _), Reach::Nearest(k)) = (&input, &mut settings.common.reach) {
            // New rows alone are placed by neighbours, and there are no more of these than rows.
            *k = (*k).min(graph.n_vertices().saturating_sub(1)).max(1);
        }
        let plan = settings.planned(&input, &*engine)?;
        Ok(Job::new(plan, move |plan| settings.run(&input, plan, engine)))
    }

    /// Fits the model: what [`Isomap::prepare`] plans. New samples can be placed in the embedding of lists of neighbors or of a graph
    /// when the samples behind them are given.
    ///
    /// # Errors
    /// When settings or the input cannot be used, a matrix of distances is not square, symmetric and not negative, the work does not
    /// fit the memory allowed, or it is cancelled.
    pub fn fit(&self, input: impl Into<ManifoldInput>) -> Result<FittedManifold> {
        self.prepare(input)?.run()
    }

    fn planned(&self, input: &ManifoldInput, engine: &dyn Engine) -> Result<ManifoldPlan> {
        if matches!(input, ManifoldInput::Affinities(_)) {
            return Err(no_graph(input));
        }
        self.common.check(input)?;
        self.common.reach.check()?;
        if let (Reach::Nearest(k), ManifoldInput::Samples(_) | ManifoldInput::Distances(_)) =
            (self.common.reach, input)
            && k >= input.n_samples()
        {
            return Err(Error::setting(
                format!("{k} neighbours of {} rows", input.n_samples()),
                format!("each row has {} others", input.n_samples() - 1),
                "Ask for fewer neighbours",
            ));
        }
        ManifoldPlan::new((ManifoldKind::Isomap, true), &self.common, input, engine, |allowed| {
            self.way(input.n_samples(), allowed)
        })
    }

    /// Every row a source, or landmarks.
    fn way(&self, n: usize, allowed: u64) -> Way {
        let k = self.common.n_components.min(n);
        let graph = graph_bytes(n, Some(self.common.reach));
        let wide = n as u128;
        let exact_bytes = 8 * wide * wide + 8 * wide * (2 * basis_columns(n, k) as u128 + 256) + graph;
        let usual = 200.max(20 * k).min(n);
        let landmark_bytes = |count: usize| {
            let count = count as u128;
            8 * wide * (count + 3 * k as u128 + JUDGED_ROWS as u128) + 8 * 6 * count * count + 2 * graph
        };
        let fits = exact_bytes <= u128::from(allowed);
        let exact = |reason: String| Way {
            n_landmarks: None,
            route: "exact: shortest paths from every row, n² distances".into(),
            bytes: exact_bytes,
            reasons: vec![reason],
            otherwise: "Use landmarks, allow more memory, or embed fewer rows",
        };
        let landmarks = |count: usize, reason: String| Way {
            n_landmarks: Some(count),
            route: format!("landmarks: shortest paths from {count} of {n} rows, never n²"),
            bytes: landmark_bytes(count),
            reasons: vec![reason],
            otherwise: "Use fewer landmarks, or allow more memory",
        };
        match self.sources {
            Sources::All => exact("exact was asked for".into()),
            Sources::Landmarks(count) if count < n => {
                let least =
                    if count > k { String::new() } else { format!(", and {k} coordinates need {}", k + 1) };
                landmarks(count.max(k + 1), format!("{count} landmarks were asked for{least}"))
            }
            Sources::Landmarks(_) => exact("there are no more rows than landmarks asked for".into()),
            Sources::Auto if n <= EXACT_ROWS && fits => {
                exact(format!("{n} rows are at most {EXACT_ROWS}, and n² distances fit"))
            }
            Sources::Auto => {
                let count = most_that_fit(k + 1..usual, |count| landmark_bytes(count) <= u128::from(allowed));
                let why = if fits {
                    format!("{n} rows are more than {EXACT_ROWS}")
                } else {
                    "n² distances do not fit the memory allowed".into()
                };
                landmarks(count, why)
            }
        }
    }

    fn run(
        &self,
        input: &ManifoldInput,
        plan: ManifoldPlan,
        engine: Arc<dyn Engine>,
    ) -> Result<FittedManifold> {
        let Run { parts, scores, facts, warnings } =
            engine.complete(|| self.embedded(input, &plan, &*engine))?;
        let column_names = self.common.column_names.clone();
        let body = ManifoldBody { parts, scores, facts };
        Ok(FittedManifold { plan, warnings, column_names, engine, body })
    }

    fn wanted(&self) -> Wanted<'_> {
        let Common { n_components, tolerance, seed, watch, .. } = &self.common;
        Wanted { n_components: *n_components, tolerance: *tolerance, seed: *seed, watch }
    }

    fn embedded(&self, input: &ManifoldInput, plan: &ManifoldPlan, engine: &dyn Engine) -> Result<Run> {
        let watch = &self.common.watch;
        let connected = connect(input, &self.common, (self.disconnected, &self.cut), watch)?;
        let mut run = if connected.groups.is_empty() {
            self.whole(input, plan, &connected)?
        } else {
            self.by_groups(input, plan, &connected, engine)?
        };
        run.warnings.splice(0..0, connected.warnings);
        run.facts.graph = Some(connected.facts);
        // Parts that were embedded separately lie over each other: neighbours across them mean nothing.
        if run.parts.len() == 1 {
            run.facts.neighborhoods = self.common.compare(input, &run.scores, engine)?;
        }
        Ok(run)
    }

    /// All rows together.
    fn whole(&self, input: &ManifoldInput, plan: &ManifoldPlan, connected: &Connected) -> Result<Run> {
        let embedded = self.embed(&connected.graph, plan.n_landmarks)?;
        let paths = self.judge(&connected.graph, &embedded)?;
        let k = embedded.found.scores.n_cols();
        let warnings = self.fewer(k);
        let facts = self.facts(&embedded, Some(paths));
        let (part, scores) = self.part(embedded, input.space(self.common.metric), Vec::new());
        Ok(Run { parts: vec![part], scores, facts, warnings })
    }

    /// Says so when fewer coordinates exist than were asked for.
    fn fewer(&self, k: usize) -> Vec<String> {
        let asked = self.common.n_components;
        let words = || {
            format!("{asked} components were asked for and {k} exist: the rest have no positive eigenvalue")
        };
        (k < asked).then(words).into_iter().collect()
    }

    /// Each group by itself; rows outside all groups are placed as new rows are.
    fn by_groups(
        &self,
        input: &ManifoldInput,
        plan: &ManifoldPlan,
        connected: &Connected,
        engine: &dyn Engine,
    ) -> Result<Run> {
        let k = self.common.n_components;
        let (n, mut parts) = (input.n_samples(), Vec::new());
        let mut scores = Matrix::zeros(n, k);
        let mut facts = ManifoldFacts::default();
        let mut seen = vec![false; n];
        let largest = connected.groups.iter().map(Vec::len).max().unwrap_or(0);
        let mut most = 0;
        for group in &connected.groups {
            let graph = connected.graph.among(group);
            let few = plan.n_landmarks.filter(|count| *count < group.len());
            let embedded = match self.embed(&graph, few) {
                // Rows that are all the same have one place.
                Err(Error::NoVariance { .. }) => Embedded::at_one_place(group.len()),
                embedded => embedded?,
            };
            if group.len() == largest {
                facts = self.facts(&embedded, Some(self.judge(&graph, &embedded)?));
            }
            most = most.max(embedded.found.scores.n_cols());
            let rows: Vec<u32> = group.iter().map(|row| *row as u32).collect();
            let (part, own) = self.part(padded(embedded, k), self.own_space(input, group), rows);
            for (at, row) in group.iter().enumerate() {
                seen[*row] = true;
                scores.view_mut().row_mut(*row).copy_from_slice(own.row(at));
            }
            parts.push(part);
        }
        let outside: Vec<usize> = (0..n).filter(|row| !seen[*row]).collect();
        if let ([part], false) = (parts.as_slice(), outside.is_empty()) {
            self.place_outside(input, part, (&outside, &mut scores), engine)?;
        }
        if most == 0 {
            return Err(Error::no_variance(
                "components whose rows all lie at the same place",
                "at least one must have extent",
                "Raise the number of neighbours, or choose bridge",
            ));
        }
        for part in &mut parts {
            let Projection { coefficients, offset, .. } = &mut part.projection;
            *coefficients = std::mem::take(coefficients).into_first_columns(most);
            offset.truncate(most);
        }
        Ok(Run { parts, scores: scores.into_first_columns(most), facts, warnings: self.fewer(most) })
    }

    fn own_space(&self, input: &ManifoldInput, group: &[usize]) -> Space {
        match input.space(self.common.metric) {
            Space::Rows { samples, metric } => Space::Rows { samples: samples.gather(group), metric },
            Space::Distances { .. } => Space::Distances { n_samples: group.len() },
            Space::Lists { .. } => Space::Lists { n_samples: group.len() },
        }
    }

    fn place_outside(
        &self,
        input: &ManifoldInput,
        part: &Part,
        (outside, scores): (&[usize], &mut Matrix<f64>),
        engine: &dyn Engine,
    ) -> Result<()> {
        let Some(x) = input.rows() else {
            return Err(Error::data(
                format!("{} rows outside the largest component of a graph without rows", outside.len()),
                "they are placed by distances",
                "Give rows, join the graph yourself, or choose separate or error",
            ));
        };
        let rows = x.gather(outside).points().to_dense::<f64>();
        let rows = match input {
            ManifoldInput::Distances(_) => {
                Matrix::from_fn(outside.len(), part.rows.len(), |i, j| rows[(i, part.rows[j] as usize)])
            }
            _ => rows,
        };
        let watch = &self.common.watch;
        let placed = match (self.common.reach, part.space()) {
            // Rows outside lie beyond the radius by definition: the nearest row stands for the neighbourhood.
            (Reach::Within(_), Some(space)) => {
                let nearest = NeighborSearch { reach: Reach::Nearest(1), ..self.common.neighbor_search() };
                let found = nearest.of_new(space, (&rows).into(), watch)?;
                part.projection.project_neighbors(engine, &found, watch)?
            }
            _ => part.projection.project(engine, (&rows).into(), watch)?,
        };
        for (at, row) in outside.iter().enumerate() {
            scores.view_mut().row_mut(*row).copy_from_slice(placed.row(at));
        }
        Ok(())
    }

    /// Shortest paths and coordinates.
    fn embed(&self, graph: &Graph, n_landmarks: Option<usize>) -> Result<Embedded> {
        let (wanted, watch) = (self.wanted(), &self.common.watch);
        if graph.n_vertices() == 1 {
            return Ok(Embedded::at_one_place(1));
        }
        match n_landmarks {
            Some(count) => {
                let (landmarks, distances) = spread_sources(graph, count, self.common.seed, watch)?;
                let found = embed_landmarks(&distances, &landmarks, wanted)?;
                Ok(Embedded { found, distances, landmarks: Some(landmarks) })
            }
            None => {
                let distances = all_distances(graph, watch)?;
                let found = embed_all(&distances, wanted)?;
                Ok(Embedded { found, distances, landmarks: None })
            }
        }
    }

    /// How well distances are kept: all of them, or with landmarks those of sampled rows that are none, (G19).
    fn judge(&self, graph: &Graph, embedded: &Embedded) -> Result<PathQuality> {
        let (n, scores) = (graph.n_vertices(), &embedded.found.scores);
        let Some(landmarks) = &embedded.landmarks else {
            let rows: Vec<usize> = (0..n).collect();
            let residual_variance = residual_variance(&rows, &embedded.distances, scores);
            return Ok(PathQuality { residual_variance, standard_error: None, n_rows: n, held_out: false });
        };
        let taken: std::collections::HashSet<usize> = landmarks.iter().copied().collect();
        let free: Vec<usize> = (0..n).filter(|row| !taken.contains(row)).collect();
        let drawn = Stream::new(self.common.seed, Purpose::SampleRows).rows(free.len(), JUDGED_ROWS);
        let rows: Vec<usize> = drawn.into_iter().map(|at| free[at]).collect();
        let distances = distances_from(graph, &rows, &self.common.watch)?;
        let (residual_variance, error) = residual_variance_estimate(&rows, &distances, scores);
        let standard_error = error.is_finite().then_some(error);
        Ok(PathQuality { residual_variance, standard_error, n_rows: rows.len(), held_out: true })
    }

    fn facts(&self, embedded: &Embedded, paths: Option<PathQuality>) -> ManifoldFacts {
        let solver = match (&embedded.landmarks, embedded.found.negative.sampled_rows) {
            (Some(landmarks), _) => format!("dense, {0} × {0} between landmarks", landmarks.len()),
            (None, None) => "dense, all eigenpairs".into(),
            (None, Some(_)) => "davidson".into(),
        };
        ManifoldFacts {
            negative: Some(embedded.found.negative),
            paths,
            solver,
            stats: embedded.found.stats,
            ..ManifoldFacts::default()
        }
    }

    fn part(&self, embedded: Embedded, space: Space, rows: Vec<u32>) -> (Part, Matrix<f64>) {
        let Embedded { found, distances, .. } = embedded;
        let Coordinates { coefficients, offset, scores, eigenvalues, residuals, .. } = found;
        let search = self.common.neighbor_search();
        let lift = Lift::Manifold(Box::new(ManifoldLift::Geodesics { space, search, distances }));
        (Part { rows, projection: Projection { lift, coefficients, offset }, eigenvalues, residuals }, scores)
    }
}

/// What a run leaves.
pub(super) struct Run {
    pub(super) parts: Vec<Part>,
    pub(super) scores: Matrix<f64>,
    pub(super) facts: ManifoldFacts,
    pub(super) warnings: Vec<String>,
}

/// Coordinates with the distances they came from.
struct Embedded {
    found: Coordinates,
    distances: Matrix<f64>,
    landmarks: Option<Vec<usize>>,
}

impl Embedded {
    /// n rows without extent.
    fn at_one_place(n: usize) -> Self {
        let found = Coordinates {
            coefficients: Matrix::zeros(n, 0),
            offset: Vec::new(),
            scores: Matrix::zeros(n, 0),
            eigenvalues: Vec::new(),
            residuals: Vec::new(),
            negative: NegativeShare { share: 0.0, sampled_rows: None },
            stats: SolveStats::default(),
        };
        Self { found, distances: Matrix::zeros(n, n), landmarks: None }
    }
}

/// With columns of zeros where a small group has fewer coordinates than asked for.
fn padded(mut embedded: Embedded, k: usize) -> Embedded {
    let wider =
        |m: &Matrix<f64>| Matrix::from_fn(m.n_rows(), k, |i, j| if j < m.n_cols() { m[(i, j)] } else { 0.0 });
    embedded.found.coefficients = wider(&embedded.found.coefficients);
    embedded.found.scores = wider(&embedded.found.scores);
    embedded.found.offset.resize(k, 0.0);
    embedded
}
