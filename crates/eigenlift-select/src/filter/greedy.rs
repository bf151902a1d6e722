//! One feature after the other by mutual information: mRMR and JMI, docs/theory (S8), (S9).

use super::Ranking;
use crate::columns::{Columns, Goal};
use crate::information::{Estimator, FeatureScore, Variable};
use crate::kinds::{Kind, codes};
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use rayon::prelude::*;

/// A column as the estimators see it.
enum Coded<'a> {
    Discrete(Vec<u32>, usize),
    Continuous(&'a [f64]),
}

impl Coded<'_> {
    fn variable(&self) -> Variable<'_> {
        match self {
            Self::Discrete(codes, count) => Variable::Discrete(codes, *count),
            Self::Continuous(values) => Variable::Continuous(values),
        }
    }
}

/// Columns and goal, ready for estimates.
pub(super) struct Greedy<'a> {
    columns: Vec<Coded<'a>>,
    goal: Coded<'a>,
    estimator: Estimator,
}

impl<'a> Greedy<'a> {
    pub(super) fn new((x, kinds, goal): (&'a Columns, &[Kind], &'a Goal), estimator: Estimator) -> Self {
        let coded = |j: usize| match kinds.get(j) {
            Some(Kind::Discrete) => {
                let (codes, count) = codes(x.column(j));
                Coded::Discrete(codes, count)
            }
            _ => Coded::Continuous(x.column(j)),
        };
        let goal = match goal {
            Goal::Classes { of_rows, n_classes } => Coded::Discrete(of_rows.clone(), *n_classes),
            Goal::Numbers(numbers) => Coded::Continuous(numbers),
        };
        Self { columns: (0..x.n_cols()).map(coded).collect(), goal, estimator }
    }

    /// I(x_j; x_s).
    fn redundancy(&self, j: usize, s: usize) -> f64 {
        self.estimator.between(&[self.columns[j].variable()], &[self.columns[s].variable()]).value
    }

    /// I({x_j, x_s}; y) = I(x_s; y) + I(x_j; y | x_s).
    fn joint(&self, j: usize, s: usize) -> f64 {
        let pair = [self.columns[j].variable(), self.columns[s].variable()];
        self.estimator.between(&pair, &[self.goal.variable()]).value
    }

    /// At most `most` features. The first is the most relevant, the largest I(x_j; y). Each further one is largest in
    ///
    ///   I(x_j; y) − (1/|S|) Σ_{s∈S} I(x_j; x_s)   for mRMR, (S8),
    ///   (1/|S|) Σ_{s∈S} I({x_j, x_s}; y)          for JMI, `joint`, (S9),
    ///
    /// S being the features taken before. Equal values go by column number.
    ///
    /// Cost: one estimate for each feature left when one is taken, fewer than most·d in all; the sums are kept.
    ///
    /// # Errors
    /// When the work is cancelled.
    pub(super) fn rank(
        &self,
        scores: Vec<FeatureScore>,
        (most, joint): (usize, bool),
        watch: &Watch,
    ) -> Result<Ranking> {
        let d = self.columns.len();
        let most = most.min(d);
        let (mut order, mut values) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut left: Vec<usize> = (0..d).collect();
        let mut sums = vec![0.0; d];
        while order.len() < most {
            watch.step("features", order.len(), most)?;
            let taken = order.len();
            let merit = |j: usize| match (taken, joint) {
                (0, _) => scores[j].value,
                (_, true) => sums[j] / taken as f64,
                (_, false) => scores[j].value - sums[j] / taken as f64,
            };
            let Some((at, value)) = largest(&left, merit) else { break };
            let best = left.remove(at);
            order.push(best);
            values.push(value);
            if order.len() == most {
                break;
            }
            let estimate = |j: &usize| {
                watch.check()?;
                Ok(if joint { self.joint(*j, best) } else { self.redundancy(*j, best) })
            };
            let found: Vec<f64> = left.par_iter().map(estimate).collect::<Result<_>>()?;
            left.iter().zip(&found).for_each(|(j, value)| sums[*j] += value);
        }
        watch.step("features", most, most)?;
        Ok(Ranking { order, values, scores })
    }
}

/// Where the largest merit stands among the features left, the first of equal ones, and that merit.
fn largest(left: &[usize], merit: impl Fn(usize) -> f64) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (at, j) in left.iter().enumerate() {
        let value = merit(*j);
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((at, value));
        }
    }
    best
}
