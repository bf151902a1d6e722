//! Gram matrices as operators: stored by tiles, or computed tile by tile and never stored.

mod cross;
mod given;
mod pair;
mod schedule;
mod symmetric;

pub use cross::CrossGram;
pub(crate) use given::{asymmetry, check_gram_matrix, check_magnitude, symmetry_allowance};
pub use pair::{Pair, PairProducts};
pub use symmetric::{Similarity, Storage, SymmetricGram, stored_bytes};

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
