//! Weights that express a row by its neighbours.

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// Weights w, Σw = 1, for which ‖x − Σⱼ wⱼxⱼ‖² + r·‖w‖² is least, (G18): C w ∝ 1 with Cᵢⱼ = ⟨xᵢ − x, xⱼ − x⟩ and r = ridge·tr C
/// on its diagonal (ridge alone when C is zero).
///
/// Cost: m²d + m³/3 flops for m neighbours.
///
/// # Errors
/// When the products are not finite.
pub(crate) fn barycentric_weights(x: &[f64], near: &Matrix<f64>, ridge: f64) -> Result<Vec<f64>> {
    let m = near.n_rows();
    let differences = Matrix::from_fn(m, x.len(), |j, c| near[(j, c)] - x[c]);
    let mut products = Matrix::from_fn(m, m, |i, j| {
        differences.row(i).iter().zip(differences.row(j)).map(|(a, b)| a * b).sum()
    });
    let trace: f64 = (0..m).map(|i| products[(i, i)]).sum();
    let added = if trace > 0.0 { ridge * trace } else { ridge };
    (0..m).for_each(|i| products[(i, i)] += added);
    let mut weights = vec![1.0; m];
    solve_positive(&mut products, &mut weights)?;
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    Ok(weights)
}

/// x ← C⁻¹x by Cholesky's triangle, which replaces the lower half of C.
fn solve_positive(c: &mut Matrix<f64>, x: &mut [f64]) -> Result<()> {
    let m = x.len();
    for j in 0..m {
        for i in j..m {
            let sum: f64 = (0..j).map(|p| c[(i, p)] * c[(j, p)]).sum();
            let rest = c[(i, j)] - sum;
            // The ridge keeps pivots positive; one that is not means numbers beyond double precision.
            if i == j && !(rest > 0.0 && rest.is_finite()) {
                return Err(Error::data(
                    format!("a neighbourhood whose products leave {rest:.1e} as a pivot"),
                    "with a positive ridge they are positive definite",
                    "Raise the regularisation, or scale the data",
                ));
            }
            c[(i, j)] = if i == j { rest.sqrt() } else { rest / c[(j, j)] };
        }
    }
    for i in 0..m {
        let sum: f64 = (0..i).map(|p| c[(i, p)] * x[p]).sum();
        x[i] = (x[i] - sum) / c[(i, i)];
    }
    for i in (0..m).rev() {
        let sum: f64 = (i + 1..m).map(|p| c[(p, i)] * x[p]).sum();
        x[i] = (x[i] - sum) / c[(i, i)];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_two_points_has_equal_weights() {
        let near = Matrix::from_vec(vec![0.0, 0.0, 2.0, 0.0], 2, 2).unwrap();
        let half = barycentric_weights(&[1.0, 0.0], &near, 1e-3).unwrap();
        assert!(half.iter().all(|w| (w - 0.5).abs() < 1e-12), "{half:?}");
        let quarter = barycentric_weights(&[0.5, 0.0], &near, 1e-9).unwrap();
        assert!((quarter[0] - 0.75).abs() < 1e-7, "{quarter:?}");
    }

    #[test]
    fn equal_points_share_the_weight() {
        let near = Matrix::from_vec(vec![3.0, 3.0, 3.0], 3, 1).unwrap();
        let weights = barycentric_weights(&[3.0], &near, 1e-3).unwrap();
        assert!(weights.iter().all(|w| (w - 1.0 / 3.0).abs() < 1e-15));
    }
}
