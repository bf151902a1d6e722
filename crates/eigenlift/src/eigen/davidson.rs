//! Block Davidson with thick restart (GD+k), docs/theory (K20)–(K24).
//!
//! The basis grows by preconditioned residuals of the pairs that have not converged. When it is full it is replaced by the
//! Ritz vectors of the step before and as many of the best ones as leave room for a block; where negative eigenvalues dominate, their
//! Ritz vectors stay too, or every residual would bring them back. Every new block is orthogonalised against the whole basis and the
//! deflated vectors, in every sweep.

use super::orthonormal::{orthonormalise, times};
use super::rayleigh_ritz::{Refined, rayleigh_ritz};
use super::spectrum::Convergence;
use super::{BasisProducts, EigenPairs, Eigensolver, Sketch, SolveOptions, SolveStats};
use crate::error::{Error, Result};
use crate::linalg::{
    Onto, add_combination, column_norms, combine, combine_in_place, inner, inner_single, scale_columns,
    symmetric_eigen,
};
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::random::{Purpose, Stream};

/// Gaussian columns in the start block: they find what a sketch missed.
const PROBES: usize = 4;
/// Widest block that one pass multiplies.
const WIDEST: usize = 128;
/// Most Ritz vectors improved beside the wanted ones.
const WIDEST_GUARD: usize = 64;
/// Up to this many pairs a basis of four blocks is enough.
const FEW: usize = 32;
/// Bytes that a basis of more than four blocks may take.
const BASIS_BYTES: usize = 1 << 30;
/// A pair whose residual is this far below the tolerance needs no further direction.
const SOFT_LOCK: f64 = 0.1;
/// Denominators of the preconditioner are kept this far from zero, relative to θ.
const SMALLEST_DENOMINATOR: f64 = 0.05;

/// Block Davidson GD+k for a few of the largest eigenpairs of an operator that is expensive to apply.
///
/// Memory: 16·n bytes for each column of the basis, which has about 8k columns up to k = 32 and 14k for k = 64, and four
/// blocks in flight. Cost: a few passes over the matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct Davidson;

/// Sizes of the iteration for k pairs.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    /// Ritz vectors that are improved: k and a guard. What limits the number of passes is the gap between eigenvalue k and
    /// the first one after the guard.
    keep: usize,
    /// Columns added in a step.
    widest: usize,
    /// Columns that the basis may have.
    basis: usize,
}

impl Sizes {
    fn new(n: usize, k: usize) -> Self {
        let k = k.min(n);
        let keep = (k + k.clamp(8, WIDEST_GUARD)).next_multiple_of(8).max(16).min(n);
        let widest = keep.min(WIDEST);
        // Many pairs take more steps, which a small basis would forget: more blocks, unless they cost too much memory or,
        // at small n, more work in the small eigenproblem than the passes they save.
        let (least, most) = (keep + 3 * widest, if k > FEW { keep + 6 * widest } else { keep + 3 * widest });
        let affordable = (BASIS_BYTES / (2 * size_of::<f64>() * n.max(1))).min(n / 16);
        Self { keep, widest, basis: affordable.clamp(least, most).min(n) }
    }
}

/// Columns the solver's basis takes for k pairs of an n × n matrix; twice that many are stored.
pub(crate) fn basis_columns(n: usize, k: usize) -> usize {
    Sizes::new(n, k).basis
}

/// Columns of the first block for k pairs of an n × n matrix.
pub(crate) fn block_columns(n: usize, k: usize) -> usize {
    Sizes::new(n, k).keep
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
        let width = c.n_cols();
        combine_in_place(self.q.view_mut(), c.view());
        combine_in_place(self.aq.view_mut(), c.view());
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
        Impatient { worth: f64::INFINITY }.largest(operator, k, how)
    }
}

/// [`Davidson`] where another solver could do it: gives up as soon as the residuals say that it would take more passes than that one costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impatient {
    /// Passes that the other solver costs.
    pub(crate) worth: f64,
}

impl Eigensolver for Impatient {
    fn largest(&self, operator: &dyn LinearOperator, k: usize, how: &SolveOptions<'_>) -> Result<EigenPairs> {
        let n = operator.n_rows();
        let mut run = Run { operator, how, sizes: Sizes::new(n, k), stats: SolveStats::default(), k };
        let start = run.start(n)?;
        if start.n_cols() == 0 {
            let (values, residuals, stats) = (Vec::new(), Vec::new(), SolveStats::default());
            return Ok(EigenPairs {
                values,
                vectors: start,
                residuals,
                next: None,
                all: None,
                basis: None,
                stats,
            });
        }
        let mut basis = Basis::new(n, run.sizes.basis);
        let product = run.apply(&start)?;
        basis.append(&start, &product);
        let mut before: Option<Matrix<f64>> = None;
        let mut progress = Progress::default();
        loop {
            run.stats.iterations += 1;
            let mut step = Step::new(&basis, run.sizes.keep)?;
            let open = run.open(&step);
            let worst = run.worst(&step.norms, &step.theta);
            let stuck = progress.is_stuck(worst) && run.at_rounding(&step);
            if stuck || open.is_empty() || run.has_converged(&step) {
                if let Some(pairs) = run.finish(&mut basis, &step, stuck)? {
                    return Ok(pairs);
                }
                before = None;
                continue;
            }
            let expected = run.stats.passes as f64 + progress.passes_left(how.tolerance);
            if run.stats.passes >= how.max_passes || expected > self.worth {
                return Err(run.gave_up(&step.norms, &step.theta));
            }
            let new = run.directions(&mut step, &open);
            let room = run.sizes.basis.saturating_sub(new.n_cols());
            let current = match basis.width > room {
                true => restart(&mut basis, &step, before.as_ref(), room)?,
                false => step.leading(),
            };
            let bases: Vec<MatRef<'_, f64>> = how.deflate.into_iter().chain([basis.q()]).collect();
            let mut v = orthonormalise(new, &bases)?;
            if basis.width + v.n_cols() > run.sizes.basis {
                v = first_columns(&v, run.sizes.basis - basis.width);
            }
            if v.n_cols() == 0 {
                return run.exhausted(&mut basis);
            }
            let av = run.apply(&v)?;
            before = Some(Matrix::from_fn(basis.width + v.n_cols(), current.n_cols(), |i, j| {
                if i < current.n_rows() { current[(i, j)] } else { 0.0 }
            }));
            basis.append(&v, &av);
        }
    }
}

/// What the basis holds: Ritz values and coefficients, and the residuals of the leading pairs.
struct Step {
    /// All Ritz values, largest first.
    theta: Vec<f64>,
    /// Coefficients of all Ritz vectors in the basis.
    s: Matrix<f64>,
    /// R = AQ·S − Q·S·diag(θ) of the leading pairs, (K21).
    residual: Matrix<f64>,
    /// Their norms.
    norms: Vec<f64>,
}

impl Step {
    fn new(basis: &Basis, keep: usize) -> Result<Self> {
        let (theta, s) = basis.ritz()?;
        let leading = first_columns(&s, keep.min(basis.width));
        let mut residual = Matrix::zeros(basis.q.n_rows(), leading.n_cols());
        combine(residual.view_mut(), Onto::Replace, 1.0, basis.aq(), leading.view());
        let mut scaled = leading;
        scale_columns(scaled.view_mut(), &theta);
        combine(residual.view_mut(), Onto::Add, -1.0, basis.q(), scaled.view());
        let norms = column_norms(residual.view());
        Ok(Self { theta, s, residual, norms })
    }

    /// Coefficients of the leading Ritz vectors.
    fn leading(&self) -> Matrix<f64> {
        first_columns(&self.s, self.norms.len())
    }
}

/// Notices when residuals no longer fall.
#[derive(Default)]
struct Progress {
    best: Option<f64>,
    idle: usize,
    /// The last three, the latest last.
    recent: [Option<f64>; 3],
}

impl Progress {
    /// Whether three steps in a row failed to halve the best residual.
    fn is_stuck(&mut self, residual: f64) -> bool {
        self.recent = [self.recent[1], self.recent[2], Some(residual)];
        match self.best {
            Some(best) if residual > 0.5 * best => self.idle += 1,
            _ => {
                self.best = Some(residual);
                self.idle = 0;
            }
        }
        self.idle >= 3
    }

    /// Passes until the residual is `tolerance`, if it goes on falling as in the last two steps; 0 before that is known.
    fn passes_left(&self, tolerance: f64) -> f64 {
        let [Some(before), _, Some(now)] = self.recent else { return 0.0 };
        let (goal, step) = ((tolerance / now).ln(), 0.5 * (now / before).ln());
        match (goal < 0.0, step < 0.0) {
            (false, _) => 0.0,
            (true, false) => f64::INFINITY,
            (true, true) => goal / step,
        }
    }
}

/// Shrinks the basis to at most `room` columns: the previous step's Ritz vectors, those of negative Ritz values that dominate, and
/// as many of the leading ones as there is room for, (K24). Returns the coefficients of the leading Ritz vectors in the new basis.
fn restart(basis: &mut Basis, step: &Step, before: Option<&Matrix<f64>>, room: usize) -> Result<Matrix<f64>> {
    let leading = step.norms.len();
    let reserved = before.map_or(0, Matrix::n_cols);
    let dominant = step.theta.iter().filter(|t| **t < -step.theta[0].abs()).count();
    let last = dominant.min(leading / 2).min(room.min(basis.width).saturating_sub(leading));
    let first = room.saturating_sub(reserved + last).clamp(leading, basis.width - last);
    let current = first + last;
    let from_end = basis.width - current;
    let s =
        Matrix::from_fn(basis.width, current, |i, j| step.s[(i, if j < first { j } else { j + from_end })]);
    let extra = match before {
        Some(before) => orthonormalise(before.clone(), &[s.view()])?,
        None => Matrix::zeros(basis.width, 0),
    };
    let width = (current + extra.n_cols()).min(room.max(current));
    let kept =
        Matrix::from_fn(
            basis.width,
            width,
            |i, j| {
                if j < current { s[(i, j)] } else { extra[(i, j - current)] }
            },
        );
    basis.replace(&kept);
    Ok(Matrix::from_fn(width, leading, |i, j| f64::from(u8::from(i == j))))
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
    /// What is nearly right, the sketch's leading vectors and Gaussian probes, orthonormal, (K20).
    fn start(&self, n: usize) -> Result<Matrix<f64>> {
        let width = self.sizes.keep;
        let most = width - PROBES.min(width);
        let near = self.how.start.map_or(0, |start| start.n_cols().min(most));
        let known = self.how.sketch.map_or(near, |sketch| sketch.vectors.n_cols().min(most).max(near));
        let mut random = Stream::new(self.how.seed, Purpose::StartBlock);
        let block = Matrix::from_fn(n, width, |i, j| match (self.how.start, self.how.sketch) {
            (Some(start), _) if j < near => start.row(i)[j],
            (_, Some(sketch)) if j < known => f64::from(sketch.vectors[(i, j)]),
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

    /// How many of the leading pairs are asked for.
    fn wanted(&self, step: &Step) -> usize {
        self.k.min(step.norms.len())
    }

    fn has_converged(&self, step: &Step) -> bool {
        let judge = self.judge(step.theta[0]);
        (0..self.wanted(step)).all(|i| judge.holds(step.norms[i], step.theta[i], 1.0))
    }

    /// Leading pairs that need a further direction, (K22).
    fn open(&self, step: &Step) -> Vec<usize> {
        let judge = self.judge(step.theta[0]);
        let open = (0..step.norms.len()).filter(|i| !judge.holds(step.norms[*i], step.theta[*i], SOFT_LOCK));
        open.take(self.sizes.widest).collect()
    }

    /// t = −r/θ + U((1/(ℓ−θ) + 1/θ) ∘ Uᵀr): the inverse of (sketch − θ) applied to the residual, (K23).
    ///
    /// Takes the residuals out of the step: they are not needed afterwards, and a block of memory is free for the pass.
    fn directions(&self, step: &mut Step, open: &[usize]) -> Matrix<f64> {
        let residual = std::mem::replace(&mut step.residual, Matrix::zeros(0, 0));
        let mut r = Matrix::from_fn(residual.n_rows(), open.len(), |i, j| residual[(i, open[j])]);
        drop(residual);
        let Some(Sketch { vectors, values }) = self.how.sketch else { return r };
        let mut weights = inner_single(vectors.view(), r.view());
        // Ritz values at rounding level would only blow up the scale.
        let least = self.judge(step.theta[0]).floor.max(f64::MIN_POSITIVE);
        let shift: Vec<f64> = open.iter().map(|i| step.theta[*i].abs().max(least)).collect();
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
        add_combination(r.view_mut(), vectors.view(), weights.view());
        r
    }

    /// Whether the wanted residuals are below the bound 2u‖A‖_F that holds for a product's rounding error.
    fn at_rounding(&self, step: &Step) -> bool {
        self.are_rounding(&step.norms[..self.wanted(step)])
    }

    fn are_rounding(&self, norms: &[f64]) -> bool {
        let noise = 2.0 * self.operator.unit_roundoff() * self.how.norm_bound;
        norms.iter().all(|r| *r <= noise)
    }

    fn worst(&self, norms: &[f64], theta: &[f64]) -> f64 {
        let judge = self.judge(theta.first().copied().unwrap_or(0.0));
        let existing = norms.iter().zip(theta).take(self.k).filter(|(r, t)| !judge.is_null(**r, **t));
        existing.map(|(r, t)| r / t.abs().max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
    }

    /// No direction is left: the basis spans the whole space, and residuals are rounding or there is no answer.
    fn exhausted(&mut self, basis: &mut Basis) -> Result<EigenPairs> {
        let step = Step::new(basis, self.sizes.keep)?;
        if !self.has_converged(&step) && !self.at_rounding(&step) {
            return Err(self.gave_up(&step.norms, &step.theta));
        }
        let pairs = self.finish(basis, &step, true)?;
        pairs.ok_or_else(|| self.gave_up(&step.norms, &step.theta))
    }

    /// Forms the wanted Ritz vectors. If a fresh product is asked for, multiplies them anew and returns the pairs only if
    /// the fresh residuals hold too; otherwise the basis is replaced by the fresh vectors and products.
    fn finish(&mut self, basis: &mut Basis, step: &Step, at_rounding: bool) -> Result<Option<EigenPairs>> {
        let wanted = self.wanted(step);
        let mut vectors = Matrix::zeros(basis.q.n_rows(), wanted);
        combine(vectors.view_mut(), Onto::Replace, 1.0, basis.q(), step.s.view().first_columns(wanted));
        let (next, all) = (step.theta.get(wanted).copied(), None);
        if !self.how.verify {
            let (values, residuals) = (step.theta[..wanted].to_vec(), step.norms[..wanted].to_vec());
            let basis = self.products(basis);
            return Ok(Some(EigenPairs { values, vectors, residuals, next, all, basis, stats: self.stats }));
        }
        let product = self.apply(&vectors)?;
        let Refined { values, vectors, product, residuals } = rayleigh_ritz(&vectors, &product)?;
        // Allowance of one tenth: products kept in the basis drift from fresh ones by rounding.
        let judge = self.judge(values.first().copied().unwrap_or(0.0));
        let holds = (0..wanted).all(|i| judge.holds(residuals[i], values[i], 1.1));
        if holds || (at_rounding && self.are_rounding(&residuals)) {
            let basis = self.products(basis);
            return Ok(Some(EigenPairs { values, vectors, residuals, next, all, basis, stats: self.stats }));
        }
        if self.stats.passes >= self.how.max_passes {
            return Err(self.gave_up(&residuals, &values));
        }
        basis.reset(&vectors, &product);
        Ok(None)
    }

    /// What the basis proves about all eigenvalues, if that is wanted.
    fn products(&self, basis: &Basis) -> Option<BasisProducts> {
        let unit_roundoff = self.operator.unit_roundoff();
        self.how.basis.then(|| BasisProducts::new(basis.q(), basis.aq(), unit_roundoff))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_left_are_those_of_a_geometric_fall() {
        let mut progress = Progress::default();
        let mut left = Vec::new();
        for residual in [1.0, 0.5, 0.25, 0.3, 0.3] {
            progress.is_stuck(residual);
            left.push(progress.passes_left(1.0 / 1024.0));
        }
        assert_eq!(left[..2], [0.0, 0.0]);
        // From 2⁻² to 2⁻¹⁰ by halves.
        assert!((left[2] - 8.0).abs() < 1e-12, "{left:?}");
        assert!(left[3] > 20.0 && left[4].is_infinite(), "{left:?}");
        assert_eq!(progress.passes_left(0.5), 0.0);
    }
}
