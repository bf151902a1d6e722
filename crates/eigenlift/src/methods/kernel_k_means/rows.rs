//! Features of all rows, held or computed again when they are visited.

use crate::data::AnyPoints;
use crate::error::Result;
use crate::factor::Factor;
use crate::linalg::shift_columns;
use crate::matrix::{MatRef, Matrix};
use crate::progress::Watch;

/// Rows that are visited at a time.
const PIECE_ROWS: usize = 8192;

/// Features minus their mean, of all rows.
///
/// Numerics: distances do not change, and lose no digits to a mean that is large.
pub(super) enum Rows<'a> {
    Held(&'a Matrix<f64>),
    Read(Reader<'a>),
}

/// Computes features of rows.
pub(super) struct Reader<'a> {
    pub(super) factor: &'a Factor,
    pub(super) x: AnyPoints<'a>,
    pub(super) mean: &'a [f64],
    pub(super) watch: &'a Watch,
}

impl Rows<'_> {
    pub(super) fn n_rows(&self) -> usize {
        match self {
            Self::Held(rows) => rows.n_rows(),
            Self::Read(reader) => reader.x.n_rows(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        match self {
            Self::Held(rows) => rows.n_cols(),
            Self::Read(reader) => reader.mean.len(),
        }
    }

    /// Visits all rows in order, some at a time, with the place of the first.
    pub(super) fn each(
        &self,
        visit: &mut (dyn FnMut(usize, MatRef<'_, f64>) -> Result<()> + Send),
    ) -> Result<()> {
        match self {
            Self::Held(rows) => {
                let n = rows.n_rows();
                (0..n)
                    .step_by(PIECE_ROWS)
                    .try_for_each(|from| visit(from, rows.view().rows(from..(from + PIECE_ROWS).min(n))))
            }
            Self::Read(reader) => {
                let shift: Vec<f64> = reader.mean.iter().map(|mean| -mean).collect();
                let watch = reader.watch.silent();
                reader.factor.each_piece(reader.x, "features", &watch, &mut |from, mut rows| {
                    shift_columns(rows.features.view_mut(), &shift);
                    visit(from, rows.features.view())
                })
            }
        }
    }
}
