//! Rows with a known spectrum, and principal components from their definitions.

use eigenlift::data::AnyPoints;
use eigenlift::matrix::Matrix;
use eigenlift_testkit::problems::{Numbers, noise};
use eigenlift_testkit::reference;

pub(crate) const EPS: f64 = f64::EPSILON;

/// Correlated columns with offsets: deviations fall like 1.3^(−j) along random axes.
pub(crate) fn correlated(n: usize, d: usize, seed: u64) -> Matrix<f64> {
    let (g, v) = (noise(n, d, seed), orthogonal(d, seed + 1));
    let sized = Matrix::from_fn(n, d, |i, j| g[(i, j)] * 1.3f64.powi(-(j as i32)));
    let x = reference::product(&sized, &v);
    Matrix::from_fn(n, d, |i, j| x[(i, j)] + (j as f64 * 0.7).sin() * 3.0)
}

/// Orthonormal rows, random, by Gram and Schmidt twice over; orthogonal to the row of ones when that is asked for.
pub(crate) fn orthonormal_rows(r: usize, d: usize, seed: u64, without_ones: bool) -> Matrix<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    if without_ones {
        rows.push(vec![1.0 / (d as f64).sqrt(); d]);
    }
    let mut numbers = Numbers::new(seed);
    while rows.len() < r + usize::from(without_ones) {
        let mut row: Vec<f64> = (0..d).map(|_| numbers.gaussian()).collect();
        for other in rows.iter().chain(&rows) {
            let along = dot(&row, other);
            row.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
        let length = dot(&row, &row).sqrt();
        rows.push(row.iter().map(|x| x / length).collect());
    }
    let rows = &rows[usize::from(without_ones)..];
    Matrix::from_fn(r, d, |i, j| rows[i][j])
}

pub(crate) fn orthogonal(d: usize, seed: u64) -> Matrix<f64> {
    orthonormal_rows(d, d, seed, false)
}

/// Rows whose centred matrix has these singular values, and every entry the offset.
pub(crate) fn planted(n: usize, d: usize, singular: &[f64], offset: f64) -> Matrix<f64> {
    let (h, v) =
        (orthonormal_rows(singular.len(), n, 3, true), orthonormal_rows(singular.len(), d, 4, false));
    Matrix::from_fn(n, d, |i, j| {
        offset + singular.iter().enumerate().map(|(l, s)| h[(l, i)] * s * v[(l, j)]).sum::<f64>()
    })
}

/// Some of the rows.
pub(crate) fn some(x: &Matrix<f64>, rows: std::ops::Range<usize>) -> AnyPoints<'_> {
    AnyPoints::from(x).rows(rows)
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)])
}

pub(crate) fn largest(a: &Matrix<f64>) -> f64 {
    a.as_slice().iter().map(|x| x.abs()).fold(0.0, f64::max)
}

pub(crate) fn identity(d: usize) -> Matrix<f64> {
    Matrix::from_fn(d, d, |i, j| f64::from(u8::from(i == j)))
}

pub(crate) fn ones(n: usize) -> Vec<f64> {
    vec![1.0; n]
}

/// Rows D⁻¹(x − x̄), (P1), (P2).
pub(crate) fn centred(x: &Matrix<f64>, weights: &[f64], standardized: bool) -> Matrix<f64> {
    let n: f64 = weights.iter().sum();
    let d = x.n_cols();
    let mean: Vec<f64> = (0..d).map(|j| dot(&x.column(j), weights) / n).collect();
    let mut z = Matrix::from_fn(x.n_rows(), d, |i, j| x[(i, j)] - mean[j]);
    if standardized {
        let deviation = |j: usize| {
            let square: f64 = (0..x.n_rows()).map(|i| weights[i] * z[(i, j)].powi(2)).sum();
            (square / n).sqrt()
        };
        let deviations: Vec<f64> = (0..d).map(deviation).collect();
        z = Matrix::from_fn(x.n_rows(), d, |i, j| {
            z[(i, j)] / if deviations[j] > 0.0 { deviations[j] } else { 1.0 }
        });
    }
    z
}

/// (1/n) Σ w zzᵀ of rows as they are.
pub(crate) fn second_moment(z: &Matrix<f64>, weights: &[f64]) -> Matrix<f64> {
    let n: f64 = weights.iter().sum();
    let weighted = Matrix::from_fn(z.n_rows(), z.n_cols(), |i, j| weights[i] / n * z[(i, j)]);
    reference::product(&transposed(z), &weighted)
}

/// C, (P2).
pub(crate) fn covariance(x: &Matrix<f64>, weights: &[f64], standardized: bool) -> Matrix<f64> {
    second_moment(&centred(x, weights, standardized), weights)
}

pub(crate) fn trace(a: &Matrix<f64>) -> f64 {
    (0..a.n_rows()).map(|i| a[(i, i)]).sum()
}

/// QᵀQ for orthonormal rows: the projection on what they span.
pub(crate) fn projector(rows: &Matrix<f64>) -> Matrix<f64> {
    reference::product(&transposed(rows), rows)
}

pub(crate) fn assert_close(a: &[f64], b: &[f64], allowed: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(
            (x - y).abs() <= allowed,
            "{what}, entry {i}: {x:e} and {y:e} differ by more than {allowed:e}"
        );
    }
}
