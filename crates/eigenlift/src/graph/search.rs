//! Looking for neighbours, docs/theory (G3).

mod best;
mod brute;
mod direct;
mod rows;
mod sieve;
mod strip;
mod tree;
#[cfg(test)]
mod tests;

use super::neighbors::{Neighbors, Reach};
use super::{Metric, Space};
use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::memory::{collected, joined};
use crate::progress::Watch;
use rows::{Job, check_finite};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Columns up to which `Auto` takes a tree.
const TREE_COLUMNS: usize = 8;
/// Samples, and rows looked up, from which `Auto` takes a tree.
const TREE_ROWS: usize = 500;
/// Columns of sparse rows up to which they are copied into dense ones for trees.
const DENSE_COLUMNS: usize = 4096;

/// How neighbors are found; every way is exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// By a tree in few dimensions, otherwise by all distances.
    ///
    /// Model files of versions that had an approximate search name it; new rows of such models were searched like this.
    #[default]
    #[serde(alias = "approximate")]
    Auto,
    /// All distances.
    Brute,
    /// A tree.
    Tree,
}

impl Search {
    const ALL: [(&'static str, Search); 3] =
        [("auto", Self::Auto), ("brute", Self::Brute), ("tree", Self::Tree)];

    /// Words for all of them.
    pub const NAMES: [&'static str; 3] = [Self::ALL[0].0, Self::ALL[1].0, Self::ALL[2].0];
}

impl FromStr for Search {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, search)| *search).ok_or_else(|| {
            Error::setting(
                format!("a search called \"{text}\""),
                format!("known are {}", Self::NAMES.join(", ")),
                "Choose one of them",
            )
        })
    }
}

/// Settings of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighborSearch {
    /// How far neighbourhoods reach.
    pub reach: Reach,
    /// How they are found.
    pub how: Search,
}

/// Neighbours and how they were found.
#[derive(Clone, Debug)]
pub struct FoundNeighbors {
    /// The lists.
    pub neighbors: Neighbors,
    /// What `Auto` became.
    pub how: Search,
}

impl NeighborSearch {
    /// Neighbours of every sample among the other samples. `x` are the samples, or for [`Space::Distances`] the n × n
    /// matrix, whose diagonal counts for nothing.
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
        let themselves = Some(collected(n, 0..n as u32));
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
                let lists = joined(job.in_blocks(direct::ROWS, |range| direct::given(&job, range))?);
                return Ok(found(&lists, Search::Brute));
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
        let how = self.resolve(&job);
        Ok(found(&exact(&job, how)?, how))
    }

    /// Neighbours of new rows among the samples; all samples when there are fewer than asked for. For [`Space::Distances`] a
    /// row holds its distances to the samples.
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
                joined(job.in_blocks(direct::ROWS, |range| direct::given(&job, range))?)
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
        match self.how {
            Search::Tree if !by_distance => refuse(
                "a tree for cosine, correlation or given distances",
                "trees know euclidean and manhattan distances",
            ),
            Search::Tree if is_wide(x) => {
                refuse("a tree for wide sparse rows", &format!("trees take up to {DENSE_COLUMNS} columns"))
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
            Search::Auto if fits => Search::Tree,
            Search::Auto => Search::Brute,
            how => how,
        }
    }
}

fn found(lists: &[Vec<best::Found>], how: Search) -> FoundNeighbors {
    FoundNeighbors { neighbors: Neighbors::from_lists(lists), how }
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
