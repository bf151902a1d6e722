//! Parallel analysis with a noise variance for each column, as in factor analysis.

use super::columns::{Columns, sampled};
use super::parallel::{ParallelOptions, check, permuted_spectra, quantile, smaller_product};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::linalg::{Onto, combine, inner, symmetric_eigen};
use crate::matrix::Matrix;
use crate::progress::Watch;
use serde::{Deserialize, Serialize};

/// Steps that noise variances take for each number of factors.
const STEPS: usize = 3;
/// Least noise variance, as a fraction of the variance of its column.
const LEAST_NOISE: f64 = 1e-4;
/// Least share of a column that is taken to lie outside the factors.
const LEAST_OUTSIDE: f64 = 1e-3;

/// What factor analysis found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorAnalysis {
    /// Number of factors that stand out from noise; 0 where none does.
    pub n_components: usize,
    /// The largest number that columns or rows so few can tell from noise; reached, it says nothing.
    pub most: usize,
    /// Noise standard deviation of each column, in the units of the data; 0 for constant columns.
    pub noise: Vec<f64>,
    /// Rows looked at.
    pub n_rows_used: usize,
    /// Number of permutations.
    pub permutations: usize,
}

/// Counts the factors that stand out from noise whose variance may differ between columns.
///
/// Columns are divided by their noise standard deviation, at first their own standard deviation. Eigenvalues above the quantile
/// of the largest eigenvalue of permuted columns are factors; with these the noise variances are estimated anew, (P28), which
/// brings further factors to light, until none is added. The quantile is that of [`parallel_analysis`](super::parallel_analysis), for the
/// largest eigenvalue alone, scaled to what j factors leave: ((√(n−1−j) + √(d−j))/(√(n−1) + √d))².
///
/// Noise variances of d columns and j factors are determined for (d − j)² ≥ d + j only (Ledermann), and j ≤ (n − 1)/2 is asked for.
///
/// The result is the same for any number of threads.
///
/// Cost: that of [`parallel_analysis`](super::parallel_analysis), and some twenty eigenproblems of 9·s³ flops, s the smaller of
/// d and the rows looked at.
///
/// # Errors
/// When there are fewer than three columns that vary or fewer than three rows, when an option is out of range, and on
/// cancellation.
///
/// # References
/// J. L. Horn, *A rationale and test for the number of factors in factor analysis*, Psychometrika 1965. E. Dobriban and
/// A. B. Owen, *Deterministic parallel analysis*, JRSS B 2019.
pub(crate) fn factor_analysis(
    rows: AnyPoints<'_>,
    options: &ParallelOptions,
    watch: &Watch,
) -> Result<FactorAnalysis> {
    check(options)?;
    let mut x = sampled(rows, options.most_rows, options.seed);
    let plain = {
        let mut centered = x.clone();
        Columns::standardise(&mut centered, false)?;
        crate::linalg::column_norms(centered.view())
    };
    Columns::standardise(&mut x, true)?;
    let n = x.n_rows();
    let varying: Vec<usize> = (0..x.n_cols()).filter(|j| (0..n).any(|i| x[(i, *j)] != 0.0)).collect();
    let d = varying.len();
    let most = most_factors(d).min(n.saturating_sub(1) / 2);
    if most == 0 {
        return Err(Error::data(
            format!("{n} rows of {d} columns that vary"),
            "factor analysis needs at least three of each",
            "Give more data",
        ));
    }
    let z = Matrix::from_fn(d, n, |i, j| x[(j, varying[i])]);
    drop(x);
    let spectra = permuted_spectra(&z, options, ("factor analysis", watch))?;
    let threshold = quantile(spectra.iter().map(|values| values[0]).collect(), options.quantile);
    let mut factors = Factors::new(z);
    let n_components = factors.count((most, threshold), watch)?;
    let mut noise = vec![0.0; rows.n_cols()];
    for (variance, j) in factors.noise.iter().zip(&varying) {
        noise[*j] = variance.sqrt() * plain[*j] / (n as f64).sqrt();
    }
    Ok(FactorAnalysis { n_components, most, noise, n_rows_used: n, permutations: spectra.len() })
}

/// The largest j with (d − j)² ≥ d + j.
fn most_factors(d: usize) -> usize {
    (0..d).take_while(|j| (d - j) * (d - j) >= d + j).last().unwrap_or(0)
}

/// Columns of unit variance, one in each row, and the noise variances estimated for them.
struct Factors {
    z: Matrix<f64>,
    /// ZZᵀ/n, where columns are the smaller side.
    covariance: Option<Matrix<f64>>,
    noise: Vec<f64>,
}

impl Factors {
    fn new(z: Matrix<f64>) -> Self {
        let covariance = (z.n_rows() <= z.n_cols()).then(|| smaller_product(z.view()));
        let noise = vec![1.0; z.n_rows()];
        Self { z, covariance, noise }
    }

    /// Adds factors and estimates the noise in turn until no eigenvalue is left above the threshold.
    fn count(&mut self, (most, threshold): (usize, f64), watch: &Watch) -> Result<usize> {
        let (d, n) = (self.z.n_rows() as f64, self.z.n_cols() as f64 - 1.0);
        let edge = |j: usize| ((n - j as f64).sqrt() + (d - j as f64).max(1.0).sqrt()).powi(2);
        let mut found = 0;
        loop {
            watch.check()?;
            let mut values = self.eigen(found)?;
            for _ in 0..if found > 0 { STEPS } else { 0 } {
                self.step(found, &values);
                values = self.eigen(found)?;
            }
            let above = |j: usize| values.0.get(j).is_some_and(|v| *v > threshold * edge(j) / edge(0));
            let next = (found..most).take_while(|j| above(*j)).count() + found;
            if next == found {
                return Ok(found);
            }
            found = next;
        }
    }

    /// All eigenvalues of the covariance of columns divided by their noise, and the first `count` eigenvectors, one in each column.
    fn eigen(&self, count: usize) -> Result<(Vec<f64>, Matrix<f64>)> {
        let scale: Vec<f64> = self.noise.iter().map(|variance| 1.0 / variance.sqrt()).collect();
        let d = self.z.n_rows();
        if let Some(covariance) = &self.covariance {
            let scaled = Matrix::from_fn(d, d, |i, j| scale[i] * covariance[(i, j)] * scale[j]);
            let (values, vectors) = symmetric_eigen(&scaled)?;
            return Ok((values, vectors.view().first_columns(count).to_matrix()));
        }
        let scaled = Matrix::from_fn(d, self.z.n_cols(), |i, j| scale[i] * self.z[(i, j)]);
        let (values, vectors) = symmetric_eigen(&smaller_product(scaled.view()))?;
        // v = Zu/√(nλ).
        let mut directions = Matrix::zeros(d, count);
        combine(
            directions.view_mut(),
            Onto::Replace,
            1.0,
            scaled.view(),
            vectors.view().first_columns(count),
        );
        let lengths: Vec<f64> = (0..count)
            .map(|j| {
                inner(directions.view().columns(j..j + 1), directions.view().columns(j..j + 1))[(0, 0)].sqrt()
            })
            .collect();
        Ok((values, Matrix::from_fn(d, count, |i, j| directions[(i, j)] / lengths[j].max(f64::MIN_POSITIVE))))
    }

    /// Noise variances from what j factors leave of each column, (P28).
    fn step(&mut self, j: usize, (values, vectors): &(Vec<f64>, Matrix<f64>)) {
        let n = self.z.n_cols() as f64 - 1.0;
        for (i, variance) in self.noise.iter_mut().enumerate() {
            let row = vectors.row(i);
            let within: f64 = row.iter().zip(values).map(|(v, value)| v * v * value).sum();
            let outside = 1.0 - row.iter().map(|v| v * v).sum::<f64>();
            let left = (1.0 / *variance - within) * n / ((n - j as f64) * outside.max(LEAST_OUTSIDE));
            *variance = (*variance * left).max(LEAST_NOISE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// n rows of `k` factors of variance `signal` in every column and noise of standard deviation exp(spread·N).
    fn rows(
        (n, d, k): (usize, usize, usize),
        (signal, spread): (f64, f64),
        seed: u64,
    ) -> (Matrix<f64>, Vec<f64>) {
        let mut stream = Stream::new(seed, Purpose::Synthetic);
        let loadings = Matrix::from_fn(k, d, |_, _| signal.sqrt() * stream.gaussian());
        let noise: Vec<f64> = (0..d).map(|_| (spread * stream.gaussian()).exp()).collect();
        let x = Matrix::from_fn(n, d + 1, |_, _| stream.gaussian());
        let factors = Matrix::from_fn(n, k, |_, _| stream.gaussian());
        let x = Matrix::from_fn(n, d + 1, |i, j| {
            // The last column is constant.
            if j == d {
                return 3.0;
            }
            let common: f64 = (0..k).map(|f| factors[(i, f)] * loadings[(f, j)]).sum();
            common + noise[j] * x[(i, j)]
        });
        (x, noise)
    }

    fn found(x: &Matrix<f64>) -> FactorAnalysis {
        let options = ParallelOptions { permutations: 20, ..ParallelOptions::default() };
        factor_analysis(x.into(), &options, &Watch::default()).unwrap()
    }

    // The test has a level of 5 %, so that one count in twenty is one too many.
    #[test]
    fn factors_are_counted_whatever_the_noise_of_columns() {
        let mut missed = 0;
        for spread in [0.0, 0.7] {
            for (n, d, k, signal) in
                [(200, 20, 3, 1.0), (200, 20, 5, 1.0), (60, 100, 3, 1.0), (300, 30, 3, 0.25)]
            {
                for seed in 0..3 {
                    let found = found(&rows((n, d, k), (signal, spread), seed).0);
                    assert!(found.n_components.abs_diff(k) <= 1, "{n} {d} {k} {spread}: {found:?}");
                    missed += usize::from(found.n_components != k);
                }
            }
        }
        assert!(missed <= 4, "{missed} of 24");
    }

    #[test]
    fn noise_alone_has_no_factor() {
        let none =
            (0..20).filter(|seed| found(&rows((100, 15, 0), (1.0, 0.7), *seed).0).n_components == 0).count();
        assert!(none >= 16, "{none} of 20");
    }

    // A variance from 2000 rows has a relative standard error of √(2/2000) = 3 %; its root half of that, times four.
    #[test]
    fn the_noise_of_each_column_is_found() {
        let (x, noise) = rows((2000, 25, 3), (1.0, 0.5), 1);
        let found = found(&x);
        assert_eq!((found.n_components, found.noise.len(), found.noise[25]), (3, 26, 0.0));
        for (a, b) in found.noise.iter().zip(&noise) {
            assert!((a / b - 1.0).abs() < 0.07, "{a} {b}");
        }
    }

    #[test]
    fn few_columns_tell_few_factors() {
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 10].map(most_factors), [0, 0, 0, 1, 1, 2, 3, 6]);
        let x = Matrix::from_fn(30, 2, |i, j| ((i * (j + 3)) as f64).sin());
        let message = factor_analysis((&x).into(), &ParallelOptions::default(), &Watch::default());
        assert!(message.unwrap_err().to_string().contains("at least three"), "2 columns");
    }
}
