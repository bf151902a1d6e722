//! The explicit feature map of a polynomial kernel.

use crate::data::Points;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::real::Real;

/// Largest number of features that a map may have.
const MOST_FEATURES: u128 = 1 << 20;

/// φ with ⟨φ(x), φ(y)⟩ = (γ⟨x,y⟩ + c₀)ᵖ: one feature √(p!/∏aᵢ! · γ^Σ · c₀^rest)·∏xᵢ^aᵢ for each monomial, (K32).
///
/// ```
/// use eigenlift::{kernel::PolynomialMap, matrix::Matrix};
/// let map = PolynomialMap::new(2, 2, 1.0, 1.0)?;
/// let x = Matrix::from_vec(vec![1.0, 2.0], 1, 2)?;
/// let y = Matrix::from_vec(vec![3.0, -1.0], 1, 2)?;
/// let (fx, fy) = (map.apply((&x).into()), map.apply((&y).into()));
/// let inner: f64 = fx.row(0).iter().zip(fy.row(0)).map(|(a, b)| a * b).sum();
/// assert!((inner - (1.0f64 * 3.0 - 2.0 + 1.0).powi(2)).abs() < 1e-12);
/// assert_eq!(map.dimension(), 6);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PolynomialMap {
    n_features: usize,
    monomials: Vec<(f64, Vec<(usize, i32)>)>,
}

impl PolynomialMap {
    /// The map for rows of `n_features` numbers. With `coef0` = 0 only monomials of full degree are there.
    ///
    /// Cost: C(d+p, p) features (C(d+p−1, p) when `coef0` = 0).
    ///
    /// # Errors
    /// When γ or c₀ is negative, so that no real map exists, or when there are more than 2²⁰ features.
    pub fn new(n_features: usize, degree: u32, gamma: f64, coef0: f64) -> Result<Self> {
        if !(gamma > 0.0 && gamma.is_finite() && coef0 >= 0.0 && coef0.is_finite()) {
            return Err(Error::kernel(
                format!("gamma {gamma} and coef0 {coef0}"),
                "a real feature map needs gamma > 0 and coef0 ≥ 0",
                "Choose parameters for which the polynomial kernel is positive semi-definite",
            ));
        }
        // The constant c₀ is one more variable whose value is 1.
        let variables = n_features + usize::from(coef0 > 0.0);
        let size = choose(variables as u128 + u128::from(degree) - 1, u128::from(degree));
        if n_features == 0 || size.is_none_or(|size| size > MOST_FEATURES) {
            return Err(Error::kernel(
                format!("a polynomial map of degree {degree} on {n_features} features"),
                format!("at most {MOST_FEATURES} features can be written out, and at least one is needed"),
                "Use the kernel instead of its map: it costs d operations whatever the degree",
            ));
        }
        let mut monomials = Vec::new();
        let mut exponents = vec![0u32; variables];
        list(degree, 0, &mut exponents, &mut |exponents| {
            let (features, constant) = exponents.split_at(n_features);
            let spare = constant.first().copied().unwrap_or(0);
            let mut weight = factorial(degree) / factorial(spare);
            features.iter().for_each(|a| weight /= factorial(*a));
            let scale = (weight * gamma.powi((degree - spare) as i32) * coef0.powi(spare as i32)).sqrt();
            let powers =
                features.iter().enumerate().filter(|(_, a)| **a > 0).map(|(i, a)| (i, *a as i32)).collect();
            monomials.push((scale, powers));
        });
        Ok(Self { n_features, monomials })
    }

    /// Number of features.
    pub fn dimension(&self) -> usize {
        self.monomials.len()
    }

    /// φ of each row; rows of another length than the map was made for give no rows.
    pub fn apply<T: Real>(&self, x: Points<'_, T>) -> Matrix<f64> {
        if x.n_cols() != self.n_features {
            return Matrix::zeros(0, self.dimension());
        }
        let rows = x.to_dense::<f64>();
        Matrix::from_fn(rows.n_rows(), self.dimension(), |i, j| {
            let (scale, powers) = &self.monomials[j];
            powers
                .iter()
                .fold(*scale, |product, (feature, power)| product * rows.row(i)[*feature].powi(*power))
        })
    }

    /// Jᵀv at the row y.
    pub(crate) fn pull_back(&self, y: &[f64], v: &[f64], out: &mut [f64]) {
        for ((scale, powers), v) in self.monomials.iter().zip(v) {
            for (at, (feature, power)) in powers.iter().enumerate() {
                let others = powers.iter().enumerate().filter(|(other, _)| *other != at);
                let rest = others.fold(scale * v, |product, (_, (f, p))| product * y[*f].powi(*p));
                out[*feature] += rest * f64::from(*power) * y[*feature].powi(power - 1);
            }
        }
    }

    /// The row whose features of degree 1 these are, if the map has them.
    pub(crate) fn linear_part(&self, features: &[f64]) -> Option<Vec<f64>> {
        let mut row = vec![f64::NAN; self.n_features];
        for ((scale, powers), value) in self.monomials.iter().zip(features) {
            if let [(feature, 1)] = powers[..] {
                row[feature] = value / scale;
            }
        }
        row.iter().all(|v| v.is_finite()).then_some(row)
    }
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

/// C(n, k), or `None` when it overflows.
fn choose(n: u128, k: u128) -> Option<u128> {
    (0..k).try_fold(1u128, |value, i| Some(value.checked_mul(n - i)? / (i + 1)))
}

/// Visits all exponent vectors of total `left` from position `at` on.
fn list(left: u32, at: usize, exponents: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
    if at + 1 == exponents.len() {
        exponents[at] = left;
        visit(exponents);
        return;
    }
    for power in (0..=left).rev() {
        exponents[at] = power;
        list(left - power, at + 1, exponents, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_of_features_are_the_kernel() {
        let x = Matrix::from_fn(5, 3, |i, j| ((i * 3 + j) as f64 * 0.7).sin());
        for (degree, gamma, coef0, size) in
            [(2, 1.0, 0.0, 6), (2, 1.0, 1.0, 10), (3, 0.4, 2.0, 20), (1, 2.0, 0.0, 3)]
        {
            let map = PolynomialMap::new(3, degree, gamma, coef0).unwrap();
            assert_eq!(map.dimension(), size);
            let features = map.apply((&x).into());
            for i in 0..5 {
                for j in 0..5 {
                    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                    let exact = (gamma * dot(x.row(i), x.row(j)) + coef0).powi(degree as i32);
                    assert!((dot(features.row(i), features.row(j)) - exact).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn impossible_maps_are_refused() {
        assert!(PolynomialMap::new(3, 2, 1.0, -1.0).unwrap_err().to_string().contains("coef0 ≥ 0"));
        assert!(
            PolynomialMap::new(1000, 6, 1.0, 1.0).unwrap_err().to_string().contains("Use the kernel instead")
        );
    }
}
