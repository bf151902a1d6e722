//! Kernel discriminants against scikit-learn, a slow dual reference and known answers.

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

/// Rows and species of the irises, in the order of the file.
pub(crate) fn flowers() -> (Matrix<f64>, Vec<u32>) {
    let x = iris().unwrap().samples.points().to_dense::<f64>();
    (x, (0..150).map(|row| row / 50).collect())
}

pub(crate) fn any(x: &Matrix<f64>) -> AnySamples {
    x.clone().into()
}

pub(crate) fn rows_of(x: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), x.n_cols(), |i, j| x[(rows[i], j)])
}

/// A disc inside a ring inside a ring: no line tells them apart.
pub(crate) fn rings(n: usize, seed: u64) -> (Matrix<f64>, Vec<u32>) {
    let mut draw = Numbers::new(seed);
    let classes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
    let mut x = Matrix::zeros(n, 2);
    for (i, class) in classes.iter().enumerate() {
        let angle = std::f64::consts::TAU * draw.uniform();
        let radius = [0.0, 1.5, 3.0][*class as usize] + 0.5 * draw.uniform();
        x[(i, 0)] = radius * angle.cos();
        x[(i, 1)] = radius * angle.sin();
    }
    (x, classes)
}

pub(crate) fn bits(m: &Matrix<f64>) -> Vec<u64> {
    m.as_slice().iter().map(|x| x.to_bits()).collect()
}

pub(crate) fn assert_close(a: &Matrix<f64>, b: &Matrix<f64>, tolerance: f64, what: &str) {
    assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()), "{what}");
    let gap = a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(gap <= tolerance, "{what}: {gap:e} exceeds {tolerance:e}");
}
