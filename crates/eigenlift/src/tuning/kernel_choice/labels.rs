//! The choice with labels: what can be learned from the scores decides.

use super::candidates::{Candidate, Family, Form, OCTAVES};
use super::model::{Model, Training, centred};
use super::predictors::{Targets, Task};
use super::report::Judged;
use super::result::{GridPoint, KernelChoice};
use super::split::Split;
use super::words::measured;
use crate::data::Labels;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::stats::mean_and_error;
use rayon::prelude::*;

impl Labels {
    /// The labels of rows at these places; classes are counted from 0.
    fn at(&self, places: &[usize], names: &[usize]) -> Targets {
        match self {
            Self::Classes(classes) => {
                let number = |place: &usize| names.binary_search(&classes[*place]).unwrap_or(0);
                Targets::Classes(places.iter().map(number).collect(), names.len())
            }
            Self::Numbers(numbers) => Targets::Numbers(places.iter().map(|place| numbers[*place]).collect()),
        }
    }

    /// What predicting without any score leaves: the share of rows not in the largest class, or the variance.
    fn baseline(&self, places: &[usize], names: &[usize]) -> f64 {
        let n = places.len().max(1) as f64;
        match self.at(places, names) {
            Targets::Classes(classes, count) => {
                let mut sizes = vec![0usize; count];
                classes.into_iter().for_each(|class| sizes[class] += 1);
                1.0 - sizes.into_iter().max().unwrap_or(0) as f64 / n
            }
            Targets::Numbers(numbers) => {
                let mean = numbers.iter().sum::<f64>() / n;
                numbers.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n
            }
        }
    }
}

/// The losses of both predictors, for each number of components.
type Losses = [Vec<f64>; 2];

/// What learns the labels from the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scorer {
    /// Whichever of the others does better.
    #[default]
    Best,
    /// The 5 nearest neighbours.
    Neighbors,
    /// Ridge regression.
    Ridge,
}

/// One candidate judged on one part.
fn judged(
    candidate: &Candidate,
    (split, training, part): (&Split, &Training, usize),
    (labels, names): (&Labels, &[usize]),
    counts: &[usize],
) -> Result<(usize, Losses)> {
    let most = counts.last().copied().unwrap_or(1);
    let model = Model::fit(candidate, split, training, most)?;
    let rows = split.parts[part].clone();
    let lifted: Matrix<f64> = match &candidate.form {
        Form::Linear => centred(split.x.view().rows(rows.clone()), &training.means),
        Form::Distance(factor, profile) => {
            let mut kernel = split.squares(part, Some(rows.clone()));
            profile.apply(kernel.as_mut_slice());
            kernel.as_mut_slice().iter_mut().for_each(|k| *k *= factor);
            kernel
        }
    };
    let (known, held) = (model.own_scores(training), model.scores(lifted, most));
    let known_targets = labels.at(&split.training_places(part), names);
    let held_targets = labels.at(&split.places[rows], names);
    let task = Task {
        known: &known,
        known_targets: &known_targets,
        held: &held,
        held_targets: &held_targets,
        values: &model.values,
    };
    Ok((model.n_axes(), [task.neighbors(counts), task.ridge(counts)]))
}

/// A number of components of a candidate, and the loss of a predictor on each part.
struct Point<'a> {
    candidate: &'a Candidate,
    k: usize,
    losses: Vec<f64>,
}

pub(super) fn choose(
    families: &[Family],
    split: &Split,
    (labels, scorer): (&Labels, Scorer),
    counts: &[usize],
    (n_rows, watch): (usize, &Watch),
) -> Result<KernelChoice> {
    let d = split.x.n_cols();
    let mut candidates = Vec::new();
    for (at, family) in families.iter().enumerate() {
        let octaves = if family.is_open() { OCTAVES } else { 0..=0 };
        for octave in octaves {
            candidates.push(family.candidate(at, f64::from(octave), d)?);
        }
    }
    let mut names: Vec<usize> =
        labels.classes().map_or(Vec::new(), |all| split.places.iter().map(|place| all[*place]).collect());
    names.sort_unstable();
    names.dedup();
    let baseline = labels.baseline(&split.places, &names);
    let mut found = Vec::with_capacity(split.parts.len());
    for part in 0..split.parts.len() {
        watch.step("labels", part, split.parts.len())?;
        let training = Training::new(split, part);
        let judged: Result<Vec<(usize, Losses)>> = candidates
            .par_iter()
            .with_max_len(1)
            .map(|candidate| {
                watch.check()?;
                judged(candidate, (split, &training, part), (labels, &names), counts)
            })
            .collect();
        found.push(judged?);
    }
    // 1 − R² is the mean squared error over the variance; the share of wrong classes stays as it is.
    let unit = if labels.classes().is_some() || baseline <= 0.0 { 1.0 } else { baseline };
    let curve = |predictor: usize| -> Vec<Point<'_>> {
        let mut points = Vec::new();
        for (at, candidate) in candidates.iter().enumerate() {
            let there = found.iter().map(|part| part[at].0).min().unwrap_or(0);
            for (place, &k) in counts.iter().enumerate().filter(|(place, k)| **k <= there || *place == 0) {
                let losses = found.iter().map(|part| part[at].1[predictor][place] / unit).collect();
                points.push(Point { candidate, k, losses });
            }
        }
        points
    };
    let rows = (split.x.n_rows(), n_rows);
    let told = Told { families, labels, scorer, baseline: baseline / unit, rows, counts };
    Ok(told.choice([curve(0), curve(1)]))
}

/// What a choice with labels is told with.
struct Told<'a> {
    families: &'a [Family],
    labels: &'a Labels,
    scorer: Scorer,
    baseline: f64,
    rows: (usize, usize),
    counts: &'a [usize],
}

impl Told<'_> {
    /// The predictor asked for, or the better of both, and its best point; of equals the one with fewer components.
    fn choice(&self, curves: [Vec<Point<'_>>; 2]) -> KernelChoice {
        let best = |points: &[Point<'_>]| {
            let key = |at: &usize| (mean_and_error(&points[*at].losses).0, points[*at].k);
            let all = 0..points.len();
            all.min_by(|a, b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)).unwrap_or(0)
        };
        let at = curves.each_ref().map(|points| best(points));
        let loss = |p: usize| mean_and_error(&curves[p][at[p]].losses).0;
        let predictor = match self.scorer {
            Scorer::Neighbors => 0,
            Scorer::Ridge => 1,
            Scorer::Best => usize::from(loss(1) < loss(0)),
        };
        let (points, chosen) = (&curves[predictor], at[predictor]);
        let near = (0..points.len()).filter(|other| {
            let pairs = points[*other].losses.iter().zip(&points[chosen].losses);
            let (mean, error) = mean_and_error(&pairs.map(|(a, b)| a - b).collect::<Vec<f64>>());
            mean <= error
        });
        let near = near.collect();
        let of_point = |point: &Point<'_>| {
            let (error, spread) = mean_and_error(&point.losses);
            GridPoint {
                kernel: point.candidate.text.clone(),
                bandwidth: point.candidate.bandwidth,
                n_components: point.k,
                error,
                spread,
                n_masks: 0,
            }
        };
        let measured_points: Vec<(GridPoint, &Candidate)> =
            points.iter().map(|point| (of_point(point), point.candidate)).collect();
        let (criterion, result) = self.result(predictor, &measured_points[chosen].0);
        let (mean, error) = (measured_points[chosen].0.error, measured_points[chosen].0.spread);
        let stands_out = mean + error < self.baseline;
        let warnings = if stands_out {
            Vec::new()
        } else {
            vec!["nothing predicts the labels better than a guess without any score".to_string()]
        };
        Judged {
            criterion,
            families: self.families,
            points: measured_points,
            chosen,
            near,
            baseline: self.baseline,
            n_masks: 0,
            rows: self.rows,
            most: self.counts.last().copied().filter(|_| self.counts.len() > 1),
            result,
            stands_out,
            warnings,
        }
        .finish()
    }

    fn result(&self, predictor: usize, point: &GridPoint) -> (&'static str, String) {
        let (who, s) = [("the 5 nearest neighbours", ""), ("ridge regression", "s")][predictor];
        let score = measured(1.0 - point.error, point.spread);
        let without = measured(1.0 - self.baseline, 0.0);
        if self.labels.classes().is_some() {
            let names = ["accuracy knn", "accuracy ridge"];
            return (
                names[predictor],
                format!("{who} name{s} a share of {score} of the labels (the largest class: {without})"),
            );
        }
        (
            ["R2 knn", "R2 ridge"][predictor],
            format!("{who} reach{} an R² of {score}", if s.is_empty() { "" } else { "es" }),
        )
    }
}
