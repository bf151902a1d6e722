//! The best eigenpairs that a block and its product hold.

use super::orthonormal::times;
use crate::error::Result;
use crate::linalg::{column_norms, inner, scale_columns, symmetric_eigen};
use crate::matrix::Matrix;

/// Eigenpairs from a block, with the products and residual norms that belong to them.
pub(crate) struct Refined {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Matrix<f64>,
    pub(crate) product: Matrix<f64>,
    pub(crate) residuals: Vec<f64>,
}

/// From orthonormal U and W = AU: UᵀW = S·diag(θ)·Sᵀ, vectors U·S, residuals W·S − U·S·diag(θ), (K21).
///
/// Cost: about 6·n·k² flops.
pub(crate) fn rayleigh_ritz(u: &Matrix<f64>, w: &Matrix<f64>) -> Result<Refined> {
    let projected = inner(u.view(), w.view());
    let k = projected.n_rows();
    let symmetric = Matrix::from_fn(k, k, |i, j| 0.5 * (projected[(i, j)] + projected[(j, i)]));
    let (values, rotation) = symmetric_eigen(&symmetric)?;
    let (vectors, product) = (times(u, &rotation), times(w, &rotation));
    let mut residual = vectors.clone();
    scale_columns(residual.view_mut(), &values);
    residual.as_mut_slice().iter_mut().zip(product.as_slice()).for_each(|(r, p)| *r = p - *r);
    let residuals = column_norms(residual.view());
    Ok(Refined { values, vectors, product, residuals })
}
