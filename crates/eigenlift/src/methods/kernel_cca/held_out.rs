//! Correlations on held-out rows, from moments of folds alone, and the choice of κ by them.

use super::moments::FoldMoments;
use super::solve::{Whitening, plain_correlations};
use crate::error::Result;
use crate::factor::{RegularizationCurve, SHARES};
use crate::progress::Watch;
use crate::stats::mean_and_error;
use rayon::prelude::*;

/// Held-out correlations: `[fold][candidate][component]`. A component that the other folds do not have counts as 0.
pub(super) struct Study(Vec<Vec<Vec<f64>>>);

/// Fits every candidate, κ of each view, on all rows but those of a fold and correlates the scores of these, for each fold.
///
/// Cost: for each fold the axes of the views once, and a small eigenproblem for each candidate.
pub(super) fn study(
    moments: &FoldMoments,
    candidates: &[Vec<f64>],
    (k, at_once): (usize, usize),
    watch: &Watch,
) -> Result<Study> {
    let folds: Vec<usize> = (0..moments.folds.len()).collect();
    let mut found = Vec::with_capacity(folds.len());
    for group in folds.chunks(at_once.max(1)) {
        watch.step("held-out folds", found.len(), folds.len())?;
        let of_group: Vec<Result<Vec<Vec<f64>>>> =
            group.par_iter().map(|fold| of_fold(moments, *fold, candidates, (k, &watch.silent()))).collect();
        for fold in of_group {
            found.push(fold?);
        }
    }
    Ok(Study(found))
}

fn of_fold(
    moments: &FoldMoments,
    fold: usize,
    candidates: &[Vec<f64>],
    asked: (usize, &Watch),
) -> Result<Vec<Vec<f64>>> {
    let mut found = without(moments, &[fold], candidates, asked)?;
    Ok(found.swap_remove(0))
}

/// Fits every candidate on all rows but those of some folds and correlates the scores of each of these: `[fold][candidate][component]`.
fn without(
    moments: &FoldMoments,
    held_out: &[usize],
    candidates: &[Vec<f64>],
    (k, watch): (usize, &Watch),
) -> Result<Vec<Vec<Vec<f64>>>> {
    let rest = moments.without(held_out)?;
    let share = rest.weight() / moments.whole.weight();
    let rounding: Vec<Option<f64>> =
        moments.rounding.iter().map(|all| all.map(|rounding| share * rounding)).collect();
    let whitening = Whitening::of(&rest, &moments.layout, &rounding, watch)?;
    let mut found = vec![Vec::with_capacity(candidates.len()); held_out.len()];
    for kappas in candidates {
        watch.check()?;
        let solution = whitening.solve(kappas, k, watch)?;
        for (fold, found) in held_out.iter().zip(&mut found) {
            let scatter = moments.folds[*fold].scatter();
            let mut correlations = plain_correlations(scatter, &moments.layout, &solution.directions);
            correlations.resize(k, 0.0);
            found.push(correlations);
        }
    }
    Ok(found)
}

/// Correlations of held-out rows where κ is chosen on the other folds alone, (C60): mean over folds and standard error of each component.
///
/// A fit without two folds chooses for each of them, so that all inner folds together take one fit for each pair; every second
/// candidate takes part.
///
/// Cost: for F folds F(F − 1)/2 fits of half the candidates beside the F fits of all of them in [`study`].
pub(super) fn nested(
    moments: &FoldMoments,
    (study, candidates): (&Study, &[Vec<f64>]),
    (k, at_once): (usize, usize),
    watch: &Watch,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let n_folds = moments.folds.len();
    let tried: Vec<usize> = (0..candidates.len()).step_by(2).collect();
    let own: Vec<Vec<f64>> = tried.iter().map(|at| candidates[*at].clone()).collect();
    let pairs: Vec<[usize; 2]> = (0..n_folds).flat_map(|f| (f + 1..n_folds).map(move |g| [f, g])).collect();
    // Sums over inner folds and components, for each outer fold and candidate.
    let mut scores = vec![vec![0.0; tried.len()]; n_folds];
    for (done, group) in pairs.chunks(at_once.max(1)).enumerate() {
        watch.step("inner folds", (done * at_once).min(pairs.len()), pairs.len())?;
        let of_group: Vec<Result<Vec<Vec<Vec<f64>>>>> =
            group.par_iter().map(|pair| without(moments, pair, &own, (k, &watch.silent()))).collect();
        for (pair, found) in group.iter().zip(of_group) {
            // What held-out rows of one fold say decides for the other.
            for (inner, outer) in found?.iter().zip([pair[1], pair[0]]) {
                let sums = inner.iter().map(|components| components.iter().sum::<f64>());
                scores[outer].iter_mut().zip(sums).for_each(|(score, sum)| *score += sum);
            }
        }
    }
    let chosen: Vec<usize> = scores.iter().map(|scores| tried[best(scores)]).collect();
    Ok((0..k)
        .map(|j| {
            let folds: Vec<f64> =
                study.0.iter().zip(&chosen).map(|(fold, candidate)| fold[*candidate][j]).collect();
            mean_and_error(&folds)
        })
        .unzip())
}

/// The place of the largest number, of equals the last.
fn best(scores: &[f64]) -> usize {
    (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0)
}

impl Study {
    /// Mean over folds and standard error of each component's correlation for a candidate.
    pub(super) fn correlations(&self, candidate: usize) -> (Vec<f64>, Vec<f64>) {
        let k = self.0.first().and_then(|fold| fold.first()).map_or(0, Vec::len);
        (0..k)
            .map(|j| {
                let folds: Vec<f64> = self.0.iter().map(|fold| fold[candidate][j]).collect();
                mean_and_error(&folds)
            })
            .unzip()
    }

    /// The sum over components, mean over folds, of every candidate, and which is largest; of equals the one most held back,
    /// (C10).
    pub(super) fn curve(&self) -> RegularizationCurve {
        let candidates = self.0.first().map_or(0, Vec::len);
        let (scores, errors): (Vec<f64>, Vec<f64>) = (0..candidates)
            .map(|candidate| {
                let sums: Vec<f64> = self.0.iter().map(|fold| fold[candidate].iter().sum()).collect();
                mean_and_error(&sums)
            })
            .unzip();
        let chosen = best(&scores);
        RegularizationCurve {
            shares: SHARES[..candidates.min(SHARES.len())].to_vec(),
            scores,
            errors,
            chosen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_mean_is_chosen_and_of_equals_the_last() {
        let study = Study(vec![
            vec![vec![0.1, 0.0], vec![0.5, 0.2], vec![0.6, 0.1], vec![0.2, 0.2]],
            vec![vec![0.3, 0.0], vec![0.3, 0.2], vec![0.3, 0.2], vec![0.2, 0.2]],
        ]);
        let curve = study.curve();
        assert_eq!(curve.chosen, 2);
        assert!((curve.scores[2] - 0.6).abs() < 1e-15 && (curve.errors[2] - 0.1).abs() < 1e-15);
        let (means, errors) = study.correlations(1);
        assert!((means[0] - 0.4).abs() < 1e-15 && (errors[0] - 0.1).abs() < 1e-15);
        assert!((means[1] - 0.2).abs() < 1e-15 && errors[1] < 1e-15);
    }
}
