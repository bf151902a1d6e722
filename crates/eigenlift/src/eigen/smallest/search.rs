//! The search space: lowest Ritz pairs of A, and the directions it grows by.

use super::improve::Improve;
use super::{Problem, ratio};
use crate::eigen::orthonormal::orthonormalise;
use crate::eigen::rayleigh_ritz::{Refined, rayleigh_ritz};
use crate::eigen::{EigenPairs, SolveStats};
use crate::error::Result;
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;
use crate::random::{Purpose, Stream};

/// Fewest and most Ritz pairs that are improved beside the wanted ones.
const GUARD: (usize, usize) = (8, 32);
/// Columns of the space, in blocks.
const BLOCKS: usize = 5;
/// A pair whose residual is this far below what is asked needs no further direction.
const SOFT_LOCK: f64 = 0.1;
/// Steps without progress after which residuals at rounding are taken as they are.
const IDLE: usize = 3;
/// Allowance for residuals of a fresh product: those kept in the space drift from it by rounding.
const FRESH: f64 = 1.1;

/// Ritz pairs that are improved for k that are wanted.
pub(super) fn kept(k: usize) -> usize {
    k + k.clamp(GUARD.0, GUARD.1)
}

/// Bytes that the search takes for k pairs of n rows: the space, its product and their next versions.
pub(super) fn bytes(n: usize, k: usize) -> u64 {
    (4 * BLOCKS * kept(k.min(n)) * size_of::<f64>()) as u64 * n as u64
}

/// One search.
pub(super) struct Search<'a> {
    problem: &'a Problem<'a>,
    improve: &'a dyn Improve,
    stats: SolveStats,
}

impl<'a> Search<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, improve: &'a dyn Improve) -> Self {
        Self { problem, improve, stats: SolveStats::default() }
    }

    /// The wanted pairs, smallest first.
    ///
    /// Each step: Ritz pairs of −A, largest first; residuals of the leading ones that are open, improved, made orthonormal to
    /// the space and to what is deflated, and appended. A full space is cut to its leading half.
    pub(super) fn run(mut self) -> Result<EigenPairs> {
        let (n, wanted, keep) = (self.problem.matrix.n(), self.problem.k, kept(self.problem.k));
        let mut random = Stream::new(self.problem.how.seed, Purpose::StartBlock);
        let start = self.fresh(Matrix::from_fn(n, keep, |_, _| random.gaussian()), None)?;
        let mut space = self.ritz(&start, None)?;
        let (mut best, mut idle) = (f64::INFINITY, 0);
        loop {
            self.stats.iterations += 1;
            let found = wanted.min(space.values.len());
            let worst = self.problem.worst(&space.residuals[..found], &space.values[..found]);
            (best, idle) = if worst <= 0.5 * best { (worst, 0) } else { (best, idle + 1) };
            let stuck = idle >= IDLE && self.problem.are_noise(&space.residuals[..found]);
            let open = self.open(&space, keep);
            if worst <= 1.0 || stuck || open.is_empty() {
                match self.finish(&space, found, stuck)? {
                    Ok(pairs) => return Ok(pairs),
                    Err(again) => space = again,
                }
            }
            if self.stats.iterations >= self.improve.patience() {
                return Err(self.problem.not_converged(self.stats.passes, worst, self.improve.advice()));
            }
            let open = self.open(&space, keep);
            let directions = self.improve.improve(residuals(&space, &open))?;
            self.stats.passes += self.improve.passes();
            self.stats.products += self.improve.passes() * open.len();
            if space.values.len() + open.len() > BLOCKS * keep {
                space = first(&space, 2 * keep);
            }
            let fresh = self.fresh(directions, Some(space.vectors.view()))?;
            if fresh.n_cols() == 0 {
                return match self.finish(&space, found, true)? {
                    Ok(pairs) => Ok(pairs),
                    Err(_) => {
                        Err(self.problem.not_converged(self.stats.passes, worst, self.improve.advice()))
                    }
                };
            }
            space = self.ritz(&fresh, Some(space))?;
        }
    }

    /// Leading pairs that need a further direction.
    fn open(&self, space: &Refined, keep: usize) -> Vec<usize> {
        let leading = keep.min(space.values.len());
        let far = |i: &usize| ratio(space.residuals[*i], self.problem.target(space.values[*i])) > SOFT_LOCK;
        (0..leading).filter(far).collect()
    }

    /// An orthonormal basis of a block, orthogonal to the space and to what is deflated.
    fn fresh(&self, block: Matrix<f64>, space: Option<MatRef<'_, f64>>) -> Result<Matrix<f64>> {
        let known = Some(self.problem.known.view()).filter(|known| known.n_cols() > 0);
        let bases: Vec<MatRef<'_, f64>> = known.into_iter().chain(space).collect();
        orthonormalise(block, &bases)
    }

    /// Ritz pairs, smallest first, of the space with a block appended.
    fn ritz(&mut self, block: &Matrix<f64>, space: Option<Refined>) -> Result<Refined> {
        let product = self.negated_product(block)?;
        let refined = match space {
            None => rayleigh_ritz(block, &product)?,
            Some(space) => {
                let vectors = beside(&space.vectors, block);
                let products = beside(&space.product, &product);
                drop(space);
                rayleigh_ritz(&vectors, &products)?
            }
        };
        Ok(Refined { values: refined.values.iter().map(|value| -value).collect(), ..refined })
    }

    /// −A·block: of −A the smallest pairs of A are the leading ones.
    fn negated_product(&mut self, block: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.problem.how.watch.step("smallest eigenpairs", self.stats.passes, 0)?;
        let mut product = Matrix::zeros(block.n_rows(), block.n_cols());
        self.problem.matrix.apply(block.view(), product.view_mut(), self.problem.how.watch)?;
        product.as_mut_slice().iter_mut().for_each(|x| *x = -*x);
        self.stats.passes += 1;
        self.stats.products += block.n_cols();
        Ok(product)
    }

    /// The wanted pairs if their residuals hold in a product of their own, else the space that product leaves.
    fn finish(
        &mut self,
        space: &Refined,
        found: usize,
        stuck: bool,
    ) -> Result<std::result::Result<EigenPairs, Refined>> {
        let vectors = self.fresh(first_columns(&space.vectors, kept(self.problem.k)), None)?;
        let next = space.values.get(found).copied();
        let pairs = self.ritz(&vectors, None)?;
        let (values, residuals) = (&pairs.values[..found], &pairs.residuals[..found]);
        let holds = self.problem.worst(residuals, values) <= FRESH;
        if !(holds || stuck && self.problem.are_noise(residuals)) {
            return Ok(Err(pairs));
        }
        let (values, residuals) = (values.to_vec(), residuals.to_vec());
        let vectors = first_columns(&pairs.vectors, found);
        Ok(Ok(EigenPairs { values, vectors, residuals, next, all: None, basis: None, stats: self.stats }))
    }
}

/// −(Av − θv) of the pairs named.
fn residuals(space: &Refined, open: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(space.vectors.n_rows(), open.len(), |i, j| {
        let at = open[j];
        space.product[(i, at)] + space.values[at] * space.vectors[(i, at)]
    })
}

/// The leading pairs.
fn first(space: &Refined, count: usize) -> Refined {
    let count = count.min(space.values.len());
    Refined {
        values: space.values[..count].to_vec(),
        vectors: first_columns(&space.vectors, count),
        product: first_columns(&space.product, count),
        residuals: space.residuals[..count].to_vec(),
    }
}

fn first_columns(m: &Matrix<f64>, count: usize) -> Matrix<f64> {
    m.view().first_columns(count).to_matrix()
}

fn beside(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let width = a.n_cols();
    let mut out = Matrix::zeros(a.n_rows(), width + b.n_cols());
    out.view_mut().columns(0..width).copy_from(a.view());
    out.view_mut().columns(width..width + b.n_cols()).copy_from(b.view());
    out
}
