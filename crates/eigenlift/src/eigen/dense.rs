//! All eigenpairs of a small matrix, directly.

use super::spectrum::descending;
use super::{EigenPairs, Eigensolver, SolveOptions, SolveStats};
use crate::error::Result;
use crate::linalg::{column_norms, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};
use crate::operator::LinearOperator;

/// Forms the matrix and decomposes it. Cost: n² numbers and about 9n³ flops in one thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dense {
    /// Take the largest magnitudes instead of the largest values.
    pub by_magnitude: bool,
}

impl Eigensolver for Dense {
    fn largest(&self, operator: &dyn LinearOperator, k: usize, how: &SolveOptions<'_>) -> Result<EigenPairs> {
        let n = operator.n_rows();
        let matrix = operator.to_dense(how.watch)?;
        how.watch.step("dense eigensolver", 0, 1)?;
        let (all, vectors) = symmetric_eigen(&matrix)?;
        drop(matrix);
        let mut order = descending(&all, self.by_magnitude);
        if let Some(known) = how.deflate {
            leave_out(&mut order, &vectors, known);
        }
        let next = order.get(k).map(|j| all[*j]);
        order.truncate(k);
        let values: Vec<f64> = order.iter().map(|j| all[*j]).collect();
        let vectors = Matrix::from_fn(n, order.len(), |i, j| vectors[(i, order[j])]);
        let mut stats = SolveStats { iterations: 1, passes: 1, products: n };
        let residuals = if how.verify {
            stats = SolveStats { iterations: 1, passes: 2, products: n + order.len() };
            residual_norms(operator, &vectors, &values, how)?
        } else {
            vec![operator.unit_roundoff() * how.norm_bound; order.len()]
        };
        how.watch.step("dense eigensolver", 1, 1)?;
        Ok(EigenPairs { values, vectors, residuals, next, all: Some(all), basis: None, stats })
    }
}

/// Removes from `order` the eigenvectors that are the known ones: for each, the one that points most along it.
fn leave_out(order: &mut Vec<usize>, vectors: &Matrix<f64>, known: MatRef<'_, f64>) {
    for column in 0..known.n_cols() {
        let along = |j: usize| -> f64 {
            (0..known.n_rows()).map(|i| vectors[(i, j)] * known.row(i)[column]).sum::<f64>().abs()
        };
        let best = (0..order.len()).map(|at| (at, along(order[at]))).max_by(|a, b| a.1.total_cmp(&b.1));
        // Why one half: in a null space of several dimensions the known vector may be spread over eigenvectors; those
        // have eigenvalue zero and are dropped by their size.
        if let Some((at, _)) = best.filter(|(_, share)| *share > 0.5) {
            order.remove(at);
        }
    }
}

/// ‖Av − θv‖ for each pair, from a fresh product.
fn residual_norms(
    operator: &dyn LinearOperator,
    vectors: &Matrix<f64>,
    values: &[f64],
    how: &SolveOptions<'_>,
) -> Result<Vec<f64>> {
    let mut product = Matrix::zeros(vectors.n_rows(), vectors.n_cols());
    operator.apply(vectors.view(), product.view_mut(), how.watch)?;
    for i in 0..vectors.n_rows() {
        let row = vectors.row(i);
        product
            .view_mut()
            .row_mut(i)
            .iter_mut()
            .zip(row)
            .zip(values)
            .for_each(|((p, v), value)| *p -= value * v);
    }
    Ok(column_norms(product.view()))
}
