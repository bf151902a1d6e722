//! Accuracy on held-out rows for each κ, from the moments of folds and one more reading of the rows, (C25).

use super::Job;
use super::classify::{Rule, most_probable};
use super::solve::Within;
use super::sums::Sums;
use crate::error::{Error, Result};
use crate::factor::{RegularizationCurve, SHARES};
use crate::features::FeatureRows;
use crate::linalg::{Onto, combine};
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::stats::mean_and_error;
use rayon::prelude::*;

/// Scores that are closer than this are equal.
const TIE: f64 = 1e-12;

/// What the rows outside a fold say about classes, for every κ.
struct FoldRules {
    mean: Vec<f64>,
    /// W of every κ side by side.
    directions: Matrix<f64>,
    /// One for each κ.
    rules: Vec<Rule>,
}

/// What came out for the held-out rows of each fold.
pub(super) struct Trials {
    /// Held-out rows of each fold.
    rows: Vec<f64>,
    /// Rows classified rightly: fold by fold, one for each κ.
    right: Vec<Vec<f64>>,
    /// −Σ log p of the true class: fold by fold, one for each κ.
    loss: Vec<Vec<f64>>,
}

/// Classifies each row by the rows of the other folds.
///
/// Cost: 9m³ flops for each fold, then one reading of the rows and 2·m·(classes − 1) flops a row for each κ.
pub(super) fn cross_validate(job: &Job<'_>, sums: &Sums, kappas: &[f64], watch: &Watch) -> Result<Trials> {
    let folds = job.labels.n_folds;
    watch.step("directions of folds", 0, folds)?;
    let mut found = Err(Error::Cancelled);
    job.engine.run(&mut || {
        // Why: each decomposition runs in one thread, so that folds may run at once and bits stay the same.
        let rules: Vec<Result<FoldRules>> = (0..folds)
            .into_par_iter()
            .with_max_len(1)
            .map(|fold| {
                watch.check()?;
                FoldRules::new(&Within::new(&sums.without(fold)?)?, kappas)
            })
            .collect();
        found = rules.into_iter().collect::<Result<Vec<_>>>();
    });
    let rules = found?;
    let mut trials = Trials {
        rows: vec![0.0; folds],
        right: vec![vec![0.0; kappas.len()]; folds],
        loss: vec![vec![0.0; kappas.len()]; folds],
    };
    job.factor.each_piece(job.x.points(), "held-out rows", watch, &mut |first, rows| {
        for (fold, rule) in rules.iter().enumerate() {
            trials.add(fold, rule, (first, &rows), job);
        }
        Ok(())
    })?;
    Ok(trials)
}

impl FoldRules {
    fn new(within: &Within, kappas: &[f64]) -> Result<Self> {
        let (directions, means) = within.all(kappas)?;
        let rule = |means| Rule { means, priors: within.priors().to_vec() };
        Ok(Self { mean: within.mean().to_vec(), directions, rules: means.into_iter().map(rule).collect() })
    }

    /// (f − mean)ᵀW of some rows.
    fn places(&self, rows: &FeatureRows, which: &[usize]) -> Matrix<f64> {
        let mut centred = Matrix::zeros(which.len(), self.mean.len());
        let mut view = centred.view_mut();
        for (at, i) in which.iter().enumerate() {
            let entries = view.row_mut(at).iter_mut().zip(rows.features.row(*i)).zip(&self.mean);
            entries.for_each(|((out, f), mean)| *out = f - mean);
        }
        let mut out = Matrix::zeros(which.len(), self.directions.n_cols());
        combine(out.view_mut(), Onto::Replace, 1.0, centred.view(), self.directions.view());
        out
    }
}

impl Trials {
    fn add(&mut self, fold: usize, rules: &FoldRules, (first, rows): (usize, &FeatureRows), job: &Job<'_>) {
        let labels = job.labels;
        let own: Vec<usize> =
            (0..rows.features.n_rows()).filter(|i| labels.folds[first + i] as usize == fold).collect();
        let places = rules.places(rows, &own);
        let width = labels.n_classes() - 1;
        let outcomes: Vec<Vec<(bool, f64)>> = own
            .par_iter()
            .enumerate()
            .map(|(at, i)| {
                let class = labels.classes[first + i];
                let mut values = vec![0.0; labels.n_classes()];
                let judge = |(number, rule): (usize, &Rule)| {
                    let place = &places.row(at)[number * width..][..width];
                    rule.log_probabilities_of(place, &mut values);
                    (most_probable(&values) == class, -values[class as usize])
                };
                rules.rules.iter().enumerate().map(judge).collect()
            })
            .collect();
        self.rows[fold] += own.len() as f64;
        for (number, (right, loss)) in outcomes.iter().flat_map(|row| row.iter().enumerate()) {
            self.right[fold][number] += f64::from(u8::from(*right));
            self.loss[fold][number] += loss;
        }
    }

    /// Mean over folds of the share of held-out rows that were classified rightly, and its standard error.
    pub(super) fn accuracy(&self, number: usize) -> (f64, f64) {
        let shares: Vec<f64> =
            self.right.iter().zip(&self.rows).map(|(right, rows)| right[number] / rows.max(1.0)).collect();
        mean_and_error(&shares)
    }

    /// Accuracy where each fold is judged with the κ that the other folds choose, (C67): mean over folds and standard error.
    pub(super) fn nested_accuracy(&self) -> (f64, f64) {
        let share = |fold: usize| {
            let others: Vec<usize> = (0..self.rows.len()).filter(|other| *other != fold).collect();
            self.right[fold][self.chosen(&others)] / self.rows[fold].max(1.0)
        };
        mean_and_error(&(0..self.rows.len()).map(share).collect::<Vec<f64>>())
    }

    /// The κ with the best mean accuracy over some folds, of equals the least log-loss, of equals the largest κ.
    fn chosen(&self, folds: &[usize]) -> usize {
        let score = |number: usize| -> f64 {
            let share = |fold: &usize| self.right[*fold][number] / self.rows[*fold].max(1.0);
            folds.iter().map(share).sum::<f64>() / folds.len().max(1) as f64
        };
        let loss = |number: usize| -> f64 { folds.iter().map(|fold| self.loss[*fold][number]).sum() };
        let mut chosen = 0;
        for number in 1..SHARES.len() {
            let gain = score(number) - score(chosen);
            if gain > TIE || (gain >= -TIE && loss(number) <= loss(chosen) * (1.0 + TIE)) {
                chosen = number;
            }
        }
        chosen
    }

    /// The accuracy of every κ, and which was chosen by all folds.
    pub(super) fn curve(&self) -> RegularizationCurve {
        let (scores, errors): (Vec<f64>, Vec<f64>) =
            (0..SHARES.len()).map(|number| self.accuracy(number)).unzip();
        let chosen = self.chosen(&(0..self.rows.len()).collect::<Vec<usize>>());
        RegularizationCurve { shares: SHARES.to_vec(), scores, errors, chosen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AnySamples, iris};
    use crate::factor::Regularization;
    use crate::methods::KernelDiscriminant;
    use crate::methods::kernel_discriminant::labels::Labels;

    // A linear kernel has the same features whatever the rows, so that a fit of the rows outside a fold is the reference.
    #[test]
    fn each_fold_is_classified_as_by_a_fit_of_the_others() {
        let x: AnySamples = iris().unwrap().samples.into();
        let classes: Vec<u32> = (0..150).map(|row| row / 50).collect();
        let settings = KernelDiscriminant::new().kernel("linear".parse().unwrap());
        let labels = Labels::new(&classes, 150, &[]).unwrap().split(3, 4, &mut Vec::new());
        let factor = settings.features.of(&x).unwrap();
        let engine = settings.features.running_engine().unwrap();
        let watch = Watch::default();
        let job = Job { settings: &settings, factor: &factor, x: &x, labels: &labels, engine: &*engine };
        let sums = Sums::read(&factor, x.points(), (&labels, false), &watch).unwrap();
        let kappas = [0.003, 0.5];
        let trials = cross_validate(&job, &sums, &kappas, &watch).unwrap();
        for fold in 0..3u32 {
            let (out, rest): (Vec<usize>, Vec<usize>) = (0..150).partition(|row| labels.folds[*row] == fold);
            let of = |rows: &[usize]| rows.iter().map(|row| classes[*row]).collect::<Vec<u32>>();
            for (number, kappa) in kappas.iter().enumerate() {
                let fixed = settings.clone().folds(0).regularization(Regularization::Value(*kappa));
                let model = fixed.fit(&x.gather(&rest), &of(&rest)).unwrap();
                let held_out = x.gather(&out);
                let found = model.predict(held_out.points()).unwrap();
                let right = found.iter().zip(of(&out)).filter(|(a, b)| **a == *b).count() as f64;
                assert_eq!(trials.right[fold as usize][number], right);
                let logs = model.log_probabilities(held_out.points()).unwrap();
                let loss: f64 = of(&out).iter().enumerate().map(|(i, c)| -logs[(i, *c as usize)]).sum();
                assert!((trials.loss[fold as usize][number] - loss).abs() < 1e-9 * loss.max(1.0));
            }
        }
        assert_eq!(trials.rows.iter().sum::<f64>(), 150.0);
    }

    #[test]
    fn equal_accuracies_are_decided_by_the_loss_and_then_by_the_larger_share() {
        let trials = |loss: &dyn Fn(usize) -> f64| Trials {
            rows: vec![10.0, 10.0],
            right: vec![(0..13).map(|k| if k < 4 { 8.0 } else { 9.0 }).collect(); 2],
            loss: vec![(0..13).map(loss).collect(); 2],
        };
        assert_eq!(trials(&|_| 1.0).curve().chosen, 12);
        assert_eq!(trials(&|k| if k == 6 { 0.5 } else { 1.0 }).curve().chosen, 6);
        assert_eq!(trials(&|k| if k == 2 { 0.1 } else { 2.0 - k as f64 * 0.1 }).curve().chosen, 12);
        let (mean, error) = trials(&|_| 1.0).accuracy(5);
        assert_eq!((mean, error), (0.9, 0.0));
    }

    /// (C67) by hand: what a fold itself says of κ does not count for it.
    #[test]
    fn each_fold_is_judged_with_the_choice_of_the_others() {
        let right = |best: usize| (0..13).map(|number| if number == best { 10.0 } else { 4.0 }).collect();
        let trials = Trials {
            rows: vec![10.0; 3],
            right: vec![right(1), right(1), right(7)],
            loss: vec![vec![1.0; 13]; 3],
        };
        // Folds 1 and 2 choose κ 1 for fold 3; for the others κ 1 and κ 7 are equal, and the larger is taken.
        assert_eq!(trials.curve().chosen, 1);
        assert!((trials.nested_accuracy().0 - 0.4).abs() < 1e-15);
    }
}
