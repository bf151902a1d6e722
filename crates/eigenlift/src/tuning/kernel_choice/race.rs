//! Masked-feature cross-validation as a race: hidden entries are predicted batch after batch, and points that are clearly behind
//! drop out, so that most of the work goes to the contenders.

use super::candidates::{Candidate, Family, OCTAVES};
use super::fill::Filler;
use super::masks::Masks;
use super::model::{Model, Training};
use super::split::Split;
use crate::error::Result;
use crate::progress::Watch;
use rayon::prelude::*;
use std::ops::Range;

/// A point drops out when it is behind the best by this many standard errors of the paired difference.
const BEHIND: f64 = 3.0;
/// Rows that one thread predicts at a time.
const PIECE: usize = 40;
/// Flops that predicting may take; rows are held out only as far as it lasts.
const FLOPS: f64 = 1e12;
/// Evaluations of the kernel for each hidden row that a race costs, points and masks together.
const EVALUATIONS: f64 = 2200.0;
/// But so many rows are held out in all.
const FEWEST_HELD: usize = 60;
/// Octaves that the grid may grow by on either side.
const MOST_GROWTH: f64 = 4.0;
/// Neighbours in the numbers of components that a new bandwidth is tried with, on either side.
const REACH: usize = 2;

/// A kernel with a number of components, and its errors so far.
pub(super) struct Point {
    pub(super) candidate: usize,
    pub(super) k: usize,
    /// Squared errors of the hidden entries of each row, for each batch.
    batches: Vec<Vec<f64>>,
    live: bool,
}

/// A mean difference and its standard error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// What a race needs to know.
pub(super) struct Race<'a> {
    split: &'a Split,
    masks: &'a Masks,
    families: &'a [Family],
    watch: &'a Watch,
    /// Numbers of components that are tried, ascending.
    counts: &'a [usize],
    held: Vec<Range<usize>>,
    trainings: Vec<Training>,
    /// Models of each candidate for each part, as far as they were needed.
    models: Vec<Vec<Option<Model>>>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) points: Vec<Point>,
    /// Batches of the whole race.
    n_batches: usize,
    done: usize,
}

impl<'a> Race<'a> {
    pub(super) fn new(
        split: &'a Split,
        masks: &'a Masks,
        families: &'a [Family],
        counts: &'a [usize],
        watch: &'a Watch,
    ) -> Result<Self> {
        let (n, d) = (split.x.n_rows(), split.x.n_cols());
        let per_row = EVALUATIONS * 4.0 * (split.fewest_others() * d) as f64;
        let rows = ((FLOPS / per_row) as usize).max(FEWEST_HELD).min(n);
        let each = rows.div_ceil(split.parts.len());
        let held = split.parts.iter().map(|part| part.start..part.end.min(part.start + each)).collect();
        let mut race = Self {
            trainings: (0..split.parts.len()).map(|part| Training::new(split, part)).collect(),
            n_batches: masks.count() * split.parts.len(),
            models: Vec::new(),
            candidates: Vec::new(),
            points: Vec::new(),
            done: 0,
            split,
            masks,
            families,
            counts,
            held,
            watch,
        };
        for (at, family) in families.iter().enumerate() {
            let octaves = if family.is_open() { OCTAVES } else { 0..=0 };
            for octave in octaves {
                race.enter(family.candidate(at, f64::from(octave), d)?, race.counts.to_vec());
            }
        }
        Ok(race)
    }

    fn enter(&mut self, candidate: Candidate, counts: Vec<usize>) {
        let at = self.candidates.len();
        self.candidates.push(candidate);
        self.models.push(self.held.iter().map(|_| None).collect());
        let point = |k| Point { candidate: at, k, batches: Vec::new(), live: true };
        self.points.extend(counts.into_iter().map(point));
    }

    pub(super) fn n_cols(&self) -> usize {
        self.split.x.n_cols()
    }

    /// The largest number of components tried, where it was to be chosen.
    pub(super) fn most_components(&self) -> Option<usize> {
        self.counts.last().copied().filter(|_| self.counts.len() > 1)
    }

    /// Batches that a point has seen.
    pub(super) fn n_seen(&self, point: usize) -> usize {
        self.points[point].batches.len()
    }

    /// Masked rows in the first batches.
    pub(super) fn n_masked(&self, n_batches: usize) -> usize {
        (0..n_batches).map(|batch| self.held[batch % self.held.len()].len()).sum()
    }

    /// Runs the grid, then bandwidths beyond its edge or between the best and its neighbours.
    pub(super) fn run(&mut self) -> Result<()> {
        self.advance()?;
        while let Some((candidates, counts)) = self.proposals()? {
            candidates.into_iter().for_each(|candidate| self.enter(candidate, counts.clone()));
            self.advance()?;
        }
        Ok(())
    }

    /// New bandwidths around the best point, with numbers of components near its own.
    fn proposals(&self) -> Result<Option<(Vec<Candidate>, Vec<usize>)>> {
        let best = &self.points[self.best()];
        let candidate = &self.candidates[best.candidate];
        let Some(octave) = candidate.octave else { return Ok(None) };
        let tried: Vec<f64> = self
            .candidates
            .iter()
            .filter(|c| c.family == candidate.family)
            .filter_map(|c| c.octave)
            .collect();
        let edge = |step: f64| !tried.iter().any(|other| (other - octave) * step > 0.0);
        let (low, high) = (f64::from(*OCTAVES.start()), f64::from(*OCTAVES.end()));
        let allowed = |o: &f64| (low - MOST_GROWTH..=high + MOST_GROWTH).contains(o);
        let beyond: Vec<f64> =
            [-1.0, 1.0].into_iter().filter(|step| edge(*step)).map(|step| octave + step).collect();
        let mut wanted: Vec<f64> = beyond.into_iter().filter(allowed).collect();
        if wanted.is_empty() {
            wanted = [-0.5, 0.5].map(|step| octave + step).into_iter().filter(allowed).collect();
            // Between octaves it is fine enough.
            wanted.retain(|_| octave.fract() == 0.0);
        }
        wanted.retain(|o| !tried.contains(o));
        if wanted.is_empty() {
            return Ok(None);
        }
        let at = self.counts.iter().position(|k| *k == best.k).unwrap_or(0);
        let near = at.saturating_sub(REACH)..(at + REACH + 1).min(self.counts.len());
        let d = self.split.x.n_cols();
        let family = &self.families[candidate.family];
        let new = wanted.into_iter().map(|octave| family.candidate(candidate.family, octave, d));
        Ok(Some((new.collect::<Result<_>>()?, self.counts[near].to_vec())))
    }

    /// Brings every live point through all batches, or until it drops out.
    fn advance(&mut self) -> Result<()> {
        for batch in 0..self.n_batches {
            let (part, mask) = (batch % self.held.len(), batch / self.held.len());
            let going: Vec<usize> = self.live().filter(|at| self.n_seen(*at) == batch).collect();
            if going.is_empty() {
                continue;
            }
            self.watch.step("hidden entries", self.done, 0)?;
            self.done += 1;
            self.fit_models(&going, part)?;
            let going = if batch == 0 { self.without_rounding(going) } else { going };
            self.predict(&going, part, mask)?;
            // Why: within later masks some rows have one mask more than others.
            if mask == 0 || part + 1 == self.held.len() {
                self.drop_behind(batch + 1);
            }
        }
        Ok(())
    }

    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.points.len()).filter(|at| self.points[*at].live)
    }

    fn fit_models(&mut self, going: &[usize], part: usize) -> Result<()> {
        let mut missing: Vec<usize> = going.iter().map(|at| self.points[*at].candidate).collect();
        missing.dedup();
        missing.retain(|candidate| self.models[*candidate][part].is_none());
        let most = self.counts.last().copied().unwrap_or(1);
        let fitted: Result<Vec<Model>> = missing
            .par_iter()
            .with_max_len(1)
            .map(|candidate| {
                self.watch.check()?;
                Model::fit(&self.candidates[*candidate], self.split, &self.trainings[part], most)
            })
            .collect();
        for (candidate, model) in missing.into_iter().zip(fitted?) {
            self.models[candidate][part] = Some(model);
        }
        Ok(())
    }

    /// Takes points out that ask for more components than there are, except the smallest number of each candidate.
    fn without_rounding(&mut self, going: Vec<usize>) -> Vec<usize> {
        let fewest = self.counts.first().copied().unwrap_or(1);
        let has = |at: &usize| {
            let point = &self.points[*at];
            let there = self.models[point.candidate][0].as_ref().map_or(0, Model::n_axes);
            point.k <= there.max(fewest)
        };
        let (kept, gone): (Vec<usize>, Vec<usize>) = going.into_iter().partition(has);
        gone.into_iter().for_each(|at| self.points[at].live = false);
        kept
    }

    fn predict(&mut self, going: &[usize], part: usize, mask: usize) -> Result<()> {
        let held = &self.held[part];
        let pieces = held.len().div_ceil(PIECE);
        let hidden = self.masks.of(mask);
        let found: Result<Vec<Vec<f64>>> = (0..going.len() * pieces)
            .into_par_iter()
            .with_max_len(1)
            .map(|task| {
                let point = &self.points[going[task / pieces]];
                let from = held.start + task % pieces * PIECE;
                let rows = from..(from + PIECE).min(held.end);
                let candidate = &self.candidates[point.candidate];
                let Some(model) = &self.models[point.candidate][part] else { return Ok(Vec::new()) };
                let filler = Filler { candidate, training: &self.trainings[part], model };
                filler.errors(self.split.x.view().rows(rows.clone()), &hidden[rows], point.k, self.watch)
            })
            .collect();
        for (at, errors) in going.iter().zip(found?.chunks(pieces.max(1))) {
            self.points[*at].batches.push(errors.concat());
        }
        Ok(())
    }

    /// Takes points out that are clearly behind the best after so many batches.
    fn drop_behind(&mut self, n_batches: usize) {
        let Some(best) = self.best_after(n_batches) else { return };
        let behind: Vec<usize> = self
            .live()
            .filter(|at| *at != best && self.n_seen(*at) == n_batches)
            .filter(|at| {
                let gap = self.gap(*at, best);
                gap.mean > BEHIND * gap.deviation || gap.mean.is_nan()
            })
            .collect();
        behind.into_iter().for_each(|at| self.points[at].live = false);
    }

    fn best_after(&self, n_batches: usize) -> Option<usize> {
        let error = |at: usize| self.error(at, n_batches).0;
        let there = self.live().filter(|at| self.n_seen(*at) >= n_batches);
        there.min_by(|a, b| error(*a).total_cmp(&error(*b)))
    }

    /// The point with the smallest error among those that have seen every batch.
    pub(super) fn best(&self) -> usize {
        self.best_after(self.n_batches).unwrap_or(0)
    }

    /// Hidden entries of each held row in the first batches.
    fn entries(&self, n_batches: usize) -> Vec<f64> {
        self.by_row(n_batches, |batch, at| {
            let (part, mask) = (batch % self.held.len(), batch / self.held.len());
            self.masks.of(mask)[self.held[part].start + at].len() as f64
        })
    }

    /// Sums over the masks of each held row in the first batches.
    fn by_row(&self, n_batches: usize, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let parts = self.held.len();
        let mut rows = Vec::new();
        for part in 0..parts.min(n_batches) {
            let batches = (part..n_batches).step_by(parts);
            rows.extend(
                (0..self.held[part].len()).map(|at| batches.clone().map(|b| value(b, at)).sum::<f64>()),
            );
        }
        rows
    }

    /// The mean squared error of a hidden entry in the first batches, and its standard error.
    pub(super) fn error(&self, point: usize, n_batches: usize) -> (f64, f64) {
        let batches = &self.points[point].batches;
        let gap = ratio(&self.by_row(n_batches, |b, at| batches[b][at]), &self.entries(n_batches));
        (gap.mean, gap.deviation)
    }

    /// How far a point is behind another, over the batches that both have seen.
    pub(super) fn gap(&self, point: usize, other: usize) -> Gap {
        let n_batches = self.n_seen(point).min(self.n_seen(other));
        let (a, b) = (&self.points[point].batches, &self.points[other].batches);
        ratio(&self.by_row(n_batches, |batch, at| a[batch][at] - b[batch][at]), &self.entries(n_batches))
    }

    /// How far a point is behind the means of the columns, and the error of these.
    pub(super) fn gap_to_means(&self, point: usize) -> (Gap, f64) {
        let n_batches = self.n_seen(point);
        let by_means = |batch: usize, at: usize| {
            let (part, mask) = (batch % self.held.len(), batch / self.held.len());
            let (row, means) = (self.held[part].start + at, &self.trainings[part].means);
            let columns = self.masks.of(mask)[row].iter();
            columns.map(|j| (self.split.x[(row, *j)] - means[*j]).powi(2)).sum::<f64>()
        };
        let (own, entries) = (&self.points[point].batches, self.entries(n_batches));
        let gap = ratio(&self.by_row(n_batches, |b, at| own[b][at] - by_means(b, at)), &entries);
        (gap, ratio(&self.by_row(n_batches, by_means), &entries).mean)
    }

    /// Points that have seen every batch and are no more than one standard error behind `best`.
    pub(super) fn near(&self, best: usize) -> Vec<usize> {
        let complete = self.live().filter(|at| self.n_seen(*at) == self.n_batches);
        complete
            .filter(|at| {
                let gap = self.gap(*at, best);
                *at == best || gap.mean <= gap.deviation
            })
            .collect()
    }
}

/// Σvalues/Σcounts and its standard error over rows.
fn ratio(values: &[f64], counts: &[f64]) -> Gap {
    let (n, total) = (values.len() as f64, counts.iter().sum::<f64>());
    let mean = values.iter().sum::<f64>() / total;
    let rest = values.iter().zip(counts).map(|(v, c)| (v - mean * c).powi(2)).sum::<f64>();
    Gap { mean, deviation: (rest / (n - 1.0).max(1.0) * n).sqrt() / total }
}
