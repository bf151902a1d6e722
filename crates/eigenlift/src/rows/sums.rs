//! Sums over rows, in memory or a piece of them: moments, triangles, column moments and the Gram matrix.

use crate::data::{AnyPoints, CsrRef, Points};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::moments::{Absorber, Directions, Partial, Triangle, WideAbsorber};
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Up to this many columns threads take rows; beyond, they share the columns of one product.
const NARROW: usize = 256;
/// Rows that are summed at a time.
const NARROW_ROWS: usize = 128;
const WIDE_ROWS: usize = 2048;
/// Tasks that the rows are cut into, and the most rows of one. Why fixed: sums must not depend on the number of threads.
const TASKS: usize = 16;
const LONGEST_TASK: usize = 16_384;
/// Least rows of a triangle, and triangles that are made side by side.
const TRIANGLE_ROWS: usize = 1024;
const GROUP: usize = 8;
/// Bytes of copied rows in hand when triangles are made.
const TRIANGLE_BYTES: usize = 256 << 20;
/// Numbers of the pieces that column moments are made of.
const PIECE_NUMBERS: usize = 1 << 17;
/// Ranges of columns that sparse moments are cut into.
const RANGES: usize = 16;

/// Rows, and how often each counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighted<'a> {
    pub(crate) rows: AnyPoints<'a>,
    pub(crate) weights: Option<&'a [f64]>,
}

impl<'a> Weighted<'a> {
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    pub(crate) fn n_cols(&self) -> usize {
        self.rows.n_cols()
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.rows, AnyPoints::F32(Points::Sparse(_)) | AnyPoints::F64(Points::Sparse(_)))
    }

    pub(crate) fn weight(&self) -> f64 {
        self.weights.map_or(self.n_rows() as f64, |w| w.iter().sum())
    }

    fn part(&self, rows: Range<usize>) -> Weighted<'a> {
        Self { rows: self.rows.rows(rows.clone()), weights: self.weights.map(|w| &w[rows]) }
    }

    /// A dense copy in double precision into the first columns, in the calling thread.
    fn copy_into(&self, out: &mut Matrix<f64>) {
        let (mut view, d) = (out.view_mut(), self.n_cols());
        (0..self.n_rows()).for_each(|i| self.rows.copy_row(i, &mut view.row_mut(i)[..d]));
    }

    /// A dense copy in double precision.
    fn copy(&self) -> Matrix<f64> {
        let mut out = Matrix::default();
        self.copy_shared(&mut out);
        out
    }

    /// A dense copy into memory that is used again, shared among threads.
    fn copy_shared(&self, out: &mut Matrix<f64>) {
        out.reshape(self.n_rows(), self.n_cols());
        out.view_mut().row_chunks(NARROW_ROWS).into_par_iter().enumerate().for_each(|(piece, mut into)| {
            for at in 0..into.n_rows() {
                self.rows.copy_row(piece * NARROW_ROWS + at, into.row_mut(at));
            }
        });
    }

    /// Refuses weights that cannot be, and rows without columns. Entries are looked at only when a sum over them is not finite:
    /// [`Weighted::explain`].
    ///
    /// # Errors
    /// Names the first such weight.
    pub(crate) fn check(&self) -> Result<()> {
        if self.n_cols() == 0 {
            self.rows.check()?;
        }
        let Some(weights) = self.weights else { return Ok(()) };
        if weights.len() != self.n_rows() {
            return Err(Error::data(
                format!("{} weights for {} rows", weights.len(), self.n_rows()),
                "each row needs one",
                "Give as many weights as rows",
            ));
        }
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            None => Ok(()),
            Some(i) => Err(Error::data(
                format!("row {} has the weight {}", i + 1, weights[i]),
                "weights must be finite and not negative",
                "Correct the weight, or leave the row out with the weight 0",
            )),
        }
    }
}

impl Weighted<'_> {
    /// Passes sums that are all finite. Others come from an entry that is not, which is named, or from squares too large for
    /// double precision.
    ///
    /// # Errors
    /// Names the entry, or says that squares overflow.
    pub(crate) fn explain<S>(&self, sums: S, finite: impl Fn(&S) -> bool) -> Result<S> {
        if finite(&sums) {
            return Ok(sums);
        }
        self.rows.check()?;
        Err(Error::data(
            "entries whose squares exceed double precision",
            "sums of squares must stay finite",
            "Divide the columns by their largest entries first",
        ))
    }
}

/// Whether all numbers are.
pub(crate) fn all_finite(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

/// Numbers that [`moments`] holds at a time for n rows of d columns, the result included.
pub(crate) fn moments_numbers((n, d): (usize, usize), (threads, sparse): (usize, bool)) -> u128 {
    let square = (d as u128).pow(2);
    let piece = |rows: usize| (rows.min(n) * d) as u128;
    if sparse {
        square
    } else if d > NARROW {
        // Half of the matrix in blocks, and the whole that is made of them.
        piece(WIDE_ROWS) + square + square / 2
    } else {
        let tasks = n.div_ceil(NARROW_ROWS).clamp(1, TASKS);
        let at_once = threads.clamp(1, tasks);
        (1 + tasks + at_once) as u128 * square + at_once as u128 * piece(NARROW_ROWS)
    }
}

/// Numbers that [`column_moments`] of d columns takes for its pieces.
pub(crate) fn column_numbers((n, d): (usize, usize), threads: usize) -> u128 {
    (threads * PIECE_NUMBERS.max(16 * d)).min(n * d) as u128
}

/// Count, mean and scatter of rows, (P1), (P2).
///
/// Cost: n·d² flops, for sparse rows the sum of the squares of their numbers of entries; memory d² numbers and a piece of rows.
pub(crate) fn moments(data: Weighted<'_>, watch: &Watch) -> Result<Partial> {
    let sum = moments_of(data, watch)?;
    data.explain(sum, |sum| all_finite(sum.mean()) && sum.trace().is_finite())
}

fn moments_of(data: Weighted<'_>, watch: &Watch) -> Result<Partial> {
    match data.rows {
        AnyPoints::F32(Points::Sparse(_)) | AnyPoints::F64(Points::Sparse(_)) => {
            return Ok(sparse_moments(data));
        }
        _ => {}
    }
    let (n, d) = (data.n_rows(), data.n_cols());
    let mut sum = Partial::empty(d);
    let part = |from: usize, height: usize| data.part(from..(from + height).min(n));
    if d > NARROW {
        let (mut wide, mut buffer) = (WideAbsorber::new(d), Matrix::default());
        for from in (0..n).step_by(WIDE_ROWS) {
            watch.step("moments of rows", from, n)?;
            let piece = part(from, WIDE_ROWS);
            piece.copy_shared(&mut buffer);
            wide.absorb(&mut buffer, piece.weights);
        }
        return Ok(wide.finish());
    }
    // Pieces in turn within a task, tasks side by side: each has one buffer that stays in its processor's cache.
    let task = (n.div_ceil(TASKS)).next_multiple_of(NARROW_ROWS).clamp(NARROW_ROWS, LONGEST_TASK);
    for group in (0..n).step_by(TASKS * task) {
        watch.step("moments of rows", group, n)?;
        let starts: Vec<usize> = (group..(group + TASKS * task).min(n)).step_by(task).collect();
        let parts: Vec<Partial> = starts
            .into_par_iter()
            .with_max_len(1)
            .map(|start| {
                let mut sum = Absorber::new(d);
                let mut buffer = Matrix::zeros(0, sum.width());
                for from in (start..(start + task).min(n)).step_by(NARROW_ROWS) {
                    let piece = part(from, NARROW_ROWS);
                    if buffer.n_rows() != piece.n_rows() {
                        buffer = Matrix::zeros(piece.n_rows(), sum.width());
                    }
                    piece.copy_into(&mut buffer);
                    sum.absorb(&mut buffer, piece.weights);
                }
                sum.finish()
            })
            .collect();
        parts.iter().try_for_each(|part| sum.merge(part))?;
    }
    Ok(sum)
}

/// M₂ = Σ wxxᵀ − n·x̄x̄ᵀ from the entries that are there.
///
/// Numerics: the difference loses digits where means are much larger than deviations; columns of sparse rows are not so.
fn sparse_moments(data: Weighted<'_>) -> Partial {
    let (d, weight) = (data.n_cols(), data.weight());
    let columns = columns_of(data);
    let mut scatter = Matrix::zeros(d, d);
    let height = d.div_ceil(RANGES).max(1);
    scatter.view_mut().row_chunks(height).into_par_iter().enumerate().for_each(|(piece, mut out)| {
        let range = piece * height..((piece + 1) * height).min(d);
        each_row(data, |w, places, values| {
            let from = places.partition_point(|j| (*j as usize) < range.start);
            for (at, j) in
                places.iter().enumerate().skip(from).take_while(|(_, j)| (**j as usize) < range.end)
            {
                let (into, x) = (out.row_mut(*j as usize - range.start), w * values(at));
                places.iter().enumerate().skip(at).for_each(|(b, l)| into[*l as usize] += x * values(b));
            }
        });
    });
    for i in 0..d {
        for j in i..d {
            let value = scatter[(i, j)] - weight * columns.mean[i] * columns.mean[j];
            scatter[(i, j)] = value;
            scatter[(j, i)] = value;
        }
        scatter[(i, i)] = columns.squares[i];
    }
    Partial::from_parts(data.n_rows() as u64, weight, columns.mean, scatter)
}

/// Told of a sparse row: its weight, its columns, and the values in them.
type RowVisitor<'a> = dyn FnMut(f64, &[u32], &dyn Fn(usize) -> f64) + 'a;

/// Calls `visit` with weight, columns and values of each sparse row.
fn each_row(data: Weighted<'_>, mut visit: impl FnMut(f64, &[u32], &dyn Fn(usize) -> f64)) {
    fn go<T: Real>(x: &CsrRef<'_, T>, weights: Option<&[f64]>, visit: &mut RowVisitor<'_>) {
        for i in 0..x.n_rows() {
            let (places, values) = x.row(i);
            visit(weights.map_or(1.0, |w| w[i]), places, &|at| values[at].f64());
        }
    }
    match data.rows {
        AnyPoints::F32(Points::Sparse(x)) => go(&x, data.weights, &mut visit),
        AnyPoints::F64(Points::Sparse(x)) => go(&x, data.weights, &mut visit),
        _ => {}
    }
}

/// Mean and triangle of rows, (P10).
///
/// Cost: 2·n·d² flops; memory a few pieces of rows of at least 4d each.
pub(crate) fn triangle(data: Weighted<'_>, watch: &Watch) -> Result<Triangle> {
    let sum = triangle_of(data, watch)?;
    data.explain(sum, |sum| all_finite(sum.mean()) && all_finite(sum.r().as_slice()))
}

fn triangle_of(data: Weighted<'_>, watch: &Watch) -> Result<Triangle> {
    let (n, d) = (data.n_rows(), data.n_cols());
    let (height, group) = triangle_pieces(d);
    let mut sum = Triangle::empty(d);
    for from in (0..n).step_by(height * group) {
        watch.step("triangles of rows", from, n)?;
        let starts: Vec<usize> = (from..n.min(from + height * group)).step_by(height).collect();
        let parts: Vec<Result<Triangle>> = starts
            .into_par_iter()
            .map(|from| {
                let piece = data.part(from..(from + height).min(n));
                Triangle::of_rows(piece.copy(), piece.weights)
            })
            .collect();
        for part in parts {
            sum.merge(&part?)?;
        }
    }
    Ok(sum)
}

/// Adds rows to a sketch, (P13).
///
/// Cost: about 12·n·d·ℓ flops; memory a piece of fewer than ℓ rows.
pub(crate) fn add_to_directions(sum: &mut Directions, data: Weighted<'_>, watch: &Watch) -> Result<()> {
    data.rows.check()?;
    let (n, height) = (data.n_rows(), sum.piece_rows());
    for from in (0..n).step_by(height) {
        watch.step("sketch of rows", from, n)?;
        let piece = data.part(from..from.saturating_add(height).min(n));
        sum.add(piece.copy(), piece.weights)?;
    }
    Ok(())
}

/// Rows of which one triangle is made, and how many of these are made at once at most.
pub(crate) fn triangle_pieces(d: usize) -> (usize, usize) {
    let height = (4 * d).max(TRIANGLE_ROWS);
    (height, (TRIANGLE_BYTES / (8 * height * d.max(1))).clamp(1, GROUP))
}

/// Weight, mean and Σw(x − mean)² of each column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ColumnMoments {
    pub(crate) count: usize,
    pub(crate) weight: f64,
    pub(crate) mean: Vec<f64>,
    pub(crate) squares: Vec<f64>,
}

impl ColumnMoments {
    /// Of no rows.
    pub(crate) fn empty(d: usize) -> Self {
        Self { count: 0, weight: 0.0, mean: vec![0.0; d], squares: vec![0.0; d] }
    }

    /// Adds the rows of `other`, which may be of other columns.
    pub(crate) fn merge_checked(&mut self, other: &ColumnMoments) -> Result<()> {
        if self.mean.len() != other.mean.len() {
            return Err(Error::setting(
                format!("partial results of {} and {} columns", self.mean.len(), other.mean.len()),
                "they must be of the same columns",
                "Fit both parts on the same columns",
            ));
        }
        self.merge(other.clone());
        Ok(())
    }

    /// Adds the rows of `other`, (P9).
    pub(crate) fn merge(&mut self, other: ColumnMoments) {
        if self.count == 0 {
            *self = other;
            return;
        }
        let (a, b) = (self.weight, other.weight);
        let total = (a + b).max(f64::MIN_POSITIVE);
        for (j, (mean, square)) in self.mean.iter_mut().zip(&mut self.squares).enumerate() {
            let delta = other.mean[j] - *mean;
            *mean += delta * b / total;
            *square += other.squares[j] + delta * delta * a * b / total;
        }
        self.count += other.count;
        self.weight = a + b;
    }
}

/// Mean and spread of each column. Cost: one reading.
pub(crate) fn column_moments(data: Weighted<'_>) -> Result<ColumnMoments> {
    let sum = columns_of(data);
    data.explain(sum, |sum| all_finite(&sum.mean) && all_finite(&sum.squares))
}

fn columns_of(data: Weighted<'_>) -> ColumnMoments {
    let (n, d) = (data.n_rows(), data.n_cols());
    if data.is_sparse() {
        return sparse_columns(data);
    }
    // Why small: each thread holds a copy of a piece.
    let height = (PIECE_NUMBERS / d.max(1)).clamp(16, WIDE_ROWS);
    let starts: Vec<usize> = (0..n).step_by(height).collect();
    let parts: Vec<ColumnMoments> = starts
        .into_par_iter()
        .map(|from| {
            let piece = data.part(from..(from + height).min(n));
            let mut rows = piece.copy();
            let (mean, weight) = crate::moments::center_weighted(&mut rows, piece.weights);
            let mut squares = vec![0.0; d];
            for i in 0..rows.n_rows() {
                squares.iter_mut().zip(rows.row(i)).for_each(|(s, x)| *s += x * x);
            }
            ColumnMoments { count: rows.n_rows(), weight, mean, squares }
        })
        .collect();
    let mut sum = ColumnMoments::empty(d);
    parts.into_iter().for_each(|part| sum.merge(part));
    sum
}

/// Mean and spread of each column from the entries that are there.
///
/// Numerics: squares are of differences from the mean, and what these add up to corrects it, so that a column which is
/// constant and not zero has no spread but rounding.
fn sparse_columns(data: Weighted<'_>) -> ColumnMoments {
    let (d, weight) = (data.n_cols(), data.weight());
    let positive = weight.max(f64::MIN_POSITIVE);
    let (mut mean, mut there) = (vec![0.0; d], vec![0.0; d]);
    each_row(data, |w, places, values| {
        for (at, j) in places.iter().enumerate() {
            mean[*j as usize] += w * values(at);
            there[*j as usize] += w;
        }
    });
    mean.iter_mut().for_each(|m| *m /= positive);
    let (mut rest, mut squares) = (vec![0.0; d], vec![0.0; d]);
    each_row(data, |w, places, values| {
        for (at, j) in places.iter().enumerate() {
            let apart = values(at) - mean[*j as usize];
            rest[*j as usize] += w * apart;
            squares[*j as usize] += w * apart * apart;
        }
    });
    for j in 0..d {
        let (zeros, first) = ((weight - there[j]).max(0.0), mean[j]);
        let left = (rest[j] - zeros * first) / positive;
        mean[j] += left;
        let square = squares[j] + zeros * first * first - weight * left * left;
        // What is not a number stays one: the entry is named later.
        squares[j] = if square < 0.0 { 0.0 } else { square };
    }
    ColumnMoments { count: data.n_rows(), weight, mean, squares }
}

/// Standard deviations (1/n) of columns; 1 where a column is constant up to rounding.
pub(crate) fn scales(mean: &[f64], squares: impl Iterator<Item = f64>, weight: f64) -> Vec<f64> {
    let rounding = |m: f64| (64.0 * f64::EPSILON * m).powi(2);
    mean.iter()
        .zip(squares)
        .map(|(m, square)| {
            let variance = square / weight.max(f64::MIN_POSITIVE);
            if variance > rounding(*m) { variance.sqrt() } else { 1.0 }
        })
        .collect()
}
