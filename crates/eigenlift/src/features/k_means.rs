//! Centres of clusters as landmarks: k-means++ seeding and a few sweeps of Lloyd's iteration, docs/theory (K49).

use super::fourier::rows_times;
use crate::data::{AnyPoints, Points};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::Matrix;
use crate::memory::{copied, joined};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use crate::real::Real;
use crate::simd::dispatch;
use distances::Nearer;
use rayon::prelude::*;

mod distances;

/// Rows looked at for each centre at most.
const ROWS_PER_CENTRE: usize = 50;
/// Sweeps of Lloyd's iteration at most.
const SWEEPS: usize = 5;
/// Rows drawn for each new centre, of which the best becomes one.
const CANDIDATES: usize = 3;
/// Rows that one thread handles at a time.
const PIECE: usize = 256;

/// At most `count` centres: rows drawn with probability ∝ squared distance to the nearest centre so far, the best of three
/// draws each time, then up to five sweeps of {assign rows to the nearest centre, move centres to the mean}, (K49).
///
/// Of more than 50·count rows that many are drawn and looked at. An empty cluster keeps its centre; when there are fewer
/// distinct rows than `count`, each of them is a centre. The same bits for any number of threads.
/// Cost: 8·n·count·d flops for seeding and 2·n·count·d for each sweep, with n ≤ 50·count.
///
/// # Errors
/// When the work is cancelled, or squared distances between rows are not finite.
pub fn k_means_centres(x: AnyPoints<'_>, count: usize, seed: u64, watch: &Watch) -> Result<Matrix<f64>> {
    match x {
        AnyPoints::F32(x) => Cloud::new(x, count, seed).centres(count, seed, watch),
        AnyPoints::F64(x) => Cloud::new(x, count, seed).centres(count, seed, watch),
    }
}

/// The rows looked at.
struct Cloud<'a, T> {
    points: Points<'a, T>,
    rows: Vec<usize>,
}

impl<'a, T: Real> Cloud<'a, T> {
    fn new(points: Points<'a, T>, count: usize, seed: u64) -> Self {
        let most = count.saturating_mul(ROWS_PER_CENTRE);
        let rows = Stream::new(seed, Purpose::Rows).rows(points.n_rows(), most);
        Self { points, rows }
    }

    fn centres(&self, count: usize, seed: u64, watch: &Watch) -> Result<Matrix<f64>> {
        let (chosen, complete) = self.seeds(count, &mut Stream::new(seed, Purpose::Centres), watch)?;
        let mut centres = self.gather(&chosen);
        if complete || chosen.is_empty() {
            return Ok(centres);
        }
        let middle = self.middle();
        let mut nearest = Vec::new();
        for sweep in 0..SWEEPS {
            watch.step("k-means sweeps", sweep, SWEEPS)?;
            let assigned = self.assign(&centres, &middle);
            if assigned == nearest {
                break;
            }
            nearest = assigned;
            self.move_to_means(&mut centres, &nearest);
        }
        finite(centres.as_slice())?;
        Ok(centres)
    }

    /// Positions in `rows` of the first centres, and whether every row is one of them.
    fn seeds(&self, count: usize, random: &mut Stream, watch: &Watch) -> Result<(Vec<usize>, bool)> {
        let n = self.rows.len();
        let mut chosen = Vec::new();
        if count == 0 || n == 0 {
            return Ok((chosen, true));
        }
        // Before the first draw every row is equally far from all centres.
        let mut left = vec![1.0; n];
        let mut first = true;
        while chosen.len() < count {
            watch.step("k-means seeds", chosen.len(), count)?;
            let total = sum(&left);
            finite(&[total])?;
            if total == 0.0 {
                return Ok((chosen, true));
            }
            let draws = if first { 1 } else { CANDIDATES };
            let candidates: Vec<usize> = (0..draws).map(|_| draw(&left, total, random)).collect();
            if first {
                left.fill(f64::INFINITY);
                first = false;
            }
            let (best, distances) = self.best(&candidates, &left);
            chosen.push(candidates[best]);
            left = distances;
        }
        let complete = left.iter().all(|d| *d == 0.0);
        Ok((chosen, complete))
    }

    /// The candidate that leaves the least sum of squared distances, and these distances.
    fn best(&self, candidates: &[usize], left: &[f64]) -> (usize, Vec<f64>) {
        let centres = self.gather(candidates);
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for (at, distances) in self.smaller_distances(&centres, left).into_iter().enumerate() {
            let total = sum(&distances);
            if best.as_ref().is_none_or(|(least, ..)| total < *least) {
                best = Some((total, at, distances));
            }
        }
        best.map(|(_, at, distances)| (at, distances)).unwrap_or_default()
    }

    /// For each centre: min(left, ‖x − c‖²) over all rows.
    fn smaller_distances(&self, centres: &Matrix<f64>, left: &[f64]) -> Vec<Vec<f64>> {
        let mut out: Vec<Vec<f64>> = (0..centres.n_rows()).map(|_| copied(left)).collect();
        let mut pieces: Vec<Vec<&mut [f64]>> = Vec::new();
        for distances in &mut out {
            for (piece, part) in distances.chunks_mut(PIECE).enumerate() {
                if pieces.len() <= piece {
                    pieces.push(Vec::new());
                }
                pieces[piece].push(part);
            }
        }
        pieces.into_par_iter().zip(self.rows.par_chunks(PIECE)).for_each(|(distances, rows)| {
            dispatch(Nearer { points: self.points, rows, centres, distances });
        });
        out
    }

    /// Rows at these positions, in double precision.
    fn gather(&self, positions: &[usize]) -> Matrix<f64> {
        let mut out = Matrix::zeros(positions.len(), self.points.n_cols());
        let mut view = out.view_mut();
        positions
            .iter()
            .enumerate()
            .for_each(|(at, p)| self.points.copy_row(self.rows[*p], view.row_mut(at)));
        out
    }

    /// The mean of some rows, from which dense rows are measured. Numerics: data far from the origin keeps its distances.
    fn middle(&self) -> Vec<f64> {
        let d = self.points.n_cols();
        let mut mean = vec![0.0; d];
        if matches!(self.points, Points::Sparse(_)) {
            return mean;
        }
        let step = self.rows.len().div_ceil(PIECE).max(1);
        let picks: Vec<usize> = (0..self.rows.len()).step_by(step).collect();
        let rows = self.gather(&picks);
        let share = 1.0 / picks.len().max(1) as f64;
        (0..rows.n_rows()).for_each(|i| mean.iter_mut().zip(rows.row(i)).for_each(|(m, v)| *m += share * v));
        mean
    }

    /// The nearest centre of each row, the first of equals: argmin ‖c‖² − 2⟨x,c⟩, with x and c measured from `middle`.
    fn assign(&self, centres: &Matrix<f64>, middle: &[f64]) -> Vec<usize> {
        let shifted = Matrix::from_fn(centres.n_rows(), centres.n_cols(), |i, j| centres[(i, j)] - middle[j]);
        let columns = Matrix::from_fn(shifted.n_cols(), shifted.n_rows(), |i, j| shifted[(j, i)]);
        let squares: Vec<f64> =
            (0..shifted.n_rows()).map(|i| shifted.row(i).iter().map(|v| v * v).sum()).collect();
        let pieces = self.rows.par_chunks(PIECE).map(|rows| {
            let mut inner = Matrix::zeros(rows.len(), centres.n_rows());
            self.inner_products(rows, middle, &columns, &mut inner);
            let nearest = |i: usize| {
                let mut best = (f64::INFINITY, 0);
                for (j, (inner, square)) in inner.row(i).iter().zip(&squares).enumerate() {
                    let distance = square - 2.0 * inner;
                    if distance < best.0 {
                        best = (distance, j);
                    }
                }
                best.1
            };
            (0..rows.len()).map(nearest).collect::<Vec<usize>>()
        });
        joined(pieces.collect())
    }

    fn inner_products(&self, rows: &[usize], middle: &[f64], columns: &Matrix<f64>, out: &mut Matrix<f64>) {
        if let Points::Sparse(sparse) = self.points {
            rows_times(Points::Sparse(sparse.gather(rows).view()), columns, out.view_mut());
            return;
        }
        let mut block = Matrix::zeros(rows.len(), self.points.n_cols());
        let mut view = block.view_mut();
        for (at, i) in rows.iter().enumerate() {
            let row = view.row_mut(at);
            self.points.copy_row(*i, row);
            row.iter_mut().zip(middle).for_each(|(v, m)| *v -= m);
        }
        gemm(out.view_mut(), Onto::Replace, 1.0, Factor::Plain(block.view()), Factor::Plain(columns.view()));
    }

    /// Each centre becomes the mean of its rows, added in the order of rows.
    fn move_to_means(&self, centres: &mut Matrix<f64>, nearest: &[usize]) {
        let mut members = vec![Vec::new(); centres.n_rows()];
        nearest.iter().zip(&self.rows).for_each(|(centre, row)| members[*centre].push(*row));
        let pieces = centres.view_mut().row_chunks(1);
        pieces.into_par_iter().zip(members).filter(|(_, members)| !members.is_empty()).for_each(
            |(mut centre, members)| {
                let centre = centre.row_mut(0);
                centre.fill(0.0);
                members.iter().for_each(|i| add_row(self.points, *i, centre));
                let share = 1.0 / members.len() as f64;
                centre.iter_mut().for_each(|v| *v *= share);
            },
        );
    }
}

fn add_row<T: Real>(points: Points<'_, T>, i: usize, sums: &mut [f64]) {
    match points {
        Points::Dense(m) => sums.iter_mut().zip(m.row(i)).for_each(|(s, v)| *s += v.f64()),
        Points::Sparse(m) => {
            let (columns, values) = m.row(i);
            columns.iter().zip(values).for_each(|(c, v)| sums[*c as usize] += v.f64());
        }
    }
}

fn finite(values: &[f64]) -> Result<()> {
    if values.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(Error::data(
        "rows whose distances or means are not finite",
        "clusters need distances that are numbers",
        "Look for missing or extreme entries, or rescale the columns",
    ))
}

/// The sum, piece after piece.
fn sum(values: &[f64]) -> f64 {
    values.chunks(PIECE).map(|piece| piece.iter().sum::<f64>()).sum()
}

/// A position drawn in proportion to `weights`, which add up to `total`; never one of weight 0.
fn draw(weights: &[f64], total: f64, random: &mut Stream) -> usize {
    let target = random.uniform() * total;
    let (mut running, mut last) = (0.0, 0);
    for (at, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        running += weight;
        last = at;
        if running > target {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests;
