//! Orthonormal bases of tall blocks.

use crate::error::Result;
use crate::linalg::{Onto, column_norms, combine, inner, scale_columns, symmetric_eigen};
use crate::matrix::{MatRef, Matrix};

/// A column that keeps less than this share of its length after projection lay in the span of the bases.
const LOST: f64 = 1e-10;
/// Directions of the block whose squared weight is below this share of the largest are dependent on the others.
const DEPENDENT: f64 = 1e-13;

/// An orthonormal basis of the columns of `v`, orthogonal to all `bases` (each orthonormal). Dependent columns are dropped,
/// so the result may be narrower than `v`, or empty.
///
/// Two sweeps of {project, decorrelate}: every sweep projects on all bases anew.
/// Numerics: projecting once leaves components of size eps·‖v‖/‖rest‖; the second sweep removes them.
/// Cost: about 8·n·(width of the bases)·(width of v) flops.
pub(crate) fn orthonormalise(mut v: Matrix<f64>, bases: &[MatRef<'_, f64>]) -> Result<Matrix<f64>> {
    let unit =
        |norms: &[f64]| -> Vec<f64> { norms.iter().map(|x| if *x > 0.0 { 1.0 / x } else { 0.0 }).collect() };
    let norms = column_norms(v.view());
    scale_columns(v.view_mut(), &unit(&norms));
    for _ in 0..2 {
        project_out(&mut v, bases);
        let norms = column_norms(v.view());
        let kept: Vec<usize> = (0..norms.len()).filter(|j| norms[*j] > LOST).collect();
        if kept.is_empty() {
            return Ok(Matrix::zeros(v.n_rows(), 0));
        }
        // Columns scaled to length 1, dropped ones left out, then rotated and scaled to be orthonormal.
        let mut select = Matrix::zeros(norms.len(), kept.len());
        kept.iter().enumerate().for_each(|(at, j)| select[(*j, at)] = 1.0 / norms[*j]);
        v = times(&v, &select);
        let (weights, directions) = symmetric_eigen(&inner(v.view(), v.view()))?;
        let width = weights.iter().take_while(|w| **w > DEPENDENT * weights[0]).count();
        let rotate = Matrix::from_fn(kept.len(), width, |i, j| directions[(i, j)] / weights[j].sqrt());
        v = times(&v, &rotate);
    }
    Ok(v)
}

fn project_out(v: &mut Matrix<f64>, bases: &[MatRef<'_, f64>]) {
    for base in bases {
        let weights = inner(*base, v.view());
        combine(v.view_mut(), Onto::Add, -1.0, *base, weights.view());
    }
}

/// A·S for a tall A.
pub(crate) fn times(a: &Matrix<f64>, s: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.n_rows(), s.n_cols());
    combine(out.view_mut(), Onto::Replace, 1.0, a.view(), s.view());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_columns_are_dropped_and_the_rest_is_orthonormal() {
        let n = 700;
        let ones = Matrix::from_fn(n, 1, |_, _| (n as f64).sqrt().recip());
        let v = Matrix::from_fn(n, 6, |i, j| match j {
            0..=2 => ((i * (j + 2)) as f64 * 0.01).sin(),
            3 => 5.0,                                  // in the span of the ones
            4 => (i as f64 * 0.02).sin() * 1e-6 + 3.0, // mostly ones; the rest equals column 0
            _ => 0.0,
        });
        let q = orthonormalise(v, &[ones.view()]).unwrap();
        assert_eq!(q.n_cols(), 3);
        let gram = inner(q.view(), q.view());
        for i in 0..3 {
            for j in 0..3 {
                assert!((gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert!(inner(ones.view(), q.view()).as_slice().iter().all(|x| x.abs() < 1e-15));
    }
}
