//! What the residuals prove about eigenvalues and eigenvectors, docs/theory (K13)–(K17).

use super::EigenPairs;
use serde::{Deserialize, Serialize};

/// A vector is called determined when the bound on its angle to the true one is below this.
const DETERMINED: f64 = 1e-2;
/// Eigenvalues closer than this share count as tied whatever the residuals.
const TIE: f64 = 1e-10;

/// Bounds between which an eigenvalue of K_c lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Residuals of a fresh product and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// ‖K_c v − θv‖/|θ| for each component.
    pub residuals: Vec<f64>,
    /// An eigenvalue of K_c lies in each interval: θ ± (‖K_c v − θv‖ + rounding).
    pub intervals: Vec<Interval>,
    /// Bound on the rounding error of the product that the residuals come from.
    pub rounding: f64,
    /// Groups of components (counted from 0, ends included) that are determined only as a subspace: any rotation among
    /// them would do as well. A group that ends at the number of components is tied with components that were left out.
    pub ties: Vec<(usize, usize)>,
}

impl Certificate {
    /// From residuals (K13), with the rounding of the product added to each.
    pub(crate) fn new(pairs: &EigenPairs, rounding: f64) -> Self {
        let k = pairs.values.len();
        let radius: Vec<f64> = pairs.residuals.iter().map(|r| r + rounding).collect();
        let relative = |i: usize| pairs.residuals[i] / pairs.values[i].abs().max(f64::MIN_POSITIVE);
        let interval =
            |i: usize| Interval { low: pairs.values[i] - radius[i], high: pairs.values[i] + radius[i] };
        Self {
            residuals: (0..k).map(relative).collect(),
            intervals: (0..k).map(interval).collect(),
            rounding,
            ties: ties(&pairs.values, &radius, pairs.next),
        }
    }

    /// The worst relative residual.
    pub fn worst_residual(&self) -> f64 {
        self.residuals.iter().copied().fold(0.0, f64::max)
    }

    /// Keeps the first `k` components.
    pub(crate) fn truncate(&mut self, k: usize) {
        self.residuals.truncate(k);
        self.intervals.truncate(k);
        self.ties.retain(|(first, _)| *first < k);
    }

    /// The ties in words, components counted from 1.
    pub fn tie_sentences(&self) -> Vec<String> {
        let k = self.residuals.len();
        let sentence = |(first, last): &(usize, usize)| {
            if *last >= k {
                let rest =
                    "tied with components that were left out: keep more, or read nothing into single axes";
                if *first + 1 == k {
                    format!("component {k} is {rest}")
                } else {
                    format!("components {} to {k} are {rest}", first + 1)
                }
            } else {
                format!("components {} to {} are determined only as a subspace", first + 1, last + 1)
            }
        };
        self.ties.iter().map(sentence).collect()
    }
}

/// Runs of neighbours whose gap is too small for the angle bound ρ/gap (K15).
fn ties(values: &[f64], radius: &[f64], next: Option<f64>) -> Vec<(usize, usize)> {
    let k = values.len();
    let tied = |i: usize| -> bool {
        let (upper, other) = match values.get(i + 1) {
            Some(lower) => (values[i], Some(*lower)),
            None => (values[i], next),
        };
        let Some(lower) = other else { return false };
        let worst = radius[i].max(radius.get(i + 1).copied().unwrap_or(0.0));
        let gap = upper.abs() - lower.abs();
        gap <= (worst / DETERMINED).max(TIE * upper.abs())
    };
    let mut groups: Vec<(usize, usize)> = Vec::new();
    for i in (0..k).filter(|i| tied(*i)) {
        match groups.last_mut() {
            Some((_, last)) if *last == i => *last = i + 1,
            _ => groups.push((i, i + 1)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigen::SolveStats;
    use crate::matrix::Matrix;

    fn pairs(values: &[f64], next: Option<f64>) -> EigenPairs {
        EigenPairs {
            values: values.to_vec(),
            vectors: Matrix::zeros(3, values.len()),
            residuals: vec![1e-8; values.len()],
            next,
            all: None,
            stats: SolveStats::default(),
        }
    }

    #[test]
    fn close_eigenvalues_are_reported_as_a_subspace() {
        let c = Certificate::new(&pairs(&[5.0, 3.0, 3.0 - 1e-9, 1.0, 0.5], Some(0.1)), 0.0);
        assert_eq!(c.ties, [(1, 2)]);
        assert_eq!(c.tie_sentences(), ["components 2 to 3 are determined only as a subspace"]);
        assert!((c.intervals[0].high - c.intervals[0].low - 2e-8).abs() < 1e-15);
        assert!((c.residuals[0] - 2e-9).abs() < 1e-24);
    }

    #[test]
    fn a_tie_with_what_was_left_out_is_said() {
        let c = Certificate::new(&pairs(&[5.0, 3.0, 1.0], Some(1.0)), 0.0);
        assert_eq!(c.ties, [(2, 3)]);
        assert!(c.tie_sentences()[0].starts_with("component 3 is tied with components that were left out"));
        assert!(Certificate::new(&pairs(&[5.0, 3.0, 1.0], None), 0.0).ties.is_empty());
    }
}
