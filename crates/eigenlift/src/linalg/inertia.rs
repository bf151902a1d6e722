//! How many eigenvalues of a symmetric matrix exceed a number, by Sylvester's law of inertia.

use super::dense::{columns, workspace};
use crate::matrix::Matrix;
use faer::Par;
use faer::diag::Diag;
use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::lblt::factor::{cholesky_in_place, cholesky_in_place_scratch};

/// Rounding of the factorization in units of n·u·‖A‖_F: measured values are below 1.
const GROWTH: f64 = 8.0;

/// At most this many eigenvalues of `a` exceed `t`: the positive pivots of A − tI in an LBLᵀ factorization, with t lowered by
/// the rounding of the factorization. `None` when entries are not finite.
///
/// Only the lower triangle is read. Cost: n³/3 flops in one thread, one copy of the matrix.
pub(crate) fn most_above(a: &Matrix<f64>, t: f64) -> Option<usize> {
    let n = a.n_rows();
    let norm = a.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt() + t.abs() * (n as f64).sqrt();
    if !norm.is_finite() {
        return None;
    }
    let t = t - GROWTH * n as f64 * f64::EPSILON * norm;
    let mut factor = columns(n, n, |i, j| if i == j { a[(i, i)] - t } else { a[(i, j)] });
    let (mut beside, mut order, mut back) = (Diag::zeros(n), vec![0usize; n], vec![0usize; n]);
    let mut memory = workspace(cholesky_in_place_scratch::<usize, f64>(n, Par::Seq, Default::default()));
    cholesky_in_place(
        factor.as_mut(),
        beside.as_mut(),
        &mut order,
        &mut back,
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    let diagonal = |i: usize| factor[(i, i)];
    let (mut above, mut i) = (0, 0);
    while i < n {
        let (first, off) = (diagonal(i), beside[i]);
        if off == 0.0 || i + 1 == n {
            above += usize::from(first >= 0.0);
            i += 1;
            continue;
        }
        // A 2 × 2 pivot: the signs of its eigenvalues follow from determinant and trace.
        let (determinant, trace) = (first * diagonal(i + 1) - off * off, first + diagonal(i + 1));
        above += match (determinant < 0.0, trace >= 0.0) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        };
        i += 2;
    }
    Some(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::symmetric_eigenvalues;
    use crate::random::{Purpose, Stream};

    #[test]
    fn counts_agree_with_the_eigenvalues() {
        for (seed, n) in [(1, 1), (2, 2), (3, 7), (4, 40), (5, 130)] {
            let mut random = Stream::new(seed, Purpose::StartBlock);
            let half = Matrix::from_fn(n, n, |_, _| random.gaussian());
            let a = Matrix::from_fn(n, n, |i, j| half[(i, j)] + half[(j, i)]);
            let values = symmetric_eigenvalues(&a).unwrap();
            for pair in values.windows(2) {
                let t = 0.5 * (pair[0] + pair[1]);
                let above = values.iter().filter(|v| **v > t).count();
                assert_eq!(most_above(&a, t), Some(above), "n = {n}, t = {t}");
            }
            assert_eq!(most_above(&a, values[0] + 1.0), Some(0));
            assert_eq!(most_above(&a, values[n - 1] - 1.0), Some(n));
        }
    }

    // The count may be too large at an eigenvalue, never too small.
    #[test]
    fn an_eigenvalue_at_the_number_is_counted() {
        let a = Matrix::from_fn(3, 3, |i, j| if i == j { [4.0, 2.0, -1.0][i] } else { 0.0 });
        assert_eq!(most_above(&a, 2.0), Some(2));
        assert_eq!(most_above(&Matrix::from_fn(2, 2, |_, _| f64::NAN), 0.0), None);
    }
}
