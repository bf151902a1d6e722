//! Mean and triangular factor of rows: partial results that square nothing.

use super::{center_weighted, merge_means};
use crate::error::{Error, Result};
use crate::linalg::triangle_of;
use crate::matrix::Matrix;

/// What a set of rows leaves behind: number, weight, mean, and R with RᵀR = M₂ = Σw(x − mean)(x − mean)ᵀ.
///
/// Where [`super::Partial`] holds M₂ itself, small singular values of the rows drown in the rounding of large ones squared;
/// R keeps them, (P11). Two of them merge, (P10).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Triangle {
    count: u64,
    weight: f64,
    mean: Vec<f64>,
    r: Matrix<f64>,
}

impl Triangle {
    /// No rows yet, of `dimension` columns.
    pub(crate) fn empty(dimension: usize) -> Self {
        Self { count: 0, weight: 0.0, mean: vec![0.0; dimension], r: Matrix::zeros(0, dimension) }
    }

    /// Of these rows, each counted as often as its weight says; once without weights.
    ///
    /// Cost: 2·n·d² flops for n rows of d columns.
    ///
    /// # Errors
    /// When there is not one weight for each row.
    pub(crate) fn of_rows(mut rows: Matrix<f64>, weights: Option<&[f64]>) -> Result<Self> {
        if let Some(weights) = weights.filter(|weights| weights.len() != rows.n_rows()) {
            return Err(Error::data(
                format!("{} weights for {} rows", weights.len(), rows.n_rows()),
                "each row needs one",
                "Give as many weights as rows",
            ));
        }
        let (mean, weight) = center_weighted(&mut rows, weights);
        let count = rows.n_rows() as u64;
        Ok(Self { count, weight, mean, r: triangle_of(rows.view()) })
    }

    /// From sums that were found elsewhere.
    pub(crate) fn from_parts(count: u64, weight: f64, mean: Vec<f64>, r: Matrix<f64>) -> Self {
        Self { count, weight, mean, r }
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the weights of the rows; their number when they have none.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// Mean of the rows.
    pub(crate) fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// R, upper triangular, at most as many rows as columns.
    pub(crate) fn r(&self) -> &Matrix<f64> {
        &self.r
    }

    /// Adds the rows of `other`: R of the rows [R_a; R_b; √(ab/(a+b))·(m_b − m_a)ᵀ], (P10).
    ///
    /// # Errors
    /// When the number of columns differs.
    pub(crate) fn merge(&mut self, other: &Triangle) -> Result<()> {
        let d = self.mean.len();
        if other.mean.len() != d {
            return Err(Error::setting(
                format!("partial results of {d} and {} columns", other.mean.len()),
                "they must be of the same columns",
                "Fit both parts on the same columns",
            ));
        }
        if other.count == 0 {
            return Ok(());
        }
        let (a, b) = (self.weight, other.weight);
        let total = (a + b).max(f64::MIN_POSITIVE);
        let factor = (a * b / total).sqrt();
        let delta: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(theirs, own)| theirs - own).collect();
        let mut stacked = Vec::with_capacity(self.r.as_slice().len() + other.r.as_slice().len() + d);
        stacked.extend_from_slice(self.r.as_slice());
        stacked.extend_from_slice(other.r.as_slice());
        stacked.extend(delta.iter().map(|x| factor * x));
        let height = self.r.n_rows() + other.r.n_rows() + 1;
        self.r = triangle_of(Matrix::from_vec(stacked, height, d)?.view());
        merge_means(&mut self.mean, &other.mean, (a, b));
        self.count += other.count;
        self.weight = a + b;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::right_singular;

    /// Columns whose sizes fall from 1 to 1e-10.
    fn graded(n: usize, d: usize) -> Matrix<f64> {
        Matrix::from_fn(n, d, |i, j| {
            let size = 10f64.powf(-10.0 * j as f64 / (d - 1) as f64);
            ((i * 31 + j * 17 + i * j) as f64 * 0.61).sin() * size + 3.0
        })
    }

    #[test]
    fn parts_merge() {
        let rows = Matrix::from_vec(vec![1.0, 0.0, 3.0, 2.0, 5.0, 1.0, 2.0, 2.0], 4, 2).unwrap();
        let mut parts = Triangle::of_rows(rows.view().rows(0..1).to_matrix(), None).unwrap();
        parts.merge(&Triangle::of_rows(rows.view().rows(1..4).to_matrix(), None).unwrap()).unwrap();
        assert_eq!((parts.count(), parts.mean()[1]), (4, 1.25));
    }

    #[test]
    fn pieces_of_any_size_give_the_same_singular_values() {
        let x = graded(400, 6);
        let whole = right_singular(Triangle::of_rows(x.clone(), None).unwrap().r().view()).unwrap().0;
        for size in [1, 7, 100, 399] {
            let mut parts = Triangle::empty(6);
            for from in (0..400).step_by(size) {
                let rows = x.view().rows(from..(from + size).min(400)).to_matrix();
                parts.merge(&Triangle::of_rows(rows, None).unwrap()).unwrap();
            }
            let found = right_singular(parts.r().view()).unwrap().0;
            // Absolute errors of a few hundred roundings of the largest; the entries have the offset 3, whose rounding counts too.
            let allowed = 400.0 * f64::EPSILON * (whole[0] + 3.0 * 20.0);
            assert!(
                whole.iter().zip(&found).all(|(a, b)| (a - b).abs() < allowed),
                "{size}: {whole:?} {found:?}"
            );
        }
    }

    #[test]
    fn weights_count_rows_as_often_as_they_say() {
        let x = graded(40, 4);
        let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
        let repeated: Vec<usize> = (0..40).flat_map(|i| vec![i; i % 3]).collect();
        let copies = Matrix::from_fn(repeated.len(), 4, |i, j| x[(repeated[i], j)]);
        let weighted = Triangle::of_rows(x, Some(&weights)).unwrap();
        let plain = Triangle::of_rows(copies, None).unwrap();
        assert_eq!(weighted.weight(), plain.weight());
        let squares = |t: &Triangle| {
            Matrix::from_fn(4, 4, |i, j| {
                (0..t.r().n_rows()).map(|l| t.r()[(l, i)] * t.r()[(l, j)]).sum::<f64>()
            })
        };
        let (a, b) = (squares(&weighted), squares(&plain));
        assert!(a.as_slice().iter().zip(b.as_slice()).all(|(x, y)| (x - y).abs() < 1e-12));
        assert!(Triangle::of_rows(graded(3, 2), Some(&[1.0])).is_err());
        assert!(Triangle::empty(2).merge(&Triangle::empty(3)).is_err());
    }
}
