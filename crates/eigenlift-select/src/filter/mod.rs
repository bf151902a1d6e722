//! Filters: features in order of merit, without a model.

mod counts;
mod greedy;
mod hsic;
mod variance;

use super::columns::{Columns, Goal};
use super::information::{Estimator, FeatureScore};
use super::kinds::Kind;
use eigenlift::error::Result;
use eigenlift::kernel::KernelSpec;
use eigenlift::progress::Watch;
use rayon::prelude::*;

/// Columns that are scored between two looks at the watch.
const COLUMNS_AT_A_TIME: usize = 64;

/// How features are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Mutual information with the goal, (S4).
    Information,
    /// Minimal redundancy and maximal relevance, (S8).
    MinimalRedundancy,
    /// Joint mutual information, (S9).
    JointInformation,
    /// F of the analysis of variance for classes, (S10), of the linear correlation for numbers, (S11).
    FScore,
    /// χ² of counts against classes, (S12).
    ChiSquared,
    /// Kernel dependence, (S13).
    Hsic,
}

/// What filters can be told.
#[derive(Clone, Debug)]
pub(crate) struct FilterSettings {
    pub(crate) estimator: Estimator,
    pub(crate) kernel: KernelSpec,
    pub(crate) permutations: usize,
    pub(crate) seed: u64,
}

/// Features in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranking {
    /// The best first.
    pub(crate) order: Vec<usize>,
    /// What each was taken for, in the order taken.
    pub(crate) values: Vec<f64>,
    /// Of every feature by itself, in the order of the columns.
    pub(crate) scores: Vec<FeatureScore>,
}

impl Ranking {
    /// By score, the largest first; equal scores in the order of the columns.
    fn by_score(scores: Vec<FeatureScore>, most: usize) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        // Numerics: −0 is 0.
        let value = |j: usize| scores[j].value + 0.0;
        order.sort_by(|a, b| value(*b).total_cmp(&value(*a)));
        order.truncate(most);
        Self { values: order.iter().map(|j| scores[*j].value).collect(), order, scores }
    }
}

impl Filter {
    /// Puts at most `most` features in order. All are scored, whatever `most` is.
    ///
    /// Permutations give p-values to information (for mRMR and JMI that of each feature by itself) and to kernel dependence;
    /// F and χ² have p-values by their distributions.
    ///
    /// Cost: one estimate for each of the d columns, and (most − 1)·d more for mRMR and JMI; n·d for F and χ²; for HSIC see
    /// [`hsic`].
    ///
    /// # Errors
    /// When the filter cannot take these columns or labels, and when the work is cancelled.
    pub(crate) fn rank(
        self,
        (x, kinds, goal): (&Columns, &[Kind], &Goal),
        most: usize,
        settings: &FilterSettings,
        watch: &Watch,
    ) -> Result<Ranking> {
        let with_goal = || {
            let permuted = (settings.permutations, settings.seed);
            settings.estimator.with_goal((x, kinds, goal), permuted, watch)
        };
        let scores = match self {
            Self::MinimalRedundancy | Self::JointInformation => {
                let greedy = greedy::Greedy::new((x, kinds, goal), settings.estimator);
                let joint = self == Self::JointInformation;
                return greedy.rank(with_goal()?, (most, joint), watch);
            }
            Self::Information => with_goal()?,
            Self::FScore => variance::scores(x, goal, watch)?,
            Self::ChiSquared => counts::scores(x, goal, watch)?,
            Self::Hsic => hsic::scores((x, goal), settings, watch)?,
        };
        Ok(Ranking::by_score(scores, most))
    }
}

/// The score of each column, many at once; the error is that of the first column that has one.
fn each_column(
    n_cols: usize,
    watch: &Watch,
    score: impl Fn(usize) -> Result<FeatureScore> + Sync,
) -> Result<Vec<FeatureScore>> {
    let mut scores = Vec::with_capacity(n_cols);
    while scores.len() < n_cols {
        watch.step("features", scores.len(), n_cols)?;
        let columns = scores.len()..(scores.len() + COLUMNS_AT_A_TIME).min(n_cols);
        let found: Vec<Result<FeatureScore>> = columns.into_par_iter().map(&score).collect();
        for score in found {
            scores.push(score?);
        }
    }
    watch.step("features", n_cols, n_cols)?;
    Ok(scores)
}

#[cfg(test)]
mod tests;
