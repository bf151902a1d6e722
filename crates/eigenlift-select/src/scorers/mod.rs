//! What is learned from a set of features and judged on rows held out, with updates for one feature more or less.

mod knn;
mod lda;
mod logistic;
mod measure;
mod ridge;
mod solved;

pub use measure::Measure;

use super::columns::{Columns, Goal};
use super::splits::Fold;
use eigenlift::error::{Error, Result};
use eigenlift::progress::Watch;
use serde::Serialize;

/// What learns from features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "name")]
pub enum Scorer {
    /// The nearest rows vote; numbers are their mean.
    Knn {
        /// How many.
        n_neighbors: usize,
    },
    /// Linear discriminants: classes of the same covariance. Classes only.
    Lda,
    /// Linear regression with alpha times the squared length of the coefficients; classes by a target of ±1 for each.
    Ridge {
        /// The weight of the coefficients, on the scale of a sum over rows.
        alpha: f64,
    },
    /// Logistic regression, of several classes by their probabilities together. Classes only.
    Logistic {
        /// One over the weight of half the squared length of the coefficients, on the scale of a sum over rows.
        c: f64,
    },
}

/// One fold with its rows: columns of the training rows and of those held out, scaled alike.
pub(crate) struct Task<'a> {
    pub(super) columns: &'a Columns,
    pub(super) goal: &'a Goal,
    pub(super) fold: &'a Fold,
    /// Mean and scale of each column over the training rows, when columns are standardised.
    pub(super) scales: Option<Vec<(f64, f64)>>,
    pub(super) measure: Measure,
}

impl<'a> Task<'a> {
    pub(crate) fn new(
        (columns, goal): (&'a Columns, &'a Goal),
        fold: &'a Fold,
        measure: Measure,
        standardize: bool,
    ) -> Self {
        let scale = |j: usize| {
            let n = fold.train.len().max(1) as f64;
            let column = columns.gathered(j, &fold.train);
            // Numerics: the mean of equal numbers need not be that number.
            if let Some(first) = column.first().filter(|first| column.iter().all(|x| x == *first)) {
                return (*first, 1.0);
            }
            let mean = column.iter().sum::<f64>() / n;
            let variance = column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
        };
        let scales = standardize.then(|| (0..columns.n_cols()).map(scale).collect());
        Self { columns, goal, fold, scales, measure }
    }

    fn scaled(&self, j: usize, rows: &[usize]) -> Vec<f64> {
        let mut column = self.columns.gathered(j, rows);
        if let Some((mean, scale)) = self.scales.as_ref().map(|scales| scales[j]) {
            column.iter_mut().for_each(|x| *x = (*x - mean) / scale);
        }
        column
    }

    /// Column j of the training rows.
    pub(super) fn train(&self, j: usize) -> Vec<f64> {
        self.scaled(j, &self.fold.train)
    }

    /// Column j of the rows held out.
    pub(super) fn test(&self, j: usize) -> Vec<f64> {
        self.scaled(j, &self.fold.test)
    }
}

/// What was learned from a set of features that changes, on one fold.
pub(crate) trait Learner: Send + Sync {
    /// The score with the present features; with none, that of a guess from the labels alone.
    fn score(&self) -> f64;

    /// The scores with each of these features added.
    fn scores_with(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>>;

    /// The scores with each of these present features taken out.
    fn scores_without(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>>;

    /// Adds a feature.
    fn add(&mut self, feature: usize) -> Result<()>;

    /// Takes a present feature out.
    fn remove(&mut self, feature: usize) -> Result<()>;
}

impl Scorer {
    /// Its word on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Knn { .. } => "knn",
            Self::Lda => "lda",
            Self::Ridge { .. } => "ridge",
            Self::Logistic { .. } => "logistic",
        }
    }

    /// Whether it can learn this.
    pub(crate) fn check(&self, goal: &Goal) -> Result<()> {
        let sound = match self {
            Self::Knn { n_neighbors } => *n_neighbors > 0,
            Self::Lda => true,
            Self::Ridge { alpha } => *alpha >= 0.0 && alpha.is_finite(),
            Self::Logistic { c } => *c > 0.0 && c.is_finite(),
        };
        if !sound {
            return Err(Error::setting(
                format!("{self:?}"),
                "knn needs at least 1 neighbour, ridge a weight of at least 0, logistic one above 0",
                "Give such a number",
            ));
        }
        if matches!((self, goal), (Self::Lda | Self::Logistic { .. }, Goal::Numbers(_))) {
            return Err(Error::setting(
                format!("the scorer {} for labels that are numbers", self.name()),
                "it tells classes apart",
                "Use knn or ridge, or give classes",
            ));
        }
        Ok(())
    }

    /// Learns from nothing yet.
    pub(crate) fn begin<'a>(&self, task: Task<'a>) -> Result<Box<dyn Learner + 'a>> {
        Ok(match *self {
            Self::Knn { n_neighbors } => Box::new(knn::Knn::new(task, n_neighbors)),
            Self::Lda => Box::new(lda::Lda::new(task)?),
            Self::Ridge { alpha } => Box::new(ridge::Ridge::new(task, alpha)?),
            Self::Logistic { c } => Box::new(logistic::Logistic::new(task, c)?),
        })
    }
}
