//! The error of features on some entries of the Gram matrix, docs/theory (K48).

use super::FeatureMap;
use crate::data::{AnyPoints, Csr, Points, Samples};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};
use crate::real::Real;
use serde::{Deserialize, Serialize};

/// Rows whose pairs are looked at.
const PROBED_ROWS: usize = 200;

/// How far inner products of features were from the kernel on pairs of different rows, (K48).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampledError {
    /// Pairs looked at; 0 when there are fewer than two rows.
    pub pairs: usize,
    /// Root mean square of ⟨φ(x),φ(y)⟩ − k(x,y).
    pub rms: f64,
    /// Largest |⟨φ(x),φ(y)⟩ − k(x,y)|.
    pub largest: f64,
    /// Root mean square of k(x,y), which `rms` is to be compared with.
    pub rms_kernel: f64,
}

impl SampledError {
    /// rms/rms_kernel; 0 when both are.
    pub(crate) fn relative(&self) -> f64 {
        if self.rms == 0.0 { 0.0 } else { self.rms / self.rms_kernel }
    }
}

impl FeatureMap {
    /// The error of entries on all pairs among at most 200 rows, drawn by global row index, (K48). For random features it is
    /// an estimate for the whole matrix; `kernel` must be the kernel that the map was made for.
    ///
    /// Cost: features of 200 rows and 200² entries of the kernel.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub(crate) fn sampled_error(&self, kernel: &Kernel, x: AnyPoints<'_>, seed: u64) -> Result<SampledError> {
        let mut random = Stream::new(seed, Purpose::Probes);
        let rows = random.rows(x.n_rows(), PROBED_ROWS);
        let probes = match x {
            AnyPoints::F32(x) => gather(x, &rows),
            AnyPoints::F64(x) => gather(x, &rows),
        };
        let features = self.apply(probes.points().into())?;
        let exact = kernel.matrix(probes.points(), probes.points());
        let mut error = Matrix::zeros(rows.len(), rows.len());
        let (left, right) = (Factor::Plain(features.view()), Factor::Transposed(features.view()));
        gemm(error.view_mut(), Onto::Replace, 1.0, left, right);
        let (mut squares, mut kernel_squares, mut largest) = (0.0, 0.0, 0.0f64);
        for i in 0..rows.len() {
            for j in 0..i {
                let difference = error[(i, j)] - exact[(i, j)];
                squares += difference * difference;
                kernel_squares += exact[(i, j)].powi(2);
                largest = largest.max(difference.abs());
            }
        }
        let pairs = rows.len() * rows.len().saturating_sub(1) / 2;
        let mean = |sum: f64| (sum / pairs.max(1) as f64).sqrt();
        Ok(SampledError { pairs, rms: mean(squares), largest, rms_kernel: mean(kernel_squares) })
    }
}

/// The rows named, in double precision; sparse rows stay sparse.
fn gather<T: Real>(x: Points<'_, T>, rows: &[usize]) -> Samples<f64> {
    if let Points::Sparse(sparse) = x {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in rows {
            let (row_columns, row_values) = sparse.row(*i);
            columns.extend_from_slice(row_columns);
            values.extend(row_values.iter().map(|v| v.f64()));
            offsets.push(values.len());
        }
        if let Ok(csr) = Csr::new(offsets, columns, values, x.n_cols()) {
            return csr.into();
        }
    }
    let mut out = Matrix::zeros(rows.len(), x.n_cols());
    let mut view = out.view_mut();
    rows.iter().enumerate().for_each(|(at, i)| x.copy_row(*i, view.row_mut(at)));
    out.into()
}
