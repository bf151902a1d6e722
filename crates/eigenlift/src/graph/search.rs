//! Looking for neighbours, docs/theory (G3).

mod best;
mod brute;
mod direct;
mod rows;
mod sieve;
mod strip;
mod tree;
mod descent;
mod forest;
#[cfg(test)]
mod tests;

use super::neighbors::{Neighbors, Reach};
use super::{Metric, Space};
use crate::data::{AnyPoints, AnySamples, Points};
use crate::error::{Error, Result};
use crate::progress::Watch;
use rows::{Job, check_finite};
use serde::{Deserialize, Serialize};

/// Columns up to which `Auto` takes a tree.
const TREE_COLUMNS: usize = 8;
/// Samples, and rows looked up, from which `Auto` takes a tree.
const TREE_ROWS: usize = 500;
/// Columns of sparse rows up to which they are copied into dense ones for trees and neighbours of neighbours.
const DENSE_COLUMNS: usize = 4096;
/// Below this many samples an approximate search is exact.
const APPROXIMATE_ROWS: usize = 2000;

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// By a tree in few dimensions, otherwise by all distances.
    #[default]
    Auto,
    /// All distances, exact.
    Brute,
    /// A tree, exact.
    Tree,
    /// Neighbours of neighbours; the recall is measured.
    Approximate,
}

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighborSearch {
    /// How far neighbourhoods reach.
    pub reach: Reach,
    /// How they are found.
    pub how: Search,
    /// Seed of what is drawn.
    pub seed: u64,
}

/// Neighbours and how they were found.
#[derive(Clone, Debug)]
pub struct FoundNeighbors {
    /// The lists.
    pub neighbors: Neighbors,
    /// What `Auto` became.
    pub how: Search,
    /// Share of true neighbours found, measured on sampled rows, when the search was approximate.
    pub recall: Option<f64>,
}

impl NeighborSearch {
    /// Neighbours of every sample among the other samples. `x` are the samples, or for [`Space::Distances`] the n × n
    /// matrix, whose diagonal counts for nothing.
    ///
    /// An approximate search of fewer than 2000 samples, or of sparse rows of more than 4096 columns, is exact.
    ///
    /// # Errors
    /// For more neighbours than there are other samples, for a search that does not fit the metric or the reach, for
    /// entries that are not finite, distances that are negative or not finite, when the space has lists only, and when the
    /// work is cancelled.
    pub fn among(&self, space: &Space, x: AnyPoints<'_>, watch: &Watch) -> Result<FoundNeighbors> {
        self.check(space, x)?;
        let n = space.n_samples();
        if x.n_rows() != n {
            return Err(Error::data(
                format!("{} rows", x.n_rows()),
                format!("there are {n} samples"),
                "Give the samples themselves, or the square matrix of their distances",
            ));
        }
        if let Reach::Nearest(k) = self.reach
            && k >= n
        {
            return Err(Error::setting(
                format!("{k} neighbours of {n} rows"),
                format!("at most {} are there", n.saturating_sub(1)),
                "Ask for fewer neighbours or give more rows",
            ));
        }
        let themselves = Some((0..n as u32).collect());
        let (samples, metric) = match space {
            Space::Rows { samples, metric } => (samples, *metric),
            _ => {
                let job = Job {
                    samples: x,
                    metric: Metric::default(),
                    rows: x,
                    themselves,
                    reach: self.reach,
                    watch,
                };
                let lists = job.in_blocks(direct::ROWS, |range| direct::given(&job, range))?.concat();
                return Ok(found(&lists, Search::Brute, None));
            }
        };
        let job = Job {
            samples: samples.points(),
            metric,
            rows: samples.points(),
            themselves,
            reach: self.reach,
            watch,
        };
        match self.resolve(&job) {
            Search::Approximate if n < APPROXIMATE_ROWS || is_wide(samples.points()) => {
                Ok(found(&exact(&job, Search::Brute)?, Search::Brute, Some(1.0)))
            }
            Search::Approximate => self.approximate(&job, samples),
            how => Ok(found(&exact(&job, how)?, how, None)),
        }
    }

    /// Neighbours of new rows among the samples; all samples when there are fewer than asked for. For [`Space::Distances`] a
    /// row holds its distances to the samples. Always exact, also when an approximate search is set.
    ///
    /// # Errors
    /// As [`NeighborSearch::among`], and for rows of another width than the samples'.
    pub fn of_new(&self, space: &Space, x: AnyPoints<'_>, watch: &Watch) -> Result<Neighbors> {
        self.check(space, x)?;
        let lists = match space {
            Space::Rows { samples, metric } => {
                let job = Job {
                    samples: samples.points(),
                    metric: *metric,
                    rows: x,
                    themselves: None,
                    reach: self.reach,
                    watch,
                };
                exact(&job, self.resolve(&job))?
            }
            _ => {
                let job = Job {
                    samples: x,
                    metric: Metric::default(),
                    rows: x,
                    themselves: None,
                    reach: self.reach,
                    watch,
                };
                job.in_blocks(direct::ROWS, |range| direct::given(&job, range))?.concat()
            }
        };
        Ok(Neighbors::from_lists(&lists))
    }

    /// Refuses settings and rows that cannot be searched.
    fn check(&self, space: &Space, x: AnyPoints<'_>) -> Result<()> {
        self.reach.check()?;
        if let Space::Lists { .. } = space {
            return Err(Error::data(
                format!("{} rows to look up", x.n_rows()),
                "neighbours were given as lists, so that rows cannot be looked up",
                "Give the neighbours of new rows as lists too",
            ));
        }
        if x.n_cols() != space.n_features() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the samples have {}", space.n_features()),
                "Give the same columns, in the same order, as in fit",
            ));
        }
        let by_distance = matches!(space, Space::Rows { metric: Metric::Euclidean | Metric::Manhattan, .. });
        let refuse = |found: &str, required: &str| {
            Err(Error::setting(found, required, "Leave the search to \"auto\", or ask for \"brute\""))
        };
        match (self.how, self.reach) {
            (Search::Tree, _) if !by_distance => refuse(
                "a tree for cosine, correlation or given distances",
                "trees know euclidean and manhattan distances",
            ),
            (Search::Tree, _) if is_wide(x) => {
                refuse("a tree for wide sparse rows", &format!("trees take up to {DENSE_COLUMNS} columns"))
            }
            (Search::Approximate, Reach::Within(_)) => refuse(
                "an approximate search within a radius",
                "neighbours of neighbours are found for a number of neighbours only",
            ),
            (Search::Approximate, _) if !matches!(space, Space::Rows { .. }) => {
                refuse("an approximate search of given distances", "all distances are there already")
            }
            _ => match space {
                Space::Rows { .. } => x.check(),
                _ => check_distances(x),
            },
        }
    }

    /// What the search becomes.
    ///
    /// Why these limits: see the measurements in tree.rs.
    fn resolve(&self, job: &Job<'_>) -> Search {
        let fits = matches!(job.metric, Metric::Euclidean | Metric::Manhattan)
            && job.samples.n_cols() <= TREE_COLUMNS
            && job.samples.n_rows().min(job.rows.n_rows()) >= TREE_ROWS;
        match self.how {
            Search::Approximate if job.themselves.is_some() => Search::Approximate,
            Search::Auto | Search::Approximate if fits => Search::Tree,
            Search::Auto | Search::Approximate => Search::Brute,
            how => how,
        }
    }

    fn approximate(&self, job: &Job<'_>, samples: &AnySamples) -> Result<FoundNeighbors> {
        let lists = descent::search(job, self.seed)?;
        let recall = descent::recall(job, samples, &lists, self.seed)?;
        Ok(found(&lists, Search::Approximate, Some(recall)))
    }
}

fn found(lists: &[Vec<best::Found>], how: Search, recall: Option<f64>) -> FoundNeighbors {
    FoundNeighbors { neighbors: Neighbors::from_lists(lists), how, recall }
}

fn exact(job: &Job<'_>, how: Search) -> Result<Vec<Vec<best::Found>>> {
    let lists = match how {
        Search::Tree => tree::search(job)?,
        _ => brute::search(job)?,
    };
    check_finite(&lists)?;
    Ok(lists)
}

/// Whether dense copies are out of the question.
fn is_wide(x: AnyPoints<'_>) -> bool {
    let sparse = matches!(x, AnyPoints::F32(Points::Sparse(_)) | AnyPoints::F64(Points::Sparse(_)));
    sparse && x.n_cols() > DENSE_COLUMNS
}

fn check_distances(x: AnyPoints<'_>) -> Result<()> {
    let bad = match x {
        AnyPoints::F32(Points::Sparse(_)) | AnyPoints::F64(Points::Sparse(_)) => {
            return Err(Error::data(
                "a sparse matrix of distances",
                "every distance is needed, and entries left out would count as 0",
                "Give a dense matrix, or lists of neighbours",
            ));
        }
        AnyPoints::F32(p) => p.find(|x| x.is_finite() && x >= 0.0),
        AnyPoints::F64(p) => p.find(|x| x.is_finite() && x >= 0.0),
    };
    match bad {
        None => Ok(()),
        Some((i, j, value)) => Err(Error::data(
            format!("a distance of {value} in row {}, column {}", i + 1, j + 1),
            "distances must be finite and not negative",
            "Look at how the matrix was computed",
        )),
    }
}
