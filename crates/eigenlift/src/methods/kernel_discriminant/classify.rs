//! From places along the directions to classes.

use crate::matrix::Matrix;
use rayon::prelude::*;

/// Rows that one thread handles at a time.
const PIECE_ROWS: usize = 512;

/// Class means along the directions, and how frequent classes are.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    /// A row for each class.
    pub(super) means: Matrix<f64>,
    pub(super) priors: Vec<f64>,
}

impl Rule {
    /// log p(c | y) = −½‖y − m_c‖² + log(n_c/n) − log Σ, (C24), into `out`, one number for each class.
    ///
    /// Numerics: the largest is taken out before the exponential, so that nothing overflows.
    pub(super) fn log_probabilities_of(&self, y: &[f64], out: &mut [f64]) {
        for (c, (value, prior)) in out.iter_mut().zip(&self.priors).enumerate() {
            let square: f64 = y.iter().zip(self.means.row(c)).map(|(a, b)| (a - b) * (a - b)).sum();
            *value = prior.ln() - 0.5 * square;
        }
        let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = out.iter().map(|value| (value - largest).exp()).sum();
        out.iter_mut().for_each(|value| *value -= largest + sum.ln());
    }

    /// log p(c | y) of each row of places.
    pub(super) fn log_probabilities(&self, places: &Matrix<f64>) -> Matrix<f64> {
        let mut out = Matrix::zeros(places.n_rows(), self.priors.len());
        let pieces = out.view_mut().row_chunks(PIECE_ROWS);
        pieces.into_par_iter().enumerate().for_each(|(piece, mut out)| {
            for i in 0..out.n_rows() {
                self.log_probabilities_of(places.row(piece * PIECE_ROWS + i), out.row_mut(i));
            }
        });
        out
    }
}

/// The place of the largest, the first of equals.
pub(super) fn most_probable(log_probabilities: &[f64]) -> u32 {
    let mut best = 0;
    for (class, value) in log_probabilities.iter().enumerate() {
        if *value > log_probabilities[best] {
            best = class;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_two_normal_densities() {
        let means = Matrix::from_vec(vec![-1.0, 2.0], 2, 1).unwrap();
        let rule = Rule { means, priors: vec![0.25, 0.75] };
        let mut found = [0.0; 2];
        rule.log_probabilities_of(&[0.3], &mut found);
        let density = |prior: f64, mean: f64| prior * (-0.5 * (0.3 - mean) * (0.3 - mean)).exp();
        let (a, b) = (density(0.25, -1.0), density(0.75, 2.0));
        assert!((found[0].exp() - a / (a + b)).abs() < 1e-15);
        assert!((found[1].exp() - b / (a + b)).abs() < 1e-15);
        // A row 1e8 standard deviations away has finite logarithms.
        rule.log_probabilities_of(&[1e8], &mut found);
        assert!(found.iter().all(|value| value.is_finite()));
        assert_eq!(most_probable(&found), 1);
        assert_eq!(most_probable(&[-1.0, -1.0]), 0);
    }
}
