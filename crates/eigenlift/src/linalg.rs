//! Linear algebra. The only file, with those below it, that names faer's decompositions and calls the matrix product.
//!
//! Everything here gives the same bits for any number of threads: work is cut into pieces of fixed size, each piece is
//! computed by one thread, and pieces are added in the order of their rows.

mod dense;
pub(crate) mod inertia;
pub(crate) mod sparse;

use crate::error::{Error, Result};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::collected;
use crate::real::Real;
use rayon::prelude::*;

/// Rows of a tall matrix that one thread handles at a time.
const CHUNK_ROWS: usize = 512;
/// Columns of a wide matrix that one thread handles at a time.
const PANEL_COLUMNS: usize = 4096;

/// A factor of a product, as it is or transposed.
#[derive(Clone, Copy)]
pub enum Factor<'a, T> {
    /// As it is.
    Plain(MatRef<'a, T>),
    /// Transposed.
    Transposed(MatRef<'a, T>),
}

impl<'a, T: Real> Factor<'a, T> {
    /// Buffer, shape and strides (along a column, along a row) of the factor.
    fn layout(&self) -> (&'a [T], (usize, usize), (isize, isize)) {
        match self {
            Self::Plain(m) => (m.buffer(), (m.n_rows(), m.n_cols()), (m.row_stride() as isize, 1)),
            Self::Transposed(m) => (m.buffer(), (m.n_cols(), m.n_rows()), (1, m.row_stride() as isize)),
        }
    }
}

/// Whether a product replaces what stands in the output or is added to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Onto {
    /// Replaces what stands there.
    Replace,
    /// Adds to it.
    Add,
}

fn borrow(m: MatRef<'_, f64>) -> faer::MatRef<'_, f64> {
    if m.n_rows() == 0 || m.n_cols() == 0 {
        return faer::MatRef::from_row_major_slice(&[], m.n_rows(), m.n_cols());
    }
    faer::MatRef::from_row_major_slice_with_stride(m.buffer(), m.n_rows(), m.n_cols(), m.row_stride())
}

/// out ← scale·A·B or out ← out + scale·A·B, in the calling thread.
///
/// Cost: 2·rows·columns·depth flops.
///
/// # Panics
/// When the factors do not fit together or into `out`: a mistake in this crate.
#[allow(unsafe_code)]
pub fn gemm<T: Real>(out: MatMut<'_, T>, onto: Onto, scale: f64, a: Factor<'_, T>, b: Factor<'_, T>) {
    let (n_rows, n_cols, row_stride, buffer) = out.into_parts();
    let (a, a_shape, a_strides) = a.layout();
    let (b, b_shape, b_strides) = b.layout();
    let fits = a_shape.0 == n_rows && b_shape.1 == n_cols && a_shape.1 == b_shape.0;
    assert!(fits, "{a_shape:?} times {b_shape:?} into {n_rows} × {n_cols}");
    if n_rows == 0 || n_cols == 0 {
        return;
    }
    let (scale, keep) = (T::of(scale), if onto == Onto::Add { T::ONE } else { T::ZERO });
    // SAFETY: views hold (rows − 1)·stride + columns entries, checked when they are made, so every entry that shapes and
    // strides reach lies inside its buffer; shapes were compared above; `out` is borrowed mutably and overlaps nothing.
    unsafe {
        gemm::gemm(
            n_rows,
            n_cols,
            a_shape.1,
            buffer.as_mut_ptr(),
            1,
            row_stride as isize,
            onto == Onto::Add,
            a.as_ptr(),
            a_strides.1,
            a_strides.0,
            b.as_ptr(),
            b_strides.1,
            b_strides.0,
            keep,
            scale,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// The sum of blocks, in their order.
fn added_up(blocks: &[Matrix<f64>], p: usize, q: usize) -> Matrix<f64> {
    let mut total = Matrix::zeros(p, q);
    for block in blocks {
        total.as_mut_slice().iter_mut().zip(block.as_slice()).for_each(|(t, x)| *t += x);
    }
    total
}

/// AᵀB for two tall matrices.
///
/// Cost: 2·n·p·q flops; memory one p × q block for each 512 rows.
pub(crate) fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Matrix<f64> {
    let (n, p, q) = (a.n_rows(), a.n_cols(), b.n_cols());
    // Why: pieces grow with n so that their number, and so the memory for partial sums, stays bounded.
    let height = CHUNK_ROWS.max(n.div_ceil(256));
    let partial: Vec<Matrix<f64>> = (0..n.div_ceil(height))
        .into_par_iter()
        .map(|piece| {
            let rows = piece * height..((piece + 1) * height).min(n);
            let mut out = Matrix::zeros(p, q);
            let (a, b) = (a.rows(rows.clone()), b.rows(rows));
            gemm(out.view_mut(), Onto::Replace, 1.0, Factor::Transposed(a), Factor::Plain(b));
            out
        })
        .collect();
    added_up(&partial, p, q)
}

/// out ← scale·A·S or out ← out + scale·A·S for a tall A and a small S.
///
/// Cost: 2·n·p·q flops.
pub(crate) fn combine(out: MatMut<'_, f64>, onto: Onto, scale: f64, a: MatRef<'_, f64>, s: MatRef<'_, f64>) {
    let n = a.n_rows();
    out.row_chunks(CHUNK_ROWS).into_par_iter().enumerate().for_each(|(piece, out)| {
        let rows = piece * CHUNK_ROWS..((piece + 1) * CHUNK_ROWS).min(n);
        gemm(out, onto, scale, Factor::Plain(a.rows(rows)), Factor::Plain(s));
    });
}

/// The mean of each column.
pub(crate) fn column_means(a: MatRef<'_, f64>) -> Vec<f64> {
    let mut sums = column_sums(a);
    let scale = 1.0 / a.n_rows().max(1) as f64;
    sums.iter_mut().for_each(|s| *s *= scale);
    sums
}

fn column_sums(a: MatRef<'_, f64>) -> Vec<f64> {
    column_reduce(a, |sum, x| sum + x)
}

/// Σw(x − from) of each column.
pub(crate) fn differences(a: MatRef<'_, f64>, weights: Option<&[f64]>, from: &[f64]) -> Vec<f64> {
    let n = a.n_rows();
    let partial: Vec<Vec<f64>> = (0..n.div_ceil(CHUNK_ROWS))
        .into_par_iter()
        .map(|piece| {
            let mut sums = vec![0.0; a.n_cols()];
            for i in piece * CHUNK_ROWS..((piece + 1) * CHUNK_ROWS).min(n) {
                let terms = sums.iter_mut().zip(a.row(i)).zip(from);
                match weights {
                    None => terms.for_each(|((s, x), f)| *s += x - f),
                    Some(weights) => terms.for_each(|((s, x), f)| *s += weights[i] * (x - f)),
                }
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; a.n_cols()];
    for piece in &partial {
        total.iter_mut().zip(piece).for_each(|(t, x)| *t += x);
    }
    total
}

/// Euclidean norm of each column.
pub(crate) fn column_norms(a: MatRef<'_, f64>) -> Vec<f64> {
    let mut squares = column_reduce(a, |sum, x| sum + x * x);
    squares.iter_mut().for_each(|s| *s = s.sqrt());
    squares
}

fn column_reduce(a: MatRef<'_, f64>, add: impl Fn(f64, f64) -> f64 + Sync) -> Vec<f64> {
    let n = a.n_rows();
    let partial: Vec<Vec<f64>> = (0..n.div_ceil(CHUNK_ROWS))
        .into_par_iter()
        .map(|piece| {
            let mut sums = vec![0.0; a.n_cols()];
            for i in piece * CHUNK_ROWS..((piece + 1) * CHUNK_ROWS).min(n) {
                sums.iter_mut().zip(a.row(i)).for_each(|(s, x)| *s = add(*s, *x));
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; a.n_cols()];
    for piece in &partial {
        total.iter_mut().zip(piece).for_each(|(t, x)| *t += x);
    }
    total
}

/// Adds `shift[j]` to every entry of column j.
pub(crate) fn shift_columns(a: MatMut<'_, f64>, shift: &[f64]) {
    a.row_chunks(CHUNK_ROWS).into_par_iter().for_each(|mut piece| {
        for i in 0..piece.n_rows() {
            piece.row_mut(i).iter_mut().zip(shift).for_each(|(x, s)| *x += s);
        }
    });
}

/// Multiplies column j by `factor[j]`.
pub(crate) fn scale_columns(a: MatMut<'_, f64>, factor: &[f64]) {
    a.row_chunks(CHUNK_ROWS).into_par_iter().for_each(|mut piece| {
        for i in 0..piece.n_rows() {
            piece.row_mut(i).iter_mut().zip(factor).for_each(|(x, s)| *x *= s);
        }
    });
}

/// All eigenvalues of a symmetric matrix, largest first, and unit eigenvectors as columns.
///
/// Only the lower triangle is read. Cost: about 9·n³ flops in one thread.
/// Why: one thread, because the parallel decomposition does not give the same bits for every thread count.
pub(crate) fn symmetric_eigen(a: &Matrix<f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let n = a.n_rows();
    if a.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(gave_up());
    }
    let (values, vectors) = dense::eigen(borrow(a.view())).ok_or_else(gave_up)?;
    let values: Vec<f64> = (0..n).rev().map(|j| values[j]).collect();
    Ok((values, Matrix::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)])))
}

/// All eigenvalues of a symmetric matrix, largest first.
///
/// Only the lower triangle is read. Cost: about 4/3·n³ flops in one thread.
pub(crate) fn symmetric_eigenvalues(a: &Matrix<f64>) -> Result<Vec<f64>> {
    if a.as_slice().iter().any(|x| !x.is_finite()) {
        return Err(gave_up());
    }
    let values = dense::eigenvalues(borrow(a.view())).ok_or_else(gave_up)?;
    Ok((0..a.n_rows()).rev().map(|j| values[j]).collect())
}

fn gave_up() -> Error {
    Error::NotConverged {
        passes: 1.0,
        residual: f64::NAN,
        tolerance: f64::EPSILON,
        action: "The dense eigensolver gave up: look for entries of extreme size in the data".into(),
    }
}

/// An orthonormal basis of the columns of a tall matrix of full rank, by Householder's QR in one thread.
///
/// Cost: 4·n·p² flops for n rows and p columns.
pub(crate) fn orthonormal_columns(a: MatRef<'_, f64>) -> Matrix<f64> {
    let q = dense::Qr::new(borrow(a)).thin_q();
    Matrix::from_fn(q.nrows(), q.ncols(), |i, j| q[(i, j)])
}

/// The triangle R of A = QR, p × p or as many rows as A has, by Householder's QR in one thread.
///
/// Cost: 2·n·p² flops.
pub(crate) fn triangle_of(a: MatRef<'_, f64>) -> Matrix<f64> {
    triangle(borrow(a))
}

fn triangle(a: faer::MatRef<'_, f64>) -> Matrix<f64> {
    let qr = dense::Qr::new(a);
    Matrix::from_fn(a.nrows().min(a.ncols()), a.ncols(), |i, j| if i <= j { qr.r(i, j) } else { 0.0 })
}

/// Singular values of a matrix, largest first, and its right singular vectors as columns, in one thread.
///
/// Numerics: absolute errors of the order of the unit roundoff times the largest, however small a value is.
pub(crate) fn right_singular(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let failed = || Error::NotConverged {
        passes: 1.0,
        residual: f64::NAN,
        tolerance: f64::EPSILON,
        action: "The singular value decomposition gave up: look for entries of extreme size in the data"
            .into(),
    };
    if (0..a.n_rows()).any(|i| a.row(i).iter().any(|x| !x.is_finite())) {
        return Err(failed());
    }
    let (values, vectors) = dense::right_singular(borrow(a)).ok_or_else(failed)?;
    let count = a.n_rows().min(a.n_cols());
    Ok(((0..count).map(|j| values[j]).collect(), Matrix::from_fn(a.n_cols(), count, |i, j| vectors[(i, j)])))
}

/// Singular values of a wide matrix, largest first, and its left singular vectors as columns: triangles of panels of its
/// columns, a triangle of these, and the singular values of that, (P10). Nothing is squared.
///
/// Cost: 2·d·p² flops for p rows of d columns; memory one copy.
pub(crate) fn left_singular(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Matrix<f64>)> {
    let (p, d) = (a.n_rows(), a.n_cols());
    let triangles: Vec<Matrix<f64>> = (0..d.div_ceil(PANEL_COLUMNS))
        .into_par_iter()
        .map(|panel| {
            let columns = panel * PANEL_COLUMNS..((panel + 1) * PANEL_COLUMNS).min(d);
            triangle(borrow(a.columns(columns)).transpose())
        })
        .collect();
    if let [whole] = triangles.as_slice() {
        return right_singular(whole.view());
    }
    let height = triangles.iter().map(Matrix::n_rows).sum::<usize>();
    let stacked = collected(height * p, triangles.into_iter().flat_map(Matrix::into_vec));
    right_singular(triangle_of(Matrix::from_vec(stacked, height, p)?.view()).view())
}

/// SᵀA for a wide A and a small S.
///
/// Cost: 2·d·p·q flops.
pub(crate) fn combine_rows(s: MatRef<'_, f64>, a: MatRef<'_, f64>) -> Matrix<f64> {
    let (q, d) = (s.n_cols(), a.n_cols());
    let panels: Vec<Matrix<f64>> = (0..d.div_ceil(PANEL_COLUMNS))
        .into_par_iter()
        .map(|panel| {
            let part = a.columns(panel * PANEL_COLUMNS..((panel + 1) * PANEL_COLUMNS).min(d));
            let mut out = Matrix::zeros(q, part.n_cols());
            gemm(out.view_mut(), Onto::Replace, 1.0, Factor::Transposed(s), Factor::Plain(part));
            out
        })
        .collect();
    let mut out = Matrix::zeros(q, d);
    let mut view = out.view_mut();
    for i in 0..q {
        let places = view.row_mut(i).chunks_mut(PANEL_COLUMNS);
        places.zip(&panels).for_each(|(place, panel)| place.copy_from_slice(panel.row(i)));
    }
    out
}

/// Rows of a single-precision matrix in double precision.
fn widened(a: MatRef<'_, f32>, rows: std::ops::Range<usize>) -> Matrix<f64> {
    let a = a.rows(rows);
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| f64::from(a.row(i)[j]))
}

/// AᵀB for two tall matrices, A stored in single precision; products and sums are in double precision.
///
/// Cost: 2·n·p·q flops; memory one p × q block for each piece and 512 × p numbers for each thread.
pub(crate) fn inner_single(a: MatRef<'_, f32>, b: MatRef<'_, f64>) -> Matrix<f64> {
    let (n, p, q) = (a.n_rows(), a.n_cols(), b.n_cols());
    let height = CHUNK_ROWS.max(n.div_ceil(64)).next_multiple_of(CHUNK_ROWS);
    let partial: Vec<Matrix<f64>> = (0..n.div_ceil(height))
        .into_par_iter()
        .map(|piece| {
            let mut out = Matrix::zeros(p, q);
            for from in (piece * height..((piece + 1) * height).min(n)).step_by(CHUNK_ROWS) {
                let rows = from..(from + CHUNK_ROWS).min(n);
                let wide = widened(a, rows.clone());
                let (a, b) = (Factor::Transposed(wide.view()), Factor::Plain(b.rows(rows)));
                gemm(out.view_mut(), Onto::Add, 1.0, a, b);
            }
            out
        })
        .collect();
    added_up(&partial, p, q)
}

/// out ← out + A·S for a tall A stored in single precision and a small S; products and sums are in double precision.
///
/// Cost: 2·n·p·q flops; memory 512 × p numbers for each thread.
pub(crate) fn add_combination(out: MatMut<'_, f64>, a: MatRef<'_, f32>, s: MatRef<'_, f64>) {
    let n = a.n_rows();
    out.row_chunks(CHUNK_ROWS).into_par_iter().enumerate().for_each(|(piece, out)| {
        let wide = widened(a, piece * CHUNK_ROWS..((piece + 1) * CHUNK_ROWS).min(n));
        gemm(out, Onto::Add, 1.0, Factor::Plain(wide.view()), Factor::Plain(s));
    });
}

/// First columns of A ← (first columns of A)·S, for a tall A and an S that is not wider than tall.
///
/// Cost: 2·n·p·q flops; memory 512 × p numbers for each thread.
pub(crate) fn combine_in_place(a: MatMut<'_, f64>, s: MatRef<'_, f64>) {
    a.row_chunks(CHUNK_ROWS).into_par_iter().for_each(|piece| {
        let old = piece.as_ref().first_columns(s.n_rows()).to_matrix();
        gemm(piece.columns(0..s.n_cols()), Onto::Replace, 1.0, Factor::Plain(old.view()), Factor::Plain(s));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow_product(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(a.n_rows(), b.n_cols(), |i, j| (0..a.n_cols()).map(|l| a[(i, l)] * b[(l, j)]).sum())
    }

    fn wavy(n_rows: usize, n_cols: usize) -> Matrix<f64> {
        Matrix::from_fn(n_rows, n_cols, |i, j| ((i * 7 + j * 13 + 1) as f64).sin())
    }

    #[test]
    fn products_match_the_definition() {
        let (a, b) = (wavy(2500, 6), wavy(2500, 5));
        let transposed = Matrix::from_fn(6, 2500, |i, j| a[(j, i)]);
        let expected = slow_product(&transposed, &b);
        let got = inner(a.view(), b.view());
        let s = wavy(6, 4);
        let mut out = Matrix::zeros(2500, 4);
        combine(out.view_mut(), Onto::Replace, 1.0, a.view(), s.view());
        combine(out.view_mut(), Onto::Add, 1.0, a.view(), s.view());
        let twice = slow_product(&a, &s);
        // Sums of 2500 terms of size at most 1: n·eps is a bound for the rounding.
        let allowed = 2500.0 * f64::EPSILON * 10.0;
        assert!(expected.as_slice().iter().zip(got.as_slice()).all(|(x, y)| (x - y).abs() < allowed));
        assert!(twice.as_slice().iter().zip(out.as_slice()).all(|(x, y)| (2.0 * x - y).abs() < allowed));
    }

    /// Single-precision storage changes the operand, not the arithmetic: the same as widening the whole matrix first.
    #[test]
    fn products_with_single_precision_storage_are_those_of_the_widened_matrix() {
        let (n, wide) = (40_000, wavy(40_000, 6));
        let narrow = Matrix::from_fn(n, 6, |i, j| wide[(i, j)] as f32);
        let wide = Matrix::from_fn(n, 6, |i, j| f64::from(narrow[(i, j)]));
        let (b, s) = (wavy(n, 5), wavy(6, 5));
        // Sums of n terms of size at most 1.
        let allowed = n as f64 * f64::EPSILON;
        let (got, expected) = (inner_single(narrow.view(), b.view()), inner(wide.view(), b.view()));
        assert!(expected.as_slice().iter().zip(got.as_slice()).all(|(x, y)| (x - y).abs() <= allowed));
        let (mut got, mut expected) = (b.clone(), b.clone());
        add_combination(got.view_mut(), narrow.view(), s.view());
        combine(expected.view_mut(), Onto::Add, 1.0, wide.view(), s.view());
        assert_eq!(got.as_slice(), expected.as_slice());
        let (mut turned, mut expected) = (wide.clone(), Matrix::zeros(n, 5));
        combine_in_place(turned.view_mut(), s.view());
        combine(expected.view_mut(), Onto::Replace, 1.0, wide.view(), s.view());
        assert_eq!(turned.view().first_columns(5).to_matrix().as_slice(), expected.as_slice());
        assert_eq!(turned.column(5), wide.column(5));
    }

    #[test]
    fn eigen_of_a_known_matrix() {
        // The path graph's second difference: 2 − 2cos(πj/(n+1)).
        let n = 30;
        let a = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let (values, vectors) = symmetric_eigen(&a).unwrap();
        for (j, value) in values.iter().enumerate() {
            let exact = 2.0 - 2.0 * (std::f64::consts::PI * (n - j) as f64 / (n + 1) as f64).cos();
            assert!((value - exact).abs() < 1e-13, "{j}: {value} {exact}");
        }
        let alone = symmetric_eigenvalues(&a).unwrap();
        assert!(values.iter().zip(&alone).all(|(x, y)| (x - y).abs() < 1e-13));
        let gram = inner(vectors.view(), vectors.view());
        for i in 0..n {
            for j in 0..n {
                assert!((gram[(i, j)] - f64::from(i == j)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn left_singular_vectors_of_a_wide_matrix_square_nothing() {
        // Rows whose sizes fall from 1 to 1e-9; one panel and three.
        for d in [50, 2 * PANEL_COLUMNS + 100] {
            let a = Matrix::from_fn(10, d, |i, j| {
                ((i * j * 3 + 7 * j + i) as f64 * 0.71).sin() * 10f64.powi(-(i as i32))
            });
            let (values, vectors) = left_singular(a.view()).unwrap();
            let (expected, _) = right_singular(a.view()).unwrap();
            // Backward errors of QR and of singular values: some roundings of the largest, each.
            let allowed = 40.0 * f64::EPSILON * expected[0];
            assert!(values.iter().zip(&expected).all(|(x, y)| (x - y).abs() < allowed), "{values:?}");
            let rows = combine_rows(vectors.view(), a.view());
            let sizes = (0..10).map(|i| rows.row(i).iter().map(|x| x * x).sum::<f64>().sqrt());
            assert!(sizes.zip(&expected).all(|(x, y)| (x - y).abs() < allowed));
        }
        assert!(left_singular(Matrix::zeros(3, 0).view()).is_ok());
    }

    #[test]
    fn a_matrix_with_nan_is_refused() {
        let a = Matrix::from_fn(3, 3, |_, _| f64::NAN);
        assert!(symmetric_eigen(&a).is_err());
        assert!(symmetric_eigenvalues(&a).is_err());
    }
}
