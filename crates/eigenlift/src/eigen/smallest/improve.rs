//! What turns residuals into directions along which the smallest eigenpairs lie.

use crate::error::Result;
use crate::linalg::sparse::SparseCholesky;
use crate::matrix::Matrix;
use crate::operator::{LinearOperator, SparseSymmetric};
use crate::progress::Watch;
use rayon::prelude::*;

/// Steps of Chebyshev's iteration.
const STEPS: usize = 128;
/// Numbers that one thread handles at a time.
const PIECE: usize = 1 << 14;

/// Amplifies the components of a block along the lower end of the spectrum.
pub(super) trait Improve {
    /// The improved block.
    fn improve(&self, block: Matrix<f64>) -> Result<Matrix<f64>>;

    /// Passes over A that an improvement takes.
    fn passes(&self) -> usize;

    /// Steps after which the search gives up.
    fn patience(&self) -> usize;

    /// What to do when it has given up.
    fn advice(&self) -> &'static str;
}

/// (A + σI)⁻¹.
pub(super) struct Inverse(pub(super) SparseCholesky);

impl Improve for Inverse {
    fn improve(&self, mut block: Matrix<f64>) -> Result<Matrix<f64>> {
        self.0.solve_in_place(block.view_mut());
        Ok(block)
    }

    fn passes(&self) -> usize {
        0
    }

    fn patience(&self) -> usize {
        60
    }

    fn advice(&self) -> &'static str {
        "Loosen the tolerance, ask for fewer components, or check that deflated vectors are eigenvectors"
    }
}

/// As near to A⁻¹ as a polynomial of degree 127 comes on [a, ‖A‖], a = (2/128)²‖A‖: Chebyshev's iteration from zero.
pub(super) struct Filter<'a> {
    pub(super) matrix: &'a SparseSymmetric,
    pub(super) norm: f64,
    pub(super) watch: &'a Watch,
}

impl Improve for Filter<'_> {
    /// x ← x + d, r ← r − Ad, d ← ρ'ρd + (2ρ'/e)r with ρ' = 1/(2c/e − ρ), c and e centre and half width of the interval.
    ///
    /// Numerics: 1 − xq(x) is at most 1/cosh 4 on the interval and below 1 left of it, so q stays below 128²/‖A‖.
    fn improve(&self, block: Matrix<f64>) -> Result<Matrix<f64>> {
        let lowest = (2.0 / STEPS as f64).powi(2) * self.norm;
        let (centre, half) = (0.5 * (self.norm + lowest), 0.5 * (self.norm - lowest));
        if half <= 0.0 {
            return Ok(block);
        }
        let (n, width) = (block.n_rows(), block.n_cols());
        let (mut x, mut product) = (Matrix::zeros(n, width), Matrix::zeros(n, width));
        let (mut r, mut d) = (block.clone(), block);
        d.as_mut_slice().iter_mut().for_each(|d| *d /= centre);
        let mut before = half / centre;
        for _ in 0..STEPS {
            self.matrix.apply(d.view(), product.view_mut(), self.watch)?;
            let rho = (2.0 * centre / half - before).recip();
            let (keep, add) = (rho * before, 2.0 * rho / half);
            let sums = x.as_mut_slice().par_chunks_mut(PIECE).zip(r.as_mut_slice().par_chunks_mut(PIECE));
            let steps = d.as_mut_slice().par_chunks_mut(PIECE).zip(product.as_slice().par_chunks(PIECE));
            sums.zip(steps).for_each(|((x, r), (d, ad))| {
                let sums = x.iter_mut().zip(r);
                sums.zip(d.iter_mut().zip(ad)).for_each(|((x, r), (d, ad))| {
                    *x += *d;
                    *r -= ad;
                    *d = keep * *d + add * *r;
                });
            });
            before = rho;
        }
        Ok(x)
    }

    fn passes(&self) -> usize {
        STEPS
    }

    fn patience(&self) -> usize {
        200
    }

    fn advice(&self) -> &'static str {
        "Allow more memory, so that the matrix can be factored, loosen the tolerance or ask for fewer components"
    }
}
