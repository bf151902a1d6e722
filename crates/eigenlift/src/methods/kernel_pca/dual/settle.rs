//! What happens when the iteration does not converge: the dense solver takes over where it fits.

use super::super::schedule::{LOWEST_PASSES, passes_of_dense, switch_fits};
use super::{DualProblem, certified_pairs};
use crate::eigen::{
    EigenPairs, LOOK_PASSES, Negated, RESOLUTION, SolveOptions, SolveStats, lowest_eigenvalue,
    lowest_ritz_value, rank_threshold,
};
use crate::error::{Error, Result};
use crate::model::{Lift, Plan, Solver};
use crate::operator::{Centered, GramSummary};

/// Eigenpairs whose residuals come from a product with the matrix itself, and its sums.
pub(super) struct Settled {
    pub(super) pairs: EigenPairs,
    pub(super) summary: GramSummary,
    /// Why the dense solver took over, where it did.
    pub(super) switched: Option<String>,
}

/// Eigenpairs by the planned solver; by the dense one when the iteration would take longer and all eigenpairs fit.
pub(super) fn pairs(problem: &mut DualProblem<'_>, plan: &Plan, how: &SolveOptions<'_>) -> Result<Settled> {
    let fits = || switch_fits(plan.n_samples, u128::from(plan.bytes_needed), plan.bytes_allowed);
    let can_switch = problem.may_switch && plan.solver == Solver::Davidson && fits();
    let worth = if can_switch { passes_of_dense(plan.n_samples, plan.n_components) } else { f64::INFINITY };
    let (passes, residual) = match certified_pairs(problem, plan, (how, worth)) {
        Ok((pairs, summary)) => return Ok(Settled { pairs, summary, switched: None }),
        Err(Error::NotConverged { passes, residual, .. }) if can_switch => (passes, residual),
        Err(error @ Error::NotConverged { .. }) => return Err(explained(error, problem, plan, how)),
        Err(other) => return Err(other),
    };
    // A kernel value that is not finite keeps every solver from converging: this names it.
    problem.gram.summary(how.watch)?;
    let direct = Plan { solver: Solver::Dense, ..plan.clone() };
    problem.release();
    let (mut pairs, summary) = certified_pairs(problem, &direct, (how, f64::INFINITY))?;
    pairs.stats.passes += passes as usize;
    let switched = Some(format!(
        "block Davidson had not converged after {passes:.0} passes (worst relative residual {residual:.1e}), and more would have \
         taken longer than the dense solver, which computed all eigenpairs instead"
    ));
    Ok(Settled { pairs, summary, switched })
}

/// The lowest eigenvalue as a sentence needs it. A draft is searched first, as it is at hand: what is negative there beyond its
/// rounding is negative.
pub(super) fn lowest(
    problem: &DualProblem<'_>,
    how: &SolveOptions<'_>,
    largest: f64,
    threshold: f64,
) -> Result<(f64, SolveStats)> {
    let how = SolveOptions { max_passes: LOWEST_PASSES, ..how.clone() };
    let resolution = threshold.max(RESOLUTION * largest.abs());
    let mut before = SolveStats::default();
    if let Some(draft) = problem.draft.as_deref() {
        let rough = rank_threshold(draft.n_rows(), largest, how.norm_bound, draft.unit_roundoff());
        let (lowest, spent) = lowest_eigenvalue(&Centered::new(draft), &how, resolution.max(rough))?;
        if lowest < -10.0 * rough {
            return Ok((lowest, spent));
        }
        before = spent;
    }
    let (lowest, spent) = lowest_eigenvalue(&Centered::new(&*problem.gram), &how, resolution)?;
    Ok((lowest, before.and(spent)))
}

/// No convergence for a reason that can be named: no eigenvalue is positive.
fn explained(error: Error, problem: &DualProblem<'_>, plan: &Plan, how: &SolveOptions<'_>) -> Error {
    if problem.known_valid {
        return error;
    }
    let how = SolveOptions { start: None, sketch: None, ..how.clone() };
    match lowest_ritz_value(&Negated(&Centered::new(&*problem.gram)), &how, LOOK_PASSES) {
        Ok((negated, _)) if negated > 0.0 => none_positive(plan, -negated),
        _ => error,
    }
}

/// What all kernel values have in common is so large that its rounding hides components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hidden {
    /// tr K as a multiple of tr K_c.
    ratio: f64,
}

/// How sentences about it begin.
const COMMON_PART: &str = "kernel values have a common part";
/// From this ratio on the common part is named as the reason.
const HIDING: f64 = 1e3;

impl Hidden {
    /// From tr K and tr K_c.
    pub(crate) fn of(trace: f64, centered: f64) -> Option<Self> {
        let ratio = (trace / centered).abs();
        (ratio > HIDING).then_some(Self { ratio })
    }

    /// Names the column that is to blame, among these rows, after a sentence of this kind; `names` are those of the columns, if they have any.
    pub(crate) fn name_column(warnings: &mut Vec<String>, lift: &Lift, names: &[String]) {
        let Lift::Kernel { kernel, samples } = lift else { return };
        if !warnings.iter().any(|warning| warning.starts_with(COMMON_PART)) {
            return;
        }
        let Some(far) = kernel.far_column(samples.points()) else { return };
        let column = names.get(far.column).map_or(format!("{}", far.column + 1), |name| format!("{name:?}"));
        warnings.push(format!(
            "column {column} adds most to it, with the mean {:.3e} and the standard deviation {:.1e}: subtract its mean",
            far.mean, far.spread
        ));
    }

    /// What is lost, for eigenvalues that count as zero up to the threshold.
    pub(crate) fn sentence(self, threshold: f64) -> String {
        format!(
            "{COMMON_PART} {:.0e} times as large as what centring leaves: components with eigenvalues below \
             {threshold:.1e} are lost in its rounding; center or standardize the columns",
            self.ratio
        )
    }

    /// What the rounding of kernel values in this precision may do to eigenvalues.
    pub(crate) fn rounding_sentence(self, rounding: f64, precision: &str) -> String {
        let double = if precision == "f64" { "" } else { ", or use double precision" };
        format!(
            "{COMMON_PART} {:.0e} times as large as what centring leaves: its rounding in {precision} may \
             change eigenvalues by up to {rounding:.1e}; center or standardize the columns{double}",
            self.ratio
        )
    }
}

/// What to do about a matrix without variance.
pub(crate) fn no_variance_action(hidden: Option<Hidden>) -> &'static str {
    match hidden {
        Some(_) => {
            "All samples look the same to this kernel, up to the rounding of what all kernel values have in common: check for \
             constant columns, center or standardize the columns, or use double precision"
        }
        None => {
            "All samples look the same to this kernel: check for constant columns, or change its parameters"
        }
    }
}

/// A matrix without a positive eigenvalue.
pub(super) fn none_positive(plan: &Plan, largest: f64) -> Error {
    Error::kernel(
        format!(
            "{}: no eigenvalue of the centered kernel matrix is positive, the largest is {largest:.6e}",
            plan.kernel
        ),
        "a kernel must have a positive one",
        "Change the sign of the kernel, or choose repair flip, which takes eigenvalues by magnitude",
    )
}
