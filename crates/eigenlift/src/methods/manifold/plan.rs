//! What a fit of a manifold method will do and why.

use super::ManifoldInput;
use super::fitted::ManifoldKind;
use super::settings::Common;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{Reach, Search};
use crate::model::allowance;
use crate::model::{human_bytes, machine_lines, planned};
use crate::operator::SparseSymmetric;
use serde::{Deserialize, Serialize};

/// What was decided, with one reason for each decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifoldPlan {
    /// The method.
    pub method: ManifoldKind,
    /// Rows.
    pub n_samples: usize,
    /// Columns.
    pub n_features: usize,
    /// Components asked for.
    pub n_components: usize,
    /// Precision of the rows, `f32` or `f64`; distances along paths are always in double precision.
    pub precision: String,
    /// The metric, `precomputed`, or where neighbours come from.
    pub metric: String,
    /// How far neighbourhoods reach, where the method has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// How neighbours are looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Landmarks that stand for all rows; `None` when all rows stand for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_landmarks: Option<usize>,
    /// The way, in words.
    pub route: String,
    /// Relative residual asked of an iteration.
    pub tolerance: f64,
    /// Seed of every random draw.
    pub seed: u64,
    /// Where it runs.
    pub engine: String,
    /// Threads that work at once.
    pub threads: usize,
    /// Bytes the fit needs beside the rows.
    pub bytes_needed: u64,
    /// Bytes it may use.
    pub bytes_allowed: u64,
    /// One sentence for each decision.
    pub reasons: Vec<String>,
}

/// What a method adds to a plan.
pub(super) struct Way {
    pub(super) n_landmarks: Option<usize>,
    pub(super) route: String,
    pub(super) bytes: u128,
    pub(super) reasons: Vec<String>,
    /// What to do when it does not fit.
    pub(super) otherwise: &'static str,
}

impl Way {
    /// With the factor of the sparse matrix where that fits, after what it takes to find the matrix, of which `held` stay.
    pub(super) fn with_factor(mut self, factor: Option<u128>, held: u128, allowed: u64) -> Self {
        let Some(factor) = factor else { return self };
        let both = held + factor;
        let told = human_bytes(factor);
        if both <= u128::from(allowed) {
            self.bytes = self.bytes.max(both);
            self.reasons.push(format!("its factor takes about {told} and fits"));
        } else {
            self.reasons.push(format!("its factor would take about {told}: products with it take its place"));
        }
        self
    }
}

planned!(ManifoldPlan, then bound_reach);

impl ManifoldPlan {
    /// Bytes that the factor of a sparse matrix may take beside the matrix itself and the lists that it was made from.
    pub(super) fn left_for_factor(&self, matrix: &SparseSymmetric) -> u64 {
        let (offsets, columns, _) = matrix.parts();
        // The matrix, and the half of it that is factored, with wide indices.
        let held = 8 * offsets.len() + (12 + 12 + 8) * columns.len();
        self.bytes_allowed.saturating_sub(held as u64)
    }

    /// JSON has no infinity; no distance exceeds the largest number either.
    fn bound_reach(&mut self) {
        self.reach = self.reach.map(finite);
    }

    /// The plan for these settings; `decide` is told the bytes allowed and says which way.
    pub(super) fn new(
        (method, has_neighbors): (ManifoldKind, bool),
        common: &Common,
        input: &ManifoldInput,
        engine: &dyn Engine,
        decide: impl FnOnce(u64) -> Way,
    ) -> Result<Self> {
        let (allowed, why) = allowance(common.memory_limit, engine);
        let way = decide(allowed);
        if way.bytes > u128::from(allowed) {
            return Err(Error::memory(
                format!("{}: {} of memory", way.route, human_bytes(way.bytes)),
                format!("{} are allowed", human_bytes(u128::from(allowed))),
                way.otherwise,
            ));
        }
        let looked_up = has_neighbors
            && matches!(
                input,
                ManifoldInput::Samples(_) | ManifoldInput::Distances(_) | ManifoldInput::Affinities(_)
            );
        Ok(Self {
            method,
            n_samples: input.n_samples(),
            n_features: input.n_features(),
            n_components: common.n_components,
            precision: input.precision().into(),
            metric: input.metric_word(common.metric),
            reach: looked_up.then_some(common.reach),
            search: looked_up.then_some(common.search),
            n_landmarks: way.n_landmarks,
            route: way.route,
            tolerance: common.tolerance,
            seed: common.seed,
            engine: engine.name(),
            threads: engine.threads(),
            bytes_needed: u64::try_from(way.bytes).unwrap_or(u64::MAX),
            bytes_allowed: allowed,
            reasons: way.reasons.into_iter().chain([why]).collect(),
        })
    }
}

/// The largest number of a range, its end included, that fits; its start when none does.
pub(super) fn most_that_fit(range: std::ops::Range<usize>, fits: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end.max(range.start) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Bytes of a graph of neighbours: lists, and edges from both ends. With a radius their number is not known in advance.
pub(super) fn graph_bytes(n: usize, reach: Option<Reach>) -> u128 {
    let links = match reach {
        Some(Reach::Nearest(k)) => n as u128 * k.min(n) as u128,
        Some(Reach::Within(_)) => n as u128 * 32,
        None => 0,
    };
    links * (12 + 3 * 24) + n as u128 * 64
}

/// JSON has no infinity; no distance exceeds the largest number either.
pub(super) fn finite(reach: Reach) -> Reach {
    match reach {
        Reach::Within(radius) => Reach::Within(radius.min(f64::MAX)),
        nearest => nearest,
    }
}

impl std::fmt::Display for ManifoldPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "samples      {} × {} ({})", self.n_samples, self.n_features, self.precision)?;
        writeln!(f, "metric       {}", self.metric)?;
        if let Some(reach) = self.reach {
            let how = match self.search {
                Some(Search::Auto) => ", exact",
                Some(Search::Brute) => ", by all distances",
                Some(Search::Tree) => ", by a tree",
                None => "",
            };
            writeln!(f, "graph        {reach}{how}")?;
        } else if self.method == ManifoldKind::Isomap {
            writeln!(f, "graph        as given")?;
        }
        writeln!(f, "coordinates  {}", self.n_components)?;
        writeln!(f, "route        {}", self.route)?;
        let memory = (self.bytes_needed, self.bytes_allowed);
        writeln!(f, "{}", machine_lines(memory, (&self.engine, self.threads)))?;
        for reason in &self.reasons {
            writeln!(f, "  because {reason}")?;
        }
        Ok(())
    }
}
