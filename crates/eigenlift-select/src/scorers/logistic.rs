//! Logistic regression, of several classes by their probabilities together, (S21).

mod descent;
mod loss;
mod metric;
#[cfg(test)]
mod tests;

use super::solved::{HeldOut, centred};
use super::{Learner, Task};
use descent::descend;
use eigenlift::error::Result;
use eigenlift::matrix::Matrix;
use eigenlift::progress::Watch;
use loss::{Loss, Point};
use metric::Metric;
use rayon::prelude::*;

/// Minimises C·Σ −ln p(class of row) + ½‖W‖² with p the softmax of the outputs Wᵀx + b, or of two classes the logistic function
/// of one output; intercepts b have no weight.
///
/// With one feature more, coefficients start from the present ones and 0, and steps go by the inverse second derivatives of the
/// present fit with a border for that feature, corrected by the gradients met on the way; with one less, by those without it.
/// So the first step is Newton's, and few follow. The weight keeps coefficients finite when classes can be told apart without error;
/// should 500 steps not do, the last is taken.
pub(super) struct Logistic<'a> {
    task: Task<'a>,
    held_out: HeldOut,
    loss: Loss,
    present: Vec<usize>,
    fit: Option<Fit>,
    score: f64,
}

/// A fit to some features. There is none when the training rows are of one class.
struct Fit {
    /// 1 and the features' columns, a row for each training row.
    design: Matrix<f64>,
    /// The features' columns of the rows held out.
    tests: Vec<Vec<f64>>,
    point: Point,
    metric: Metric,
}

impl Fit {
    /// The columns with one more.
    fn widened(&self, column: &[f64]) -> Matrix<f64> {
        let last = self.design.n_cols();
        Matrix::from_fn(self.design.n_rows(), last + 1, |i, j| {
            if j < last { self.design[(i, j)] } else { column[i] }
        })
    }

    /// The columns without the one at that place.
    fn narrowed(&self, at: usize) -> Matrix<f64> {
        let n_cols = self.design.n_cols() - 1;
        Matrix::from_fn(self.design.n_rows(), n_cols, |i, j| self.design[(i, j + usize::from(j >= at))])
    }
}

impl<'a> Logistic<'a> {
    pub(super) fn new(task: Task<'a>, c: f64) -> Result<Self> {
        let held_out = HeldOut::new(&task);
        let loss = Loss::new(&held_out, c);
        let fit = (loss.width > 0).then(|| {
            let design = Matrix::from_fn(task.fold.train.len(), 1, |_, _| 1.0);
            let weights = loss.start(&held_out.sizes);
            let outputs = loss.outputs(&design, &weights);
            let point = loss.point(weights, outputs);
            let metric = Metric::of(&loss, &design, &point);
            Fit { design, tests: vec![], point, metric }
        });
        let mut learner = Self { task, held_out, loss, present: vec![], fit, score: 0.0 };
        learner.score = match &learner.fit {
            Some(fit) => learner.judged(&fit.point.weights, &[]),
            None => learner.held_out.of_outputs(&[], 0),
        };
        Ok(learner)
    }

    /// The score of coefficients for these columns of the rows held out.
    fn judged(&self, weights: &[f64], tests: &[&[f64]]) -> f64 {
        let width = self.loss.width;
        let mut outputs = weights[..width].repeat(self.held_out.n_rows);
        for (column, weights) in tests.iter().zip(weights[width..].chunks_exact(width)) {
            for (outputs, x) in outputs.chunks_exact_mut(width).zip(*column) {
                outputs.iter_mut().zip(weights).for_each(|(o, w)| *o += w * x);
            }
        }
        self.held_out.of_outputs(&outputs, width)
    }

    /// Design and coefficients with one column more, and the steps it took.
    fn with(&self, fit: &Fit, column: &[f64], watch: &Watch) -> Result<(Matrix<f64>, Point, usize)> {
        let design = fit.widened(column);
        let weights = [fit.point.weights.as_slice(), &vec![0.0; self.loss.width]].concat();
        let start = Point { weights, ..fit.point.clone() };
        let bordered = fit.metric.with(&self.loss, &fit.design, (&fit.point, column));
        let metric = bordered.unwrap_or_else(|| Metric::of(&self.loss, &design, &start));
        let (point, steps) = descend(&self.loss, &design, start, metric, watch)?;
        Ok((design, point, steps))
    }

    /// Design and coefficients without the feature at that place, and the steps it took.
    fn without(&self, fit: &Fit, at: usize, watch: &Watch) -> Result<(Matrix<f64>, Point, usize)> {
        let (design, width) = (fit.narrowed(at + 1), self.loss.width);
        let mut weights = fit.point.weights.clone();
        weights.drain((at + 1) * width..(at + 2) * width);
        // Why: classes of the same size are then told by number, not by rounding.
        if (0..design.n_rows()).all(|i| design.row(i)[1..].iter().all(|x| *x == 0.0)) {
            weights.fill(0.0);
            weights[..width].copy_from_slice(&self.loss.start(&self.held_out.sizes));
        }
        let outputs = self.loss.outputs(&design, &weights);
        let start = self.loss.point(weights, outputs);
        let (point, steps) = descend(&self.loss, &design, start, fit.metric.without(at + 1), watch)?;
        Ok((design, point, steps))
    }

    fn score_with(&self, feature: usize, watch: &Watch) -> Result<f64> {
        let Some(fit) = &self.fit else { return Ok(self.score) };
        let (train, test) = centred(&self.task, feature);
        if train.iter().all(|x| *x == 0.0) {
            return Ok(self.score);
        }
        let (_, point, _) = self.with(fit, &train, watch)?;
        let tests: Vec<&[f64]> = fit.tests.iter().chain([&test]).map(Vec::as_slice).collect();
        Ok(self.judged(&point.weights, &tests))
    }

    fn score_without(&self, feature: usize, watch: &Watch) -> Result<f64> {
        let place = self.present.iter().position(|j| *j == feature);
        let (Some(fit), Some(at)) = (&self.fit, place) else { return Ok(self.score) };
        let (_, point, _) = self.without(fit, at, watch)?;
        let others = fit.tests.iter().enumerate().filter(|(k, _)| *k != at);
        let tests: Vec<&[f64]> = others.map(|(_, test)| test.as_slice()).collect();
        Ok(self.judged(&point.weights, &tests))
    }

    /// Takes over another fit. Cost: that of second derivatives anew.
    fn settle(&mut self, (design, point): (Matrix<f64>, Point), tests: Vec<Vec<f64>>) {
        let columns: Vec<&[f64]> = tests.iter().map(Vec::as_slice).collect();
        self.score = self.judged(&point.weights, &columns);
        let metric = Metric::of(&self.loss, &design, &point);
        self.fit = Some(Fit { design, tests, point, metric });
    }
}

impl Learner for Logistic<'_> {
    fn score(&self) -> f64 {
        self.score
    }

    fn scores_with(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        let judge = |j: &usize| {
            watch.check()?;
            self.score_with(*j, watch)
        };
        features.par_iter().map(judge).collect()
    }

    fn scores_without(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        let judge = |j: &usize| {
            watch.check()?;
            self.score_without(*j, watch)
        };
        features.par_iter().map(judge).collect()
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        if self.present.contains(&feature) {
            return Ok(());
        }
        if let Some(fit) = &self.fit {
            let (train, test) = centred(&self.task, feature);
            let (design, point, _) = self.with(fit, &train, &Watch::default())?;
            let tests = fit.tests.iter().cloned().chain([test]).collect();
            self.settle((design, point), tests);
        }
        self.present.push(feature);
        Ok(())
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        let Some(at) = self.present.iter().position(|j| *j == feature) else { return Ok(()) };
        if let Some(fit) = &self.fit {
            let (design, point, _) = self.without(fit, at, &Watch::default())?;
            let mut tests = fit.tests.clone();
            tests.remove(at);
            self.settle((design, point), tests);
        }
        self.present.remove(at);
        Ok(())
    }
}
