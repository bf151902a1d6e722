//! Whether leading eigenpairs are found directly, all of them, or by iteration: decided here for every method. And those of a matrix that
//! is written out.

use super::{Davidson, Dense, EigenPairs, Eigensolver, SolveOptions};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::operator::Explicit;
use crate::progress::Watch;

/// Components that are this share of all and more are found with all the others.
const SHARE: usize = 5;
/// Relative residual of axes that are computed iteratively.
const AXIS_TOLERANCE: f64 = 1e-12;
/// Steps after which all axes are computed directly after all.
const MOST_STEPS: usize = 60;

/// Where the entries of a symmetric matrix are, which says what a product with a block costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    /// In memory, made for this: moments of features, products of rows.
    Written,
    /// Kernel values, in tiles or computed in each product.
    Kernel,
    /// Between samples, in memory that is needed afterwards; a copy of them is not in the plan of many components.
    Between,
    /// Nowhere: each product is a pass over the rows.
    Passes,
}

impl Entries {
    /// Up to this order all eigenpairs are found directly.
    ///
    /// Why: the direct solver takes 9n³ flops in one thread, an iteration some dozen products that all threads share; kernel values add their
    /// own cost to each product.
    pub(crate) const fn few(self) -> usize {
        match self {
            Self::Written => 320,
            Self::Kernel | Self::Between => 512,
            Self::Passes => 0,
        }
    }

    /// Why all eigenpairs of a matrix of order n are found directly where k are wanted; `None` for an iteration.
    pub(crate) fn direct(self, n: usize, k: usize) -> Option<String> {
        if n <= self.few() {
            return Some(format!("{n} samples are few: all eigenpairs are computed directly"));
        }
        (self != Self::Between && k.saturating_mul(SHARE) >= n)
            .then(|| format!("{k} components are a large share of {n}: all eigenpairs are computed directly"))
    }
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
    let pairs = if Entries::Written.direct(m, k).is_some() {
        direct()?
    } else {
        match Davidson.largest(&operator, k, &how) {
            Err(Error::NotConverged { .. }) => direct()?,
            other => other?,
        }
    };
    Ok((pairs, how.norm_bound))
}
