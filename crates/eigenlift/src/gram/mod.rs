//! Gram matrices as operators: stored by tiles, or computed tile by tile and never stored.

mod cross;
mod schedule;
mod symmetric;

pub use cross::CrossGram;
pub use symmetric::{Similarity, Storage, SymmetricGram, stored_bytes};

use crate::linalg::{Factor, Panels, multiply};
use crate::matrix::{MatMut, MatRef};
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Mutex;

/// Rows in a block. A tile of 144 × 144 doubles is 162 KiB: it stays in the second-level cache while it is used twice. Whole
/// groups of six rows; and rows of nine or eighteen cache lines, so that a column of a tile meets every part of the nearest
/// cache, or every second one.
pub(crate) const BLOCK_ROWS: usize = 144;

/// Rows of block `b` out of `n` rows.
pub(crate) fn block_rows(b: usize, n: usize) -> std::ops::Range<usize> {
    b * BLOCK_ROWS..((b + 1) * BLOCK_ROWS).min(n)
}

/// Memory that threads take and give back, so that tiles are computed without allocating.
#[derive(Debug, Default)]
pub(crate) struct Scratch<W>(Mutex<Vec<W>>);

impl<W: Default> Scratch<W> {
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut W) -> R) -> R {
        let taken = self.0.lock().ok().and_then(|mut pool| pool.pop());
        let mut space = taken.unwrap_or_default();
        let result = work(&mut space);
        if let Ok(mut pool) = self.0.lock() {
            pool.push(space);
        }
        result
    }
}

/// Space for one tile.
#[derive(Debug, Default)]
pub(crate) struct TileSpace<T> {
    pub(crate) tile: Vec<T>,
    pub(crate) kernel: crate::kernel::Workspace<T>,
}

/// A block of vectors in the precision of the tiles, each block of rows packed for products.
pub(crate) fn packed<T: Real>(v: MatRef<'_, f64>) -> Vec<Panels<T>> {
    let n = v.n_rows();
    (0..n.div_ceil(BLOCK_ROWS)).into_par_iter().map(|b| Panels::of(v.rows(block_rows(b, n)))).collect()
}

/// y ← y + P·v, P in tile precision and y in double precision.
pub(crate) fn accumulate<T: Real>(tile: Factor<'_, T>, v: &Panels<T>, y: &mut MatMut<'_, f64>) {
    multiply(tile, v, |row, from, sums| {
        let y = &mut y.row_mut(row)[from..from + sums.len()];
        y.iter_mut().zip(sums).for_each(|(y, s)| *y += s.f64());
    });
}
