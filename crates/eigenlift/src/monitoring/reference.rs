//! What T² and the squared prediction error usually are: those of reference samples.

use super::{Novelty, ScoreMoments};
use crate::error::{Error, Result};
use crate::random::{Purpose, Stream};

/// T² and squared prediction errors of reference samples: what limits are taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Both numbers of each sample; no squared prediction errors where they are not known.
    pub numbers: Novelty,
    /// Whether these are the samples of the fit, whose squared prediction error is smaller than that of others.
    pub in_sample: bool,
    /// Whether these are the samples of the fit, each judged by a model that was fitted on others.
    pub cross_validated: bool,
}

impl Reference {
    /// Most reference samples that a model keeps.
    pub(crate) const MOST_KEPT: usize = 5000;

    /// From samples that the model was not fitted on.
    ///
    /// # Errors
    /// When there are no samples, or not both numbers of each; the squared prediction errors may all be missing.
    pub fn of(rows: &Novelty) -> Result<Self> {
        let (n, errors) = (rows.t_squared.len(), rows.spe.len());
        if n == 0 || (errors != n && errors != 0) {
            return Err(Error::data(
                format!("{n} reference rows with {errors} squared prediction errors"),
                "limits need at least one row, and both numbers of each",
                "Give a few hundred rows that are known to be normal",
            ));
        }
        Ok(Self { numbers: rows.clone(), in_sample: false, cross_validated: false })
    }

    /// Reference samples.
    pub fn n_samples(&self) -> usize {
        self.numbers.t_squared.len()
    }

    /// T² alone.
    pub(crate) fn without_spe(&self) -> Self {
        let numbers = Novelty { spe: Vec::new(), ..self.numbers.clone() };
        Self { numbers, ..*self }
    }

    /// No more than [`Reference::MOST_KEPT`] of them, drawn at random.
    pub(crate) fn kept(self, seed: u64) -> Self {
        if self.n_samples() <= Self::MOST_KEPT {
            return self;
        }
        let some = Stream::new(seed, Purpose::ReferenceRows).rows(self.n_samples(), Self::MOST_KEPT);
        let take = |values: &[f64]| some.iter().filter_map(|at| values.get(*at).copied()).collect();
        let Novelty { t_squared, spe, scores } = &self.numbers;
        let numbers = Novelty { t_squared: take(t_squared), spe: take(spe), scores: scores.clone() };
        Self { numbers, ..self }
    }

    /// From the numbers of a file, T² first, and the moments of scores; `None` for what no samples have.
    pub(crate) fn from_numbers(numbers: &[f64], scores: ScoreMoments, cross_validated: bool) -> Option<Self> {
        let (t_squared, spe) = numbers.split_at(numbers.len() / 2);
        let sound = !t_squared.is_empty() && numbers.iter().all(|value| *value >= 0.0 && value.is_finite());
        let numbers = Novelty { t_squared: t_squared.to_vec(), spe: spe.to_vec(), scores };
        sound.then_some(Self { numbers, in_sample: !cross_validated, cross_validated })
    }
}

/// Mean, and variance divided by the number of samples less one.
pub(super) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, squares / (n - 1.0).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_KEPT: usize = Reference::MOST_KEPT;

    fn numbers(t_squared: Vec<f64>, spe: Vec<f64>) -> Novelty {
        Novelty { t_squared, spe, ..Novelty::default() }
    }

    #[test]
    fn moments_are_those_of_the_formulas() {
        let values: Vec<f64> = (0..99).map(f64::from).collect();
        let (mean, variance) = mean_and_variance(&values);
        assert!((mean - 49.0).abs() < 1e-12 && (variance - 825.0).abs() < 1e-9);
        assert_eq!(mean_and_variance(&[3.0]), (3.0, 0.0));
    }

    #[test]
    fn of_many_samples_some_are_kept_in_pairs() {
        let n = 3 * MOST_KEPT;
        let t_squared: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let spe = t_squared.iter().map(|t| 2.0 * t).collect();
        let kept = Reference::of(&Novelty { t_squared, spe, ..Novelty::default() }).unwrap().kept(1);
        assert_eq!(kept.n_samples(), MOST_KEPT);
        assert!(kept.numbers.t_squared.iter().zip(&kept.numbers.spe).all(|(t, s)| 2.0 * t == *s));
        let mean = mean_and_variance(&kept.numbers.t_squared).0 / n as f64;
        // The standard error of the mean of so many uniform numbers is 0.004.
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }

    #[test]
    fn numbers_that_no_samples_have_are_refused() {
        assert!(Reference::of(&numbers(vec![], vec![])).is_err());
        assert!(Reference::of(&numbers(vec![1.0, 2.0], vec![1.0])).is_err());
        assert!(Reference::of(&numbers(vec![1.0, 2.0], vec![])).is_ok());
        let found = Reference::from_numbers(&[1.0, 2.0, 3.0, 4.0], ScoreMoments::default(), true).unwrap();
        assert_eq!(
            (&found.numbers.t_squared[..], &found.numbers.spe[..]),
            (&[1.0, 2.0][..], &[3.0, 4.0][..])
        );
        assert!(found.cross_validated && !found.in_sample);
        assert_eq!(Reference::from_numbers(&[1.0, -2.0], ScoreMoments::default(), true), None);
        assert_eq!(Reference::from_numbers(&[1.0, f64::NAN], ScoreMoments::default(), true), None);
        assert_eq!(Reference::from_numbers(&[], ScoreMoments::default(), false), None);
    }
}
