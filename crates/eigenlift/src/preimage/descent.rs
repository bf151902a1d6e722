//! Going downhill: many rows at once, each with its own step, never uphill.

use super::target::{Evaluated, Space, Target};
use crate::error::Result;
use crate::features::dot;
use crate::matrix::Matrix;
use crate::progress::Watch;
use std::collections::VecDeque;

/// A denominator below this share of the sum of magnitudes is not divided by, (K52).
const SAFE_SHARE: f64 = 0.05;
/// A step is halved at most so often.
const MOST_HALVINGS: usize = 40;
/// Value that may be lost to rounding.
const SLACK: f64 = 1e-14;
/// Share of the expected fall that a gradient step must keep.
const ENOUGH: f64 = 1e-4;
/// Earlier steps that L-BFGS remembers.
const REMEMBERED: usize = 8;

/// How far and how long to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How<'a> {
    /// Steps at most.
    pub(crate) steps: usize,
    /// A step with no coordinate above this share of the spread ends the search.
    pub(crate) tolerance: f64,
    /// How far rows like each one spread.
    pub(crate) spreads: &'a [f64],
    /// Entries stay at 0 or above.
    pub(crate) not_negative: bool,
    /// L-BFGS where a fixed point would do.
    pub(crate) by_gradient: bool,
    /// Adds weight·‖y − centre‖², (K53).
    pub(crate) pull: Option<(f64, &'a Matrix<f64>)>,
    /// Obeyed between rounds.
    pub(crate) watch: &'a Watch,
}

/// Where the searches ended.
#[derive(Debug)]
pub(crate) struct Descended {
    pub(crate) rows: Matrix<f64>,
    /// J without the pull.
    pub(crate) values: Vec<f64>,
    pub(crate) steps: Vec<usize>,
    pub(crate) converged: Vec<bool>,
}

/// Length of the first step of a gradient search, as a share of the spread.
const FIRST: f64 = 0.1;

/// J at a trial.
#[derive(Clone, Copy)]
struct Found<'a> {
    value: f64,
    gradient: &'a [f64],
    curvature: Option<(f64, f64)>,
}

/// One search.
struct Search {
    spread: f64,
    value: f64,
    gradient: Vec<f64>,
    curvature: Option<(f64, f64)>,
    direction: Vec<f64>,
    /// Share of the direction that is tried.
    share: f64,
    halvings: usize,
    steps: usize,
    converged: bool,
    /// Steps, changes of the gradient, and one over their product.
    history: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl Search {
    /// Row j of what was evaluated at the starts.
    fn new(spread: f64, first: &Evaluated, j: usize) -> Self {
        Self {
            spread,
            value: first.values[j],
            gradient: first.gradients.row(j).to_vec(),
            curvature: first.curvatures.as_ref().map(|c| c[j]),
            direction: Vec::new(),
            share: 1.0,
            halvings: 0,
            steps: 0,
            converged: false,
            history: VecDeque::new(),
        }
    }

    /// ΣD where the fixed point can be trusted. Where terms cancel, as over landmarks that nearly depend on each other, it
    /// cannot, and L-BFGS takes over.
    fn fixed(&self, how: &How<'_>) -> Option<f64> {
        let (sum, size) = self.curvature.filter(|_| !how.by_gradient)?;
        (sum > SAFE_SHARE * size).then_some(sum)
    }

    fn direct(&mut self, how: &How<'_>) {
        self.share = 1.0;
        self.halvings = 0;
        if let Some(sum) = self.fixed(how) {
            self.direction = self.gradient.iter().map(|g| -g / sum).collect();
            return;
        }
        self.direction = self.quasi_newton();
        if dot(&self.direction, &self.gradient) >= 0.0 {
            self.history.clear();
            self.direction = self.gradient.iter().map(|g| -g).collect();
        }
        if self.history.is_empty() {
            let length = dot(&self.gradient, &self.gradient).sqrt();
            let scale = if length > 0.0 { FIRST * self.spread / length } else { 0.0 };
            self.direction.iter_mut().for_each(|d| *d *= scale);
        }
    }

    /// −H·gradient with H from the steps remembered (two loops).
    fn quasi_newton(&self) -> Vec<f64> {
        let mut q: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(self.history.len());
        for (s, y, rho) in self.history.iter().rev() {
            let alpha = rho * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
            alphas.push(alpha);
        }
        if let Some((_, y, rho)) = self.history.back() {
            let scale = 1.0 / (rho * dot(y, y));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((s, y, rho), alpha) in self.history.iter().zip(alphas.iter().rev()) {
            let beta = rho * dot(y, &q);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += (alpha - beta) * s);
        }
        q
    }

    fn remember(&mut self, step: Vec<f64>, gradient: &[f64]) {
        let change: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(new, old)| new - old).collect();
        let product = dot(&step, &change);
        if product > 1e-12 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if self.history.len() == REMEMBERED {
                self.history.pop_front();
            }
            self.history.push_back((step, change, 1.0 / product));
        }
    }

    /// Takes the step to the trial or shortens it; false when the search is over.
    fn answer(&mut self, y: &mut [f64], (trial, found): (&[f64], Found<'_>), how: &How<'_>) -> bool {
        let Found { value, gradient, curvature } = found;
        let expected = match self.fixed(how) {
            Some(_) => 0.0,
            None => ENOUGH * self.share * dot(&self.direction, &self.gradient),
        };
        let step: Vec<f64> = trial.iter().zip(&*y).map(|(new, old)| new - old).collect();
        let smallest = how.tolerance * self.spread;
        let longest = step.iter().fold(0.0f64, |a, s| a.max(s.abs()));
        if value <= self.value + expected + SLACK * (value.abs() + self.value.abs()) && value.is_finite() {
            y.copy_from_slice(trial);
            self.remember(step, gradient);
            (self.value, self.curvature) = (value, curvature);
            self.gradient.copy_from_slice(gradient);
            self.steps += 1;
            self.converged = longest <= smallest;
            if self.converged || self.steps >= how.steps {
                return false;
            }
            self.direct(how);
            return true;
        }
        self.share *= 0.5;
        self.halvings += 1;
        // Nothing lower lies that way, down to the smallest step that counts.
        self.converged = longest <= smallest;
        !self.converged && self.halvings <= MOST_HALVINGS
    }
}

/// J and its derivatives with the pull towards the centres.
fn evaluate(
    target: &Target<'_>,
    (points, which): (&Matrix<f64>, &[usize]),
    y: &Matrix<f64>,
    how: &How<'_>,
    space: &mut Space,
) -> Evaluated {
    let mut found = target.evaluate(points, which, y, space);
    let Some((weight, centres)) = how.pull else { return found };
    for (j, at) in which.iter().enumerate() {
        let mut gradients = found.gradients.view_mut();
        let terms = gradients.row_mut(j).iter_mut().zip(y.row(j)).zip(centres.row(*at));
        found.values[j] += terms.fold(0.0, |sum, ((g, y), c)| {
            *g += 2.0 * weight * (y - c);
            sum + weight * (y - c) * (y - c)
        });
        if let Some(curvatures) = &mut found.curvatures {
            curvatures[j].0 += 2.0 * weight;
            curvatures[j].1 += 2.0 * weight;
        }
    }
    found
}

/// Goes downhill from each of `rows`, whose points P are `points`, in the calling thread.
///
/// Cost: one evaluation of J for each step and each halving, all rows of a round at once.
///
/// # Errors
/// Cancellation.
pub(crate) fn descend(
    target: &Target<'_>,
    points: &Matrix<f64>,
    mut rows: Matrix<f64>,
    how: &How<'_>,
) -> Result<Descended> {
    let n = rows.n_rows();
    let mut space = Space::default();
    let all: Vec<usize> = (0..n).collect();
    let first = evaluate(target, (points, &all), &rows, how, &mut space);
    let mut searches: Vec<Search> = (0..n).map(|j| Search::new(how.spreads[j], &first, j)).collect();
    let mut active: Vec<usize> = all.into_iter().filter(|j| searches[*j].value.is_finite()).collect();
    active.iter().for_each(|j| searches[*j].direct(how));
    let mut trial = Matrix::zeros(0, 0);
    while !active.is_empty() {
        how.watch.check()?;
        trial.reshape(active.len(), rows.n_cols());
        for (at, j) in active.iter().enumerate() {
            let search = &searches[*j];
            let mut into = trial.view_mut();
            let terms = into.row_mut(at).iter_mut().zip(rows.row(*j)).zip(&search.direction);
            terms.for_each(|((t, y), d)| *t = y + search.share * d);
            if how.not_negative {
                into.row_mut(at).iter_mut().for_each(|t| *t = t.max(0.0));
            }
        }
        let found = evaluate(target, (points, &active), &trial, how, &mut space);
        let mut going = Vec::with_capacity(active.len());
        for (at, j) in active.iter().enumerate() {
            let curvature = found.curvatures.as_ref().map(|c| c[at]);
            let mut rows = rows.view_mut();
            let here = Found { value: found.values[at], gradient: found.gradients.row(at), curvature };
            if searches[*j].answer(rows.row_mut(*j), (trial.row(at), here), how) {
                going.push(*j);
            }
        }
        active = going;
    }
    let pulled = |j: usize| {
        how.pull.map_or(0.0, |(weight, centres)| {
            weight * rows.row(j).iter().zip(centres.row(j)).map(|(y, c)| (y - c) * (y - c)).sum::<f64>()
        })
    };
    Ok(Descended {
        values: searches.iter().enumerate().map(|(j, search)| search.value - pulled(j)).collect(),
        steps: searches.iter().map(|search| search.steps).collect(),
        converged: searches.iter().map(|search| search.converged).collect(),
        rows,
    })
}
