//! A learner whose outputs are sums over the unknowns of a system.

use super::super::Learner;
use super::{Change, HeldOut, Solved};
use eigenlift::error::Result;
use eigenlift::progress::Watch;
use rayon::prelude::*;

/// How outputs of the rows held out come from a system.
pub(in super::super) trait Rule: Send + Sync {
    /// Outputs of each row.
    fn width(&self) -> usize;

    /// Outputs without features, row after row.
    fn start(&self) -> Vec<f64>;

    /// Changes the outputs by what one unknown does.
    fn shift(&self, outputs: &mut [f64], change: &Change<'_>);
}

/// Learns by such a rule.
pub(in super::super) struct Linear<R> {
    held_out: HeldOut,
    solved: Solved,
    rule: R,
    outputs: Vec<f64>,
    score: f64,
}

impl<R: Rule> Linear<R> {
    pub(in super::super) fn of(held_out: HeldOut, solved: Solved, rule: R) -> Self {
        let outputs = rule.start();
        let score = held_out.of_outputs(&outputs, rule.width());
        Self { held_out, solved, rule, outputs, score }
    }

    fn judged(&self, outputs: &[f64]) -> f64 {
        self.held_out.of_outputs(outputs, self.rule.width())
    }

    /// Cost: rows held out times outputs.
    fn changed(&self, change: Option<Change<'_>>) -> f64 {
        let Some(change) = change else { return self.score };
        let mut outputs = self.outputs.clone();
        self.rule.shift(&mut outputs, &change);
        self.judged(&outputs)
    }

    fn outputs_of(&self, solved: &Solved) -> Vec<f64> {
        let mut outputs = self.rule.start();
        solved.changes().for_each(|change| self.rule.shift(&mut outputs, &change));
        outputs
    }
}

impl<R: Rule> Learner for Linear<R> {
    fn score(&self) -> f64 {
        self.score
    }

    fn scores_with(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        let judge = |j: &usize| {
            watch.check()?;
            Ok(self.changed(self.solved.with(*j)))
        };
        features.par_iter().map(judge).collect()
    }

    fn scores_without(&self, features: &[usize], watch: &Watch) -> Result<Vec<f64>> {
        let inverse = self.solved.inverse();
        let judge = |j: &usize| {
            watch.check()?;
            if self.solved.frees(*j, &inverse) {
                return Ok(self.judged(&self.outputs_of(&self.solved.without(*j))));
            }
            Ok(self.changed(self.solved.taken_out(*j, &inverse)))
        };
        features.par_iter().map(judge).collect()
    }

    fn add(&mut self, feature: usize) -> Result<()> {
        if self.solved.is_present(feature) {
            return Ok(());
        }
        if let Some(change) = self.solved.with(feature) {
            self.rule.shift(&mut self.outputs, &change);
            self.score = self.held_out.of_outputs(&self.outputs, self.rule.width());
        }
        self.solved.add(feature);
        Ok(())
    }

    fn remove(&mut self, feature: usize) -> Result<()> {
        self.solved.remove(feature);
        self.outputs = self.outputs_of(&self.solved);
        self.score = self.judged(&self.outputs);
        Ok(())
    }
}
