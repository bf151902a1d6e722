//! F: how much of a column's variance goes with the labels, docs/theory (S10), (S11).

use crate::columns::{Columns, Goal};
use crate::information::FeatureScore;
use eigenlift::error::{Error, Result};
use eigenlift::progress::Watch;
use eigenlift::stats::f_tail;
use std::borrow::Cow;

/// Deviations of this many units of roundoff of the values themselves are none.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// F and its p-value of each column. A constant column has F = 0 and p = 1, one that the labels explain in full the largest
/// number there is, so that reports can hold it, and p = 0.
///
/// Cost: three passes over each column.
///
/// # Errors
/// When there are not more rows than classes, or fewer than three rows with numbers; when the work is cancelled.
pub(super) fn scores(x: &Columns, goal: &Goal, watch: &Watch) -> Result<Vec<FeatureScore>> {
    let n = x.n_rows();
    match goal {
        Goal::Classes { of_rows, n_classes } => {
            let classes = Classes::new(of_rows, *n_classes);
            if n <= classes.present {
                return Err(too_few(n, format!("{} classes", classes.present), "more rows than classes"));
            }
            super::each_column(x.n_cols(), watch, |j| Ok(classes.score(x.column(j))))
        }
        Goal::Numbers(numbers) => {
            if n < 3 {
                return Err(too_few(n, "a number for each".into(), "at least three rows"));
            }
            let target = Centred::of(numbers);
            super::each_column(x.n_cols(), watch, |j| Ok(target.score(x.column(j))))
        }
    }
}

fn too_few(n: usize, labels: String, required: &str) -> Error {
    Error::data(
        format!("{n} rows and {labels}"),
        format!("F compares what the labels leave over with what they explain, which takes {required}"),
        "Give more rows, or choose another filter",
    )
}

fn scored(value: f64, p_value: f64) -> FeatureScore {
    FeatureScore { value, p_value: Some(p_value), ..FeatureScore::default() }
}

/// A column whose squares are neither infinite nor 0: F does not depend on the unit.
fn with_squares(x: &[f64]) -> Cow<'_, [f64]> {
    let largest = x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    match largest > 0.0 && !(1e-100..1e100).contains(&largest) {
        true => Cow::Owned(x.iter().map(|x| x / largest).collect()),
        false => Cow::Borrowed(x),
    }
}

/// Rows of each class.
struct Classes<'a> {
    of_rows: &'a [u32],
    counts: Vec<f64>,
    /// Classes that have rows.
    present: usize,
}

impl<'a> Classes<'a> {
    fn new(of_rows: &'a [u32], n_classes: usize) -> Self {
        let mut counts = vec![0.0; n_classes];
        of_rows.iter().for_each(|class| counts[*class as usize] += 1.0);
        let present = counts.iter().filter(|count| **count > 0.0).count();
        Self { of_rows, counts, present }
    }

    /// F = (Σ_c n_c(x̄_c − x̄)²/(C − 1)) / (Σ_i (x_i − x̄_c(i))²/(n − C)), (S10).
    ///
    /// Numerics: sums of squares are taken of deviations from means, so that an offset costs no digits.
    fn score(&self, x: &[f64]) -> FeatureScore {
        let x = &*with_squares(x);
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let mut means = vec![0.0; self.counts.len()];
        x.iter().zip(self.of_rows).for_each(|(x, class)| means[*class as usize] += x - mean);
        means.iter_mut().zip(&self.counts).for_each(|(sum, count)| *sum /= count.max(1.0));
        let between: f64 = means.iter().zip(&self.counts).map(|(m, count)| count * m * m).sum();
        let within: f64 =
            x.iter().zip(self.of_rows).map(|(x, class)| (x - mean - means[*class as usize]).powi(2)).sum();
        let nothing = ROUNDING * ROUNDING * x.iter().map(|x| x * x).sum::<f64>();
        if between + within <= nothing || self.present < 2 {
            return scored(0.0, 1.0);
        }
        if within <= nothing {
            return scored(f64::MAX, 0.0);
        }
        let degrees = ((self.present - 1) as f64, n - self.present as f64);
        let f = between / degrees.0 / (within / degrees.1);
        scored(f, f_tail(degrees.0, degrees.1, f))
    }
}

/// Numbers without their mean.
struct Centred {
    values: Vec<f64>,
    /// Σ of squares, and of those with the mean.
    squares: f64,
    whole: f64,
}

impl Centred {
    fn of(values: &[f64]) -> Self {
        let values = &*with_squares(values);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let centred: Vec<f64> = values.iter().map(|x| x - mean).collect();
        Self {
            squares: centred.iter().map(|x| x * x).sum(),
            whole: values.iter().map(|x| x * x).sum(),
            values: centred,
        }
    }

    fn is_constant(&self) -> bool {
        self.squares <= ROUNDING * ROUNDING * self.whole
    }

    /// F = r²/(1 − r²)·(n − 2), (S11).
    ///
    /// Numerics: 1 − r² is the share of squares that the straight line leaves, added up from what it leaves of each row.
    fn score(&self, x: &[f64]) -> FeatureScore {
        let x = Self::of(x);
        if x.is_constant() || self.is_constant() {
            return scored(0.0, 1.0);
        }
        let slope = x.values.iter().zip(&self.values).map(|(x, y)| x * y).sum::<f64>() / x.squares;
        let left: f64 = x.values.iter().zip(&self.values).map(|(x, y)| (y - slope * x).powi(2)).sum();
        if left <= ROUNDING * ROUNDING * (self.whole + slope * slope * x.whole) {
            return scored(f64::MAX, 0.0);
        }
        let degrees = self.values.len() as f64 - 2.0;
        let f = slope * slope * x.squares / left * degrees;
        scored(f, f_tail(1.0, degrees, f))
    }
}
