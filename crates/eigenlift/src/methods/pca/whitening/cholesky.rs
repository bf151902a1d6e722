//! Whitening by an upper triangle.

use crate::error::{Error, Result};
use crate::linalg::{symmetric_eigen, triangle_of};
use crate::matrix::Matrix;
use crate::methods::pca::FittedPca;

/// The upper triangle W of Cholesky's whitening and its inverse.
#[derive(Clone, Debug)]
pub(crate) struct Triangular {
    pub(crate) forward: Matrix<f64>,
    pub(crate) back: Matrix<f64>,
}

impl Triangular {
    /// W and V = W⁻¹, upper triangular, with VVᵀ = C + ε, (P19): for A = (Λ + ε)^(1/2)Uᵀ with its columns in reverse order, A = QR,
    /// V is Rᵀ with rows and columns in reverse order.
    pub(super) fn of(pca: &FittedPca, ridge: f64) -> Result<Triangular> {
        let (r, d) = (pca.n_components(), pca.n_features());
        if r < d && ridge == 0.0 {
            return Err(Error::data(
                format!("rows of rank {r} in {d} columns"),
                "whitening by Cholesky needs as many directions with variance as columns, or a ridge",
                "Give a ridge, leave out columns that repeat others, or use zca",
            ));
        }
        let (u, variances) = (pca.components(), pca.variances());
        let rest = if r < d { complement(&u)? } else { Matrix::zeros(0, d) };
        let axis = |l: usize, j: usize| if l < r { u[(l, j)] } else { rest[(l - r, j)] };
        let root = |l: usize| (variances.get(l).copied().unwrap_or(0.0) + ridge).sqrt();
        let reversed = Matrix::from_fn(d, d, |l, j| root(l) * axis(l, d - 1 - j));
        let triangle = triangle_of(reversed.view());
        // Rows of R may be turned: the diagonal is made positive.
        let sign = |l: usize| if triangle[(l, l)] < 0.0 { -1.0 } else { 1.0 };
        let back = Matrix::from_fn(d, d, |i, j| {
            let (a, b) = (d - 1 - j, d - 1 - i);
            if j >= i { sign(a) * triangle[(a, b)] } else { 0.0 }
        });
        Ok(Self::from_inverse(back))
    }

    /// W for a V that is known.
    pub(crate) fn from_inverse(back: Matrix<f64>) -> Self {
        Self { forward: inverse_of_upper(&back), back }
    }
}

/// Orthonormal rows that span what the rows of U do not.
fn complement(u: &Matrix<f64>) -> Result<Matrix<f64>> {
    let (r, d) = (u.n_rows(), u.n_cols());
    let outside = Matrix::from_fn(d, d, |i, j| {
        f64::from(u8::from(i == j)) - (0..r).map(|l| u[(l, i)] * u[(l, j)]).sum::<f64>()
    });
    let (_, vectors) = symmetric_eigen(&outside)?;
    Ok(Matrix::from_fn(d - r, d, |l, j| vectors[(j, l)]))
}

/// The inverse of an upper triangle, row by row from the last. Cost: d³/3 flops.
fn inverse_of_upper(v: &Matrix<f64>) -> Matrix<f64> {
    let d = v.n_rows();
    let mut w = Matrix::zeros(d, d);
    for i in (0..d).rev() {
        let mut row = vec![0.0; d];
        row[i] = 1.0;
        for l in i + 1..d {
            let factor = v[(i, l)];
            row[l..].iter_mut().zip(&w.row(l)[l..]).for_each(|(x, y)| *x -= factor * y);
        }
        let pivot = v[(i, i)];
        w.view_mut().row_mut(i).iter_mut().zip(&row).for_each(|(x, y)| *x = y / pivot);
    }
    w
}
