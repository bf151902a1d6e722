//! The whole selection done again without parts of the rows, and judged on them.

use super::recipe::{Data, Recipe};
use super::report::Nested;
use super::resume::Resume;
use super::search::mean_and_spread;
use super::splits::Split;
use eigenlift::error::Result;

impl Recipe {
    /// What can be refused before the work begins.
    pub(super) fn check_nested(&self, data: &Data, (split, around): (&Split, &Split)) -> Result<()> {
        let parts = around.folds(&data.goal, self.seed, &mut Vec::new())?;
        self.check_folds(&parts)?;
        for part in parts.iter().filter(|_| self.with_curve) {
            let goal = data.goal.of_rows(&part.train);
            let folds = split.of_rows(&part.train)?.folds(&goal, self.seed, &mut Vec::new())?;
            self.check_folds(&folds)?;
        }
        Ok(())
    }

    /// An honest score: rows that judge have no say in the selection, neither in the order of features nor in their number, (S25).
    ///
    /// Cost: that of the selection for each part.
    pub(super) fn nested(
        &self,
        data: &Data,
        (split, around): (&Split, &Split),
        warnings: &mut Vec<String>,
    ) -> Result<Nested> {
        let parts = around.folds(&data.goal, self.seed, &mut Vec::new())?;
        let quiet =
            Recipe { watch: self.watch.silent(), warnings: Vec::new(), filter: self.filter.clone(), ..*self };
        let mut fold_scores = Vec::with_capacity(parts.len());
        let mut selected = Vec::with_capacity(parts.len());
        let mut frequency = vec![0.0; data.columns.n_cols()];
        for (at, part) in parts.iter().enumerate() {
            self.watch.step("nested validation", at, parts.len())?;
            let rest = data.of_rows(&part.train);
            let inner = split.of_rows(&part.train)?;
            let features = quiet.outcome(&rest, &inner, 0, &mut Resume::none())?.selected;
            let mut learner = self.learner(data, part)?;
            for feature in &features {
                learner.add(*feature)?;
                frequency[*feature] += 1.0 / parts.len() as f64;
            }
            fold_scores.push(learner.score());
            selected.push(features);
        }
        if parts.len() < 2 {
            warnings.push("Nested validation on a single part has no standard error.".into());
        }
        let (score, spread) = mean_and_spread(&fold_scores);
        Ok(Nested { score, spread, fold_scores, selected, frequency })
    }
}
