//! Gram matrices as operators: stored by tiles, or computed tile by tile and never stored.

mod cross;
mod given;
mod pair;
mod schedule;
mod symmetric;

pub(crate) use cross::CrossGram;
pub(crate) use given::{asymmetry, check_gram_matrix, check_magnitude, symmetry_allowance};
pub use pair::{Pair, PairProducts};
pub use symmetric::{Similarity, Storage, SymmetricGram, stored_bytes};

use crate::data::AnyPoints;
use crate::real::Real;
use std::sync::Mutex;

/// Rows in a block. A tile of 192 × 192 doubles is 288 KiB: it stays in the second-level cache while it is used twice.
pub const BLOCK_ROWS: usize = 192;

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

/// Space for one tile and for its product with a block of vectors.
#[derive(Debug)]
pub(crate) struct TileSpace<T> {
    pub(crate) tile: Vec<T>,
    pub(crate) product: Vec<T>,
    pub(crate) kernel: crate::kernel::Workspace<T>,
}

impl<T: Real> Default for TileSpace<T> {
    fn default() -> Self {
        Self { tile: Vec::new(), product: Vec::new(), kernel: Default::default() }
    }
}

/// k(x,x) of each row, in the calling thread. Row i of a precomputed matrix, counted from `first_row`, holds its own value at place i.
pub(crate) fn diagonal_of(similarity: &Similarity, x: AnyPoints<'_>, first_row: usize, out: &mut [f64]) {
    match (similarity, x) {
        (Similarity::Kernel(kernel), AnyPoints::F32(x)) => kernel.diagonal(x, out),
        (Similarity::Kernel(kernel), AnyPoints::F64(x)) => kernel.diagonal(x, out),
        (Similarity::Precomputed, x) => {
            let mut row = vec![0.0; x.n_cols()];
            for (i, own) in out.iter_mut().enumerate() {
                x.copy_row(i, &mut row);
                *own = row.get(first_row + i).copied().unwrap_or(f64::NAN);
            }
        }
    }
}
