//! What is computed of rows that come a chunk at a time, whether they are at hand, read or fetched.

use super::Pass;
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureRows, FeatureSums, RowFeatures};
use crate::gram::CrossGram;
use crate::kernel::Kernel;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::progress::Watch;
use crate::real::Real;
use std::ops::Range;

/// Every row there is, also where there are more than were counted.
const ALL: Range<usize> = 0..usize::MAX;

/// Rows that come a chunk at a time.
pub(super) trait Chunks: Send + Sync {
    /// The engine that works on a chunk.
    fn engine(&self) -> &dyn Engine;

    /// The rows of a range that exist once, in order; `visit` is told the number of the first.
    fn each(
        &self,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut dyn FnMut(AnyPoints<'_>, usize) -> Result<()>,
    ) -> Result<()>;
}

/// Features of a range of rows, a chunk at a time.
pub(super) fn features(
    rows: &dyn Chunks,
    features: &RowFeatures,
    range: Range<usize>,
    pass: &Pass<'_>,
    visit: &mut (dyn FnMut(usize, FeatureRows) -> Result<()> + Send),
) -> Result<()> {
    rows.each(range, pass, &mut |chunk, from| {
        pass.watch.check()?;
        rows.engine().complete(|| visit(from, features.chunk(chunk, from, pass.watch)?))
    })
}

/// Moments of features of all `n` rows.
pub(super) fn feature_sums(
    rows: &dyn Chunks,
    n: usize,
    features: &RowFeatures,
    pass: &Pass<'_>,
) -> Result<FeatureSums> {
    let (mut sum, watch) = (features.empty(), pass.watch);
    watch.step("moments of features", 0, n)?;
    rows.each(ALL, pass, &mut |chunk, from| {
        let part = rows.engine().complete(|| features.chunk_sums(chunk, from, watch))?;
        rows.engine().complete(|| sum.merge(&part))?;
        watch.step("moments of features", from + chunk.n_rows(), n)
    })?;
    rows.engine().complete(|| Ok(features.finish(sum)))
}

/// What is found for each row, `width` numbers, one chunk after the other.
pub(super) fn stacked(
    rows: &dyn Chunks,
    (n, width): (usize, usize),
    pass: &Pass<'_>,
    found: &mut dyn FnMut(AnyPoints<'_>, usize) -> Result<Matrix<f64>>,
) -> Result<Matrix<f64>> {
    let mut out = Matrix::zeros(n, width);
    rows.each(ALL, pass, &mut |chunk, from| {
        let part = found(chunk, from)?;
        if from + part.n_rows() > n {
            return Err(Error::data(
                format!("more than {n} rows"),
                "there were as many when they were counted",
                "The rows must stay the same while they are read",
            ));
        }
        let mut view = out.view_mut();
        (0..part.n_rows()).for_each(|i| view.row_mut(from + i).copy_from_slice(part.row(i)));
        Ok(())
    })?;
    Ok(out)
}

/// k(x, y) of rows x that come a chunk at a time with samples y.
pub(super) struct ChunkedCross<'a> {
    pub(super) rows: &'a dyn Chunks,
    pub(super) n_rows: usize,
    pub(super) kernel: &'a Kernel,
    pub(super) samples: &'a AnySamples,
}

impl ChunkedCross<'_> {
    /// What `found` makes of the values of each chunk, `width` numbers for each row.
    fn of_chunks(
        &self,
        width: usize,
        watch: &Watch,
        found: impl Fn(&dyn LinearOperator, &Watch) -> Result<Matrix<f64>>,
    ) -> Result<Matrix<f64>> {
        let silent = watch.silent();
        stacked(self.rows, (self.n_rows, width), &Pass::new(watch), &mut |chunk, from| {
            watch.step("projecting rows", from, self.n_rows)?;
            match self.samples {
                AnySamples::F32(y) => found(&CrossGram::new(self.kernel, chunk, y), &silent),
                AnySamples::F64(y) => found(&CrossGram::new(self.kernel, chunk, y), &silent),
            }
        })
    }
}

impl LinearOperator for ChunkedCross<'_> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.samples.n_rows()
    }

    fn unit_roundoff(&self) -> f64 {
        match self.samples {
            AnySamples::F32(_) => f32::UNIT_ROUNDOFF,
            AnySamples::F64(_) => f64::UNIT_ROUNDOFF,
        }
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let product = self.of_chunks(block.n_cols(), watch, |values, watch| {
            let mut part = Matrix::zeros(values.n_rows(), block.n_cols());
            values.apply(block, part.view_mut(), watch).map(|()| part)
        })?;
        out.copy_from(product.view());
        Ok(())
    }

    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        self.of_chunks(self.n_cols(), watch, |values, watch| values.to_dense(watch))
    }
}
