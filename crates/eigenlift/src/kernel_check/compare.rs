//! Two kernels compared on data: a kernel is proved valid there by exhibiting its feature map.

use crate::data::Points;
use crate::error::{Error, Result};
use crate::gram::BLOCK_ROWS;
use crate::kernel::{Kernel, KernelSpec};
use crate::progress::Watch;
use serde::Serialize;

/// How far two kernels differ on a data set.
#[derive(Clone, Debug, Serialize)]
pub struct KernelComparison {
    /// Largest |k₁ − k₂| over all pairs of rows.
    pub largest_difference: f64,
    /// Largest |k| of either.
    pub largest_value: f64,
    /// The pair of rows, counted from 1, where they differ most.
    pub at: (usize, usize),
    /// Whether they agree up to rounding: difference ≤ 64·eps·d·(largest value).
    pub equal: bool,
    /// Whether one of them is an explicit map φ, so that equality proves the other positive semi-definite here.
    pub exhibited: bool,
}

impl KernelComparison {
    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        let (difference, (i, j)) = (self.largest_difference, self.at);
        match (self.equal, self.exhibited) {
            (true, true) => format!(
                "equal on this data (largest difference {difference:.1e}): the kernel is valid here, because its feature \
                 map is exhibited"
            ),
            (true, false) => format!("equal on this data (largest difference {difference:.1e})"),
            (false, _) => format!("different: rows {i} and {j} give values that differ by {difference:.6e}"),
        }
    }
}

/// Compares two kernels on all pairs of rows, tile by tile.
///
/// Cost: n² evaluations of each.
///
/// # Errors
/// When a kernel cannot be computed on the data, and on cancellation.
pub fn compare(
    first: &KernelSpec,
    second: &KernelSpec,
    x: Points<'_, f64>,
    seed: u64,
    watch: &Watch,
) -> Result<KernelComparison> {
    let exhibited = [first, second].iter().any(|s| matches!(s, KernelSpec::Map(_)));
    let kernels = (Kernel::for_points(first, x.into(), seed)?, Kernel::for_points(second, x.into(), seed)?);
    let n = x.n_rows();
    let (mut difference, mut value, mut at) = (0.0f64, 0.0f64, (1, 1));
    for from in (0..n).step_by(BLOCK_ROWS) {
        watch.step("comparing kernels", from, n)?;
        let rows = x.rows(from..(from + BLOCK_ROWS).min(n));
        let (a, b) = (kernels.0.matrix(rows, x), kernels.1.matrix(rows, x));
        for (place, (u, v)) in a.as_slice().iter().zip(b.as_slice()).enumerate() {
            let gap = (u - v).abs();
            if !gap.is_finite() {
                return Err(Error::kernel(
                    format!(
                        "kernel values {u} and {v} for rows {} and {}",
                        from + place / n + 1,
                        place % n + 1
                    ),
                    "kernel values must be finite",
                    "Scale the data down or change the kernel's parameters",
                ));
            }
            value = value.max(u.abs()).max(v.abs());
            if gap > difference {
                (difference, at) = (gap, (from + place / n + 1, place % n + 1));
            }
        }
    }
    let equal = difference <= 64.0 * f64::EPSILON * x.n_cols() as f64 * value;
    Ok(KernelComparison { largest_difference: difference, largest_value: value, at, equal, exhibited })
}
