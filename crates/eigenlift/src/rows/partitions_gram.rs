//! The Gram matrix of rows that lie elsewhere, as an operator.

use super::{GramPass, Partitions};
use crate::data::AnySamples;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::operator::{GramOperator, GramSummary, LinearOperator};
use crate::progress::Watch;
use crate::real::Real;

/// K of all rows: products are computed where the rows are, and the solver does not know.
pub(crate) struct PartitionsGram<'a> {
    partitions: &'a dyn Partitions,
    kernel: &'a Kernel,
    single: bool,
}

impl<'a> PartitionsGram<'a> {
    /// In single precision if the rows are, or if `draft` says so.
    pub(crate) fn new(partitions: &'a dyn Partitions, kernel: &'a Kernel, draft: bool) -> Self {
        Self { partitions, kernel, single: draft || partitions.precision() == "f32" }
    }

    fn pass(&self, block: MatRef<'_, f64>, watch: &Watch) -> Result<GramPass> {
        watch.check()?;
        let pass = self.partitions.gram_pass(self.kernel, block, self.single)?;
        let shape = (pass.product.n_rows(), pass.product.n_cols(), pass.row_sums.len());
        if shape == (self.n_rows(), block.n_cols(), self.n_rows()) {
            return Ok(pass);
        }
        Err(Error::data(
            format!("a product of {} × {} with {} sums", shape.0, shape.1, shape.2),
            format!("there are {} rows", self.n_rows()),
            "The rows must stay the same while they are read",
        ))
    }

    /// The rows named, in any order.
    fn rows(&self, indices: &[usize]) -> Result<Matrix<f64>> {
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let rows = self.partitions.gather(&sorted)?;
        if rows.n_rows() != sorted.len() {
            return Err(Error::data(
                format!("{} rows where {} were asked for", rows.n_rows(), sorted.len()),
                "there must be one for each number",
                "The rows must stay the same while they are read",
            ));
        }
        let at: Vec<usize> = indices.iter().map(|i| sorted.partition_point(|s| s < i)).collect();
        Ok(Matrix::from_fn(indices.len(), rows.n_cols(), |i, j| rows[(at[i], j)]))
    }

    fn summarise(&self, row_sums: &[f64], squared_norm: f64) -> Result<GramSummary> {
        let n = self.n_rows();
        let mut diagonal = vec![0.0; n];
        self.diagonal(&mut diagonal)?;
        let row_means: Vec<f64> = row_sums.iter().map(|sum| sum / n as f64).collect();
        if let Some(row) = row_means.iter().position(|mean| !mean.is_finite()) {
            return Err(Error::kernel(
                format!("kernel values of row {} that are not finite", row + 1),
                "kernel values must be finite",
                "Scale the data down or change the kernel's parameters",
            ));
        }
        Ok(GramSummary {
            grand_mean: row_means.iter().sum::<f64>() / n.max(1) as f64,
            row_means,
            trace: diagonal.iter().sum(),
            squared_norm,
        })
    }
}

/// Rows in partitions are compared by a kernel that can be sent to them.
pub(crate) fn no_gram_matrix() -> Error {
    Error::setting(
        "a Gram matrix or a kernel given as a function, for rows that lie elsewhere",
        "they are compared by a kernel that can be written down",
        "Write the kernel as text, such as rbf(gamma=0.1) or expr(...)",
    )
}

impl LinearOperator for PartitionsGram<'_> {
    fn n_rows(&self) -> usize {
        self.partitions.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.partitions.n_rows()
    }

    fn unit_roundoff(&self) -> f64 {
        if self.single { f32::UNIT_ROUNDOFF } else { f64::UNIT_ROUNDOFF }
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        out.copy_from(self.pass(block, watch)?.product.view());
        Ok(())
    }
}

impl GramOperator for PartitionsGram<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        let values = self.partitions.kernel_diagonal(self.kernel, self.single)?;
        out.iter_mut().zip(values).for_each(|(o, value)| *o = value);
        Ok(())
    }

    fn columns(&self, indices: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        let columns = self.partitions.kernel_columns(self.kernel, &self.rows(indices)?, self.single)?;
        out.copy_from(columns.view());
        Ok(())
    }

    fn corner(&self, indices: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        let rows: AnySamples = self.rows(indices)?.into();
        let corner = match if self.single { rows.to_single() } else { rows } {
            AnySamples::F32(x) => self.kernel.matrix(x.points(), x.points()),
            AnySamples::F64(x) => self.kernel.matrix(x.points(), x.points()),
        };
        out.copy_from(corner.view());
        Ok(())
    }

    fn apply_and_sum(
        &self,
        block: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<GramSummary> {
        let pass = self.pass(block, watch)?;
        out.copy_from(pass.product.view());
        self.summarise(&pass.row_sums, pass.squared_norm)
    }

    fn summary(&self, watch: &Watch) -> Result<GramSummary> {
        let none = Matrix::zeros(self.n_rows(), 0);
        let pass = self.pass(none.view(), watch)?;
        self.summarise(&pass.row_sums, pass.squared_norm)
    }
}
