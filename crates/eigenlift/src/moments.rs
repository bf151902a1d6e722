//! Count, mean and scatter of feature rows: partial results that can be merged and taken out again.

mod absorber;
mod directions;
mod outer;
mod triangle;

pub(crate) use absorber::{Absorber, WideAbsorber, scatter};
pub(crate) use directions::Directions;
pub(crate) use outer::{add_outer_products, padded};
pub(crate) use triangle::Triangle;

use crate::error::{Error, Result};
use crate::linalg::{differences, shift_columns};
use crate::matrix::{MatRef, Matrix};
use rayon::prelude::*;

/// Columns of a block of the scatter matrix that one thread computes.
const SCATTER_COLUMNS: usize = 192;
/// Share of the scatter that must be left after rows are taken out: below it fewer than six digits would remain.
const LEAST_LEFT: f64 = 1e-10;

/// What a set of feature rows f leaves behind, (K33), (P9): their number, mean and scatter M₂ = Σ(f − mean)(f − mean)ᵀ, and the
/// trace τ of what the features do not hold.
///
/// Two of them merge into that of both sets (Chan's formula), and one can be taken out of a larger one exactly. So rows may
/// come in pieces of any size, from any number of readers.
///
/// ```
/// use eigenlift::{matrix::Matrix, moments::Partial};
/// let rows = Matrix::from_vec(vec![1.0, 0.0, 3.0, 2.0, 5.0, 1.0, 2.0, 2.0], 4, 2)?;
/// let whole = Partial::of_rows(rows.view(), 0.0);
/// let mut parts = Partial::of_rows(rows.view().rows(0..1), 0.0);
/// parts.merge(&Partial::of_rows(rows.view().rows(1..4), 0.0))?;
/// assert!((parts.mean()[0] - whole.mean()[0]).abs() < 1e-15);
/// assert!((parts.scatter()[(0, 1)] - whole.scatter()[(0, 1)]).abs() < 1e-14);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    count: u64,
    weight: f64,
    mean: Vec<f64>,
    scatter: Matrix<f64>,
    residual_trace: f64,
}

impl Partial {
    /// No rows yet, of `dimension` features.
    pub fn empty(dimension: usize) -> Self {
        Self {
            count: 0,
            weight: 0.0,
            mean: vec![0.0; dimension],
            scatter: Matrix::zeros(dimension, dimension),
            residual_trace: 0.0,
        }
    }

    /// Of these rows. `residual_trace` is Σ(k(x,x) − ‖f‖²), what the features leave out of the kernel; 0 when they are exact.
    ///
    /// Cost: n·m² flops, half of the full product; memory one copy of the rows.
    pub fn of_rows(rows: MatRef<'_, f64>, residual_trace: f64) -> Self {
        Self::of_matrix(rows.to_matrix(), residual_trace)
    }

    /// As [`Partial::of_rows`], without a copy.
    pub fn of_matrix(mut rows: Matrix<f64>, residual_trace: f64) -> Self {
        let (mean, weight) = center_weighted(&mut rows, None);
        let count = rows.n_rows() as u64;
        Self { count, weight, mean, scatter: scatter(rows.view()), residual_trace }
    }

    #[cfg(test)]
    /// Of rows that count as often as their weights say, (P1), (P2); the rows are overwritten.
    pub(crate) fn of_weighted(rows: &mut Matrix<f64>, weights: Option<&[f64]>) -> Self {
        let (mean, weight) = center_weighted(rows, weights);
        let count = rows.n_rows() as u64;
        Self { count, weight, mean, scatter: scatter(rows.view()), residual_trace: 0.0 }
    }

    /// From sums that were found elsewhere.
    pub(crate) fn from_parts(count: u64, weight: f64, mean: Vec<f64>, scatter: Matrix<f64>) -> Self {
        Self { count, weight, mean, scatter, residual_trace: 0.0 }
    }

    /// Of the rows after a linear map f ↦ Sf, given as what it does to the rows of a matrix: R ↦ R·Sᵀ.
    pub(crate) fn mapped(&self, apply: impl Fn(&mut Matrix<f64>)) -> Self {
        let mut mean = Matrix::from_fn(1, self.dimension(), |_, j| self.mean[j]);
        apply(&mut mean);
        let mut half = self.scatter.clone();
        apply(&mut half);
        let mut whole = transposed(&half);
        apply(&mut whole);
        let m = whole.n_rows();
        let scatter = Matrix::from_fn(m, m, |i, j| 0.5 * (whole[(i, j)] + whole[(j, i)]));
        Self { mean: mean.into_vec(), scatter, ..*self }
    }

    /// The same with another residual trace.
    pub(crate) fn leaving(self, residual_trace: f64) -> Self {
        Self { residual_trace, ..self }
    }

    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the weights of the rows; their number when they have none.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Number of features.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// Mean of the rows.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// M₂ = Σ(f − mean)(f − mean)ᵀ.
    pub fn scatter(&self) -> &Matrix<f64> {
        &self.scatter
    }

    /// τ: what the features leave out of the trace of the kernel matrix.
    pub fn residual_trace(&self) -> f64 {
        self.residual_trace
    }

    /// tr M₂.
    pub fn trace(&self) -> f64 {
        (0..self.dimension()).map(|j| self.scatter[(j, j)]).sum()
    }

    /// Adds the rows of `other`: N = a + b, mean = m_a + δ·b/N, M₂ = A + B + δδᵀ·ab/N with δ = m_b − m_a.
    ///
    /// Numerics: sums are not associative, so the order of merging moves the last digits (1e-14 relative); merge in the order
    /// of the rows for the same bits every time.
    ///
    /// # Errors
    /// When the number of features differs.
    pub fn merge(&mut self, other: &Partial) -> Result<()> {
        self.check_dimension(other)?;
        if other.count == 0 {
            return Ok(());
        }
        let (a, b) = (self.weight, other.weight);
        let total = (a + b).max(f64::MIN_POSITIVE);
        let delta: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(theirs, own)| theirs - own).collect();
        self.add(&other.scatter, 1.0, &delta, a * b / total);
        merge_means(&mut self.mean, &other.mean, (a, b));
        self.residual_trace += other.residual_trace;
        self.count += other.count;
        self.weight += other.weight;
        Ok(())
    }

    /// Takes out the rows of `other`, which were merged before: the inverse of [`Partial::merge`].
    ///
    /// Numerics: exact up to rounding relative to the scatter before. Rows that hold nearly all of it cannot be taken out
    /// without losing the digits of what remains; that is refused.
    ///
    /// # Errors
    /// When the number of features differs, when more rows are taken out than there are, or when too little would remain.
    pub fn remove(&mut self, other: &Partial) -> Result<()> {
        self.check_dimension(other)?;
        if other.count > self.count {
            return Err(Error::data(
                format!("{} rows to take out of {}", other.count, self.count),
                "rows can be taken out only after they were put in",
                "Take out the rows that were fitted",
            ));
        }
        if other.count == self.count {
            *self = Self::empty(self.dimension());
            return Ok(());
        }
        let before = self.trace();
        let mut rest = self.clone();
        let (total, b) = (self.weight, other.weight);
        let a = total - b;
        if a <= 0.0 {
            return Err(Error::data(
                format!("rows of weight {b} to take out of {total}"),
                "some weight must remain",
                "Fit the remaining rows anew",
            ));
        }
        let mean = self.mean.iter().zip(&other.mean).map(|(all, out)| all + (all - out) * b / a);
        rest.mean = mean.collect();
        let delta: Vec<f64> = other.mean.iter().zip(&rest.mean).map(|(theirs, own)| theirs - own).collect();
        rest.add(&other.scatter, -1.0, &delta, -a * b / total);
        rest.residual_trace = (self.residual_trace - other.residual_trace).max(0.0);
        rest.count -= other.count;
        rest.weight = a;
        if rest.trace() < LEAST_LEFT * before {
            return Err(Error::data(
                format!("rows that hold all but {:.1e} of the scatter", (rest.trace() / before).max(0.0)),
                "what remains must keep some of its digits",
                "Fit the remaining rows anew",
            ));
        }
        *self = rest;
        Ok(())
    }

    fn check_dimension(&self, other: &Partial) -> Result<()> {
        if self.dimension() == other.dimension() {
            return Ok(());
        }
        Err(Error::setting(
            format!("partial results of {} and {} features", self.dimension(), other.dimension()),
            "they must come from the same landmarks or features",
            "Fit both parts with the same landmarks",
        ))
    }

    /// scatter ← scatter + factor·other + weight·δδᵀ.
    fn add(&mut self, other: &Matrix<f64>, factor: f64, delta: &[f64], weight: f64) {
        let rows = self.scatter.view_mut().row_chunks(SCATTER_COLUMNS);
        rows.into_par_iter().enumerate().for_each(|(piece, mut rows)| {
            for a in 0..rows.n_rows() {
                let i = piece * SCATTER_COLUMNS + a;
                let along = weight * delta[i];
                let sums = rows.row_mut(a).iter_mut().zip(other.row(i)).zip(delta);
                sums.for_each(|((s, o), d)| *s += factor * o + along * d);
            }
        });
    }
}

/// m ← m + δ·b/(a + b), δ = m_b − m: the mean of both parts, of weights a and b, (P9).
///
/// Numerics: where there was nothing before it is m_b itself, and equal means stay what they are, so that the mean of a constant
/// column is its value to the last bit.
fn merge_means(mean: &mut [f64], other: &[f64], (a, b): (f64, f64)) {
    if a <= 0.0 && b > 0.0 {
        return mean.copy_from_slice(other);
    }
    let total = (a + b).max(f64::MIN_POSITIVE);
    mean.iter_mut().zip(other).for_each(|(m, theirs)| *m += (theirs - *m) * b / total);
}

/// Takes the weighted mean out of the rows and multiplies each by the root of its weight. Gives mean and sum of weights.
///
/// Numerics: the sum is of differences from the row of largest weight, so that a constant column becomes zero however many
/// rows there are, where a plain sum of n numbers would leave up to n·u of it.
pub(crate) fn center_weighted(rows: &mut Matrix<f64>, weights: Option<&[f64]>) -> (Vec<f64>, f64) {
    let weight = weights.map_or(rows.n_rows() as f64, |w| w.iter().sum());
    let heavier = |a: usize, b: usize| weights.is_some_and(|w| w[b] > w[a]);
    let pivot = (0..rows.n_rows()).reduce(|a, b| if heavier(a, b) { b } else { a });
    let mut mean = pivot.map_or_else(|| vec![0.0; rows.n_cols()], |i| rows.row(i).to_vec());
    let apart = differences(rows.view(), weights, &mean);
    mean.iter_mut().zip(apart).for_each(|(m, x)| *m += x / weight.max(f64::MIN_POSITIVE));
    if weight <= 0.0 {
        mean.fill(0.0);
    }
    let Some(weights) = weights else {
        let shift: Vec<f64> = mean.iter().map(|m| -m).collect();
        shift_columns(rows.view_mut(), &shift);
        return (mean, weight);
    };
    let mut view = rows.view_mut();
    for (i, w) in weights.iter().enumerate() {
        let root = w.sqrt();
        view.row_mut(i).iter_mut().zip(&mean).for_each(|(x, m)| *x = root * (*x - m));
    }
    (mean, weight)
}

fn transposed(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize, m: usize) -> Matrix<f64> {
        Matrix::from_fn(n, m, |i, j| ((i * 7 + j * 3) as f64 * 0.37).sin() * (j + 1) as f64 + 10.0)
    }

    fn apart(a: &Partial, b: &Partial) -> f64 {
        let scale = a.trace();
        let scatter = a.scatter().as_slice().iter().zip(b.scatter().as_slice());
        let mean = a.mean().iter().zip(b.mean()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        scatter.map(|(x, y)| (x - y).abs() / scale).fold(mean / 10.0, f64::max)
    }

    /// 0.1·3/3 is not 0.1, nor is the mean of seven numbers 0.1 from their plain sum.
    #[test]
    fn the_mean_of_constant_columns_is_their_value_to_the_last_bit() {
        let value = |j: usize| [0.1, 1.0 / 3.0, -2.7e8, 1e-17][j];
        for size in [1, 3, 7] {
            let rows = Matrix::from_fn(size, 4, |_, j| value(j));
            let weights: Vec<f64> = (0..size).map(|i| 0.3 + i as f64).collect();
            for weights in [None, Some(weights.as_slice())] {
                let expected: Vec<f64> = (0..4).map(value).collect();
                let (mut partial, mut triangle) = (Partial::empty(4), Triangle::empty(4));
                let (mut absorber, mut wide) = (Absorber::new(4), WideAbsorber::new(4));
                let mut directions = Directions::empty(4, 3);
                for _ in 0..3 {
                    partial.merge(&Partial::of_weighted(&mut rows.clone(), weights)).unwrap();
                    triangle.merge(&Triangle::of_rows(rows.clone(), weights).unwrap()).unwrap();
                    let mut buffer =
                        Matrix::from_fn(size, absorber.width(), |_, j| if j < 4 { value(j) } else { 0.0 });
                    absorber.absorb(&mut buffer, weights);
                    wide.absorb(&mut rows.clone(), weights);
                    directions.add(rows.clone(), weights).unwrap();
                }
                let (absorbed, widely) = (absorber.finish(), wide.finish());
                for mean in
                    [partial.mean(), triangle.mean(), absorbed.mean(), widely.mean(), directions.mean()]
                {
                    assert_eq!(mean, expected, "{size}");
                }
                let left = [partial.trace(), absorbed.trace(), widely.trace(), directions.trace()];
                assert_eq!(left, [0.0; 4], "{size}");
                assert!(triangle.r().as_slice().iter().all(|x| *x == 0.0), "{size}");
            }
        }
    }

    #[test]
    fn scatter_is_the_plain_sum() {
        let x = rows(37, 150);
        let partial = Partial::of_rows(x.view(), 2.5);
        for (i, j) in [(0, 0), (3, 140), (149, 149), (130, 5)] {
            let mean = |j: usize| (0..37).map(|r| x[(r, j)]).sum::<f64>() / 37.0;
            let plain: f64 = (0..37).map(|r| (x[(r, i)] - mean(i)) * (x[(r, j)] - mean(j))).sum();
            assert!((partial.scatter()[(i, j)] - plain).abs() < 1e-9 * partial.trace());
            assert_eq!(partial.scatter()[(i, j)], partial.scatter()[(j, i)]);
        }
        assert_eq!((partial.count(), partial.residual_trace()), (37, 2.5));
    }

    #[test]
    fn any_split_gives_the_same_and_taking_out_inverts_merging() {
        let x = rows(101, 9);
        let whole = Partial::of_rows(x.view(), 1.01);
        for size in [1, 7, 50, 101] {
            let mut sum = Partial::empty(9);
            for from in (0..101).step_by(size) {
                let to = (from + size).min(101);
                sum.merge(&Partial::of_rows(x.view().rows(from..to), 0.01 * (to - from) as f64)).unwrap();
            }
            assert!(apart(&whole, &sum) < 1e-13, "{size}");
            assert!((sum.residual_trace() - 1.01).abs() < 1e-12);
        }
        let mut rest = whole.clone();
        rest.remove(&Partial::of_rows(x.view().rows(60..101), 0.41)).unwrap();
        assert!(apart(&Partial::of_rows(x.view().rows(0..60), 0.6), &rest) < 1e-13);
        assert_eq!(rest.count(), 60);
        rest.remove(&Partial::of_rows(x.view().rows(0..60), 0.6)).unwrap();
        assert_eq!(rest, Partial::empty(9));
    }

    #[test]
    fn what_cannot_be_taken_out_is_refused_and_nothing_changes() {
        let mut x = rows(50, 3);
        (0..3).for_each(|j| x[(49, j)] *= 1e9);
        let whole = Partial::of_rows(x.view(), 0.0);
        let mut rest = whole.clone();
        let message = rest.remove(&Partial::of_rows(x.view().rows(49..50), 0.0)).unwrap_err().to_string();
        assert!(message.contains("Fit the remaining rows anew"), "{message}");
        assert_eq!(rest, whole);
        assert!(rest.remove(&Partial::of_rows(rows(51, 3).view(), 0.0)).is_err());
        assert!(rest.merge(&Partial::empty(4)).is_err());
    }
}
