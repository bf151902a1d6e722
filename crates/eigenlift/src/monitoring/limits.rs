//! Limits of T² and the squared prediction error, above which a row is called novel.

use super::gaussian::not_gaussian;
use super::joint::joint_quantiles;
use super::reference::mean_and_variance;
use super::{Novelty, Reference};
use crate::error::{Error, Result};
use crate::stats::{chi_squared_above, f_above};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Share of a limit by which a row may exceed it: the row that a limit was taken from does so by rounding.
const ROUNDING: f64 = 1e-9;

/// Whether a value is above a limit, and not by rounding alone.
pub(super) fn above(value: f64, limit: f64) -> bool {
    value > limit * (1.0 + ROUNDING)
}

/// How limits are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LimitRule {
    /// Order statistics of the reference samples, (C54): nothing is assumed but that normal samples are like them.
    #[default]
    Quantile,
    /// The F distribution for T², (C55), and a multiple of χ² for the squared prediction error, (C56), which hold for Gaussian scores:
    /// a warning says where the reference samples are not so. Reaches beyond the largest reference sample.
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

/// Limits of which a share α of normal samples exceeds one or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// α: the false-alarm rate of the two limits together.
    pub alpha: f64,
    /// How they were found.
    pub rule: LimitRule,
    /// Of T².
    pub t_squared: f64,
    /// Of the squared prediction error; `None` where it is not known or nothing is left for it.
    pub spe: Option<f64>,
    /// Fraction of the reference samples whose T² is above its limit.
    pub t_squared_share: Option<f64>,
    /// Fraction of the reference samples whose squared prediction error is above its limit.
    pub spe_share: Option<f64>,
    /// Fraction of the reference samples above either limit.
    pub share: Option<f64>,
    /// Reference samples, or samples of the fit.
    pub rows: usize,
    /// Whether the reference samples are those of the fit, judged by the model itself.
    pub in_sample: bool,
    /// Whether the reference samples are those of the fit, each judged by a model of other samples.
    pub cross_validated: bool,
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
    /// Limits from reference samples, for a model of `n_components` components that was fitted on `n_samples` samples.
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
        let Novelty { t_squared, spe, .. } = &reference.numbers;
        let has_spe = !spe.is_empty();
        let mut warnings = Vec::new();
        let (t_limit, spe_limit) = match rule {
            LimitRule::Quantile => {
                let (limits, enough) = joint_quantiles(t_squared, spe, alpha);
                warnings.extend((!enough).then(|| too_few(t_squared.len(), alpha, has_spe)));
                limits
            }
            LimitRule::Parametric => {
                let each = if has_spe { of_each(alpha) } else { alpha };
                let (mean, variance) = mean_and_variance(spe);
                warnings.extend(not_gaussian(&reference.numbers, (n_samples, n_components)));
                (t_squared_limit(n_samples, n_components, each)?, spe_limit(mean, variance, each))
            }
        };
        if reference.in_sample {
            warnings.push(format!(
                "the limits come from the rows of the fit, whose squared prediction error is smaller and whose T² is larger than those \
                 of new rows: the false-alarm rate will differ from {alpha}; give reference rows that the model was not fitted on, or \
                 cross-validate"
            ));
        }
        let mut limits = Self {
            alpha,
            rule,
            t_squared: t_limit,
            spe: has_spe.then_some(spe_limit),
            t_squared_share: None,
            spe_share: None,
            share: None,
            rows: t_squared.len(),
            in_sample: reference.in_sample,
            cross_validated: reference.cross_validated,
            warnings,
        };
        limits.count(&reference.numbers);
        Ok(limits)
    }

    /// Fractions of the reference samples above the limits.
    fn count(&mut self, reference: &Novelty) {
        let judged = self.judge(reference);
        let share = |which: &[Judgement]| {
            Some(judged.iter().filter(|one| which.contains(one)).count() as f64 / judged.len().max(1) as f64)
        };
        self.t_squared_share = share(&[Judgement::FarOut, Judgement::Both]);
        self.spe_share = self.spe.and_then(|_| share(&[Judgement::FarOff, Judgement::Both]));
        self.share = share(&[Judgement::FarOut, Judgement::FarOff, Judgement::Both]);
    }

    /// What is unusual about each row.
    pub fn judge(&self, rows: &Novelty) -> Vec<Judgement> {
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

pub(crate) fn check_alpha(alpha: f64) -> Result<()> {
    if alpha > 0.0 && alpha < 1.0 {
        return Ok(());
    }
    Err(Error::setting(
        format!("limits with a false-alarm rate of {alpha}"),
        "the rate must lie between 0 and 1",
        "The default is 0.01: one normal row in a hundred",
    ))
}

/// Why there are not enough reference samples.
fn too_few(n: usize, alpha: f64, has_spe: bool) -> String {
    let least = least_rows(if has_spe { 0.5 * alpha } else { alpha });
    format!(
        "the limits are the largest of {n} reference rows: a false-alarm rate of {alpha} needs at least {least}; the rate of these \
         limits is higher"
    )
}

/// Samples from which the quantile is not the largest for want of others.
fn least_rows(alpha: f64) -> usize {
    (1.0 / alpha - 1.0 - 1e-9).ceil().min(1e15) as usize
}

/// 1 − √(1 − α): the level of each of two independent limits that are exceeded with probability α together, (C61).
pub(crate) fn of_each(alpha: f64) -> f64 {
    // Numerics: 1 − √(1 − α) cancels for small α.
    alpha / (1.0 + (1.0 - alpha).sqrt())
}

/// k(n + 1)/(n − k)·F(k, n − k), (C55).
pub(crate) fn t_squared_limit(n: usize, k: usize, alpha: f64) -> Result<f64> {
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
        Reference::of(&Novelty { t_squared: values.clone(), spe: values, ..Novelty::default() }).unwrap()
    }

    #[test]
    fn the_quantile_is_the_one_that_exchangeable_rows_exceed_with_probability_alpha() {
        let limits = Limits::of(&reference(99), (200, 2), 0.05, LimitRule::Quantile).unwrap();
        assert_eq!((limits.t_squared, limits.spe), (95.0, Some(95.0)));
        assert_eq!((limits.t_squared_share, limits.share), (Some(4.0 / 99.0), Some(4.0 / 99.0)));
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
        let rows = Novelty {
            t_squared: vec![1.0, 95.5, 2.0, 99.0],
            spe: vec![95.0, 3.0, 96.0, 97.0],
            ..Novelty::default()
        };
        let words: Vec<String> = limits.judge(&rows).iter().map(ToString::to_string).collect();
        assert_eq!(words, ["none", "t2", "spe", "both"]);
        let alone = Novelty { spe: Vec::new(), ..rows };
        assert_eq!(limits.judge(&alone)[3], Judgement::FarOut);
    }

    #[test]
    fn parametric_limits_are_those_of_the_formulas() {
        // scipy 1.17: 3·101/97·f.isf(0.01, 3, 97) and chi2 with the mean and the variance of 1 … 99.
        let alone = reference(99).without_spe();
        let limits = Limits::of(&alone, (100, 3), 0.01, LimitRule::Parametric).unwrap();
        assert!((limits.t_squared - T_SQUARED).abs() < 1e-9, "{}", limits.t_squared);
        assert_eq!((limits.spe, limits.spe_share), (None, None));
        assert!((spe_limit(50.0, 825.0, 0.01) - SPE).abs() < 1e-9);
        // Together, each has the level 1 − √0.99.
        let each = 1.0 - 0.99f64.sqrt();
        assert!((of_each(0.01) - each).abs() < 1e-16);
        let limits = Limits::of(&reference(99), (100, 3), 0.01, LimitRule::Parametric).unwrap();
        assert_eq!(limits.t_squared, t_squared_limit(100, 3, of_each(0.01)).unwrap());
        assert_eq!(limits.spe, Some(spe_limit(50.0, 825.0, of_each(0.01))));
        // Numbers at equal distances are no F distribution.
        assert!(limits.warnings[0].contains("Gaussian scores"), "{:?}", limits.warnings);
        assert!(Limits::of(&reference(9), (3, 3), 0.01, LimitRule::Parametric).is_err());
        assert_eq!(spe_limit(2.0, 0.0, 0.01), 2.0);
    }

    const T_SQUARED: f64 = 12.464_096_886_960_94;
    const SPE: f64 = 139.543_061_008_063_8;
}
