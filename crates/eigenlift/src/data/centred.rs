//! Rows minus a centre as a matrix: products with blocks, without a copy of the rows.

use super::csr::CsrRef;
use super::points::{AnyPoints, Points};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Rows and columns of a tile that one thread copies and centres at a time: up to one MiB.
const TILE_ROWS: usize = 128;
const TILE_COLUMNS: usize = 512;
/// Rows of a tile that is multiplied from the right: the other factor is moved once for each tile.
const TALL_ROWS: usize = 256;
/// Ranges of columns that sparse products are cut into. Why fixed: sums must not depend on the number of threads.
const RANGES: usize = 8;

/// X − 1cᵀ for rows X and a centre c.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CentredRows<'a> {
    points: AnyPoints<'a>,
    centre: &'a [f64],
}

impl<'a> CentredRows<'a> {
    /// The rows minus `centre`, which has an entry for each column.
    pub(crate) fn new(points: AnyPoints<'a>, centre: &'a [f64]) -> Self {
        let (d, entries) = (points.n_cols(), centre.len());
        assert!(d == entries, "a centre of {entries} numbers for rows of {d} columns");
        Self { points, centre }
    }

    /// out ← (X − 1cᵀ)·B.
    ///
    /// Cost: 2·n·d·b flops, or 2·nnz·b for sparse rows; memory a tile for each thread.
    pub(crate) fn times(&self, b: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        match self.points {
            AnyPoints::F32(points) => times(points, self.centre, b, out),
            AnyPoints::F64(points) => times(points, self.centre, b, out),
        }
    }

    /// out ← out + (X − 1cᵀ)ᵀ·Y.
    ///
    /// Cost: as [`CentredRows::times`].
    pub(crate) fn add_transposed_times(&self, y: MatRef<'_, f64>, out: MatMut<'_, f64>) {
        match self.points {
            AnyPoints::F32(points) => add_transposed(points, self.centre, y, out),
            AnyPoints::F64(points) => add_transposed(points, self.centre, y, out),
        }
    }

    /// A tile, copied, in double precision.
    pub(crate) fn tile(&self, rows: Range<usize>, columns: Range<usize>) -> Matrix<f64> {
        match self.points {
            AnyPoints::F32(points) => tile(points, self.centre, rows, columns),
            AnyPoints::F64(points) => tile(points, self.centre, rows, columns),
        }
    }
}

fn tile<T: Real>(
    points: Points<'_, T>,
    centre: &[f64],
    rows: Range<usize>,
    columns: Range<usize>,
) -> Matrix<f64> {
    let mut out = Matrix::default();
    tile_into(&mut out, points, centre, (rows, columns));
    out
}

/// As [`tile`], into memory that is used again.
fn tile_into<T: Real>(
    out: &mut Matrix<f64>,
    points: Points<'_, T>,
    centre: &[f64],
    (rows, columns): (Range<usize>, Range<usize>),
) {
    out.reshape(rows.len(), columns.len());
    let mut view = out.view_mut();
    for (at, i) in rows.enumerate() {
        let into = view.row_mut(at);
        match points {
            Points::Dense(x) => {
                let row = &x.row(i)[columns.clone()];
                into.iter_mut()
                    .zip(row)
                    .zip(&centre[columns.clone()])
                    .for_each(|((o, x), c)| *o = x.f64() - c);
            }
            Points::Sparse(x) => {
                into.iter_mut().zip(&centre[columns.clone()]).for_each(|(o, c)| *o = -c);
                let (places, values) = within(x, i, &columns);
                places.iter().zip(values).for_each(|(j, x)| into[*j as usize - columns.start] += x.f64());
            }
        }
    }
}

/// The entries of row i whose columns lie in the range.
fn within<'a, T: Real>(x: CsrRef<'a, T>, i: usize, columns: &Range<usize>) -> (&'a [u32], &'a [T]) {
    let (places, values) = x.row(i);
    let from = places.partition_point(|j| (*j as usize) < columns.start);
    let to = places.partition_point(|j| (*j as usize) < columns.end);
    (&places[from..to], &values[from..to])
}

/// cᵀB.
fn centre_times(centre: &[f64], b: MatRef<'_, f64>) -> Vec<f64> {
    let mut sums = vec![0.0; b.n_cols()];
    for (j, c) in centre.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        sums.iter_mut().zip(b.row(j)).for_each(|(s, x)| *s += c * x);
    }
    sums
}

fn times<T: Real>(points: Points<'_, T>, centre: &[f64], b: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    let (n, d) = (points.n_rows(), points.n_cols());
    let shift = if let Points::Sparse(_) = points { centre_times(centre, b) } else { Vec::new() };
    let chunks = out.row_chunks(TALL_ROWS).into_par_iter().enumerate();
    chunks.for_each_init(Matrix::default, |buffer, (piece, mut out)| {
        let rows = piece * TALL_ROWS..((piece + 1) * TALL_ROWS).min(n);
        match points {
            Points::Dense(_) => {
                for from in (0..d).step_by(TILE_COLUMNS) {
                    let columns = from..(from + TILE_COLUMNS).min(d);
                    let onto = if from == 0 { Onto::Replace } else { Onto::Add };
                    tile_into(buffer, points, centre, (rows.clone(), columns.clone()));
                    gemm(
                        out.reborrow(),
                        onto,
                        1.0,
                        Factor::Plain(buffer.view()),
                        Factor::Plain(b.rows(columns)),
                    );
                }
            }
            Points::Sparse(x) => {
                for (at, i) in rows.enumerate() {
                    let into = out.row_mut(at);
                    into.fill(0.0);
                    let (places, values) = x.row(i);
                    for (j, x) in places.iter().zip(values) {
                        let x = x.f64();
                        into.iter_mut().zip(b.row(*j as usize)).for_each(|(o, b)| *o += x * b);
                    }
                    // Why last: both sums are then of the same terms in the same order where the row is the centre.
                    into.iter_mut().zip(&shift).for_each(|(o, s)| *o -= s);
                }
            }
        }
    });
}

fn add_transposed<T: Real>(points: Points<'_, T>, centre: &[f64], y: MatRef<'_, f64>, out: MatMut<'_, f64>) {
    let (n, d) = (points.n_rows(), points.n_cols());
    let sparse = matches!(points, Points::Sparse(_));
    let width = if sparse { d.div_ceil(RANGES).max(1) } else { TILE_COLUMNS.min(d.div_ceil(RANGES).max(64)) };
    let ones: Vec<f64> = if sparse { column_sums(y) } else { Vec::new() };
    let chunks = out.row_chunks(width).into_par_iter().enumerate();
    chunks.for_each_init(Matrix::default, |buffer, (piece, mut out)| {
        let columns = piece * width..((piece + 1) * width).min(d);
        match points {
            Points::Dense(_) => {
                for from in (0..n).step_by(TILE_ROWS) {
                    let rows = from..(from + TILE_ROWS).min(n);
                    tile_into(buffer, points, centre, (rows.clone(), columns.clone()));
                    let (a, b) = (Factor::Transposed(buffer.view()), Factor::Plain(y.rows(rows)));
                    gemm(out.reborrow(), Onto::Add, 1.0, a, b);
                }
            }
            Points::Sparse(x) => {
                for (at, j) in columns.clone().enumerate().filter(|(_, j)| centre[*j] != 0.0) {
                    let c = centre[j];
                    out.row_mut(at).iter_mut().zip(&ones).for_each(|(o, s)| *o -= c * s);
                }
                for i in 0..n {
                    let (places, values) = within(x, i, &columns);
                    for (j, x) in places.iter().zip(values) {
                        let x = x.f64();
                        let into = out.row_mut(*j as usize - columns.start);
                        into.iter_mut().zip(y.row(i)).for_each(|(o, y)| *o += x * y);
                    }
                }
            }
        }
    });
}

fn column_sums(y: MatRef<'_, f64>) -> Vec<f64> {
    let mut sums = vec![0.0; y.n_cols()];
    for i in 0..y.n_rows() {
        sums.iter_mut().zip(y.row(i)).for_each(|(s, x)| *s += x);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Csr;

    fn rows(n: usize, d: usize) -> Matrix<f64> {
        let entry = |i: usize, j: usize| {
            if (i * 7 + j * 3).is_multiple_of(4) { ((i + 2 * j) as f64).sin() } else { 0.0 }
        };
        Matrix::from_fn(n, d, entry)
    }

    /// A row that is the centre has the product 0 to the last bit.
    #[test]
    fn nothing_is_left_of_rows_that_are_the_centre() {
        let centre = [0.1, 0.0, -1e5 / 3.0, 0.7, 2.7e8, 1e-9];
        let x = Matrix::from_fn(9, 6, |_, j| centre[j]);
        let b = Matrix::from_fn(6, 4, |i, j| ((i * 5 + j * 3) as f64 * 0.37).sin());
        let sparse = sparse(&x);
        for points in [AnyPoints::from(&x), AnyPoints::F64(sparse.view().into())] {
            let mut out = Matrix::from_fn(9, 4, |_, _| 7.0);
            CentredRows::new(points, &centre).times(b.view(), out.view_mut());
            assert!(out.as_slice().iter().all(|y| *y == 0.0), "{out:?}");
        }
    }

    fn sparse(x: &Matrix<f64>) -> Csr<f64> {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..x.n_rows() {
            for (j, v) in x.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(j as u32);
                values.push(*v);
            }
            offsets.push(values.len());
        }
        Csr::new(offsets, columns, values, x.n_cols()).unwrap()
    }

    /// Dense and sparse, wide enough for several tiles, against the sums written out.
    #[test]
    fn products_are_those_of_the_centred_matrix() {
        for (n, d) in [(600, 5), (3, 2500), (300, 1100)] {
            let (x, b, y) = (rows(n, d), rows(d, 3), rows(n, 2));
            let centre: Vec<f64> = (0..d).map(|j| (j as f64 * 0.1).cos()).collect();
            let csr = sparse(&x);
            let both: [AnyPoints<'_>; 2] = [(&x).into(), AnyPoints::F64(csr.view().into())];
            for points in both {
                let seen = CentredRows::new(points, &centre);
                let mut forward = Matrix::zeros(n, 3);
                seen.times(b.view(), forward.view_mut());
                let mut back = rows(d, 2);
                seen.add_transposed_times(y.view(), back.view_mut());
                let entry = |i: usize, j: usize| x[(i, j)] - centre[j];
                let allowed = 1e-14 * (n + d) as f64;
                for (i, c) in [(0, 0), (n - 1, 2), (n / 2, 1)] {
                    let plain: f64 = (0..d).map(|j| entry(i, j) * b[(j, c)]).sum();
                    assert!((forward[(i, c)] - plain).abs() < allowed);
                }
                for (j, c) in [(0, 0), (d - 1, 1), (d / 2, 0)] {
                    let plain: f64 = (0..n).map(|i| entry(i, j) * y[(i, c)]).sum();
                    assert!((back[(j, c)] - rows(d, 2)[(j, c)] - plain).abs() < allowed);
                }
                let tile = seen.tile(1..3, 1..4);
                assert_eq!((tile.n_rows(), tile[(1, 2)]), (2, entry(2, 3)));
            }
        }
    }
}
