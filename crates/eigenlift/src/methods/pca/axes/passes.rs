//! The covariance of rows as an operator: each product is a pass over them.

use super::U;
use crate::data::CentredRows;
use crate::error::Result;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::methods::pca::sums::Weighted;
use crate::operator::LinearOperator;
use crate::progress::Watch;

/// Rows that can be passed over: out ← out + Σw(x − c)(x − c)ᵀB.
pub(crate) trait Passes: Send + Sync {
    /// Columns of a row.
    fn n_cols(&self) -> usize;
    /// One pass.
    ///
    /// # Errors
    /// When rows cannot be read, or on cancellation.
    fn add_product(
        &self,
        centre: &[f64],
        block: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<()>;
}

/// Adds the product of some rows.
pub(in crate::methods::pca) fn add_rows(
    data: Weighted<'_>,
    centre: &[f64],
    block: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    let rows = CentredRows::new(data.rows, centre);
    let mut along = Matrix::zeros(data.n_rows(), block.n_cols());
    rows.times(block, along.view_mut());
    if let Some(weights) = data.weights {
        let mut view = along.view_mut();
        weights.iter().enumerate().for_each(|(i, w)| view.row_mut(i).iter_mut().for_each(|x| *x *= w));
    }
    rows.add_transposed_times(along.view(), out);
}

impl Passes for Weighted<'_> {
    fn n_cols(&self) -> usize {
        Weighted::n_cols(self)
    }

    fn add_product(
        &self,
        centre: &[f64],
        block: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<()> {
        watch.check()?;
        add_rows(*self, centre, block, out);
        Ok(())
    }
}

/// D⁻¹M₂D⁻¹ by passes.
pub(super) struct Seen<'a> {
    pub(super) operator: &'a dyn Passes,
    pub(super) mean: &'a [f64],
    pub(super) inverse: Option<&'a [f64]>,
    /// What products are multiplied by.
    pub(super) unit: f64,
}

impl LinearOperator for Seen<'_> {
    fn n_rows(&self) -> usize {
        self.operator.n_cols()
    }

    fn n_cols(&self) -> usize {
        self.operator.n_cols()
    }

    /// Why √d: two products in a row round by u·λ₁ in norm, not by u times an entry; the floor of residuals is then 4u·tr M₂.
    fn unit_roundoff(&self) -> f64 {
        U * (self.n_cols() as f64).sqrt()
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        out.fill(0.0);
        let Some(inverse) = self.inverse else {
            self.operator.add_product(self.mean, block, out.reborrow(), watch)?;
            let width = out.n_cols();
            crate::linalg::scale_columns(out, &vec![self.unit; width]);
            return Ok(());
        };
        let mut scaled = block.to_matrix();
        let mut rows = scaled.view_mut();
        inverse.iter().enumerate().for_each(|(j, s)| rows.row_mut(j).iter_mut().for_each(|x| *x *= s));
        self.operator.add_product(self.mean, scaled.view(), out.reborrow(), watch)?;
        inverse.iter().enumerate().for_each(|(j, s)| out.row_mut(j).iter_mut().for_each(|x| *x *= s));
        Ok(())
    }
}
