//! Accuracy on held-out rows for each κ, from the moments of folds and one more reading of the rows, (C25).

use super::Work;
use super::classify::{Rule, most_probable};
use super::solve::Within;
use super::sums::Sums;
use crate::error::{Error, Result};
use crate::factor::{FEWEST_NESTED, RegularizationCurve, SHARES};
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

/// A model of the rows outside one fold or outside two.
struct Model {
    held_out: Vec<usize>,
    rules: FoldRules,
}

/// What came out for the rows of a fold: one entry for each κ.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// Rows classified rightly.
    right: Vec<f64>,
    /// −Σ log p of the true class.
    loss: Vec<f64>,
}

/// What came out for the held-out rows of each fold.
pub(super) struct Trials {
    /// Held-out rows of each fold.
    rows: Vec<f64>,
    /// Of each fold, by the model of the rows outside it.
    tallies: Vec<Tally>,
    /// `[outer][inner]`: of the fold `inner`, by the model of the rows outside both; nothing where no κ is chosen, or pairs of folds cannot be
    /// left out.
    inner: Vec<Vec<Tally>>,
}

/// Classifies each row by the rows of the other folds; where there are several κ also by those of all folds but its own and one more, for
/// each of these, (C67).
///
/// Cost for F folds: 9m³ flops for each fold, and for each of F(F − 1)/2 pairs of them where there are several κ, then one reading of the
/// rows and 2·m·(classes − 1) flops a row for each κ, about F/2 times as many with pairs.
pub(super) fn cross_validate(work: &Work<'_>, sums: &Sums, kappas: &[f64], watch: &Watch) -> Result<Trials> {
    let folds = work.labels.n_folds;
    watch.step("directions of folds", 0, folds)?;
    let mut models = work.models((0..folds).map(|fold| vec![fold]).collect(), (sums, kappas), watch)?;
    if kappas.len() > 1 && folds >= FEWEST_NESTED {
        let pairs = (0..folds).flat_map(|f| (f + 1..folds).map(move |g| vec![f, g])).collect();
        match work.models(pairs, (sums, kappas), watch) {
            // The few rows outside two folds may be alike where those of the fit are not.
            Err(Error::NoVariance { .. }) => (),
            found => models.extend(found?),
        }
    }
    let choosing = models.len() > folds;
    let mut rows = vec![0.0; folds];
    work.labels.folds.iter().for_each(|fold| rows[*fold as usize] += 1.0);
    let empty = |model: &Model| {
        let zeros = vec![0.0; model.rules.rules.len()];
        vec![Tally { right: zeros.clone(), loss: zeros }; model.held_out.len()]
    };
    let mut found: Vec<Vec<Tally>> = models.iter().map(empty).collect();
    work.factor.each_piece(work.x.points(), "held-out rows", watch, &mut |first, rows| {
        for (model, tallies) in models.iter().zip(&mut found) {
            for (fold, tally) in model.held_out.iter().zip(tallies) {
                tally.add(*fold, &model.rules, (first, &rows), work);
            }
        }
        Ok(())
    })?;
    let pairs = found.split_off(folds);
    let mut inner = vec![vec![Tally::default(); folds]; if choosing { folds } else { 0 }];
    for (model, tallies) in models[folds..].iter().zip(pairs) {
        // What rows of one fold say decides for the other.
        for (fold, (outer, tally)) in model.held_out.iter().zip(model.held_out.iter().rev().zip(tallies)) {
            inner[*outer][*fold] = tally;
        }
    }
    Ok(Trials { rows, tallies: found.into_iter().flatten().collect(), inner })
}

impl Work<'_> {
    /// Directions of every κ without each of these folds or pairs of them.
    fn models(
        &self,
        held_out: Vec<Vec<usize>>,
        (sums, kappas): (&Sums, &[f64]),
        watch: &Watch,
    ) -> Result<Vec<Model>> {
        let mut found = Err(Error::Cancelled);
        self.engine.run(&mut || {
            // Why: each decomposition runs in one thread, so that several may run at once and bits stay the same.
            let models: Vec<Result<Model>> = held_out
                .par_iter()
                .with_max_len(1)
                .map(|held_out| {
                    watch.check()?;
                    let rules = FoldRules::new(&Within::new(&sums.without(held_out)?)?, kappas)?;
                    Ok(Model { held_out: held_out.clone(), rules })
                })
                .collect();
            found = models.into_iter().collect();
        });
        found
    }
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

impl Tally {
    fn add(&mut self, fold: usize, rules: &FoldRules, (first, rows): (usize, &FeatureRows), work: &Work<'_>) {
        let labels = work.labels;
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
        for (number, (right, loss)) in outcomes.iter().flat_map(|row| row.iter().enumerate()) {
            self.right[number] += f64::from(u8::from(*right));
            self.loss[number] += loss;
        }
    }
}

impl Trials {
    fn share(&self, fold: usize, number: usize) -> f64 {
        self.tallies[fold].right[number] / self.rows[fold].max(1.0)
    }

    /// Mean over folds of the share of held-out rows that were classified rightly, and its standard error.
    pub(super) fn accuracy(&self, number: usize) -> (f64, f64) {
        let shares: Vec<f64> = (0..self.rows.len()).map(|fold| self.share(fold, number)).collect();
        mean_and_error(&shares)
    }

    /// Accuracy where each fold is judged with the κ that models which saw no row of it choose on the other folds, (C67): mean over folds
    /// and standard error. Nothing with two folds.
    pub(super) fn nested_accuracy(&self) -> Option<(f64, f64)> {
        let share = |(outer, inner): (usize, &Vec<Tally>)| {
            let others: Vec<(f64, &Tally)> = (0..inner.len())
                .filter(|fold| *fold != outer)
                .map(|fold| (self.rows[fold], &inner[fold]))
                .collect();
            self.share(outer, chosen(&others, SHARES.len()))
        };
        let shares: Vec<f64> = self.inner.iter().enumerate().map(share).collect();
        (!shares.is_empty()).then(|| mean_and_error(&shares))
    }

    /// The accuracy of every κ, and which was chosen by all folds.
    pub(super) fn curve(&self) -> RegularizationCurve {
        let (scores, errors): (Vec<f64>, Vec<f64>) =
            (0..SHARES.len()).map(|number| self.accuracy(number)).unzip();
        let all: Vec<(f64, &Tally)> = self.rows.iter().copied().zip(&self.tallies).collect();
        let chosen = chosen(&all, SHARES.len());
        RegularizationCurve { shares: SHARES.to_vec(), scores, errors, chosen }
    }
}

/// The κ with the best mean accuracy over some folds, of equals the least log-loss, of equals the largest κ, (C25). Folds are given by their
/// number of rows and what came out for these.
fn chosen(folds: &[(f64, &Tally)], n_kappas: usize) -> usize {
    let score = |number: usize| -> f64 {
        let shares = folds.iter().map(|(rows, tally)| tally.right[number] / rows.max(1.0));
        shares.sum::<f64>() / folds.len().max(1) as f64
    };
    let loss = |number: usize| -> f64 { folds.iter().map(|(_, tally)| tally.loss[number]).sum() };
    let mut chosen = 0;
    for number in 1..n_kappas {
        let gain = score(number) - score(chosen);
        if gain > TIE || (gain >= -TIE && loss(number) <= loss(chosen) * (1.0 + TIE)) {
            chosen = number;
        }
    }
    chosen
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
        let work = Work { settings: &settings, factor: &factor, x: &x, labels: &labels, engine: &*engine };
        let sums = Sums::read(&factor, x.points(), (&labels, false), &watch).unwrap();
        let kappas = [0.003, 0.5];
        let trials = cross_validate(&work, &sums, &kappas, &watch).unwrap();
        // What a fit of some rows says of the rows of a fold: how many are right, and −Σ log p.
        let of = |rows: &[usize]| rows.iter().map(|row| classes[*row]).collect::<Vec<u32>>();
        let reference = |rest: &[usize], fold: u32, kappa: f64| {
            let out: Vec<usize> = (0..150).filter(|row| labels.folds[*row] == fold).collect();
            let fixed = settings.clone().folds(0).regularization(Regularization::Value(kappa));
            let model = fixed.fit(&x.gather(rest), &of(rest)).unwrap();
            let held_out = x.gather(&out);
            let found = model.predict(held_out.points()).unwrap();
            let right = found.iter().zip(of(&out)).filter(|(a, b)| **a == *b).count() as f64;
            let logs = model.log_probabilities(held_out.points()).unwrap();
            let loss: f64 = of(&out).iter().enumerate().map(|(i, c)| -logs[(i, *c as usize)]).sum();
            (right, loss)
        };
        let same = |tally: &Tally, number: usize, (right, loss): (f64, f64)| {
            assert_eq!(tally.right[number], right);
            assert!((tally.loss[number] - loss).abs() < 1e-9 * loss.max(1.0));
        };
        let outside = |folds: &[u32]| -> Vec<usize> {
            (0..150).filter(|row| !folds.contains(&labels.folds[*row])).collect()
        };
        for fold in 0..3u32 {
            for (number, kappa) in kappas.iter().enumerate() {
                same(&trials.tallies[fold as usize], number, reference(&outside(&[fold]), fold, *kappa));
            }
            for inner in (0..3u32).filter(|inner| *inner != fold) {
                let tally = &trials.inner[fold as usize][inner as usize];
                for (number, kappa) in kappas.iter().enumerate() {
                    same(tally, number, reference(&outside(&[fold, inner]), inner, *kappa));
                }
            }
        }
        assert_eq!(trials.rows.iter().sum::<f64>(), 150.0);
    }

    #[test]
    fn equal_accuracies_are_decided_by_the_loss_and_then_by_the_larger_share() {
        let trials = |loss: &dyn Fn(usize) -> f64| {
            let right = (0..13).map(|k| if k < 4 { 8.0 } else { 9.0 }).collect();
            let tally = Tally { right, loss: (0..13).map(loss).collect() };
            Trials { rows: vec![10.0, 10.0], tallies: vec![tally; 2], inner: Vec::new() }
        };
        assert_eq!(trials(&|_| 1.0).curve().chosen, 12);
        assert_eq!(trials(&|k| if k == 6 { 0.5 } else { 1.0 }).curve().chosen, 6);
        assert_eq!(trials(&|k| if k == 2 { 0.1 } else { 2.0 - k as f64 * 0.1 }).curve().chosen, 12);
        let (mean, error) = trials(&|_| 1.0).accuracy(5);
        assert_eq!((mean, error), (0.9, 0.0));
        assert_eq!(trials(&|_| 1.0).nested_accuracy(), None);
    }

    /// (C67) by hand: what models that saw a fold say of κ does not count for it, nor what it says itself.
    #[test]
    fn each_fold_is_judged_with_the_choice_of_models_that_did_not_see_it() {
        let tally = |best: usize| Tally {
            right: (0..13).map(|number| if number == best { 10.0 } else { 4.0 }).collect(),
            loss: vec![1.0; 13],
        };
        let inner = |best: [usize; 3]| best.map(tally).to_vec();
        let trials = Trials {
            rows: vec![10.0; 3],
            tallies: vec![tally(4), tally(4), tally(12)],
            inner: vec![inner([12, 4, 4]), inner([4, 12, 4]), inner([4, 4, 12])],
        };
        assert_eq!(trials.curve().chosen, 4);
        let shares = [1.0, 1.0, 0.4];
        assert_eq!(trials.nested_accuracy(), Some(mean_and_error(&shares)));
    }
}
