//! What rows are projected by.

use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Watch;
use std::path::Path;
use std::sync::Arc;

/// What every fitted model can do.
pub trait Fitted: Send + Sync {
    /// The method's name, which is also that of its scores, such as `kpca`.
    fn method(&self) -> &'static str;
    /// Numbers that a row must have.
    fn n_features(&self) -> usize;
    /// Numbers that come out for a row.
    fn n_outputs(&self) -> usize;
    /// Names of the input columns; empty when none were given.
    fn column_names(&self) -> &[String];
    /// Warnings: read them before using the scores.
    fn warnings(&self) -> &[String];
    /// The engine that it uses by default.
    fn engine(&self) -> &Arc<dyn Engine>;
    /// Scores of rows, found on this engine.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the model cannot take; cancellation.
    fn project_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>>;
    /// Rows from scores, found on this engine.
    ///
    /// # Errors
    /// When the method has no inverse transform, or scores do not fit.
    fn invert_on(&self, engine: &dyn Engine, scores: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>>;
    /// Rows projected, then reconstructed, on this engine.
    ///
    /// # Errors
    /// As [`Fitted::project_on`] and [`Fitted::invert_on`].
    fn denoise_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.invert_on(engine, &self.project_on(engine, x, watch)?, watch)
    }
    /// What [`Fitted::labels_on`] gives for a row: `component`, `cluster` or `class`.
    fn label_name(&self) -> Option<&'static str> {
        None
    }
    /// A label for each row, counted from 0, where the model has labels: the connected component in which it is placed when several were
    /// embedded separately, its cluster, its predicted class.
    ///
    /// # Errors
    /// As [`Fitted::project_on`].
    fn labels_on(&self, _: &dyn Engine, _: AnyPoints<'_>, _: &Watch) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }
    /// A label as text: counted from 1, or the name of a class.
    fn label_words(&self, label: u32) -> String {
        (u64::from(label) + 1).to_string()
    }
    /// Scores of rows.
    ///
    /// # Errors
    /// As [`Fitted::project_on`].
    fn project(&self, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        self.project_on(&**self.engine(), x, watch)
    }
    /// Rows from scores.
    ///
    /// # Errors
    /// As [`Fitted::invert_on`].
    fn invert(&self, scores: &Matrix<f64>, watch: &Watch) -> Result<Matrix<f64>> {
        self.invert_on(&**self.engine(), scores, watch)
    }
    /// Writes the model file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn write(&self, path: &Path) -> Result<()>;
    /// The bytes of the model file.
    ///
    /// # Errors
    /// When the model cannot be written down, such as one whose kernel is a function.
    fn bytes(&self) -> Result<Vec<u8>>;
}
