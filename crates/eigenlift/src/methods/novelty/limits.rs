//! Limits of T² and the squared prediction error, above which a row is called novel.

use super::{Novelty, Reference};
use crate::error::{Error, Result};
use crate::methods::distributions::{chi_squared_above, f_above};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Share of a limit by which a row may exceed it: the row that a limit was taken from does so by rounding.
const ROUNDING: f64 = 1e-9;

/// How limits are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitRule {
    /// The quantile of the reference rows, (C54): nothing is assumed but that normal rows are like them.
    #[default]
    Quantile,
    /// The F distribution for T², (C55), and a multiple of χ² for the squared prediction error, (C56): scores are taken to be normally
    /// distributed. Reaches beyond the largest reference row.
    Parametric,
}

impl fmt::Display for LimitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Quantile => "quantile",
            Self::Parametric => "parametric",
        })
    }
}

impl FromStr for LimitRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "quantile" => Ok(Self::Quantile),
            "parametric" => Ok(Self::Parametric),
            other => Err(Error::setting(
                format!("limits by \"{other}\""),
                "limits are found by quantile or parametric",
                "Choose one of these",
            )),
        }
    }
}

/// Limits that a share α of normal rows exceeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// α.
    pub alpha: f64,
    /// How they were found.
    pub rule: LimitRule,
    /// Of T².
    pub t_squared: f64,
    /// Of the squared prediction error; `None` where it is not known or nothing is left for it.
    pub spe: Option<f64>,
    /// Share of the reference rows whose T² is above its limit.
    pub t_squared_share: Option<f64>,
    /// Share of the reference rows whose squared prediction error is above its limit.
    pub spe_share: Option<f64>,
    /// Reference rows, or rows of the fit.
    pub rows: usize,
    /// Whether the reference rows are those of the fit.
    pub in_sample: bool,
    /// Sentences a person should read before using them.
    pub warnings: Vec<String>,
}

/// What is unusual about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Judgement {
    /// Both numbers are within their limits.
    #[serde(rename = "none")]
    Usual,
    /// T² alone is above its limit: far out along the components.
    #[serde(rename = "t2")]
    FarOut,
    /// The squared prediction error alone is above its limit: off the components.
    #[serde(rename = "spe")]
    FarOff,
    /// Both are.
    #[serde(rename = "both")]
    Both,
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usual => "none",
            Self::FarOut => "t2",
            Self::FarOff => "spe",
            Self::Both => "both",
        })
    }
}

impl Limits {
    /// Limits from reference rows, for a model of `n_components` components that was fitted on `n_samples` rows.
    ///
    /// # Errors
    /// When α does not lie between 0 and 1, or there are no more samples than components.
    pub fn of(
        reference: &Reference,
        (n_samples, n_components): (usize, usize),
        alpha: f64,
        rule: LimitRule,
    ) -> Result<Self> {
        check_alpha(alpha)?;
        let (t_squared, spe) = match rule {
            LimitRule::Quantile => {
                let rank = rank(reference.rows, alpha);
                (reference.t_squared.ranked(rank), reference.spe.ranked(rank))
            }
            LimitRule::Parametric => {
                let spread = &reference.spe;
                (
                    t_squared_limit(n_samples, n_components, alpha)?,
                    spe_limit(spread.mean, spread.variance, alpha),
                )
            }
        };
        let mut warnings = Vec::new();
        if rule == LimitRule::Quantile && least_rows(alpha) > reference.rows {
            warnings.push(format!(
                "the limits are the largest of {} reference rows: a share of {alpha} needs at least {}",
                reference.rows,
                least_rows(alpha)
            ));
        }
        if reference.in_sample {
            warnings.push(format!(
                "the limits come from the rows of the fit, whose squared prediction error is smaller and whose T² is larger than those \
                 of new rows: more than {alpha} of normal rows will exceed the limit of the error, fewer that of T²; give reference \
                 rows that the model was not fitted on"
            ));
        }
        Ok(Self {
            alpha,
            rule,
            t_squared,
            spe: Some(spe),
            t_squared_share: Some(reference.t_squared.share_above(t_squared)),
            spe_share: Some(reference.spe.share_above(spe)),
            rows: reference.rows,
            in_sample: reference.in_sample,
            warnings,
        })
    }

    /// What is unusual about each row.
    pub fn judge(&self, rows: &Novelty) -> Vec<Judgement> {
        let above = |value: f64, limit: f64| value > limit * (1.0 + ROUNDING);
        let spe = |i: usize| rows.spe.get(i).zip(self.spe).is_some_and(|(spe, limit)| above(*spe, limit));
        let judge = |(i, t_squared): (usize, &f64)| match (above(*t_squared, self.t_squared), spe(i)) {
            (false, false) => Judgement::Usual,
            (true, false) => Judgement::FarOut,
            (false, true) => Judgement::FarOff,
            (true, true) => Judgement::Both,
        };
        rows.t_squared.iter().enumerate().map(judge).collect()
    }
}

pub(super) fn check_alpha(alpha: f64) -> Result<()> {
    if alpha > 0.0 && alpha < 1.0 {
        return Ok(());
    }
    Err(Error::setting(
        format!("limits that a share of {alpha} exceeds"),
        "the share must lie between 0 and 1",
        "The default is 0.01: one normal row in a hundred",
    ))
}

/// ⌈(n + 1)(1 − α)⌉, (C54); the largest where that is beyond it.
fn rank(n: usize, alpha: f64) -> usize {
    let rank = ((n as f64 + 1.0) * (1.0 - alpha) - 1e-9).ceil();
    (rank.max(1.0) as usize).min(n)
}

/// Rows from which the quantile is not the largest for want of others.
fn least_rows(alpha: f64) -> usize {
    (1.0 / alpha - 1.0 - 1e-9).ceil().min(1e15) as usize
}

/// k(n + 1)/(n − k)·F(k, n − k), (C55).
pub(super) fn t_squared_limit(n: usize, k: usize, alpha: f64) -> Result<f64> {
    if k == 0 || n <= k {
        return Err(Error::model(
            format!("{k} components of {n} samples"),
            "the F distribution needs more samples than components",
            "Take the quantile of reference rows, or keep fewer components",
        ));
    }
    let (n, k) = (n as f64, k as f64);
    Ok(k * (n + 1.0) / (n - k) * f_above(k, n - k, alpha))
}

/// g·χ²(h) with that mean and variance, g = v/2m and h = 2m²/v, (C56).
pub(super) fn spe_limit(mean: f64, variance: f64, alpha: f64) -> f64 {
    if mean <= 0.0 || variance <= 0.0 {
        return mean.max(0.0);
    }
    let (g, h) = (variance / (2.0 * mean), 2.0 * mean * mean / variance);
    g * chi_squared_above(h, alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(n: usize) -> Reference {
        let values: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        Reference::of(&Novelty { t_squared: values.clone(), spe: values }).unwrap()
    }

    #[test]
    fn the_quantile_is_the_one_that_exchangeable_rows_exceed_with_probability_alpha() {
        let limits = Limits::of(&reference(99), (200, 2), 0.05, LimitRule::Quantile).unwrap();
        assert_eq!((limits.t_squared, limits.spe), (95.0, Some(95.0)));
        assert_eq!(limits.t_squared_share, Some(4.0 / 99.0));
        assert!(limits.warnings.is_empty(), "{:?}", limits.warnings);
        let limits = Limits::of(&reference(99), (200, 2), 0.01, LimitRule::Quantile).unwrap();
        assert_eq!(limits.t_squared, 99.0);
        assert!(limits.warnings.is_empty());
        let limits = Limits::of(&reference(98), (200, 2), 0.01, LimitRule::Quantile).unwrap();
        assert_eq!(limits.t_squared, 98.0);
        assert!(limits.warnings[0].contains("largest of 98 reference rows"), "{:?}", limits.warnings);
        for alpha in [0.0, 1.0, f64::NAN, -0.1] {
            assert!(Limits::of(&reference(9), (200, 2), alpha, LimitRule::Quantile).is_err());
        }
    }

    #[test]
    fn rows_are_judged_by_both_limits() {
        let limits = Limits::of(&reference(99), (200, 2), 0.05, LimitRule::Quantile).unwrap();
        let rows = Novelty { t_squared: vec![1.0, 95.5, 2.0, 99.0], spe: vec![95.0, 3.0, 96.0, 97.0] };
        let words: Vec<String> = limits.judge(&rows).iter().map(ToString::to_string).collect();
        assert_eq!(words, ["none", "t2", "spe", "both"]);
        let alone = Novelty { spe: Vec::new(), ..rows };
        assert_eq!(limits.judge(&alone)[3], Judgement::FarOut);
    }

    #[test]
    fn parametric_limits_are_those_of_the_formulas() {
        // scipy 1.17: 3·101/97·f.isf(0.01, 3, 97) and chi2 with the mean and the variance of 1 … 99.
        let limits = Limits::of(&reference(99), (100, 3), 0.01, LimitRule::Parametric).unwrap();
        assert!((limits.t_squared - T_SQUARED).abs() < 1e-9, "{}", limits.t_squared);
        assert!((limits.spe.unwrap() - SPE).abs() < 1e-9, "{:?}", limits.spe);
        assert!(Limits::of(&reference(9), (3, 3), 0.01, LimitRule::Parametric).is_err());
        assert_eq!(spe_limit(2.0, 0.0, 0.01), 2.0);
    }

    const T_SQUARED: f64 = 12.464_096_886_960_94;
    const SPE: f64 = 139.543_061_008_063_8;
}
