//! From scores to rows: starts, search, and what is known about the result.

use super::anchors::Anchors;
use super::descent::{Descended, How, descend};
use super::distance::row_by_distances;
use super::ridge::Ridge;
use super::target::{Target, features_of};
use super::{Preimage, PreimageMethod, Preimages, Start};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::dot;
use crate::graph::Neighbors;
use crate::kernel::of_distance;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::Matrix;
use crate::model::{FeatureMean, Lift, Projection};
use crate::progress::Watch;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows searched together at most.
const MOST_TOGETHER: usize = 64;
/// Coefficients of the points of rows that are searched together at most, 4 MiB.
const MOST_NUMBERS: usize = 1 << 19;
/// A row whose image has less than this share of the inner product that its neighbours have is no start.
const FAINT: f64 = 0.01;
/// Share of the variance that a squared deviation may always have.
const ALLOWED_SHARE: f64 = 0.01;
/// Samples whose deviations the limit goes by at most.
const TRIED_SAMPLES: usize = 64;
/// The share of them that stays below half of the limit.
const USUAL_SHARE: f64 = 0.95;
/// Samples that the spread is taken from at most.
const SPREAD_ROWS: usize = 1000;

/// A subspace of feature space through the mean of φ, as a fit leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subspace<'a> {
    pub(crate) projection: &'a Projection,
    pub(crate) mean: &'a FeatureMean,
    /// Mean squared distance of φ from its mean.
    pub(crate) variance: f64,
    /// Mean squared distance of φ from the subspace.
    pub(crate) lost: f64,
}

/// The way back, ready for many rows.
#[derive(Debug)]
pub(crate) struct WayBack<'a> {
    settings: Preimage,
    method: PreimageMethod,
    subspace: Subspace<'a>,
    target: Target<'a>,
    anchors: Option<Anchors<'a>>,
    ridge: Option<Ridge>,
    /// Root mean square distance of samples from their mean.
    spread: Option<f64>,
    limit: f64,
}

/// Some rows that are asked for.
struct Asked<'a> {
    scores: Matrix<f64>,
    /// The rows themselves, when they are denoised.
    input: Option<AnyPoints<'a>>,
    /// The samples nearest in scores, and the place of the first of these rows among all.
    near: Option<(&'a Neighbors, usize)>,
}

/// Some rows on their way.
struct Batch {
    /// P of each row: weights over samples, or coordinates.
    points: Matrix<f64>,
    /// ‖P‖².
    squares: Vec<f64>,
    starts: Matrix<f64>,
    from: Vec<Start>,
}

pub(super) fn no_rows(why: &str) -> Error {
    Error::model(
        "a model by features, which holds no rows",
        why,
        "Denoise rows instead, which starts from the rows themselves, or fit by landmarks or by the Gram matrix",
    )
}

impl<'a> WayBack<'a> {
    /// Prepares the way. `scores` are those of the samples of the lift, where it has samples.
    ///
    /// # Errors
    /// When the kernel has no such way back, or settings are out of range.
    pub(crate) fn new(
        settings: &Preimage,
        subspace: Subspace<'a>,
        scores: Option<Matrix<f64>>,
        (engine, watch): (&dyn Engine, &Watch),
    ) -> Result<Self> {
        settings.check()?;
        let target = match &subspace.projection.lift {
            Lift::Kernel { kernel, samples } => Target::Samples { kernel, samples },
            Lift::Features { map, .. } => Target::Features { map },
            Lift::Precomputed { .. } | Lift::Rows { .. } | Lift::Manifold(_) => {
                return Err(Error::model(
                    "a model of a precomputed Gram matrix",
                    "the way back leads to rows, which it has never seen",
                    "Fit the rows with a kernel",
                ));
            }
        };
        let method = resolve(settings.method, &target)?;
        let anchors = match (&subspace.projection.lift, scores) {
            (Lift::Kernel { samples, .. }, Some(scores)) => {
                Some(Anchors::new(samples, scores, settings.neighbors.min(samples.n_rows())))
            }
            _ => None,
        };
        let spread = anchors.as_ref().map(spread);
        if settings.penalty > 0.0 && spread.is_none() {
            return Err(no_rows("a penalty is measured against the spread of its rows"));
        }
        let mut ridge = None;
        if method == PreimageMethod::Ridge {
            let model = (&target, &subspace.projection.coefficients);
            let mut result = Ok(None);
            engine.run(&mut || result = Ridge::fit(anchors.as_ref(), model, settings.seed, watch).map(Some));
            ridge = result?;
        }
        let mut ready =
            Self { settings: *settings, method, subspace, target, anchors, ridge, spread, limit: 0.0 };
        ready.limit = ready.usual_limit(engine, watch)?;
        Ok(ready)
    }

    /// Twice the deviation that pre-images of most samples have, and never so much that everything would be trusted, (K51).
    fn usual_limit(&self, engine: &dyn Engine, watch: &Watch) -> Result<f64> {
        let Subspace { mean, variance, lost, .. } = self.subspace;
        let usual = match &self.anchors {
            Some(anchors) => {
                let n = anchors.samples.n_rows();
                let step = n.div_ceil(TRIED_SAMPLES).max(1);
                let which: Vec<u32> = (0..n).step_by(step).map(|i| i as u32).collect();
                let found = self.denoise(engine, (&anchors.rows(&which)).into(), &watch.silent())?;
                let mut deviations = found.deviations;
                deviations.sort_unstable_by(f64::total_cmp);
                let place = (USUAL_SHARE * deviations.len() as f64) as usize;
                let high = deviations.get(place.min(deviations.len().saturating_sub(1)));
                4.0 * high.map_or(0.0, |d| d * d)
            }
            None => 2.0 * lost,
        };
        let most = 0.5 * (variance + mean.square + lost);
        Ok((usual + ALLOWED_SHARE * variance).min(most).sqrt())
    }

    /// Rows for scores.
    ///
    /// # Errors
    /// When scores do not fit, or there is no row to start from; cancellation.
    pub(crate) fn of_scores(
        &self,
        engine: &dyn Engine,
        scores: &Matrix<f64>,
        watch: &Watch,
    ) -> Result<Preimages> {
        self.find(engine, scores, None, watch)
    }

    /// Rows projected, then back.
    ///
    /// # Errors
    /// When rows do not fit; cancellation.
    pub(crate) fn denoise(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Preimages> {
        let scores = self.subspace.projection.project(engine, x, watch)?;
        self.find(engine, &scores, Some(x), watch)
    }

    fn find(
        &self,
        engine: &dyn Engine,
        scores: &Matrix<f64>,
        input: Option<AnyPoints<'_>>,
        watch: &Watch,
    ) -> Result<Preimages> {
        let k = self.subspace.projection.offset.len();
        if scores.n_cols() != k {
            return Err(Error::data(
                format!("scores of {} columns", scores.n_cols()),
                format!("the model has {k} components"),
                "Give scores of this model, all of them",
            ));
        }
        AnyPoints::from(scores).check()?;
        let n = scores.n_rows();
        let width = self.subspace.projection.coefficients.n_rows().max(1);
        let together = (MOST_NUMBERS / width).clamp(1, MOST_TOGETHER);
        let finished = AtomicUsize::new(0);
        let work = || {
            let near = self.near(scores, watch)?;
            let pieces = (0..n.div_ceil(together)).into_par_iter().with_max_len(1);
            pieces
                .map(|piece| {
                    let range = piece * together..((piece + 1) * together).min(n);
                    let asked = Asked {
                        scores: scores.view().rows(range.clone()).to_matrix(),
                        input: input.map(|x| x.rows(range.clone())),
                        near: near.as_ref().map(|near| (near, range.start)),
                    };
                    let found = self.piece(&asked, &watch.silent())?;
                    let done = finished.fetch_add(range.len(), Ordering::Relaxed) + range.len();
                    watch.step("looking for rows", done, n)?;
                    Ok(found)
                })
                .collect::<Result<Vec<Preimages>>>()
        };
        let mut result = Ok(Vec::new());
        engine.run(&mut || result = work());
        Ok(self.together(result?))
    }

    /// The samples nearest in scores, where searches or closed forms go by them.
    fn near(&self, scores: &Matrix<f64>, watch: &Watch) -> Result<Option<Neighbors>> {
        match &self.anchors {
            Some(anchors) if self.method != PreimageMethod::Ridge => {
                anchors.near(scores, &watch.silent()).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn together(&self, pieces: Vec<Preimages>) -> Preimages {
        let d = self.subspace.projection.lift.n_features();
        let mut all = Preimages {
            rows: Matrix::zeros(0, d),
            distances: Vec::new(),
            deviations: Vec::new(),
            starts: Vec::new(),
            trusted: Vec::new(),
            steps: Vec::new(),
            converged: Vec::new(),
            limit: self.limit,
            method: self.method,
        };
        let mut rows = Vec::new();
        for piece in pieces {
            rows.extend(piece.rows.into_vec());
            all.distances.extend(piece.distances);
            all.deviations.extend(piece.deviations);
            all.starts.extend(piece.starts);
            all.trusted.extend(piece.trusted);
            all.steps.extend(piece.steps);
            all.converged.extend(piece.converged);
        }
        let n = all.distances.len();
        all.rows = Matrix::shaped(rows, n, d);
        all
    }

    fn piece(&self, asked: &Asked<'_>, watch: &Watch) -> Result<Preimages> {
        let batch = self.batch(asked, watch)?;
        let found = self.search(&batch, watch)?;
        let n = asked.scores.n_rows();
        let distances: Vec<f64> = (0..n).map(|j| root_of_sum(found.values[j], batch.squares[j])).collect();
        let own = self.own_values(&found.rows);
        // J = k(y,y) − 2⟨φ(y), P⟩.
        let along = |j: usize| 0.5 * (own[j] - found.values[j]);
        // Only a P that is too short is excused: beyond the image its length counts.
        let deviations: Vec<f64> = (0..n)
            .map(|j| match batch.squares[j] {
                square if square > 0.0 && along(j) >= square => {
                    root_of_sum(own[j], -along(j) * along(j) / square)
                }
                _ => distances[j],
            })
            .collect();
        let trusted =
            (0..n).map(|j| found.converged[j] && deviations[j] <= self.limit && along(j) >= 0.0).collect();
        Ok(Preimages {
            distances,
            deviations,
            trusted,
            starts: batch.from,
            steps: found.steps,
            converged: found.converged,
            rows: found.rows,
            limit: self.limit,
            method: self.method,
        })
    }

    /// Whether the kernel needs entries that are not negative.
    fn not_negative(&self) -> bool {
        matches!(self.target, Target::Samples { kernel, .. } if kernel.needs_nonnegative())
    }

    /// k(y,y) of each row.
    fn own_values(&self, rows: &Matrix<f64>) -> Vec<f64> {
        let mut values = vec![0.0; rows.n_rows()];
        match self.target {
            Target::Samples { kernel, .. } => kernel.diagonal(rows.into(), &mut values),
            Target::Features { map } => {
                let features = features_of(map, rows);
                values.iter_mut().enumerate().for_each(|(i, v)| *v = dot(features.row(i), features.row(i)));
            }
        }
        values
    }

    /// The points P and where to look for their rows.
    fn batch(&self, asked: &Asked<'_>, watch: &Watch) -> Result<Batch> {
        let scores = &asked.scores;
        let points = self.points(scores);
        let squares: Vec<f64> = (0..scores.n_rows())
            .map(|j| {
                let z = scores.row(j);
                self.subspace.mean.square + dot(z, z) + 2.0 * dot(z, &self.subspace.projection.offset)
            })
            .collect();
        let (starts, from) = match (self.method, &self.ridge) {
            (PreimageMethod::Ridge, Some(ridge)) => {
                let mut rows = ridge.rows(scores);
                if self.not_negative() {
                    rows.as_mut_slice().iter_mut().for_each(|x| *x = x.max(0.0));
                }
                (rows, vec![Start::Ridge; scores.n_rows()])
            }
            _ => self.starts(asked, (&points, &squares), watch)?,
        };
        Ok(Batch { points, squares, starts, from })
    }

    /// P = mean φ + Σzₖvₖ over the coordinates of the lift, (K50).
    fn points(&self, scores: &Matrix<f64>) -> Matrix<f64> {
        let coefficients = &self.subspace.projection.coefficients;
        let n = coefficients.n_rows();
        let even = 1.0 / n as f64;
        let mut points = Matrix::from_fn(scores.n_rows(), n, |_, i| {
            self.subspace.mean.coefficients.as_ref().map_or(even, |mean| mean[i])
        });
        let axes = Factor::Transposed(coefficients.view());
        gemm(points.view_mut(), Onto::Add, 1.0, Factor::Plain(scores.view()), axes);
        points
    }

    fn starts(
        &self,
        asked: &Asked<'_>,
        (points, squares): (&Matrix<f64>, &[f64]),
        watch: &Watch,
    ) -> Result<(Matrix<f64>, Vec<Start>)> {
        let n = asked.scores.n_rows();
        let given: Option<Matrix<f64>> = asked.input.map(|x| x.to_dense());
        let (Some(anchors), Some((near, first))) = (&self.anchors, asked.near) else {
            return match given {
                Some(rows) => Ok((rows, vec![Start::Input; n])),
                None => self.linear_starts(points),
            };
        };
        let d = anchors.samples.n_cols();
        let mut neighbors = Matrix::zeros(n, d);
        for j in 0..n {
            let (which, distances) = near.row(first + j);
            neighbors.view_mut().row_mut(j).copy_from_slice(&anchors.mean(which, distances));
        }
        let by_distances = match (self.target, self.target.by_distance()) {
            (Target::Samples { kernel, .. }, Some((factor, profile)))
                if given.is_none() || self.method == PreimageMethod::Distance =>
            {
                let mut rows = Matrix::zeros(n, d);
                for (j, square) in squares.iter().enumerate() {
                    watch.check()?;
                    let point = (points.row(j), *square);
                    let row =
                        row_by_distances((kernel, factor, profile), anchors, near.row(first + j).0, point)?;
                    rows.view_mut().row_mut(j).copy_from_slice(&row);
                }
                Some(rows)
            }
            _ => None,
        };
        match (self.method, by_distances) {
            (PreimageMethod::Distance, Some(rows)) => Ok((rows, vec![Start::Distance; n])),
            (_, other) => self.better(points, neighbors, other, given),
        }
    }

    /// The row itself unless its image is as good as orthogonal to P; without one, the better of the others.
    fn better(
        &self,
        points: &Matrix<f64>,
        neighbors: Matrix<f64>,
        by_distances: Option<Matrix<f64>>,
        given: Option<Matrix<f64>>,
    ) -> Result<(Matrix<f64>, Vec<Start>)> {
        let n = neighbors.n_rows();
        let all: Vec<usize> = (0..n).collect();
        let mut space = Default::default();
        let mut values = |rows: &Matrix<f64>| self.target.evaluate(points, &all, rows, &mut space).values;
        let (other, kind) = match (given, by_distances) {
            (Some(rows), _) => (rows, Start::Input),
            (None, Some(rows)) => (rows, Start::Distance),
            (None, None) => return Ok((neighbors, vec![Start::Neighbors; n])),
        };
        let (mine, theirs) = (values(&neighbors), values(&other));
        let (own, own_other) = (self.own_values(&neighbors), self.own_values(&other));
        let (mut rows, mut from) = (other, vec![kind; n]);
        for j in 0..n {
            let neighbors_win = if kind == Start::Input {
                (own_other[j] - theirs[j]) < FAINT * (own[j] - mine[j])
            } else {
                mine[j] <= theirs[j] || !theirs[j].is_finite()
            };
            if neighbors_win {
                rows.view_mut().row_mut(j).copy_from_slice(neighbors.row(j));
                from[j] = Start::Neighbors;
            }
        }
        Ok((rows, from))
    }

    fn linear_starts(&self, points: &Matrix<f64>) -> Result<(Matrix<f64>, Vec<Start>)> {
        let n = points.n_rows();
        let mut rows = Matrix::zeros(n, self.subspace.projection.lift.n_features());
        for j in 0..n {
            let found = match self.target {
                Target::Features { map } => map.linear_part(points.row(j)),
                Target::Samples { .. } => None,
            };
            let row = found.ok_or_else(|| no_rows("scores alone give no row to start from"))?;
            rows.view_mut().row_mut(j).copy_from_slice(&row);
        }
        Ok((rows, vec![Start::Linear; n]))
    }

    /// From the starts downhill; answers in closed form stay where they are.
    fn search(&self, batch: &Batch, watch: &Watch) -> Result<Descended> {
        let n = batch.starts.n_rows();
        if matches!(self.method, PreimageMethod::Ridge | PreimageMethod::Distance) {
            let which: Vec<usize> = (0..n).collect();
            let found = self.target.evaluate(&batch.points, &which, &batch.starts, &mut Default::default());
            return Ok(Descended {
                rows: batch.starts.clone(),
                values: found.values,
                steps: vec![0; n],
                converged: vec![true; n],
            });
        }
        let own = |j: usize| dot(batch.starts.row(j), batch.starts.row(j)).sqrt();
        let positive = |spread: f64| if spread > 0.0 { spread } else { 1.0 };
        let spreads: Vec<f64> = (0..n).map(|j| positive(self.spread.unwrap_or_else(|| own(j)))).collect();
        let rate = match (self.target.by_distance(), self.spread) {
            (Some((factor, profile)), _) => 2.0 * factor * profile.rate(),
            (None, spread) => self.subspace.variance / positive(spread.unwrap_or(1.0)).powi(2),
        };
        let how = How {
            steps: self.settings.max_steps,
            tolerance: self.settings.tolerance,
            spreads: &spreads,
            not_negative: self.not_negative(),
            by_gradient: self.method == PreimageMethod::Gradient,
            pull: (self.settings.penalty > 0.0).then_some((self.settings.penalty * rate, &batch.starts)),
            watch,
        };
        descend(&self.target, &batch.points, batch.starts.clone(), &how)
    }
}

/// √(a + b), 0 where rounding has left less, and NaN where more than rounding is missing.
fn root_of_sum(a: f64, b: f64) -> f64 {
    let (sum, rounding) = (a + b, 1e-6 * (a.abs() + b.abs()));
    if sum.is_nan() || sum < -rounding { f64::NAN } else { sum.max(0.0).sqrt() }
}

/// The method that this kernel has.
fn resolve(asked: PreimageMethod, target: &Target<'_>) -> Result<PreimageMethod> {
    let by_distance = target.by_distance().is_some();
    match asked {
        PreimageMethod::Auto if by_distance => Ok(PreimageMethod::FixedPoint),
        PreimageMethod::Auto => Ok(PreimageMethod::Gradient),
        PreimageMethod::FixedPoint | PreimageMethod::Distance if !by_distance => Err(Error::setting(
            format!("a pre-image by {asked} for this model"),
            format!("it needs samples or landmarks and a kernel of the distance: {}", of_distance("or")),
            "Use the method gradient, which every kernel has",
        )),
        other => Ok(other),
    }
}

fn spread(anchors: &Anchors<'_>) -> f64 {
    let n = anchors.samples.n_rows();
    let step = n.div_ceil(SPREAD_ROWS).max(1);
    let which: Vec<u32> = (0..n).step_by(step).map(|i| i as u32).collect();
    let rows = anchors.rows(&which);
    let means = crate::linalg::column_means(rows.view());
    let total: f64 = (0..rows.n_rows())
        .map(|i| rows.row(i).iter().zip(&means).map(|(x, m)| (x - m) * (x - m)).sum::<f64>())
        .sum();
    (total / rows.n_rows().max(1) as f64).sqrt()
}
