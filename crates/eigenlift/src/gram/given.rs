//! Gram matrices that are given: square, symmetric, and of numbers whose squares are still numbers.

use crate::data::AnySamples;
use crate::error::{Error, Result};

/// Kernel values whose squares, times the square of rounding, are still numbers.
const LEAST_KERNEL_VALUE: f64 = 1e-130;

/// Refuses kernel values whose sums of squares overflow, or whose squares underflow: every norm would be infinite or zero, and
/// every bound made of them false.
pub(crate) fn check_magnitude(largest: f64, n: usize) -> Result<()> {
    if largest > 0.0 && largest < LEAST_KERNEL_VALUE {
        return Err(Error::kernel(
            format!("kernel values of at most {largest:.1e}"),
            format!("the largest must exceed {LEAST_KERNEL_VALUE:e}, so that squares do not underflow"),
            "Multiply the data by a large number, or change the kernel's parameters",
        ));
    }
    if (largest * n as f64).powi(2).is_finite() || !largest.is_finite() {
        return Ok(());
    }
    Err(Error::kernel(
        format!("kernel values as large as {largest:.1e}"),
        "sums of their squares must stay below 1e308",
        "Scale the data down or change the kernel's parameters",
    ))
}

/// Where a matrix differs most from its transpose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asymmetry {
    pub(crate) relative: f64,
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) there: f64,
    pub(crate) back: f64,
}

/// Relative asymmetry that rounding explains in the given precision.
pub(crate) fn symmetry_allowance(x: &AnySamples) -> f64 {
    if x.precision() == "f32" { 1e-5 } else { 1e-10 }
}

/// Compares a given Gram matrix with its transpose.
pub(crate) fn asymmetry(x: &AnySamples) -> Result<Asymmetry> {
    let (n, points) = (x.n_rows(), x.points());
    if x.n_cols() != n {
        return Err(Error::data(
            format!("a precomputed Gram matrix of {n} rows and {} columns", x.n_cols()),
            "it must be square, one row and one column for each sample",
            "Pass the n × n matrix of kernel values, or choose a kernel to compute it from rows",
        ));
    }
    let dense = points.to_dense::<f64>();
    let largest = dense.as_slice().iter().map(|v| v.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let mut worst = Asymmetry::default();
    for row in 0..n {
        for column in 0..row {
            let (there, back) = (dense[(row, column)], dense[(column, row)]);
            let relative = (there - back).abs() / largest;
            if relative > worst.relative {
                worst = Asymmetry { relative, row, column, there, back };
            }
        }
    }
    Ok(worst)
}

/// Square and symmetric up to rounding in the given precision.
pub(crate) fn check_gram_matrix(x: &AnySamples) -> Result<()> {
    let report = asymmetry(x)?;
    if report.relative <= symmetry_allowance(x) {
        return Ok(());
    }
    Err(Error::data(
        format!(
            "a Gram matrix with {} at row {}, column {} and {} across the diagonal",
            report.there,
            report.row + 1,
            report.column + 1,
            report.back
        ),
        "it must be symmetric",
        "Compute it with a symmetric kernel, or average it with its transpose",
    ))
}
