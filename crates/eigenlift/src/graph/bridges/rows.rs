//! The nearest row of another set.

use super::{Sets, first_of_sets, offer};
use crate::data::AnyPoints;
use crate::error::Result;
use crate::graph::{Edge, Metric};
use crate::matrix::Matrix;
use crate::progress::Watch;
use rayon::prelude::*;

/// Rows whose distances from all others are kept as bounds.
const PIVOTS: usize = 4;

/// Rows that share what they have found.
const PIECE: usize = 64;

/// Entries after which a sum may end early.
const STRIP: usize = 64;

/// Rows in the order of their distances from a pivot, for searches that end where the triangle inequality allows.
///
/// |ρ(p, x) − ρ(p, y)| ≤ ρ(x, y) for each pivot p. ρ is the metric itself where it is one; for cosine and correlation the
/// Euclidean distance of unit rows, with ρ² ≤ 2d.
pub(super) struct SortedRows<'a> {
    x: AnyPoints<'a>,
    metric: Metric,
    /// Numbers of the rows, sorted.
    numbers: Vec<u32>,
    /// Rows in sorted order; unit rows for cosine and correlation.
    rows: Matrix<f64>,
    /// Distances from the pivots in sorted order.
    keys: Vec<[f64; PIVOTS]>,
    /// What rounding may add to ρ.
    slack: f64,
}

/// What a search has found: edges out of one set, and how far others need be looked for.
struct Best {
    edge: Option<Edge>,
    reach: f64,
}

impl<'a> SortedRows<'a> {
    pub(super) fn new(x: AnyPoints<'a>, metric: Metric) -> Self {
        let (n, d) = (x.n_rows(), x.n_cols());
        let mut rows = x.to_dense::<f64>();
        if angular(metric) {
            rows.as_mut_slice().par_chunks_mut(d.max(1)).for_each(|row| to_unit(row, metric));
        }
        let mut keys = vec![[0.0; PIVOTS]; n];
        let mut nearest = vec![f64::INFINITY; n];
        let mut pivot = 0;
        for p in 0..PIVOTS {
            // Each pivot is the row farthest from those before it.
            keys.par_iter_mut()
                .enumerate()
                .for_each(|(i, key)| key[p] = rho(metric, rows.row(i), rows.row(pivot)));
            nearest.iter_mut().zip(&keys).for_each(|(nearest, key)| *nearest = nearest.min(key[p]));
            pivot = (0..n).fold(0, |far, i| if nearest[i] > nearest[far] { i } else { far });
        }
        let mut numbers: Vec<u32> = (0..n as u32).collect();
        numbers.sort_by(|a, b| keys[*a as usize][0].total_cmp(&keys[*b as usize][0]).then(a.cmp(b)));
        let scale = keys.iter().flatten().copied().fold(0.0, f64::max);
        let sorted = |at: usize| numbers[at] as usize;
        Self {
            rows: Matrix::from_fn(n, d, |at, column| rows[(sorted(at), column)]),
            keys: (0..n).map(|at| keys[sorted(at)]).collect(),
            // Numerics: sums of d terms are off by (d + 2)·eps relative, and no ρ is above twice the largest key.
            slack: 16.0 * (d + 8) as f64 * f64::EPSILON * scale,
            x,
            metric,
            numbers,
        }
    }

    /// The shortest edge out of each set but the largest. One row of each set goes first, so that the others know how far
    /// to look.
    pub(super) fn shortest_outwards(&self, sets: &Sets, watch: &Watch) -> Result<Vec<Option<Edge>>> {
        let set = |at: &usize| sets.of_rows[self.numbers[*at] as usize];
        let mut seen = vec![false; sets.n_names];
        let searching = (0..self.numbers.len()).filter(|at| set(at) != sets.largest);
        let (first, rest): (Vec<usize>, Vec<usize>) =
            searching.partition(|at| !std::mem::replace(&mut seen[set(at) as usize], true));
        let found: Result<Vec<_>> = first.par_iter().map(|at| self.piece(&[*at], sets, &[], watch)).collect();
        let seeds = first_of_sets(found?.concat(), sets.n_names);
        let found: Result<Vec<_>> =
            rest.par_chunks(PIECE).map(|piece| self.piece(piece, sets, &seeds, watch)).collect();
        let mut found = found?.concat();
        found.extend(seeds.into_iter().enumerate().map(|(set, edge)| (set as u32, edge)));
        Ok(first_of_sets(found, sets.n_names))
    }

    fn piece(
        &self,
        piece: &[usize],
        sets: &Sets,
        seeds: &[Option<Edge>],
        watch: &Watch,
    ) -> Result<Vec<(u32, Option<Edge>)>> {
        let mut found = std::collections::BTreeMap::new();
        for at in piece {
            watch.check()?;
            let set = sets.of_rows[self.numbers[*at] as usize];
            let best = found.entry(set).or_insert_with(|| {
                let edge = seeds.get(set as usize).copied().flatten();
                Best { reach: edge.map_or(f64::INFINITY, |edge| self.reach(edge.length)), edge }
            });
            self.look_around(*at, sets, best);
        }
        Ok(found.into_iter().map(|(set, best)| (set, best.edge)).collect())
    }

    /// Looks at rows in the order of their first keys' differences, as far as the reach.
    fn look_around(&self, at: usize, sets: &Sets, best: &mut Best) {
        let n = self.numbers.len();
        let own = self.keys[at][0];
        let (mut below, mut above) = (at, at + 1);
        loop {
            let under = if below > 0 { own - self.keys[below - 1][0] } else { f64::INFINITY };
            let over = if above < n { self.keys[above][0] - own } else { f64::INFINITY };
            if (below == 0 && above >= n) || under.min(over) > best.reach {
                return;
            }
            let other = if above >= n || (below > 0 && under <= over) {
                below -= 1;
                below
            } else {
                above += 1;
                above - 1
            };
            self.look_at(at, other, sets, best);
        }
    }

    #[inline]
    fn look_at(&self, at: usize, other: usize, sets: &Sets, best: &mut Best) {
        let (i, j) = (self.numbers[at] as usize, self.numbers[other] as usize);
        let apart = |(a, b): (&f64, &f64)| (a - b).abs() > best.reach;
        if sets.of_rows[i] == sets.of_rows[j]
            || self.keys[at].iter().zip(&self.keys[other]).any(apart)
            || beyond(self.metric, self.rows.row(at), self.rows.row(other), best.reach)
        {
            return;
        }
        let length = if angular(self.metric) {
            let mut rows = Matrix::<f64>::zeros(2, self.x.n_cols());
            let mut view = rows.view_mut();
            [i.min(j), i.max(j)]
                .into_iter()
                .enumerate()
                .for_each(|(to, i)| self.x.copy_row(i, view.row_mut(to)));
            self.metric.distance(rows.row(0), rows.row(1))
        } else if i < j {
            self.metric.distance(self.rows.row(at), self.rows.row(other))
        } else {
            self.metric.distance(self.rows.row(other), self.rows.row(at))
        };
        offer(&mut best.edge, i, j, length);
        best.reach = best.edge.map_or(f64::INFINITY, |edge| self.reach(edge.length));
    }

    /// The largest ρ that rows at `distance` can have, with room for rounding.
    fn reach(&self, distance: f64) -> f64 {
        if angular(self.metric) {
            let error = 16.0 * (self.rows.n_cols() + 8) as f64 * f64::EPSILON;
            (2.0 * (distance + error)).sqrt() + error
        } else {
            distance + self.slack
        }
    }
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

fn rho(metric: Metric, x: &[f64], y: &[f64]) -> f64 {
    if metric == Metric::Manhattan { metric.distance(x, y) } else { Metric::Euclidean.distance(x, y) }
}

/// Whether ρ(x, y) is above `reach`; ends as soon as that is known.
#[inline]
fn beyond(metric: Metric, x: &[f64], y: &[f64], reach: f64) -> bool {
    if metric == Metric::Manhattan {
        sum_exceeds(x, y, reach, f64::abs)
    } else {
        sum_exceeds(x, y, reach * reach, |difference| difference * difference)
    }
}

#[inline(always)]
fn sum_exceeds(x: &[f64], y: &[f64], limit: f64, term: impl Fn(f64) -> f64) -> bool {
    // Why eight sums: they form vectors, and none waits for another.
    let mut sums = [0.0; 8];
    let mut tail = 0.0;
    for (x, y) in x.chunks(STRIP).zip(y.chunks(STRIP)) {
        let (full, rest) = (x.len() / 8 * 8, x.len() % 8);
        for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
            sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += term(x - y));
        }
        if rest > 0 {
            tail += x[full..].iter().zip(&y[full..]).map(|(x, y)| term(x - y)).sum::<f64>();
        }
        if sums.iter().sum::<f64>() + tail > limit {
            return true;
        }
    }
    false
}
