//! What is looked for, and rows made ready for products.

use super::best::{Best, Found};
use super::{Metric, Reach};
use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one thread makes ready at a time.
const PIECE: usize = 512;
/// Squares outside of this range lose digits or overflow.
const SAFE: Range<f64> = 1e-280..1e280;

/// Rows whose neighbours among samples are wanted.
pub(super) struct Job<'a> {
    pub(super) samples: AnyPoints<'a>,
    pub(super) metric: Metric,
    pub(super) rows: AnyPoints<'a>,
    /// The samples that the rows themselves are, if they are.
    pub(super) themselves: Option<Vec<u32>>,
    pub(super) reach: Reach,
    pub(super) watch: &'a Watch,
}

impl Job<'_> {
    /// The sample that row i itself is.
    #[inline]
    pub(super) fn own(&self, i: usize) -> Option<u32> {
        self.themselves.as_ref().and_then(|rows| rows.get(i).copied())
    }

    /// The neighbours of row i among `candidates`, by the formula of the metric.
    pub(super) fn nearest_of(
        &self,
        i: usize,
        row: &[f64],
        candidates: impl Iterator<Item = u32>,
        buffer: &mut [f64],
    ) -> Vec<Found> {
        let (mut best, own) = (Best::new(self.reach), self.own(i));
        for sample in candidates.filter(|sample| own != Some(*sample)) {
            best.offer(self.metric.distance(row, row_of(self.samples, sample as usize, buffer)), sample);
        }
        best.into_list()
    }

    /// What `look` finds for all rows, `height` at a time, in their order.
    ///
    /// # Errors
    /// When `look` fails or the work is cancelled.
    pub(super) fn in_blocks<R: Send>(
        &self,
        height: usize,
        look: impl Fn(Range<usize>) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let n = self.rows.n_rows();
        // Why: groups are long enough to keep threads busy and short enough to report progress.
        let group = height * (8 * rayon::current_num_threads()).max(16);
        let mut found = Vec::with_capacity(n.div_ceil(height));
        for from in (0..n).step_by(group) {
            self.watch.step("looking for neighbours", from, n)?;
            let upto = (from + group).min(n);
            let blocks = (0..(upto - from).div_ceil(height)).into_par_iter().map(|block| {
                let start = from + block * height;
                look(start..(start + height).min(upto))
            });
            found.extend(blocks.collect::<Result<Vec<R>>>()?);
        }
        Ok(found)
    }
}

/// Refuses distances that are not finite.
pub(super) fn check_finite(lists: &[Vec<Found>]) -> Result<()> {
    for (i, list) in lists.iter().enumerate() {
        if let Some((distance, sample)) = list.iter().find(|found| !found.0.is_finite()) {
            return Err(Error::data(
                format!(
                    "a distance of {distance} between row {} and sample {}",
                    i + 1,
                    u64::from(*sample) + 1
                ),
                "distances must be finite",
                "Scale the columns to a usual size",
            ));
        }
    }
    Ok(())
}

/// Row i in double precision; copied into `buffer` when it is stored otherwise.
#[inline]
pub(super) fn row_of<'b>(points: AnyPoints<'b>, i: usize, buffer: &'b mut [f64]) -> &'b [f64] {
    match points {
        AnyPoints::F64(Points::Dense(m)) => m.row(i),
        _ => {
            points.copy_row(i, buffer);
            buffer
        }
    }
}

/// Where rows are put so that a distance follows from the square of a difference, ‖x̂ − ŷ‖².
pub(super) enum Frame {
    /// x̂ = (x − mean)·scale, at most 1 long: ‖x − y‖ = ‖x̂ − ŷ‖/scale.
    Centred { mean: Vec<f64>, scale: f64 },
    /// x̂ of length 1: the cosine distance is ‖x̂ − ŷ‖²/2. A zero row becomes the unit vector along a column of its own, so
    /// that it is at distance 1 from others and 0 from zero rows.
    Unit { metric: Metric },
}

impl Frame {
    /// The frame in which differences of rows give the metric; `None` when their squares would overflow or underflow.
    pub(super) fn new(job: &Job<'_>) -> Option<Self> {
        match job.metric {
            Metric::Euclidean | Metric::Manhattan => {
                let mean = means(job.samples);
                let measure = |row: &mut [f64]| square_of(row.iter().zip(&mean).map(|(x, m)| x - m));
                let largest = |points| extremes(points, measure).1;
                let most = largest(job.samples).max(largest(job.rows));
                // A power of two: scaling rounds nothing.
                let scale = if most > 0.0 { (-(0.5 * most.log2()).ceil()).exp2() } else { 1.0 };
                (most == 0.0 || SAFE.contains(&most)).then_some(Self::Centred { mean, scale })
            }
            metric => {
                let measure = |row: &mut [f64]| {
                    centre(metric, row);
                    square_of(row.iter().copied())
                };
                let safe = |points| {
                    let (least, most) = extremes(points, measure);
                    most == 0.0 || (SAFE.contains(&least) && SAFE.contains(&most))
                };
                (safe(job.samples) && safe(job.rows)).then_some(Self::Unit { metric })
            }
        }
    }

    /// The bound of ‖x̂ − ŷ‖² for a distance.
    pub(super) fn square_of(&self, distance: f64) -> f64 {
        match self {
            Self::Centred { scale, .. } => (distance * scale).powi(2),
            Self::Unit { .. } => 2.0 * distance,
        }
    }

    /// Columns of x̂ for rows of d.
    pub(super) fn width(&self, d: usize) -> usize {
        match self {
            Self::Centred { .. } => d,
            Self::Unit { .. } => d + 1,
        }
    }

    /// Writes x̂ into `out` and gives ‖x̂‖². `row` is spent.
    pub(super) fn place<T: Real>(&self, row: &mut [f64], out: &mut [T]) -> f64 {
        match self {
            Self::Centred { mean, scale } => {
                row.iter_mut().zip(mean).for_each(|(x, m)| *x = (*x - m) * scale);
                out.iter_mut().zip(row.iter()).for_each(|(o, x)| *o = T::of(*x));
                square_of(row.iter().copied())
            }
            Self::Unit { metric } => {
                centre(*metric, row);
                let length = square_of(row.iter().copied()).sqrt();
                let factor = if length > 0.0 { 1.0 / length } else { 0.0 };
                out.iter_mut().zip(row.iter()).for_each(|(o, x)| *o = T::of(x * factor));
                if let Some(last) = out.get_mut(row.len()) {
                    *last = if length > 0.0 { T::ZERO } else { T::ONE };
                }
                1.0
            }
        }
    }
}

fn square_of(row: impl Iterator<Item = f64>) -> f64 {
    row.map(|x| x * x).sum()
}

/// Numerics: the mean of [`Metric::distance`] to the last bit, so that a row it takes for zero is one here.
fn centre(metric: Metric, row: &mut [f64]) {
    if metric == Metric::Correlation {
        let mean = row.iter().sum::<f64>() / row.len().max(1) as f64;
        row.iter_mut().for_each(|x| *x -= mean);
    }
}

fn means(points: AnyPoints<'_>) -> Vec<f64> {
    let (n, d) = (points.n_rows(), points.n_cols());
    let mut mean = vec![0.0; d];
    let mut row = vec![0.0; d];
    for i in 0..n {
        points.copy_row(i, &mut row);
        // Why divided first: sums of large entries do not overflow.
        mean.iter_mut().zip(&row).for_each(|(m, x)| *m += x / n as f64);
    }
    mean
}

/// The least of what is positive and the most that `measure` gives for the rows.
fn extremes(points: AnyPoints<'_>, measure: impl Fn(&mut [f64]) -> f64 + Sync) -> (f64, f64) {
    let n = points.n_rows();
    (0..n.div_ceil(PIECE))
        .into_par_iter()
        .map(|piece| {
            let mut row = vec![0.0; points.n_cols()];
            (piece * PIECE..((piece + 1) * PIECE).min(n)).fold((f64::INFINITY, 0.0), |(least, most), i| {
                points.copy_row(i, &mut row);
                let found = measure(&mut row);
                (if found > 0.0 { found.min(least) } else { least }, found.max(most))
            })
        })
        .reduce(|| (f64::INFINITY, 0.0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}
