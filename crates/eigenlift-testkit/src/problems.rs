//! Data with a known answer, or with a spectrum of a known kind.

use eigenlift::data::{self, Csr};
use eigenlift::matrix::Matrix;

/// A small generator of its own, so that problems do not move when the library's changes.
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// A sequence fixed by `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal.
    pub fn gaussian(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Gaussian noise without structure: the slowest spectrum.
pub fn noise(n: usize, d: usize, seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    Matrix::from_fn(n, d, |_, _| numbers.gaussian())
}

/// 20 clusters in `d` dimensions.
pub fn mixture(n: usize, d: usize, seed: u64) -> Matrix<f64> {
    let mut numbers = Numbers::new(seed);
    let centres = Matrix::from_fn(20, d, |_, _| numbers.gaussian());
    let mut x = Matrix::zeros(n, d);
    for i in 0..n {
        let cluster = (numbers.uniform() * 20.0) as usize;
        (0..d).for_each(|j| x[(i, j)] = centres[(cluster, j)] + 0.7 * numbers.gaussian());
    }
    x
}

/// A swiss roll with a little noise: the fastest decay.
pub fn swiss_roll(n: usize, seed: u64) -> Matrix<f64> {
    let set = data::synthetic("swiss-roll", Some(n), Some(0.1), seed).expect("a known set");
    set.samples.points().to_dense()
}

/// The built-in digits divided by 16.
pub fn digits() -> Matrix<f64> {
    let x: Matrix<f64> = data::digits().expect("built in").samples.points().to_dense();
    Matrix::from_fn(x.n_rows(), x.n_cols(), |i, j| x[(i, j)] / 16.0)
}

/// Samples and the kernel that gives them a spectrum of a known kind.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// What it is called.
    pub name: &'static str,
    /// One row for each sample.
    pub samples: Matrix<f64>,
    /// The kernel as text, its width fixed by the samples.
    pub kernel: String,
}

/// A swiss roll, rbf: the fastest decay.
pub fn swiss_rbf(n: usize) -> Spectrum {
    let samples = swiss_roll(n, 0);
    Spectrum { name: "swiss", kernel: rbf(&samples, 1.0), samples }
}

/// The 1797 digits, rbf `factor` times narrower than the median.
pub fn digits_rbf(factor: f64) -> Spectrum {
    let samples = digits();
    let name = if factor == 1.0 { "digits" } else { "digits, narrow" };
    Spectrum { name, kernel: rbf(&samples, factor), samples }
}

/// 20 clusters in 32 dimensions, rbf.
pub fn gmm32_rbf(n: usize) -> Spectrum {
    let samples = mixture(n, 32, 0);
    Spectrum { name: "gmm32", kernel: rbf(&samples, 1.0), samples }
}

/// Noise in 32 dimensions, exp(−‖x−y‖/√median): 32 eigenvalues, then some 500 almost equal ones.
pub fn gauss32_exponential(n: usize) -> Spectrum {
    let samples = noise(n, 32, 0);
    let kernel = format!("exponential(gamma={})", 1.0 / median_squared_distance(&samples).sqrt());
    Spectrum { name: "gauss32", kernel, samples }
}

/// The five spectra on which solvers are compared, of `n` samples where the samples are made.
pub fn five_spectra(n: usize) -> [Spectrum; 5] {
    [swiss_rbf(n), digits_rbf(1.0), gmm32_rbf(n), digits_rbf(4.0), gauss32_exponential(n)]
}

fn rbf(samples: &Matrix<f64>, factor: f64) -> String {
    format!("rbf(gamma={})", factor / median_squared_distance(samples))
}

/// The median of ‖x − y‖² over 200 000 random pairs of different rows.
pub fn median_squared_distance(x: &Matrix<f64>) -> f64 {
    let mut numbers = Numbers::new(0);
    let mut row = || (numbers.uniform() * x.n_rows() as f64) as usize;
    let pairs = (0..200_000).map(|_| (row(), row())).filter(|(i, j)| i != j);
    let square = |(i, j): (usize, usize)| x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
    let mut distances: Vec<f64> = pairs.map(square).collect();
    distances.sort_by(f64::total_cmp);
    distances[distances.len() / 2]
}

/// n points equally spaced on the unit circle, and the eigenvalues of the centred Gaussian kernel matrix on them, largest
/// first.
///
/// The matrix is circulant with first row kⱼ = exp(−γ·(2 − 2cos(2πj/n))); its eigenvalues are Σⱼ kⱼ cos(2πjm/n), and
/// centring removes m = 0.
pub fn circle(n: usize, gamma: f64) -> (Matrix<f64>, Vec<f64>) {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / n as f64;
    let x = Matrix::from_fn(n, 2, |i, j| if j == 0 { angle(i).cos() } else { angle(i).sin() });
    let row: Vec<f64> = (0..n).map(|j| (-gamma * (2.0 - 2.0 * angle(j).cos())).exp()).collect();
    let mut values: Vec<f64> =
        (1..n).map(|m| (0..n).map(|j| row[j] * angle((j * m) % n).cos()).sum()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.push(0.0);
    (x, values)
}

/// The same rows with zeros left out.
pub fn sparse(x: &Matrix<f64>) -> Csr<f64> {
    let (mut offsets, mut columns, mut values) = (vec![0], vec![], vec![]);
    for i in 0..x.n_rows() {
        for (j, v) in x.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as u32);
            values.push(*v);
        }
        offsets.push(values.len());
    }
    Csr::new(offsets, columns, values, x.n_cols()).expect("rows in order")
}
