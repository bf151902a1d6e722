//! What T² and the squared prediction error usually are: those of reference rows, summed up.

use super::Novelty;
use crate::error::{Error, Result};

/// Quantiles that are kept of many rows.
const KEPT: usize = 257;
/// Of these, evenly spaced ones; the others become denser towards the largest value.
const EVEN: usize = 129;
/// The share of rows above the last evenly spaced one.
const TAIL: f64 = 0.1;
/// Powers of ten over which the tail is spread.
const DECADES: f64 = 4.0;

/// Mean, variance and quantiles of a statistic over rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Its mean.
    pub mean: f64,
    /// Its variance, divided by the number of rows less one.
    pub variance: f64,
    /// Rows it was taken over.
    rows: usize,
    /// The values themselves, smallest first, or quantiles of them where there are many.
    pub(super) quantiles: Vec<f64>,
}

/// T² and squared prediction errors of reference rows, summed up: what limits are taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Rows.
    pub rows: usize,
    /// Whether these are the rows of the fit, whose squared prediction error is smaller than that of others.
    pub in_sample: bool,
    /// Of T².
    pub t_squared: Spread,
    /// Of the squared prediction error.
    pub spe: Spread,
}

impl Reference {
    /// Sums up rows that the model was not fitted on.
    ///
    /// # Errors
    /// When there are no rows.
    pub fn of(rows: &Novelty) -> Result<Self> {
        let n = rows.t_squared.len();
        if n == 0 || rows.spe.len() != n {
            return Err(Error::data(
                format!("{n} reference rows with {} squared prediction errors", rows.spe.len()),
                "limits need at least one row, and both numbers of each",
                "Give a few hundred rows that are known to be normal",
            ));
        }
        let (t_squared, spe) = (Spread::of(&rows.t_squared), Spread::of(&rows.spe));
        Ok(Self { rows: n, in_sample: false, t_squared, spe })
    }
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n.max(1) as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantiles = match n <= KEPT {
            true => sorted,
            false => (0..KEPT).map(|at| between(&sorted, place(at) * (n - 1) as f64)).collect(),
        };
        Self { mean, variance: squares / n.saturating_sub(1).max(1) as f64, rows: n, quantiles }
    }

    /// Numbers that are kept of so many rows.
    pub(super) fn kept(rows: usize) -> usize {
        rows.min(KEPT)
    }

    /// From the numbers of a file, which are checked.
    pub(super) fn from_parts(rows: usize, moments: &[f64], quantiles: &[f64]) -> Option<Self> {
        let &[mean, variance] = moments else { return None };
        let sorted = quantiles.windows(2).all(|pair| pair[0] <= pair[1]);
        let positive = quantiles.first().is_some_and(|least| *least >= 0.0);
        let sound =
            sorted && positive && mean >= 0.0 && variance >= 0.0 && quantiles.len() == Self::kept(rows);
        sound.then(|| Self { mean, variance, rows, quantiles: quantiles.to_vec() })
    }

    /// The `rank`-th smallest value, counted from 1; interpolated where only quantiles are kept.
    pub(super) fn ranked(&self, rank: usize) -> f64 {
        let rank = rank.clamp(1, self.rows.max(1)) - 1;
        if self.rows <= KEPT {
            return self.quantiles.get(rank).copied().unwrap_or(f64::NAN);
        }
        let share = rank as f64 / (self.rows - 1) as f64;
        let next = (1..KEPT).find(|at| place(*at) >= share).unwrap_or(KEPT - 1);
        let (low, high) = (place(next - 1), place(next));
        between(&self.quantiles, (next - 1) as f64 + (share - low) / (high - low))
    }

    /// Share of the rows that lie above `limit`.
    pub fn share_above(&self, limit: f64) -> f64 {
        let below = self.quantiles.partition_point(|value| *value <= limit);
        if self.rows <= KEPT {
            return (self.rows - below) as f64 / self.rows.max(1) as f64;
        }
        match below {
            0 => 1.0,
            KEPT => 0.0,
            at => {
                let (low, high) = (self.quantiles[at - 1], self.quantiles[at]);
                let part = if high > low { (limit - low) / (high - low) } else { 0.0 };
                1.0 - (place(at - 1) + part * (place(at) - place(at - 1)))
            }
        }
    }
}

/// Share of the rows below quantile `at` of those kept.
fn place(at: usize) -> f64 {
    if at < EVEN {
        return (1.0 - TAIL) * at as f64 / (EVEN - 1) as f64;
    }
    let step = (at + 1 - EVEN) as f64 / (KEPT - 1 - EVEN) as f64;
    if at + 1 >= KEPT { 1.0 } else { 1.0 - TAIL * 10f64.powf(-DECADES * step) }
}

/// The value at a place between two of a list.
fn between(values: &[f64], place: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    let at = (place.max(0.0).floor() as usize).min(last);
    let (low, high) = (values.get(at), values.get((at + 1).min(last)));
    let (low, high) = (low.copied().unwrap_or(f64::NAN), high.copied().unwrap_or(f64::NAN));
    low + (place - at as f64).clamp(0.0, 1.0) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_kept_as_they_are_and_many_by_quantiles() {
        let few: Vec<f64> = (0..99).map(|i| f64::from((i * 37) % 99)).collect();
        let spread = Spread::of(&few);
        assert_eq!((spread.ranked(1), spread.ranked(99), spread.ranked(50)), (0.0, 98.0, 49.0));
        assert_eq!(spread.share_above(97.0), 1.0 / 99.0);
        assert_eq!((spread.share_above(-1.0), spread.share_above(98.0)), (1.0, 0.0));
        assert!((spread.mean - 49.0).abs() < 1e-12 && (spread.variance - 825.0).abs() < 1e-9);
        // Of many, the square of a uniform number: the tail is fine, the middle coarse.
        let n = 100_000;
        let many: Vec<f64> = (0..n).map(|i| (((i * 7919) % n) as f64).powi(2)).collect();
        let spread = Spread::of(&many);
        assert_eq!(spread.quantiles.len(), KEPT);
        for rank in [1, 2, 777, 50_000, 90_000, 99_000, 99_900, 99_990, 100_000] {
            let (found, exact) = (spread.ranked(rank), ((rank - 1) as f64).powi(2));
            assert!((found - exact).abs() <= 1e-4 * (n as f64).powi(2), "{rank}: {found} {exact}");
            let share = spread.share_above(exact);
            assert!((share - (n - rank) as f64 / n as f64).abs() < 1e-3, "{rank}: {share}");
        }
        assert!((spread.ranked(99_990) / 99_989f64.powi(2) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn numbers_that_no_rows_have_are_refused() {
        let good = Spread::of(&[1.0, 2.0, 4.0]);
        let (moments, quantiles) = ([good.mean, good.variance], [1.0, 2.0, 4.0]);
        assert_eq!(Spread::from_parts(3, &moments, &quantiles), Some(good));
        assert_eq!(Spread::from_parts(4, &moments, &quantiles), None);
        assert_eq!(Spread::from_parts(3, &moments, &[2.0, 1.0, 4.0]), None);
        assert_eq!(Spread::from_parts(3, &moments, &[-1.0, 2.0, 4.0]), None);
        assert_eq!(Spread::from_parts(3, &[1.0, -1.0], &quantiles), None);
        assert!(Reference::of(&Novelty { t_squared: vec![], spe: vec![] }).is_err());
    }
}
