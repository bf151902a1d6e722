//! Correlations on held-out rows, from moments of folds alone, and the choice of κ by them.

use super::moments::FoldMoments;
use super::solve::{Whitening, plain_correlations};
use crate::error::Result;
use crate::methods::folds::mean_and_error;
use crate::methods::kernelised::regularization::{RegularizationCurve, SHARES};
use crate::progress::Watch;
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
    (k, watch): (usize, &Watch),
) -> Result<Vec<Vec<f64>>> {
    let rest = moments.without(fold)?;
    let share = rest.weight() / moments.whole.weight();
    let rounding: Vec<Option<f64>> =
        moments.rounding.iter().map(|all| all.map(|rounding| share * rounding)).collect();
    let whitening = Whitening::of(&rest, &moments.layout, &rounding, watch)?;
    let scatter = moments.folds[fold].scatter();
    let correlations = |kappas: &Vec<f64>| {
        watch.check()?;
        let solution = whitening.solve(kappas, k, watch)?;
        let mut found = plain_correlations(scatter, &moments.layout, &solution.directions);
        found.resize(k, 0.0);
        Ok(found)
    };
    candidates.iter().map(correlations).collect()
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
        let chosen = (0..candidates).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0);
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
