//! What an eigensolver sees: products with blocks of vectors, and nothing of where the matrix lives.

mod sparse;

pub(crate) use sparse::SparseSymmetric;

use crate::error::Result;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::progress::Watch;

/// Columns of the identity that [`LinearOperator::to_dense`] multiplies at a time.
pub(crate) const IDENTITY_COLUMNS: usize = 256;

/// A matrix known by its products with blocks of vectors.
pub trait LinearOperator: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of columns.
    fn n_cols(&self) -> usize;

    /// out ← A·block, for a block of `n_cols()` rows.
    ///
    /// # Errors
    /// When the work is cancelled or the place where the matrix lives fails.
    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()>;

    /// Relative rounding error of one entry of the matrix.
    fn unit_roundoff(&self) -> f64 {
        f64::EPSILON / 2.0
    }

    /// The whole matrix. Cost: a product with the identity unless the matrix is at hand.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        let n = self.n_cols();
        let mut dense = Matrix::zeros(self.n_rows(), n);
        for from in (0..n).step_by(IDENTITY_COLUMNS) {
            let width = IDENTITY_COLUMNS.min(n - from);
            let identity = Matrix::from_fn(n, width, |i, j| f64::from(u8::from(i == from + j)));
            self.apply(identity.view(), dense.view_mut().columns(from..from + width), watch)?;
        }
        Ok(dense)
    }
}

/// Sums over a Gram matrix, each exact up to rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct GramSummary {
    /// rᵢ = (1/n) Σⱼ Kᵢⱼ.
    pub row_means: Vec<f64>,
    /// g = (1/n²) Σᵢⱼ Kᵢⱼ.
    pub grand_mean: f64,
    /// tr K.
    pub trace: f64,
    /// ‖K‖²_F.
    pub squared_norm: f64,
}

impl GramSummary {
    /// tr(K_c) = tr K − n·g, (K10).
    pub fn centered_trace(&self) -> f64 {
        self.trace - self.row_means.len() as f64 * self.grand_mean
    }

    /// ‖K_c‖²_F = ‖K‖²_F − 2n‖r‖² + n²g², (K11).
    pub fn centered_squared_norm(&self) -> f64 {
        let [whole, rows, mean] = self.squares();
        (whole - rows + mean).max(0.0)
    }

    /// An upper bound of ‖K_c‖²_F: the rounding of each term of (K11) added.
    ///
    /// Why: the terms cancel where K_c is small beside K, and what their rounding leaves may be smaller than the truth.
    pub fn centered_squared_norm_bound(&self) -> f64 {
        let [whole, rows, mean] = self.squares();
        (whole - rows + mean).max(0.0) + self.rounding() * (whole + rows + mean)
    }

    /// How far [`GramSummary::centered_trace`] may be from the trace of the centered matrix that was summed.
    pub fn centered_trace_error(&self) -> f64 {
        let n = self.row_means.len() as f64;
        // Σ|Kᵢᵢ| ≤ √n·‖K‖_F, and for a positive semi-definite matrix it is the trace.
        let diagonal = self.trace.abs().max(n * self.grand_mean.abs());
        self.rounding() * (diagonal + self.squared_norm.sqrt())
    }

    /// ‖K‖²_F, 2n‖r‖² and n²g².
    fn squares(&self) -> [f64; 3] {
        let n = self.row_means.len() as f64;
        let rows: f64 = self.row_means.iter().map(|r| r * r).sum();
        [self.squared_norm, 2.0 * n * rows, (n * self.grand_mean).powi(2)]
    }

    /// Relative rounding of sums over the matrix: additions follow each other within a tile, and then from tile to tile.
    fn rounding(&self) -> f64 {
        (256.0 + self.row_means.len() as f64 / 64.0) * f64::EPSILON
    }
}

/// A symmetric matrix of similarities between samples. Whether it is positive semi-definite is checked, never assumed.
pub trait GramOperator: LinearOperator {
    /// out\[i\] = Kᵢᵢ.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn diagonal(&self, out: &mut [f64]) -> Result<()>;

    /// The columns named, side by side.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn columns(&self, indices: &[usize], out: MatMut<'_, f64>) -> Result<()>;

    /// The entries between the samples named: out\[a, b\] = K(indices\[a\], indices\[b\]).
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn corner(&self, indices: &[usize], out: MatMut<'_, f64>) -> Result<()>;

    /// out ← K·block, and the sums over K, in one pass.
    ///
    /// Why: adding up what is at hand costs far less than a pass of its own.
    ///
    /// # Errors
    /// As [`LinearOperator::apply`].
    fn apply_and_sum(
        &self,
        block: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<GramSummary>;

    /// Row means, trace and norm, in one pass.
    ///
    /// # Errors
    /// When an entry is not finite (the message names it), and as [`LinearOperator::apply`].
    fn summary(&self, watch: &Watch) -> Result<GramSummary>;

    /// Frees entries that are kept between passes; later passes compute them anew, the same bits.
    fn release(&mut self) {}
}

/// H·K·H with H = I − 11ᵀ/n, without forming it, (K2).
pub struct Centered<'a> {
    gram: &'a dyn GramOperator,
}

impl<'a> Centered<'a> {
    /// Centres `gram`.
    pub fn new(gram: &'a dyn GramOperator) -> Self {
        Self { gram }
    }
}

impl LinearOperator for Centered<'_> {
    fn n_rows(&self) -> usize {
        self.gram.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.gram.n_cols()
    }

    fn unit_roundoff(&self) -> f64 {
        self.gram.unit_roundoff()
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let mut centred = block.to_matrix();
        subtract_means(centred.view_mut());
        self.gram.apply(centred.view(), out.reborrow(), watch)?;
        subtract_means(out);
        Ok(())
    }

    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        let mut dense = self.gram.to_dense(watch)?;
        let n = dense.n_rows();
        let rows: Vec<f64> = (0..n).map(|i| dense.row(i).iter().sum::<f64>() / n as f64).collect();
        let grand = rows.iter().sum::<f64>() / n.max(1) as f64;
        for i in 0..n {
            dense
                .view_mut()
                .row_mut(i)
                .iter_mut()
                .zip(&rows)
                .for_each(|(x, r)| *x = *x - r - rows[i] + grand);
        }
        Ok(dense)
    }
}

/// A matrix that is written out, as an operator.
pub(crate) struct Explicit<'a>(pub(crate) &'a Matrix<f64>);

impl LinearOperator for Explicit<'_> {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.0.n_cols()
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        crate::linalg::combine(out, crate::linalg::Onto::Replace, 1.0, self.0.view(), block);
        watch.check()
    }
}

fn subtract_means(mut block: MatMut<'_, f64>) {
    let mut means = crate::linalg::column_means(block.as_ref());
    means.iter_mut().for_each(|m| *m = -*m);
    crate::linalg::shift_columns(block.reborrow(), &means);
}
