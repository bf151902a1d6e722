//! Laplacian eigenmaps.

use super::ManifoldInput;
use super::described::{METRIC, Manifold, NEIGHBORS, OWN, SHARED, embedder};
use super::diffusion::{dense_way, storage};
use super::embedding::Wanted;
use super::fill::{Pattern, shift_invert};
use super::fitted::{FittedManifold, GraphFacts, ManifoldBody, ManifoldFacts, ManifoldKind, Part};
use super::plan::{ManifoldPlan, Way, graph_bytes};
use super::settings::{Common, common_settings, neighborhood_settings, refuse_constant};
use super::walk::{Walk, WalkOn, walk};
use crate::data::{AnySamples, Points};
use crate::describe::{Description, Kind, Parameter, Range};
use crate::eigen::{Smallest, SmallestOptions, fix_signs, smallest};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::{Similarity, Storage};
use crate::graph::{Components, Edge, FoundNeighbors, Graph, Space};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::memory::{collected, room_for};
use crate::model::{Job, Lift, ManifoldLift, NeighborWeights, Projection};
use crate::operator::SparseSymmetric;
use crate::rows::in_memory;
use std::sync::Arc;

/// How alike neighbours are.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Affinity {
    /// 1 where both count each other as neighbours, ½ where one does.
    #[default]
    Neighbors,
    /// The same times exp(−γd²).
    Heat {
        /// γ.
        gamma: f64,
    },
    /// A kernel between all rows.
    Kernel(KernelSpec),
}

/// Laplacian eigenmaps, (G13)–(G16): coordinates u/√d from the smallest eigenvalues of I − D^(−½)WD^(−½) but the first, for
/// which rows that are alike lie close together.
///
/// ```
/// use eigenlift::{data, methods::LaplacianEigenmaps};
/// let curve = data::synthetic("s-curve", Some(300), None, 0)?.samples;
/// let model = LaplacianEigenmaps::new(2).neighbors(8).fit(curve)?;
/// assert!(model.eigenvalues()[0] < 1.0 && model.eigenvalues()[0] > 0.9);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaplacianEigenmaps {
    pub(super) common: Common,
    affinity: Affinity,
}

/// Its description.
pub(super) const METHOD: Manifold = Manifold {
    description: Description {
        name: "laplacian",
        title: "Laplacian eigenmap",
        about: "Laplacian eigenmaps: rows that are alike lie close together",
        parameters: &[
            SHARED,
            NEIGHBORS,
            &[
                METRIC,
                Parameter {
                    name: "heat",
                    value: "GAMMA",
                    kind: Kind::Number(Range::Positive),
                    doc: "Weigh neighbours at the distance d by exp(−GAMMA d²); all weigh the same when not given",
                    ..OWN
                },
                Parameter {
                    name: "kernel",
                    value: "SPEC",
                    kind: Kind::Kernel,
                    excludes: &["heat", "neighbors", "radius", "search", "metric"],
                    doc: "Weigh all pairs of rows by a kernel instead of neighbours; precomputed: DATA is the n × n matrix of weights",
                    ..OWN
                },
            ],
        ],
        fit_notes: "\
Scores are called laplacian1, laplacian2, ... Rows that are alike lie close together: neighbours all alike, by --heat the more \
the nearer, or all rows by a kernel.

Examples:
  eigenlift fit laplacian moons.csv --target class --neighbors 12 \\
      --out laplacian.csv --plot laplacian.svg
  eigenlift fit laplacian roll.csv --target t --heat 0.1 --json
  eigenlift fit laplacian iris.csv --target species \\
      --kernel 'rbf(gamma=1)' | head -3",
        plan_notes: "\
Examples:
  eigenlift plan laplacian digits.csv --target digit --neighbors 20",
    },
    build: |settings| {
        let method = LaplacianEigenmaps::new(settings.count("components").unwrap_or(2));
        let kernel: Option<KernelSpec> = settings.text("kernel").map(str::parse).transpose()?;
        Ok(Box::new(match (kernel.filter(|kernel| !kernel.is_precomputed()), settings.number("heat")) {
            (Some(kernel), _) => method.affinity(Affinity::Kernel(kernel)),
            (None, Some(gamma)) => method.affinity(Affinity::Heat { gamma }),
            (None, None) => method,
        }))
    },
};

common_settings!(LaplacianEigenmaps);
embedder!(LaplacianEigenmaps);
neighborhood_settings!(LaplacianEigenmaps);

impl LaplacianEigenmaps {
    /// So many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self { common: Common::new(n_components), affinity: Affinity::Neighbors }
    }

    /// How alike rows are.
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.affinity = affinity;
        self
    }

    /// Plans a fit, which [`Job::run`] then does; of samples, distances or affinities between all of them, or lists of neighbors.
    ///
    /// # Errors
    /// As [`LaplacianEigenmaps::fit`], as far as they can be known in advance.
    pub fn prepare(&self, input: impl Into<ManifoldInput>) -> Result<Job<'static, ManifoldBody>> {
        let (input, engine) = (input.into(), self.common.running_engine()?);
        let (plan, found) = self.planned(&input, &*engine)?;
        if let ManifoldInput::Samples(x) = &input {
            refuse_constant(x)?;
        }
        let kernel = match (&self.affinity, &input) {
            (Affinity::Kernel(spec), ManifoldInput::Samples(x)) => {
                Some(Kernel::for_points(spec, x.points(), self.common.seed)?)
            }
            _ => None,
        };
        let settings = self.clone();
        Ok(Job::new(plan, move |plan| settings.run((&input, found), kernel, (plan, engine))))
    }

    /// Fits the model: what [`LaplacianEigenmaps::prepare`] plans. New samples cannot be placed among affinities.
    ///
    /// # Errors
    /// When settings or the input cannot be used, a matrix of distances or affinities is not square, symmetric and not negative, the
    /// tolerance is not met, or the work does not fit or is cancelled.
    pub fn fit(&self, input: impl Into<ManifoldInput>) -> Result<FittedManifold> {
        self.prepare(input)?.run()
    }

    fn wanted(&self) -> Wanted<'_> {
        let Common { n_components, tolerance, seed, watch, .. } = &self.common;
        Wanted { n_components: *n_components, tolerance: *tolerance, seed: *seed, watch }
    }

    fn planned(
        &self,
        input: &ManifoldInput,
        engine: &dyn Engine,
    ) -> Result<(ManifoldPlan, Option<FoundNeighbors>)> {
        if matches!(input, ManifoldInput::Graph(..)) {
            return Err(no_affinities(input));
        }
        self.common.check(input)?;
        if let Affinity::Heat { gamma } = self.affinity
            && !(gamma > 0.0 && gamma.is_finite())
        {
            return Err(Error::setting(
                format!("a heat of {gamma}"),
                "γ in exp(−γd²) must be positive",
                "One over the squared distance of typical neighbours is a start",
            ));
        }
        let n = input.n_samples();
        let by_kernel = matches!((&self.affinity, input), (Affinity::Kernel(_), ManifoldInput::Samples(_)));
        let factor = match by_kernel {
            true => None,
            false => shift_invert(&self.common, input, Pattern::Neighbors, engine)?,
        };
        let (bytes, found) = factor.map_or((None, None), |fill| (Some(fill.bytes), fill.neighbors));
        let plan = ManifoldPlan::new(
            (ManifoldKind::Laplacian, !by_kernel),
            &self.common,
            input,
            engine,
            |allowed| match &self.affinity {
                Affinity::Kernel(spec) if by_kernel => {
                    dense_way(&spec.to_string(), n, self.common.n_components, allowed)
                }
                _ => Way {
                    n_landmarks: None,
                    route: "smallest eigenvalues of the sparse Laplacian of the graph".into(),
                    bytes: 4 * graph_bytes(n, Some(self.common.reach)),
                    reasons: vec!["only neighbours are alike".into()],
                    otherwise: "Allow more memory, or use fewer neighbors",
                }
                .with_factor(bytes, 4 * graph_bytes(n, Some(self.common.reach)) / 3, allowed),
            },
        )?;
        let plan = match (&self.affinity, input) {
            (Affinity::Kernel(spec), _) if by_kernel => {
                ManifoldPlan { metric: format!("kernel {spec}"), ..plan }
            }
            (_, ManifoldInput::Affinities(_)) => ManifoldPlan { reach: None, ..plan },
            _ => plan,
        };
        Ok((plan, found))
    }

    fn run(
        &self,
        (input, found): (&ManifoldInput, Option<FoundNeighbors>),
        kernel: Option<Kernel>,
        (plan, engine): (ManifoldPlan, Arc<dyn Engine>),
    ) -> Result<FittedManifold> {
        match (input, kernel) {
            (ManifoldInput::Samples(x), Some(kernel)) => {
                let store = storage(plan.bytes_allowed, x.n_rows(), self.common.n_components);
                let solved = engine
                    .complete(|| self.of_gram(&*engine, &Similarity::Kernel(kernel.clone()), x, store))?;
                let lift = |weights| ManifoldLift::Steps { kernel, samples: x.clone(), weights };
                self.judged(self.assemble(solved, lift, (plan, engine)), input)
            }
            (ManifoldInput::Affinities(w), _) => {
                let solved = engine.complete(|| match sparse_entries(w) {
                    Some(entries) => self.of_entries(w.n_rows(), &entries, &plan),
                    None => self.of_gram(&*engine, &Similarity::Precomputed, w, Storage::Stored),
                })?;
                Ok(self.assemble(
                    solved,
                    |_| self.neighbor_lift(input.space(self.common.metric)),
                    (plan, engine),
                ))
            }
            _ => {
                let solved = engine.complete(|| self.of_neighbors((input, found), &plan))?;
                let lift = |_| self.neighbor_lift(input.space(self.common.metric));
                self.judged(self.assemble(solved, lift, (plan, engine)), input)
            }
        }
    }

    /// The walk by a matrix between all samples, (G15).
    fn of_gram(
        &self,
        engine: &dyn Engine,
        similarity: &Similarity,
        x: &AnySamples,
        storage: Storage,
    ) -> Result<Solved> {
        let rows = in_memory(x, engine);
        let gram = rows.gram(similarity, storage, false)?;
        walk(WalkOn { gram: &*gram, alpha: 0.0, may_stay: false }, self.wanted()).map(Solved::of)
    }

    /// With a word on how well neighbourhoods are kept.
    fn judged(&self, mut model: FittedManifold, input: &ManifoldInput) -> Result<FittedManifold> {
        model.facts.neighborhoods = self.common.compare(input, &model.scores, &*model.engine)?;
        Ok(model)
    }

    fn neighbor_lift(&self, space: Space) -> ManifoldLift {
        let weights = match self.affinity {
            Affinity::Heat { gamma } => NeighborWeights::Heat { gamma },
            Affinity::Neighbors | Affinity::Kernel(_) => NeighborWeights::Equal,
        };
        ManifoldLift::Weights { space, search: self.common.neighbor_search(), weights }
    }

    /// W from lists of neighbours, half of each direction, (G13); those that planning found are not looked for again.
    fn of_neighbors(
        &self,
        (input, found): (&ManifoldInput, Option<FoundNeighbors>),
        plan: &ManifoldPlan,
    ) -> Result<Solved> {
        let (lists, search) = match (input, found) {
            (ManifoldInput::Neighbors(lists, _), _) => (lists.clone(), None),
            (ManifoldInput::Graph(..) | ManifoldInput::Affinities(_), _) => return Err(no_affinities(input)),
            (_, Some(found)) => (found.neighbors, Some(found.how)),
            (ManifoldInput::Samples(x) | ManifoldInput::Distances(x), None) => {
                let space = input.space(self.common.metric);
                let found = self.common.neighbor_search().among(&space, x.points(), &self.common.watch)?;
                (found.neighbors, Some(found.how))
            }
        };
        let n = lists.n_rows();
        let alike = |distance: f64| match self.affinity {
            Affinity::Heat { gamma } => (-gamma * distance * distance).exp(),
            Affinity::Neighbors | Affinity::Kernel(_) => 1.0,
        };
        let entries = (0..n).flat_map(|i| {
            let (samples, distances) = lists.row(i);
            let links = samples.iter().zip(distances).filter(move |(j, _)| **j as usize != i);
            links.map(move |(j, d)| (i as u32, *j, 0.5 * alike(*d)))
        });
        let entries = collected(lists.n_links(), entries);
        let mut solved = self.of_entries(n, &entries, plan)?;
        if let Some(graph) = &mut solved.graph {
            graph.search = search;
        }
        Ok(solved)
    }

    /// Smallest eigenpairs of I − D^(−½)WD^(−½), W by entries of which each stands for both places, (G14).
    fn of_entries(&self, n: usize, entries: &[(u32, u32, f64)], plan: &ManifoldPlan) -> Result<Solved> {
        let w = SparseSymmetric::from_triplets(n, entries)?;
        let degrees: Vec<f64> = (0..n).map(|i| w.row(i).1.iter().sum()).collect();
        // A row that is like no other stands by itself: its row of the Laplacian is zero.
        let roots: Vec<f64> = degrees.iter().map(|d| if *d > 0.0 { d.sqrt() } else { 1.0 }).collect();
        let most = w.n_stored() / 2 + n;
        let mut laplacian: Vec<(u32, u32, f64)> = room_for(most);
        laplacian.extend((0..n).filter(|i| degrees[*i] > 0.0).map(|i| (i as u32, i as u32, 1.0)));
        let mut edges = room_for(most);
        for i in 0..n {
            let (columns, values) = w.row(i);
            for (j, value) in
                columns.iter().zip(values).filter(|(j, value)| **j as usize > i && **value > 0.0)
            {
                laplacian.push((i as u32, *j, -value / (roots[i] * roots[*j as usize])));
                edges.push(Edge { from: i, to: *j as usize, length: 1.0 });
            }
        }
        let laplacian = SparseSymmetric::from_triplets(n, &laplacian)?;
        let components = Components::of(&Graph::from_edges(n, &edges)?);
        let length = degrees.iter().sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let first = Matrix::from_fn(n, 1, |i, _| degrees[i].sqrt() / length);
        let how = SmallestOptions {
            deflate: Some(first.view()),
            tolerance: self.common.tolerance,
            seed: self.common.seed,
            memory_bytes: Some(plan.left_for_factor(&laplacian)),
            watch: &self.common.watch,
        };
        let Smallest { pairs, route, .. } = smallest(&laplacian, self.common.n_components.min(n - 1), &how)?;
        let mut vectors = pairs.vectors;
        fix_signs(&mut vectors);
        let graph = GraphFacts {
            n_edges: edges.len(),
            component_sizes: components.sizes().to_vec(),
            ..GraphFacts::default()
        };
        Ok(Solved {
            values: pairs.values.iter().map(|value| 1.0 - value).collect(),
            vectors,
            roots,
            weights: Vec::new(),
            isolated: Vec::new(),
            residuals: pairs.residuals,
            graph: Some(graph),
            facts: ManifoldFacts {
                solver: route.name().into(),
                stats: pairs.stats,
                ..ManifoldFacts::default()
            },
        })
    }

    /// y = u/√d, and A = y/μ so that P·A = y, (G16).
    fn assemble(
        &self,
        solved: Solved,
        lift: impl FnOnce(Vec<f64>) -> ManifoldLift,
        (plan, engine): (ManifoldPlan, Arc<dyn Engine>),
    ) -> FittedManifold {
        let Solved { values, vectors, roots, weights, isolated, residuals, graph, mut facts } = solved;
        let k = values.len();
        let scores = Matrix::from_fn(roots.len(), k, |i, j| vectors[(i, j)] / roots[i]);
        let coefficients = Matrix::from_fn(roots.len(), k, |i, j| {
            // A direction in which the walk forgets at once says nothing of new rows.
            if values[j].abs() > 1e-8 { scores[(i, j)] / values[j] } else { 0.0 }
        });
        let mut warnings = Vec::new();
        if k < self.common.n_components {
            warnings.push(format!("{} components were asked for and {k} exist", self.common.n_components));
        }
        if let Some(count) = graph.as_ref().map(|g| g.component_sizes.len()).filter(|count| *count > 1) {
            warnings.push(format!(
                "the number of connected components of the neighbour graph is {count} > 1: {} only to tell these apart. Raise the number of neighbours",
                match (count - 1).min(k) {
                    1 => "the first coordinate serves".to_string(),
                    some => format!("the first {some} coordinates serve"),
                }
            ));
        }
        if let Some(first) = isolated.first() {
            warnings.push(format!(
                "Graph is not fully connected, spectral embedding may not work as expected: {} row(s), the first of them row {}, have kernel values of zero with all others and get coordinates of zero. Choose a wider kernel",
                isolated.len(),
                first + 1
            ));
        }
        if graph.is_none() && values.first().is_some_and(|value| *value > 1.0 - 1e-9) {
            warnings.push(
                "rows fall into parts that are hardly alike: the second eigenvalue is 1 up to rounding, and coordinates mostly tell these parts apart. Choose a wider kernel"
                    .into(),
            );
        }
        facts.graph = graph;
        let lift = Lift::Manifold(Box::new(lift(weights)));
        let projection = Projection { lift, coefficients, offset: vec![0.0; k] };
        let part = Part { rows: Vec::new(), projection, eigenvalues: values, residuals };
        let column_names = self.common.column_names.clone();
        let body = ManifoldBody { parts: vec![part], scores, facts };
        FittedManifold { plan, warnings, column_names, engine, body }
    }
}

/// The error of an input that gives no affinities between samples.
fn no_affinities(input: &ManifoldInput) -> Error {
    input.refused(
        "Laplacian eigenmaps",
        "samples, distances or affinities between all of them, or lists of neighbors",
    )
}

/// Eigenpairs of the walk, by whichever way.
struct Solved {
    values: Vec<f64>,
    vectors: Matrix<f64>,
    roots: Vec<f64>,
    weights: Vec<f64>,
    /// Rows that are like no other, where affinities are a kernel's.
    isolated: Vec<usize>,
    residuals: Vec<f64>,
    graph: Option<GraphFacts>,
    facts: ManifoldFacts,
}

impl Solved {
    fn of(walk: Walk) -> Self {
        let Walk { values, vectors, roots, weights, isolated, residuals, solver, stats } = walk;
        let facts = ManifoldFacts { solver: solver.into(), stats, ..ManifoldFacts::default() };
        Self { values, vectors, roots, weights, isolated, residuals, graph: None, facts }
    }
}

/// The entries off the diagonal, each half, when the matrix is sparse.
fn sparse_entries(affinities: &AnySamples) -> Option<Vec<(u32, u32, f64)>> {
    fn entries<T: crate::real::Real>(points: Points<'_, T>) -> Option<Vec<(u32, u32, f64)>> {
        let Points::Sparse(rows) = points else { return None };
        let mut entries = Vec::new();
        for i in 0..rows.n_rows() {
            let (columns, values) = rows.row(i);
            let others = columns.iter().zip(values).filter(|(j, _)| **j as usize != i);
            entries.extend(others.map(|(j, value)| (i as u32, *j, 0.5 * value.f64())));
        }
        Some(entries)
    }
    match affinities {
        AnySamples::F32(x) => entries(x.points()),
        AnySamples::F64(x) => entries(x.points()),
    }
}
