//! Rows that lie in pieces, in a file or on other machines: moments, pivots and exact passes without the rows at hand.

mod gram;
mod rounds;

pub(crate) use gram::PiecesGram;
pub use rounds::pivots;
pub(crate) use rounds::{Draw, pivots_of_pieces};

use crate::error::Result;
use crate::features::{FeatureSums, RowFeatures};
use crate::kernel::Kernel;
use crate::matrix::{MatRef, Matrix};
use crate::model::AnyModel;

/// Rows that lie in pieces, in a file or on other machines. A fit asks for sums and products over all of them and for single rows,
/// never for the rows as a whole.
///
/// The pieces have an order, and sums are merged in an order that depends on it alone: then the result does too.
pub trait Pieces: Send + Sync {
    /// Rows of all pieces.
    fn n_rows(&self) -> usize;

    /// Columns.
    fn n_cols(&self) -> usize;

    /// Precision of the rows, `f32` or `f64`.
    fn precision(&self) -> &'static str;

    /// Whether rows have weights.
    fn weighted(&self) -> bool {
        false
    }

    /// Where the rows are, for the reasons of a plan.
    fn place(&self) -> String;

    /// The rows of these numbers, which ascend.
    ///
    /// # Errors
    /// When the rows cannot be read.
    fn gather(&self, rows: &[usize]) -> Result<Matrix<f64>>;
}

/// What one pass over the Gram matrix of all rows gives.
#[derive(Clone, Debug, PartialEq)]
pub struct GramPass {
    /// K·B.
    pub product: Matrix<f64>,
    /// Σⱼ Kᵢⱼ.
    pub row_sums: Vec<f64>,
    /// ‖K‖²_F.
    pub squared_norm: f64,
}

/// Candidates for pivots that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Numbers of the rows; `None` where nothing is left of the row.
    pub rows: Vec<Option<usize>>,
    /// The rows themselves, one for each, whatever is left of it.
    pub entries: Matrix<f64>,
}

/// Rows in pieces that can be compared with each other and with landmarks.
///
/// Where `single` is asked for, kernel values are computed in single precision.
pub trait KernelPieces: Pieces {
    /// Moments of features of all rows: [`RowFeatures::sums`] of each piece, merged.
    ///
    /// # Errors
    /// When rows cannot be read, or features not be computed.
    fn feature_sums(&self, features: &RowFeatures) -> Result<FeatureSums>;

    /// Pivots will be drawn from these rows, or from all.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn begin_rounds(&self, sample: Option<&[usize]>) -> Result<()>;

    /// For each piece, what features leave out of the rows of the sample, added up in their order; rows that are `spent` count
    /// as 0.
    ///
    /// # Errors
    /// As [`KernelPieces::feature_sums`].
    fn left_out(&self, features: &RowFeatures, spent: &[usize]) -> Result<Vec<f64>>;

    /// In each piece named, the first row of the sample at which the running sum of what the last [`KernelPieces::left_out`] found
    /// exceeds the target.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn locate(&self, targets: &[(usize, f64)]) -> Result<Found>;

    /// One pass over the Gram matrix.
    ///
    /// # Errors
    /// As [`KernelPieces::feature_sums`].
    fn gram_pass(&self, kernel: &Kernel, block: MatRef<'_, f64>, single: bool) -> Result<GramPass>;

    /// Kernel values of all rows with these.
    ///
    /// # Errors
    /// As [`KernelPieces::feature_sums`].
    fn kernel_columns(&self, kernel: &Kernel, with: &Matrix<f64>, single: bool) -> Result<Matrix<f64>>;

    /// k(x,x) of all rows.
    ///
    /// # Errors
    /// As [`KernelPieces::feature_sums`].
    fn kernel_diagonal(&self, kernel: &Kernel, single: bool) -> Result<Vec<f64>>;

    /// Scores of all rows.
    ///
    /// # Errors
    /// As [`KernelPieces::feature_sums`].
    fn project(&self, model: &AnyModel) -> Result<Matrix<f64>>;
}
