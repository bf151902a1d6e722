//! Rules that ask for a share of the variance or a size of the error: the spectrum alone decides.

use crate::eigen::rank_threshold;

/// What is known of the eigenvalues λ of a covariance matrix (divided by n, not n − 1).
#[derive(Clone, Copy, Debug)]
pub struct Spectrum<'a> {
    /// The eigenvalues known, largest first.
    pub values: &'a [f64],
    /// Number of rows n.
    pub n_samples: usize,
    /// Number of columns d.
    pub n_features: usize,
    /// Trace of the covariance matrix: the sum of all eigenvalues, known or not.
    pub total: f64,
}

impl Spectrum<'_> {
    /// How many eigenvalues n centred rows of d columns can have that are not zero: min(n − 1, d).
    pub fn most(&self) -> usize {
        self.n_samples.saturating_sub(1).min(self.n_features)
    }

    /// Whether all min(n − 1, d) eigenvalues are known.
    pub fn is_whole(&self) -> bool {
        self.values.len() >= self.most()
    }

    /// Eigenvalues up to this are rounding.
    pub(super) fn rounding(&self) -> f64 {
        let largest = self.values.first().copied().unwrap_or(0.0);
        if largest <= 0.0 {
            return 0.0;
        }
        // Numerics: relative to the largest, so that squares do not overflow.
        let norm = self.values.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
        largest * rank_threshold(self.n_features, 1.0, norm, f64::EPSILON)
    }

    /// J(m) = total − Σ_{j≤m} λ_j for m = 0, 1, … as far as eigenvalues are known; not below 0.
    pub fn residuals(&self) -> Vec<f64> {
        let mut left = self.total;
        let after = self.values.iter().map(|value| {
            left -= value;
            left.max(0.0)
        });
        std::iter::once(self.total.max(0.0)).chain(after).collect()
    }

    /// Rounding of a sum of eigenvalues against the trace.
    ///
    /// Numerics: a sum of k terms is off by at most k·eps·total, the trace by about as much again.
    fn slack(&self) -> f64 {
        4.0 * (self.values.len() + 16) as f64 * f64::EPSILON * self.total.abs()
    }
}

/// The smallest m with Σ_{j≤m} λ_j ≥ share·total; `None` when the known eigenvalues do not reach it.
///
/// Rounding is allowed for: a share of 1 is reached where only rounding is left.
pub fn explained(spectrum: &Spectrum<'_>, share: f64) -> Option<usize> {
    if share.is_nan() || share > 1.0 {
        return None;
    }
    residual(spectrum, (1.0 - share) * spectrum.total)
}

/// The smallest m with J(m) = Σ_{j>m} λ_j ≤ target; `None` when the known eigenvalues do not reach it.
///
/// Rounding is allowed for: a target of 0 is reached where only rounding is left.
pub fn residual(spectrum: &Spectrum<'_>, target: f64) -> Option<usize> {
    if target.is_nan() || target < 0.0 || !spectrum.total.is_finite() {
        return None;
    }
    let enough = target + spectrum.slack();
    let reached = spectrum.residuals().iter().position(|left| *left <= enough);
    reached.or_else(|| spectrum.is_whole().then_some(spectrum.values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], n_features: usize, total: f64) -> Spectrum<'_> {
        Spectrum { values, n_samples: 100, n_features, total }
    }

    #[test]
    fn shares_and_errors_are_reached_at_the_first_component_that_suffices() {
        let values = [4.0, 3.0, 2.0, 1.0];
        let whole = of(&values, 4, 10.0);
        assert!(whole.is_whole());
        assert_eq!(whole.residuals(), [10.0, 6.0, 3.0, 1.0, 0.0]);
        for (share, m) in [(0.0, 0), (0.4, 1), (0.41, 2), (0.7, 2), (0.9, 3), (0.91, 4), (1.0, 4)] {
            assert_eq!(explained(&whole, share), Some(m), "{share}");
        }
        for (target, m) in [(10.0, 0), (6.0, 1), (5.9, 2), (1.0, 3), (0.5, 4), (0.0, 4)] {
            assert_eq!(residual(&whole, target), Some(m), "{target}");
        }
        assert_eq!((explained(&whole, 1.1), explained(&whole, f64::NAN)), (None, None));
        assert_eq!((residual(&whole, -1.0), residual(&whole, f64::NAN)), (None, None));
    }

    #[test]
    fn what_the_known_values_do_not_reach_is_not_answered() {
        let values = [4.0, 3.0];
        let part = of(&values, 4, 10.0);
        assert!(!part.is_whole());
        assert_eq!((explained(&part, 0.7), explained(&part, 0.71)), (Some(2), None));
        assert_eq!((residual(&part, 3.0), residual(&part, 2.9)), (Some(2), None));
    }

    // 0.1 added ten times is not 1: a share of 1 must be reached all the same, and rounding must not count as a component.
    #[test]
    fn rounding_neither_hides_the_last_component_nor_adds_one() {
        let values = [0.1; 10];
        assert_eq!(explained(&of(&values, 10, 1.0), 1.0), Some(10));
        assert_eq!(explained(&of(&values, 10, 1.0 + 3e-16), 1.0), Some(10));
        let deficient = [0.7, 0.2, 0.1, 1e-17, 0.0];
        assert_eq!(explained(&of(&deficient, 5, 1.0), 1.0), Some(3));
        assert_eq!(residual(&of(&deficient, 5, 1.0), 0.0), Some(3));
        assert_eq!(explained(&of(&[0.0, 0.0], 2, 0.0), 0.9), Some(0));
        assert_eq!(explained(&of(&[], 0, 0.0), 0.9), Some(0));
    }
}
