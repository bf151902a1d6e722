//! Neighbours, graphs of them, and distances along those graphs.
//!
//! ```text
//! rows ──> NeighborSearch ──> Neighbors ──> Graph ──> Components, bridges ──> shortest paths
//! ```

mod bridges;
mod components;
mod metric;
mod neighbors;
mod paths;
mod search;
mod short_circuits;
mod symmetric;

pub(crate) use bridges::bridges;
pub(crate) use components::Components;
pub use metric::Metric;
pub use neighbors::{Neighbors, Reach};
pub use paths::{all_distances, distances_from, distances_to, spread_sources};
pub use search::{FoundNeighbors, NeighborSearch, Search};
pub use short_circuits::{
    ShortCircuits, Suspect, count_short_circuits_against, short_circuits, short_circuits_against,
};
pub use symmetric::{Edge, Graph};

use crate::data::AnySamples;

/// Where neighbours are looked for.
#[derive(Clone, Debug)]
pub enum Space {
    /// Among samples, by a metric between rows.
    Rows {
        /// The samples.
        samples: AnySamples,
        /// d(x, y).
        metric: Metric,
    },
    /// A row holds its distances to the samples already.
    Distances {
        /// Number of samples.
        n_samples: usize,
    },
    /// Neighbours come from elsewhere, as lists; rows cannot be looked up.
    Lists {
        /// Number of samples.
        n_samples: usize,
    },
}

impl Space {
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        match self {
            Self::Rows { samples, .. } => samples.n_rows(),
            Self::Distances { n_samples } | Self::Lists { n_samples } => *n_samples,
        }
    }

    /// Numbers that a row must have.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Rows { samples, .. } => samples.n_cols(),
            Self::Distances { n_samples } | Self::Lists { n_samples } => *n_samples,
        }
    }
}
