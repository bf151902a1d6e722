//! The first reading: moments, and features of the rows that are held.

use crate::data::AnyPoints;
use crate::eigen::leading_eigenpairs;
use crate::eigen::rank_threshold;
use crate::error::Result;
use crate::factor::Factor;
use crate::factor::FactorPlan;
use crate::linalg::shift_columns;
use crate::matrix::Matrix;
use crate::model::{block_bytes, human_bytes};
use crate::moments::Partial;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};

/// Rows that starts are made on at most.
const START_ROWS: usize = 20_000;
/// Fewest rows for each cluster that starts are made on, if there are as many.
const ROWS_PER_CLUSTER: usize = 20;
/// Fewest rows that starts are made on, if there are as many.
const FEWEST_ROWS: usize = 500;

/// What is to be clustered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) clusters: usize,
    /// 0 when the first clusters are given.
    pub(super) starts: usize,
    /// Principal components that stand for features.
    pub(super) components: Option<usize>,
}

/// Of which rows features are held.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keep {
    /// Those of all rows.
    pub(super) all: bool,
    /// Those of the rows that starts are made on.
    pub(super) drawn: bool,
    /// Rows that starts are made on; all when `None`.
    pub(super) sample: Option<Vec<usize>>,
}

impl Wish {
    /// What fits into the memory allowed.
    ///
    /// # Errors
    /// When not even some rows that starts could be made on fit.
    pub(super) fn within(self, plan: FactorPlan, seed: u64) -> Result<(FactorPlan, Keep)> {
        let (n, m) = (plan.n_samples, plan.rank);
        let features = self.components.is_none();
        // The landmarks' root, the moments of all rows and of a piece, and two matrices of that size for the eigenproblem; and a piece.
        // What the choice of landmarks takes is free again by then.
        let base = block_bytes(m, 5 * m) + block_bytes(plan.chunk_rows, m + plan.n_features);
        let width = self.components.map_or(m, |q| q.max(2)).max(1) as u128;
        let bytes = |rows: usize| 8 * width * rows as u128;
        let fits = |rows: usize| base + bytes(rows) <= u128::from(plan.bytes_allowed);
        let enough = START_ROWS.max(self.clusters.saturating_mul(ROWS_PER_CLUSTER)).min(n);
        let mut sampled = if self.starts == 0 || enough == n { 0 } else { enough };
        let all = !features || fits(n + sampled);
        if !all && self.starts > 0 {
            // Why: rows that are computed again in every step are too slow for every start.
            let room = u128::from(plan.bytes_allowed).saturating_sub(base) / (8 * width);
            let least = FEWEST_ROWS.max(self.clusters.saturating_mul(ROWS_PER_CLUSTER)).min(n);
            sampled = enough.min(usize::try_from(room).unwrap_or(usize::MAX)).max(least);
        }
        let held = if all { n + sampled } else { sampled };
        let mut plan = plan.needing(base + bytes(held))?;
        plan.reasons.push(match (features, all) {
            (false, _) => "principal components of all rows are held, features of a piece at a time".into(),
            (true, true) => format!("the features of all rows, {}, are held", human_bytes(bytes(n))),
            (true, false) => format!(
                "the features of all rows, {}, do not fit: they are computed again in every step",
                human_bytes(bytes(n))
            ),
        });
        if sampled > 0 {
            plan.reasons.push(format!(
                "{} starts are made on {sampled} of {n} rows, and the best goes on with all of them",
                self.starts
            ));
        }
        let sample = (sampled > 0).then(|| Stream::new(seed, Purpose::StartRows).rows(n, sampled));
        Ok((plan, Keep { all: all && features, drawn: features, sample }))
    }
}

/// What the first reading leaves.
pub(super) struct Reading {
    pub(super) partial: Partial,
    /// Σ k(x,x).
    pub(super) trace: f64,
    /// Features of all rows, minus their mean.
    pub(super) held: Option<Matrix<f64>>,
    /// Features of the rows that starts are made on, minus the mean of all.
    pub(super) sample: Option<Matrix<f64>>,
    pub(super) keep: Keep,
}

impl Reading {
    /// Reads all rows once.
    pub(super) fn of(factor: &Factor, x: AnyPoints<'_>, keep: &Keep, watch: &Watch) -> Result<Self> {
        let (n, m) = (x.n_rows(), factor.dimension());
        let mut partial = Partial::empty(m);
        let mut held = if keep.all { Matrix::zeros(n, m) } else { Matrix::zeros(0, m) };
        let drawn = keep.sample.as_deref().unwrap_or_default();
        let mut sample = Matrix::zeros(if keep.drawn { drawn.len() } else { 0 }, m);
        let (mut trace, mut at) = (0.0, 0);
        factor.each_piece(x, "moments of features", watch, &mut |first, rows| {
            trace += rows.trace;
            let count = rows.features.n_rows();
            if keep.all {
                held.as_mut_slice()[first * m..][..count * m].copy_from_slice(rows.features.as_slice());
            }
            while at < sample.n_rows() && drawn[at] < first + count {
                sample.view_mut().row_mut(at).copy_from_slice(rows.features.row(drawn[at] - first));
                at += 1;
            }
            partial.merge(&Partial::of_matrix(rows.features, rows.residuals.iter().sum()))
        })?;
        let shift: Vec<f64> = partial.mean().iter().map(|mean| -mean).collect();
        shift_columns(held.view_mut(), &shift);
        shift_columns(sample.view_mut(), &shift);
        let held = keep.all.then_some(held);
        let sample = (sample.n_rows() > 0).then_some(sample);
        Ok(Self { partial, trace, held, sample, keep: keep.clone() })
    }

    /// The first kernel principal components over features, as columns; fewer when features do not vary along as many.
    pub(super) fn components(&self, k: usize, watch: &Watch) -> Result<Matrix<f64>> {
        let m = self.partial.dimension();
        let (pairs, _) = leading_eigenpairs(self.partial.scatter(), k.min(m), watch)?;
        let largest = pairs.values.first().copied().unwrap_or(0.0);
        let threshold = rank_threshold(m, largest, self.trace, f64::EPSILON / 2.0);
        let rank = pairs.values.iter().take(k).take_while(|value| **value > threshold).count();
        Ok(pairs.vectors.view().first_columns(rank).to_matrix())
    }
}
