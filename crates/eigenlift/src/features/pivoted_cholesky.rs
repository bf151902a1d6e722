//! Randomly pivoted Cholesky, blocks of pivots at a time by rejection, docs/theory (K25), (K26).

use super::landmarks::dot;
use crate::error::Result;
use crate::linalg::{Onto, column_means, combine, combine_in_place, shift_columns, symmetric_eigen};
use crate::matrix::Matrix;
use crate::moments::scatter;
use crate::operator::GramOperator;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::real::Real;
use rayon::prelude::*;

/// A pivot whose remaining diagonal is below this share of its own is a combination of earlier ones.
const SMALLEST_PIVOT: f64 = 1e-12;
/// Rows of the diagonal that one thread updates at a time.
const ROWS_AT_A_TIME: usize = 1024;
/// The factor is complete when the residual trace is below this share of the trace.
const COMPLETE: f64 = 1e-13;

/// K ≈ F·Fᵀ with K − F·Fᵀ positive semi-definite.
#[derive(Clone, Debug)]
pub struct LowRankFactor {
    /// F, one row for each sample.
    pub factor: Matrix<f64>,
    /// Samples chosen as pivots, in the order of the columns.
    pub pivots: Vec<usize>,
    /// τ = tr(K − F·Fᵀ): no eigenvalue of K is further than this above the factor's.
    pub residual_trace: f64,
}

impl LowRankFactor {
    /// Eigenpairs of the centred factor: λ̂ and orthonormal vectors over samples, down to `share` of the largest.
    ///
    /// Cost: 3·n·m² flops for m columns; memory the vectors, in the precision asked for, beside the factor.
    ///
    /// # Errors
    /// When the small eigenproblem fails, which takes entries of extreme size.
    pub fn centered_eigenpairs<T: Real>(mut self, share: f64) -> Result<(Vec<f64>, Matrix<T>)> {
        let means: Vec<f64> = column_means(self.factor.view()).iter().map(|m| -m).collect();
        shift_columns(self.factor.view_mut(), &means);
        let (values, rotation) = symmetric_eigen(&scatter(self.factor.view()))?;
        let kept = values.iter().take_while(|v| **v > share * values[0] && **v > 0.0).count();
        let scaled = Matrix::from_fn(rotation.n_rows(), kept, |i, j| rotation[(i, j)] / values[j].sqrt());
        combine_in_place(self.factor.view_mut(), scaled.view());
        let vectors = Matrix::from_fn(self.factor.n_rows(), kept, |i, j| T::of(self.factor[(i, j)]));
        Ok((values[..kept].to_vec(), vectors))
    }

    /// Whether F·Fᵀ stays within `diagonal`, that of K, up to a thousandth: it does when K is positive semi-definite.
    pub(crate) fn is_within(&self, diagonal: &[f64]) -> bool {
        let exceeds = |(i, own): (usize, &f64)| {
            let row = self.factor.row(i);
            dot(row, row) > 1.001 * own.max(0.0)
        };
        !diagonal.iter().enumerate().any(exceeds)
    }
}

/// When a factor is good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Most columns.
    pub rank: usize,
    /// The residual trace may be this share of the trace.
    pub share: f64,
}

impl Stop {
    /// Share of the trace below which nothing more is added.
    pub(crate) fn complete(&self) -> f64 {
        self.share.max(COMPLETE)
    }
}

/// Candidates that are drawn in a round.
pub(crate) fn draws_at_a_time(rank: usize) -> usize {
    (rank / 10).max(16)
}

/// A factor of at most `rank` columns. Pivots are drawn in proportion to what is left of the diagonal; a draw is kept with
/// the probability that one-at-a-time pivoting would have given it, so the distribution is the same.
///
/// Cost: (rank + 1)·n entries of K besides rejected corners, 2·n·rank² flops, n·rank numbers.
///
/// # Errors
/// When the work is cancelled or the operator fails.
pub fn pivoted_cholesky(
    gram: &dyn GramOperator,
    rank: usize,
    seed: u64,
    watch: &Watch,
) -> Result<LowRankFactor> {
    pivoted_cholesky_until(gram, Stop { rank, share: 0.0 }, seed, watch)
}

/// As [`pivoted_cholesky`], but ends when the residual trace is small enough.
///
/// # Errors
/// As [`pivoted_cholesky`].
pub(crate) fn pivoted_cholesky_until(
    gram: &dyn GramOperator,
    stop: Stop,
    seed: u64,
    watch: &Watch,
) -> Result<LowRankFactor> {
    let n = gram.n_rows();
    let rank = stop.rank.min(n);
    let complete = stop.complete();
    let mut random = Stream::new(seed, Purpose::Pivots);
    let mut left = vec![0.0; n];
    gram.diagonal(&mut left)?;
    left.iter_mut().for_each(|d| *d = d.max(0.0));
    let (whole, own) = (left.iter().sum::<f64>(), left.clone());
    let mut factor = Matrix::zeros(n, rank);
    let mut pivots: Vec<usize> = Vec::new();
    let block = draws_at_a_time(rank);
    while pivots.len() < rank && left.iter().sum::<f64>() > complete * whole {
        watch.step("low-rank sketch", pivots.len(), rank)?;
        let candidates = draw(&left, block, &mut random);
        let corner = remaining_corner(gram, &factor, pivots.len(), &candidates)?;
        let sizes: Vec<f64> = candidates.iter().map(|i| own[*i]).collect();
        let (kept, root) = reject(&corner, &sizes, rank - pivots.len(), &mut random);
        let accepted: Vec<usize> = kept.iter().map(|j| candidates[*j]).collect();
        if accepted.is_empty() {
            // Every candidate was a combination of earlier pivots: what is left of the diagonal is rounding there.
            candidates.iter().for_each(|i| left[*i] = 0.0);
            continue;
        }
        extend(gram, &mut factor, pivots.len(), &accepted, &inverse_of(&root))?;
        let columns = pivots.len()..pivots.len() + accepted.len();
        left.par_chunks_mut(ROWS_AT_A_TIME).enumerate().for_each(|(piece, left)| {
            for (i, d) in left.iter_mut().enumerate() {
                let new = &factor.row(piece * ROWS_AT_A_TIME + i)[columns.clone()];
                *d = (*d - dot(new, new)).max(0.0);
            }
        });
        accepted.iter().for_each(|i| left[*i] = 0.0);
        pivots.extend(accepted);
    }
    let factor = factor.into_first_columns(pivots.len());
    Ok(LowRankFactor { factor, residual_trace: left.iter().sum(), pivots })
}

/// `count` different samples, each draw in proportion to `weights`; a sample drawn twice counts once.
fn draw(weights: &[f64], count: usize, random: &mut Stream) -> Vec<usize> {
    let mut running = Vec::with_capacity(weights.len());
    let mut total = 0.0;
    for w in weights {
        total += w;
        running.push(total);
    }
    let mut drawn: Vec<usize> = Vec::with_capacity(count);
    for _ in 0..count {
        let target = random.uniform() * total;
        let at = running.partition_point(|sum| *sum <= target).min(weights.len() - 1);
        if weights[at] > 0.0 && !drawn.contains(&at) {
            drawn.push(at);
        }
    }
    drawn
}

/// K(I,I) − F(I,:)·F(I,:)ᵀ.
fn remaining_corner(
    gram: &dyn GramOperator,
    factor: &Matrix<f64>,
    width: usize,
    chosen: &[usize],
) -> Result<Matrix<f64>> {
    let mut corner = Matrix::zeros(chosen.len(), chosen.len());
    gram.corner(chosen, corner.view_mut())?;
    for (a, i) in chosen.iter().enumerate() {
        for (b, j) in chosen.iter().enumerate() {
            corner[(a, b)] -= dot(&factor.row(*i)[..width], &factor.row(*j)[..width]);
        }
    }
    Ok(corner)
}

/// Cholesky of the corner, keeping pivot j with probability (what is left of it)/(what it had when drawn). `own` is k(x,x) of the
/// candidates. Returns the candidates kept, by place, and their Cholesky factor L.
pub(crate) fn reject(
    corner: &Matrix<f64>,
    own: &[f64],
    most: usize,
    random: &mut Stream,
) -> (Vec<usize>, Matrix<f64>) {
    let b = own.len();
    let mut rest = corner.clone();
    let mut kept: Vec<usize> = Vec::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..b {
        let (before, now) = (corner[(j, j)], rest[(j, j)]);
        let chance = random.uniform();
        if kept.len() == most || now <= SMALLEST_PIVOT * own[j] || chance * before >= now {
            continue;
        }
        let root = now.sqrt();
        let column: Vec<f64> = (0..b).map(|i| rest[(i, j)] / root).collect();
        for i in j + 1..b {
            (j + 1..b).for_each(|l| rest[(i, l)] -= column[i] * column[l]);
        }
        kept.push(j);
        columns.push(column);
    }
    let m = kept.len();
    let root = Matrix::from_fn(m, m, |i, j| if j <= i { columns[j][kept[i]] } else { 0.0 });
    (kept, root)
}

/// The inverse of a lower triangle, by forward substitution on the identity.
fn inverse_of(lower: &Matrix<f64>) -> Matrix<f64> {
    let m = lower.n_rows();
    let mut inverse = Matrix::zeros(m, m);
    for c in 0..m {
        for i in c..m {
            let known: f64 = (c..i).map(|j| lower[(i, j)] * inverse[(j, c)]).sum();
            inverse[(i, c)] = (f64::from(u8::from(i == c)) - known) / lower[(i, i)];
        }
    }
    inverse
}

/// New columns of F: (K(:,I) − F·F(I,:)ᵀ)·L⁻ᵀ.
fn extend(
    gram: &dyn GramOperator,
    factor: &mut Matrix<f64>,
    width: usize,
    accepted: &[usize],
    inverse: &Matrix<f64>,
) -> Result<()> {
    let (n, m) = (factor.n_rows(), accepted.len());
    let mut columns = Matrix::zeros(n, m);
    gram.columns(accepted, columns.view_mut())?;
    let chosen = Matrix::from_fn(width, m, |l, j| factor[(accepted[j], l)]);
    combine(columns.view_mut(), Onto::Add, -1.0, factor.view().first_columns(width), chosen.view());
    let turned = Matrix::from_fn(m, m, |i, j| inverse[(j, i)]);
    combine(factor.view_mut().columns(width..width + m), Onto::Replace, 1.0, columns.view(), turned.view());
    Ok(())
}
