//! Rows of extreme size, brought near 1 by a power of two and back: nothing is rounded.

use super::Axes;
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// Traces between these need no other unit: squares of eigenvalues stay far from overflow and underflow.
const ORDINARY: std::ops::RangeInclusive<f64> = 1e-100..=1e100;
/// Sums of squares below this have lost digits to underflow.
const SMALLEST: f64 = 1e-280;

/// Refuses columns that are to be standardized but are so small that squares of their entries have lost digits, or vanished: the
/// standard deviation is then wrong, or 1 as for a constant column.
pub(super) fn refuse_tiny_columns(mean: &[f64], scale: Option<&[f64]>) -> Result<()> {
    let least = SMALLEST.sqrt();
    let vanished = |m: f64, s: f64| s == 1.0 && m != 0.0 && m.abs() < least;
    let mut columns = scale.into_iter().flatten().zip(mean).enumerate();
    match columns.find(|(_, (s, m))| **s < least || vanished(**m, **s)) {
        None => Ok(()),
        Some((j, (s, m))) => Err(Error::data(
            match *s < least {
                true => format!("column {} with the standard deviation {s:.1e}", j + 1),
                false => format!("column {} with the mean {m:.1e}, squares of which vanish", j + 1),
            },
            format!("columns are standardized from {least:e} on: squares of smaller numbers underflow"),
            "Multiply the column by a large number first, or leave it out",
        )),
    }
}

/// Rows are multiplied by 2^exponent, sums of squares by 4^exponent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    exponent: i32,
}

impl Unit {
    /// One in which a sum of squares is near 1, if it is far from it.
    ///
    /// # Errors
    /// When the sum has underflowed, or overflowed.
    pub(super) fn of(trace: f64, mean: &[f64]) -> Result<Self> {
        if ORDINARY.contains(&trace) {
            return Ok(Self::default());
        }
        if !trace.is_finite() {
            return Err(Error::data(
                "rows so large that squares of their entries are no numbers",
                "the sum of the squares of all entries must be below 1e308",
                "Divide the rows by a large number first",
            ));
        }
        let largest = mean.iter().fold(0.0f64, |a, m| a.max(m.abs()));
        // Rows that are all the same have no spread whatever their size.
        if trace < SMALLEST && (trace > 0.0 || (largest > 0.0 && largest < SMALLEST.sqrt())) {
            return Err(Error::data(
                format!("rows so small that squares of their entries vanish: their sum is {trace:.1e}"),
                format!("it must be at least {SMALLEST:e}"),
                "Multiply the rows by a large number first",
            ));
        }
        let exponent = if trace > 0.0 { (-0.5 * trace.log2()).round() as i32 } else { 0 };
        Ok(Self { exponent: exponent.clamp(-510, 510) })
    }

    /// Whether it is another than that of the rows as they were given.
    pub(super) fn changes(self) -> bool {
        self.exponent != 0
    }

    /// What rows are multiplied by.
    pub(super) fn rows(self) -> f64 {
        2f64.powi(self.exponent)
    }

    /// What sums of squares are multiplied by.
    pub(super) fn squares(self) -> f64 {
        4f64.powi(self.exponent)
    }

    /// A matrix of sums of squares in this unit.
    pub(super) fn matrix(self, sums: &Matrix<f64>) -> Matrix<f64> {
        let factor = self.squares();
        Matrix::from_fn(sums.n_rows(), sums.n_cols(), |i, j| factor * sums[(i, j)])
    }

    /// A sum of squares in the unit of the rows as they were given.
    pub(super) fn given(self, square: f64) -> f64 {
        square * 4f64.powi(-self.exponent)
    }

    /// The axes of the rows as they were given.
    pub(super) fn back(self, mut axes: Axes) -> Axes {
        if self.exponent == 0 {
            return axes;
        }
        axes.trace = self.given(axes.trace);
        axes.values.iter_mut().chain(&mut axes.spectrum).for_each(|value| *value = self.given(*value));
        let certificate = &mut axes.certificate;
        certificate.rounding = self.given(certificate.rounding);
        for interval in &mut certificate.intervals {
            interval.low = self.given(interval.low);
            interval.high = self.given(interval.high);
        }
        let bounds = &mut certificate.bounds;
        for size in [&mut bounds.missed, &mut bounds.residual_trace, &mut bounds.slack] {
            *size = size.map(|size| self.given(size));
        }
        axes
    }
}
