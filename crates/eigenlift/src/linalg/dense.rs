//! Decompositions of dense matrices, in one thread, so that their bits repeat.
//!
//! faer works in memory that is taken here, so that memory that the system refuses unwinds to the nearest
//! [`guard`](crate::memory::guard) instead of ending the process.

use crate::memory::granted;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Conj, Mat, MatRef, Par};

/// What faer works in.
pub(super) fn workspace(request: StackReq) -> MemBuffer {
    granted(request.unaligned_bytes_required(), || MemBuffer::try_new(request).ok())
}

/// A matrix by columns.
pub(super) fn columns(rows: usize, count: usize, entry: impl FnMut(usize, usize) -> f64) -> Mat<f64> {
    let mut out = Mat::new();
    let bytes = rows.saturating_mul(count).saturating_mul(size_of::<f64>());
    granted(bytes, || out.try_reserve(rows, count).ok());
    out.resize_with(rows, count, entry);
    out
}

fn zeros(rows: usize, count: usize) -> Mat<f64> {
    columns(rows, count, |_, _| 0.0)
}

/// Eigenvalues of a symmetric matrix, smallest first, and eigenvectors as columns; `None` when the iteration does not converge.
pub(super) fn eigen(a: MatRef<'_, f64>) -> Option<(Diag<f64>, Mat<f64>)> {
    let (n, settings) = (a.nrows(), Default::default());
    let (mut values, mut vectors) = (Diag::zeros(n), zeros(n, n));
    let mut memory =
        workspace(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, settings));
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(a, values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, settings).ok()?;
    Some((values, vectors))
}

/// Eigenvalues of a symmetric matrix, smallest first; `None` when the iteration does not converge.
pub(super) fn eigenvalues(a: MatRef<'_, f64>) -> Option<Diag<f64>> {
    let (n, settings) = (a.nrows(), Default::default());
    let mut values = Diag::zeros(n);
    let mut memory =
        workspace(self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, Par::Seq, settings));
    self_adjoint_evd(a, values.as_mut(), None, Par::Seq, MemStack::new(&mut memory), settings).ok()?;
    Some(values)
}

/// Singular values, largest first, and right singular vectors as columns; `None` when the iteration does not converge.
pub(super) fn right_singular(a: MatRef<'_, f64>) -> Option<(Diag<f64>, Mat<f64>)> {
    let (m, n, thin, settings) = (a.nrows(), a.ncols(), ComputeSvdVectors::Thin, Default::default());
    let count = m.min(n);
    let (mut values, mut left, mut right) = (Diag::zeros(count), zeros(m, count), zeros(n, count));
    let mut memory = workspace(svd_scratch::<f64>(m, n, thin, thin, Par::Seq, settings));
    let stack = MemStack::new(&mut memory);
    svd(a, values.as_mut(), Some(left.as_mut()), Some(right.as_mut()), Par::Seq, stack, settings).ok()?;
    Some((values, right))
}

/// Householder's decomposition A = QR: R above the diagonal, the reflections below it, and their coefficients.
pub(super) struct Qr {
    factors: Mat<f64>,
    coefficients: Mat<f64>,
}

impl Qr {
    pub(super) fn new(a: MatRef<'_, f64>) -> Self {
        let (m, n, settings) = (a.nrows(), a.ncols(), Default::default());
        let block = recommended_block_size::<f64>(m, n);
        let (mut factors, mut coefficients) = (columns(m, n, |i, j| a[(i, j)]), zeros(block, m.min(n)));
        let mut memory = workspace(qr_in_place_scratch::<f64>(m, n, block, Par::Seq, settings));
        qr_in_place(factors.as_mut(), coefficients.as_mut(), Par::Seq, MemStack::new(&mut memory), settings);
        Self { factors, coefficients }
    }

    /// Entry of R, for i ≤ j.
    pub(super) fn r(&self, i: usize, j: usize) -> f64 {
        self.factors[(i, j)]
    }

    /// The first columns of Q, as many as the shorter side of A.
    pub(super) fn thin_q(&self) -> Mat<f64> {
        let (m, n) = (self.factors.nrows(), self.factors.ncols().min(self.factors.nrows()));
        let mut q = columns(m, n, |i, j| f64::from(u8::from(i == j)));
        let mut memory = workspace(apply_scratch::<f64>(m, self.coefficients.nrows(), n));
        let (basis, stack) = (self.factors.get(.., ..n), MemStack::new(&mut memory));
        apply(basis, self.coefficients.as_ref(), Conj::No, q.as_mut(), Par::Seq, stack);
        q
    }
}
