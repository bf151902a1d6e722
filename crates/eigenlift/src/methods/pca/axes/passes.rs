//! The covariance of rows as an operator: each product is a pass over them.

use super::U;
use crate::error::Result;
use crate::linalg::scale_columns;
use crate::matrix::{MatMut, MatRef};
use crate::operator::LinearOperator;
use crate::progress::Watch;
use crate::rows::{Pass, Rows};

/// D⁻¹M₂D⁻¹ by passes.
pub(super) struct Seen<'a> {
    pub(super) rows: &'a dyn Rows,
    pub(super) chunk_rows: usize,
    pub(super) mean: &'a [f64],
    pub(super) inverse: Option<&'a [f64]>,
    /// What products are multiplied by.
    pub(super) unit: f64,
}

impl LinearOperator for Seen<'_> {
    fn n_rows(&self) -> usize {
        self.rows.n_cols()
    }

    fn n_cols(&self) -> usize {
        self.rows.n_cols()
    }

    /// Why √d: two products in a row round by u·λ₁ in norm, not by u times an entry; the floor of residuals is then 4u·tr M₂.
    fn unit_roundoff(&self) -> f64 {
        U * (self.n_cols() as f64).sqrt()
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let pass = Pass { chunk_rows: self.chunk_rows, watch };
        let Some(inverse) = self.inverse else {
            out.copy_from(self.rows.centered_product(self.mean, block, &pass)?.view());
            let width = out.n_cols();
            scale_columns(out, &vec![self.unit; width]);
            return Ok(());
        };
        let mut scaled = block.to_matrix();
        let mut rows = scaled.view_mut();
        inverse.iter().enumerate().for_each(|(j, s)| rows.row_mut(j).iter_mut().for_each(|x| *x *= s));
        out.copy_from(self.rows.centered_product(self.mean, scaled.view(), &pass)?.view());
        inverse.iter().enumerate().for_each(|(j, s)| out.row_mut(j).iter_mut().for_each(|x| *x *= s));
        Ok(())
    }
}
