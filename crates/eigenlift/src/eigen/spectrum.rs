//! Order, signs, numerical rank and what to do with negative eigenvalues: one place for all solvers.

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use serde::{Deserialize, Serialize};

/// Magnitudes within this share of the largest count as equal when signs are fixed.
const SIGN_TIE: f64 = 1e-8;

/// What to do with negative eigenvalues, which a kernel that is no Mercer kernel has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Indefinite {
    /// Leave them out: the kernel is replaced by its positive part.
    #[default]
    Clip,
    /// Count them by magnitude: the kernel is replaced by its absolute value. Needs all eigenvalues.
    Flip,
    /// Refuse.
    Refuse,
}

impl std::str::FromStr for Indefinite {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "clip" => Ok(Self::Clip),
            "flip" => Ok(Self::Flip),
            "refuse" => Ok(Self::Refuse),
            _ => Err(Error::setting(
                format!("repair \"{text}\""),
                "it must be clip, flip or refuse",
                "clip leaves negative eigenvalues out, flip takes their magnitude, refuse stops",
            )),
        }
    }
}

impl std::fmt::Display for Indefinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Clip => "clip",
            Self::Flip => "flip",
            Self::Refuse => "refuse",
        })
    }
}

/// Positions of `values` in the order that counts: largest first, or largest magnitude first.
pub(crate) fn descending(values: &[f64], by_magnitude: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let key = |i: usize| if by_magnitude { values[i].abs() } else { values[i] };
    order.sort_by(|a, b| key(*b).total_cmp(&key(*a)));
    order
}

/// Eigenvalues of magnitude up to this are rounding: 4u(√n·λ₁ + ‖K‖_F) with u the unit roundoff of the entries.
///
/// Numerics: independent rounding errors of relative size u form a matrix of norm about 2u√n·max|Kᵢⱼ|; ‖K‖_F covers
/// kernels whose constant part, which centring removes, is much larger than λ₁.
pub fn rank_threshold(n: usize, largest: f64, frobenius_norm: f64, unit_roundoff: f64) -> f64 {
    4.0 * unit_roundoff * ((n as f64).sqrt() * largest.abs() + frobenius_norm)
}

/// Residuals up to this are rounding: 4u‖K‖_F/√n, the size of a product's rounding error when single errors do not conspire.
pub fn residual_floor(n: usize, frobenius_norm: f64, unit_roundoff: f64) -> f64 {
    4.0 * unit_roundoff * frobenius_norm / (n.max(1) as f64).sqrt()
}

/// Whether a pair has converged: its residual is within the tolerance or at the floor of rounding, or the eigenvalue is zero
/// up to rounding, so that the pair does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convergence {
    pub(crate) tolerance: f64,
    pub(crate) floor: f64,
    pub(crate) null: f64,
}

impl Convergence {
    pub(crate) fn new(n: usize, tolerance: f64, largest: f64, norm_bound: f64, unit_roundoff: f64) -> Self {
        let floor = residual_floor(n, norm_bound, unit_roundoff);
        Self { tolerance, floor, null: rank_threshold(n, largest, norm_bound, unit_roundoff) }
    }

    /// Whether the eigenvalue is zero up to rounding and the residual shows nothing else.
    pub(crate) fn is_null(&self, residual: f64, value: f64) -> bool {
        value.abs() <= self.null && residual <= self.null
    }

    /// Whether a residual of `share` of the tolerance is reached.
    pub(crate) fn holds(&self, residual: f64, value: f64, share: f64) -> bool {
        residual <= (share * self.tolerance * value.abs()).max(self.floor) || self.is_null(residual, value)
    }
}

/// Turns each column so that its entry of largest magnitude is positive. Among magnitudes that are equal up to 1e-8 the
/// first decides.
pub fn fix_signs(vectors: &mut Matrix<f64>) {
    let signs = column_signs(vectors);
    if signs.iter().any(|sign| *sign < 0.0) {
        for row in vectors.as_mut_slice().chunks_exact_mut(signs.len()) {
            row.iter_mut().zip(&signs).for_each(|(x, sign)| *x *= sign);
        }
    }
}

/// What [`fix_signs`] multiplies each column by.
pub(crate) fn column_signs(vectors: &Matrix<f64>) -> Vec<f64> {
    let k = vectors.n_cols();
    if k == 0 {
        return Vec::new();
    }
    // Row by row, as the numbers lie in memory.
    let mut largest = vec![0.0f64; k];
    for row in vectors.as_slice().chunks_exact(k) {
        largest.iter_mut().zip(row).for_each(|(l, x)| *l = l.max(x.abs()));
    }
    let mut signs = vec![0.0; k];
    for row in vectors.as_slice().chunks_exact(k) {
        for ((sign, x), largest) in signs.iter_mut().zip(row).zip(&largest) {
            if *sign == 0.0 && x.abs() >= (1.0 - SIGN_TIE) * largest {
                *sign = if *x < 0.0 { -1.0 } else { 1.0 };
            }
        }
        if signs.iter().all(|sign| *sign != 0.0) {
            break;
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_entry_becomes_positive_and_the_first_of_equals_decides() {
        let mut v = Matrix::from_vec(vec![-0.5, 0.1, 0.5 + 1e-12, -0.9, 0.2, 0.3], 3, 2).unwrap();
        fix_signs(&mut v);
        assert_eq!(v.column(0), [0.5, -0.5 - 1e-12, -0.2]);
        assert_eq!(v.column(1), [-0.1, 0.9, -0.3]);
    }

    #[test]
    fn repair_round_trips_as_text() {
        for repair in [Indefinite::Clip, Indefinite::Flip, Indefinite::Refuse] {
            assert_eq!(repair.to_string().parse::<Indefinite>().unwrap(), repair);
        }
        assert!("shift".parse::<Indefinite>().unwrap_err().to_string().contains("clip, flip or refuse"));
    }
}
