//! Distances between rows.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// A distance between rows, (G1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// ‖x − y‖₂.
    #[default]
    Euclidean,
    /// ‖x − y‖₁.
    Manhattan,
    /// 1 − ⟨x, y⟩/(‖x‖‖y‖); 1 when one of them is zero, 0 when both are.
    Cosine,
    /// The cosine distance of rows minus their own means.
    Correlation,
}

impl Metric {
    /// Words for all metrics.
    pub const NAMES: [&'static str; 4] = ["euclidean", "manhattan", "cosine", "correlation"];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::Manhattan => "manhattan",
            Self::Cosine => "cosine",
            Self::Correlation => "correlation",
        }
    }

    /// d(x, y), by the formula. Cost: a few d flops.
    pub fn distance(self, x: &[f64], y: &[f64]) -> f64 {
        let pairs = || x.iter().zip(y);
        match self {
            Self::Euclidean => pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
            Self::Manhattan => pairs().map(|(a, b)| (a - b).abs()).sum(),
            Self::Cosine => cosine_distance(x, y, 0.0, 0.0),
            Self::Correlation => {
                let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len().max(1) as f64;
                cosine_distance(x, y, mean(x), mean(y))
            }
        }
    }
}

/// 1 − cos of the rows minus their means.
fn cosine_distance(x: &[f64], y: &[f64], x_mean: f64, y_mean: f64) -> f64 {
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - x_mean, b - y_mean);
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    match (xx > 0.0, yy > 0.0) {
        (true, true) => (1.0 - xy / (xx.sqrt() * yy.sqrt())).clamp(0.0, 2.0),
        (false, false) => 0.0,
        _ => 1.0,
    }
}

impl Display for Metric {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        [Self::Euclidean, Self::Manhattan, Self::Cosine, Self::Correlation]
            .into_iter()
            .find(|metric| metric.name() == text)
            .ok_or_else(|| {
                Error::setting(
                    format!("a metric called \"{text}\""),
                    format!("known are {}", Self::NAMES.join(", ")),
                    "Choose one of them",
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_two_rows_by_hand() {
        let (x, y) = ([3.0, 0.0, 4.0], [0.0, 4.0, 4.0]);
        assert_eq!(Metric::Euclidean.distance(&x, &y), 5.0);
        assert_eq!(Metric::Manhattan.distance(&x, &y), 7.0);
        assert!((Metric::Cosine.distance(&x, &y) - (1.0 - 16.0 / (5.0 * 32f64.sqrt()))).abs() < 1e-15);
        assert!((Metric::Correlation.distance(&[1.0, 2.0, 3.0], &[5.0, 3.0, 1.0]) - 2.0).abs() < 1e-15);
        assert_eq!(Metric::Cosine.distance(&[0.0, 0.0], &[1.0, 0.0]), 1.0);
        assert_eq!(Metric::Correlation.distance(&[2.0, 2.0], &[7.0, 7.0]), 0.0);
    }

    #[test]
    fn names_round_trip() {
        for name in Metric::NAMES {
            assert_eq!(name.parse::<Metric>().unwrap().to_string(), name);
        }
        assert!("chebyshev".parse::<Metric>().unwrap_err().to_string().contains("known are euclidean"));
    }
}
