//! Four denoising problems and a plain way to solve them.

use crate::problems::{Numbers, digits, median_squared_distance, noise};
use crate::reference::{centred, eigen, product};
use eigenlift::matrix::Matrix;

/// Rows in training.
const TRAIN: usize = 600;
/// Rows to denoise.
const TEST: usize = 200;

/// A problem: learn from `train`, turn `noisy` into `clean`.
#[derive(Debug)]
pub struct Denoising {
    /// What it is.
    pub name: &'static str,
    /// Rows to learn from.
    pub train: Matrix<f64>,
    /// What should come out.
    pub clean: Matrix<f64>,
    /// What goes in.
    pub noisy: Matrix<f64>,
}

impl Denoising {
    /// Mean squared error of a row.
    pub fn error(&self, rows: &Matrix<f64>) -> f64 {
        let squares = rows.as_slice().iter().zip(self.clean.as_slice()).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>() / self.clean.n_rows() as f64
    }

    /// The same with the first rows of the training alone.
    pub fn shortened(self, n: usize) -> Self {
        let train = Matrix::from_fn(n, self.train.n_cols(), |i, j| self.train[(i, j)]);
        Self { train, ..self }
    }

    /// Gamma by the median of squared distances, times `width`.
    pub fn gamma(&self, width: f64) -> f64 {
        width / median_squared_distance(&self.train)
    }
}

fn sum(a: &Matrix<f64>, scale: f64, b: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)] + scale * b[(i, j)])
}

/// Digits learned clean and noisy, a circle in ten dimensions, a sine in twenty.
pub fn denoising(seed: u64) -> [Denoising; 4] {
    let all = digits();
    let mut random = Numbers::new(1000 + seed);
    let mut order: Vec<usize> = (0..all.n_rows()).collect();
    (1..order.len()).rev().for_each(|i| order.swap(i, (random.uniform() * (i + 1) as f64) as usize));
    let rows = |from: usize, n: usize| Matrix::from_fn(n, 64, |i, j| all[(order[from + i], j)]);
    let (train, clean) = (rows(0, TRAIN), rows(TRAIN, TEST));
    let noisy = |x: &Matrix<f64>, scale: f64, stream: u64| {
        sum(x, scale, &noise(x.n_rows(), x.n_cols(), 10_000 * seed + stream))
    };
    let mut curve = |name, d: usize, scale, stream, at: &dyn Fn(f64) -> (f64, f64)| {
        let turn = orthonormal(&noise(d, d, 10_000 * seed + stream));
        let mut flat = Matrix::zeros(TRAIN + TEST, 2);
        for i in 0..TRAIN + TEST {
            let (a, b) = at(random.uniform());
            (flat[(i, 0)], flat[(i, 1)]) = (a, b);
        }
        let clean = Matrix::from_fn(TRAIN + TEST, d, |i, j| {
            flat[(i, 0)] * turn[(0, j)] + flat[(i, 1)] * turn[(1, j)]
        });
        let noisy = noisy(&clean, scale, stream + 1);
        let part = |x: &Matrix<f64>, from: usize, n: usize| Matrix::from_fn(n, d, |i, j| x[(from + i, j)]);
        Denoising {
            name,
            train: part(&noisy, 0, TRAIN),
            clean: part(&clean, TRAIN, TEST),
            noisy: part(&noisy, TRAIN, TEST),
        }
    };
    let circle = curve("circle in R^10", 10, 0.2, 100, &|t| {
        let angle = std::f64::consts::TAU * t;
        (angle.cos(), angle.sin())
    });
    let sine = curve("sine in R^20", 20, 0.15, 200, &|t| {
        let x = 4.0 * t - 2.0;
        (x, (2.5 * x).sin())
    });
    [
        Denoising {
            name: "digits, clean training",
            noisy: noisy(&clean, 0.3, 1),
            clean: clean.clone(),
            train: train.clone(),
        },
        Denoising {
            name: "digits, noisy training",
            train: noisy(&train, 0.3, 2),
            noisy: noisy(&clean, 0.3, 3),
            clean,
        },
        circle,
        sine,
    ]
}

/// Rows made orthonormal one after another, twice.
fn orthonormal(a: &Matrix<f64>) -> Matrix<f64> {
    let mut rows: Vec<Vec<f64>> = (0..a.n_rows()).map(|i| a.row(i).to_vec()).collect();
    for i in 0..rows.len() {
        for _ in 0..2 {
            for j in 0..i {
                let along: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                let other = rows[j].clone();
                rows[i].iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
        }
        let length = rows[i].iter().map(|v| v * v).sum::<f64>().sqrt();
        rows[i].iter_mut().for_each(|v| *v /= length);
    }
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| rows[i][j])
}

/// Kernel PCA with a Gaussian kernel and its fixed point, written out.
#[derive(Debug)]
pub struct SlowDenoiser {
    x: Matrix<f64>,
    gamma: f64,
    means: Vec<f64>,
    values: Vec<f64>,
    vectors: Matrix<f64>,
}

impl SlowDenoiser {
    /// All eigenpairs of the centred Gram matrix of `x`.
    pub fn new(x: &Matrix<f64>, gamma: f64) -> Self {
        let k = gram(x, x, gamma);
        let n = x.n_rows();
        let means = (0..n).map(|i| k.row(i).iter().sum::<f64>() / n as f64).collect();
        let (values, vectors) = eigen(&centred(&k));
        Self { x: x.clone(), gamma, means, values, vectors }
    }

    /// c with P = Σcᵢφ(xᵢ) for each row of `t` projected on q components.
    fn weights(&self, t: &Matrix<f64>, q: usize) -> Matrix<f64> {
        let (n, k) = (self.x.n_rows(), gram(t, &self.x, self.gamma));
        let axes = Matrix::from_fn(n, q, |i, j| self.vectors[(i, j)] / self.values[j].sqrt());
        let shifted = Matrix::from_fn(t.n_rows(), n, |j, i| k[(j, i)] - self.means[i]);
        let scores = product(&shifted, &axes);
        let back = Matrix::from_fn(q, n, |j, i| axes[(i, j)]);
        let weights = product(&scores, &back);
        Matrix::from_fn(t.n_rows(), n, |j, i| weights[(j, i)] + 1.0 / n as f64)
    }

    /// Plain fixed point steps from the rows themselves.
    pub fn denoise(&self, t: &Matrix<f64>, q: usize, steps: usize) -> Matrix<f64> {
        let c = self.weights(t, q);
        let mut y = t.clone();
        for _ in 0..steps {
            let k = gram(&y, &self.x, self.gamma);
            let w = Matrix::from_fn(y.n_rows(), self.x.n_rows(), |j, i| c[(j, i)] * k[(j, i)]);
            let moved = product(&w, &self.x);
            let totals: Vec<f64> = (0..y.n_rows()).map(|j| w.row(j).iter().sum()).collect();
            y = Matrix::from_fn(y.n_rows(), y.n_cols(), |j, c| moved[(j, c)] / totals[j]);
        }
        y
    }
}

fn gram(x: &Matrix<f64>, y: &Matrix<f64>, gamma: f64) -> Matrix<f64> {
    Matrix::from_fn(x.n_rows(), y.n_rows(), |i, j| {
        let square: f64 = x.row(i).iter().zip(y.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
        (-gamma * square).exp()
    })
}
