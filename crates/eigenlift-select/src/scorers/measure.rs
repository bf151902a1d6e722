//! How predictions are judged.

use super::super::columns::Goal;
use eigenlift::error::{Error, Result};
use serde::Serialize;

/// How predictions are judged; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The share of rows with the right class.
    Accuracy,
    /// The mean over classes of that share.
    BalancedAccuracy,
    /// The share of the variance explained, 1 − Σ(y − ŷ)²/Σ(y − ȳ)², with ȳ the mean of the rows held out.
    R2,
    /// Less the mean squared error.
    NegMeanSquaredError,
}

impl Measure {
    /// Accuracy for classes, R² for numbers.
    pub(crate) fn usual(goal: &Goal) -> Self {
        match goal {
            Goal::Classes { .. } => Self::Accuracy,
            Goal::Numbers(_) => Self::R2,
        }
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced_accuracy",
            Self::R2 => "r2",
            Self::NegMeanSquaredError => "neg_mean_squared_error",
        }
    }

    pub(crate) fn check(self, goal: &Goal) -> Result<()> {
        let for_classes = matches!(self, Self::Accuracy | Self::BalancedAccuracy);
        if for_classes == matches!(goal, Goal::Classes { .. }) {
            return Ok(());
        }
        let (labels, words) = match goal {
            Goal::Classes { .. } => ("classes", "accuracy or balanced_accuracy"),
            Goal::Numbers(_) => ("numbers", "r2 or neg_mean_squared_error"),
        };
        Err(Error::setting(
            format!("the measure {} for labels that are {labels}", self.name()),
            format!("{labels} are judged by {words}"),
            "Use one of these",
        ))
    }

    /// The score of predicted classes.
    pub(crate) fn of_classes(self, predicted: &[u32], right: &[u32], n_classes: usize) -> f64 {
        let (mut hits, mut sizes) = (vec![0usize; n_classes], vec![0usize; n_classes]);
        for (guess, class) in predicted.iter().zip(right) {
            sizes[*class as usize] += 1;
            hits[*class as usize] += usize::from(guess == class);
        }
        if self == Self::BalancedAccuracy {
            let shares = hits.iter().zip(&sizes).filter(|(_, size)| **size > 0);
            let shares: Vec<f64> = shares.map(|(hits, size)| *hits as f64 / *size as f64).collect();
            return shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        }
        hits.iter().sum::<usize>() as f64 / right.len().max(1) as f64
    }

    /// The score of predicted numbers. R² of labels that are all the same is 1 when they are predicted, otherwise 0.
    pub(crate) fn of_numbers(self, predicted: &[f64], right: &[f64]) -> f64 {
        let n = right.len().max(1) as f64;
        let errors: f64 = predicted.iter().zip(right).map(|(p, y)| (p - y) * (p - y)).sum();
        if self == Self::NegMeanSquaredError {
            return -errors / n;
        }
        let mean = right.iter().sum::<f64>() / n;
        let total: f64 = right.iter().map(|y| (y - mean) * (y - mean)).sum();
        match (total > 0.0, errors > 0.0) {
            (true, _) => 1.0 - errors / total,
            (false, true) => 0.0,
            (false, false) => 1.0,
        }
    }
}
