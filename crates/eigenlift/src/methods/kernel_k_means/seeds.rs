//! First centres: k-means++ among features, (C42).

use crate::error::Result;
use crate::features::dot;
use crate::linalg::{Onto, combine};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::Stream;

/// Rows drawn for each new centre, of which the best becomes one.
const CANDIDATES: usize = 3;
/// Squared distances up to this share of ‖f‖² + ‖c‖² are rounding.
pub(super) const SAME: f64 = 1e-13;

/// Rows drawn with probability ∝ squared distance to the nearest centre so far, the best of three draws each time. When no
/// row is left the first centre stands for those that are missing.
///
/// Cost: 8·n·m flops for each centre.
pub(super) fn seeds(
    rows: &Matrix<f64>,
    clusters: usize,
    random: &mut Stream,
    watch: &Watch,
) -> Result<Matrix<f64>> {
    let (n, m) = (rows.n_rows(), rows.n_cols());
    let norms: Vec<f64> = (0..n).map(|i| dot(rows.row(i), rows.row(i))).collect();
    let mut chosen = vec![random.below(n)];
    let mut left = distances(rows, &norms, &chosen, &vec![f64::INFINITY; n]).swap_remove(0);
    while chosen.len() < clusters {
        watch.check()?;
        let total: f64 = left.iter().sum();
        if total <= 0.0 {
            break;
        }
        let candidates: Vec<usize> = (0..CANDIDATES).map(|_| draw(&left, total, random)).collect();
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for (candidate, next) in candidates.iter().zip(distances(rows, &norms, &candidates, &left)) {
            let sum: f64 = next.iter().sum();
            if best.as_ref().is_none_or(|(least, ..)| sum < *least) {
                best = Some((sum, *candidate, next));
            }
        }
        if let Some((_, candidate, next)) = best {
            chosen.push(candidate);
            left = next;
        }
    }
    let first = chosen[0];
    chosen.resize(clusters, first);
    Ok(Matrix::from_fn(clusters, m, |c, j| rows[(chosen[c], j)]))
}

/// For each of these rows: min(left, ‖f − row‖²) over all rows.
fn distances(rows: &Matrix<f64>, norms: &[f64], which: &[usize], left: &[f64]) -> Vec<Vec<f64>> {
    let columns = Matrix::from_fn(rows.n_cols(), which.len(), |j, c| rows[(which[c], j)]);
    let mut products = Matrix::zeros(rows.n_rows(), which.len());
    combine(products.view_mut(), Onto::Replace, 1.0, rows.view(), columns.view());
    let own = |c: usize| {
        let square = norms[which[c]];
        let found = left.iter().zip(norms).enumerate().map(|(i, (left, norm))| {
            let sum = norm + square;
            let apart = sum - 2.0 * products[(i, c)];
            if apart <= SAME * sum { 0.0 } else { left.min(apart) }
        });
        found.collect()
    };
    (0..which.len()).map(own).collect()
}

/// A position drawn in proportion to `weights`, which add up to `total`; never one of weight 0.
fn draw(weights: &[f64], total: f64, random: &mut Stream) -> usize {
    let target = random.uniform() * total;
    let (mut running, mut last) = (0.0, 0);
    for (at, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        running += weight;
        last = at;
        if running > target {
            break;
        }
    }
    last
}
