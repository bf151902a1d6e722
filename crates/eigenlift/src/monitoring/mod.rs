//! Novelty: how far out rows lie along the components of a model, how far off them, and from which numbers on that is unusual.

mod contributions;
mod gaussian;
mod joint;
mod limits;
mod measure;
mod reference;
mod scores;
mod spectrum;
mod surface;

pub use contributions::{Baseline, Contributions};
pub(crate) use contributions::{Explained, contributions};
pub use limits::{Judgement, LimitRule, Limits};
pub(crate) use limits::{check_alpha, of_each, t_squared_limit};
pub(crate) use measure::{measure, measure_fit, off_components, own_of_fit};
pub use reference::Reference;
pub use scores::ScoreMoments;
pub(crate) use spectrum::spe_limit_of_spectrum;

use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::Similarity;
use crate::progress::Watch;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How unusual rows are to a model, (C50).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Novelty {
    /// T²: the sum of squared scores over their variances. Over the rows of the fit its mean is the number of components.
    pub t_squared: Vec<f64>,
    /// The squared prediction error: the squared distance of φ(x) from the subspace, which is Hoffmann's reconstruction error.
    pub spe: Vec<f64>,
    /// Moments of the scores of all rows together, which show whether they are Gaussian; empty where nothing is known.
    pub scores: ScoreMoments,
}

impl Novelty {
    /// Adds those of further rows.
    pub fn append(&mut self, more: &Novelty) {
        self.t_squared.extend_from_slice(&more.t_squared);
        self.spe.extend_from_slice(&more.spe);
        self.scores.append(&more.scores);
    }
}

/// One of the two numbers of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statistic {
    /// T².
    #[serde(rename = "t2")]
    TSquared,
    /// The squared prediction error.
    #[default]
    #[serde(rename = "spe")]
    Spe,
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TSquared => "t2",
            Self::Spe => "spe",
        })
    }
}

impl FromStr for Statistic {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "t2" => Ok(Self::TSquared),
            "spe" => Ok(Self::Spe),
            other => Err(Error::setting(
                format!("the statistic \"{other}\""),
                "it is t2 or spe",
                "Choose one of these",
            )),
        }
    }
}

/// What a model knows of the rows it was fitted on.
#[derive(Clone, Debug, Default)]
pub(crate) enum FitRows {
    /// Nothing: they came in pieces, or the file is of an earlier version.
    #[default]
    Unknown,
    /// ‖φ(x) − mean φ‖² of each; the scores are known elsewhere.
    Squares(Vec<f64>),
    /// T² and errors of some of them.
    Known(Box<Reference>),
}

impl FitRows {
    /// K_ii − 2r_i + g for samples whose row means r are known, (C52).
    ///
    /// # Errors
    /// What [`own_of_fit`] fails with.
    pub(crate) fn of_samples(
        similarity: &Similarity,
        x: &AnySamples,
        row_means: &[f64],
        on: (&dyn Engine, &Watch),
    ) -> Result<Self> {
        let mean = row_means.iter().sum::<f64>() / row_means.len().max(1) as f64;
        let own = own_of_fit(similarity, x.points(), on)?;
        Ok(Self::Squares(own.iter().zip(row_means).map(|(own, r)| own - 2.0 * r + mean).collect()))
    }

    /// What is left of it when components are dropped.
    pub(crate) fn of_fewer_components(self) -> Self {
        match self {
            Self::Known(_) => Self::Unknown,
            other => other,
        }
    }
}
