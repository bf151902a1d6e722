//! Sums over rows, in memory or a piece of them: moments, triangles, column moments and the Gram matrix.

use crate::data::{AnyPoints, CentredRows, CsrRef, Points};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::moments::{Directions, Partial, Triangle};
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Up to this many columns threads take rows; beyond, they share the columns of one product.
const NARROW: usize = 256;
/// Rows that are summed at a time.
const NARROW_ROWS: usize = 1024;
const WIDE_ROWS: usize = 4096;
/// Pieces whose sums are held at once.
const GROUP: usize = 32;
/// Bytes of copied rows in hand when triangles are made.
const TRIANGLE_BYTES: usize = 256 << 20;
/// Columns of the rows that enter the Gram matrix at a time, and up to how many rows each panel has a sum of its own.
const PANEL: usize = 512;
const FEW_ROWS: usize = 512;
/// Sums of panels, added in order. Why fixed: the result must not depend on the number of threads.
const PANEL_SUMS: usize = 8;
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

    /// A dense copy in double precision.
    fn copy(&self) -> Matrix<f64> {
        let mut out = Matrix::zeros(self.n_rows(), self.n_cols());
        out.view_mut().row_chunks(NARROW_ROWS).into_par_iter().enumerate().for_each(|(piece, mut into)| {
            for at in 0..into.n_rows() {
                self.rows.copy_row(piece * NARROW_ROWS + at, into.row_mut(at));
            }
        });
        out
    }

    /// Refuses entries that are not finite and weights that cannot be.
    ///
    /// # Errors
    /// Names the first such entry or weight.
    pub(crate) fn check(&self) -> Result<()> {
        self.rows.check()?;
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

/// Rows in messages are counted from the start of the piece; this says where it starts.
pub(crate) fn counted_from(error: Error, first_row: usize) -> Error {
    match error {
        Error::Data { found, required, action } if first_row > 0 => {
            Error::Data { found: format!("{found} (counted after row {first_row})"), required, action }
        }
        other => other,
    }
}

/// Count, mean and scatter of rows, (P1), (P2).
///
/// Cost: n·d² flops, for sparse rows the sum of the squares of their numbers of entries; memory d² numbers and a piece of rows.
pub(crate) fn moments(data: Weighted<'_>, watch: &Watch) -> Result<Partial> {
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
        for from in (0..n).step_by(WIDE_ROWS) {
            watch.check()?;
            let piece = part(from, WIDE_ROWS);
            sum.merge(&Partial::of_weighted(&mut piece.copy(), piece.weights))?;
        }
        return Ok(sum);
    }
    for group in (0..n).step_by(GROUP * NARROW_ROWS) {
        watch.check()?;
        let end = (group + GROUP * NARROW_ROWS).min(n);
        let starts: Vec<usize> = (group..end).step_by(NARROW_ROWS).collect();
        let parts: Vec<Partial> = starts
            .into_par_iter()
            .map(|from| {
                let piece = part(from, NARROW_ROWS);
                Partial::of_weighted(&mut piece.copy(), piece.weights)
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
    let columns = column_moments(data);
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

/// Calls `visit` with weight, columns and values of each sparse row.
fn each_row(data: Weighted<'_>, mut visit: impl FnMut(f64, &[u32], &dyn Fn(usize) -> f64)) {
    fn go<T: Real>(
        x: &CsrRef<'_, T>,
        weights: Option<&[f64]>,
        visit: &mut dyn FnMut(f64, &[u32], &dyn Fn(usize) -> f64),
    ) {
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
    let (n, d) = (data.n_rows(), data.n_cols());
    let height = triangle_rows(d);
    let group = (TRIANGLE_BYTES / (8 * height * d.max(1))).clamp(1, GROUP / 4);
    let mut sum = Triangle::empty(d);
    for from in (0..n).step_by(height * group) {
        watch.check()?;
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
    let (n, height) = (data.n_rows(), sum.piece_rows());
    for from in (0..n).step_by(height) {
        watch.step("sketch of rows", from, n)?;
        let piece = data.part(from..from.saturating_add(height).min(n));
        sum.add(piece.copy(), piece.weights)?;
    }
    Ok(())
}

/// Rows that are turned into a triangle at a time.
pub(crate) fn triangle_rows(d: usize) -> usize {
    (4 * d).max(NARROW_ROWS)
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
pub(crate) fn column_moments(data: Weighted<'_>) -> ColumnMoments {
    let (n, d, weight) = (data.n_rows(), data.n_cols(), data.weight());
    if data.is_sparse() {
        let (mut mean, mut squares) = (vec![0.0; d], vec![0.0; d]);
        each_row(data, |w, places, values| {
            for (at, j) in places.iter().enumerate() {
                mean[*j as usize] += w * values(at);
                squares[*j as usize] += w * values(at) * values(at);
            }
        });
        let positive = weight.max(f64::MIN_POSITIVE);
        mean.iter_mut().for_each(|m| *m /= positive);
        squares.iter_mut().zip(&mean).for_each(|(s, m)| *s = (*s - weight * m * m).max(0.0));
        return ColumnMoments { count: n, weight, mean, squares };
    }
    // Pieces of about a million numbers.
    let height = ((1 << 20) / d.max(1)).clamp(16, WIDE_ROWS);
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
    let mut sum = ColumnMoments { count: 0, weight: 0.0, mean: vec![0.0; d], squares: vec![0.0; d] };
    parts.into_iter().for_each(|part| sum.merge(part));
    sum
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

/// AAᵀ of the rows √w(x − x̄)ᵀD⁻¹, (P8). `inverse` holds the diagonal of D⁻¹.
///
/// Cost: n²d flops; memory n² numbers for a few threads.
pub(crate) fn gram(
    data: Weighted<'_>,
    mean: &[f64],
    inverse: Option<&[f64]>,
    watch: &Watch,
) -> Result<Matrix<f64>> {
    match data.rows {
        AnyPoints::F32(Points::Sparse(x)) => return Ok(sparse_gram(x, data.weights, mean, inverse)),
        AnyPoints::F64(Points::Sparse(x)) => return Ok(sparse_gram(x, data.weights, mean, inverse)),
        _ => {}
    }
    let (n, d) = (data.n_rows(), data.n_cols());
    let roots: Option<Vec<f64>> = data.weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
    let rows = CentredRows::new(data.rows, mean);
    let panel = |from: usize| {
        let columns = from..(from + PANEL).min(d);
        let mut tile = rows.tile(0..n, columns.clone());
        let mut view = tile.view_mut();
        for i in 0..n {
            let root = roots.as_ref().map_or(1.0, |r| r[i]);
            match inverse {
                None if roots.is_none() => {}
                None => view.row_mut(i).iter_mut().for_each(|x| *x *= root),
                Some(inverse) => {
                    view.row_mut(i)
                        .iter_mut()
                        .zip(&inverse[columns.clone()])
                        .for_each(|(x, s)| *x *= root * s);
                }
            }
        }
        tile
    };
    if n > FEW_ROWS {
        let mut out = Matrix::zeros(n, n);
        for from in (0..d).step_by(PANEL) {
            watch.step("products of rows", from, d)?;
            add_outer(&mut out, panel(from).view());
        }
        mirror(&mut out);
        return Ok(out);
    }
    let panels = d.div_ceil(PANEL);
    let share = panels.div_ceil(PANEL_SUMS).max(1);
    watch.step("products of rows", 0, d)?;
    let sums: Vec<Matrix<f64>> = (0..panels.div_ceil(share))
        .into_par_iter()
        .map(|part| {
            let mut out = Matrix::zeros(n, n);
            for p in part * share..((part + 1) * share).min(panels) {
                add_halves(&mut out, panel(p * PANEL).view());
            }
            out
        })
        .collect();
    let mut out = Matrix::zeros(n, n);
    for sum in &sums {
        out.as_mut_slice().iter_mut().zip(sum.as_slice()).for_each(|(o, s)| *o += s);
    }
    mirror(&mut out);
    Ok(out)
}

/// √wᵢ√wⱼ(⟨xᵢ, xⱼ⟩ − ⟨xᵢ, x̄⟩ − ⟨xⱼ, x̄⟩ + ⟨x̄, x̄⟩), inner products with D⁻².
///
/// Cost: 2·n·nnz flops.
fn sparse_gram<T: Real>(
    x: CsrRef<'_, T>,
    weights: Option<&[f64]>,
    mean: &[f64],
    inverse: Option<&[f64]>,
) -> Matrix<f64> {
    let (n, d) = (x.n_rows(), x.n_cols());
    let square = |j: usize| inverse.map_or(1.0, |s| s[j] * s[j]);
    let along = |i: usize, dense: &[f64]| -> f64 {
        let (places, values) = x.row(i);
        places.iter().zip(values).map(|(j, v)| v.f64() * dense[*j as usize]).sum()
    };
    let scaled: Vec<f64> = mean.iter().enumerate().map(|(j, m)| m * square(j)).collect();
    let centre: f64 = scaled.iter().zip(mean).map(|(a, b)| a * b).sum();
    let toward: Vec<f64> = (0..n).map(|i| along(i, &scaled)).collect();
    let root = |i: usize| weights.map_or(1.0, |w| w[i].sqrt());
    let mut out = Matrix::zeros(n, n);
    out.view_mut().row_chunks(16).into_par_iter().enumerate().for_each(|(piece, mut rows)| {
        let mut dense = vec![0.0; d];
        for at in 0..rows.n_rows() {
            let i = piece * 16 + at;
            let (places, values) = x.row(i);
            places.iter().zip(values).for_each(|(j, v)| dense[*j as usize] = v.f64() * square(*j as usize));
            let into = rows.row_mut(at);
            for (j, out) in into.iter_mut().enumerate().skip(i) {
                *out = root(i) * root(j) * (along(j, &dense) - toward[i] - toward[j] + centre);
            }
            places.iter().for_each(|j| dense[*j as usize] = 0.0);
        }
    });
    mirror(&mut out);
    out
}

/// Upper triangle of out ← out + TTᵀ, the corner below the diagonal left out, in the calling thread.
fn add_halves(out: &mut Matrix<f64>, t: MatRef<'_, f64>) {
    let n = t.n_rows();
    let step = n.div_ceil(4).max(32);
    for from in (0..n).step_by(step) {
        let to = (from + step).min(n);
        let rows = out.view_mut().row_chunks(step).into_iter().nth(from / step);
        if let Some(rows) = rows {
            let (a, b) = (Factor::Plain(t.rows(from..to)), Factor::Transposed(t.rows(from..n)));
            gemm(rows.columns(from..n), Onto::Add, 1.0, a, b);
        }
    }
}

/// Upper triangle of out ← out + TTᵀ by strips of rows, shared among threads.
fn add_outer(out: &mut Matrix<f64>, t: MatRef<'_, f64>) {
    const STRIP: usize = 128;
    let n = t.n_rows();
    out.view_mut().row_chunks(STRIP).into_par_iter().enumerate().for_each(|(strip, rows)| {
        let (from, to) = (strip * STRIP, ((strip + 1) * STRIP).min(n));
        let (a, b) = (Factor::Plain(t.rows(from..to)), Factor::Transposed(t.rows(from..n)));
        gemm(rows.columns(from..n), Onto::Add, 1.0, a, b);
    });
}

fn mirror(a: &mut Matrix<f64>) {
    for i in 0..a.n_rows() {
        for j in 0..i {
            a[(i, j)] = a[(j, i)];
        }
    }
}
