//! Samples whose rows and scores are both known: where searches start.

use crate::data::AnySamples;
use crate::error::Result;
use crate::graph::{Metric, NeighborSearch, Neighbors, Reach, Search, Space};
use crate::matrix::Matrix;
use crate::progress::Watch;

/// Share of the mean squared distance that keeps the weights of neighbours finite.
const SOFT: f64 = 1e-6;

/// Samples or landmarks, and their scores.
#[derive(Clone, Debug)]
pub(crate) struct Anchors<'a> {
    pub(crate) samples: &'a AnySamples,
    pub(crate) space: Space,
    neighbors: usize,
}

impl<'a> Anchors<'a> {
    pub(crate) fn new(samples: &'a AnySamples, scores: Matrix<f64>, neighbors: usize) -> Self {
        let space = Space::Rows { samples: scores.into(), metric: Metric::Euclidean };
        Self { samples, space, neighbors }
    }

    /// The samples nearest in scores.
    pub(crate) fn near(&self, scores: &Matrix<f64>, watch: &Watch) -> Result<Neighbors> {
        let search = NeighborSearch { reach: Reach::Nearest(self.neighbors), how: Search::Auto };
        search.of_new(&self.space, scores.into(), watch)
    }

    /// Rows of these samples, one after another.
    pub(crate) fn rows(&self, which: &[u32]) -> Matrix<f64> {
        let d = self.samples.n_cols();
        let mut out = Matrix::zeros(which.len(), d);
        for (at, i) in which.iter().enumerate() {
            self.samples.points().copy_row(*i as usize, out.view_mut().row_mut(at));
        }
        out
    }

    /// The mean of the nearest samples, weighted by one over the squared distance in scores.
    pub(crate) fn mean(&self, which: &[u32], distances: &[f64]) -> Vec<f64> {
        let soft = SOFT * distances.iter().map(|d| d * d).sum::<f64>() / distances.len().max(1) as f64;
        let weights: Vec<f64> =
            distances.iter().map(|d| 1.0 / (d * d + soft).max(f64::MIN_POSITIVE)).collect();
        // Numerics: at distance 0 weights may overflow in their sum; they are taken relative to the largest.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let total: f64 = weights.iter().map(|w| w / largest).sum();
        let rows = self.rows(which);
        let mut mean = vec![0.0; rows.n_cols()];
        for (i, weight) in weights.iter().enumerate() {
            let share = weight / largest / total;
            mean.iter_mut().zip(rows.row(i)).for_each(|(m, x)| *m += share * x);
        }
        mean
    }
}
