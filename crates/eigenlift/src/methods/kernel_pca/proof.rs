//! That no larger eigenvalue was missed: from the solver's basis, or for few samples from the matrix itself, docs/theory (K39).

use crate::eigen::{BasisProducts, Sizes};
use crate::linalg::inertia::most_above;
use crate::matrix::Matrix;
use crate::operator::{Centered, GramOperator, GramSummary, LinearOperator};
use crate::progress::Watch;
use std::cell::{Cell, OnceCell};

/// Up to this many samples the matrix itself is factored where the basis does not decide: n³/3 flops.
pub(super) const FACTORED_SAMPLES: usize = 2048;
/// Factorizations that one certificate takes.
const MOST_FACTORIZATIONS: usize = 4;
/// Bytes of the matrix of n samples and of its factor.
pub(super) fn proof_bytes(n: usize) -> u128 {
    2 * 8 * (n as u128) * (n as u128)
}

/// Error of a product with a block in units of the error of an entry: sums along a tile are in its precision.
const PRODUCT: f64 = 8.0;

/// Error of a kernel entry in units of roundoff, relative to √(kᵢᵢkⱼⱼ), for samples of d features: inner product, distance and
/// profile together. Errors of an inner product grow as √d.
pub(super) fn entry_error(n_features: usize) -> f64 {
    32.0 + 4.0 * (n_features as f64).sqrt()
}

/// Counts eigenvalues of K_c above a number.
pub(super) struct Proof<'a> {
    gram: &'a dyn GramOperator,
    basis: Option<BasisProducts>,
    sizes: Sizes,
    /// The rounding error of entries in units of roundoff, times the size of the matrix.
    entries: f64,
    /// Bytes that may still be taken.
    free_bytes: u128,
    watch: &'a Watch,
    dense: OnceCell<Option<Matrix<f64>>>,
    factorizations: Cell<usize>,
}

impl<'a> Proof<'a> {
    /// From what a pass over the matrix summed. `entries` is the error of entries in units of roundoff, times the size of the
    /// matrix; `valid` says whether it is positive semi-definite.
    pub(super) fn new(
        gram: &'a dyn GramOperator,
        summary: &GramSummary,
        basis: Option<BasisProducts>,
        (entries, valid): (f64, bool),
        (free_bytes, watch): (u128, &'a Watch),
    ) -> Self {
        let rounding = entries * gram.unit_roundoff();
        let trace = summary.centered_trace() + trace_error(summary, rounding);
        let error = basis.as_ref().map_or(0.0, |basis| PRODUCT * entries * basis.unit_roundoff());
        let norm = summary.centered_squared_norm_bound().sqrt() + rounding;
        let sizes = Sizes { norm, trace: valid.then_some(trace), error };
        Self {
            gram,
            basis,
            sizes,
            entries,
            free_bytes,
            watch,
            dense: OnceCell::new(),
            factorizations: Cell::new(0),
        }
    }

    /// Whether it can be shown that at most `limit` eigenvalues of K_c exceed `t`.
    pub(super) fn at_most(&self, t: f64, limit: usize) -> bool {
        let by_basis = self.basis.as_ref().and_then(|basis| basis.most_above(t, &self.sizes));
        if by_basis.is_some_and(|count| count <= limit) {
            return true;
        }
        if self.factorizations.get() >= MOST_FACTORIZATIONS {
            return false;
        }
        let Some(dense) = self.dense.get_or_init(|| self.written_out()) else { return false };
        self.factorizations.set(self.factorizations.get() + 1);
        let rounding = self.entries * self.gram.unit_roundoff();
        most_above(dense, t - rounding).is_some_and(|count| count <= limit)
    }

    /// K_c, for few samples and where memory allows it and its factor.
    fn written_out(&self) -> Option<Matrix<f64>> {
        let n = self.gram.n_rows();
        if n > FACTORED_SAMPLES || proof_bytes(n) > self.free_bytes {
            return None;
        }
        Centered::new(self.gram).to_dense(self.watch).ok()
    }
}

/// How far tr(K_c) may be off: sums and entries together.
pub(super) fn trace_error(summary: &GramSummary, rounding: f64) -> f64 {
    summary.centered_trace_error() + 2.0 * rounding
}
