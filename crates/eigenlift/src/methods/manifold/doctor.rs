//! The doctor: which number of neighbours, which edges are short circuits, how many dimensions.

mod recommend;

use super::ManifoldInput;
use super::embedding::{Wanted, embed_landmarks};
use super::plan::graph_bytes;
use super::settings::{Common, common_settings};
use crate::data::AnySamples;
use crate::error::{Error, Result};
use crate::graph::{
    Components, Graph, NeighborSearch, Neighbors, Reach, Search, Space, Suspect,
    count_short_circuits_against, distances_from, short_circuits, short_circuits_against, spread_sources,
};
use crate::matrix::Matrix;
use crate::model::allowance;
use crate::model::human_bytes;
use crate::progress::Watch;
use crate::quality::residual_variance;
use crate::random::{Purpose, Stream};
use recommend::{recommend, safest};
use serde::{Deserialize, Serialize};

/// Numbers of neighbours that are tried.
const TRIED: [usize; 15] = [3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 32, 40, 50, 64];
/// Rows that the sweep looks at.
const SWEPT_ROWS: usize = 5000;
/// Landmarks of the embeddings in the sweep.
const LANDMARKS: usize = 128;
/// Rows whose distances to all others judge an embedding, the same for all numbers of neighbours.
const JUDGED_ROWS: usize = 32;
/// Share of the rows that the largest component must have for the rest to be outliers.
const GIANT_SHARE: f64 = 0.99;
/// A fall of the mean distance from the recommended graph on that straighter paths do not explain.
const COLLAPSE: f64 = 0.25;
/// Dimensions whose residual variance is told.
const MOST_DIMENSIONS: usize = 8;

/// One line of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Neighbours of each row.
    pub n_neighbors: usize,
    /// Connected components of the graph.
    pub n_components: usize,
    /// Share of the rows in the largest.
    pub giant_share: f64,
    /// 1 − r² between distances along the graph and in the embedding, in the largest component, (G19).
    pub residual_variance: Option<f64>,
    /// Mean distance along the graph, between the same rows throughout.
    pub mean_geodesic: Option<f64>,
    /// Share by which that fell from the line before.
    pub drop: Option<f64>,
    /// Edges that look like short circuits; beyond the numbers of neighbors that are safe, edges whose ends are far apart in the largest safe
    /// graph, (G26).
    pub n_suspects: Option<usize>,
    /// Fraction by which the mean distance is below that of the recommended graph.
    #[serde(default)]
    pub fall: Option<f64>,
    /// Whether no edge looks like a short circuit and yet the mean distance fell by more than a quarter: there are too many to tell them
    /// apart.
    #[serde(default)]
    pub too_many: bool,
}

/// What changes when the suspected edges are taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AfterCut {
    /// Edges taken out.
    pub n_cut: usize,
    /// Connected components of what is left.
    pub n_components: usize,
    /// As in [`SweepRow`], without them.
    pub residual_variance: Option<f64>,
    /// As in [`SweepRow`], without them.
    pub mean_geodesic: Option<f64>,
    /// As in [`SweepRow`], with them, of the same rows.
    pub residual_variance_before: Option<f64>,
    /// As in [`SweepRow`], with them, of the same rows.
    pub mean_geodesic_before: Option<f64>,
}

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsomapReport {
    /// One line for each number of neighbours.
    pub sweep: Vec<SweepRow>,
    /// Neighbours to use.
    pub recommended: usize,
    /// Why, in plain words.
    pub sentence: String,
    /// Neighbours of the graph that was looked at for short circuits.
    pub examined: usize,
    /// Edges of that graph that look like short circuits, the most suspicious first.
    pub suspects: Vec<Suspect>,
    /// That graph without them, when asked for.
    pub after_cut: Option<AfterCut>,
    /// Residual variance with 1, 2, … dimensions at the recommended number of neighbours.
    pub dimension: Vec<(usize, f64)>,
    /// Rows that the sweep looked at, when these are not all.
    pub sampled_rows: Option<usize>,
}

/// Looks for the three pitfalls of Isomap: a graph that is not connected, short circuits, and no single right number of
/// neighbours.
///
/// ```
/// use eigenlift::{data, methods::manifold::IsomapDoctor};
/// let roll = data::synthetic("swiss-roll", Some(600), None, 0)?.samples;
/// let report = IsomapDoctor::new(2).examine(roll)?;
/// assert!(report.recommended >= 4 && report.recommended <= 20);
/// println!("{}", report.sentence);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IsomapDoctor {
    pub(super) common: Common,
    examined: Option<usize>,
    cut: bool,
}

common_settings!(IsomapDoctor);

impl IsomapDoctor {
    /// For embeddings of so many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self { common: Common::new(n_components), examined: None, cut: false }
    }

    /// Looks for short circuits in the graph of so many neighbours, instead of the number recommended.
    pub fn neighbors(mut self, k: usize) -> Self {
        self.examined = Some(k);
        self
    }

    /// How neighbours are found.
    pub fn search(mut self, search: Search) -> Self {
        self.common.search = search;
        self
    }

    /// Whether to tell what changes without the edges that look like short circuits.
    pub fn cut(mut self, cut: bool) -> Self {
        self.cut = cut;
        self
    }

    /// Examines rows. The sweep looks at 5000 of them at most.
    ///
    /// # Errors
    /// When there are fewer than 8 rows, rows or settings cannot be used, or the work is cancelled.
    pub fn examine(&self, x: impl Into<AnySamples>) -> Result<IsomapReport> {
        self.examine_input(&ManifoldInput::Samples(x.into()))
    }

    /// Examines rows that are known by the distances between all of them.
    ///
    /// # Errors
    /// As [`IsomapDoctor::examine`]; when the matrix is not square, symmetric and not negative.
    pub fn examine_distances(&self, distances: impl Into<AnySamples>) -> Result<IsomapReport> {
        self.examine_input(&ManifoldInput::distances(distances))
    }

    fn examine_input(&self, input: &ManifoldInput) -> Result<IsomapReport> {
        self.common.check(input)?;
        let n = input.n_samples();
        if n < 8 {
            return Err(Error::data(format!("{n} rows"), "the doctor needs at least 8", "Give more rows"));
        }
        if let Some(k) = self.examined.filter(|k| *k == 0 || *k >= n) {
            return Err(Error::setting(
                format!("{k} neighbours of {n} rows"),
                format!("between 1 and {}", n - 1),
                "Ask for 5 to 30; 10 is usual",
            ));
        }
        let engine = self.common.running_engine()?;
        let (allowed, _) = allowance(self.common.memory_limit, &*engine);
        let widest = self.examined.unwrap_or(0).max(TRIED[TRIED.len() - 1]).min(n);
        let needed = graph_bytes(n, Some(Reach::Nearest(widest)))
            + 8 * n as u128 * (LANDMARKS + 2 * JUDGED_ROWS) as u128;
        if needed > u128::from(allowed) {
            return Err(Error::memory(
                format!("the doctor: {} of memory", human_bytes(needed)),
                format!("{} are allowed", human_bytes(u128::from(allowed))),
                "Allow more memory, or examine fewer rows",
            ));
        }
        engine.complete(|| self.run(input))
    }

    fn run(&self, input: &ManifoldInput) -> Result<IsomapReport> {
        let (n, watch) = (input.n_samples(), &self.common.watch);
        let rows = Stream::new(self.common.seed, Purpose::SampleRows).rows(n, SWEPT_ROWS);
        let patient = Patient::new(input, &rows, self)?;
        let most = (rows.len() - 1).min(rows.len() / 2).max(1);
        let tried: Vec<usize> = TRIED.into_iter().filter(|k| *k <= most).collect();
        let widest = tried.last().copied().unwrap_or(1);
        let lists = patient.neighbors(widest, watch)?;
        let mut sweep: Vec<SweepRow> = Vec::new();
        for (at, k) in tried.iter().enumerate() {
            watch.step("doctor", at, tried.len())?;
            let graph = Graph::from_neighbors(&lists.nearest(*k));
            let mut row = patient.look(&graph, *k, &watch.silent())?;
            let before = sweep.last().and_then(|before| before.mean_geodesic);
            row.drop = before.zip(row.mean_geodesic).map(|(before, now)| 1.0 - now / before);
            sweep.push(row);
        }
        let (recommended, sentence) = recommend(&sweep);
        let dimension = patient.dimensions(&Graph::from_neighbors(&lists.nearest(recommended)))?;
        let safe = safest(&sweep).unwrap_or(recommended).max(recommended);
        patient.compare(&lists, (recommended, safe), &mut sweep)?;
        let examined = self.examined.unwrap_or(recommended);
        let whole = Patient::new(input, &(0..n).collect::<Vec<_>>(), self)?;
        let graph = Graph::from_neighbors(&whole.neighbors(examined, watch)?);
        let near = sweep.iter().min_by_key(|row| row.n_neighbors.abs_diff(examined));
        let collapsed = examined > safe && near.is_some_and(SweepRow::has_collapsed);
        let suspects = whole.suspects(&graph, collapsed.then_some(safe), watch)?;
        let after_cut = if self.cut { Some(whole.without(&graph, &suspects)?) } else { None };
        let sampled_rows = (rows.len() < n).then_some(rows.len());
        Ok(IsomapReport {
            sweep,
            recommended,
            sentence,
            examined,
            suspects,
            after_cut,
            dimension,
            sampled_rows,
        })
    }
}

impl SweepRow {
    /// Whether distances along the graph are far below those of the recommended one.
    fn has_collapsed(&self) -> bool {
        self.fall.is_some_and(|fall| fall > COLLAPSE)
    }
}

/// Rows under examination.
struct Patient<'a> {
    doctor: &'a IsomapDoctor,
    space: Space,
    x: AnySamples,
    /// Rows from which distances are compared.
    judged: Vec<usize>,
}

impl<'a> Patient<'a> {
    fn new(input: &ManifoldInput, rows: &[usize], doctor: &'a IsomapDoctor) -> Result<Self> {
        let Some(x) = input.rows() else {
            return Err(Error::data(
                "neighbours without rows",
                "the doctor tries several graphs",
                "Give rows",
            ));
        };
        let (all, common) = (rows.len() == x.n_rows(), &doctor.common);
        let (space, x) = match input {
            ManifoldInput::Distances(_) if !all => {
                let dense = x.gather(rows).points().to_dense::<f64>();
                let own = Matrix::from_fn(rows.len(), rows.len(), |i, j| dense[(i, rows[j])]);
                (Space::Distances { n_samples: rows.len() }, own.into())
            }
            ManifoldInput::Distances(_) => (Space::Distances { n_samples: rows.len() }, x.clone()),
            _ => {
                let samples = if all { x.clone() } else { x.gather(rows) };
                (Space::Rows { samples: samples.clone(), metric: common.metric }, samples)
            }
        };
        let judged = Stream::new(common.seed, Purpose::ChoiceRows).rows(rows.len(), JUDGED_ROWS);
        Ok(Self { doctor, space, x, judged })
    }

    fn neighbors(&self, k: usize, watch: &Watch) -> Result<Neighbors> {
        let how = self.doctor.common.search;
        let search = NeighborSearch { reach: Reach::Nearest(k), how };
        Ok(search.among(&self.space, self.x.points(), watch)?.neighbors)
    }

    fn rows(&self) -> Option<crate::data::AnyPoints<'_>> {
        matches!(self.space, Space::Rows { .. }).then(|| self.x.points())
    }

    /// One line of the sweep, all but the drop.
    fn look(&self, graph: &Graph, k: usize, watch: &Watch) -> Result<SweepRow> {
        let components = Components::of(graph);
        let size = components.sizes()[components.largest()];
        let giant_share = size as f64 / graph.n_vertices() as f64;
        let mut row = SweepRow {
            n_neighbors: k,
            n_components: components.count(),
            giant_share,
            residual_variance: None,
            mean_geodesic: None,
            drop: None,
            n_suspects: None,
            fall: None,
            too_many: false,
        };
        if giant_share >= GIANT_SHARE {
            let (variance, mean, _) =
                self.judge(graph, &components, self.doctor.common.n_components, watch)?;
            (row.residual_variance, row.mean_geodesic) = (variance, mean);
            let found = short_circuits(graph, self.rows(), self.doctor.common.seed, watch)?;
            row.n_suspects = Some(found.suspects.len());
        }
        Ok(row)
    }

    /// A graph without the edges that look like short circuits.
    fn cleaned(&self, graph: &Graph, watch: &Watch) -> Result<Graph> {
        let found = short_circuits(graph, self.rows(), self.doctor.common.seed, watch)?.suspects;
        let ends: Vec<(usize, usize)> = found.iter().map(|s| (s.edge.from, s.edge.to)).collect();
        Ok(if ends.is_empty() { graph.clone() } else { graph.without(&ends) })
    }

    /// Counts short circuits of graphs of more neighbors than is safe against the largest safe graph.
    ///
    /// Why: very many of them vouch for each other, and none is found by looking at their graph alone. Only where distances
    /// have collapsed: a safe graph with holes makes edges across them look like short circuits, but distances stay.
    fn compare(
        &self,
        lists: &Neighbors,
        (recommended, safe): (usize, usize),
        sweep: &mut [SweepRow],
    ) -> Result<()> {
        let watch = self.doctor.common.watch.silent();
        let Some(mean) =
            sweep.iter().find(|row| row.n_neighbors == recommended).and_then(|r| r.mean_geodesic)
        else {
            return Ok(());
        };
        let reference = self.cleaned(&Graph::from_neighbors(&lists.nearest(safe)), &watch)?;
        for row in sweep.iter_mut().filter(|row| row.n_neighbors >= recommended) {
            row.fall = row.mean_geodesic.map(|now| 1.0 - now / mean);
            if let Some(count) = row.n_suspects.filter(|_| row.n_neighbors > safe && row.has_collapsed()) {
                let graph = Graph::from_neighbors(&lists.nearest(row.n_neighbors));
                let with_rows = self.rows().is_some();
                let against = count_short_circuits_against(&graph, &reference, with_rows, &watch)?;
                row.n_suspects = Some(count.max(against));
                row.too_many = count.max(against) == 0;
            }
        }
        Ok(())
    }

    /// Edges of a graph that look like short circuits; where distances have collapsed, also against the graph of `safe` neighbors.
    fn suspects(&self, graph: &Graph, safe: Option<usize>, watch: &Watch) -> Result<Vec<Suspect>> {
        let seed = self.doctor.common.seed;
        let alone = short_circuits(graph, self.rows(), seed, watch)?.suspects;
        let Some(safe) = safe else { return Ok(alone) };
        let reference =
            self.cleaned(&Graph::from_neighbors(&self.neighbors(safe, watch)?), &watch.silent())?;
        let against = short_circuits_against(graph, &reference, self.rows(), (seed, watch))?.suspects;
        Ok(if against.len() >= alone.len() { against } else { alone })
    }

    /// Residual variance with `k` dimensions and mean distance in the largest component, and with 1, 2, … dimensions.
    #[allow(clippy::type_complexity)]
    fn judge(
        &self,
        graph: &Graph,
        components: &Components,
        k: usize,
        watch: &Watch,
    ) -> Result<(Option<f64>, Option<f64>, Vec<f64>)> {
        let giant = components.members(components.largest());
        let graph = if components.count() == 1 { graph.clone() } else { graph.among(&giant) };
        let judged: Vec<usize> = self.judged.iter().filter_map(|row| giant.binary_search(row).ok()).collect();
        if judged.is_empty() {
            return Ok((None, None, Vec::new()));
        }
        let seed = self.doctor.common.seed;
        let (landmarks, distances) = spread_sources(&graph, LANDMARKS.min(giant.len()), seed, watch)?;
        let tolerance = self.doctor.common.tolerance;
        let wanted = Wanted { n_components: k, tolerance, seed, watch };
        let exact = distances_from(&graph, &judged, watch)?;
        let mean = exact.as_slice().iter().sum::<f64>() / exact.as_slice().len().max(1) as f64;
        let scores = match embed_landmarks(&distances, &landmarks, wanted) {
            Ok(found) => found.scores,
            Err(Error::NoVariance { .. }) => return Ok((Some(1.0), Some(mean), Vec::new())),
            Err(other) => return Err(other),
        };
        let with = |d: usize| {
            let first = Matrix::from_fn(scores.n_rows(), d, |i, j| scores[(i, j)]);
            residual_variance(&judged, &exact, &first)
        };
        let by_dimension: Vec<f64> = (1..=scores.n_cols()).map(with).collect();
        Ok((by_dimension.last().copied(), Some(mean), by_dimension))
    }

    fn dimensions(&self, graph: &Graph) -> Result<Vec<(usize, f64)>> {
        let most = match self.space {
            Space::Rows { .. } => self.x.n_cols().min(MOST_DIMENSIONS),
            _ => MOST_DIMENSIONS,
        };
        let watch = self.doctor.common.watch.silent();
        let (_, _, all) = self.judge(graph, &Components::of(graph), most.max(1), &watch)?;
        Ok(all.into_iter().enumerate().map(|(at, variance)| (at + 1, variance)).collect())
    }

    fn without(&self, graph: &Graph, suspects: &[Suspect]) -> Result<AfterCut> {
        let ends: Vec<(usize, usize)> = suspects.iter().map(|s| (s.edge.from, s.edge.to)).collect();
        let left = graph.without(&ends);
        let components = Components::of(&left);
        let watch = self.doctor.common.watch.silent();
        let k = self.doctor.common.n_components;
        let (residual_variance, mean_geodesic, _) = self.judge(&left, &components, k, &watch)?;
        let (residual_variance_before, mean_geodesic_before, _) =
            self.judge(graph, &Components::of(graph), k, &watch)?;
        Ok(AfterCut {
            n_cut: ends.len(),
            n_components: components.count(),
            residual_variance,
            mean_geodesic,
            residual_variance_before,
            mean_geodesic_before,
        })
    }
}
