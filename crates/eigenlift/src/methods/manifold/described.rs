//! Manifold methods by their descriptions: parameters that several share, and a fit from settings.

use super::settings::Common;
use super::{MANIFOLDS, ManifoldBody, ManifoldInput};
use crate::describe::{Description, Kind, Parameter, Range, Settings};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::graph::{NeighborSearch, Reach, Search};
use crate::model::Job;
use crate::progress::Watch;
use std::sync::Arc;

const METHOD: Option<&str> = Some("Method");
const NEIGHBORHOOD: Option<&str> = Some("Neighbours");

const NUMBER: Parameter = Parameter {
    name: "",
    short: None,
    value: "N",
    kind: Kind::Count,
    default: None,
    excludes: &[],
    heading: METHOD,
    doc: "",
};

/// What every manifold method has.
pub(super) const SHARED: &[Parameter] = &[
    Parameter {
        name: "components",
        short: Some('k'),
        kind: Kind::Components,
        default: Some("2"),
        doc: "Coordinates kept",
        ..NUMBER
    },
    Parameter {
        name: "tol",
        value: "X",
        kind: Kind::Number(Range::Tolerance),
        default: Some("1e-6"),
        doc: "Relative residual asked of an iteration",
        ..NUMBER
    },
];

/// Which rows count as neighbors.
pub(super) const NEIGHBORS: &[Parameter] = &[
    Parameter {
        name: "neighbors",
        default: Some("10"),
        excludes: &["radius"],
        heading: NEIGHBORHOOD,
        doc: "Join each row to so many nearest neighbours",
        ..NUMBER
    },
    Parameter {
        name: "radius",
        value: "R",
        kind: Kind::Number(Range::Positive),
        heading: NEIGHBORHOOD,
        doc: "Join rows that are no farther apart than this, instead of a number of neighbours",
        ..NUMBER
    },
    SEARCH,
];

pub(super) const SEARCH: Parameter = Parameter {
    name: "search",
    value: "HOW",
    kind: Kind::Choice(&Search::NAMES),
    default: Some("auto"),
    heading: NEIGHBORHOOD,
    doc: "How neighbors are found, exactly in any case: by all distances (brute) or by a tree",
    ..NUMBER
};

pub(super) const METRIC: Parameter = Parameter {
    name: "metric",
    value: "METRIC",
    kind: Kind::Choice(&["euclidean", "manhattan", "cosine", "correlation", PRECOMPUTED]),
    default: Some("euclidean"),
    heading: NEIGHBORHOOD,
    doc: "Distance between rows; precomputed: DATA is the n × n matrix of distances",
    ..NUMBER
};

/// What stands for a table of distances in place of a metric.
const PRECOMPUTED: &str = "precomputed";

/// A parameter of one method, under its heading.
pub(super) const OWN: Parameter = NUMBER;
/// One that says which rows count as neighbors.
pub(super) const NEAR: Parameter = Parameter { heading: NEIGHBORHOOD, ..NUMBER };

/// A manifold method: what it is called, what can be set, and what makes it.
#[derive(Debug)]
pub struct Manifold {
    /// Its description.
    pub description: Description,
    pub(super) build: fn(&Settings) -> Result<Box<dyn Embedder>>,
}

/// What a fit is given beside its settings.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Seed of every random draw.
    pub seed: u64,
    /// Threads, where there is no engine; 0 for one on each processor.
    pub threads: usize,
    /// Bytes that the work may use beside the rows.
    pub memory_limit: Option<u64>,
    /// Where it runs, instead of threads of its own.
    pub engine: Option<Arc<dyn Engine>>,
    /// Who hears of progress, and who may stop it.
    pub watch: Watch,
    /// Names of the input columns, which the model keeps.
    pub column_names: Vec<String>,
}

/// A manifold method with its settings, whichever it is.
pub(super) trait Embedder {
    fn common_mut(&mut self) -> &mut Common;

    fn prepare_input(&self, input: ManifoldInput) -> Result<Job<'static, ManifoldBody>>;
}

/// Makes a type with the field `common` and a `prepare` a method to describe.
macro_rules! embedder {
    ($method:ty) => {
        impl $crate::methods::manifold::described::Embedder for $method {
            fn common_mut(&mut self) -> &mut Common {
                &mut self.common
            }

            fn prepare_input(&self, input: ManifoldInput) -> Result<Job<'static, ManifoldBody>> {
                self.prepare(input)
            }
        }
    };
}

pub(super) use embedder;

impl Manifold {
    /// Plans a fit with these settings, which [`Job::run`] then does.
    ///
    /// # Errors
    /// When settings or the input cannot be used.
    pub fn prepare(
        &self,
        settings: &Settings,
        input: ManifoldInput,
        run: Run,
    ) -> Result<Job<'static, ManifoldBody>> {
        let mut method = (self.build)(settings)?;
        let common = method.common_mut();
        common.take(settings)?;
        (common.seed, common.threads, common.memory_limit) = (run.seed, run.threads, run.memory_limit);
        (common.engine, common.watch, common.column_names) = (run.engine, run.watch, run.column_names);
        method.prepare_input(input)
    }
}

/// The manifold method of that name.
///
/// # Errors
/// When there is none.
pub fn manifold(name: &str) -> Result<&'static Manifold> {
    let found = MANIFOLDS.into_iter().find(|method| method.description.name == name);
    found.ok_or_else(|| {
        let known = MANIFOLDS.map(|method| method.description.name);
        Error::setting(
            format!("a manifold method called \"{name}\""),
            format!("known are {}", known.join(", ")),
            "Choose one of them",
        )
    })
}

impl Common {
    /// The settings that several methods have.
    fn take(&mut self, settings: &Settings) -> Result<()> {
        if let Some(tolerance) = settings.number("tol") {
            self.tolerance = tolerance;
        }
        if let Some(search) = neighbor_search(settings) {
            (self.reach, self.search) = (search.reach, search.how);
        }
        if let Some(metric) = settings.text("metric").filter(|metric| *metric != PRECOMPUTED) {
            self.metric = metric.parse()?;
        }
        Ok(())
    }
}

/// Which rows count as neighbors, where the method has such a parameter.
pub fn neighbor_search(settings: &Settings) -> Option<NeighborSearch> {
    let reach = match settings.number("radius") {
        Some(radius) => Reach::Within(radius),
        None => Reach::Nearest(settings.count("neighbors")?),
    };
    let how = settings.text("search").and_then(|text| text.parse().ok()).unwrap_or_default();
    Some(NeighborSearch { reach, how })
}
