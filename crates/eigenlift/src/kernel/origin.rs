//! Rows taken from an origin: k(x − o, y − o).
//!
//! Numerics: where the mean of rows is far larger than their spread, inner products are nearly all the same number, and centring
//! the matrix leaves rounding. Taken from an origin near the mean they are not, and for these kernels the centred matrix is
//! the same: ⟨x − o, y − o⟩ = ⟨x, y⟩ − ⟨o, y⟩ − ⟨x, o⟩ + ⟨o, o⟩, and centring removes all but the first.

use super::Kernel;
use super::tile::Form;
use crate::data::{AnyPoints, AnySamples, CsrRef, Points};
use crate::matrix::Matrix;
use crate::real::Real;

/// An origin is used when the squared mean of rows exceeds their variance by this factor: below it no more than two digits are
/// at stake.
const FAR: f64 = 16.0;

/// What a common shift of all rows does to kernel values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shift {
    /// Nothing: only differences of rows count.
    Nothing,
    /// It adds terms that centring removes.
    Centred,
    /// It gives another kernel.
    Other,
}

fn shift(form: &Form) -> Shift {
    match form {
        Form::Distance(_) => Shift::Nothing,
        Form::Coordinate(profile) if profile.ignores_shifts() => Shift::Nothing,
        Form::Inner(profile) if profile.is_linear() => Shift::Centred,
        Form::Scaled(_, form) => shift(form),
        Form::Sum(forms) => forms.iter().map(shift).max().unwrap_or(Shift::Nothing),
        Form::Product(forms) if forms.iter().all(|form| shift(form) == Shift::Nothing) => Shift::Nothing,
        Form::Product(_) | Form::Coordinate(_) | Form::Inner(_) | Form::Norms(_) => Shift::Other,
        Form::Map(_) | Form::Expr(_) | Form::Function(_) => Shift::Other,
    }
}

/// A column whose mean is far larger than its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FarColumn {
    /// Counted from 0.
    pub(crate) column: usize,
    pub(crate) mean: f64,
    /// Standard deviation.
    pub(crate) spread: f64,
}

impl Kernel {
    /// Of the columns whose mean is far larger than their spread the one with the largest mean, which adds most to all kernel values, where
    /// a shift of rows changes these and no origin makes up for it. Cost: two readings of the rows.
    pub(crate) fn far_column(&self, rows: AnyPoints<'_>) -> Option<FarColumn> {
        if self.origin.is_some() || shift(&self.form) == Shift::Nothing {
            return None;
        }
        let (n, d) = (rows.n_rows(), rows.n_cols());
        let (mut row, mut mean, mut squares) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        for i in 0..n {
            rows.copy_row(i, &mut row);
            mean.iter_mut().zip(&row).for_each(|(m, x)| *m += (x - *m) / (i + 1) as f64);
        }
        for i in 0..n {
            rows.copy_row(i, &mut row);
            let pairs = squares.iter_mut().zip(&row).zip(&mean);
            pairs.for_each(|((square, x), m)| *square += (x - m) * (x - m));
        }
        let columns = mean.iter().zip(&squares).enumerate().map(|(column, (mean, square))| FarColumn {
            column,
            mean: *mean,
            spread: (square / n.max(1) as f64).sqrt(),
        });
        let far = columns.filter(|c| c.mean.abs() > c.spread * FAR.sqrt());
        far.max_by(|a, b| a.mean.abs().total_cmp(&b.mean.abs()))
    }

    /// o, where rows are taken from an origin.
    pub fn origin(&self) -> Option<&[f64]> {
        self.origin.as_deref()
    }

    /// k(x − o, y − o), for an origin of one number for each feature.
    pub(crate) fn with_origin(mut self, origin: Vec<f64>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Whether a common shift of all rows leaves the centred matrix what it is, though not the kernel values.
    pub(crate) fn may_have_origin(&self) -> bool {
        shift(&self.form) == Shift::Centred
    }

    /// The kernel with the mean of these rows as its origin, where that saves digits.
    pub(crate) fn centred_for(&self, rows: AnyPoints<'_>) -> Option<Self> {
        let wanted = self.origin.is_none() && self.may_have_origin() && mostly_written_out(rows);
        wanted.then(|| far_mean(rows)).flatten().map(|mean| self.clone().with_origin(mean))
    }

    /// Whether kernel values of these rows need double precision: their mean is far larger than their spread, and no origin
    /// makes up for it.
    pub(crate) fn needs_double(&self, rows: AnyPoints<'_>) -> bool {
        let no_origin = match shift(&self.form) {
            Shift::Nothing => false,
            Shift::Centred => !mostly_written_out(rows),
            Shift::Other => true,
        };
        matches!(rows, AnyPoints::F32(_)) && no_origin && far_mean(rows).is_some()
    }

    /// How much larger the squared mean of rows is than their variance, where it is far larger, a shift of all rows changes kernel values,
    /// and no origin makes up for it. Cost: two readings of the rows.
    pub(crate) fn common_part(&self, rows: AnyPoints<'_>) -> Option<f64> {
        if self.origin.is_some() || shift(&self.form) == Shift::Nothing {
            return None;
        }
        mean_and_spread(rows).map(|(_, ratio)| ratio)
    }

    /// The kernel and the samples for tiles in single precision. Samples are taken from the origin before they are rounded.
    pub(crate) fn in_single(&self, x: &AnySamples) -> (Kernel, AnySamples) {
        let Some(origin) = &self.origin else { return (self.clone(), x.to_single()) };
        let rows: Matrix<f32> = match x.points() {
            AnyPoints::F32(points) => from_origin(points, origin),
            AnyPoints::F64(points) => from_origin(points, origin),
        };
        (Kernel { origin: None, ..self.clone() }, rows.into())
    }
}

/// x − o, in the wanted precision.
pub(super) fn from_origin<T: Real, S: Real>(points: Points<'_, T>, origin: &[f64]) -> Matrix<S> {
    let mut row = vec![0.0; points.n_cols()];
    let mut out = Matrix::zeros(points.n_rows(), points.n_cols());
    let mut view = out.view_mut();
    for i in 0..points.n_rows() {
        points.copy_row(i, &mut row);
        let into = view.row_mut(i);
        into.iter_mut().zip(&row).zip(origin).for_each(|((into, x), o)| *into = S::of(x - o));
    }
    out
}

/// Whether rows take not much more memory when their zeros are written out, as rows taken from an origin are.
fn mostly_written_out(rows: AnyPoints<'_>) -> bool {
    match rows {
        AnyPoints::F32(Points::Sparse(x)) => x.is_nearly_full(),
        AnyPoints::F64(Points::Sparse(x)) => x.is_nearly_full(),
        _ => true,
    }
}

/// The mean of rows, if it is far larger than their spread.
fn far_mean(rows: AnyPoints<'_>) -> Option<Vec<f64>> {
    mean_and_spread(rows).map(|(mean, _)| mean)
}

/// The mean of rows and its square as a multiple of their variance, if it is far larger.
fn mean_and_spread(rows: AnyPoints<'_>) -> Option<(Vec<f64>, f64)> {
    let (mean, spread) = match rows {
        AnyPoints::F32(Points::Sparse(x)) => sparse_mean(x),
        AnyPoints::F64(Points::Sparse(x)) => sparse_mean(x),
        _ => dense_mean(rows),
    };
    let size = rows.n_rows() as f64 * mean.iter().map(|m| m * m).sum::<f64>();
    (size.is_finite() && size > FAR * spread).then(|| (mean, size / spread))
}

/// The mean of rows and their squared distances from it, summed.
fn dense_mean(rows: AnyPoints<'_>) -> (Vec<f64>, f64) {
    let (n, d) = (rows.n_rows(), rows.n_cols());
    let mut row = vec![0.0; d];
    let mut mean = vec![0.0; d];
    for i in 0..n {
        rows.copy_row(i, &mut row);
        mean.iter_mut().zip(&row).for_each(|(m, x)| *m += (x - *m) / (i + 1) as f64);
    }
    let mut spread = 0.0;
    for i in 0..n {
        rows.copy_row(i, &mut row);
        spread += row.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
    }
    (mean, spread)
}

/// The same of sparse rows from what they store: Σ(x − m)² over stored entries, and m² for each that is not.
fn sparse_mean<T: Real>(x: CsrRef<'_, T>) -> (Vec<f64>, f64) {
    let n = x.n_rows() as f64;
    let mut mean = vec![0.0; x.n_cols()];
    let mut stored = vec![0.0; x.n_cols()];
    let entries = || (0..x.n_rows()).flat_map(move |i| x.row(i).0.iter().zip(x.row(i).1));
    for (column, value) in entries() {
        mean[*column as usize] += value.f64() / n;
        stored[*column as usize] += 1.0;
    }
    let apart: f64 = entries().map(|(column, value)| (value.f64() - mean[*column as usize]).powi(2)).sum();
    let zeros: f64 = mean.iter().zip(&stored).map(|(m, count)| (n - count) * m * m).sum();
    (mean, apart + zeros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Csr;
    use crate::kernel::KernelSpec;

    #[test]
    fn the_column_that_hides_the_others_is_found() {
        let rows =
            Matrix::from_fn(8, 3, |i, j| [1.0, 2000.0, 700.0][j] + (i % 2) as f64 * [2.0, 4.0, 0.0][j]);
        let kernel = |text: &str| Kernel::new(&text.parse::<KernelSpec>().unwrap(), 3).unwrap();
        let found = kernel("linear").far_column(Points::Dense(rows.view()).into());
        assert_eq!(found, Some(FarColumn { column: 1, mean: 2002.0, spread: 2.0 }));
        assert_eq!(kernel("rbf(gamma=1)").far_column(Points::Dense(rows.view()).into()), None);
        let near = kernel("linear").with_origin(vec![2.0, 2002.0, 700.0]);
        assert_eq!(near.far_column(Points::Dense(rows.view()).into()), None);
    }

    #[test]
    fn the_common_part_is_the_squared_mean_over_the_variance() {
        let rows = Matrix::from_fn(8, 2, |i, j| [300.0, -400.0][j] + (i % 2) as f64 * 2.0 - 1.0);
        let part = |text: &str| {
            let kernel = Kernel::new(&text.parse::<KernelSpec>().unwrap(), 2).unwrap();
            kernel.common_part(Points::Dense(rows.view()).into())
        };
        assert!((part("polynomial(degree=2)").unwrap() - 125_000.0).abs() < 1e-6);
        assert!(part("linear + rbf(gamma=1)").is_some());
        assert_eq!(part("rbf(gamma=1)"), None);
    }

    #[test]
    fn sparse_rows_have_the_mean_and_spread_of_dense_ones() {
        let dense = Matrix::from_fn(7, 3, |i, j| if (i + j) % 3 == 0 { 0.0 } else { (i * 3 + j) as f64 });
        let stored = |i: usize| (0..3).filter(|j| dense[(i, *j)] != 0.0).collect::<Vec<_>>();
        let offsets = (0..=7).map(|i| (0..i).map(|i| stored(i).len()).sum()).collect();
        let columns = (0..7).flat_map(|i| stored(i).into_iter().map(|j| j as u32)).collect();
        let values = (0..7).flat_map(|i| stored(i).into_iter().map(|j| dense[(i, j)]).collect::<Vec<_>>());
        let sparse = Csr::new(offsets, columns, values.collect(), 3).unwrap();
        let (mean, spread) = sparse_mean(sparse.view());
        let (expected, expected_spread) = dense_mean((&dense).into());
        assert!(mean.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{mean:?} {expected:?}");
        assert!((spread - expected_spread).abs() < 1e-10, "{spread} {expected_spread}");
    }
}
