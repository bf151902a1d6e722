//! The inverse of second derivatives, with one feature more or less, (S21).

use super::loss::{Loss, Point, as_matrix, times};
use eigenlift::linalg::{Factor, Onto, gemm};
use eigenlift::matrix::Matrix;
use rayon::prelude::*;

/// Most unknowns for which second derivatives are kept as they are.
const MOST_UNKNOWNS: usize = 1024;
/// Most outputs for that. Why: second derivatives with one feature more cost the square of it on each row.
const MOST_OUTPUTS: usize = 24;

/// A matrix near the inverse second derivatives: their own, or that of Böhning and Lindsay's bound ½XᵀX (¼XᵀX for two classes),
/// the same for each output.
#[derive(Clone)]
pub(super) struct Metric {
    inverse: Matrix<f64>,
    /// Unknowns of a feature in it: each output's, or 1 when outputs are alike.
    block: usize,
}

/// Second derivatives that go with a column, by the columns of the design and by itself.
struct Border {
    by_design: Matrix<f64>,
    by_itself: Matrix<f64>,
}

impl Metric {
    /// Cost: n·(pK)²/2 + (pK)³ flops for p columns and K outputs.
    pub(super) fn of(loss: &Loss, design: &Matrix<f64>, point: &Point) -> Self {
        let (n, p) = (design.n_rows(), design.n_cols());
        let block = block(loss, p);
        let pairs: Vec<(usize, usize)> = (0..block).flat_map(|k| (k..block).map(move |l| (k, l))).collect();
        let product = |pair: &(usize, usize)| {
            let mut weighed = design.clone();
            let mut view = weighed.view_mut();
            for i in 0..n {
                let weight = loss.c * curvature(loss, point, (i, block), *pair);
                view.row_mut(i).iter_mut().for_each(|x| *x *= weight);
            }
            let mut out = Matrix::zeros(p, p);
            gemm(
                out.view_mut(),
                Onto::Replace,
                1.0,
                Factor::Transposed(design.view()),
                Factor::Plain(weighed.view()),
            );
            out
        };
        let products: Vec<Matrix<f64>> = pairs.par_iter().map(product).collect();
        let mut whole = Matrix::zeros(p * block, p * block);
        for ((k, l), product) in pairs.iter().zip(&products) {
            for a in 0..p {
                for b in 0..p {
                    whole[(a * block + k, b * block + l)] = product[(a, b)];
                    whole[(b * block + l, a * block + k)] = product[(a, b)];
                }
            }
        }
        (block..p * block).for_each(|at| whole[(at, at)] += 1.0);
        // Why: the same number more in all intercepts changes nothing, so any positive entry there will do.
        let gauge = loss.c * n as f64 / (block * block).max(1) as f64;
        if block > 1 {
            (0..block * block).for_each(|at| whole[(at / block, at % block)] += gauge);
        }
        Self { inverse: inverse(&whole), block }
    }

    /// Whether it would change with the point.
    pub(super) fn is_renewable(&self, loss: &Loss) -> bool {
        self.block == loss.width
    }

    /// A times a vector of unknowns.
    pub(super) fn apply(&self, vector: &[f64]) -> Vec<f64> {
        let size = self.inverse.n_rows();
        times(Factor::Plain(self.inverse.view()), size, as_matrix(vector, size))
    }

    /// With one column more, by the inverse of a bordered matrix. `None` when outputs were told apart and can no longer be.
    ///
    /// Cost: n·p·K² + (pK)²·K flops.
    pub(super) fn with(
        &self,
        loss: &Loss,
        design: &Matrix<f64>,
        (point, column): (&Point, &[f64]),
    ) -> Option<Self> {
        let (b, q) = (self.block, self.inverse.n_rows());
        if block(loss, design.n_cols() + 1) != b {
            return None;
        }
        let border = Border::of(loss, design, (point, b), column);
        let mut turned = Matrix::zeros(q, b);
        let (own, by_design) = (Factor::Plain(self.inverse.view()), border.by_design.view());
        gemm(turned.view_mut(), Onto::Replace, 1.0, own, Factor::Plain(by_design));
        let mut left = border.by_itself;
        gemm(left.view_mut(), Onto::Add, -1.0, Factor::Transposed(by_design), Factor::Plain(turned.view()));
        let corner = inverse(&left);
        let mut side = Matrix::zeros(q, b);
        gemm(
            side.view_mut(),
            Onto::Replace,
            -1.0,
            Factor::Plain(turned.view()),
            Factor::Plain(corner.view()),
        );
        let mut whole = Matrix::zeros(q + b, q + b);
        whole.view_mut().columns(0..q).row_chunks(q.max(1)).remove(0).copy_from(self.inverse.view());
        let first = whole.view_mut().columns(0..q).row_chunks(q.max(1)).remove(0);
        gemm(first, Onto::Add, -1.0, Factor::Plain(side.view()), Factor::Transposed(turned.view()));
        for k in 0..b {
            for a in 0..q {
                (whole[(a, q + k)], whole[(q + k, a)]) = (side[(a, k)], side[(a, k)]);
            }
            (0..b).for_each(|l| whole[(q + k, q + l)] = corner[(k, l)]);
        }
        Some(Self { inverse: whole, block: b })
    }

    /// Without a column of the design, by the block form of (S18). Cost: (pK)²·K flops.
    pub(super) fn without(&self, column: usize) -> Self {
        let (b, q) = (self.block, self.inverse.n_rows());
        let own = column * b..(column + 1) * b;
        let corner = inverse(&Matrix::from_fn(b, b, |k, l| self.inverse[(own.start + k, own.start + l)]));
        let sides = self.inverse.view().columns(own.clone());
        let mut turned = Matrix::zeros(q, b);
        gemm(turned.view_mut(), Onto::Replace, 1.0, Factor::Plain(sides), Factor::Plain(corner.view()));
        let mut whole = self.inverse.clone();
        gemm(whole.view_mut(), Onto::Add, -1.0, Factor::Plain(turned.view()), Factor::Transposed(sides));
        let place = |at: usize| if at < own.start { at } else { at + b };
        let inverse = Matrix::from_fn(q - b, q - b, |i, j| whole[(place(i), place(j))]);
        Self { inverse, block: b }
    }
}

impl Border {
    fn of(loss: &Loss, design: &Matrix<f64>, (point, b): (&Point, usize), column: &[f64]) -> Self {
        let (n, p) = (design.n_rows(), design.n_cols());
        let pairs: Vec<(usize, usize)> = (0..b).flat_map(|k| (k..b).map(move |l| (k, l))).collect();
        let mut weighed = Matrix::zeros(n, pairs.len());
        let mut view = weighed.view_mut();
        for (i, x) in column.iter().enumerate() {
            let entries = view.row_mut(i).iter_mut().zip(&pairs);
            entries.for_each(|(entry, pair)| *entry = loss.c * curvature(loss, point, (i, b), *pair) * x);
        }
        let products = times(Factor::Transposed(design.view()), p, weighed.view());
        let own = times(Factor::Transposed(as_matrix(column, n)), 1, weighed.view());
        let mut by_design = Matrix::zeros(p * b, b);
        let mut by_itself = Matrix::zeros(b, b);
        for (at, (k, l)) in pairs.iter().enumerate() {
            for a in 0..p {
                by_design[(a * b + k, *l)] = products[a * pairs.len() + at];
                by_design[(a * b + l, *k)] = products[a * pairs.len() + at];
            }
            let weight = if k == l { 1.0 } else { 0.0 };
            by_itself[(*k, *l)] = own[at] + weight;
            by_itself[(*l, *k)] = own[at] + weight;
        }
        Self { by_design, by_itself }
    }
}

/// Unknowns of a feature that are kept apart with p columns.
fn block(loss: &Loss, p: usize) -> usize {
    if loss.width <= MOST_OUTPUTS && loss.width * p <= MOST_UNKNOWNS { loss.width } else { 1 }
}

/// Second derivatives of row i, or their bound.
fn curvature(loss: &Loss, point: &Point, (i, block): (usize, usize), pair: (usize, usize)) -> f64 {
    match (block == loss.width, loss.width) {
        (true, _) => loss.curvature(point, i, pair),
        (false, 1) => 0.25,
        (false, _) => 0.5,
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a positive definite matrix, by Cholesky's triangle. A pivot lost to rounding is replaced by the diagonal, which
/// shortens steps in that direction.
fn inverse(a: &Matrix<f64>) -> Matrix<f64> {
    let n = a.n_rows();
    let mut triangle: Vec<Vec<f64>> = Vec::with_capacity(n);
    let mut inverse = Matrix::zeros(n, n);
    for i in 0..n {
        let mut row: Vec<f64> = Vec::with_capacity(i + 1);
        for (j, earlier) in triangle.iter().enumerate() {
            row.push((a[(i, j)] - dot(&row, &earlier[..j])) / earlier[j]);
        }
        let pivot = a[(i, i)] - dot(&row, &row);
        let sound = pivot > n as f64 * f64::EPSILON * a[(i, i)];
        let root = if sound { pivot } else { a[(i, i)].max(f64::MIN_POSITIVE) }.sqrt();
        let (above, from) = inverse.as_mut_slice().split_at_mut(i * n);
        for (earlier, entry) in above.chunks_exact(n).zip(&row) {
            from[..n].iter_mut().zip(earlier).for_each(|(x, e)| *x -= entry * e);
        }
        from[i] = 1.0;
        from[..n].iter_mut().for_each(|x| *x /= root);
        row.push(root);
        triangle.push(row);
    }
    let mut out = Matrix::zeros(n, n);
    gemm(
        out.view_mut(),
        Onto::Replace,
        1.0,
        Factor::Transposed(inverse.view()),
        Factor::Plain(inverse.view()),
    );
    out
}
