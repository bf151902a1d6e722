//! A Gram matrix that counts what is read of it.

use eigenlift::error::Result;
use eigenlift::matrix::{MatMut, MatRef};
use eigenlift::operator::{GramOperator, GramSummary, LinearOperator};
use eigenlift::progress::Watch;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Passes everything on and counts entries and products.
pub struct Counting<'a> {
    inner: &'a dyn GramOperator,
    entries: AtomicUsize,
    products: AtomicUsize,
}

impl<'a> Counting<'a> {
    /// Counts what is read of `inner`.
    pub fn new(inner: &'a dyn GramOperator) -> Self {
        Self { inner, entries: AtomicUsize::new(0), products: AtomicUsize::new(0) }
    }

    /// Entries read one by one: diagonal, columns, corners.
    pub fn entries(&self) -> usize {
        self.entries.load(Ordering::Relaxed)
    }

    /// Matrix-vector products.
    pub fn products(&self) -> usize {
        self.products.load(Ordering::Relaxed)
    }

    fn read(&self, entries: usize) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
    }
}

impl LinearOperator for Counting<'_> {
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.inner.n_cols()
    }

    fn unit_roundoff(&self) -> f64 {
        self.inner.unit_roundoff()
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        self.products.fetch_add(block.n_cols(), Ordering::Relaxed);
        self.inner.apply(block, out, watch)
    }
}

impl GramOperator for Counting<'_> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        self.read(out.len());
        self.inner.diagonal(out)
    }

    fn columns(&self, indices: &[usize], out: MatMut<'_, f64>) -> Result<()> {
        self.read(indices.len() * self.inner.n_rows());
        self.inner.columns(indices, out)
    }

    fn corner(&self, indices: &[usize], out: MatMut<'_, f64>) -> Result<()> {
        self.read(indices.len() * indices.len());
        self.inner.corner(indices, out)
    }

    fn apply_and_sum(
        &self,
        block: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<GramSummary> {
        self.products.fetch_add(block.n_cols() + 1, Ordering::Relaxed);
        self.inner.apply_and_sum(block, out, watch)
    }

    fn summary(&self, watch: &Watch) -> Result<GramSummary> {
        self.inner.summary(watch)
    }
}
