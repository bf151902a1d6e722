//! The rows that a rule looks at, and their columns centred and scaled.

use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::linalg::{column_means, column_norms, scale_columns, shift_columns};
use crate::matrix::{MatMut, Matrix};
use crate::random::{Purpose, Stream};

/// The places of all rows, or of `most` of them drawn uniformly, in their order.
pub(super) fn drawn(rows: AnyPoints<'_>, most: usize, seed: u64) -> Vec<usize> {
    Stream::new(seed, Purpose::ChoiceRows).rows(rows.n_rows(), most)
}

/// The rows that [`drawn`] names.
///
/// Cost: memory most·d numbers.
pub(super) fn sampled(rows: AnyPoints<'_>, most: usize, seed: u64) -> Matrix<f64> {
    let chosen = drawn(rows, most, seed);
    let mut out = Matrix::zeros(chosen.len(), rows.n_cols());
    let mut view = out.view_mut();
    chosen.iter().enumerate().for_each(|(at, row)| rows.copy_row(*row, view.row_mut(at)));
    out
}

/// What was done to the columns of some rows, to be done to others.
pub(super) struct Columns {
    shift: Vec<f64>,
    factor: Vec<f64>,
}

impl Columns {
    /// Centres the columns of `rows` and, if `scaled`, divides each by its standard deviation (with 1/n).
    ///
    /// Columns that are constant up to rounding become 0.
    /// Numerics: the mean of the centred column is taken out once more, so a constant column leaves no rounding behind.
    ///
    /// # Errors
    /// When squares of a column overflow.
    pub(super) fn standardise(rows: &mut Matrix<f64>, scaled: bool) -> Result<Self> {
        let mut shift = vec![0.0; rows.n_cols()];
        for _ in 0..2 {
            let step: Vec<f64> = column_means(rows.view()).iter().map(|m| -m).collect();
            shift_columns(rows.view_mut(), &step);
            shift.iter_mut().zip(&step).for_each(|(s, x)| *s += x);
        }
        let root_n = (rows.n_rows().max(1) as f64).sqrt();
        let spread: Vec<f64> = column_norms(rows.view()).iter().map(|norm| norm / root_n).collect();
        if let Some(j) = spread.iter().position(|s| !s.is_finite()) {
            return Err(Error::data(
                format!("column {} with entries whose squares overflow", j + 1),
                "squares must be finite numbers",
                "Scale that column down",
            ));
        }
        let factor = spread.iter().zip(&shift).map(|(spread, shift)| {
            let constant = *spread <= 8.0 * f64::EPSILON * shift.abs();
            if constant {
                0.0
            } else if scaled {
                1.0 / spread
            } else {
                1.0
            }
        });
        let columns = Self { factor: factor.collect(), shift };
        scale_columns(rows.view_mut(), &columns.factor);
        Ok(columns)
    }

    /// Does the same to other rows.
    pub(super) fn apply(&self, mut rows: MatMut<'_, f64>) {
        shift_columns(rows.reborrow(), &self.shift);
        scale_columns(rows, &self.factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_get_mean_zero_and_spread_one_and_constant_ones_become_zero() {
        let spread = |i: usize, j: usize| (i * (j + 3) % 17) as f64;
        let mut rows = Matrix::from_fn(1000, 4, |i, j| if j == 2 { 0.1 } else { 1e3 + spread(i, j) });
        let mut same = rows.clone();
        let columns = Columns::standardise(&mut rows, true).unwrap();
        for j in [0, 1, 3] {
            let column = rows.column(j);
            assert!(column.iter().sum::<f64>().abs() < 1e-10);
            assert!((column.iter().map(|x| x * x).sum::<f64>() - 1000.0).abs() < 1e-9);
        }
        assert!(rows.column(2).iter().all(|x| *x == 0.0));
        columns.apply(same.view_mut());
        let gaps = rows.as_slice().iter().zip(same.as_slice()).map(|(x, y)| (x - y).abs());
        // One shift of 1e3 against two: its rounding over a spread of about 5.
        assert!(gaps.fold(0.0, f64::max) < 1e3 * f64::EPSILON);
    }

    #[test]
    fn overflow_is_an_error_that_names_the_column() {
        let mut rows = Matrix::from_fn(4, 2, |i, j| if j == 1 { 1e200 * i as f64 } else { 1.0 });
        let message = Columns::standardise(&mut rows, false).err().unwrap().to_string();
        assert!(message.starts_with("column 2 with entries"), "{message}");
    }

    #[test]
    fn samples_keep_the_order_of_the_rows() {
        let x = Matrix::from_fn(50, 2, |i, j| (2 * i + j) as f64);
        let few = sampled((&x).into(), 7, 3);
        assert_eq!((few.n_rows(), few.n_cols()), (7, 2));
        assert!(few.column(0).windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sampled((&x).into(), 50, 3), x);
    }
}
