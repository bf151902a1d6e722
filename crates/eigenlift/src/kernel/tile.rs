//! Kernel tiles: k(xᵢ, yⱼ) for a block of rows against a block of rows.
//!
//! Inner products of a whole block at once by matrix multiplication, then the profile in place. Memory: the tile and two
//! packed blocks of rows.

use super::Kernel;
use super::formula::Formula;
use super::origin::from_origin;
use super::profile::{CoordinateProfile, DistanceProfile, InnerProfile, NormProfile, to_squared_distances};
use crate::data::{CsrRef, Points};
use crate::error::Result;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, MatRef};
use crate::memory::resize;
use crate::real::Real;
use crate::simd::{Vectorised, dispatch};
use std::sync::Arc;

/// A kernel given as a function of two rows.
pub(crate) type KernelFunction = Arc<dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync>;

/// A kernel ready to be computed: every number known.
#[derive(Clone)]
pub(crate) enum Form {
    Inner(InnerProfile),
    Norms(NormProfile),
    Distance(DistanceProfile),
    Coordinate(CoordinateProfile),
    Map(Vec<Formula>),
    Expr(Formula),
    Function(KernelFunction),
    Scaled(f64, Box<Form>),
    Sum(Vec<Form>),
    Product(Vec<Form>),
}

/// Memory that tiles are computed in, reused from tile to tile by one thread.
#[derive(Debug, Default)]
pub struct Workspace<T> {
    left: Vec<T>,
    right: Vec<T>,
    centre: Vec<T>,
    left_squares: Vec<T>,
    right_squares: Vec<T>,
    spare: Vec<Vec<T>>,
}

impl Kernel {
    /// out\[i·m + j\] = k(xᵢ, yⱼ) for the m rows of `y`.
    ///
    /// Cost: 2·d flops for each entry and the profile; O((rows of x + rows of y)·d) for packing.
    /// Numerics: distances are computed from rows shifted to a centre of the tile, so that far-away data and single
    /// outliers cost no accuracy; they never come out negative.
    ///
    /// # Panics
    /// When `out` does not hold an entry for each pair of rows, or rows have different numbers of columns.
    pub fn tile<T: Real>(&self, x: Points<'_, T>, y: Points<'_, T>, out: &mut [T], work: &mut Workspace<T>) {
        let (n, m, entries) = (x.n_rows(), y.n_rows(), out.len());
        assert!(entries == n * m, "{entries} entries for the kernel values of {n} × {m} pairs");
        match self.origin() {
            None => evaluate(&self.form, x, y, out, work),
            Some(origin) => {
                let (x, y) = (from_origin::<T, T>(x, origin), from_origin::<T, T>(y, origin));
                evaluate(&self.form, Points::Dense(x.view()), Points::Dense(y.view()), out, work);
            }
        }
    }

    /// The value of a kernel of ‖x − y‖ for each of these distances: of the points 0 and r on a line.
    pub(crate) fn of_distances(
        &self,
        distances: &[f64],
        out: &mut [f64],
        work: &mut Workspace<f64>,
    ) -> Result<()> {
        let origin = [0.0];
        let (origin, on_line) = (MatRef::new(&origin, 1, 1)?, MatRef::new(distances, distances.len(), 1)?);
        self.tile(Points::Dense(origin), Points::Dense(on_line), out, work);
        Ok(())
    }

    /// out\[i\] = k(xᵢ, xᵢ), by the formula and not through a distance.
    pub fn diagonal<T: Real>(&self, x: Points<'_, T>, out: &mut [f64]) {
        let mut row = vec![0.0; x.n_cols()];
        for (i, value) in out.iter_mut().enumerate() {
            x.copy_row(i, &mut row);
            if let Some(origin) = self.origin() {
                row.iter_mut().zip(origin).for_each(|(x, o)| *x -= o);
            }
            *value = on_diagonal(&self.form, &row);
        }
    }
}

pub(super) fn on_diagonal(form: &Form, x: &[f64]) -> f64 {
    let square = || x.iter().map(|v| v * v).sum::<f64>();
    match form {
        Form::Inner(profile) => {
            let mut value = [square()];
            profile.apply(&mut value);
            value[0]
        }
        Form::Norms(profile) => profile.on_diagonal(square()),
        Form::Distance(_) => 1.0,
        Form::Coordinate(profile) => profile.on_diagonal(x.iter().copied()),
        Form::Map(formulas) => formulas.iter().map(|f| f.eval(x, &[]).powi(2)).sum(),
        Form::Expr(formula) => formula.eval(x, x),
        Form::Function(f) => f(x, x),
        Form::Scaled(factor, form) => factor * on_diagonal(form, x),
        Form::Sum(forms) => forms.iter().map(|form| on_diagonal(form, x)).sum(),
        Form::Product(forms) => forms.iter().map(|form| on_diagonal(form, x)).product(),
    }
}

pub(super) fn evaluate<T: Real>(
    form: &Form,
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
) {
    match form {
        Form::Inner(profile) => {
            inner_products(x, y, out);
            profile.apply(out);
        }
        Form::Norms(profile) => norms(*profile, x, y, out, work),
        Form::Distance(profile) => distances(*profile, x, y, out, work),
        Form::Coordinate(profile) => coordinates(*profile, x, y, out, work),
        Form::Map(formulas) => mapped(formulas, x, y, out, work),
        Form::Expr(formula) => pairwise(&|a, b| formula.eval(a, b), x, y, out),
        Form::Function(f) => pairwise(&**f, x, y, out),
        Form::Scaled(factor, form) => {
            evaluate(form, x, y, out, work);
            let factor = T::of(*factor);
            out.iter_mut().for_each(|v| *v *= factor);
        }
        Form::Sum(forms) => fold(forms, x, y, out, work, |a, b| a + b),
        Form::Product(forms) => fold(forms, x, y, out, work, |a, b| a * b),
    }
}

fn fold<T: Real>(
    forms: &[Form],
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
    join: impl Fn(T, T) -> T,
) {
    let Some((first, rest)) = forms.split_first() else { return };
    evaluate(first, x, y, out, work);
    let mut next = work.spare.pop().unwrap_or_default();
    resize(&mut next, out.len(), T::ZERO);
    for form in rest {
        evaluate(form, x, y, &mut next, work);
        out.iter_mut().zip(&next).for_each(|(a, b)| *a = join(*a, *b));
    }
    work.spare.push(next);
}

/// out\[i·m + j\] = ⟨xᵢ, yⱼ⟩.
pub(super) fn inner_products<T: Real>(x: Points<'_, T>, y: Points<'_, T>, out: &mut [T]) {
    let (n, m) = (x.n_rows(), y.n_rows());
    match (x, y) {
        (Points::Dense(x), Points::Dense(y)) => dense_inner(x, y, out),
        (Points::Sparse(x), Points::Sparse(y)) => sparse_inner(x, y, out),
        (Points::Dense(x), Points::Sparse(y)) => {
            (0..n * m).for_each(|at| out[at] = sparse_dot(y.row(at % m), x.row(at / m)));
        }
        (Points::Sparse(x), Points::Dense(y)) => {
            (0..n * m).for_each(|at| out[at] = sparse_dot(x.row(at / m), y.row(at % m)));
        }
    }
}

fn dense_inner<T: Real>(x: MatRef<'_, T>, y: MatRef<'_, T>, out: &mut [T]) {
    let (n, m) = (x.n_rows(), y.n_rows());
    gemm(MatMut::shaped(out, n, m), Onto::Replace, 1.0, Factor::Plain(x), Factor::Transposed(y));
}

fn sparse_dot<T: Real>((columns, values): (&[u32], &[T]), dense: &[T]) -> T {
    columns.iter().zip(values).map(|(c, v)| *v * dense[*c as usize]).sum()
}

/// Entries of `y` are put in the order of their columns once; then each entry of `x` meets just those it multiplies.
fn sparse_inner<T: Real>(x: CsrRef<'_, T>, y: CsrRef<'_, T>, out: &mut [T]) {
    let m = y.n_rows();
    let mut entries: Vec<(u32, u32, T)> = Vec::new();
    for j in 0..m {
        let (columns, values) = y.row(j);
        entries.extend(columns.iter().zip(values).map(|(c, v)| (*c, j as u32, *v)));
    }
    entries.sort_unstable_by_key(|(c, j, _)| (*c, *j));
    out.fill(T::ZERO);
    for i in 0..x.n_rows() {
        let row = &mut out[i * m..(i + 1) * m];
        let (columns, values) = x.row(i);
        let mut rest = entries.as_slice();
        for (c, v) in columns.iter().zip(values) {
            rest = &rest[rest.partition_point(|e| e.0 < *c)..];
            rest.iter().take_while(|e| e.0 == *c).for_each(|(_, j, w)| row[*j as usize] += *v * *w);
        }
    }
}

fn squared_norms<T: Real>(x: Points<'_, T>, out: &mut Vec<T>) {
    out.clear();
    out.extend((0..x.n_rows()).map(|i| {
        let row = match x {
            Points::Dense(m) => m.row(i),
            Points::Sparse(m) => m.row(i).1,
        };
        T::of(row.iter().map(|v| v.f64() * v.f64()).sum())
    }));
}

/// Inner products and squared norms, then the profile, row by row.
fn norms<T: Real>(
    profile: NormProfile,
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
) {
    inner_products(x, y, out);
    squared_norms(x, &mut work.left_squares);
    squared_norms(y, &mut work.right_squares);
    for square in work.left_squares.iter_mut().chain(&mut work.right_squares) {
        *square = profile.of_norm(*square);
    }
    for (row, x_norm) in out.chunks_mut(y.n_rows().max(1)).zip(&work.left_squares) {
        profile.apply(row, *x_norm, &work.right_squares);
    }
}

/// s = ‖x − y‖² by expansion, then the profile, row by row while the row is in the nearest cache.
fn distances<T: Real>(
    profile: DistanceProfile,
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
) {
    let m = y.n_rows();
    if let (Points::Dense(dense_x), Points::Dense(dense_y)) = (x, y) {
        shifted_inner(dense_x, dense_y, out, work);
    } else {
        inner_products(x, y, out);
        squared_norms(x, &mut work.left_squares);
        squared_norms(y, &mut work.right_squares);
    }
    let squares = Squares::new(&work.left_squares, &work.right_squares);
    for (i, row) in out.chunks_mut(m.max(1)).enumerate() {
        let squares = Squares { x: &squares.x[i..=i], ..squares };
        let x_square = squares.x[0];
        if profile.reach(x_square.f64() + squares.largest) > 0.0 {
            to_squared_distances(row, x_square, squares.y);
            from_differences(profile, x.rows(i..i + 1), y, row, squares);
            profile.apply(row);
        } else {
            profile.apply_to_inner(row, x_square, squares.y);
        }
    }
}

/// Inner products of rows shifted to a centre of the tile, and their squared norms.
fn shifted_inner<T: Real>(x: MatRef<'_, T>, y: MatRef<'_, T>, out: &mut [T], work: &mut Workspace<T>) {
    let (n, m, d) = (x.n_rows(), y.n_rows(), x.n_cols());
    robust_centre(x, &mut work.centre);
    shift_into(x, &work.centre, &mut work.left, &mut work.left_squares);
    shift_into(y, &work.centre, &mut work.right, &mut work.right_squares);
    dense_inner(MatRef::shaped(&work.left, n, d), MatRef::shaped(&work.right, m, d), out);
}

/// out\[i·m + j\] = ‖xᵢ − yⱼ‖² for the m rows of `y`.
pub(crate) fn squared_distances(
    x: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    out: &mut [f64],
    work: &mut Workspace<f64>,
) {
    shifted_inner(x, y, out, work);
    for (row, x_square) in out.chunks_mut(y.n_rows().max(1)).zip(&work.left_squares) {
        to_squared_distances(row, *x_square, &work.right_squares);
    }
}

/// Squared norms of the rows of a tile, and the largest among those of `y`.
#[derive(Clone, Copy)]
struct Squares<'a, T> {
    x: &'a [T],
    y: &'a [T],
    largest: f64,
}

impl<'a, T: Real> Squares<'a, T> {
    fn new(x: &'a [T], y: &'a [T]) -> Self {
        Self { x, y, largest: y.iter().fold(T::ZERO, |a, s| a.larger(*s)).f64() }
    }
}

/// The coordinate-wise median of five rows: one outlier in the tile does not move it.
fn robust_centre<T: Real>(x: MatRef<'_, T>, centre: &mut Vec<T>) {
    centre.clear();
    centre.resize(x.n_cols(), T::ZERO);
    if x.n_rows() > 0 {
        let rows = std::array::from_fn(|p| x.row(p * x.n_rows() / 5));
        dispatch(MedianTask { rows, centre });
    }
}

struct MedianTask<'a, T> {
    rows: [&'a [T]; 5],
    centre: &'a mut [T],
}

impl<T: Real> Vectorised for MedianTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let [a, b, c, d, e] = self.rows.map(|row| &row[..self.centre.len()]);
        for (j, centre) in self.centre.iter_mut().enumerate() {
            // Neither the smallest nor the largest of four is the median: it is that of the other two and the fifth.
            let low = a[j].smaller(b[j]).larger(c[j].smaller(d[j]));
            let high = a[j].larger(b[j]).smaller(c[j].larger(d[j]));
            *centre = low.smaller(high).larger(low.larger(high).smaller(e[j]));
        }
    }
}

fn shift_into<T: Real>(x: MatRef<'_, T>, centre: &[T], rows: &mut Vec<T>, squares: &mut Vec<T>) {
    resize(rows, x.n_rows() * x.n_cols(), T::ZERO);
    squares.resize(x.n_rows(), T::ZERO);
    dispatch(ShiftTask { x, centre, rows, squares });
}

struct ShiftTask<'a, T> {
    x: MatRef<'a, T>,
    centre: &'a [T],
    rows: &'a mut [T],
    squares: &'a mut [T],
}

impl<T: Real> Vectorised for ShiftTask<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        const LANES: usize = 8;
        let d = self.centre.len();
        for (i, (row, square)) in self.rows.chunks_exact_mut(d.max(1)).zip(self.squares).enumerate() {
            row.iter_mut().zip(self.x.row(i)).zip(self.centre).for_each(|((r, v), c)| *r = *v - *c);
            // Why eight sums: they form a vector, and none waits for another.
            let mut sums = [T::ZERO; LANES];
            let strips = row.chunks_exact(LANES);
            let rest: T = strips.remainder().iter().map(|v| *v * *v).sum();
            for strip in strips {
                for (sum, v) in sums.iter_mut().zip(strip) {
                    *sum = v.multiply_add::<FMA>(*v, *sum);
                }
            }
            *square = rest + sums.into_iter().sum::<T>();
        }
    }
}

/// Recomputes as Σ(xᵢ−yᵢ)² the squared distances of one row that the expansion has not given well enough.
///
/// Why: the expansion's error, at most (d + 8)u(‖x‖² + ‖y‖²), may have brought a distance from below the reach to above it, so as
/// much more is recomputed, and half the reach at least. And the reach of each pair counts, so that an outlier among the rows
/// of `y` does not make all distances of the tile be computed twice.
fn from_differences<T: Real>(
    profile: DistanceProfile,
    x: Points<'_, T>,
    y: Points<'_, T>,
    row: &mut [T],
    squares: Squares<'_, T>,
) {
    let x_square = squares.x[0].f64();
    let error = (x.n_cols() as f64 + 8.0) * T::UNIT_ROUNDOFF;
    let near = |y_square: f64| {
        let (spread, reach) = (x_square + y_square, profile.reach(x_square + y_square));
        T::of(reach + (0.5 * reach).max(error * spread))
    };
    let nearest = near(squares.largest);
    let mut buffers = (Vec::new(), Vec::new());
    for (j, value) in row.iter_mut().enumerate().filter(|(_, value)| **value < nearest) {
        if *value >= near(squares.y[j].f64()) {
            continue;
        }
        if let (Points::Dense(x), Points::Dense(y)) = (x, y) {
            *value = squared_difference(x.row(0), y.row(j));
        } else {
            buffers.0.resize(x.n_cols(), T::ZERO);
            buffers.1.resize(x.n_cols(), T::ZERO);
            x.copy_row(0, &mut buffers.0);
            y.copy_row(j, &mut buffers.1);
            *value = squared_difference(&buffers.0, &buffers.1);
        }
    }
}

fn squared_difference<T: Real>(x: &[T], y: &[T]) -> T {
    // Why four sums: none waits for another.
    let mut sums = [T::ZERO; 4];
    for (x, y) in x.chunks(4).zip(y.chunks(4)) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += (*x - *y) * (*x - *y);
        }
    }
    sums.into_iter().sum()
}

/// Sums over coordinates: `y` is turned so that one coordinate of all its rows lies together.
fn coordinates<T: Real>(
    profile: CoordinateProfile,
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
) {
    let (m, d) = (y.n_rows(), x.n_cols());
    work.left.resize(d, T::ZERO);
    resize(&mut work.right, m * d, T::ZERO);
    for j in 0..m {
        y.copy_row(j, &mut work.left);
        work.left.iter().enumerate().for_each(|(c, v)| work.right[c * m + j] = *v);
    }
    for (i, row) in out.chunks_mut(m.max(1)).enumerate() {
        x.copy_row(i, &mut work.left);
        profile.row(&work.left, &work.right, row);
    }
}

/// ⟨φ(x), φ(y)⟩.
fn mapped<T: Real>(
    formulas: &[Formula],
    x: Points<'_, T>,
    y: Points<'_, T>,
    out: &mut [T],
    work: &mut Workspace<T>,
) {
    let p = formulas.len();
    let mut row = vec![0.0; x.n_cols()];
    for (points, features) in [(x, &mut work.left), (y, &mut work.right)] {
        features.clear();
        for i in 0..points.n_rows() {
            points.copy_row(i, &mut row);
            features.extend(formulas.iter().map(|f| T::of(f.eval(&row, &[]))));
        }
    }
    let (left, right) =
        (MatRef::shaped(&work.left, x.n_rows(), p), MatRef::shaped(&work.right, y.n_rows(), p));
    dense_inner(left, right, out);
}

fn pairwise<T: Real>(f: &dyn Fn(&[f64], &[f64]) -> f64, x: Points<'_, T>, y: Points<'_, T>, out: &mut [T]) {
    let y_rows = y.to_dense::<f64>();
    let mut x_row = vec![0.0; x.n_cols()];
    for (i, row) in out.chunks_mut(y.n_rows().max(1)).enumerate() {
        x.copy_row(i, &mut x_row);
        row.iter_mut().enumerate().for_each(|(j, value)| *value = T::of(f(&x_row, y_rows.row(j))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn the_centre_is_the_median_of_five_in_any_order() {
        let mut order = [0usize, 1, 2, 3, 4];
        for turn in 0..120 {
            let x = Matrix::from_fn(5, 3, |i, j| (order[i] * 10 + j) as f64);
            let mut centre = Vec::new();
            robust_centre(x.view(), &mut centre);
            assert_eq!(centre, [20.0, 21.0, 22.0], "{order:?}");
            // Swapping neighbours, one pair after the other, goes through many orders.
            order.swap(turn % 4, turn % 4 + 1);
            order.swap(turn % 3, 4);
        }
    }
}
