//! Products of rows with each other: the n × n matrix of the dual route.

use super::sums::{ColumnMoments, Weighted, all_finite, column_moments, scales};
use crate::data::{AnyPoints, CentredRows, CsrRef, Points};
use crate::error::Result;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::moments::center_weighted;
use crate::progress::Watch;
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Columns of the rows that enter the Gram matrix at a time, and up to how many rows each panel has a sum of its own.
const PANEL: usize = 512;
const FEW_ROWS: usize = 512;
/// Sums of panels, added in order. Why fixed: the result must not depend on the number of threads.
const PANEL_SUMS: usize = 8;

/// AAᵀ of the rows √w(x − x̄)ᵀD⁻¹, (P8), and the moments of the columns, in one reading.
///
/// Cost: n²d flops, or 2·n·nnz for sparse rows; memory n² numbers for a few threads.
pub(crate) fn gram(
    data: Weighted<'_>,
    standardized: bool,
    watch: &Watch,
) -> Result<(Matrix<f64>, ColumnMoments)> {
    let (n, d) = (data.n_rows(), data.n_cols());
    if data.is_sparse() {
        let columns = column_moments(data)?;
        let gram = match data.rows {
            AnyPoints::F32(Points::Sparse(x)) => sparse_gram(x, data.weights, &columns, standardized),
            AnyPoints::F64(Points::Sparse(x)) => sparse_gram(x, data.weights, &columns, standardized),
            _ => Matrix::zeros(n, n),
        };
        return Ok((gram, columns));
    }
    let panels = d.div_ceil(PANEL);
    let panel = |p: usize| panel_of(data, p * PANEL..((p + 1) * PANEL).min(d), standardized);
    let mut out = Matrix::zeros(n, n);
    let mut moments = Vec::with_capacity(panels);
    if n > FEW_ROWS {
        for p in 0..panels {
            watch.step("products of rows", p, panels)?;
            let (tile, columns) = panel(p);
            add_outer(&mut out, tile.view());
            moments.push(columns);
        }
    } else {
        watch.step("products of rows", 0, panels)?;
        let share = panels.div_ceil(PANEL_SUMS).max(1);
        let sums: Vec<(Matrix<f64>, Vec<ColumnMoments>)> = (0..panels.div_ceil(share))
            .into_par_iter()
            .with_max_len(1)
            .map(|part| {
                let (mut out, mut moments) = (Matrix::zeros(n, n), Vec::new());
                for p in part * share..((part + 1) * share).min(panels) {
                    let (tile, columns) = panel(p);
                    add_halves(&mut out, tile.view());
                    moments.push(columns);
                }
                (out, moments)
            })
            .collect();
        for (sum, part) in sums {
            out.as_mut_slice().iter_mut().zip(sum.as_slice()).for_each(|(o, s)| *o += s);
            moments.extend(part);
        }
    }
    mirror(&mut out);
    let columns = ColumnMoments {
        count: n,
        weight: data.weight(),
        mean: moments.iter().flat_map(|m| m.mean.iter().copied()).collect(),
        squares: moments.iter().flat_map(|m| m.squares.iter().copied()).collect(),
    };
    data.explain((out, columns), |(_, sum)| all_finite(&sum.mean) && all_finite(&sum.squares))
}

/// Some columns of √w(x − x̄)ᵀD⁻¹, all rows, and their moments.
fn panel_of(data: Weighted<'_>, columns: Range<usize>, standardized: bool) -> (Matrix<f64>, ColumnMoments) {
    let (n, zeros) = (data.n_rows(), vec![0.0; data.n_cols()]);
    let mut tile = CentredRows::new(data.rows, &zeros).tile(0..n, columns);
    let (mean, weight) = center_weighted(&mut tile, data.weights);
    let mut squares = vec![0.0; tile.n_cols()];
    for i in 0..n {
        squares.iter_mut().zip(tile.row(i)).for_each(|(s, x)| *s += x * x);
    }
    let mut view = tile.view_mut();
    if standardized {
        let inverse: Vec<f64> =
            scales(&mean, squares.iter().copied(), weight).iter().map(|s| 1.0 / s).collect();
        for i in 0..n {
            view.row_mut(i).iter_mut().zip(&inverse).for_each(|(x, s)| *x *= s);
        }
    }
    (tile, ColumnMoments { count: n, weight, mean, squares })
}

/// √wᵢ√wⱼ(⟨xᵢ, xⱼ⟩ − ⟨xᵢ, x̄⟩ − ⟨xⱼ, x̄⟩ + ⟨x̄, x̄⟩), inner products with D⁻².
///
/// Cost: 2·n·nnz flops.
fn sparse_gram<T: Real>(
    x: CsrRef<'_, T>,
    weights: Option<&[f64]>,
    columns: &ColumnMoments,
    standardized: bool,
) -> Matrix<f64> {
    let (n, d, mean) = (x.n_rows(), x.n_cols(), &columns.mean);
    let scale = standardized.then(|| scales(mean, columns.squares.iter().copied(), columns.weight));
    let square = |j: usize| scale.as_ref().map_or(1.0, |s| 1.0 / (s[j] * s[j]));
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
