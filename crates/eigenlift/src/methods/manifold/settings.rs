//! What all manifold methods can be told.

use super::ManifoldInput;
use crate::data::{AnySamples, Points};
use crate::engine::{Cpu, Engine};
use crate::error::{Error, Result};
use crate::graph::{Metric, NeighborSearch, Neighbors, Reach, Search};
use crate::matrix::Matrix;
use crate::model::check_column_names;
use crate::progress::Watch;
use crate::quality::{NeighborhoodQuality, neighborhoods};
use crate::real::Real;
use std::sync::Arc;

/// Rows whose neighbourhoods are compared.
const COMPARED_ROWS: usize = 256;
/// Size of the neighbourhoods compared.
const COMPARED_NEIGHBORS: usize = 10;
/// Smallest tolerance that double precision can meet.
const SMALLEST_TOLERANCE: f64 = 1e-12;

/// Settings that manifold methods share; each method's own builder sets them.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(super) n_components: usize,
    pub(super) reach: Reach,
    pub(super) search: Search,
    pub(super) metric: Metric,
    pub(super) tolerance: f64,
    pub(super) seed: u64,
    pub(super) threads: usize,
    pub(super) memory_limit: Option<u64>,
    pub(super) engine: Option<Arc<dyn Engine>>,
    pub(super) watch: Watch,
    pub(super) column_names: Vec<String>,
}

impl Common {
    pub(super) fn new(n_components: usize) -> Self {
        Self {
            n_components,
            reach: Reach::Nearest(10),
            search: Search::Auto,
            metric: Metric::Euclidean,
            tolerance: 1e-6,
            seed: 0,
            threads: 0,
            memory_limit: None,
            engine: None,
            watch: Watch::default(),
            column_names: Vec::new(),
        }
    }

    pub(super) fn running_engine(&self) -> Result<Arc<dyn Engine>> {
        match &self.engine {
            Some(engine) => Ok(engine.clone()),
            None => Ok(Arc::new(Cpu::new(self.threads)?)),
        }
    }

    pub(super) fn neighbor_search(&self) -> NeighborSearch {
        NeighborSearch { reach: self.reach, how: self.search }
    }

    /// How well neighbourhoods are kept, on some rows, when there are rows to compare with.
    pub(super) fn compare(
        &self,
        input: &ManifoldInput,
        scores: &Matrix<f64>,
        engine: &dyn Engine,
    ) -> Result<Option<NeighborhoodQuality>> {
        let enough = |x: &&AnySamples| x.n_rows() > 2 * COMPARED_NEIGHBORS && scores.n_cols() > 0;
        let Some(x) = input.rows().filter(enough) else { return Ok(None) };
        let (space, most) = (input.space(self.metric), (COMPARED_ROWS, self.seed));
        let found = engine
            .complete(|| neighborhoods((&space, x.points()), scores, COMPARED_NEIGHBORS, most, &self.watch));
        found.map(Some)
    }

    pub(super) fn check(&self, input: &ManifoldInput) -> Result<()> {
        let (n, d) = (input.n_samples(), input.n_features());
        if self.n_components == 0 {
            return Err(Error::setting(
                "0 components",
                "at least one is needed",
                "Ask for 2 to draw a picture",
            ));
        }
        if !(self.tolerance >= SMALLEST_TOLERANCE && self.tolerance < 1.0) {
            return Err(Error::setting(
                format!("a tolerance of {}", self.tolerance),
                format!("it must lie between {SMALLEST_TOLERANCE:e} and 1"),
                "The default is 1e-6; 1e-10 agrees with a dense solver",
            ));
        }
        if n < 2 {
            return Err(Error::data(
                format!("{n} row(s)"),
                "an embedding needs at least 2",
                "Give more rows",
            ));
        }
        check_column_names(&self.column_names, d)?;
        if let Some(x) = input.rows() {
            x.points().check()?;
        }
        match input {
            ManifoldInput::Distances(x) | ManifoldInput::Affinities(x) => check_distances(x)?,
            ManifoldInput::Graph(graph, Some(x)) if graph.n_vertices() != x.n_rows() => {
                return Err(Error::data(
                    format!("a graph of {} vertices for {} rows", graph.n_vertices(), x.n_rows()),
                    "there must be one vertex for each row",
                    "Give the graph of these rows",
                ));
            }
            ManifoldInput::Neighbors(lists, x) => {
                check_lists(lists, x.as_ref().map_or(lists.n_rows(), AnySamples::n_rows))?;
            }
            ManifoldInput::Samples(_) | ManifoldInput::Graph(..) => {}
        }
        Ok(())
    }
}

/// One list for each row, and no neighbour beyond them.
pub(super) fn check_lists(lists: &Neighbors, n: usize) -> Result<()> {
    let beyond = (0..lists.n_rows())
        .find_map(|i| lists.row(i).0.iter().find(|j| **j as usize >= n).map(|j| (i, u64::from(*j))));
    let found = match beyond {
        _ if lists.n_rows() != n => format!("lists of neighbours for {} rows", lists.n_rows()),
        Some((i, j)) => format!("row {} as a neighbour of row {}", j + 1, i + 1),
        None => return Ok(()),
    };
    Err(Error::data(found, format!("there are {n} rows"), "Give a list for each row, of rows that exist"))
}

/// Square, not negative, the same across the diagonal up to rounding in the given precision.
fn check_distances(x: &AnySamples) -> Result<()> {
    let (n, d) = (x.n_rows(), x.n_cols());
    if n != d {
        return Err(Error::data(
            format!("a matrix of {n} × {d} between rows"),
            "it must be square",
            "Give a number for each pair of rows",
        ));
    }
    match x {
        AnySamples::F32(x) => check_pairs(x.points(), 1e-5),
        AnySamples::F64(x) => check_pairs(x.points(), 1e-10),
    }
}

/// Refuses samples that are all the same: any coordinates would do. Ends at the first that differs.
pub(super) fn refuse_constant(x: &AnySamples) -> Result<()> {
    let (n, d) = (x.n_rows(), x.n_cols());
    let (mut first, mut row) = (vec![0.0; d], vec![0.0; d]);
    x.points().copy_row(0, &mut first);
    for i in 1..n {
        x.points().copy_row(i, &mut row);
        if row != first {
            return Ok(());
        }
    }
    Err(Error::no_variance(
        format!("{n} samples that are all the same"),
        "an embedding needs samples that differ",
        "Check for constant columns",
    ))
}

fn check_pairs<T: Real>(points: Points<'_, T>, allowed: f64) -> Result<()> {
    let across = |i: usize, j: usize| match points {
        Points::Dense(m) => m.row(j)[i].f64(),
        Points::Sparse(m) => {
            let (columns, values) = m.row(j);
            columns.binary_search(&(i as u32)).map_or(0.0, |at| values[at].f64())
        }
    };
    let check = |i: usize, j: usize, here: f64| {
        if here < 0.0 {
            return Err(Error::data(
                format!("row {}, column {} is {here}", i + 1, j + 1),
                "a number between two rows is not negative",
                "Give distances, or affinities, between all rows",
            ));
        }
        let there = across(i, j);
        if (here - there).abs() > allowed * (here + there) {
            return Err(Error::data(
                format!("row {}, column {} is {here}, and {there} across the diagonal", i + 1, j + 1),
                "a matrix between rows must be symmetric",
                "Average it with its transpose if you mean that",
            ));
        }
        Ok(())
    };
    for i in 0..points.n_rows() {
        match points {
            Points::Dense(m) => {
                m.row(i)[..=i].iter().enumerate().try_for_each(|(j, here)| check(i, j, here.f64()))?;
            }
            Points::Sparse(m) => {
                let (columns, values) = m.row(i);
                columns.iter().zip(values).try_for_each(|(j, here)| check(i, *j as usize, here.f64()))?;
            }
        }
    }
    Ok(())
}

/// Builder methods for the settings in `common`.
macro_rules! common_settings {
    ($settings:ty) => {
        impl $settings {
            /// Distances between rows; Euclidean when not said.
            pub fn metric(mut self, metric: $crate::graph::Metric) -> Self {
                self.common.metric = metric;
                self
            }

            /// Relative residual asked of an iteration; 1e-6 when not said.
            pub fn tolerance(mut self, tolerance: f64) -> Self {
                self.common.tolerance = tolerance;
                self
            }

            /// Seed of every random draw.
            pub fn seed(mut self, seed: u64) -> Self {
                self.common.seed = seed;
                self
            }

            /// Threads; 0 for one on each processor. Results do not depend on it.
            pub fn threads(mut self, threads: usize) -> Self {
                self.common.threads = threads;
                self
            }

            /// Bytes that the work may use beside the rows.
            pub fn memory_limit(mut self, bytes: u64) -> Self {
                self.common.memory_limit = Some(bytes);
                self
            }

            /// Where it runs, instead of threads of its own.
            pub fn engine(mut self, engine: std::sync::Arc<dyn $crate::engine::Engine>) -> Self {
                self.common.engine = Some(engine);
                self
            }

            /// Who is told about progress, and who may stop it.
            pub fn watch(mut self, watch: $crate::progress::Watch) -> Self {
                self.common.watch = watch;
                self
            }

            /// Names of the input columns, which the model keeps.
            pub fn column_names(mut self, names: Vec<String>) -> Self {
                self.common.column_names = names;
                self
            }
        }
    };
}

/// Builder methods for the neighbourhood in `common`.
macro_rules! neighborhood_settings {
    ($settings:ty) => {
        impl $settings {
            /// Joins each row to its k nearest neighbours; 10 when not said.
            pub fn neighbors(mut self, k: usize) -> Self {
                self.common.reach = $crate::graph::Reach::Nearest(k);
                self
            }

            /// Joins rows that are no farther apart than this.
            pub fn radius(mut self, radius: f64) -> Self {
                self.common.reach = $crate::graph::Reach::Within(radius);
                self
            }

            /// How neighbours are found.
            pub fn search(mut self, search: $crate::graph::Search) -> Self {
                self.common.search = search;
                self
            }
        }
    };
}

pub(super) use {common_settings, neighborhood_settings};
