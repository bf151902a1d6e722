//! Rows on known surfaces, and ways to compare embeddings.

use eigenlift::graph::Metric;
use eigenlift::matrix::Matrix;
use eigenlift_testkit::problems::Numbers;
use eigenlift_testkit::reference::{difference_up_to_sign, eigen, product};
use std::f64::consts::PI;

pub(crate) const EPS: f64 = f64::EPSILON;

fn to_4_decimals(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

/// The swiss roll of `golden/make_manifold.py`.
pub(crate) fn roll(n: usize, seed: u64) -> Matrix<f64> {
    let mut draw = Numbers::new(seed);
    let mut x = Matrix::zeros(n, 3);
    for i in 0..n {
        let t = 1.5 * PI * (1.0 + 2.0 * draw.uniform());
        let row = [t * t.cos(), 21.0 * draw.uniform(), t * t.sin()];
        (0..3).for_each(|j| x[(i, j)] = to_4_decimals(row[j]));
    }
    x
}

/// The bent sheet of `golden/make_manifold.py`.
pub(crate) fn sheet(n: usize, seed: u64, depth: f64) -> Matrix<f64> {
    let mut draw = Numbers::new(seed);
    let mut x = Matrix::zeros(n, 3);
    for i in 0..n {
        let (a, b) = (3.0 * draw.uniform(), 2.0 * draw.uniform());
        let row = [a, b, depth * (2.0 * a).sin() + 0.1 * draw.uniform() * depth];
        (0..3).for_each(|j| x[(i, j)] = to_4_decimals(row[j]));
    }
    x
}

/// Flat rectangles with these numbers of rows, `apart` from one another, their rows mixed; and the rectangle of each row.
pub(crate) fn blobs(sizes: &[usize], apart: f64) -> (Matrix<f64>, Vec<u32>) {
    let mut labels = Vec::new();
    for round in 0..sizes.iter().copied().max().unwrap_or(0) {
        labels.extend((0..sizes.len()).filter(|blob| sizes[*blob] > round).map(|blob| blob as u32));
    }
    let mut draw = Numbers::new(5);
    let x = Matrix::from_fn(labels.len(), 3, |i, j| {
        let blob = f64::from(labels[i]);
        let place = if j == 0 { apart * blob } else { 0.0 };
        place + draw.uniform() * [3.0, 2.0, 0.3][j] / (1.0 + 0.1 * blob)
    });
    (x, labels)
}

pub(crate) fn distances(x: &Matrix<f64>, y: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(x.n_rows(), y.n_rows(), |i, j| Metric::Euclidean.distance(x.row(i), y.row(j)))
}

pub(crate) fn rows_of(x: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), x.n_cols(), |i, j| x[(rows[i], j)])
}

pub(crate) fn largest(a: &Matrix<f64>) -> f64 {
    a.as_slice().iter().map(|x| x.abs()).fold(0.0, f64::max)
}

pub(crate) fn bits(m: &Matrix<f64>) -> Vec<u64> {
    m.as_slice().iter().map(|x| x.to_bits()).collect()
}

/// The same up to the signs of columns, relative to the largest entry.
pub(crate) fn assert_same_up_to_sign(a: &Matrix<f64>, b: &Matrix<f64>, relative: f64, what: &str) {
    let gap = difference_up_to_sign(a, b) / largest(b);
    assert!(gap <= relative, "{what}: {gap:e} exceeds {relative:e}");
}

fn centred(x: &Matrix<f64>) -> Matrix<f64> {
    let n = x.n_rows() as f64;
    let means: Vec<f64> = (0..x.n_cols()).map(|j| x.column(j).iter().sum::<f64>() / n).collect();
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] - means[j])
}

/// Procrustes: min ‖sRA − B‖²/‖B‖² over turns R and scales s, 1 − (Σσ)²/(‖A‖²‖B‖²) with σ the singular values of AᵀB.
pub(crate) fn procrustes(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let (a, b) = (centred(a), centred(b));
    let turned = Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)]);
    let m = product(&turned, &b);
    let square = product(&Matrix::from_fn(m.n_cols(), m.n_rows(), |i, j| m[(j, i)]), &m);
    let sum: f64 = eigen(&square).0.iter().map(|v| v.max(0.0).sqrt()).sum();
    let norm = |x: &Matrix<f64>| x.as_slice().iter().map(|v| v * v).sum::<f64>();
    1.0 - sum * sum / (norm(&a) * norm(&b))
}
