//! The smallest eigenvalue alone, as far as it matters: whether it is negative, and how much.

use super::{Davidson, Eigensolver, SolveOptions, SolveStats, lowest_ritz_value, residual_floor};
use crate::error::{Error, Result};
use crate::matrix::{MatMut, MatRef};
use crate::operator::LinearOperator;
use crate::progress::Watch;

/// Passes of the look for negative eigenvalues.
pub(crate) const LOOK_PASSES: usize = 8;
/// The smallest eigenvalue is found to this share of the largest.
pub(crate) const RESOLUTION: f64 = 1e-8;

/// −A.
pub(crate) struct Negated<'a>(pub(crate) &'a dyn LinearOperator);

impl LinearOperator for Negated<'_> {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.0.n_cols()
    }

    fn unit_roundoff(&self) -> f64 {
        self.0.unit_roundoff()
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        self.0.apply(block, out.reborrow(), watch)?;
        for i in 0..out.n_rows() {
            out.row_mut(i).iter_mut().for_each(|x| *x = -*x);
        }
        Ok(())
    }
}

/// The smallest eigenvalue and what it took: to three digits or to `resolution`, whichever is coarser, when it is negative and
/// stands apart; else the lowest Ritz value of a few passes. So a matrix that is positive is not searched for the one lowest
/// among many.
pub(crate) fn lowest_eigenvalue(
    operator: &dyn LinearOperator,
    how: &SolveOptions<'_>,
    resolution: f64,
) -> Result<(f64, SolveStats)> {
    // The floor of rounding is what the solver takes for converged: raising the norm raises it to the resolution.
    let unit = residual_floor(operator.n_rows(), 1.0, operator.unit_roundoff());
    let norm_bound = how.norm_bound.max(resolution / unit);
    let how =
        SolveOptions { start: None, sketch: None, tolerance: 1e-3, norm_bound, verify: true, ..how.clone() };
    let (seen, spent) = lowest_ritz_value(operator, &how, LOOK_PASSES)?;
    if seen >= -resolution {
        return Ok((seen, spent));
    }
    match Davidson.largest(&Negated(operator), 1, &how) {
        Ok(pairs) => Ok((-pairs.values.first().copied().unwrap_or(0.0), pairs.stats.and(spent))),
        // Negative ones in a crowd: none stands apart, and this is close to the edge.
        Err(Error::NotConverged { .. }) => Ok((seen, spent)),
        Err(other) => Err(other),
    }
}
