//! Moments that grow by pieces of rows, in one thread and without further memory.

use super::{Partial, center_weighted};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};

/// Columns of a strip of the upper triangle.
const STRIP: usize = 64;

/// Count, weight, mean and the upper triangle of the scatter of the rows so far.
#[derive(Clone, Debug)]
pub(crate) struct Absorber {
    count: u64,
    weight: f64,
    mean: Vec<f64>,
    upper: Matrix<f64>,
}

impl Absorber {
    /// No rows yet, of `d` columns.
    pub(crate) fn new(d: usize) -> Self {
        Self { count: 0, weight: 0.0, mean: vec![0.0; d], upper: Matrix::zeros(d, d) }
    }

    /// Adds rows, (P9); they are overwritten.
    ///
    /// Cost: n·d² flops and a little more.
    pub(crate) fn absorb(&mut self, rows: &mut Matrix<f64>, weights: Option<&[f64]>) {
        let (mean, b) = center_weighted(rows, weights);
        self.add_products(rows.view());
        let a = self.weight;
        let total = (a + b).max(f64::MIN_POSITIVE);
        let delta: Vec<f64> = mean.iter().zip(&self.mean).map(|(theirs, own)| theirs - own).collect();
        if a > 0.0 {
            let factor = a * b / total;
            let mut view = self.upper.view_mut();
            for (i, along) in delta.iter().enumerate() {
                let along = factor * along;
                view.row_mut(i)[i..].iter_mut().zip(&delta[i..]).for_each(|(s, x)| *s += along * x);
            }
        }
        self.mean.iter_mut().zip(&delta).for_each(|(m, x)| *m += x * b / total);
        self.count += rows.n_rows() as u64;
        self.weight = a + b;
    }

    /// Upper triangle of RᵀR, strip by strip; what a strip computes below the diagonal is never read.
    fn add_products(&mut self, rows: MatRef<'_, f64>) {
        let d = rows.n_cols();
        // Two strips for few columns: a narrow one costs more in moving than it saves in work.
        let height = if d <= 2 * STRIP { d.div_ceil(2).next_multiple_of(8) } else { STRIP };
        for (strip, out) in self.upper.view_mut().row_chunks(height).into_iter().enumerate() {
            let (from, to) = (strip * height, ((strip + 1) * height).min(d));
            let (left, right) = (rows.columns(from..to), rows.columns(from..d));
            gemm(out.columns(from..d), Onto::Add, 1.0, Factor::Transposed(left), Factor::Plain(right));
        }
    }

    /// What was absorbed.
    pub(crate) fn finish(self) -> Partial {
        let mut scatter = self.upper;
        for i in 0..scatter.n_rows() {
            for j in 0..i {
                scatter[(i, j)] = scatter[(j, i)];
            }
        }
        Partial::from_parts(self.count, self.weight, self.mean, scatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        for d in [1, 5, 100, 150] {
            let x = Matrix::from_fn(700, d, |i, j| ((i * 7 + j * 3 + i * j) as f64 * 0.37).sin() + 10.0);
            let weights: Vec<f64> = (0..700).map(|i| f64::from(i % 3)).collect();
            for weights in [None, Some(&weights)] {
                let whole = Partial::of_weighted(&mut x.clone(), weights.map(Vec::as_slice));
                let mut sum = Absorber::new(d);
                for from in (0..700).step_by(256) {
                    let rows = from..(from + 256).min(700);
                    let mut piece = x.view().rows(rows.clone()).to_matrix();
                    sum.absorb(&mut piece, weights.map(|w| &w[rows]));
                }
                let sum = sum.finish();
                assert_eq!((sum.count(), sum.weight()), (whole.count(), whole.weight()));
                // Sums of 700 products of size at most 1, and the rounding of a mean near 10.
                let allowed = 700.0 * 20.0 * f64::EPSILON * 10.0;
                let pairs = sum.scatter().as_slice().iter().zip(whole.scatter().as_slice());
                assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < allowed);
                assert!(sum.mean().iter().zip(whole.mean()).all(|(a, b)| (a - b).abs() < 1e-13));
            }
        }
    }
}
