//! Rows between which bridges are looked for, and how far apart they are.

use crate::data::AnyPoints;
use crate::graph::Metric;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Entries after which a sum may end early.
const STRIP: usize = 64;

/// Rows and ρ, a distance with the triangle inequality that never exceeds what [`BridgeRows::reach`] says.
///
/// ρ is the metric itself where it is one; for cosine and correlation the Euclidean distance of unit rows, with ρ² ≤ 2d.
pub(super) struct BridgeRows<'a> {
    x: AnyPoints<'a>,
    metric: Metric,
    /// Unit rows for cosine and correlation.
    rows: Matrix<f64>,
    /// What rounding may add to ρ, and to differences of projections.
    slack: f64,
}

impl<'a> BridgeRows<'a> {
    pub(super) fn new(x: AnyPoints<'a>, metric: Metric) -> Self {
        let d = x.n_cols();
        let mut rows = x.to_dense::<f64>();
        if angular(metric) {
            rows.as_mut_slice().par_chunks_mut(d.max(1)).for_each(|row| to_unit(row, metric));
        }
        let mut all = Self { x, metric, rows, slack: 0.0 };
        let from_first = |i: usize| all.rho(all.row(i), all.row(0));
        let farthest = (0..all.rows.n_rows()).into_par_iter().map(from_first).reduce(|| 0.0, f64::max);
        // Numerics: sums of d terms are off by (d + 2)·eps relative to sums of absolute terms, and no ρ between rows or
        // means of rows is above twice the largest one from a row.
        all.slack = 64.0 * (d + 8) as f64 * f64::EPSILON * farthest;
        all
    }

    #[inline]
    pub(super) fn row(&self, i: usize) -> &[f64] {
        self.rows.row(i)
    }

    pub(super) fn n_cols(&self) -> usize {
        self.rows.n_cols()
    }

    /// ρ(x, y).
    #[inline]
    pub(super) fn rho(&self, x: &[f64], y: &[f64]) -> f64 {
        if self.metric == Metric::Manhattan {
            sum(x, y, f64::INFINITY, f64::abs)
        } else {
            sum(x, y, f64::INFINITY, |difference| difference * difference).sqrt()
        }
    }

    /// Whether ρ(x, y) is above `reach`; ends as soon as that is known.
    #[inline]
    pub(super) fn beyond(&self, x: &[f64], y: &[f64], reach: f64) -> bool {
        if self.metric == Metric::Manhattan {
            sum(x, y, reach, f64::abs) > reach
        } else {
            let square = reach * reach;
            sum(x, y, square, |difference| difference * difference) > square
        }
    }

    /// The metric itself between rows i and j, by its formula.
    pub(super) fn length(&self, i: usize, j: usize) -> f64 {
        let (from, to) = (i.min(j), i.max(j));
        if !angular(self.metric) {
            return self.metric.distance(self.row(from), self.row(to));
        }
        let (mut first, mut second) = (vec![0.0; self.n_cols()], vec![0.0; self.n_cols()]);
        self.x.copy_row(from, &mut first);
        self.x.copy_row(to, &mut second);
        self.metric.distance(&first, &second)
    }

    /// The largest ρ that rows at `length` can have, with room for rounding.
    pub(super) fn reach(&self, length: f64) -> f64 {
        if angular(self.metric) {
            let error = 16.0 * (self.n_cols() + 8) as f64 * f64::EPSILON;
            (2.0 * (length + error)).sqrt() + error + self.slack
        } else {
            length + self.slack
        }
    }

    /// The direction u along which `from` and `to` lie farthest apart, such that |⟨u, x − y⟩| ≤ ρ(x, y) for all x, y.
    ///
    /// The differences' unit vector for Euclidean distances, their signs for Manhattan distances. NaN where the two are
    /// the same, which rules nothing out.
    pub(super) fn direction(&self, from: &[f64], to: &[f64]) -> Vec<f64> {
        let length = self.rho(from, to);
        let differences = from.iter().zip(to).map(|(from, to)| to - from);
        if self.metric == Metric::Manhattan {
            differences.map(f64::signum).collect()
        } else {
            differences.map(|difference| difference / length).collect()
        }
    }

    /// The mean of some rows.
    pub(super) fn mean(&self, rows: &[u32]) -> Vec<f64> {
        mean(self.n_cols(), rows.iter().map(|i| self.row(*i as usize)))
    }
}

/// The mean of some points; zeros for none.
///
/// Numerics: the mean of differences from the first, so that points far from zero lose nothing.
pub(super) fn mean<'p>(n_cols: usize, points: impl ExactSizeIterator<Item = &'p [f64]> + Clone) -> Vec<f64> {
    let Some(first) = points.clone().next() else { return vec![0.0; n_cols] };
    let share = 1.0 / points.len() as f64;
    let mut mean = vec![0.0; n_cols];
    for point in points {
        let differences = point.iter().zip(first).map(|(x, first)| x - first);
        mean.iter_mut().zip(differences).for_each(|(mean, difference)| *mean += difference * share);
    }
    mean.iter_mut().zip(first).for_each(|(mean, first)| *mean += first);
    mean
}

fn angular(metric: Metric) -> bool {
    matches!(metric, Metric::Cosine | Metric::Correlation)
}

/// Divides by the norm, for correlation after the mean is taken away. Zero stays zero.
fn to_unit(row: &mut [f64], metric: Metric) {
    if metric == Metric::Correlation {
        let mean = row.iter().sum::<f64>() / row.len().max(1) as f64;
        row.iter_mut().for_each(|v| *v -= mean);
    }
    let norm = row.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 {
        row.iter_mut().for_each(|v| *v /= norm);
    }
}

/// The sum of a term of each difference; it may end early with any value above `limit`.
#[inline(always)]
fn sum(x: &[f64], y: &[f64], limit: f64, term: impl Fn(f64) -> f64) -> f64 {
    // Why eight sums: they form vectors, and none waits for another.
    let mut sums = [0.0; 8];
    let mut total = 0.0;
    let mut tail = 0.0;
    for (x, y) in x.chunks(STRIP).zip(y.chunks(STRIP)) {
        let (full, rest) = (x.len() / 8 * 8, x.len() % 8);
        for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
            sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += term(x - y));
        }
        if rest > 0 {
            tail += x[full..].iter().zip(&y[full..]).map(|(x, y)| term(x - y)).sum::<f64>();
        }
        total = sums.iter().sum::<f64>() + tail;
        if total > limit {
            return total;
        }
    }
    total
}
