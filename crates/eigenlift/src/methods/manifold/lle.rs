//! Locally linear embedding and its variants.

mod local;

use super::ManifoldInput;
use super::described::{METRIC, Manifold, NEIGHBORS, OWN, SEARCH, SHARED, embedder};
use super::fill::{Pattern, shift_invert};
use super::fitted::{FittedManifold, GraphFacts, ManifoldBody, ManifoldFacts, ManifoldKind, Part};
use super::plan::{ManifoldPlan, Way, graph_bytes};
use super::settings::{Common, check_lists, common_settings, neighborhood_settings, refuse_constant};
use crate::data::AnySamples;
use crate::describe::{Description, Kind, Parameter, Range};
use crate::eigen::{Smallest, SmallestOptions, fix_signs, smallest};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{Components, FoundNeighbors, Graph, Metric, Neighbors, Reach, Search, Space};
use crate::matrix::Matrix;
use crate::model::{Job, Lift, ManifoldLift, NeighborWeights, Projection};
use crate::operator::SparseSymmetric;
use local::Local;
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

/// Bytes for each pair of rows of a neighbourhood that BᵀB takes while it is found, and beside its factor: not all pairs of all
/// neighbourhoods are different.
const BUILT_BYTES: u128 = 16;
const HELD_BYTES: u128 = 13;

/// What is kept of each neighbourhood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LleVariant {
    /// The weights that give a row from its neighbours.
    #[default]
    Standard,
    /// Several such weights for each row, so that neighbourhoods do not fold.
    Modified,
    /// Second derivatives vanish in the tangent plane.
    Hessian,
    /// Tangent coordinates agree.
    Ltsa,
}

impl LleVariant {
    const ALL: [(&'static str, LleVariant); 4] = [
        ("standard", Self::Standard),
        ("modified", Self::Modified),
        ("hessian", Self::Hessian),
        ("ltsa", Self::Ltsa),
    ];

    /// Words for all variants.
    pub const NAMES: [&'static str; 4] = [Self::ALL[0].0, Self::ALL[1].0, Self::ALL[2].0, Self::ALL[3].0];
}

impl Display for LleVariant {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, variant)| variant == self).map_or("", |(name, _)| name))
    }
}

impl FromStr for LleVariant {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, variant)| *variant).ok_or_else(|| {
            Error::setting(
                format!("\"{text}\" as a variant of locally linear embedding"),
                format!("known are {}", Self::NAMES.join(", ")),
                "Choose one of them",
            )
        })
    }
}

/// Locally linear embedding, (G18): coordinates with ‖By‖² least, where BᵀB says how far coordinates are from keeping what each
/// neighbourhood keeps. New rows get the mean of their neighbours' coordinates by the weights that give the row itself.
///
/// ```
/// use eigenlift::{data, methods::LocallyLinear};
/// let curve = data::synthetic("s-curve", Some(300), None, 0)?.samples;
/// let model = LocallyLinear::new(2).neighbors(12).fit(curve)?;
/// assert!(model.eigenvalues()[0] < model.eigenvalues()[1]);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LocallyLinear {
    pub(super) common: Common,
    variant: LleVariant,
    ridge: f64,
    tolerances: (f64, f64),
}

/// Neighbours of all rows, and how they were found where they were not given.
type Lists = (Neighbors, Option<Search>);

/// Its description.
pub(super) const METHOD: Manifold = Manifold {
    description: Description {
        name: "lle",
        title: "Locally linear embedding",
        about: "Locally linear embedding and its variants",
        parameters: &[
            SHARED,
            &[
                Parameter { excludes: &[], doc: "Describe each row by so many nearest neighbours", ..NEIGHBORS[0] },
                SEARCH,
                Parameter {
                    kind: Kind::Choice(&Metric::NAMES),
                    doc: "Distance by which neighbours are chosen",
                    ..METRIC
                },
                Parameter {
                    name: "variant",
                    value: "WHICH",
                    kind: Kind::Choice(&LleVariant::NAMES),
                    default: Some("standard"),
                    doc: "What is kept of each neighbourhood: weights that give the row (standard), several such weights (modified), \
                          second derivatives of zero (hessian), tangent coordinates (ltsa)",
                    ..OWN
                },
                Parameter {
                    name: "ridge",
                    value: "R",
                    kind: Kind::Number(Range::Positive),
                    default: Some("1e-3"),
                    doc: "Added to the products within a neighbourhood, relative to their trace",
                    ..OWN
                },
                Parameter {
                    name: "hessian-zero",
                    kind: Kind::Number(Range::NotNegative),
                    default: Some("1e-4"),
                    heading: None,
                    doc: "Below which sums of second derivatives count as zero (hessian)",
                    ..OWN
                },
                Parameter {
                    name: "modified-zero",
                    kind: Kind::Number(Range::NotNegative),
                    default: Some("1e-12"),
                    heading: None,
                    doc: "Below which differences of weights count as zero (modified)",
                    ..OWN
                },
            ],
        ],
        fit_notes: "\
Scores are called lle1, lle2, ... Each row is described by its neighbours, and the coordinates keep these descriptions.

Examples:
  eigenlift fit lle roll.csv --target t --neighbors 12 --out lle.csv \\
      --model lle.safetensors --plot lle.svg
  eigenlift fit lle roll.csv --target t --variant modified \\
      --neighbors 12 | head -3",
        plan_notes: "\
Examples:
  eigenlift plan lle digits.csv --target digit --variant ltsa --json",
    },
    build: |settings| {
        let mut method = LocallyLinear::new(settings.count("components").unwrap_or(2));
        if let Some(variant) = settings.text("variant") {
            method.variant = variant.parse()?;
        }
        method.ridge = settings.number("ridge").unwrap_or(method.ridge);
        for (zero, name) in [(&mut method.tolerances.0, "hessian-zero"), (&mut method.tolerances.1, "modified-zero")] {
            *zero = settings.number(name).unwrap_or(*zero);
        }
        Ok(Box::new(method))
    },
};

common_settings!(LocallyLinear);
embedder!(LocallyLinear);
neighborhood_settings!(LocallyLinear);

impl LocallyLinear {
    /// So many coordinates.
    pub fn new(n_components: usize) -> Self {
        Self {
            common: Common::new(n_components),
            variant: LleVariant::Standard,
            ridge: 1e-3,
            tolerances: (1e-4, 1e-12),
        }
    }

    /// What is kept of each neighbourhood.
    pub fn variant(mut self, variant: LleVariant) -> Self {
        self.variant = variant;
        self
    }

    /// Added to the products within a neighbourhood, relative to their trace; 1e-3 when not said.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// Below which sums of second derivatives (hessian) and differences of weights (modified) count as zero; 1e-4 and 1e-12 when
    /// not said.
    pub fn zero_below(mut self, hessian: f64, modified: f64) -> Self {
        self.tolerances = (hessian, modified);
        self
    }

    /// Plans a fit, which [`Job::run`] then does; of samples, perhaps with lists of their neighbors.
    ///
    /// # Errors
    /// As [`LocallyLinear::fit`], as far as they can be known in advance.
    pub fn prepare(&self, input: impl Into<ManifoldInput>) -> Result<Job<'static, ManifoldBody>> {
        let (x, lists) = match input.into() {
            ManifoldInput::Samples(x) => (x, None),
            ManifoldInput::Neighbors(lists, Some(x)) => (x, Some(lists)),
            other => {
                return Err(other.refused(
                    "locally linear embedding",
                    "samples, or lists of neighbors together with the samples",
                ));
            }
        };
        let (input, engine) = (ManifoldInput::from(&x), self.common.running_engine()?);
        let (plan, found) = self.planned(&input, &*engine)?;
        refuse_constant(&x)?;
        let found = match lists {
            Some(lists) => {
                check_lists(&lists, x.n_rows())?;
                self.check_lengths(&lists)?;
                Some((lists, None))
            }
            None => found.map(|found| (found.neighbors, Some(found.how))),
        };
        let settings = self.clone();
        Ok(Job::new(plan, move |plan| settings.run((&x, found), plan, engine)))
    }

    /// Fits the model: what [`LocallyLinear::prepare`] plans.
    ///
    /// Cost: n·k³ flops for the neighbourhoods, and the factor of a sparse matrix.
    ///
    /// # Errors
    /// When settings or the input cannot be used, the tolerance is not met, or the work does not fit or is cancelled.
    pub fn fit(&self, input: impl Into<ManifoldInput>) -> Result<FittedManifold> {
        self.prepare(input)?.run()
    }

    fn planned(
        &self,
        input: &ManifoldInput,
        engine: &dyn Engine,
    ) -> Result<(ManifoldPlan, Option<FoundNeighbors>)> {
        self.common.check(input)?;
        self.check_neighborhood(input)?;
        let n = input.n_samples();
        let per_row = match self.common.reach {
            Reach::Nearest(k) => k.min(n),
            Reach::Within(_) => 32,
        } as u128;
        let factor = shift_invert(&self.common, input, Pattern::Neighborhoods, engine)?;
        let (bytes, found) = factor.map_or((None, None), |fill| (Some(fill.bytes), fill.neighbors));
        let plan = ManifoldPlan::new((ManifoldKind::Lle, true), &self.common, input, engine, |allowed| {
            let way = Way {
                n_landmarks: None,
                route: format!("{} neighbourhoods, smallest eigenvalues of a sparse matrix", self.variant),
                bytes: graph_bytes(n, Some(self.common.reach)) + self.matrix_bytes(n as u128, per_row),
                reasons: vec!["each sample is tied to its neighbors alone".into()],
                otherwise: "Allow more memory, or use fewer neighbors",
            };
            way.with_factor(bytes, n as u128 * (per_row + 1).pow(2) * HELD_BYTES, allowed)
        })?;
        Ok((plan, found))
    }

    /// Bytes while BᵀB is found for n rows with m neighbours each: B by rows and by columns, the result twice, and what variants keep
    /// of each neighbourhood.
    fn matrix_bytes(&self, n: u128, m: u128) -> u128 {
        let k = self.common.n_components as u128;
        let (rows, kept) = match self.variant {
            LleVariant::Standard => (1, 0),
            LleVariant::Modified => (m.saturating_sub(k).max(1), 8 * m * (m + 1)),
            LleVariant::Hessian => (k * (k + 1) / 2, 0),
            LleVariant::Ltsa => (m, 0),
        };
        n * (rows * ((m + 1) * 32 + 48) + kept + (m + 1).pow(2) * BUILT_BYTES)
    }

    fn check_neighborhood(&self, input: &ManifoldInput) -> Result<()> {
        let Common { n_components: k, reach, .. } = self.common;
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            return Err(Error::setting(
                format!("a ridge of {}", self.ridge),
                "it must be positive",
                "1e-3 is usual",
            ));
        }
        let Reach::Nearest(neighbors) = reach else {
            return Err(Error::setting(
                "a radius",
                "locally linear embedding takes a number of neighbours",
                "Say how many neighbours each row has",
            ));
        };
        let least = self.fewest_neighbors();
        if neighbors < least || neighbors >= input.n_samples() {
            return Err(Error::setting(
                format!("{neighbors} neighbours of {} rows", input.n_samples()),
                format!(
                    "the {} variant with {k} components needs at least {least}, and each row has {} others",
                    self.variant,
                    input.n_samples() - 1
                ),
                "Change the number of neighbours",
            ));
        }
        if k > input.n_features() {
            return Err(Error::setting(
                format!("{k} components of rows with {} columns", input.n_features()),
                "neighbourhoods have no more directions than there are columns",
                "Ask for fewer components",
            ));
        }
        Ok(())
    }

    /// Neighbours below which a neighbourhood says nothing.
    fn fewest_neighbors(&self) -> usize {
        let k = self.common.n_components;
        match self.variant {
            LleVariant::Standard => 1,
            LleVariant::Modified => k,
            LleVariant::Hessian => k.saturating_mul(k.saturating_add(3)) / 2 + 1,
            // The constant and k tangent coordinates leave at least one dimension.
            LleVariant::Ltsa => k.saturating_add(2),
        }
    }

    fn check_lengths(&self, lists: &Neighbors) -> Result<()> {
        let least = self.fewest_neighbors();
        match (0..lists.n_rows()).find(|i| lists.row(*i).0.len() < least) {
            None => Ok(()),
            Some(i) => Err(Error::data(
                format!("{} neighbours of row {}", lists.row(i).0.len(), i + 1),
                format!("the {} variant needs at least {least}", self.variant),
                "Give longer lists",
            )),
        }
    }

    fn run(
        &self,
        (x, found): (&AnySamples, Option<Lists>),
        plan: ManifoldPlan,
        engine: Arc<dyn Engine>,
    ) -> Result<FittedManifold> {
        let (part, scores, mut facts) = engine.complete(|| self.embedded(x, found, &plan))?;
        facts.neighborhoods = self.common.compare(&ManifoldInput::from(x), &scores, &*engine)?;
        let mut warnings = Vec::new();
        if scores.n_cols() < self.common.n_components {
            let (asked, k) = (self.common.n_components, scores.n_cols());
            warnings.push(format!("{asked} components were asked for and {k} exist"));
        }
        let graph = facts.graph.as_ref();
        if let Some(count) = graph.map(|graph| graph.component_sizes.len()).filter(|count| *count > 1) {
            warnings.push(format!(
                "the number of connected components of the neighbour graph is {count} > 1: coordinates mostly tell these apart. Raise the number of neighbours"
            ));
        }
        let column_names = self.common.column_names.clone();
        let body = ManifoldBody { parts: vec![part], scores, facts };
        Ok(FittedManifold { plan, warnings, column_names, engine, body })
    }

    /// BᵀB, whose smallest eigenvectors are the coordinates.
    fn matrix(&self, x: &AnySamples, neighbors: &Neighbors) -> Result<SparseSymmetric> {
        let local = Local {
            x: x.points().to_dense::<f64>(),
            neighbors,
            n_components: self.common.n_components,
            ridge: self.ridge,
            tolerances: self.tolerances,
        };
        SparseSymmetric::gram(x.n_rows(), &local.rows(self.variant, &self.common.watch)?)
    }

    fn embedded(
        &self,
        x: &AnySamples,
        found: Option<Lists>,
        plan: &ManifoldPlan,
    ) -> Result<(Part, Matrix<f64>, ManifoldFacts)> {
        let (n, watch) = (x.n_rows(), &self.common.watch);
        let space = Space::Rows { samples: x.clone(), metric: self.common.metric };
        let (lists, search) = match found {
            Some(found) => found,
            None => {
                let found = self.common.neighbor_search().among(&space, x.points(), watch)?;
                (found.neighbors, Some(found.how))
            }
        };
        let graph = Graph::from_neighbors(&lists);
        let components = Components::of(&graph);
        let n_edges = graph.n_edges();
        drop(graph);
        let matrix = self.matrix(x, &lists)?;
        let ones = Matrix::from_fn(n, 1, |_, _| (n as f64).sqrt().recip());
        let how = SmallestOptions {
            deflate: Some(ones.view()),
            tolerance: self.common.tolerance,
            seed: self.common.seed,
            memory_bytes: Some(plan.left_for_factor(&matrix)),
            watch,
        };
        let Smallest { pairs, route, .. } = smallest(&matrix, self.common.n_components.min(n - 1), &how)?;
        let mut vectors = pairs.vectors;
        fix_signs(&mut vectors);
        let norm = matrix.max_row_sum().max(f64::MIN_POSITIVE);
        let graph = GraphFacts {
            n_edges,
            component_sizes: components.sizes().to_vec(),
            search,
            ..GraphFacts::default()
        };
        let facts = ManifoldFacts {
            graph: Some(graph),
            solver: route.name().into(),
            stats: pairs.stats,
            ..ManifoldFacts::default()
        };
        let weights = NeighborWeights::Barycentric { ridge: self.ridge };
        let search = self.common.neighbor_search();
        let lift = Lift::Manifold(Box::new(ManifoldLift::Weights { space, search, weights }));
        let offset = vec![0.0; vectors.n_cols()];
        let projection = Projection { lift, coefficients: vectors.clone(), offset };
        let residuals = pairs.residuals.iter().map(|r| r / norm).collect();
        Ok((Part { rows: Vec::new(), projection, eigenvalues: pairs.values, residuals }, vectors, facts))
    }
}
