//! Random walks on samples: eigenvectors of the transition matrix of a kernel.

use super::embedding::Wanted;
use crate::eigen::{Davidson, Dense, EigenPairs, Eigensolver, Entries, SolveOptions, fix_signs};
use crate::error::{Error, Result};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::operator::{GramOperator, LinearOperator};
use crate::progress::Watch;

/// Passes after which the iteration gives up.
const MAX_PASSES: usize = 200;

/// diag(w)·(K − diag r)·diag(w), without forming it, (G15).
struct Scaled<'a> {
    gram: &'a dyn GramOperator,
    weights: Vec<f64>,
    /// r: what is taken off the diagonal; empty for nothing.
    removed: Vec<f64>,
}

impl LinearOperator for Scaled<'_> {
    fn n_rows(&self) -> usize {
        self.gram.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.gram.n_cols()
    }

    fn unit_roundoff(&self) -> f64 {
        self.gram.unit_roundoff()
    }

    fn apply(&self, block: MatRef<'_, f64>, mut out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        let scaled =
            Matrix::from_fn(block.n_rows(), block.n_cols(), |i, j| self.weights[i] * block.row(i)[j]);
        self.gram.apply(scaled.view(), out.reborrow(), watch)?;
        for (i, weight) in self.weights.iter().enumerate() {
            let removed = self.removed.get(i).copied().unwrap_or(0.0);
            let row = out.row_mut(i).iter_mut().zip(scaled.row(i));
            row.for_each(|(o, s)| *o = weight * (*o - removed * s));
        }
        Ok(())
    }
}

/// A walk's slowest directions.
pub(super) struct Walk {
    /// Eigenvalues μ of the transition matrix P, largest first, without the first, which is 1.
    pub(super) values: Vec<f64>,
    /// Unit eigenvectors u of D^(−½)K D^(−½), signs fixed; ψ = u/√d are those of P.
    pub(super) vectors: Matrix<f64>,
    /// √d.
    pub(super) roots: Vec<f64>,
    /// s = q^(−α): the inverse density of each sample to a power.
    pub(super) weights: Vec<f64>,
    /// Rows that no step leaves or reaches.
    pub(super) isolated: Vec<usize>,
    /// ‖Su − μu‖ ÷ μ.
    pub(super) residuals: Vec<f64>,
    pub(super) solver: &'static str,
    pub(super) stats: crate::eigen::SolveStats,
}

/// Which kernel matrix the walk is on.
#[derive(Clone, Copy)]
pub(super) struct WalkOn<'a> {
    pub(super) gram: &'a dyn GramOperator,
    /// α: 1 takes the density of the samples out, 0 leaves it in.
    pub(super) alpha: f64,
    /// Whether a step may stay where it is.
    pub(super) may_stay: bool,
}

/// Eigenpairs of P = D⁻¹K_α by those of the symmetric S = D^(−½)K_α D^(−½), K_α = K/(qqᵀ)^α with q = K·1, (G15).
///
/// Where a step may not stay, a row whose kernel values with all others are zero stands by itself: its row of S is zero,
/// with d = 1 in its place.
///
/// Cost: two passes over K for q and d, and the solver's.
///
/// # Errors
/// When kernel values of a row with the others sum to a negative number, or to zero where a step may stay; when the
/// tolerance is not met.
pub(super) fn walk(on: WalkOn<'_>, wanted: Wanted<'_>) -> Result<Walk> {
    let WalkOn { gram, alpha, may_stay } = on;
    let n = gram.n_rows();
    let mut diagonal = vec![0.0; n];
    gram.diagonal(&mut diagonal)?;
    let removed = if may_stay { Vec::new() } else { diagonal };
    let sums_with = |v: &[f64]| -> Result<Vec<f64>> {
        let block = Matrix::from_vec(v.to_vec(), n, 1)?;
        let mut out = Matrix::zeros(n, 1);
        gram.apply(block.view(), out.view_mut(), wanted.watch)?;
        Ok((0..n).map(|i| out[(i, 0)] - removed.get(i).map_or(0.0, |r| r * v[i])).collect())
    };
    let mut density = sums_with(&vec![1.0; n])?;
    let isolated = if may_stay { Vec::new() } else { isolated(&density, &removed, gram.unit_roundoff()) };
    if isolated.len() < n {
        isolated.iter().for_each(|i| density[*i] = 1.0);
    }
    check_sums(&density)?;
    let weights: Vec<f64> = density.iter().map(|q| q.powf(-alpha)).collect();
    let degrees: Vec<f64> = match alpha {
        0.0 => density,
        _ => sums_with(&weights)?.iter().zip(&weights).map(|(sum, s)| sum * s).collect(),
    };
    check_sums(&degrees)?;
    let roots: Vec<f64> = degrees.iter().map(|d| d.sqrt()).collect();
    let scaled: Vec<f64> = weights.iter().zip(&roots).map(|(s, root)| s / root).collect();
    let operator = Scaled { gram, weights: scaled, removed };
    let mut first = roots.clone();
    isolated.iter().for_each(|i| first[*i] = 0.0);
    let length = first.iter().map(|root| root * root).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let first = Matrix::from_fn(n, 1, |i, _| first[i] / length);
    let how = SolveOptions {
        deflate: Some(first.view()),
        start: None,
        sketch: None,
        tolerance: wanted.tolerance,
        // ‖S‖_F² = Σμ², and no |μ| exceeds 1.
        norm_bound: (n as f64).sqrt(),
        max_passes: MAX_PASSES,
        verify: true,
        basis: false,
        seed: wanted.seed,
        watch: wanted.watch,
    };
    let dense = Entries::Between.direct(n, wanted.n_components).is_some();
    let solver: &dyn Eigensolver = if dense { &Dense { by_magnitude: false } } else { &Davidson };
    let EigenPairs { values, mut vectors, residuals, stats, .. } =
        solver.largest(&operator, wanted.n_components.min(n - 1), &how)?;
    fix_signs(&mut vectors);
    let residuals = residuals.iter().zip(&values).map(|(r, v)| r / v.abs().max(f64::MIN_POSITIVE)).collect();
    let solver = if dense { "dense, all eigenpairs" } else { "davidson" };
    Ok(Walk { values, vectors, roots, weights, isolated, residuals, solver, stats })
}

/// Rows whose kernel values with all others, which sum to what is left of K·1 without the diagonal, are lost in rounding.
fn isolated(sums: &[f64], diagonal: &[f64], unit_roundoff: f64) -> Vec<usize> {
    let lost = |i: &usize| sums[*i].abs() <= 8.0 * unit_roundoff * diagonal[*i].abs();
    (0..sums.len()).filter(lost).collect()
}

/// A walk leaves every row with positive probability.
fn check_sums(sums: &[f64]) -> Result<()> {
    match sums.iter().position(|q| !(*q > 0.0 && q.is_finite())) {
        None => Ok(()),
        Some(i) => Err(Error::data(
            format!("row {} has kernel values with all others that sum to {}", i + 1, sums[i]),
            "a walk needs positive ones",
            "Choose a wider kernel, or one without negative values",
        )),
    }
}
