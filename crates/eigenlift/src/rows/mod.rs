//! Rows wherever they lie: in memory, in a source that is read a piece at a time, or in partitions that others hold. What fits ask of
//! them, they ask of [`Rows`].

mod chunks;
mod data;
mod fitted;
mod memory;
mod partitions;
mod partitions_gram;
mod rounds;
mod row_sums;
mod stream;
mod sums;

pub use data::Data;
pub(crate) use data::in_memory;
pub use fitted::Fitted;
pub use memory::centered_product;
pub use partitions::{Found, GramPass, Partitions};
pub(crate) use partitions_gram::no_gram_matrix;
pub(crate) use row_sums::Kind;
pub use row_sums::RowSums;
pub(crate) use sums::{
    ColumnMoments, Weighted, all_finite, column_moments, column_numbers, moments, moments_numbers, scales,
    triangle_pieces,
};

use crate::data::{AnyPoints, AnySamples};
use crate::error::Result;
use crate::features::{FeatureRows, FeatureSums, RowFeatures, Stop};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::matrix::{MatRef, Matrix};
use crate::operator::{GramOperator, LinearOperator};
use crate::progress::Watch;
use std::ops::Range;

/// Most rows whose features are held at a time: few enough to be used again without being fetched anew from the system.
pub(crate) const CHUNK_ROWS: usize = 8192;

/// Where rows lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory, all at once.
    Memory,
    /// In a source that is read from the first row to the last.
    Chunks {
        /// Most rows that come at a time.
        most_rows: usize,
    },
    /// In partitions that others hold, as a sentence for the plan says.
    Partitions(String),
}

/// One reading of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Pass<'a> {
    /// Rows in hand at a time, where they come a piece at a time.
    pub chunk_rows: usize,
    /// Is told of progress, and may cancel.
    pub watch: &'a Watch,
}

impl<'a> Pass<'a> {
    /// Of pieces of the usual size.
    pub fn new(watch: &'a Watch) -> Self {
        Self { chunk_rows: CHUNK_ROWS, watch }
    }
}

/// From which rows and how pivots are drawn.
#[derive(Clone, Copy, Debug)]
pub struct PivotDraw<'a> {
    /// Numbers of the rows, ascending; `None` for all.
    pub sample: Option<&'a [usize]>,
    /// When to stop.
    pub stop: Stop,
    /// Fixes the draws.
    pub seed: u64,
    /// Is told of progress, and may cancel.
    pub watch: &'a Watch,
}

/// Rows that randomly pivoted Cholesky chose.
#[derive(Clone, Debug)]
pub struct Pivots {
    /// Their numbers among all rows.
    pub rows: Vec<usize>,
    /// The rows themselves, in the precision of the data.
    pub landmarks: AnySamples,
    /// L with K_ZZ = LLᵀ.
    pub root: Matrix<f64>,
}

/// Rows of numbers, and what is asked of all of them together. The same questions have the same answers wherever the rows lie, up to the order in which
/// sums are taken.
///
/// A new place for rows implements this, and every method that goes by rows runs there.
pub trait Rows: Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Columns of data.
    fn n_cols(&self) -> usize;

    /// Precision of the rows, `f32` or `f64`.
    fn precision(&self) -> &'static str;

    /// Where they lie.
    fn place(&self) -> Place;

    /// Whether rows count more or less often than once.
    fn weighted(&self) -> bool {
        false
    }

    /// The rows and their weights, where they are in memory.
    fn points(&self) -> Option<(AnyPoints<'_>, Option<&[f64]>)> {
        None
    }

    /// The rows of these numbers, which ascend, in their own precision.
    ///
    /// # Errors
    /// When they cannot be read.
    fn gather(&self, rows: &[usize], pass: &Pass<'_>) -> Result<AnySamples>;

    /// All rows, brought into memory.
    ///
    /// # Errors
    /// When they cannot be read.
    fn samples(&self, pass: &Pass<'_>) -> Result<AnySamples> {
        self.gather(&(0..self.n_rows()).collect::<Vec<usize>>(), pass)
    }

    /// The matrix of similarities of the rows with each other; with `draft` in single precision.
    ///
    /// # Errors
    /// When the similarity does not fit the rows, or these can only be read from the first to the last.
    fn gram<'a>(
        &'a self,
        similarity: &'a Similarity,
        storage: Storage,
        draft: bool,
    ) -> Result<Box<dyn GramOperator + 'a>>;

    /// k(x, y) of the rows x with samples y, as an operator whose values are computed tile by tile and never stored. One reading for each
    /// product.
    ///
    /// Cost: n·m(2d + 2b) flops for a product with b columns and m samples.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn cross<'a>(
        &'a self,
        kernel: &'a Kernel,
        samples: &'a AnySamples,
    ) -> Result<Box<dyn LinearOperator + 'a>>;

    /// k(x,x) of each row.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn diagonal(&self, similarity: &Similarity, pass: &Pass<'_>) -> Result<Vec<f64>>;

    /// Features of a range of rows, some at a time and in order, with the number of the first among all rows. At most one reading.
    ///
    /// Cost: n·m(2d + m) flops for m features of n rows; memory one chunk of them.
    ///
    /// # Errors
    /// When rows cannot be read, or features not be computed; what `visit` fails with; cancellation.
    fn features(
        &self,
        features: &RowFeatures,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut (dyn FnMut(usize, FeatureRows) -> Result<()> + Send),
    ) -> Result<()>;

    /// Moments of features of all rows. One reading.
    ///
    /// Cost: n·m(2d + 2m) flops for m features.
    ///
    /// # Errors
    /// When rows cannot be read, or features not be computed; cancellation.
    fn feature_sums(&self, features: &RowFeatures, pass: &Pass<'_>) -> Result<FeatureSums>;

    /// Rows chosen by randomly pivoted Cholesky of the matrix of similarities.
    ///
    /// # Errors
    /// When rows cannot be read, or the similarity cannot take them; cancellation.
    fn pivots(&self, similarity: &Similarity, draw: &PivotDraw<'_>) -> Result<Pivots>;

    /// These sums with all rows added. One reading.
    ///
    /// # Errors
    /// When rows cannot be read or added; cancellation.
    fn row_sums(&self, sums: RowSums, pass: &Pass<'_>) -> Result<RowSums>;

    /// Σw(x − c)(x − c)ᵀB over all rows. One reading.
    ///
    /// Cost: 4·n·d·b flops.
    ///
    /// # Errors
    /// When rows cannot be read; cancellation.
    fn centered_product(
        &self,
        center: &[f64],
        block: MatRef<'_, f64>,
        pass: &Pass<'_>,
    ) -> Result<Matrix<f64>>;

    /// Scores of all rows. One reading.
    ///
    /// # Errors
    /// When rows cannot be read, or the model cannot take them; cancellation.
    fn project(&self, model: &dyn Fitted, pass: &Pass<'_>) -> Result<Matrix<f64>>;
}
