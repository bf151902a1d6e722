//! How well an embedding keeps what it was made from.

use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::graph::{Metric, Space};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How well neighbourhoods are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeighborhoodQuality {
    /// 1 when every neighbour in the embedding is a neighbour in the data, (G20).
    pub trustworthiness: f64,
    /// 1 when every neighbour in the data is a neighbour in the embedding, (G21).
    pub continuity: f64,
    /// Size of the neighbourhoods compared.
    pub n_neighbors: usize,
    /// Rows they were compared on.
    pub n_rows: usize,
}

/// The share of the variance of distances that the embedding does not explain: 1 − r², with r the correlation between the
/// distances given, a row for each of `rows`, and those in the embedding, (G19). 1 when either does not vary.
///
/// Cost: rows·n·k flops.
pub fn residual_variance(rows: &[usize], distances: &Matrix<f64>, embedding: &Matrix<f64>) -> f64 {
    let sums = Sums::of(rows, distances, embedding);
    unexplained(&sums.total, rows.len() * embedding.n_rows())
}

/// [`residual_variance`] of sampled rows as an estimate for all rows, and its standard error: the jackknife over the rows, less
/// by the fraction of all rows that was sampled. The standard error of a single row is infinite, unless it is the only one.
///
/// Cost: that of [`residual_variance`].
pub fn residual_variance_estimate(
    rows: &[usize],
    distances: &Matrix<f64>,
    embedding: &Matrix<f64>,
) -> (f64, f64) {
    let (m, n) = (rows.len(), embedding.n_rows());
    let sums = Sums::of(rows, distances, embedding);
    let value = unexplained(&sums.total, m * n);
    if m >= n {
        return (value, 0.0);
    }
    if m < 2 {
        return (value, f64::INFINITY);
    }
    let without = |row: &[f64; 5]| {
        let rest: [f64; 5] = std::array::from_fn(|at| sums.total[at] - row[at]);
        unexplained(&rest, (m - 1) * n)
    };
    let values: Vec<f64> = sums.of_rows.iter().map(without).collect();
    let mean = values.iter().sum::<f64>() / m as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let (m, n) = (m as f64, n as f64);
    (value, ((m - 1.0) / m * squares * (1.0 - m / n)).sqrt())
}

/// Sums of distances a and b, their squares and products.
struct Sums {
    of_rows: Vec<[f64; 5]>,
    /// Added up in the order of the rows.
    total: [f64; 5],
}

impl Sums {
    fn of(rows: &[usize], distances: &Matrix<f64>, embedding: &Matrix<f64>) -> Self {
        let of_row = |(at, row): (usize, &usize)| {
            let mut sum = [0.0; 5];
            for j in 0..embedding.n_rows() {
                let a = distances[(at, j)];
                let b = Metric::Euclidean.distance(embedding.row(*row), embedding.row(j));
                sum.iter_mut().zip([a, b, a * a, b * b, a * b]).for_each(|(s, x)| *s += x);
            }
            sum
        };
        let of_rows: Vec<[f64; 5]> = rows.par_iter().enumerate().map(of_row).collect();
        let mut total = [0.0; 5];
        of_rows.iter().for_each(|sum| total.iter_mut().zip(sum).for_each(|(t, x)| *t += x));
        Self { of_rows, total }
    }
}

/// 1 − r² from such sums over so many pairs.
fn unexplained(sums: &[f64; 5], n_pairs: usize) -> f64 {
    let count = n_pairs.max(1) as f64;
    let [a, b, aa, bb, ab] = sums.map(|sum| sum / count);
    let (va, vb) = (aa - a * a, bb - b * b);
    let tiny = f64::EPSILON * (aa + bb);
    if va <= tiny || vb <= tiny {
        return 1.0;
    }
    (1.0 - (ab - a * b).powi(2) / (va * vb)).clamp(0.0, 1.0)
}

/// Trustworthiness and continuity of an embedding, on all rows or on `most` sampled ones.
///
/// `x` are the rows that were embedded, or their matrix of distances.
///
/// Cost: rows·n·(d + 2k) flops for neighbourhoods of k.
///
/// # Errors
/// When the neighbourhoods hold half of the rows or more, or the rows are not known.
pub fn neighborhoods(
    (space, x): (&Space, AnyPoints<'_>),
    embedding: &Matrix<f64>,
    n_neighbors: usize,
    (most, seed): (usize, u64),
    watch: &Watch,
) -> Result<NeighborhoodQuality> {
    let n = embedding.n_rows();
    if n_neighbors == 0 || 2 * n_neighbors >= n {
        return Err(Error::setting(
            format!("neighbourhoods of {n_neighbors} among {n} rows"),
            "they must hold at least 1 and fewer than half of the rows",
            "Compare smaller neighbourhoods",
        ));
    }
    let rows = Stream::new(seed, Purpose::Probes).rows(n, most.max(1));
    let dense = match space {
        Space::Rows { .. } => x.to_dense::<f64>(),
        _ => Matrix::zeros(0, 0),
    };
    let penalties: Vec<(usize, usize)> = rows
        .par_iter()
        .map(|i| {
            watch.check()?;
            let mut before = vec![0.0; n];
            match space {
                Space::Rows { metric, .. } => before
                    .iter_mut()
                    .enumerate()
                    .for_each(|(j, d)| *d = metric.distance(dense.row(*i), dense.row(j))),
                Space::Distances { .. } => x.copy_row(*i, &mut before),
                Space::Lists { .. } => {
                    return Err(Error::data(
                        "neighbours given as lists",
                        "trustworthiness needs the distances between all rows",
                        "Give rows",
                    ));
                }
            }
            let after: Vec<f64> =
                (0..n).map(|j| Metric::Euclidean.distance(embedding.row(*i), embedding.row(j))).collect();
            Ok((strangers(*i, &after, &before, n_neighbors), strangers(*i, &before, &after, n_neighbors)))
        })
        .collect::<Result<_>>()?;
    let (k, n_all, m) = (n_neighbors as f64, n as f64, rows.len() as f64);
    let scale = 2.0 / (m * k * (2.0 * n_all - 3.0 * k - 1.0));
    let share =
        |pick: fn(&(usize, usize)) -> usize| 1.0 - scale * penalties.iter().map(pick).sum::<usize>() as f64;
    Ok(NeighborhoodQuality {
        trustworthiness: share(|p| p.0),
        continuity: share(|p| p.1),
        n_neighbors,
        n_rows: rows.len(),
    })
}

/// Σ (rank by `other` − k) over the k nearest of row i by `own` that are not among the k nearest by `other`. Equal distances
/// rank in the order of the rows.
fn strangers(i: usize, own: &[f64], other: &[f64], k: usize) -> usize {
    let mut order: Vec<usize> = (0..own.len()).filter(|j| *j != i).collect();
    order.select_nth_unstable_by(k - 1, |a, b| own[*a].total_cmp(&own[*b]).then(a.cmp(b)));
    let penalty = |j: &usize| {
        let before = |l: usize| l != i && (other[l] < other[*j] || (other[l] == other[*j] && l < *j));
        let rank = 1 + (0..other.len()).filter(|l| before(*l)).count();
        rank.saturating_sub(k)
    };
    order[..k].iter().map(penalty).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data;

    #[test]
    fn four_points_by_hand() {
        // By data: 0 1 2 3 at 0, 1, 2.1, 3.3; embedded at 0, 3, 1, 4. With k = 1 the neighbours in the embedding are
        // 0→2, 1→3, 2→0, 3→1, whose ranks by the data are 2, 3, 3, 2; penalties 1, 2, 2, 1; 2/(4·1·4)·6 = 0.75.
        let x = Matrix::from_vec(vec![0.0, 1.0, 2.1, 3.3], 4, 1).unwrap();
        let y = Matrix::from_vec(vec![0.0, 3.0, 1.0, 4.0], 4, 1).unwrap();
        let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
        let found = neighborhoods((&space, (&x).into()), &y, 1, (9, 0), &Watch::default()).unwrap();
        assert_eq!(found.trustworthiness, 0.25);
        // The neighbours by the data are 0→1, 1→0, 2→1, 3→2, whose ranks in the embedding are 2, 3, 2, 2; penalties 1, 2, 1, 1.
        assert_eq!(found.continuity, 0.375);
        assert_eq!((found.n_rows, found.n_neighbors), (4, 1));
    }

    #[test]
    fn an_embedding_that_keeps_distances_is_perfect() {
        let x = data::iris().unwrap().samples.points().to_dense::<f64>();
        let y = Matrix::from_fn(150, 4, |i, j| 2.0 * x[(i, 3 - j)] + 1.0);
        let space = Space::Rows { samples: x.clone().into(), metric: Metric::Euclidean };
        let found = neighborhoods((&space, (&x).into()), &y, 10, (40, 0), &Watch::default()).unwrap();
        assert!(found.trustworthiness > 0.9999 && found.continuity > 0.9999, "{found:?}");
        let d = Matrix::from_fn(2, 150, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
        assert!(residual_variance(&[0, 1], &d, &y) < 1e-12);
        assert_eq!(residual_variance(&[0, 1], &d, &Matrix::zeros(150, 1)), 1.0);
        assert!(neighborhoods((&space, (&x).into()), &y, 75, (40, 0), &Watch::default()).is_err());
    }

    // The estimate from 32 random rows against the value of all rows, over 400 draws: the mean within four standard errors of a
    // mean of 400, and the standard error reported within 10 % of the standard deviation, whose own is 1/√800 = 3.5 %.
    #[test]
    fn the_standard_error_is_that_of_sampled_rows() {
        let x = data::iris().unwrap().samples.points().to_dense::<f64>();
        let y = Matrix::from_fn(150, 1, |i, _| x[(i, 1)]);
        let d = Matrix::from_fn(150, 150, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
        let all: Vec<usize> = (0..150).collect();
        let (known, none) = residual_variance_estimate(&all, &d, &y);
        assert_eq!((known, none), (residual_variance(&all, &d, &y), 0.0));
        let draw = |seed: u64| {
            let rows = Stream::new(seed, Purpose::Probes).rows(150, 32);
            let own = Matrix::from_fn(32, 150, |i, j| d[(rows[i], j)]);
            residual_variance_estimate(&rows, &own, &y)
        };
        let found: Vec<(f64, f64)> = (0..400).map(draw).collect();
        let mean = found.iter().map(|f| f.0).sum::<f64>() / 400.0;
        let deviation = (found.iter().map(|f| (f.0 - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        let reported = (found.iter().map(|f| f.1 * f.1).sum::<f64>() / 400.0).sqrt();
        assert!((mean - known).abs() < 4.0 * deviation / 20.0, "{mean} {known} {deviation}");
        assert!((reported / deviation - 1.0).abs() < 0.1, "{reported} {deviation}");
    }
}
