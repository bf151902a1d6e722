//! The smallest eigenpairs of a sparse matrix that has no negative ones, decision 22.
//!
//! A search space grows by improved residuals and gives its lowest Ritz pairs of A itself; what improves a residual is the
//! inverse of A + σI, or, where its factor does not fit into memory, a polynomial of A.

mod improve;
mod search;

#[cfg(test)]
mod tests;

use super::orthonormal::orthonormalise;
use super::{EigenPairs, SolveStats};
use crate::error::{Error, Result};
use crate::linalg::sparse::{Analysis, SparseCholesky};
use crate::linalg::{Onto, column_norms, combine, inner, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};
use crate::operator::{LinearOperator, SparseSymmetric};
use crate::progress::Watch;
use improve::{Filter, Inverse};
use search::Search;

/// Up to this many rows the dense decomposition is taken.
const DENSE_ROWS: usize = 200;
/// σ in units of roundoff of the largest absolute row sum: well above what rounding in the factor amounts to.
const SHIFT: f64 = 1024.0;
/// What σ grows by when a pivot is not positive.
const SHIFT_GROWTH: f64 = 64.0;
/// Shifts that are tried.
const SHIFTS: usize = 4;
/// Residuals up to this many roundings of the norm are as small as can be expected.
const FLOOR: f64 = 4.0;
/// Residuals up to this many roundings of the norm are taken when they fall no further.
const NOISE: f64 = 64.0;

/// What the search for the smallest eigenpairs is told.
#[derive(Clone, Debug)]
pub(crate) struct SmallestOptions<'a> {
    /// Columns that span known eigenvectors that are not wanted, such as the constant vector of a Laplacian.
    pub deflate: Option<MatRef<'a, f64>>,
    /// Residual ‖Av − θv‖ ≤ tolerance·θ is asked for, or what rounding allows.
    pub tolerance: f64,
    /// Seed of random start vectors.
    pub seed: u64,
    /// Bytes that the work may take; `None` sets no limit.
    pub memory_bytes: Option<u64>,
    /// Who is told, and who may stop it.
    pub watch: &'a Watch,
}

/// How the smallest eigenpairs were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SmallestRoute {
    /// All eigenpairs of the matrix written out.
    Dense,
    /// With the factor of A + σI.
    ShiftInvert,
    /// By products with A alone, through a polynomial that favours the lower end.
    Filter,
}

impl SmallestRoute {
    /// The route in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::ShiftInvert => "shift and invert",
            Self::Filter => "polynomial filter",
        }
    }
}

/// The smallest eigenpairs and how they were found.
#[derive(Clone, Debug)]
pub(crate) struct Smallest {
    /// Eigenpairs, smallest eigenvalue first; `all`, where known, is ascending too.
    pub pairs: EigenPairs,
    /// How they were found.
    pub route: SmallestRoute,
}

/// Bytes that the search for the `k` smallest eigenpairs of n rows takes beside the matrix and the factor.
pub(crate) fn smallest_bytes(n: usize, k: usize) -> u64 {
    search::bytes(n, k)
}

/// The matrix, what is asked of it, and the measure of its rounding errors.
struct Problem<'a> {
    matrix: &'a SparseSymmetric,
    k: usize,
    how: &'a SmallestOptions<'a>,
    /// Orthonormal columns to stay orthogonal to.
    known: Matrix<f64>,
    /// max Σⱼ|Aᵢⱼ| ≥ ‖A‖.
    norm: f64,
}

impl Problem<'_> {
    /// The residual that is asked for: tolerance·θ, or 4u‖A‖.
    fn target(&self, value: f64) -> f64 {
        (self.how.tolerance * value.abs()).max(FLOOR * self.rounding())
    }

    /// u‖A‖.
    fn rounding(&self) -> f64 {
        self.matrix.unit_roundoff() * self.norm
    }

    /// The largest ratio of a residual and what is asked of it.
    fn worst(&self, residuals: &[f64], values: &[f64]) -> f64 {
        residuals.iter().zip(values).map(|(r, value)| ratio(*r, self.target(*value))).fold(0.0, f64::max)
    }

    /// Whether residuals are rounding.
    fn are_noise(&self, residuals: &[f64]) -> bool {
        residuals.iter().all(|r| *r <= NOISE * self.rounding())
    }

    fn not_converged(&self, passes: usize, worst: f64, action: &str) -> Error {
        Error::NotConverged {
            passes: passes as f64,
            residual: worst * self.how.tolerance,
            tolerance: self.how.tolerance,
            action: action.into(),
        }
    }
}

fn ratio(residual: f64, target: f64) -> f64 {
    if residual <= target {
        residual / target.max(f64::MIN_POSITIVE)
    } else {
        (residual / target).min(f64::MAX)
    }
}

/// The `k` smallest eigenpairs of a positive semi-definite matrix that are orthogonal to what is deflated, or as many as there
/// are, smallest first. Where the null space has more dimensions than are deflated, zero eigenvalues come first.
///
/// Numerics: eigenvalues are off by some u‖A‖ at most, vectors by u‖A‖ over the distance to the next eigenvalue. Signs of
/// vectors are not fixed.
/// Cost: up to 200 rows, or when k is a large part of n, 9n³ flops; otherwise one sparse factorisation in one thread, which
/// cannot be cancelled half-way, and about ten solves with blocks of k + 8 vectors.
///
/// # Errors
/// [`Error::NotConverged`] when residuals are not small; [`Error::Data`] when the matrix has negative eigenvalues that are no
/// rounding; [`Error::Memory`] when not even the dense matrix fits that so many pairs need; settings that make no sense.
pub(crate) fn smallest(matrix: &SparseSymmetric, k: usize, how: &SmallestOptions<'_>) -> Result<Smallest> {
    check(matrix, how)?;
    let known = match how.deflate {
        Some(known) => orthonormalise(known.to_matrix(), &[])?,
        None => Matrix::zeros(matrix.n(), 0),
    };
    let problem = Problem {
        matrix,
        k: k.min(matrix.n().saturating_sub(known.n_cols())),
        how,
        known,
        norm: matrix.max_row_sum(),
    };
    let n = matrix.n();
    if n <= DENSE_ROWS || 4 * search::kept(problem.k) > n {
        return Ok(Smallest { pairs: dense(&problem)?, route: SmallestRoute::Dense });
    }
    how.watch.step("pattern of the factor", 0, 1)?;
    let (offsets, columns, values) = matrix.parts();
    let analysis = Analysis::new(offsets, columns, values);
    let needed = analysis.as_ref().map(|analysis| analysis.factor_bytes + search::bytes(n, problem.k));
    let affordable = analysis
        .filter(|_| how.memory_bytes.is_none_or(|limit| needed.is_some_and(|needed| needed <= limit)));
    let (pairs, route) = match affordable {
        Some(analysis) => {
            how.watch.step("sparse factor", 0, 1)?;
            let improve = Inverse(factor(&problem, analysis)?);
            (Search::new(&problem, &improve).run()?, SmallestRoute::ShiftInvert)
        }
        None => {
            let improve = Filter { matrix, norm: problem.norm, watch: how.watch };
            (Search::new(&problem, &improve).run()?, SmallestRoute::Filter)
        }
    };
    Ok(Smallest { pairs, route })
}

fn check(matrix: &SparseSymmetric, how: &SmallestOptions<'_>) -> Result<()> {
    if !(how.tolerance > 0.0 && how.tolerance < 1.0) {
        return Err(Error::setting(
            format!("tolerance {}", how.tolerance),
            "it must lie between 0 and 1",
            "1e-6 is usual",
        ));
    }
    match how.deflate {
        Some(known) if known.n_rows() != matrix.n() => Err(Error::data(
            format!("known eigenvectors of {} entries", known.n_rows()),
            format!("the matrix has {} rows", matrix.n()),
            "Give one entry for each row",
        )),
        _ => Ok(()),
    }
}

/// The factor of A + σI, σ = 1024u‖A‖, or a larger σ where a pivot is not positive.
fn factor(problem: &Problem<'_>, mut analysis: Analysis) -> Result<SparseCholesky> {
    let mut shift = (SHIFT * problem.rounding()).max(f64::MIN_POSITIVE);
    for _ in 0..SHIFTS {
        match analysis.factor(shift) {
            Ok(factor) => return Ok(factor),
            Err(again) => analysis = *again,
        }
        problem.how.watch.check()?;
        shift *= SHIFT_GROWTH;
    }
    Err(Error::data(
        format!("a sparse matrix whose lowest eigenvalue is about −{:.1e} or less", shift / SHIFT_GROWTH),
        "it must be positive semi-definite",
        "Look for negative weights in the graph; if memory is short, set a memory limit",
    ))
}

/// All eigenpairs of PAP + ‖A‖·QQᵀ with P = I − QQᵀ: what is deflated goes to the upper end.
fn dense(problem: &Problem<'_>) -> Result<EigenPairs> {
    let (n, k, watch) = (problem.matrix.n(), problem.k, problem.how.watch);
    let bytes = 4 * size_of::<f64>() as u64 * (n as u64).pow(2);
    if let Some(limit) = problem.how.memory_bytes.filter(|limit| bytes > *limit && n > DENSE_ROWS) {
        return Err(Error::memory(
            format!("{k} eigenpairs of {n} rows need {bytes} bytes"),
            format!("{limit} are allowed"),
            "Ask for fewer components or allow more memory",
        ));
    }
    watch.step("dense eigensolver", 0, 1)?;
    let (values, vectors) = symmetric_eigen(&deflated(problem)?)?;
    let n_free = n - problem.known.n_cols();
    // Largest first: those that are deflated, then the others.
    let all: Vec<f64> = values.iter().rev().take(n_free).copied().collect();
    let vectors = Matrix::from_fn(n, k, |i, j| vectors[(i, n - 1 - j)]);
    let mut residual = Matrix::zeros(n, k);
    problem.matrix.apply(vectors.view(), residual.view_mut(), watch)?;
    for i in 0..n {
        let terms = vectors.row(i).iter().zip(&all);
        let mut rows = residual.view_mut();
        rows.row_mut(i).iter_mut().zip(terms).for_each(|(r, (v, value))| *r -= value * v);
    }
    let residuals = column_norms(residual.view());
    let worst = problem.worst(&residuals, &all);
    // Numerics: a decomposition of n rows leaves about √n roundings.
    let noise = NOISE.max((n as f64).sqrt()) * problem.rounding();
    if worst > 1.0 && residuals.iter().any(|r| *r > noise) {
        let action = "The vectors to stay orthogonal to must be eigenvectors: check them";
        return Err(problem.not_converged(1, worst, action));
    }
    watch.step("dense eigensolver", 1, 1)?;
    let stats = SolveStats { iterations: 1, passes: 2, products: n + k };
    let (values, next) = (all[..k].to_vec(), all.get(k).copied());
    Ok(EigenPairs { values, vectors, residuals, next, all: Some(all), basis: None, stats })
}

fn deflated(problem: &Problem<'_>) -> Result<Matrix<f64>> {
    let mut a = problem.matrix.to_dense(problem.how.watch)?;
    let q = &problem.known;
    if q.n_cols() == 0 {
        return Ok(a);
    }
    // PAP + τQQᵀ = A − QBᵀ − BQᵀ + Q(QᵀB + τ)Qᵀ with B = AQ.
    let mut b = Matrix::zeros(q.n_rows(), q.n_cols());
    problem.matrix.apply(q.view(), b.view_mut(), problem.how.watch)?;
    let mut middle = inner(q.view(), b.view());
    (0..q.n_cols()).for_each(|j| middle[(j, j)] += 2.0 * problem.norm);
    let transposed = |m: &Matrix<f64>| Matrix::from_fn(m.n_cols(), m.n_rows(), |i, j| m[(j, i)]);
    let (qt, bt) = (transposed(q), transposed(&b));
    let mut lifted = Matrix::zeros(q.n_rows(), q.n_cols());
    combine(lifted.view_mut(), Onto::Replace, 1.0, q.view(), middle.view());
    combine(a.view_mut(), Onto::Add, -1.0, q.view(), bt.view());
    combine(a.view_mut(), Onto::Add, -1.0, b.view(), qt.view());
    combine(a.view_mut(), Onto::Add, 1.0, lifted.view(), qt.view());
    Ok(a)
}
