//! The nearest training rows vote, with one feature more or less at the price of one pass over the training rows.

mod nearest;
#[cfg(test)]
mod tests;

use super::super::columns::Goal;
use super::{Learner, Measure, Task};
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use nearest::{AddTerms, BLOCK, Finder, Plain, Square, Term};
use rayon::prelude::*;
use std::ops::Range;

/// Numbers that the sums of a piece of rows should have together, so that they stay in a cache near the processor.
const NEAR: usize = 1 << 15;

/// The k nearest training rows by squared distance over the present features; of rows equally far those that come first.
/// They vote: the class that most of them have, the lowest number of several; or the mean, summed in the order of the rows.
/// All training rows vote when k is more. Without features all training rows do.
///
/// With D(r) = Σ_{j ∈ S} (x_rj − t_j)² of one row t held out, summed once for all candidates,
///
/// D_{S+j}(r) = D(r) + (x_rj − t_j)², D_{S−j}(r) = Σ_{i before j} (x_ri − t_i)² + Σ_{i after j} (x_ri − t_i)², (S16).
///
/// Numerics: nothing is subtracted, so rows that are equal stay at distance 0. Features keep the order they were added in.
/// Sums over features before one go from the first on, sums over those after it from the last back. The sum over the present
/// features is the one that the last `remove` chose, then one term for each feature added since, in order; so `scores_with` and
/// `scores_without` are, bit for bit, what `score` says after `add` or `remove`.
///
/// Cost: memory for all columns of the fold once and, for each thread, for 4 to 16 columns of sums forward, 2√|S| + 2 backward. A
/// step over m candidates takes (|S| + m)·n_test·n_train terms forward, 4|S|·n_test·n_train backward.
pub(super) struct Knn {
    n_neighbors: usize,
    measure: Measure,
    /// Columns of the training rows, each filled up with zeros to `height`.
    train: Vec<f64>,
    height: usize,
    /// Columns of the rows held out.
    test: Vec<f64>,
    known: Goal,
    asked: Goal,
    present: Vec<usize>,
    /// Where the last feature taken out stood.
    gap: usize,
    /// How many features there were after that.
    old: usize,
}

impl Knn {
    pub(super) fn new(task: Task<'_>, n_neighbors: usize) -> Self {
        let fold = task.fold;
        let height = fold.train.len().div_ceil(BLOCK) * BLOCK;
        // Numerics: where the mean or scale of a column is beyond the largest number, its rows have no distances.
        let sound = |x: &mut f64| *x = if x.is_nan() { 0.0 } else { *x };
        let column = |j: usize| {
            let (mut train, mut test) = (task.train(j), task.test(j));
            train.iter_mut().chain(&mut test).for_each(sound);
            train.resize(height, 0.0);
            (train, test)
        };
        let (train, test): (Vec<_>, Vec<_>) = (0..task.columns.n_cols()).map(column).unzip();
        Self {
            n_neighbors: n_neighbors.max(1),
            measure: task.measure,
            train: train.concat(),
            height,
            test: test.concat(),
            known: task.goal.of_rows(&fold.train),
            asked: task.goal.of_rows(&fold.test),
            present: Vec::new(),
            gap: 0,
            old: 0,
        }
    }

    fn column(&self, feature: usize) -> &[f64] {
        &self.train[feature * self.height..(feature + 1) * self.height]
    }

    fn value(&self, row: usize, feature: usize) -> f64 {
        self.test[feature * self.asked.n_rows() + row]
    }

    /// Adds the terms of these features for one row held out, in this order.
    fn add_terms(&self, sums: &mut [f64], row: usize, features: impl Iterator<Item = usize>) {
        for feature in features {
            add(sums, self.column(feature), Square(self.value(row, feature)));
        }
    }

    /// Distances 0 to all training rows.
    fn nothing(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.height];
        sums[self.known.n_rows()..].fill(f64::INFINITY);
        sums
    }

    /// D of one row held out.
    fn sums(&self, row: usize) -> Vec<f64> {
        let mut sums = self.nothing();
        let features = |range: Range<usize>| self.present[range].iter().copied();
        self.add_terms(&mut sums, row, features(0..self.gap));
        if self.gap < self.old {
            let mut after = vec![0.0; self.height];
            self.add_terms(&mut after, row, features(self.gap..self.old).rev());
            add(&mut sums, &after, Plain);
        }
        self.add_terms(&mut sums, row, features(self.old..self.present.len()));
        sums
    }

    /// Predictions for rows held out, for one candidate after the other.
    fn predictions_with(&self, rows: Range<usize>, features: &[usize]) -> Vec<f64> {
        let mut voters = self.voters();
        let sums: Vec<Vec<f64>> = rows.clone().map(|row| self.sums(row)).collect();
        let mut predictions = Vec::with_capacity(features.len() * rows.len());
        for feature in features {
            let column = self.column(*feature);
            for (row, sums) in rows.clone().zip(&sums) {
                voters.finder.search(sums, column, Square(self.value(row, *feature)));
                predictions.push(voters.vote());
            }
        }
        predictions
    }

    /// Predictions for one row held out without each of the present features.
    ///
    /// Cost: sums over the features after each are kept for every √|S|-th, then for the features up to the next.
    fn predictions_without(&self, row: usize, voters: &mut Voters<'_>) -> Vec<f64> {
        let step = self.present.len().isqrt().max(1);
        let mut after: Vec<f64> = vec![0.0; self.height];
        let mut kept = Vec::new();
        for features in self.present.chunks(step).rev() {
            kept.push(after.clone());
            self.add_terms(&mut after, row, features.iter().rev().copied());
        }
        let mut before = self.nothing();
        let mut predictions = Vec::with_capacity(self.present.len());
        for features in self.present.chunks(step) {
            let mut afters: Vec<Vec<f64>> = kept.pop().into_iter().collect();
            for feature in features[1..].iter().rev() {
                let mut more = afters[afters.len() - 1].clone();
                self.add_terms(&mut more, row, std::iter::once(*feature));
                afters.push(more);
            }
            for (feature, after) in features.iter().zip(afters.iter().rev()) {
                voters.finder.search(&before, after, Plain);
                predictions.push(voters.vote());
                self.add_terms(&mut before, row, std::iter::once(*feature));
            }
        }
        predictions
    }

    fn voters(&self) -> Voters<'_> {
        let n_classes = match &self.known {
            Goal::Classes { n_classes, .. } => *n_classes,
            Goal::Numbers(_) => 0,
        };
        let finder = Finder::new(self.known.n_rows(), self.n_neighbors);
        Voters { finder, known: &self.known, counts: vec![0; n_classes] }
    }

    /// Scores of each candidate from predictions in pieces of rows, in each piece for one candidate after the other.
    fn scores(
        &self,
        n_candidates: usize,
        watch: &Watch,
        predict: impl Fn(Range<usize>) -> Vec<f64> + Sync,
    ) -> Result<Vec<f64>> {
        let n_rows = self.asked.n_rows();
        let size = (NEAR / self.height.max(1)).clamp(4, 16);
        let piece = |piece: usize| {
            watch.check()?;
            Ok(predict(piece * size..n_rows.min((piece + 1) * size)))
        };
        let pieces: Vec<Vec<f64>> =
            (0..n_rows.div_ceil(size)).into_par_iter().map(piece).collect::<Result<_>>()?;
        let of_candidate = |candidate: usize| {
            let part = |piece: &Vec<f64>| {
                let n = piece.len() / n_candidates;
                piece[candidate * n..(candidate + 1) * n].to_vec()
            };
            self.judged(&pieces.iter().flat_map(part).collect::<Vec<f64>>())
        };
        Ok((0..n_candidates).into_par_iter().map(of_candidate).collect())
    }

    /// The score of a prediction for each row held out.
    fn judged(&self, predictions: &[f64]) -> f64 {
        match &self.asked {
            Goal::Numbers(right) => self.measure.of_numbers(predictions, right),
            Goal::Classes { of_rows, n_classes } => {
                let classes: Vec<u32> = predictions.iter().map(|class| *class as u32).collect();
                self.measure.of_classes(&classes, of_rows, *n_classes)
            }
        }
    }

    /// The score of a guess from the training labels alone.
    fn guess(&self) -> f64 {
        let mut voters = self.voters();
        let prediction = voters.vote_of(0..self.known.n_rows());
        self.judged(&vec![prediction; self.asked.n_rows()])
    }
}

/// Adds the term of each value.
fn add<T: Term>(sums: &mut [f64], values: &[f64], term: T) {
    eigenlift::simd::dispatch(AddTerms { sums, values, term });
}

/// Finds neighbours and counts their votes.
struct Voters<'a> {
    finder: Finder,
    known: &'a Goal,
    /// Votes of each class; 0 between votes.
    counts: Vec<u32>,
}

impl Voters<'_> {
    /// What the rows found predict: a number, or that of a class.
    fn vote(&mut self) -> f64 {
        if matches!(self.known, Goal::Numbers(_)) {
            self.finder.sort();
        }
        let rows = self.finder.found();
        count(self.known, &mut self.counts, rows)
    }

    fn vote_of(&mut self, rows: impl ExactSizeIterator<Item = usize> + Clone) -> f64 {
        count(self.known, &mut self.counts, rows)
    }
}

/// The class of most rows, the lowest of several, or the mean; 0 for no rows. Votes are 0 before and after.
fn count(known: &Goal, votes: &mut [u32], rows: impl ExactSizeIterator<Item = usize> + Clone) -> f64 {
    match known {
        Goal::Numbers(numbers) => {
            let n = rows.len().max(1) as f64;
            rows.map(|row| numbers[row]).sum::<f64>() / n
        }
        Goal::Classes { of_rows, .. } => {
            rows.clone().for_each(|row| votes[of_rows[row] as usize] += 1);
            let (mut most, mut best) = (0, 0);
            for row in rows {
                let class = of_rows[row];
                let n = std::mem::take(&mut votes[class as usize]);
                if n > most || (n == most && n > 0 && class < best) {
                    (most, best) = (n, class);
                }
            }
            f64::from(best)
        }
    }
}

impl Learner for Knn {
    fn score(&self) -> f64 {
        if self.present.is_empty() {
            return self.guess();
        }
        let none = vec![0.0; self.height];
        let predict = |rows: Range<usize>| {
            let mut voters = self.voters();
            let one = |row: usize| {
                voters.finder.search(&self.sums(row), &none, Plain);
                voters.vote()
            };
            rows.map(one).collect()
        };
        self.scores(1, &Watch::default(), predict).map_or(f64::NAN, |scores| scores[0])
    }

    fn scores_with(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        self.scores(features.len(), watch, |rows| self.predictions_with(rows, features))
    }

    fn scores_without(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        if self.present.len() < 2 {
            return Ok(vec![self.guess(); features.len()]);
        }
        let at = |feature: &usize| self.present.iter().position(|present| present == feature).unwrap_or(0);
        let places: Vec<usize> = features.iter().map(at).collect();
        self.scores(features.len(), watch, |rows| {
            let mut voters = self.voters();
            let of_rows: Vec<Vec<f64>> = rows.map(|row| self.predictions_without(row, &mut voters)).collect();
            places.iter().flat_map(|place| of_rows.iter().map(|row| row[*place])).collect()
        })
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        self.present.push(feature);
        Ok(())
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        if let Some(place) = self.present.iter().position(|present| *present == feature) {
            self.present.remove(place);
            (self.gap, self.old) = (place, self.present.len());
        }
        Ok(())
    }
}
