//! How many eigenvalues exceed a number, proved from the solver's own basis, docs/theory (K39).

use crate::linalg::inertia::most_above;
use crate::linalg::inner;
use crate::matrix::{MatRef, Matrix};

/// Rounding of inner products of long vectors, in units of u‖W‖.
const PRODUCTS: f64 = 64.0;

/// What an orthonormal basis Q and its products W = AQ prove about all eigenvalues of A.
#[derive(Clone, Debug)]
pub(crate) struct BasisProducts {
    /// QᵀAQ.
    inside: Matrix<f64>,
    /// WᵀW − (QᵀW)ᵀQᵀW = BᵀB, for the part B of AQ outside of Q.
    across: Matrix<f64>,
    /// ‖W‖²_F.
    squares: f64,
    /// Relative rounding error of an entry of the matrix that made the products.
    unit_roundoff: f64,
}

/// Upper bounds of the sizes of a matrix, and how far products with it may be off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// ‖A‖_F at most.
    pub(crate) norm: f64,
    /// tr(A) at most, for a positive semi-definite matrix.
    pub(crate) trace: Option<f64>,
    /// ‖W − AQ‖_F at most.
    pub(crate) error: f64,
}

impl BasisProducts {
    /// From Q and W.
    ///
    /// Cost: 4·n·m² flops for m columns.
    pub(crate) fn new(q: MatRef<'_, f64>, w: MatRef<'_, f64>, unit_roundoff: f64) -> Self {
        let m = q.n_cols();
        let (along, squares) = (inner(q, w), inner(w, w));
        let inside = Matrix::from_fn(m, m, |i, j| 0.5 * (along[(i, j)] + along[(j, i)]));
        let seen = inner(along.view(), along.view());
        let across = Matrix::from_fn(m, m, |i, j| squares[(i, j)] - seen[(i, j)]);
        Self { inside, across, squares: (0..m).map(|i| squares[(i, i)]).sum(), unit_roundoff }
    }

    /// Relative rounding error of an entry of the matrix that made the products.
    pub(crate) fn unit_roundoff(&self) -> f64 {
        self.unit_roundoff
    }

    fn width(&self) -> usize {
        self.inside.n_rows()
    }

    /// ‖C‖ at most, for the part C of A that Q does not touch: ‖C‖²_F = ‖A‖²_F − ‖QᵀAQ‖²_F − 2‖B‖²_F, and for a positive
    /// semi-definite A also tr A − tr QᵀAQ.
    fn outside(&self, sizes: &Sizes) -> f64 {
        let u = f64::EPSILON / 2.0;
        let error = sizes.error + PRODUCTS * u * self.squares.sqrt();
        let diagonal = |a: &Matrix<f64>| (0..self.width()).map(|i| a[(i, i)]).sum::<f64>();
        let lowered = |norm: f64| (norm - error).max(0.0).powi(2);
        let inside = lowered(self.inside.as_slice().iter().map(|x| x * x).sum::<f64>().sqrt());
        let across = (diagonal(&self.across) - PRODUCTS * u * self.squares).max(0.0);
        let square = sizes.norm.powi(2) * (1.0 + 8.0 * u) - inside - 2.0 * lowered(across.sqrt());
        let by_norm = square.max(0.0).sqrt();
        let by_trace = sizes
            .trace
            .map(|trace| (trace - diagonal(&self.inside) + (self.width() as f64).sqrt() * error).max(0.0));
        by_trace.map_or(by_norm, |by_trace| by_trace.min(by_norm))
    }

    /// At most this many eigenvalues of A exceed `t`, if that can be shown.
    ///
    /// With c ≥ ‖C‖ and t > c, C − tI is negative definite, and by its Schur complement as many eigenvalues of A exceed t as of
    /// QᵀAQ + Bᵀ(tI − C)⁻¹B, at most as many as of QᵀAQ + BᵀB/(t − c).
    pub(crate) fn most_above(&self, t: f64, sizes: &Sizes) -> Option<usize> {
        let u = f64::EPSILON / 2.0;
        let c = self.outside(sizes);
        // Products that are off by ε move the blocks QᵀAQ and B, and so every eigenvalue, by at most √3·ε.
        let t = t - 2.0 * (sizes.error + PRODUCTS * u * self.squares.sqrt());
        if t.is_nan() || t <= c {
            return None;
        }
        let weight = 1.0 / (t - c);
        let reduced = Matrix::from_fn(self.width(), self.width(), |i, j| {
            self.inside[(i, j)] + weight * self.across[(i, j)]
        });
        most_above(&reduced, t - PRODUCTS * u * self.squares * weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{orthonormal_columns, symmetric_eigenvalues};
    use crate::random::{Purpose, Stream};

    /// A = V diag(λ) Vᵀ.
    fn matrix(values: &[f64], seed: u64) -> (Matrix<f64>, Matrix<f64>) {
        let n = values.len();
        let mut random = Stream::new(seed, Purpose::StartBlock);
        let v = orthonormal_columns(Matrix::from_fn(n, n, |_, _| random.gaussian()).view());
        let a = Matrix::from_fn(n, n, |i, j| (0..n).map(|l| v[(i, l)] * values[l] * v[(j, l)]).sum());
        (a, v)
    }

    fn product(a: &Matrix<f64>, q: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(a.n_rows(), q.n_cols(), |i, j| (0..a.n_rows()).map(|l| a[(i, l)] * q[(l, j)]).sum())
    }

    // Whatever the basis, counts are never below the truth; a basis of the leading vectors, slightly off, gives the truth.
    #[test]
    fn counts_are_never_too_small_and_sharp_for_a_good_basis() {
        for seed in 0..20u64 {
            let values: Vec<f64> = (0..40).map(|i| 10.0 * 0.7f64.powi(i)).collect();
            let (a, v) = matrix(&values, seed);
            let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            let sizes = Sizes { norm, trace: Some(values.iter().sum()), error: 1e-13 };
            let mut random = Stream::new(seed, Purpose::Masks);
            for (off, width) in [(1e-3, 12), (0.3, 12), (30.0, 6)] {
                let near = Matrix::from_fn(40, width, |i, j| v[(i, j)] + off * random.gaussian());
                let q = orthonormal_columns(near.view());
                let basis = BasisProducts::new(q.view(), product(&a, &q).view(), f64::EPSILON / 2.0);
                for t in [9.0, 4.0, 2.0, 1.0, 0.5] {
                    let truth = values.iter().filter(|x| **x > t).count();
                    let found = basis.most_above(t, &sizes);
                    assert!(found.is_none_or(|count| count >= truth), "{found:?} at {t}, {truth} exist");
                    if off < 1e-2 && t > 1.0 {
                        assert_eq!(found, Some(truth), "seed {seed}, t = {t}");
                    }
                }
            }
            assert!(symmetric_eigenvalues(&a).is_ok());
        }
    }
}
