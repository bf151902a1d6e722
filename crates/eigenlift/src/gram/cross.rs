//! The matrix of similarities between new rows and samples.

use super::symmetric::{accumulate, rounded};
use super::{BLOCK_ROWS, Scratch, TileSpace, block_rows};
use crate::data::{AnyPoints, Points, Samples};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::linalg::Factor;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::resize;
use crate::operator::LinearOperator;
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// k(xᵢ, yⱼ) for new rows x and samples y, computed tile by tile and never stored.
///
/// New rows may be in another precision than the samples; they are converted a block at a time.
pub(crate) struct CrossGram<'a, T> {
    kernel: &'a Kernel,
    x: AnyPoints<'a>,
    samples: &'a Samples<T>,
    scratch: Scratch<TileSpace<T>>,
}

impl<'a, T: Real> CrossGram<'a, T> {
    /// The matrix between `x` and `samples`.
    pub(crate) fn new(kernel: &'a Kernel, x: AnyPoints<'a>, samples: &'a Samples<T>) -> Self {
        Self { kernel, x, samples, scratch: Scratch::default() }
    }

    fn apply_block(
        &self,
        rows: Points<'_, T>,
        block: MatRef<'_, T>,
        mut out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<()> {
        let points = self.samples.points();
        let n = points.n_rows();
        out.fill(0.0);
        self.scratch.with(|space| {
            for b in 0..n.div_ceil(BLOCK_ROWS) {
                watch.check()?;
                let range = block_rows(b, n);
                let mut tile = std::mem::take(&mut space.tile);
                resize(&mut tile, rows.n_rows() * range.len(), T::ZERO);
                self.kernel.tile(rows, points.rows(range.clone()), &mut tile, &mut space.kernel);
                let view = MatRef::new(&tile, rows.n_rows(), range.len())?;
                accumulate(Factor::Plain(view), block.rows(range), out.reborrow(), &mut space.product)?;
                space.tile = tile;
            }
            Ok(())
        })
    }
}

impl<T: Real> CrossGram<'_, T> {
    fn write_block(&self, rows: Points<'_, T>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let points = self.samples.points();
        let n = points.n_rows();
        self.scratch.with(|space| {
            for b in 0..n.div_ceil(BLOCK_ROWS) {
                watch.check()?;
                let range = block_rows(b, n);
                resize(&mut space.tile, rows.n_rows() * range.len(), T::ZERO);
                self.kernel.tile(rows, points.rows(range.clone()), &mut space.tile, &mut space.kernel);
                for (i, values) in space.tile.chunks_exact(range.len()).enumerate() {
                    let into = &mut out.row_mut(i)[range.clone()];
                    into.iter_mut().zip(values).for_each(|(o, v)| *o = v.f64());
                }
            }
            Ok(())
        })
    }
}

impl<T: Real> LinearOperator for CrossGram<'_, T> {
    fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.samples.n_rows()
    }

    fn unit_roundoff(&self) -> f64 {
        T::UNIT_ROUNDOFF
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let n = self.n_rows();
        let mut space = Matrix::default();
        let block = rounded(block, &mut space)?;
        let finished = AtomicUsize::new(0);
        out.row_chunks(BLOCK_ROWS).into_par_iter().enumerate().with_max_len(1).try_for_each(|(b, out)| {
            let rows = self.x.rows(block_rows(b, n));
            match rows.exactly::<T>() {
                Some(rows) => self.apply_block(rows, block, out, watch)?,
                None => {
                    let converted: Matrix<T> = rows.to_dense();
                    self.apply_block(Points::Dense(converted.view()), block, out, watch)?;
                }
            }
            let done = finished.fetch_add(1, Ordering::Relaxed) + 1;
            watch.step("projecting rows", done, n.div_ceil(BLOCK_ROWS))
        })
    }

    /// k(xᵢ, yⱼ) written out, each value computed once.
    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        let n = self.n_rows();
        let mut out = Matrix::zeros(n, self.n_cols());
        let blocks = out.view_mut().row_chunks(BLOCK_ROWS).into_par_iter().enumerate().with_max_len(1);
        blocks.try_for_each(|(b, out)| {
            let rows = self.x.rows(block_rows(b, n));
            match rows.exactly::<T>() {
                Some(rows) => self.write_block(rows, out, watch),
                None => {
                    let converted: Matrix<T> = rows.to_dense();
                    self.write_block(Points::Dense(converted.view()), out, watch)
                }
            }
        })?;
        Ok(out)
    }
}
