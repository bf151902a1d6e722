//! Block Davidson with thick restart (GD+k), docs/theory (K20)–(K24).
//!
//! The basis grows by preconditioned residuals of the pairs that have not converged. When it is full it is replaced by the
//! best Ritz vectors and those of the step before. Every new block is orthogonalised against the whole basis and the
//! deflated vectors, in every sweep.

use super::orthonormal::{orthonormalise, times};
use super::rayleigh_ritz::{Refined, rayleigh_ritz};
use super::spectrum::Convergence;
use super::{EigenPairs, Eigensolver, Sketch, SolveOptions, SolveStats};
use crate::error::{Error, Result};
use crate::linalg::{Onto, column_norms, combine, inner, scale_columns, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::random::{Purpose, Stream};

/// Gaussian columns in the start block: they find what a sketch missed.
const PROBES: usize = 4;
/// Widest block that one pass multiplies.
const WIDEST: usize = 128;
/// A pair whose residual is this far below the tolerance needs no further direction.
const SOFT_LOCK: f64 = 0.1;
/// Denominators of the preconditioner are kept this far from zero, relative to θ.
const SMALLEST_DENOMINATOR: f64 = 0.05;

/// Block Davidson GD+k for a few of the largest eigenpairs of an operator that is expensive to apply.
///
/// Memory: 8 n × (k + guard) doubles. Cost: a few passes over the matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct Davidson;

/// Sizes of the iteration for k pairs.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Ritz vectors kept at a restart: k and a guard of at least 8.
    keep: usize,
    /// Columns added in a step.
    widest: usize,
    /// Columns that the basis may have.
    basis: usize,
}

impl Sizes {
    fn new(n: usize, k: usize) -> Self {
        let keep = (k + (k / 4).max(8)).next_multiple_of(8).max(16).min(n);
        let widest = keep.min(WIDEST);
        Self { keep, widest, basis: (keep + 3 * widest).min(n) }
    }
}

/// Columns the solver's basis takes for k pairs of an n × n matrix; twice that many are stored.
pub(crate) fn basis_columns(n: usize, k: usize) -> usize {
    Sizes::new(n, k).basis
}

/// The search space: an orthonormal basis Q, A·Q and T = QᵀAQ.
struct Basis {
    q: Matrix<f64>,
    aq: Matrix<f64>,
    t: Matrix<f64>,
    width: usize,
}

impl Basis {
    fn new(n: usize, most: usize) -> Self {
        Self { q: Matrix::zeros(n, most), aq: Matrix::zeros(n, most), t: Matrix::zeros(most, most), width: 0 }
    }

    fn q(&self) -> MatRef<'_, f64> {
        self.q.view().first_columns(self.width)
    }

    fn aq(&self) -> MatRef<'_, f64> {
        self.aq.view().first_columns(self.width)
    }

    /// Appends orthonormal columns and their products.
    fn append(&mut self, v: &Matrix<f64>, av: &Matrix<f64>) {
        let (from, to) = (self.width, self.width + v.n_cols());
        self.q.view_mut().columns(from..to).copy_from(v.view());
        self.aq.view_mut().columns(from..to).copy_from(av.view());
        self.width = to;
        let fresh = inner(self.q(), av.view());
        for i in 0..to {
            for j in from..to {
                let mirrored = if i >= from {
                    0.5 * (fresh[(i, j - from)] + fresh[(j, i - from)])
                } else {
                    fresh[(i, j - from)]
                };
                self.t[(i, j)] = mirrored;
                self.t[(j, i)] = mirrored;
            }
        }
    }

    /// Ritz values, largest first, and coefficients of the Ritz vectors in the basis.
    fn ritz(&self) -> Result<(Vec<f64>, Matrix<f64>)> {
        symmetric_eigen(&Matrix::from_fn(self.width, self.width, |i, j| self.t[(i, j)]))
    }

    /// Replaces the basis by the combinations `c`, which are orthonormal.
    fn replace(&mut self, c: &Matrix<f64>) {
        let (n, width) = (self.q.n_rows(), c.n_cols());
        let mut out = Matrix::zeros(n, width);
        combine(out.view_mut(), Onto::Replace, 1.0, self.q(), c.view());
        self.q.view_mut().columns(0..width).copy_from(out.view());
        combine(out.view_mut(), Onto::Replace, 1.0, self.aq(), c.view());
        self.aq.view_mut().columns(0..width).copy_from(out.view());
        let small = Matrix::from_fn(self.width, self.width, |i, j| self.t[(i, j)]);
        let reduced = inner(c.view(), times(&small, c).view());
        for i in 0..width {
            (0..width).for_each(|j| self.t[(i, j)] = 0.5 * (reduced[(i, j)] + reduced[(j, i)]));
        }
        self.width = width;
    }

    fn reset(&mut self, v: &Matrix<f64>, av: &Matrix<f64>) {
        self.width = 0;
        self.append(v, av);
    }
}

/// Coefficients of the first `count` columns.
fn first_columns(s: &Matrix<f64>, count: usize) -> Matrix<f64> {
    s.view().first_columns(count).to_matrix()
}

impl Eigensolver for Davidson {
    fn largest(&self, operator: &dyn LinearOperator, k: usize, how: &SolveOptions<'_>) -> Result<EigenPairs> {
        let n = operator.n_rows();
        let mut run = Run { operator, how, sizes: Sizes::new(n, k), stats: SolveStats::default(), k };
        let start = run.start(n)?;
        if start.n_cols() == 0 {
            let (values, residuals, stats) = (Vec::new(), Vec::new(), SolveStats::default());
            return Ok(EigenPairs { values, vectors: start, residuals, next: None, all: None, stats });
        }
        let mut basis = Basis::new(n, run.sizes.basis);
        let product = run.apply(&start)?;
        basis.append(&start, &product);
        let mut before: Option<Matrix<f64>> = None;
        let mut progress = Progress::default();
        loop {
            run.stats.iterations += 1;
            let (theta, s) = basis.ritz()?;
            let keep = run.sizes.keep.min(basis.width);
            let s = first_columns(&s, keep);
            let residual = residual_block(&basis, &s, &theta);
            let norms = column_norms(residual.view());
            let wanted = run.k.min(keep);
            let judge = run.judge(theta[0]);
            let done = (0..wanted).all(|i| judge.holds(norms[i], theta[i], 1.0));
            let open: Vec<usize> = (0..keep)
                .filter(|i| !judge.holds(norms[*i], theta[*i], SOFT_LOCK))
                .take(run.sizes.widest)
                .collect();
            let stuck = progress.is_stuck(run.worst(&norms, &theta)) && run.at_rounding(&norms[..wanted]);
            if done || stuck || open.is_empty() {
                match run.finish(
                    &mut basis,
                    &s,
                    &theta[..=wanted.min(theta.len() - 1)],
                    &norms[..wanted],
                    stuck,
                )? {
                    Some(pairs) => return Ok(pairs),
                    None => {
                        before = None;
                        continue;
                    }
                }
            }
            run.check_patience(&norms, &theta)?;
            let new = run.directions(&residual, &open, &theta)?;
            let full = basis.width + new.n_cols() > run.sizes.basis;
            let s = if full { restart(&mut basis, &s, before.as_ref())? } else { s };
            let bases: Vec<MatRef<'_, f64>> = how.deflate.into_iter().chain([basis.q()]).collect();
            let mut v = orthonormalise(new, &bases)?;
            if basis.width + v.n_cols() > run.sizes.basis {
                v = first_columns(&v, run.sizes.basis - basis.width);
            }
            if v.n_cols() == 0 {
                // The space is exhausted: what is left is rounding.
                let pairs = run.finish(
                    &mut basis,
                    &s,
                    &theta[..=wanted.min(theta.len() - 1)],
                    &norms[..wanted],
                    true,
                )?;
                return pairs.ok_or_else(|| run.gave_up(&norms, &theta));
            }
            let av = run.apply(&v)?;
            before = Some(Matrix::from_fn(basis.width + v.n_cols(), s.n_cols(), |i, j| {
                if i < s.n_rows() { s[(i, j)] } else { 0.0 }
            }));
            basis.append(&v, &av);
        }
    }
}

/// Notices when residuals no longer fall.
#[derive(Default)]
struct Progress {
    best: Option<f64>,
    idle: usize,
}

impl Progress {
    /// Whether three steps in a row failed to halve the best residual.
    fn is_stuck(&mut self, residual: f64) -> bool {
        match self.best {
            Some(best) if residual > 0.5 * best => self.idle += 1,
            _ => {
                self.best = Some(residual);
                self.idle = 0;
            }
        }
        self.idle >= 3
    }
}

/// R = AQ·S − Q·S·diag(θ), (K21).
fn residual_block(basis: &Basis, s: &Matrix<f64>, theta: &[f64]) -> Matrix<f64> {
    let mut out = Matrix::zeros(basis.q.n_rows(), s.n_cols());
    combine(out.view_mut(), Onto::Replace, 1.0, basis.aq(), s.view());
    let mut scaled = s.clone();
    scale_columns(scaled.view_mut(), theta);
    combine(out.view_mut(), Onto::Add, -1.0, basis.q(), scaled.view());
    out
}

/// Keeps the current Ritz vectors and what the previous ones add to them, (K24). Returns the coefficients of the current
/// Ritz vectors in the new basis.
fn restart(basis: &mut Basis, s: &Matrix<f64>, before: Option<&Matrix<f64>>) -> Result<Matrix<f64>> {
    let keep = s.n_cols();
    let mut kept = s.clone();
    if let Some(before) = before {
        let extra = orthonormalise(before.clone(), &[s.view()])?;
        let width = keep + extra.n_cols();
        kept = Matrix::from_fn(
            s.n_rows(),
            width,
            |i, j| if j < keep { s[(i, j)] } else { extra[(i, j - keep)] },
        );
    }
    basis.replace(&kept);
    Ok(Matrix::from_fn(kept.n_cols(), keep, |i, j| f64::from(u8::from(i == j))))
}

/// One solve: what it was asked and what it has spent.
struct Run<'a> {
    operator: &'a dyn LinearOperator,
    how: &'a SolveOptions<'a>,
    sizes: Sizes,
    stats: SolveStats,
    k: usize,
}

impl Run<'_> {
    /// The sketch's leading vectors and Gaussian probes, orthonormal.
    fn start(&self, n: usize) -> Result<Matrix<f64>> {
        let width = self.sizes.keep;
        let known =
            self.how.sketch.map_or(0, |sketch| sketch.vectors.n_cols().min(width - PROBES.min(width)));
        let mut random = Stream::new(self.how.seed, Purpose::StartBlock);
        let block = Matrix::from_fn(n, width, |i, j| match self.how.sketch {
            Some(sketch) if j < known => sketch.vectors[(i, j)],
            _ => random.gaussian(),
        });
        let bases: Vec<MatRef<'_, f64>> = self.how.deflate.into_iter().collect();
        orthonormalise(block, &bases)
    }

    fn apply(&mut self, block: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.how.watch.step("eigensolver", self.stats.passes, 0)?;
        let mut out = Matrix::zeros(self.operator.n_rows(), block.n_cols());
        self.operator.apply(block.view(), out.view_mut(), self.how.watch)?;
        self.stats.passes += 1;
        self.stats.products += block.n_cols();
        Ok(out)
    }

    fn judge(&self, largest: f64) -> Convergence {
        let (n, unit_roundoff) = (self.operator.n_rows(), self.operator.unit_roundoff());
        Convergence::new(n, self.how.tolerance, largest, self.how.norm_bound, unit_roundoff)
    }

    /// t = −r/θ + U((1/(ℓ−θ) + 1/θ) ∘ Uᵀr): the inverse of (sketch − θ) applied to the residual, (K23).
    fn directions(&self, residual: &Matrix<f64>, open: &[usize], theta: &[f64]) -> Result<Matrix<f64>> {
        let mut r = Matrix::from_fn(residual.n_rows(), open.len(), |i, j| residual[(i, open[j])]);
        let Some(Sketch { vectors, values }) = self.how.sketch else { return Ok(r) };
        let mut weights = inner(vectors.view(), r.view());
        // Ritz values at rounding level would only blow up the scale.
        let least = self.judge(theta[0]).floor.max(f64::MIN_POSITIVE);
        let shift: Vec<f64> = open.iter().map(|i| theta[*i].abs().max(least)).collect();
        for (i, value) in values.iter().enumerate() {
            for (j, t) in shift.iter().enumerate() {
                let gap = value - t;
                let least = SMALLEST_DENOMINATOR * t;
                let gap = if gap.abs() >= least { gap } else { least.copysign(gap) };
                weights[(i, j)] *= 1.0 / gap + 1.0 / t;
            }
        }
        let scale: Vec<f64> = shift.iter().map(|t| -1.0 / t).collect();
        scale_columns(r.view_mut(), &scale);
        combine(r.view_mut(), Onto::Add, 1.0, vectors.view(), weights.view());
        Ok(r)
    }

    /// Whether all residuals are below the bound 2u‖A‖_F that holds for a product's rounding error.
    fn at_rounding(&self, norms: &[f64]) -> bool {
        let noise = 2.0 * self.operator.unit_roundoff() * self.how.norm_bound;
        norms.iter().all(|r| *r <= noise)
    }

    fn worst(&self, norms: &[f64], theta: &[f64]) -> f64 {
        let judge = self.judge(theta.first().copied().unwrap_or(0.0));
        let existing = norms.iter().zip(theta).take(self.k).filter(|(r, t)| !judge.is_null(**r, **t));
        existing.map(|(r, t)| r / t.abs().max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
    }

    /// Forms the wanted Ritz vectors. If a fresh product is asked for, multiplies them anew and returns the pairs only if
    /// the fresh residuals hold too; otherwise the basis is replaced by the fresh vectors and products.
    fn finish(
        &mut self,
        basis: &mut Basis,
        s: &Matrix<f64>,
        theta: &[f64],
        norms: &[f64],
        at_rounding: bool,
    ) -> Result<Option<EigenPairs>> {
        let wanted = norms.len();
        let mut vectors = Matrix::zeros(basis.q.n_rows(), wanted);
        combine(vectors.view_mut(), Onto::Replace, 1.0, basis.q(), s.view().first_columns(wanted));
        let (next, all) = (theta.get(wanted).copied(), None);
        if !self.how.verify {
            let (values, residuals) = (theta[..wanted].to_vec(), norms.to_vec());
            return Ok(Some(EigenPairs { values, vectors, residuals, next, all, stats: self.stats }));
        }
        let product = self.apply(&vectors)?;
        let Refined { values, vectors, product, residuals } = rayleigh_ritz(&vectors, &product)?;
        // Allowance of one tenth: products kept in the basis drift from fresh ones by rounding.
        let judge = self.judge(values.first().copied().unwrap_or(0.0));
        let holds = (0..wanted).all(|i| judge.holds(residuals[i], values[i], 1.1));
        if holds || (at_rounding && self.at_rounding(&residuals)) {
            return Ok(Some(EigenPairs { values, vectors, residuals, next, all, stats: self.stats }));
        }
        if self.stats.passes >= self.how.max_passes {
            return Err(self.gave_up(&residuals, &values));
        }
        basis.reset(&vectors, &product);
        Ok(None)
    }

    fn check_patience(&self, norms: &[f64], theta: &[f64]) -> Result<()> {
        if self.stats.passes < self.how.max_passes { Ok(()) } else { Err(self.gave_up(norms, theta)) }
    }

    fn gave_up(&self, norms: &[f64], theta: &[f64]) -> Error {
        Error::NotConverged {
            passes: self.stats.passes as f64,
            residual: self.worst(norms, theta),
            tolerance: self.how.tolerance,
            action: "Loosen the tolerance, ask for fewer components, or use double precision".into(),
        }
    }
}
