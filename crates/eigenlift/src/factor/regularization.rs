//! How much a kernelised method is held back, and how that was chosen.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Shares of tr C that are tried for κ.
pub(crate) const SHARES: [f64; 13] = [
    1e-6,
    3.162_277_660_168_379e-6,
    1e-5,
    3.162_277_660_168_379e-5,
    1e-4,
    3.162_277_660_168_379e-4,
    1e-3,
    3.162_277_660_168_379e-3,
    1e-2,
    3.162_277_660_168_379e-2,
    1e-1,
    3.162_277_660_168_379e-1,
    1.0,
];

/// Fewest folds with which κ can be chosen without the fold that is measured: one is measured, the others choose.
pub(crate) const FEWEST_NESTED: usize = 3;

/// κ, which is added to the diagonal of covariances of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Regularization {
    /// A share of tr C, from 1e-6 to 1, chosen by cross-validation.
    #[default]
    Auto,
    /// This number.
    Value(f64),
}

impl Regularization {
    /// # Errors
    /// When the number is negative or not finite.
    pub(crate) fn check(self) -> Result<Self> {
        match self {
            Self::Value(kappa) if !(kappa >= 0.0 && kappa.is_finite()) => Err(Error::setting(
                format!("a regularisation of {kappa}"),
                "it must be a finite number that is not negative",
                "Leave it to auto, which tries shares of the variance",
            )),
            fine => Ok(fine),
        }
    }
}

impl Regularization {
    /// # Errors
    /// As [`Regularization::check`], and when rows cannot be held out in so many folds: none at all only where κ is given.
    pub(crate) fn check_folds(self, folds: usize) -> Result<Self> {
        self.check()?;
        if folds >= 2 || (folds == 0 && self != Self::Auto) {
            return Ok(self);
        }
        Err(Error::setting(
            format!("{folds} fold(s) with a regularisation of {self}"),
            "at least 2 folds are held out in turn; none only when the regularisation is a number",
            "Use 5 folds, or give the regularisation as a number",
        ))
    }
}

impl std::fmt::Display for Regularization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Value(kappa) => write!(f, "{kappa}"),
        }
    }
}

impl std::str::FromStr for Regularization {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let kappa = text.parse().map_err(|_| {
            Error::setting(
                format!("a regularisation \"{text}\""),
                "it must be a number or auto",
                "auto chooses by cross-validation",
            )
        })?;
        Self::Value(kappa).check()
    }
}

/// What cross-validation found for each κ that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegularizationCurve {
    /// κ as shares of tr C, ascending.
    pub shares: Vec<f64>,
    /// Mean over folds of what was to be large on held-out rows.
    pub scores: Vec<f64>,
    /// Standard error of the mean.
    pub errors: Vec<f64>,
    /// Which was chosen.
    pub chosen: usize,
}

impl RegularizationCurve {
    /// Whether the choice lies at an end of what was tried and is better than the next one by more than its standard error, so
    /// that a better one may lie outside.
    pub fn may_lie_beyond(&self) -> bool {
        let last = self.shares.len().saturating_sub(1);
        let inside = match self.chosen {
            0 => 1,
            at if at == last => last.saturating_sub(1),
            _ => return false,
        };
        let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
        inside <= last
            && at(&self.scores, self.chosen) - at(&self.scores, inside) > at(&self.errors, self.chosen)
    }

    /// # Errors
    /// When no cross-validation leaves such a curve.
    pub(crate) fn check(&self) -> Result<()> {
        let n = self.shares.len();
        let finite =
            [&self.shares, &self.scores, &self.errors].iter().all(|v| v.iter().all(|x| x.is_finite()));
        if n > 0 && self.scores.len() == n && self.errors.len() == n && self.chosen < n && finite {
            return Ok(());
        }
        Err(Error::model(
            format!("a curve of {n} regularisations, {} of which was chosen", self.chosen),
            "there is a finite score and an error for each, and one of them is chosen",
            "Save the model again with eigenlift",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_only_where_the_curve_still_rises() {
        let curve = |scores: [f64; 3], chosen| RegularizationCurve {
            shares: vec![0.1, 0.2, 0.3],
            scores: scores.to_vec(),
            errors: vec![0.05; 3],
            chosen,
        };
        assert!(curve([0.9, 0.7, 0.5], 0).may_lie_beyond());
        assert!(curve([0.5, 0.7, 0.9], 2).may_lie_beyond());
        assert!(!curve([0.9, 0.89, 0.5], 0).may_lie_beyond());
        assert!(!curve([0.5, 0.9, 0.5], 1).may_lie_beyond());
    }

    #[test]
    fn text_and_back_and_what_is_refused() {
        for kappa in [Regularization::Auto, Regularization::Value(0.0), Regularization::Value(1e-3)] {
            assert_eq!(kappa.to_string().parse::<Regularization>().unwrap(), kappa);
        }
        for bad in ["-1", "nan", "inf", "much"] {
            assert!(bad.parse::<Regularization>().is_err(), "{bad}");
        }
        assert!(SHARES.windows(2).all(|w| (w[1] / w[0] - 10f64.sqrt()).abs() < 1e-9));
    }
}
