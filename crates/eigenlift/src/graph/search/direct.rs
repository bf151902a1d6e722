//! All distances, each by its formula.

use super::Metric;
use super::best::{Best, Found};
use super::rows::{Job, row_of};
use super::strip::{LANES, ToStrip, fill_strip};
use crate::error::Result;
use crate::simd::dispatch;
use std::ops::Range;

/// Rows that are looked up together.
pub(super) const ROWS: usize = 64;

/// Neighbours of the rows in `range`.
///
/// Cost: 3·d flops for each pair. Memory: one strip of samples.
pub(super) fn search(job: &Job<'_>, range: Range<usize>) -> Result<Vec<Vec<Found>>> {
    match job.metric {
        Metric::Euclidean | Metric::Manhattan => by_strips(job, range),
        Metric::Cosine | Metric::Correlation => one_by_one(job, range),
    }
}

fn by_strips(job: &Job<'_>, range: Range<usize>) -> Result<Vec<Vec<Found>>> {
    let (n, d, squares) = (job.samples.n_rows(), job.samples.n_cols(), job.metric == Metric::Euclidean);
    let mut rows = vec![0.0; range.len() * d];
    rows.chunks_exact_mut(d).zip(range.clone()).for_each(|(row, i)| job.rows.copy_row(i, row));
    let mut best: Vec<Best> = range.clone().map(|_| Best::new(job.reach)).collect();
    let (mut strip, mut buffer) = (vec![0.0; d * LANES], vec![0.0; d]);
    let mut out = vec![[0.0; LANES]; range.len()];
    for from in (0..n).step_by(LANES) {
        if from % (64 * LANES) == 0 {
            job.watch.check()?;
        }
        let many = LANES.min(n - from);
        (0..many)
            .for_each(|lane| fill_strip(&mut strip, lane, row_of(job.samples, from + lane, &mut buffer)));
        dispatch(ToStrip { metric: job.metric, rows: &rows, strip: &strip, out: &mut out });
        for ((best, sums), i) in best.iter_mut().zip(&out).zip(range.clone()) {
            let most = if squares { best.limit_of_squares() } else { best.limit() };
            if sums.iter().fold(true, |none, sum| none & (*sum > most)) {
                continue;
            }
            let own = job.own(i);
            for (lane, sum) in sums.iter().enumerate().take(many) {
                let sample = (from + lane) as u32;
                if own != Some(sample) {
                    best.offer(if squares { sum.sqrt() } else { *sum }, sample);
                }
            }
        }
    }
    Ok(best.into_iter().map(Best::into_list).collect())
}

fn one_by_one(job: &Job<'_>, range: Range<usize>) -> Result<Vec<Vec<Found>>> {
    let d = job.samples.n_cols();
    let (mut row, mut buffer) = (vec![0.0; d], vec![0.0; d]);
    range
        .map(|i| {
            job.watch.check()?;
            job.rows.copy_row(i, &mut row);
            Ok(job.nearest_of(i, &row, 0..job.samples.n_rows() as u32, &mut buffer))
        })
        .collect()
}

/// Neighbours of the rows of a distance matrix.
pub(super) fn given(job: &Job<'_>, range: Range<usize>) -> Result<Vec<Vec<Found>>> {
    let mut row = vec![0.0; job.rows.n_cols()];
    range
        .map(|i| {
            job.watch.check()?;
            job.rows.copy_row(i, &mut row);
            let (mut best, own) = (Best::new(job.reach), job.own(i));
            for (distance, sample) in row.iter().zip(0u32..) {
                if own != Some(sample) {
                    // Why + 0: a zero has no sign.
                    best.offer(distance + 0.0, sample);
                }
            }
            Ok(best.into_list())
        })
        .collect()
}
