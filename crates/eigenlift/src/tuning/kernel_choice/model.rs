//! Kernel PCA of the rows that are not held out.

use super::candidates::{Candidate, Form};
use super::split::Split;
use crate::eigen::rank_threshold;
use crate::error::Result;
use crate::linalg::{Factor, Onto, column_means, gemm, right_singular, shift_columns, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};

/// Rows that are not in a part: what all models of the part share.
pub(super) struct Training {
    /// The rows without their means.
    pub(super) x: Matrix<f64>,
    /// ‖x‖² of each.
    pub(super) norms: Vec<f64>,
    pub(super) means: Vec<f64>,
    part: usize,
    /// A typical difference of two rows in one column.
    pub(super) scale: f64,
}

impl Training {
    pub(super) fn new(split: &Split, part: usize) -> Self {
        let rows = split.training(part);
        let means = column_means(rows.view());
        let x = centred(rows.view(), &means);
        let norms = (0..x.n_rows()).map(|i| x.row(i).iter().map(|v| v * v).sum()).collect();
        let scale = (split.typical_square() / x.n_cols().max(1) as f64).sqrt();
        Self { x, norms, means, part, scale }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.x.n_rows()
    }
}

/// The leading axes of one candidate.
pub(super) struct Model {
    /// U·Λ^(−1/2) over samples, or directions of rows where the kernel is linear; one column for each axis.
    pub(super) axes: Matrix<f64>,
    /// Eigenvalues of the centred Gram matrix.
    pub(super) values: Vec<f64>,
    /// Means of the rows of the Gram matrix.
    row_means: Vec<f64>,
}

impl Model {
    /// At most `most` axes, and none at the level of rounding.
    ///
    /// Cost: 9·n³ flops, or an SVD of the rows where the kernel is linear.
    pub(super) fn fit(
        candidate: &Candidate,
        split: &Split,
        training: &Training,
        most: usize,
    ) -> Result<Self> {
        match &candidate.form {
            Form::Linear => {
                let (singular, vectors) = right_singular(training.x.view())?;
                let values: Vec<f64> = singular.iter().map(|s| s * s).collect();
                let count = usable(&values, training.n_rows()).min(most);
                Ok(Self {
                    axes: vectors.into_first_columns(count),
                    values: values[..count].to_vec(),
                    row_means: Vec::new(),
                })
            }
            Form::Distance(factor, profile) => {
                let mut gram = split.squares(training.part, None);
                profile.apply(gram.as_mut_slice());
                gram.as_mut_slice().iter_mut().for_each(|k| *k *= factor);
                Self::of_gram(gram, most)
            }
        }
    }

    fn of_gram(mut gram: Matrix<f64>, most: usize) -> Result<Self> {
        let n = gram.n_rows();
        let row_means = column_means(gram.view());
        let mean = row_means.iter().sum::<f64>() / n.max(1) as f64;
        for i in 0..n {
            let shift = mean - row_means[i];
            let mut view = gram.view_mut();
            view.row_mut(i).iter_mut().zip(&row_means).for_each(|(k, r)| *k += shift - r);
        }
        let (values, vectors) = symmetric_eigen(&gram)?;
        let count = usable(&values, n).min(most);
        let mut axes = vectors.into_first_columns(count);
        // Numerics: what rounding left of the ones vector would meet the mean of the kernel, which can be far larger.
        let shift: Vec<f64> = column_means(axes.view()).iter().map(|m| -m).collect();
        shift_columns(axes.view_mut(), &shift);
        for i in 0..n {
            let mut view = axes.view_mut();
            view.row_mut(i).iter_mut().zip(&values).for_each(|(u, value)| *u /= value.sqrt());
        }
        Ok(Self { axes, values: values[..count].to_vec(), row_means })
    }

    /// Axes there are.
    pub(super) fn n_axes(&self) -> usize {
        self.values.len()
    }

    /// Scores from the kernel between rows and samples, or from centred rows where the kernel is linear.
    pub(super) fn scores(&self, mut lifted: Matrix<f64>, k: usize) -> Matrix<f64> {
        let mut view = lifted.view_mut();
        for i in 0..view.n_rows() {
            view.row_mut(i).iter_mut().zip(&self.row_means).for_each(|(x, r)| *x -= r);
        }
        let axes = self.axes.view().first_columns(k.min(self.n_axes()));
        let mut scores = Matrix::zeros(lifted.n_rows(), axes.n_cols());
        gemm(scores.view_mut(), Onto::Replace, 1.0, Factor::Plain(lifted.view()), Factor::Plain(axes));
        scores
    }

    /// Scores of the rows it was fitted to: those of K_c are U·Λ^(1/2).
    pub(super) fn own_scores(&self, training: &Training) -> Matrix<f64> {
        if self.row_means.is_empty() {
            return self.scores(training.x.clone(), self.n_axes());
        }
        Matrix::from_fn(self.axes.n_rows(), self.n_axes(), |i, j| self.axes[(i, j)] * self.values[j])
    }
}

/// Eigenvalues above rounding, one less than there are rows at most.
fn usable(values: &[f64], n: usize) -> usize {
    let largest = values.first().copied().unwrap_or(0.0);
    let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    // Why 1e-10: scores are divided by √λ, so that fainter axes are mostly rounding.
    let floor = rank_threshold(n, largest, norm, f64::EPSILON).max(1e-10 * largest);
    values.iter().take(n.saturating_sub(1)).take_while(|v| **v > floor).count()
}

pub(super) fn centred(rows: MatRef<'_, f64>, means: &[f64]) -> Matrix<f64> {
    Matrix::from_fn(rows.n_rows(), rows.n_cols(), |i, j| rows.row(i)[j] - means[j])
}
