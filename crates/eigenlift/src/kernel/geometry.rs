//! Distances and angles between samples in feature space.

use super::Kernel;
use crate::data::Points;
use crate::matrix::Matrix;
use crate::real::Real;

impl Kernel {
    /// ‖φ(xᵢ) − φ(yⱼ)‖ = √(k(x,x) − 2k(x,y) + k(y,y)), (K27). For a Gaussian that is √(2 − 2k).
    ///
    /// Numerics: what rounding makes negative under the root counts as 0.
    pub fn feature_distances<T: Real>(&self, x: Points<'_, T>, y: Points<'_, T>) -> Matrix<f64> {
        let (own_x, own_y) = (self.own(x), self.own(y));
        let cross = self.matrix(x, y);
        Matrix::from_fn(cross.n_rows(), cross.n_cols(), |i, j| {
            (own_x[i] - 2.0 * cross[(i, j)] + own_y[j]).max(0.0).sqrt()
        })
    }

    /// Angle between φ(xᵢ) and φ(yⱼ) in degrees: cos θ = k(x,y)/√(k(x,x)·k(y,y)), (K28). For a Gaussian the cosine is k.
    ///
    /// The angle with a point that lies at the origin of feature space is NaN.
    pub fn feature_angles<T: Real>(&self, x: Points<'_, T>, y: Points<'_, T>) -> Matrix<f64> {
        let (own_x, own_y) = (self.own(x), self.own(y));
        let cross = self.matrix(x, y);
        Matrix::from_fn(cross.n_rows(), cross.n_cols(), |i, j| {
            (cross[(i, j)] / (own_x[i] * own_y[j]).sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
        })
    }

    /// k(xᵢ, xᵢ).
    fn own<T: Real>(&self, x: Points<'_, T>) -> Vec<f64> {
        let mut values = vec![0.0; x.n_rows()];
        self.diagonal(x, &mut values);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_gives_root_two_minus_two_k_and_an_angle_of_cosine_k() {
        let kernel = Kernel::new(&"rbf(gamma=0.3)".parse().unwrap(), 2).unwrap();
        let x = Matrix::from_fn(4, 2, |i, j| (i as f64 - j as f64) * 0.8);
        let (k, distance, angle) = (
            kernel.matrix((&x).into(), (&x).into()),
            kernel.feature_distances((&x).into(), (&x).into()),
            kernel.feature_angles((&x).into(), (&x).into()),
        );
        for i in 0..4 {
            for j in 0..4 {
                assert!((distance[(i, j)].powi(2) - (2.0 - 2.0 * k[(i, j)])).abs() < 1e-15);
                assert!((angle[(i, j)].to_radians().cos() - k[(i, j)]).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn a_linear_kernel_gives_the_ordinary_geometry() {
        let kernel = Kernel::new(&"linear".parse().unwrap(), 2).unwrap();
        let x = Matrix::from_vec(vec![3.0, 0.0, 0.0, 4.0], 2, 2).unwrap();
        assert_eq!(kernel.feature_distances((&x).into(), (&x).into())[(0, 1)], 5.0);
        assert_eq!(kernel.feature_angles((&x).into(), (&x).into())[(0, 1)], 90.0);
    }
}
