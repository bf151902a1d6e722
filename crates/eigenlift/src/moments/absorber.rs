//! Moments that grow by pieces of rows, in one thread and without further memory.

use super::{Partial, add_outer_products, center_weighted, merge_means, padded};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use rayon::prelude::*;

/// Count, weight, mean and the upper triangle of the scatter of the rows so far, for few columns.
#[derive(Clone, Debug)]
pub(crate) struct Absorber {
    d: usize,
    count: u64,
    weight: f64,
    /// Padded with zeros, as rows and sums are.
    mean: Vec<f64>,
    upper: Matrix<f64>,
}

impl Absorber {
    /// No rows yet, of `d` columns.
    pub(crate) fn new(d: usize) -> Self {
        let width = padded(d);
        Self { d, count: 0, weight: 0.0, mean: vec![0.0; width], upper: Matrix::zeros(width, width) }
    }

    /// Columns that a buffer of rows must have; those beyond the data are zero.
    pub(crate) fn width(&self) -> usize {
        self.mean.len()
    }

    /// Adds rows of [`Absorber::width`] numbers, (P9); they are overwritten.
    ///
    /// Cost: n·d² flops and a little more.
    pub(crate) fn absorb(&mut self, rows: &mut Matrix<f64>, weights: Option<&[f64]>) {
        let (mean, b) = center_weighted(rows, weights);
        let width = self.width();
        add_outer_products(self.upper.as_mut_slice(), rows.as_slice(), width);
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
        merge_means(&mut self.mean, &mean, (a, b));
        self.count += rows.n_rows() as u64;
        self.weight = a + b;
    }

    /// What was absorbed.
    pub(crate) fn finish(self) -> Partial {
        let d = self.d;
        let scatter = Matrix::from_fn(d, d, |i, j| self.upper[(i.min(j), i.max(j))]);
        let mean = self.mean[..d].to_vec();
        Partial::from_parts(self.count, self.weight, mean, scatter)
    }
}

/// Columns of a block of the sum that one thread computes.
const BLOCK: usize = 192;

/// As [`Absorber`], for many columns: blocks of the upper triangle are shared among threads.
#[derive(Clone, Debug)]
pub(crate) struct WideAbsorber {
    count: u64,
    weight: f64,
    mean: Vec<f64>,
    /// Block row and block column of each block, and the block.
    blocks: Vec<(usize, usize, Matrix<f64>)>,
}

impl WideAbsorber {
    /// No rows yet, of `d` columns.
    pub(crate) fn new(d: usize) -> Self {
        let (size, count) = (|b: usize| BLOCK.min(d - b * BLOCK), d.div_ceil(BLOCK));
        let pairs = (0..count).flat_map(|i| (i..count).map(move |j| (i, j)));
        let blocks = pairs.map(|(i, j)| (i, j, Matrix::zeros(size(i), size(j)))).collect();
        Self { count: 0, weight: 0.0, mean: vec![0.0; d], blocks }
    }

    /// Adds rows, (P9); they are overwritten.
    ///
    /// Cost: n·d² flops and a little more.
    pub(crate) fn absorb(&mut self, rows: &mut Matrix<f64>, weights: Option<&[f64]>) {
        let (mean, b) = center_weighted(rows, weights);
        let a = self.weight;
        let total = (a + b).max(f64::MIN_POSITIVE);
        let delta: Vec<f64> = mean.iter().zip(&self.mean).map(|(theirs, own)| theirs - own).collect();
        let (d, factor, rows) = (self.mean.len(), if a > 0.0 { a * b / total } else { 0.0 }, rows.view());
        self.add_products(rows, |(i, j), block| {
            let range = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(d);
            let mut view = block.view_mut();
            for (at, down) in delta[range(i)].iter().enumerate() {
                let along = factor * down;
                view.row_mut(at).iter_mut().zip(&delta[range(j)]).for_each(|(s, x)| *s += along * x);
            }
        });
        merge_means(&mut self.mean, &mean, (a, b));
        self.count += rows.n_rows() as u64;
        self.weight = a + b;
    }

    /// Blocks of RᵀR, each changed further by `then`, shared among threads.
    fn add_products(
        &mut self,
        rows: MatRef<'_, f64>,
        then: impl Fn((usize, usize), &mut Matrix<f64>) + Sync,
    ) {
        let d = self.mean.len();
        self.blocks.par_iter_mut().with_max_len(1).for_each(|(i, j, block)| {
            let range = |b: usize| b * BLOCK..((b + 1) * BLOCK).min(d);
            let (left, right) = (rows.columns(range(*i)), rows.columns(range(*j)));
            if i == j {
                add_upper(block, left);
            } else {
                gemm(block.view_mut(), Onto::Add, 1.0, Factor::Transposed(left), Factor::Plain(right));
            }
            then((*i, *j), block);
        });
    }

    /// The whole sum from its blocks.
    fn scatter(&self) -> Matrix<f64> {
        let d = self.mean.len();
        let mut scatter = Matrix::zeros(d, d);
        for (i, j, block) in &self.blocks {
            for a in 0..block.n_rows() {
                // Of a block on the diagonal only the upper half is right.
                for b in if i == j { a } else { 0 }..block.n_cols() {
                    let (p, q) = (i * BLOCK + a, j * BLOCK + b);
                    scatter[(p, q)] = block[(a, b)];
                    scatter[(q, p)] = block[(a, b)];
                }
            }
        }
        scatter
    }

    /// What was absorbed.
    pub(crate) fn finish(self) -> Partial {
        let scatter = self.scatter();
        Partial::from_parts(self.count, self.weight, self.mean, scatter)
    }
}

/// AᵀA by blocks of columns, those above the diagonal once.
///
/// Cost: n·m² flops.
pub(crate) fn scatter(a: MatRef<'_, f64>) -> Matrix<f64> {
    let mut sum = WideAbsorber::new(a.n_cols());
    sum.add_products(a, |_, _| {});
    sum.scatter()
}

/// Upper half of out ← out + RᵀR in strips; what they compute below the diagonal is never read.
fn add_upper(out: &mut Matrix<f64>, rows: MatRef<'_, f64>) {
    const STRIP: usize = 48;
    let d = rows.n_cols();
    for (strip, out) in out.view_mut().row_chunks(STRIP).into_iter().enumerate() {
        let from = strip * STRIP;
        let (left, right) = (rows.columns(from..(from + STRIP).min(d)), rows.columns(from..d));
        gemm(out.columns(from..d), Onto::Add, 1.0, Factor::Transposed(left), Factor::Plain(right));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_whole() {
        for d in [1, 5, 100, 150, 250] {
            let x = Matrix::from_fn(700, d, |i, j| ((i * 7 + j * 3 + i * j) as f64 * 0.37).sin() + 10.0);
            let weights: Vec<f64> = (0..700).map(|i| f64::from(i % 3)).collect();
            for weights in [None, Some(&weights)] {
                let whole = Partial::of_weighted(&mut x.clone(), weights.map(Vec::as_slice));
                let (mut sum, mut wide) = (Absorber::new(d), WideAbsorber::new(d));
                for from in (0..700).step_by(256) {
                    let rows = from..(from + 256).min(700);
                    let entry = |i: usize, j: usize| if j < d { x[(from + i, j)] } else { 0.0 };
                    let mut piece = Matrix::from_fn(rows.len(), sum.width(), entry);
                    let weights = weights.map(|w| &w[rows.clone()]);
                    sum.absorb(&mut piece, weights);
                    wide.absorb(&mut x.view().rows(rows).to_matrix(), weights);
                }
                for sum in [sum.finish(), wide.finish()] {
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
}
