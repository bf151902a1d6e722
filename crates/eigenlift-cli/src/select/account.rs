//! A selection in the form that programs read.

use super::found::Found;
use super::resume::Kept;
use crate::labels;
use crate::outputs::Written;
use crate::table::DataAccount;
use eigenlift_select::{FeatureScore, Step, Subset};
use serde::Serialize;
use serde_json::{Value, json};

/// Its keys stay.
#[derive(Debug, Serialize)]
pub(super) struct SelectAccount<'a> {
    command: String,
    version: &'static str,
    data: &'a DataAccount,
    method: &'static str,
    labels: Value,
    n_features: usize,
    selected: Vec<&'a str>,
    columns: Option<String>,
    sentence: &'a str,
    scorer: Value,
    measure: Option<&'static str>,
    n_folds: usize,
    guess: Option<f64>,
    /// Of filters: what they say of each column, in the order of the table.
    scores: Vec<Value>,
    steps: Vec<Value>,
    /// The best set found of each size.
    subsets: Vec<Value>,
    /// Which of the sets has the best score, and which was chosen, from 0.
    best: Option<usize>,
    chosen: Option<usize>,
    nested: Value,
    stopped: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_steps: Option<usize>,
    warnings: Vec<String>,
    seconds: f64,
    files: &'a [Written],
}

impl Found<'_> {
    /// What was found, in the form that programs read.
    pub(super) fn account<'a>(
        &'a self,
        kept: &Kept<'_>,
        seconds: f64,
        files: &'a [Written],
    ) -> SelectAccount<'a> {
        let (report, data) = (&self.report, &self.table.input.account);
        let score = |(j, score): (usize, &FeatureScore)| self.score(j, score);
        SelectAccount {
            command: format!("select {}", report.method),
            version: env!("CARGO_PKG_VERSION"),
            data,
            method: report.method.name(),
            labels: match labels::n_classes(&self.table.labels) {
                Some(n) => json!({ "kind": "classes", "n_classes": n }),
                None => json!({ "kind": "numbers" }),
            },
            n_features: report.n_features,
            selected: self.names_of(&report.selected),
            columns: self.columns(),
            sentence: &self.sentence,
            scorer: json!(report.scorer),
            measure: report.measure.map(|measure| measure.name()),
            n_folds: report.n_folds,
            guess: report.guess,
            scores: report.scores.iter().enumerate().map(score).collect(),
            steps: report.steps.iter().map(|step| self.step(step)).collect(),
            subsets: report.subsets.iter().map(|subset| self.subset(subset)).collect(),
            best: report.best,
            chosen: report.chosen,
            nested: self.nested(),
            stopped: report.stopped.as_deref(),
            resumed_steps: kept.n_earlier,
            warnings: data.warnings.iter().chain(&report.warnings).cloned().collect(),
            seconds,
            files,
        }
    }

    fn score(&self, j: usize, score: &FeatureScore) -> Value {
        let mut value = json!({ "feature": self.names[j], "score": score.value });
        let more =
            [("error", score.error), ("p_value", score.p_value), ("family_p_value", score.family_p_value)];
        for (key, number) in more.into_iter().filter(|(_, number)| number.is_some()) {
            value[key] = json!(number);
        }
        if let Some(kind) = self.report.kinds.get(j) {
            value["kind"] = json!(kind);
        }
        value
    }

    fn step(&self, step: &Step) -> Value {
        json!({
            "feature": self.names[step.feature],
            "action": if step.added { "added" } else { "removed" },
            "n_features": step.n_features,
            "value": step.value,
            "score": step.score,
            "spread": step.spread,
            "fold_scores": step.fold_scores,
        })
    }

    fn subset(&self, subset: &Subset) -> Value {
        json!({
            "n_features": subset.features.len(),
            "features": self.names_of(&subset.features),
            "score": subset.score,
            "spread": subset.spread,
            "fold_scores": subset.fold_scores,
        })
    }

    fn nested(&self) -> Value {
        let Some(nested) = &self.report.nested else { return Value::Null };
        let selected: Vec<Vec<&str>> =
            nested.selected.iter().map(|features| self.names_of(features)).collect();
        let frequency: serde_json::Map<String, Value> =
            self.names.iter().cloned().zip(nested.frequency.iter().map(|share| json!(share))).collect();
        json!({
            "score": nested.score,
            "spread": nested.spread,
            "fold_scores": nested.fold_scores,
            "selected": selected,
            "frequency": frequency,
        })
    }
}
