//! Every column with what is to be predicted.

use super::line::Line;
use super::plane::Ruled;
use super::standard_error::Partitions;
use super::{Estimate, Estimator, FeatureScore, one_column, plane, plug_in};
use crate::columns::{Columns, Goal};
use crate::kinds::{Kind, codes};
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use eigenlift::random::{Purpose, Stream};
use eigenlift::stats::Digamma;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Entries of permuted goals held at once.
const BATCH_ENTRIES: usize = 1 << 24;
/// Permutations held at once at least.
const FEWEST_AT_ONCE: usize = 16;
/// Information that is less by no more than this counts as equal.
///
/// Numerics: sums over the same cells in another order differ by rounding.
const SLACK: f64 = 1e-12;

/// What is to be predicted, without the rows that it belongs to.
enum Target {
    Classes(usize),
    Numbers(Ruled),
}

/// A column, sorted or counted once.
enum Column {
    Codes(Vec<u32>, usize),
    Line(Line),
    Ruled(Ruled),
}

struct Scoring<'a> {
    x: &'a Columns,
    kinds: &'a [Kind],
    target: Target,
    estimator: &'a Estimator,
    psi: Digamma,
    watch: &'a Watch,
}

impl Scoring<'_> {
    fn column(&self, j: usize) -> Column {
        match self.kinds.get(j) {
            Some(Kind::Discrete) => {
                let (codes, count) = codes(self.x.column(j));
                Column::Codes(codes, count)
            }
            _ => {
                let line = Line::new(self.x.column(j));
                match self.target {
                    Target::Classes(_) => Column::Line(line),
                    Target::Numbers(_) => Column::Ruled(Ruled::new(line)),
                }
            }
        }
    }

    /// The estimate where `rows` says which goes with which: the class of each row, or the row of each number in their order.
    fn estimate(&self, column: &Column, rows: &[u32]) -> Estimate {
        let k = self.estimator.n_neighbors.max(1);
        let at =
            |codes: &[u32], order: &[u32]| -> Vec<u32> { order.iter().map(|i| codes[*i as usize]).collect() };
        match (column, &self.target) {
            (Column::Codes(codes, count), Target::Classes(n)) => {
                plug_in::information((codes, *count), (rows, *n), self.estimator.corrected)
            }
            (Column::Line(line), Target::Classes(n)) => {
                one_column::information((&line.values, &at(rows, &line.order), *n), k, &self.psi)
            }
            (Column::Codes(codes, count), Target::Numbers(y)) => {
                one_column::information((&y.values, &at(codes, rows), *count), k, &self.psi)
            }
            (Column::Ruled(x), Target::Numbers(y)) => plane::information(x, (y, rows), k, &self.psi),
            _ => Estimate::default(),
        }
    }
}

impl Scoring<'_> {
    /// The standard error of an estimate where `rows` says which goes with which, (S3) and (S27).
    fn error(
        &self,
        column: &Column,
        rows: &[u32],
        (whole, partitions): (&Estimate, &Partitions),
    ) -> Result<f64> {
        self.watch.check()?;
        let k = self.estimator.n_neighbors.max(1);
        let classes = |line: (&[f64], &[u32]), (codes, count): (&[u32], usize), groups: (&[u32], u32)| {
            let kept = || (0..line.0.len()).filter(|at| groups.0[line.1[*at] as usize] == groups.1);
            let values: Vec<f64> = kept().map(|at| line.0[at]).collect();
            let codes: Vec<u32> = kept().map(|at| codes[line.1[at] as usize]).collect();
            one_column::information((&values, &codes, count), k, &self.psi)
        };
        Ok(match (column, &self.target) {
            (Column::Line(line), Target::Classes(n)) => partitions.error(whole, |of_rows, group| {
                classes((&line.values, &line.order), (rows, *n), (of_rows, group))
            }),
            (Column::Codes(codes, count), Target::Numbers(y)) => partitions
                .error(whole, |of_rows, group| classes((&y.values, rows), (codes, *count), (of_rows, group))),
            (Column::Ruled(x), Target::Numbers(y)) => partitions.error(whole, |of_rows, group| {
                let ruled = |values: &[f64], order: &[u32]| {
                    Ruled::new(Line::of_group(values, order, (of_rows, group)))
                };
                let (x, y) = (ruled(&x.values, &x.order), ruled(&y.values, rows));
                plane::information(&x, (&y, &y.order), k, &self.psi)
            }),
            _ => whole.error,
        })
    }
}

/// Scores of all columns, and p-values by permutations of the goal, (S7).
pub(super) fn scores(
    estimator: &Estimator,
    (x, kinds, goal): (&Columns, &[Kind], &Goal),
    (permutations, seed): (usize, u64),
    watch: &Watch,
) -> Result<Vec<FeatureScore>> {
    let n = goal.n_rows().min(x.n_rows());
    let (target, rows) = match goal {
        Goal::Classes { of_rows, n_classes } => (Target::Classes(*n_classes), of_rows.clone()),
        Goal::Numbers(numbers) => {
            let ruled = Ruled::new(Line::new(numbers));
            let rows = ruled.order.clone();
            (Target::Numbers(ruled), rows)
        }
    };
    let scoring = Scoring { x, kinds, target, estimator, psi: Digamma::up_to(n), watch };
    let partitions = Partitions::new(n);
    let at_once = (BATCH_ENTRIES / n.max(1)).max(FEWEST_AT_ONCE);
    let total = x.n_cols() * (1 + permutations.div_ceil(at_once));
    let done = AtomicUsize::new(0);
    let step = || watch.step("information", done.fetch_add(1, Ordering::Relaxed) + 1, total);
    let estimates: Vec<Estimate> = (0..x.n_cols())
        .into_par_iter()
        .map(|j| {
            step()?;
            if n < 2 {
                return Ok(Estimate::default());
            }
            let column = scoring.column(j);
            let estimate = scoring.estimate(&column, &rows);
            let error = scoring.error(&column, &rows, (&estimate, &partitions))?;
            Ok(Estimate { error, ..estimate })
        })
        .collect::<Result<_>>()?;
    let mut reached = vec![(0usize, 0usize); x.n_cols()];
    let mut from = 0;
    while from < permutations {
        let to = permutations.min(from + at_once);
        let permuted: Vec<Vec<u32>> =
            (from..to).into_par_iter().map(|b| scoring.permuted(&rows, (seed, b))).collect();
        scoring.compare(&estimates, &permuted, &mut reached, &step)?;
        from = to;
    }
    let p_value = |count: usize| (permutations > 0).then(|| (1 + count) as f64 / (1 + permutations) as f64);
    let score = |(estimate, (alone, family)): (&Estimate, &(usize, usize))| FeatureScore {
        value: estimate.value,
        error: Some(estimate.error),
        p_value: p_value(*alone),
        family_p_value: p_value(*family),
    };
    Ok(estimates.iter().zip(&reached).map(score).collect())
}

impl Scoring<'_> {
    /// Permutation b of the goal over the rows.
    fn permuted(&self, rows: &[u32], (seed, b): (u64, usize)) -> Vec<u32> {
        let mut stream = Stream::numbered(seed, Purpose::SelectionPermutations, b as u32);
        let mut permuted = rows.to_vec();
        stream.shuffle(&mut permuted);
        permuted
    }

    /// Counts for each column the permutations with which it has as much information, and those with which any column has.
    fn compare(
        &self,
        estimates: &[Estimate],
        permuted: &[Vec<u32>],
        reached: &mut [(usize, usize)],
        step: &(impl Fn() -> Result<()> + Sync),
    ) -> Result<()> {
        let own = |j: usize| -> Result<(usize, Vec<f64>)> {
            step()?;
            let column = self.column(j);
            let value = |rows: &Vec<u32>| {
                self.watch.check()?;
                Ok(self.estimate(&column, rows).value)
            };
            let values = permuted.par_iter().map(value).collect::<Result<Vec<f64>>>()?;
            let count = values.iter().filter(|value| **value >= estimates[j].value - SLACK).count();
            Ok((count, values))
        };
        // Why a reduction in any order is safe: the largest of some numbers does not depend on it.
        let larger = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(&b).for_each(|(x, y)| *x = x.max(*y));
            a
        };
        let counts: Vec<AtomicUsize> = estimates.iter().map(|_| AtomicUsize::new(0)).collect();
        let largest = (0..estimates.len())
            .into_par_iter()
            .map(|j| {
                let (count, values) = own(j)?;
                counts[j].store(count, Ordering::Relaxed);
                Ok(values)
            })
            .try_reduce(|| vec![0.0; permuted.len()], |a, b| Ok(larger(a, b)))?;
        for ((count, estimate), (alone, family)) in counts.iter().zip(estimates).zip(reached) {
            *alone += count.load(Ordering::Relaxed);
            *family += largest.iter().filter(|value| **value >= estimate.value - SLACK).count();
        }
        Ok(())
    }
}
