//! Kernel k-means against scikit-learn, a slow reference on the Gram matrix and known answers.

mod errors;
mod file;
mod known;
use crate::model_file::parts;

use eigenlift::data::{AnySamples, iris};
use eigenlift::kernel::KernelSpec;
use eigenlift::matrix::Matrix;
use eigenlift_testkit::problems::Numbers;

pub(crate) fn spec(text: &str) -> KernelSpec {
    text.parse().unwrap()
}

pub(crate) fn flowers() -> Matrix<f64> {
    iris().unwrap().samples.points().to_dense::<f64>()
}

pub(crate) fn any(x: &Matrix<f64>) -> AnySamples {
    x.clone().into()
}

/// A disc inside a ring, alternating: no line tells them apart.
pub(crate) fn rings(n: usize, seed: u64) -> (Matrix<f64>, Vec<u32>) {
    let mut draw = Numbers::new(seed);
    let truth: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
    let mut x = Matrix::zeros(n, 2);
    for (i, ring) in truth.iter().enumerate() {
        let angle = std::f64::consts::TAU * draw.uniform();
        let radius = if *ring == 0 { 0.4 * draw.uniform() } else { 2.0 + 0.2 * draw.uniform() };
        x[(i, 0)] = radius * angle.cos();
        x[(i, 1)] = radius * angle.sin();
    }
    (x, truth)
}

/// Share of rows whose labels agree, for the better of both names of two clusters.
pub(crate) fn agreement(a: &[u32], b: &[u32]) -> f64 {
    let same = a.iter().zip(b).filter(|(x, y)| x == y).count() as f64 / a.len() as f64;
    same.max(1.0 - same)
}

pub(crate) fn bits(m: &Matrix<f64>) -> Vec<u64> {
    m.as_slice().iter().map(|x| x.to_bits()).collect()
}

pub(crate) fn assert_close(a: &Matrix<f64>, b: &Matrix<f64>, tolerance: f64, what: &str) {
    assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()), "{what}");
    let gap = a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(gap <= tolerance, "{what}: {gap:e} exceeds {tolerance:e}");
}
