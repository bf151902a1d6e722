//! The dual recipe: eigenpairs of a centred Gram matrix, with their certificate.

mod settle;

pub(crate) use settle::{Hidden, no_variance_action};

use super::proof::{Proof, entry_error, trace_error};
use super::schedule::MAX_PASSES;
use crate::eigen::{
    Certificate, Convergence, Dense, EigenPairs, Eigensolver, Impatient, Indefinite, Refined, Sketch,
    SolveOptions, SolveStats, Whole, descending, fix_signs, rank_threshold, rayleigh_ritz,
};
use crate::error::{Error, Result};
use crate::features::pivoted_cholesky;
use crate::gram::{Similarity, check_magnitude};
use crate::kernel::KernelSpec;
use crate::linalg::inner;
use crate::matrix::Matrix;
use crate::model::{Plan, Solver};
use crate::operator::{Centered, GramOperator, GramSummary};
use crate::progress::Watch;

/// Share of the tolerance that the solver is asked for.
const SOLVER_SHARE: f64 = 0.8;
/// Eigenvalues of the sketch below this share of its largest are rounding.
const SKETCH_SHARE: f64 = 1e-10;

/// What the recipe finds.
pub(crate) struct DualSolution {
    /// Eigenvalues of K_c (nλ), largest first; by magnitude when flipped.
    pub(crate) values: Vec<f64>,
    /// Unit eigenvectors over samples, signs fixed.
    pub(crate) vectors: Matrix<f64>,
    /// rᵢ = (1/n) Σⱼ Kᵢⱼ.
    pub(crate) row_means: Vec<f64>,
    /// tr(K_c), or the sum of the eigenvalues that a repair leaves.
    pub(crate) total: f64,
    pub(crate) certificate: Certificate,
    pub(crate) stats: SolveStats,
    /// Why the dense solver took over, where it did.
    pub(crate) switched: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// The Gram matrix, and perhaps a cheaper version of it in single precision to iterate on.
pub(crate) struct DualProblem<'a> {
    pub(crate) gram: Box<dyn GramOperator + 'a>,
    pub(crate) draft: Option<Box<dyn GramOperator + 'a>>,
    /// Whether the matrix is known to be positive semi-definite.
    pub(crate) known_valid: bool,
    /// Orthonormal vectors that are nearly right.
    pub(crate) start: Option<&'a Matrix<f64>>,
    /// Whether the dense solver may take over from an iteration that does not converge.
    pub(crate) may_switch: bool,
}

impl DualProblem<'_> {
    /// What the iteration multiplies by first.
    fn first(&self) -> &dyn GramOperator {
        self.draft.as_deref().unwrap_or(&*self.gram)
    }

    /// Frees the draft and the tiles that are kept: what follows needs the room, and the matrix once or twice.
    fn release(&mut self) {
        self.draft = None;
        self.gram.release();
    }
}

/// Relative residuals beyond this say that rounding has taken most of a component.
pub(crate) const ROUGH: f64 = 1e-2;
/// How the warning ends that the total variance of the repaired kernel is not known.
pub(super) const RATIO_UNKNOWN: &str =
    "the explained variance ratio needs all eigenvalues and is not known: the dense solver gives it";
/// How many times the size of rounding a residual may be when its eigenvalue is zero up to rounding.
const NULL_SLACK: f64 = 16.0;

/// Solves K_c v = θv for the plan's number of components, (K5).
///
/// The iteration runs on the draft where there is one. A last pass over the matrix itself gives the certificate; if the
/// tolerance does not hold there, the iteration goes on with the matrix itself.
pub(crate) fn solve(mut problem: DualProblem<'_>, plan: &Plan, watch: &Watch) -> Result<DualSolution> {
    // Why: a kernel value that is not finite spoils every later number; the pass that names it runs only then.
    match solve_finite(&mut problem, plan, watch) {
        Err(error @ Error::NotConverged { .. }) => Err(problem.gram.summary(watch).err().unwrap_or(error)),
        other => other,
    }
}

fn solve_finite(problem: &mut DualProblem<'_>, plan: &Plan, watch: &Watch) -> Result<DualSolution> {
    let n = problem.gram.n_rows();
    let unit_roundoff = problem.gram.unit_roundoff();
    let norm_bound = size(problem, watch)?;
    let ones = Matrix::from_fn(n, 1, |_, _| (n as f64).sqrt().recip());
    let sketch = sketch(problem.first(), plan, watch)?;
    let how = SolveOptions {
        deflate: Some(ones.view()),
        start: problem.start.map(Matrix::view),
        sketch: sketch.as_ref(),
        // Why below what is asked: the pass that certifies sees slightly larger residuals than the solver's own products.
        tolerance: SOLVER_SHARE * plan.tolerance,
        norm_bound,
        max_passes: MAX_PASSES,
        verify: false,
        basis: true,
        seed: plan.seed,
        watch,
    };
    let settle::Settled { mut pairs, summary, switched } = settle::pairs(problem, plan, &how)?;
    let largest = pairs.values.iter().map(|v| v.abs()).fold(0.0, f64::max);
    let threshold = rank_threshold(n, largest, norm_bound, unit_roundoff);
    let mut warnings = Vec::new();
    let repaired = negative_policy(problem, plan, &how, &mut pairs, threshold, &mut warnings)?;
    drop(sketch);
    problem.release();
    let gram = &*problem.gram;
    let total = repaired.unwrap_or(summary.centered_trace());
    let squared_norm = repaired.is_none().then(|| summary.centered_squared_norm_bound());
    let entries = entry_error(plan.n_features) * norm_bound;
    let rounding = entries * unit_roundoff;
    // Why not more, after what was held is freed: the system may keep it.
    let free = u128::from(plan.bytes_allowed.saturating_sub(plan.bytes_needed));
    let grounds = (entries, problem.known_valid);
    let proof = Proof::new(gram, &summary, pairs.basis.take(), grounds, (free, watch));
    let whole = Whole {
        trace: total,
        trace_error: match repaired {
            // A repaired trace is the sum of eigenvalues, each with its own rounding.
            Some(_) => 2.0 * n as f64 * rounding,
            None => trace_error(&summary, rounding) + unrepaired(&pairs, problem.known_valid, rounding),
        },
        squared_norm,
        valid: problem.known_valid,
        at_most: Some(&|t, limit| proof.at_most(t, limit)),
    };
    let mut certificate = Certificate::new(&pairs, rounding).bounded_by(&pairs, whole);
    let hidden = Hidden::of(summary.trace, summary.centered_trace());
    let nulls = Nulls { threshold, hidden, known_valid: problem.known_valid };
    keep_existing(&mut pairs, &mut certificate, plan, &nulls, &mut warnings)?;
    fix_signs(&mut pairs.vectors);
    let rough = certificate.residuals.iter().filter(|r| **r > plan.tolerance).count();
    if rough > 0 {
        warnings.push(format!(
            "rounding in {} limits the relative residual of {rough} of {} components to {:.1e}",
            plan.precision,
            pairs.values.len(),
            certificate.worst_residual()
        ));
    }
    if pairs.values.len() < plan.n_components || certificate.worst_residual() > ROUGH {
        warnings.extend(hidden.map(|hidden| hidden.sentence(threshold)));
    }
    warnings.extend(certificate.tie_sentences());
    let EigenPairs { values, vectors, stats, .. } = pairs;
    let row_means = summary.row_means;
    Ok(DualSolution { values, vectors, row_means, total, certificate, stats, switched, warnings })
}

/// By how much the variance of the repaired kernel may exceed the trace where negative eigenvalues were too small to repair.
fn unrepaired(pairs: &EigenPairs, known_valid: bool, rounding: f64) -> f64 {
    let negative = |all: &Vec<f64>| all.iter().map(|v| (-v).max(0.0) + rounding).sum();
    pairs.all.as_ref().filter(|_| !known_valid).map_or(0.0, negative)
}

/// An upper bound of ‖K‖_F: for a positive semi-definite matrix the trace, otherwise the norm itself.
fn size(problem: &DualProblem<'_>, watch: &Watch) -> Result<f64> {
    let mut diagonal = vec![0.0; problem.gram.n_rows()];
    problem.gram.diagonal(&mut diagonal)?;
    let trace: f64 = diagonal.iter().sum();
    check_magnitude(diagonal.iter().map(|d| d.abs()).fold(0.0, f64::max), problem.gram.n_rows())?;
    if problem.known_valid && trace.is_finite() {
        return Ok(trace);
    }
    Ok(problem.gram.summary(watch)?.squared_norm.sqrt())
}

/// Eigenpairs whose residuals come from a product with the matrix itself, and its row means; no convergence as soon as more than `worth`
/// passes are expected.
fn certified_pairs(
    problem: &DualProblem<'_>,
    plan: &Plan,
    (how, worth): (&SolveOptions<'_>, f64),
) -> Result<(EigenPairs, GramSummary)> {
    let gram = &*problem.gram;
    let wanted = plan.n_components.min(gram.n_rows().saturating_sub(1));
    let solver: Box<dyn Eigensolver> = match plan.solver {
        Solver::Dense => Box::new(Dense { by_magnitude: plan.repair == Indefinite::Flip }),
        Solver::Davidson => Box::new(Impatient { worth }),
    };
    let mut spent = SolveStats::default();
    if let Some(draft) = problem.draft.as_deref() {
        match solver.largest(&Centered::new(draft), wanted, how) {
            Ok(pairs) => {
                spent = pairs.stats;
                let (pairs, summary) = certify(gram, pairs, plan, how.watch)?;
                if holds(gram, &pairs, how) {
                    return Ok((pairs, summary));
                }
            }
            // Single precision did not get there; double precision may, if that is worth it.
            Err(error @ Error::NotConverged { .. }) if worth.is_finite() => return Err(error),
            Err(Error::NotConverged { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    let mut pairs = solver.largest(&Centered::new(gram), wanted, how)?;
    pairs.stats = pairs.stats.and(spent);
    let (pairs, summary) = certify(gram, pairs, plan, how.watch)?;
    // What a backward stable solver leaves is rounding of the size below which eigenvalues count as zero; a residual beyond
    // that and beyond the tolerance is no convergence.
    let judge = judge(gram, &pairs, how);
    // Pairs that do not exist may lie along the ones vector, where the product's own rounding is largest; they are dropped.
    let rounded = |residual: f64, value: f64| {
        residual <= if value.abs() <= judge.null { NULL_SLACK * judge.null } else { judge.null }
    };
    // Why pair by pair: the residual of a large pair may exceed rounding and hold, that of a small one the other way round.
    let settled = |(residual, value): (&f64, &f64)| {
        judge.holds(*residual, *value, 1.0 / SOLVER_SHARE) || rounded(*residual, *value)
    };
    if pairs.residuals.iter().zip(&pairs.values).all(settled) {
        return Ok((pairs, summary));
    }
    Err(Error::NotConverged {
        passes: pairs.stats.passes as f64,
        residual: pairs.residuals.iter().zip(&pairs.values).map(|(r, v)| r / v.abs()).fold(0.0, f64::max),
        tolerance: plan.tolerance,
        action: "Loosen the tolerance or ask for fewer components".into(),
    })
}

fn judge(gram: &dyn GramOperator, pairs: &EigenPairs, how: &SolveOptions<'_>) -> Convergence {
    let largest = pairs.values.iter().map(|v| v.abs()).fold(0.0, f64::max);
    Convergence::new(gram.n_rows(), how.tolerance, largest, how.norm_bound, gram.unit_roundoff())
}

fn holds(gram: &dyn GramOperator, pairs: &EigenPairs, how: &SolveOptions<'_>) -> bool {
    let judge = judge(gram, pairs, how);
    pairs.residuals.iter().zip(&pairs.values).all(|(r, v)| judge.holds(*r, *v, 1.0 / SOLVER_SHARE))
}

/// Whether the matrix is positive semi-definite for any samples.
pub(super) fn known_valid(similarity: &Similarity) -> bool {
    match similarity {
        Similarity::Kernel(kernel) => kernel.spec().and_then(KernelSpec::is_mercer) == Some(true),
        Similarity::Precomputed => false,
    }
}

/// K_c·U with the sums over K, from one pass over the matrix.
pub(super) struct CentredProduct {
    pub(super) block: Matrix<f64>,
    pub(super) summary: GramSummary,
}

/// K_c·U = KU − 1(rᵀU) − r(1ᵀU) + g·1(1ᵀU), with r and g from the same pass, (K4).
pub(super) fn centred_product(
    gram: &dyn GramOperator,
    u: &Matrix<f64>,
    watch: &Watch,
) -> Result<CentredProduct> {
    let (n, k) = (u.n_rows(), u.n_cols());
    let mut product = Matrix::zeros(n, k);
    let summary = gram.apply_and_sum(u.view(), product.view_mut(), watch)?;
    let (row_means, grand_mean) = (&summary.row_means, summary.grand_mean);
    let ones = Matrix::from_fn(n, 2, |i, j| if j == 0 { 1.0 } else { row_means[i] });
    let along = inner(ones.view(), u.view());
    for (i, r) in row_means.iter().enumerate() {
        let mut rows = product.view_mut();
        rows.row_mut(i).iter_mut().enumerate().for_each(|(j, p)| {
            *p += (grand_mean - r) * along[(0, j)] - along[(1, j)];
        });
    }
    Ok(CentredProduct { block: product, summary })
}

/// Fresh residuals, refined pairs and the sums over the matrix, from one pass, (K13).
fn certify(
    gram: &dyn GramOperator,
    pairs: EigenPairs,
    plan: &Plan,
    watch: &Watch,
) -> Result<(EigenPairs, GramSummary)> {
    let (n, k) = (gram.n_rows(), pairs.values.len());
    let CentredProduct { block, summary } = centred_product(gram, &pairs.vectors, watch)?;
    let Refined { mut values, mut vectors, mut residuals, .. } = rayleigh_ritz(&pairs.vectors, &block)?;
    if plan.repair == Indefinite::Flip {
        let order = descending(&values, true);
        vectors = Matrix::from_fn(n, k, |i, j| vectors[(i, order[j])]);
        residuals = order.iter().map(|j| residuals[*j]).collect();
        values = order.iter().map(|j| values[*j]).collect();
    }
    let stats =
        SolveStats { passes: pairs.stats.passes + 1, products: pairs.stats.products + k + 1, ..pairs.stats };
    Ok((EigenPairs { values, vectors, residuals, stats, ..pairs }, summary))
}

fn sketch(gram: &dyn GramOperator, plan: &Plan, watch: &Watch) -> Result<Option<Sketch>> {
    if plan.sketch_rank == 0 {
        return Ok(None);
    }
    let factor = pivoted_cholesky(gram, plan.sketch_rank, plan.seed, watch)?;
    let mut diagonal = vec![0.0; gram.n_rows()];
    gram.diagonal(&mut diagonal)?;
    // Why: only of a positive semi-definite matrix is the factor a part. One that exceeds the matrix would lead the iteration astray.
    if factor.pivots.is_empty() || !factor.is_within(&diagonal) {
        return Ok(None);
    }
    let (values, vectors) = factor.centered_eigenpairs::<f32>(SKETCH_SHARE)?;
    Ok((!values.is_empty()).then_some(Sketch { vectors, values }))
}

/// What tells components from rounding.
struct Nulls {
    /// Eigenvalues up to this count as zero.
    threshold: f64,
    hidden: Option<Hidden>,
    /// Whether negative eigenvalues can only be rounding.
    known_valid: bool,
}

/// Drops components that are rounding, and those that a clipped kernel does not have.
fn keep_existing(
    pairs: &mut EigenPairs,
    certificate: &mut Certificate,
    plan: &Plan,
    &Nulls { threshold, hidden, known_valid }: &Nulls,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let exists = |value: f64| match plan.repair {
        Indefinite::Flip => value.abs() > threshold,
        Indefinite::Clip | Indefinite::Refuse => value > threshold,
    };
    let rank = pairs.values.iter().take_while(|v| exists(**v)).count();
    let lowest = pairs.all.as_ref().and_then(|all| all.last()).copied();
    let first = pairs.values.first().copied().unwrap_or(0.0);
    if rank == 0 && !known_valid && lowest.unwrap_or(first) < -10.0 * threshold {
        return Err(settle::none_positive(plan, first));
    }
    if rank == 0 {
        return Err(Error::no_variance(
            format!("a centered Gram matrix whose largest eigenvalue is {first:.1e}"),
            format!("at least one must exceed rounding ({threshold:.1e})"),
            no_variance_action(hidden),
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

/// Looks for negative eigenvalues where the kernel is not known to have none, and applies the plan's policy. Returns the sum
/// of the repaired kernel's eigenvalues where there is something to repair and all are known.
fn negative_policy(
    problem: &DualProblem<'_>,
    plan: &Plan,
    how: &SolveOptions<'_>,
    pairs: &mut EigenPairs,
    threshold: f64,
    warnings: &mut Vec<String>,
) -> Result<Option<f64>> {
    let lowest = match pairs.all.as_ref().and_then(|all| all.last()).copied() {
        None if !problem.known_valid => {
            let largest = pairs.values.first().copied().unwrap_or(0.0);
            let (lowest, spent) = settle::lowest(problem, how, largest, threshold)?;
            pairs.stats = pairs.stats.and(spent);
            Some(lowest)
        }
        lowest => lowest,
    };
    let Some(lowest) = lowest.filter(|l| *l < -10.0 * threshold) else { return Ok(None) };
    let total = pairs.all.as_ref().map(|all| match plan.repair {
        Indefinite::Flip => all.iter().map(|v| v.abs()).sum(),
        Indefinite::Clip | Indefinite::Refuse => all.iter().map(|v| v.max(0.0)).sum(),
    });
    let shares = match total {
        Some(_) => "shares of variance refer to the repaired kernel",
        None => RATIO_UNKNOWN,
    };
    match plan.repair {
        Indefinite::Clip => warnings.push(format!(
            "the centred kernel matrix is not positive semi-definite: its most negative eigenvalue is {lowest:.6}; \
             negative ones were left out (repair=clip); {shares}"
        )),
        Indefinite::Flip => warnings.push(format!(
            "the centred kernel matrix is not positive semi-definite: its most negative eigenvalue is {lowest:.6}; \
             negative ones count by magnitude (repair=flip); {shares}"
        )),
        Indefinite::Refuse => {
            return Err(Error::kernel(
                format!("{}: the centred kernel matrix has the negative eigenvalue {lowest:.6}", plan.kernel),
                "a Mercer kernel has none",
                "Choose repair clip or flip, or another kernel",
            ));
        }
    }
    Ok(total)
}
