//! The largest principal angle between two subspaces.

use crate::error::Result;
use crate::linalg::{
    Onto, column_means, combine, inner, orthonormal_columns, right_singular, shift_columns,
    symmetric_eigenvalues,
};
use crate::matrix::{MatRef, Matrix};

/// The largest principal angle between the spans of two blocks of orthonormal columns, in degrees, (K80):
/// cos θ = σ_min(QᵀP), sin θ = ‖P − QQᵀP‖₂. Spaces of different dimension are at a right angle.
///
/// Numerics: the sine decides below 45° and the cosine above, so that the angle is right to rounding everywhere.
/// Cost: 6·n·m² flops for m columns.
pub(crate) fn largest_angle(q: MatRef<'_, f64>, p: MatRef<'_, f64>) -> Result<f64> {
    if q.n_cols() != p.n_cols() {
        return Ok(90.0);
    }
    if q.n_cols() == 0 {
        return Ok(0.0);
    }
    let between = inner(q, p);
    let cosine = right_singular(between.view())?.0.last().copied().unwrap_or(0.0);
    if cosine < std::f64::consts::FRAC_1_SQRT_2 {
        return Ok(cosine.max(0.0).acos().to_degrees());
    }
    let mut rest = p.to_matrix();
    combine(rest.view_mut(), Onto::Add, -1.0, q, between.view());
    let squared = symmetric_eigenvalues(&inner(rest.view(), rest.view()))?;
    let sine = squared.first().copied().unwrap_or(0.0).max(0.0).sqrt();
    Ok(sine.min(1.0).asin().to_degrees())
}

/// Orthonormal columns of which the first m span the first m columns of `scores` less their means, for every m.
pub(crate) fn orthonormal_prefix(scores: &Matrix<f64>) -> Matrix<f64> {
    let mut centred = scores.clone();
    let shift: Vec<f64> = column_means(centred.view()).iter().map(|m| -m).collect();
    shift_columns(centred.view_mut(), &shift);
    orthonormal_columns(centred.view())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two planes in R⁴ at known angles: e₁, e₂ against e₁cos a + e₃sin a, e₂cos b + e₄sin b.
    #[test]
    fn angles_of_planes_are_right_to_rounding() {
        for (a, b) in [(0.0, 0.0), (1e-9, 1e-12), (0.3, 20.0), (44.0, 46.0), (89.999, 1.0), (90.0, 90.0)] {
            let (x, y) = (f64::to_radians(a), f64::to_radians(b));
            let q = Matrix::from_fn(4, 2, |i, j| f64::from(u8::from(i == j)));
            let p =
                Matrix::from_vec(vec![x.cos(), 0.0, 0.0, y.cos(), x.sin(), 0.0, 0.0, y.sin()], 4, 2).unwrap();
            let (there, back) =
                (largest_angle(q.view(), p.view()).unwrap(), largest_angle(p.view(), q.view()).unwrap());
            let expected = f64::max(a, b);
            // A few roundings of numbers of size 1, in degrees, and relative ones of the sine.
            let allowed = 1e-13 + 8.0 * f64::EPSILON * expected;
            assert!((there - expected).abs() <= allowed, "{a} {b}: {there}");
            assert!((back - expected).abs() <= allowed, "{a} {b}: {back}");
        }
    }

    #[test]
    fn spaces_of_different_dimension_are_at_a_right_angle() {
        let q = Matrix::from_fn(4, 2, |i, j| f64::from(u8::from(i == j)));
        assert_eq!(largest_angle(q.view(), q.view().first_columns(1)).unwrap(), 90.0);
        assert_eq!(largest_angle(q.view().first_columns(0), q.view().first_columns(0)).unwrap(), 0.0);
    }

    #[test]
    fn prefixes_span_what_they_should() {
        let scores = Matrix::from_fn(30, 3, |i, j| ((i * (j + 2) + j) as f64 * 0.7).sin() + j as f64);
        let q = orthonormal_prefix(&scores);
        for m in 1..=3 {
            let alone = orthonormal_prefix(&scores.view().first_columns(m).to_matrix());
            assert!(largest_angle(q.view().first_columns(m), alone.view()).unwrap() < 1e-12);
        }
        assert!(column_means(q.view()).iter().all(|mean| mean.abs() < 1e-15));
    }
}
