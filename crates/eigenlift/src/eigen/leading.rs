//! The leading eigenpairs of a matrix that is written out: all of them directly, or a few by iteration.

use super::{Davidson, Dense, EigenPairs, Eigensolver, SolveOptions};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::operator::Explicit;
use crate::progress::Watch;

/// Up to this many features all axes are computed directly.
const DENSE_FEATURES: usize = 320;
/// Relative residual of axes that are computed iteratively.
const AXIS_TOLERANCE: f64 = 1e-12;
/// Steps after which all axes are computed directly after all.
const MOST_STEPS: usize = 60;

/// Whether all eigenpairs of a matrix of m rows are found where k of them are wanted.
pub(crate) fn is_direct(m: usize, k: usize) -> bool {
    m <= DENSE_FEATURES || k.saturating_mul(5) >= m
}

/// Eigenpairs of a symmetric positive semi-definite matrix with the k largest eigenvalues, and its Frobenius norm. Residuals
/// are estimates.
///
/// Cost: 9m³ flops for small m or many pairs, about 100·m²k otherwise.
pub(crate) fn leading_eigenpairs(a: &Matrix<f64>, k: usize, watch: &Watch) -> Result<(EigenPairs, f64)> {
    let m = a.n_rows();
    let how = SolveOptions {
        deflate: None,
        start: None,
        sketch: None,
        tolerance: AXIS_TOLERANCE,
        norm_bound: a.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt(),
        max_passes: MOST_STEPS,
        verify: false,
        basis: true,
        seed: 0,
        watch,
    };
    let operator = Explicit(a);
    let direct = || Dense { by_magnitude: false }.largest(&operator, k.min(m), &how);
    let pairs = if is_direct(m, k) {
        direct()?
    } else {
        match Davidson.largest(&operator, k, &how) {
            Err(Error::NotConverged { .. }) => direct()?,
            other => other?,
        }
    };
    Ok((pairs, how.norm_bound))
}
