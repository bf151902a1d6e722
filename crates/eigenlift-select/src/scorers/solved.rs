//! A positive definite system M whose set S of unknowns grows and shrinks, (S17), (S18).
//!
//! M holds products of the features' columns over the training rows. Beside it stands a table V with a row for each feature:
//! what the feature is on each row held out, and right-hand sides. With M_SS = LLᵀ, in the order in which features came,
//! L⁻¹V_S is all that predictions need, and one feature more adds one row to it.

mod held_out;
mod linear;
#[cfg(test)]
pub(super) mod tests;

pub(super) use held_out::{HeldOut, centred};
pub(super) use linear::{Linear, Rule};

use eigenlift::linalg::{Factor, Onto, gemm};
use eigenlift::matrix::Matrix;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of a product that one thread handles at a time.
const CHUNK_ROWS: usize = 64;
/// Features taken out until M is factored anew.
const RENEWAL: usize = 16;

/// Products of the features' columns.
enum Products {
    Whole(Matrix<f64>),
    /// The columns themselves, a row each, where these are fewer numbers.
    Columns(Matrix<f64>),
}

/// A·B by pieces of A's rows.
fn product(a: &Matrix<f64>, b: Factor<'_, f64>, n_cols: usize) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.n_rows(), n_cols);
    out.view_mut().row_chunks(CHUNK_ROWS).into_par_iter().enumerate().for_each(|(piece, out)| {
        let rows = piece * CHUNK_ROWS..((piece + 1) * CHUNK_ROWS).min(a.n_rows());
        gemm(out, Onto::Replace, 1.0, Factor::Plain(a.view().rows(rows)), b);
    });
    out
}

impl Products {
    /// Cost: 2·n·d² flops when d ≤ n, otherwise none yet.
    fn of(columns: Matrix<f64>) -> Self {
        let (d, n) = (columns.n_rows(), columns.n_cols());
        match d <= n {
            true => Self::Whole(product(&columns, Factor::Transposed(columns.view()), d)),
            false => Self::Columns(columns),
        }
    }

    fn row(&self, j: usize) -> Vec<f64> {
        match self {
            Self::Whole(products) => products.row(j).to_vec(),
            Self::Columns(columns) => {
                let own = columns.view().rows(j..j + 1);
                product(columns, Factor::Transposed(own), 1).into_vec()
            }
        }
    }
}

/// (next, row) ← (sine·next + cosine·row, cosine·next − sine·row).
fn rotate(next: &mut [f64], row: &mut [f64], (cosine, sine): (f64, f64)) {
    for (next, row) in next.iter_mut().zip(row) {
        (*next, *row) = (sine * *next + cosine * *row, cosine * *next - sine * *row);
    }
}

/// What does not change with the set.
struct Fixed {
    products: Products,
    /// That of M.
    diagonal: Vec<f64>,
    /// V, a row for each feature.
    carried: Matrix<f64>,
    n_rows: usize,
}

/// The system with its present unknowns.
pub(super) struct Solved {
    fixed: Arc<Fixed>,
    /// In the order in which they came.
    present: Vec<usize>,
    /// Those of them that are not combinations of earlier ones.
    basis: Vec<usize>,
    /// L⁻¹M, a row for each of the basis and a column for each feature. Those of the basis are Lᵀ.
    factor: Vec<Vec<f64>>,
    /// L⁻¹V, a row for each of the basis.
    whitened: Vec<Vec<f64>>,
    /// What the basis leaves of the diagonal: the pivot of each feature, were it next.
    pivots: Vec<f64>,
    /// What the basis leaves of V: V − (L⁻¹M)ᵀL⁻¹V.
    residual: Matrix<f64>,
    /// Features taken out since M was factored.
    n_removed: usize,
}

/// What a feature changes: predictions move by a product, or square, of entries of `row` times `weight`.
pub(super) struct Change<'a> {
    pub(super) row: &'a [f64],
    pub(super) weight: f64,
}

/// The present unknowns seen through A = M_SS⁻¹.
pub(super) struct Inverse {
    /// L⁻ᵀ.
    triangle: Matrix<f64>,
    /// AV_S.
    rows: Matrix<f64>,
    /// That of A.
    diagonal: Vec<f64>,
}

impl Solved {
    /// No unknowns yet. `columns` has a row for each feature with its n training rows, whose products are M but for the
    /// diagonal, which is given; `carried` is V.
    pub(super) fn new(columns: Matrix<f64>, diagonal: Vec<f64>, carried: Matrix<f64>) -> Self {
        let n_rows = columns.n_cols();
        Self::empty(Arc::new(Fixed { products: Products::of(columns), diagonal, carried, n_rows }))
    }

    fn empty(fixed: Arc<Fixed>) -> Self {
        let (pivots, residual) = (fixed.diagonal.clone(), fixed.carried.clone());
        let (present, basis, factor, whitened) = (vec![], vec![], vec![], vec![]);
        Self { fixed, present, basis, factor, whitened, pivots, residual, n_removed: 0 }
    }

    /// The pivot that feature j would have, unless that is rounding.
    ///
    /// Numerics: products over n rows are wrong by n·eps of the diagonal, the |S| squares taken off by |S|·eps of it; four
    /// times that leaves room for combinations with coefficients of a few units. Columns that differ from a combination of
    /// others by less than its root, 1e-6 of their length for a thousand rows, are taken for it.
    fn pivot(&self, j: usize) -> Option<f64> {
        let rounding = 4.0 * (self.fixed.n_rows + self.basis.len() + 1) as f64 * f64::EPSILON;
        (self.pivots[j] > rounding * self.fixed.diagonal[j]).then_some(self.pivots[j])
    }

    /// What feature j would change, `None` when it is a combination of those present.
    pub(super) fn with(&self, j: usize) -> Option<Change<'_>> {
        self.pivot(j).map(|pivot| Change { row: self.residual.row(j), weight: 1.0 / pivot })
    }

    pub(super) fn is_present(&self, j: usize) -> bool {
        self.present.contains(&j)
    }

    /// Adds feature j, (S17). Cost: (|S| + p)·d for d features and p columns of V, and a row of M if that is not kept.
    pub(super) fn add(&mut self, j: usize) {
        self.present.push(j);
        let Some(pivot) = self.pivot(j) else { return };
        let root = pivot.sqrt();
        let mut row = self.fixed.products.row(j);
        for earlier in &self.factor {
            let entry = earlier[j];
            row.iter_mut().zip(earlier).for_each(|(x, e)| *x -= entry * e);
        }
        row.iter_mut().for_each(|x| *x /= root);
        row[j] = root;
        let whitened: Vec<f64> = self.residual.row(j).iter().map(|x| x / root).collect();
        let width = whitened.len().max(1);
        let lines = self.residual.as_mut_slice().par_chunks_mut(width).with_min_len(CHUNK_ROWS);
        lines.zip(&row).for_each(|(left, entry)| {
            left.iter_mut().zip(&whitened).for_each(|(x, w)| *x -= entry * w);
        });
        self.pivots.iter_mut().zip(&row).for_each(|(pivot, entry)| *pivot -= entry * entry);
        self.basis.push(j);
        self.factor.push(row);
        self.whitened.push(whitened);
    }

    /// The same without feature j, from M anew. Cost: that of adding |S| features.
    pub(super) fn without(&self, j: usize) -> Self {
        let mut anew = Self::empty(self.fixed.clone());
        self.present.iter().filter(|k| **k != j).for_each(|k| anew.add(*k));
        anew
    }

    /// Takes feature j out by rotations of rows of L⁻¹[M V], which leave the products of its columns as they are: one row loses
    /// its entries at all other features of the basis and is dropped.
    ///
    /// Cost: (|S| + p)·d. Numerics: each time leaves a rounding; every 16th, and when a combination of others is present, M is
    /// factored anew.
    pub(super) fn remove(&mut self, j: usize) {
        let Some(at) = self.basis.iter().position(|k| *k == j) else {
            self.present.retain(|k| *k != j);
            return;
        };
        let combined = |k: &usize| self.fixed.diagonal[*k] > 0.0 && !self.basis.contains(k);
        if self.n_removed == RENEWAL || self.present.iter().any(combined) {
            *self = self.without(j);
            return;
        }
        let (mut row, mut whitened) = (self.factor.remove(at), self.whitened.remove(at));
        self.basis.remove(at);
        self.present.retain(|k| *k != j);
        let lines = self.basis.iter().zip(self.factor.iter_mut().zip(&mut self.whitened)).skip(at);
        for (k, (next, next_whitened)) in lines {
            let length = row[*k].hypot(next[*k]);
            let (cosine, sine) = (row[*k] / length, next[*k] / length);
            rotate(next, &mut row, (cosine, sine));
            rotate(next_whitened, &mut whitened, (cosine, sine));
            (next[*k], row[*k]) = (length, 0.0);
        }
        self.give_back(&row, &whitened);
        self.n_removed += 1;
    }

    /// Adds to what is left the part that a dropped row had taken.
    fn give_back(&mut self, row: &[f64], whitened: &[f64]) {
        let lines = self.residual.as_mut_slice().par_chunks_mut(whitened.len().max(1));
        lines.with_min_len(CHUNK_ROWS).zip(row).for_each(|(left, entry)| {
            left.iter_mut().zip(whitened).for_each(|(x, w)| *x += entry * w);
        });
        self.pivots.iter_mut().zip(row).for_each(|(pivot, entry)| *pivot += entry * entry);
    }

    /// What each of the basis adds, in turn.
    pub(super) fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.whitened.iter().map(|row| Change { row, weight: 1.0 })
    }

    /// Cost: |S|³/3 + |S|²·p.
    pub(super) fn inverse(&self) -> Inverse {
        let (s, p) = (self.basis.len(), self.residual.n_cols());
        let mut triangle = Matrix::zeros(s, s);
        for column in 0..s {
            triangle[(column, column)] = 1.0 / self.factor[column][self.basis[column]];
            for k in (0..column).rev() {
                let line = &self.factor[k];
                let sum: f64 = (k + 1..=column).map(|l| line[self.basis[l]] * triangle[(l, column)]).sum();
                triangle[(k, column)] = -sum / line[self.basis[k]];
            }
        }
        let whitened = Matrix::from_fn(s, p, |k, i| self.whitened[k][i]);
        let rows = product(&triangle, Factor::Plain(whitened.view()), p);
        let diagonal = (0..s).map(|k| triangle.row(k).iter().map(|t| t * t).sum()).collect();
        Inverse { triangle, rows, diagonal }
    }

    /// What taking feature j out changes, (S18); `None` when nothing.
    pub(super) fn taken_out<'a>(&self, j: usize, inverse: &'a Inverse) -> Option<Change<'a>> {
        let at = self.basis.iter().position(|k| *k == j)?;
        Some(Change { row: inverse.rows.row(at), weight: -1.0 / inverse.diagonal[at] })
    }

    /// Whether a feature that is a combination of others stops being one without feature j: its pivot is then b²/a, with b its
    /// coefficient at j and a the diagonal of A.
    pub(super) fn frees(&self, j: usize, inverse: &Inverse) -> bool {
        let Some(at) = self.basis.iter().position(|k| *k == j) else { return false };
        let combinations = self.present.iter().filter(|k| !self.basis.contains(k));
        combinations.into_iter().any(|other| {
            let entries = self.factor.iter().map(|line| line[*other]);
            let b: f64 = inverse.triangle.row(at).iter().zip(entries).map(|(t, e)| t * e).sum();
            let rounding = 4.0 * (self.fixed.n_rows + self.basis.len()) as f64 * f64::EPSILON;
            b * b / inverse.diagonal[at] > rounding * self.fixed.diagonal[*other]
        })
    }
}
