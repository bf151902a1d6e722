//! Products of rows with each other: the n × n matrix of the dual route.

use crate::data::{AnyPoints, CentredRows, CsrRef, Points};
use crate::error::Result;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::memory::{room_for, zeroed};
use crate::moments::{add_outer_products, center_weighted, padded};
use crate::progress::Watch;
use crate::real::Real;
use crate::rows::{ColumnMoments, Weighted, all_finite, column_moments, scales};
use rayon::prelude::*;
use std::ops::Range;

/// Columns of the rows that enter the matrix at a time.
const PANEL: usize = 512;
/// Up to so many rows columns are short vectors; so many of them are in hand at a time.
const FEW_ROWS: usize = 256;
const SHORT_PANEL: usize = 128;
/// Shares of the columns that are summed side by side. Why fixed: the result must not depend on the number of threads.
const SHARES: usize = 4;

/// AAᵀ of the rows √w(x − x̄)ᵀD⁻¹, (P8), and the moments of the columns, in one reading.
///
/// Cost: n²d flops, or 2·n·nnz for sparse rows; memory n² numbers for a few threads.
pub(crate) fn gram(
    data: Weighted<'_>,
    standardized: bool,
    watch: &Watch,
) -> Result<(Matrix<f64>, ColumnMoments)> {
    let n = data.n_rows();
    if data.is_sparse() {
        let columns = column_moments(data)?;
        let gram = match data.rows {
            AnyPoints::F32(Points::Sparse(x)) => sparse_gram(x, data.weights, &columns, standardized),
            AnyPoints::F64(Points::Sparse(x)) => sparse_gram(x, data.weights, &columns, standardized),
            _ => Matrix::zeros(n, n),
        };
        return Ok((gram, columns));
    }
    let (out, columns) = match data.rows {
        AnyPoints::F32(Points::Dense(x)) if n <= FEW_ROWS => of_few(x, data.weights, standardized),
        AnyPoints::F64(Points::Dense(x)) if n <= FEW_ROWS => of_few(x, data.weights, standardized),
        _ => of_many(data, standardized, watch)?,
    };
    data.explain((out, columns), |(_, sum)| all_finite(&sum.mean) && all_finite(&sum.squares))
}

/// Many rows: panels of columns in turn, the products of each shared among threads.
fn of_many(data: Weighted<'_>, standardized: bool, watch: &Watch) -> Result<(Matrix<f64>, ColumnMoments)> {
    let (n, d) = (data.n_rows(), data.n_cols());
    let mut out = Matrix::try_zeros(n, n)?;
    let mut columns =
        ColumnMoments { count: n, weight: data.weight(), mean: Vec::new(), squares: Vec::new() };
    for from in (0..d).step_by(PANEL) {
        watch.step("products of rows", from, d)?;
        let (tile, part) = panel_of(data, from..(from + PANEL).min(d), standardized);
        add_outer(&mut out, tile.view());
        columns.mean.extend(part.mean);
        columns.squares.extend(part.squares);
    }
    mirror(&mut out);
    Ok((out, columns))
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

/// Few rows: each column is a short vector over rows, and the matrix a sum of their outer products.
fn of_few<T: Real>(
    x: MatRef<'_, T>,
    weights: Option<&[f64]>,
    standardized: bool,
) -> (Matrix<f64>, ColumnMoments) {
    let (n, d, width) = (x.n_rows(), x.n_cols(), padded(x.n_rows().max(1)));
    let weight = weights.map_or(n as f64, |w| w.iter().sum());
    let share = d.div_ceil(SHARES).next_multiple_of(SHORT_PANEL);
    let parts: Vec<_> = (0..d.div_ceil(share))
        .into_par_iter()
        .with_max_len(1)
        .map(|part| {
            let (mut upper, mut moments) = (zeroed(width * width), room_for(share));
            let mut buffer = zeroed(SHORT_PANEL * width);
            let end = ((part + 1) * share).min(d);
            for from in (part * share..end).step_by(SHORT_PANEL) {
                let columns = from..(from + SHORT_PANEL).min(end);
                let filled = &mut buffer[..columns.len() * width];
                transpose(x, columns, filled, width);
                for column in filled.chunks_exact_mut(width) {
                    moments.push(center_column(&mut column[..n], weights, weight, standardized));
                }
                add_outer_products(&mut upper, filled, width);
            }
            (upper, moments)
        })
        .collect();
    let mut out = Matrix::zeros(n, n);
    let (mut mean, mut squares) = (Vec::with_capacity(d), Vec::with_capacity(d));
    for (upper, moments) in parts {
        for i in 0..n {
            let sums = &upper[i * width..i * width + n];
            out.view_mut().row_mut(i).iter_mut().zip(sums).for_each(|(o, s)| *o += s);
        }
        moments.iter().for_each(|(m, s)| {
            mean.push(*m);
            squares.push(*s);
        });
    }
    mirror(&mut out);
    (out, ColumnMoments { count: n, weight, mean, squares })
}

/// The sum of f over the numbers, in eight sums side by side, which the compiler turns into vectors.
fn sum_of(numbers: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = numbers.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|x| f(*x)).sum();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(s, x)| *s += f(*x));
    }
    lanes.iter().sum::<f64>() + rest
}

/// Columns of x as rows of `out`, eight entries of each at a time: a line of the cache.
fn transpose<T: Real>(x: MatRef<'_, T>, columns: Range<usize>, out: &mut [f64], width: usize) {
    const LINE: usize = 8;
    let n = x.n_rows();
    for from in (0..n - n % LINE).step_by(LINE) {
        let rows: [&[T]; LINE] = std::array::from_fn(|a| &x.row(from + a)[columns.clone()]);
        for (j, column) in out.chunks_exact_mut(width).enumerate() {
            column[from..from + LINE].iter_mut().zip(&rows).for_each(|(o, row)| *o = row[j].f64());
        }
    }
    for i in n - n % LINE..n {
        let row = &x.row(i)[columns.clone()];
        out.chunks_exact_mut(width).zip(row).for_each(|(column, x)| column[i] = x.f64());
    }
}

/// Centres a column, multiplies it with the roots of the weights, divides it by its deviation if asked. Gives mean and Σw(x − x̄)².
fn center_column(column: &mut [f64], weights: Option<&[f64]>, weight: f64, standardized: bool) -> (f64, f64) {
    // Why differences: a constant column must come out as zero. Why from the heaviest: others may not count at all.
    let heaviest = weights.and_then(|w| (0..w.len()).max_by(|a, b| w[*a].total_cmp(&w[*b]))).unwrap_or(0);
    let Some(first) = column.get(heaviest).copied() else { return (0.0, 0.0) };
    let sum: f64 = match weights {
        None => sum_of(column, |x| x - first),
        Some(weights) => column.iter().zip(weights).map(|(x, w)| w * (x - first)).sum(),
    };
    let mean = first + sum / weight.max(f64::MIN_POSITIVE);
    match weights {
        None => column.iter_mut().for_each(|x| *x -= mean),
        Some(weights) => column.iter_mut().zip(weights).for_each(|(x, w)| *x = w.sqrt() * (*x - mean)),
    }
    let square = sum_of(column, |x| x * x);
    if standardized {
        let inverse = 1.0 / scales(&[mean], std::iter::once(square), weight)[0];
        column.iter_mut().for_each(|x| *x *= inverse);
    }
    (mean, square)
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
