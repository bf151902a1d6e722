//! The dual recipe: eigenpairs of a centred Gram matrix, with their certificate.

use crate::eigen::{
    Certificate, Davidson, Dense, EigenPairs, Eigensolver, Indefinite, Sketch, SolveOptions, SolveStats, fix_signs,
    rank_threshold,
};
use crate::error::{Error, Result};
use crate::low_rank::pivoted_cholesky;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::model::{Plan, Solver};
use crate::operator::{Centered, GramOperator, GramSummary, LinearOperator};
use crate::progress::Watch;

/// Passes after which the iteration gives up.
const MAX_PASSES: usize = 200;
/// Eigenvalues of the sketch below this share of its largest are rounding.
const SKETCH_SHARE: f64 = 1e-10;

/// What the recipe finds.
pub(crate) struct DualSolution {
    /// Eigenvalues of K_c (nλ), largest first; by magnitude when flipped.
    pub(crate) values: Vec<f64>,
    /// Unit eigenvectors over samples, signs fixed.
    pub(crate) vectors: Matrix<f64>,
    pub(crate) certificate: Certificate,
    pub(crate) summary: GramSummary,
    pub(crate) stats: SolveStats,
    pub(crate) warnings: Vec<String>,
}

/// Solves K_c v = θv for the plan's number of components, (K5).
pub(crate) fn solve(gram: &dyn GramOperator, plan: &Plan, watch: &Watch) -> Result<DualSolution> {
    let n = gram.n_rows();
    let summary = gram.summary(watch)?;
    let frobenius = summary.squared_norm.sqrt();
    let unit_roundoff = gram.unit_roundoff();
    let ones = Matrix::from_fn(n, 1, |_, _| (n as f64).sqrt().recip());
    let operator = Centered::new(gram);
    let sketch = sketch(gram, plan, watch)?;
    let how = SolveOptions {
        deflate: Some(ones.view()),
        sketch: sketch.as_ref(),
        tolerance: plan.tolerance,
        rounding_floor: unit_roundoff * frobenius,
        max_passes: MAX_PASSES,
        seed: plan.seed,
        watch,
    };
    let solver: Box<dyn Eigensolver> = match plan.solver {
        Solver::Dense => Box::new(Dense { by_magnitude: plan.repair == Indefinite::Flip }),
        Solver::Davidson => Box::new(Davidson),
    };
    let wanted = plan.n_components.min(n.saturating_sub(1));
    let mut pairs = solver.largest(&operator, wanted, &how)?;
    let largest = pairs.values.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let threshold = rank_threshold(n, largest, frobenius, unit_roundoff);
    let mut warnings = Vec::new();
    negative_policy(&operator, plan, &how, &pairs, threshold, &mut warnings)?;
    let mut certificate = Certificate::new(&pairs, unit_roundoff * frobenius);
    keep_existing(&mut pairs, &mut certificate, plan, threshold, &mut warnings)?;
    fix_signs(&mut pairs.vectors);
    let rough = certificate.residuals.iter().filter(|r| **r > plan.tolerance * 1.2).count();
    if rough > 0 {
        warnings.push(format!(
            "{rough} of {} components are so small that rounding limits their residual to {:.1e}",
            pairs.values.len(),
            certificate.worst_residual()
        ));
    }
    warnings.extend(certificate.tie_sentences());
    let EigenPairs { values, vectors, stats, .. } = pairs;
    Ok(DualSolution { values, vectors, certificate, summary, stats, warnings })
}

fn sketch(gram: &dyn GramOperator, plan: &Plan, watch: &Watch) -> Result<Option<Sketch>> {
    if plan.sketch_rank == 0 {
        return Ok(None);
    }
    let factor = pivoted_cholesky(gram, plan.sketch_rank, plan.seed, watch)?;
    if factor.pivots.is_empty() {
        return Ok(None);
    }
    let (values, vectors) = factor.centered_eigenpairs(SKETCH_SHARE)?;
    Ok((!values.is_empty()).then_some(Sketch { vectors, values }))
}

/// Drops components that are rounding, and those that a clipped kernel does not have.
fn keep_existing(
    pairs: &mut EigenPairs,
    certificate: &mut Certificate,
    plan: &Plan,
    threshold: f64,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let exists = |value: f64| match plan.repair {
        Indefinite::Flip => value.abs() > threshold,
        Indefinite::Clip | Indefinite::Refuse => value > threshold,
    };
    let rank = pairs.values.iter().take_while(|v| exists(**v)).count();
    if rank == 0 {
        return Err(Error::data(
            format!("a centred Gram matrix whose largest eigenvalue is {:.1e}", pairs.values.first().unwrap_or(&0.0)),
            format!("at least one must exceed rounding ({threshold:.1e})"),
            "All samples look the same to this kernel: check for constant columns, or change its parameters",
        ));
    }
    if rank < plan.n_components {
        warnings.push(format!(
            "{} components were asked for and {rank} exist: the rest have eigenvalue zero up to rounding",
            plan.n_components
        ));
    }
    pairs.values.truncate(rank);
    pairs.residuals.truncate(rank);
    pairs.vectors = pairs.vectors.view().first_columns(rank).to_matrix();
    certificate.truncate(rank);
    Ok(())
}

/// Looks for negative eigenvalues where the kernel is not known to have none, and applies the plan's policy.
fn negative_policy(
    operator: &dyn LinearOperator,
    plan: &Plan,
    how: &SolveOptions<'_>,
    pairs: &EigenPairs,
    threshold: f64,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let lowest = match (pairs.lowest, plan.repair) {
        (None, Indefinite::Refuse) => Some(lowest_eigenvalue(operator, how, threshold)?),
        (lowest, _) => lowest,
    };
    let Some(lowest) = lowest.filter(|l| *l < -10.0 * threshold) else { return Ok(()) };
    match plan.repair {
        Indefinite::Clip => warnings.push(format!(
            "the centred kernel matrix is not positive semi-definite: its most negative eigenvalue is {lowest:.6}; \
             negative ones were left out (repair=clip)"
        )),
        Indefinite::Flip => warnings.push(format!(
            "the centred kernel matrix is not positive semi-definite: its most negative eigenvalue is {lowest:.6}; \
             negative ones count by magnitude (repair=flip)"
        )),
        Indefinite::Refuse => {
            return Err(Error::kernel(
                format!("{}: the centred kernel matrix has the negative eigenvalue {lowest:.6}", plan.kernel),
                "a Mercer kernel has none",
                "Choose repair clip or flip, or another kernel",
            ));
        }
    }
    Ok(())
}

/// −A.
struct Negated<'a>(&'a dyn LinearOperator);

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

/// The smallest eigenvalue, to three digits or to `resolution`, whichever is coarser.
pub(crate) fn lowest_eigenvalue(operator: &dyn LinearOperator, how: &SolveOptions<'_>, resolution: f64) -> Result<f64> {
    let how = SolveOptions { sketch: None, tolerance: 1e-3, rounding_floor: resolution, ..how.clone() };
    let pairs = Davidson.largest(&Negated(operator), 1, &how)?;
    Ok(-pairs.values.first().copied().unwrap_or(0.0))
}
