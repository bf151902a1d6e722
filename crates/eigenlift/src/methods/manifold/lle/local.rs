//! What each neighbourhood asks of the coordinates, as rows of B.

use super::LleVariant;
use crate::error::Result;
use crate::graph::Neighbors;
use crate::linalg::{orthonormal_columns, symmetric_eigen};
use crate::matrix::Matrix;
use crate::memory::joined;
use crate::model::barycentric_weights;
use crate::progress::Watch;
use rayon::prelude::*;

/// A row of B: columns and values.
type Row = Vec<(u32, f64)>;

/// Rows, their neighbours and what is asked.
pub(super) struct Local<'a> {
    pub(super) x: Matrix<f64>,
    pub(super) neighbors: &'a Neighbors,
    pub(super) n_components: usize,
    pub(super) ridge: f64,
    /// Below which hessian and modified count a number as zero.
    pub(super) tolerances: (f64, f64),
}

/// Directions of a neighbourhood: eigenpairs of the products of its rows, largest first.
struct Directions {
    values: Vec<f64>,
    vectors: Matrix<f64>,
}

impl Local<'_> {
    /// All rows of B, in the order of the rows they come from.
    pub(super) fn rows(&self, variant: LleVariant, watch: &Watch) -> Result<Vec<Row>> {
        if variant == LleVariant::Modified {
            return self.modified(watch);
        }
        let n = self.x.n_rows();
        let rows: Vec<Vec<Row>> = (0..n)
            .into_par_iter()
            .map(|i| {
                watch.check()?;
                match variant {
                    LleVariant::Hessian => self.hessian(i),
                    LleVariant::Ltsa => self.tangent(i),
                    LleVariant::Standard | LleVariant::Modified => self.standard(i),
                }
            })
            .collect::<Result<_>>()?;
        Ok(joined(rows))
    }

    /// Neighbours of row i as a matrix.
    fn near(&self, i: usize) -> Matrix<f64> {
        let samples = self.neighbors.row(i).0;
        Matrix::from_fn(samples.len(), self.x.n_cols(), |a, c| self.x[(samples[a] as usize, c)])
    }

    /// yᵢ − Σⱼ wⱼyⱼ with the weights that give the row itself.
    fn standard(&self, i: usize) -> Result<Vec<Row>> {
        let weights = barycentric_weights(self.x.row(i), &self.near(i), self.ridge)?;
        let mut row: Row = vec![(i as u32, 1.0)];
        row.extend(self.neighbors.row(i).0.iter().zip(&weights).map(|(j, w)| (*j, -w)));
        Ok(vec![row])
    }

    /// Eigenpairs of the products of the neighbours minus `from`.
    fn directions(&self, near: &Matrix<f64>, from: &[f64]) -> Result<Directions> {
        let m = near.n_rows();
        let minus = Matrix::from_fn(m, near.n_cols(), |a, c| near[(a, c)] - from[c]);
        let products =
            Matrix::from_fn(m, m, |a, b| minus.row(a).iter().zip(minus.row(b)).map(|(x, y)| x * y).sum());
        let (values, vectors) = symmetric_eigen(&products)?;
        Ok(Directions { values: values.into_iter().map(|v| v.max(0.0)).collect(), vectors })
    }

    fn mean(near: &Matrix<f64>) -> Vec<f64> {
        let m = near.n_rows().max(1) as f64;
        (0..near.n_cols()).map(|c| near.column(c).iter().sum::<f64>() / m).collect()
    }

    /// Rows of I − GGᵀ, with G the constant and the tangent coordinates: what is not linear in the tangent plane.
    fn tangent(&self, i: usize) -> Result<Vec<Row>> {
        let near = self.near(i);
        let (m, k) = (near.n_rows(), self.n_components);
        let found = self.directions(&near, &Self::mean(&near))?;
        let samples = self.neighbors.row(i).0;
        let constant = 1.0 / m as f64;
        let entry = |a: usize, b: usize| {
            let along: f64 = (0..k).map(|c| found.vectors[(a, c)] * found.vectors[(b, c)]).sum();
            f64::from(u8::from(a == b)) - constant - along
        };
        Ok((0..m).map(|a| (0..m).map(|b| (samples[b], entry(a, b))).collect()).collect())
    }

    /// Second derivatives in the tangent plane: products of tangent coordinates, made orthogonal to the constant and to the
    /// coordinates themselves. Their sums are then 0; one that is not, because the products depend on each other, is scaled to 1.
    fn hessian(&self, i: usize) -> Result<Vec<Row>> {
        let near = self.near(i);
        let (m, k) = (near.n_rows(), self.n_components);
        let found = self.directions(&near, &Self::mean(&near))?;
        let pairs: Vec<(usize, usize)> = (0..k).flat_map(|a| (a..k).map(move |b| (a, b))).collect();
        let columns = Matrix::from_fn(m, 1 + k + pairs.len(), |r, c| match c {
            0 => 1.0,
            c if c <= k => found.vectors[(r, c - 1)],
            c => {
                let (a, b) = pairs[c - 1 - k];
                found.vectors[(r, a)] * found.vectors[(r, b)]
            }
        });
        let q = orthonormal_columns(columns.view());
        let samples = self.neighbors.row(i).0;
        let row = |c: usize| {
            let column = q.column(c);
            let sum: f64 = column.iter().sum();
            let scale = if sum.abs() < self.tolerances.0 { 1.0 } else { sum };
            samples.iter().zip(&column).map(|(j, value)| (*j, value / scale)).collect::<Row>()
        };
        Ok((1 + k..q.n_cols()).map(row).collect())
    }

    /// Several weights for each row, as many as its neighbourhood has directions beyond the tangent plane.
    fn modified(&self, watch: &Watch) -> Result<Vec<Row>> {
        let (n, d, k) = (self.x.n_rows(), self.x.n_cols(), self.n_components);
        let found: Vec<Directions> = (0..n)
            .into_par_iter()
            .map(|i| {
                watch.check()?;
                self.directions(&self.near(i), self.x.row(i))
            })
            .collect::<Result<_>>()?;
        let rank = |m: usize| d.min(m);
        let mut ratios: Vec<f64> = found
            .iter()
            .map(|f| {
                let known = &f.values[..rank(f.values.len())];
                let (large, small) = known.split_at(k.min(known.len()));
                small.iter().sum::<f64>() / large.iter().sum::<f64>().max(f64::MIN_POSITIVE)
            })
            .collect();
        let eta = median(&mut ratios);
        let rows: Vec<Vec<Row>> = (0..n)
            .into_par_iter()
            .map(|i| watch.check().map(|()| self.weights_of(i, &found[i], eta)))
            .collect::<Result<_>>()?;
        Ok(joined(rows))
    }

    fn weights_of(&self, i: usize, found: &Directions, eta: f64) -> Vec<Row> {
        let samples = self.neighbors.row(i).0;
        let (m, rank) = (samples.len(), self.x.n_cols().min(samples.len()));
        let total: f64 = found.values[..rank].iter().sum();
        let ridge = (1e-3 * total).max(f64::MIN_POSITIVE);
        // Weights with a ridge, by the eigenpairs at hand.
        let mut regular = vec![0.0; m];
        for c in 0..m {
            let column = found.vectors.column(c);
            let value = if c < rank { found.values[c] + ridge } else { ridge };
            let share = column.iter().sum::<f64>() / value;
            regular.iter_mut().zip(&column).for_each(|(w, v)| *w += share * v);
        }
        let sum: f64 = regular.iter().sum();
        regular.iter_mut().for_each(|w| *w /= sum);
        // Directions that count as beyond the tangent plane: all after the first place where what is left is at most η of
        // what is before.
        let mut before = 0.0;
        let beyond = (0..rank.saturating_sub(1))
            .filter(|c| {
                before += found.values[*c];
                total / before - 1.0 < eta
            })
            .count();
        let s = beyond + m - rank;
        if s == 0 {
            let mut row: Row = vec![(i as u32, -1.0)];
            row.extend(samples.iter().copied().zip(regular));
            return vec![row];
        }
        let column = |c: usize| found.vectors.column(m - s + c);
        let sums: Vec<f64> = (0..s).map(|c| column(c).iter().sum()).collect();
        let alpha = sums.iter().map(|x| x * x).sum::<f64>().sqrt() / (s as f64).sqrt();
        let mut h: Vec<f64> = sums.iter().map(|sum| alpha - sum).collect();
        let length = h.iter().map(|x| x * x).sum::<f64>().sqrt();
        let scale = if length < self.tolerances.1 { 0.0 } else { 1.0 / length };
        h.iter_mut().for_each(|x| *x *= scale);
        let mut along = vec![0.0; m];
        for (c, weight) in h.iter().enumerate() {
            along.iter_mut().zip(column(c)).for_each(|(a, v)| *a += weight * v);
        }
        let row = |c: usize| {
            let own = column(c);
            let mut row: Row = vec![(i as u32, -1.0)];
            row.extend(
                (0..m).map(|a| (samples[a], own[a] - 2.0 * along[a] * h[c] + (1.0 - alpha) * regular[a])),
            );
            row
        };
        (0..s).map(row).collect()
    }
}

/// The median; the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => 0.0,
        _ if n % 2 == 1 => values[n / 2],
        _ => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}
