//! Covariances of features in their own axes.

use crate::eigen::rank_threshold;
use crate::error::Result;
use crate::linalg::symmetric_eigen;
use crate::matrix::Matrix;

/// Eigenpairs of a covariance C down to rounding; from it (C + κI)^(−1/2) for every κ.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// Eigenvalues of C, largest first.
    pub(crate) values: Vec<f64>,
    /// Unit eigenvectors as columns.
    pub(crate) vectors: Matrix<f64>,
}

impl Spectrum {
    /// Of C = scatter/weight; `rounding` is that against which rounding of the scatter is measured.
    ///
    /// Cost: 9·m³ flops in one thread.
    ///
    /// # Errors
    /// When the eigenproblem fails, which takes entries of extreme size.
    pub(crate) fn of(scatter: &Matrix<f64>, weight: f64, rounding: f64) -> Result<Self> {
        let (values, vectors) = symmetric_eigen(scatter)?;
        let largest = values.first().copied().unwrap_or(0.0);
        let threshold = rank_threshold(values.len(), largest, rounding, f64::EPSILON / 2.0);
        let rank = values.iter().take_while(|value| **value > threshold).count();
        Ok(Self {
            values: values[..rank].iter().map(|value| value / weight).collect(),
            vectors: vectors.view().first_columns(rank).to_matrix(),
        })
    }

    /// As [`Spectrum::of`] for features divided by their standard deviations, so that columns of any size count alike: axes V
    /// with VᵀCV = Λ that are not orthogonal. It serves where κ = 0, to which the size of columns is nothing.
    ///
    /// # Errors
    /// As [`Spectrum::of`].
    pub(crate) fn standardised(scatter: &Matrix<f64>, weight: f64, mean: &[f64]) -> Result<Self> {
        let scales = inverse_deviations(scatter, weight, mean);
        let m = scales.len();
        let alike = Matrix::from_fn(m, m, |i, j| scales[i] * scatter[(i, j)] * scales[j]);
        let Self { values, vectors } = Self::of(&alike, weight, weight * m as f64)?;
        let vectors = Matrix::from_fn(m, values.len(), |i, j| scales[i] * vectors[(i, j)]);
        Ok(Self { values, vectors })
    }

    /// Directions in which the features vary beyond rounding.
    pub(crate) fn rank(&self) -> usize {
        self.values.len()
    }

    /// tr C.
    pub(crate) fn total(&self) -> f64 {
        self.values.iter().sum()
    }

    /// (λ + κ)^(−1/2) along each axis.
    pub(crate) fn inverse_roots(&self, kappa: f64) -> Vec<f64> {
        self.values.iter().map(|value| 1.0 / (value + kappa).sqrt()).collect()
    }
}

/// One over the standard deviation of each feature; 0 for one that varies no more than its mean is rounded.
pub(crate) fn inverse_deviations(scatter: &Matrix<f64>, weight: f64, mean: &[f64]) -> Vec<f64> {
    let inverse = |(i, mean): (usize, &f64)| {
        let variance = scatter[(i, i)] / weight;
        let rounding = 16.0 * f64::EPSILON * mean;
        if variance > rounding * rounding { 1.0 / variance.sqrt() } else { 0.0 }
    };
    mean.iter().enumerate().map(inverse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::Partial;

    #[test]
    fn the_inverse_root_undoes_the_covariance_and_null_directions_are_left_out() {
        // Column 2 is the sum of the others.
        let x = Matrix::from_fn(40, 3, |i, j| {
            let (a, b) = ((i as f64 * 0.7).sin(), (i as f64 * 1.3).cos());
            [a, b, a + b][j]
        });
        let partial = Partial::of_rows(x.view(), 0.0);
        let spectrum = Spectrum::of(partial.scatter(), 40.0, 40.0).unwrap();
        assert_eq!(spectrum.rank(), 2);
        assert!((spectrum.total() - partial.trace() / 40.0).abs() < 1e-14);
        let kappa = 0.1;
        let roots = spectrum.inverse_roots(kappa);
        for (j, root) in roots.iter().enumerate() {
            // wᵀ(C + κI)w = 1 for w = v/√(λ + κ).
            let w: Vec<f64> = (0..3).map(|i| spectrum.vectors[(i, j)] * root).collect();
            let along = |a: usize, b: usize| {
                w[a] * w[b] * (partial.scatter()[(a, b)] / 40.0 + if a == b { kappa } else { 0.0 })
            };
            let square: f64 =
                (0..3).flat_map(|a| (0..3).map(move |b| (a, b))).map(|(a, b)| along(a, b)).sum();
            assert!((square - 1.0).abs() < 1e-12);
        }
    }
}
