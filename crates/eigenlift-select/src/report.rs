//! What a selection found.

use super::information::FeatureScore;
use super::kinds::Kind;
use super::scorers::{Measure, Scorer};
use super::settings::SelectionMethod;
use serde::{Deserialize, Serialize};

/// One step of a selection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The feature, counted from 0.
    pub feature: usize,
    /// Whether it was added; otherwise it was taken out.
    pub added: bool,
    /// Features present after the step.
    pub n_features: usize,
    /// What a filter took the feature for: its own measure, such as mutual information in nats.
    pub value: Option<f64>,
    /// Mean score on rows held out, after the step.
    pub score: Option<f64>,
    /// Standard error of that mean over folds; none with a single fold.
    pub spread: Option<f64>,
    /// The score on each fold.
    pub fold_scores: Vec<f64>,
}

/// The best set of features found of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subset {
    /// Features in the order in which they came.
    pub features: Vec<usize>,
    /// Mean score on rows held out.
    pub score: f64,
    /// Standard error of that mean over folds; none with a single fold.
    pub spread: Option<f64>,
    /// The score on each fold.
    pub fold_scores: Vec<f64>,
}

/// The whole selection done again without each of some parts of the rows, and judged on them: an honest score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nested {
    /// Mean score on rows that had no say in the selection.
    pub score: f64,
    /// Standard error of that mean over the parts; none with a single one.
    pub spread: Option<f64>,
    /// The score on each part.
    pub fold_scores: Vec<f64>,
    /// Features chosen without each part.
    pub selected: Vec<Vec<usize>>,
    /// In which share of the parts each feature was chosen, in the order of the columns.
    pub frequency: Vec<f64>,
}

/// What a selection found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectionReport {
    /// How features were selected.
    pub method: SelectionMethod,
    /// Rows and columns it was done on.
    pub n_rows: usize,
    /// Columns that there were.
    pub n_features: usize,
    /// The features chosen, in the order in which they came; the best first for filters and forward steps.
    pub selected: Vec<usize>,
    /// Filters: what they say of each feature by itself, in the order of the columns.
    pub scores: Vec<FeatureScore>,
    /// Filters of information: how each column was looked at.
    pub kinds: Vec<Kind>,
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// The best set found of each size, by size; empty where nothing was judged on rows held out.
    pub subsets: Vec<Subset>,
    /// Which of `subsets` has the best score.
    pub best: Option<usize>,
    /// Which of `subsets` was chosen.
    pub chosen: Option<usize>,
    /// What judged, where anything did.
    pub scorer: Option<Scorer>,
    /// By what.
    pub measure: Option<Measure>,
    /// Parts of the rows that were held out in turn.
    pub n_folds: usize,
    /// The score of a guess without any feature.
    pub guess: Option<f64>,
    /// The score of the whole procedure.
    pub nested: Option<Nested>,
    /// Why the search ended before all sizes were seen.
    pub stopped: Option<String>,
    /// What users should know.
    pub warnings: Vec<String>,
}
