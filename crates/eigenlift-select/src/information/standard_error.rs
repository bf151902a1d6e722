//! The standard error of an estimate by nearest neighbors: disjoint groups of rows.
//!
//! The terms c_i of (S4) share neighbors and are correlated, so that their variance says too little. Estimates from disjoint
//! groups of rows are independent of each other, and their variance is that of an estimate from so many rows, (S27).

use super::Estimate;
use eigenlift::random::{Purpose, Stream};
use eigenlift::stats::chi_squared_tail;
use std::f64::consts::PI;

/// Rows of a group at least, where there are enough for two.
const FEWEST_IN_GROUP: usize = 200;
/// Degrees of freedom of the variance: its own relative standard error is √(2/32) = 25 %, that of the standard error 12.5 %.
const DEGREES: usize = 32;
/// Least estimate, in standard errors, with which the bound at 0 is taken into account, (S28).
const LEAST: f64 = -1.25;
/// With fewer rows there are no groups.
const FEWEST_ROWS: usize = 8;

/// Random partitions of the rows into groups of equal size.
pub(super) struct Partitions {
    n_groups: usize,
    /// The group of each row, for each partition.
    pub(super) of_rows: Vec<Vec<u32>>,
}

impl Partitions {
    /// Depends on the number of rows alone.
    ///
    /// Cost: estimates for all groups take about as long as one of 6400 rows, or one of all rows where there are more.
    pub(super) fn new(n_rows: usize) -> Self {
        if n_rows < FEWEST_ROWS {
            return Self { n_groups: 0, of_rows: Vec::new() };
        }
        let n_groups = (n_rows / FEWEST_IN_GROUP).clamp(2, DEGREES + 1);
        let partition = |number: usize| {
            let mut stream = Stream::numbered(0, Purpose::ErrorGroups, number as u32);
            let mut groups: Vec<u32> = (0..n_rows).map(|i| (i % n_groups) as u32).collect();
            stream.shuffle(&mut groups);
            groups
        };
        Self { n_groups, of_rows: (0..DEGREES.div_ceil(n_groups - 1)).map(partition).collect() }
    }

    /// The standard error of `whole`, given the estimate of a group of a partition, (S27) and (S28).
    pub(super) fn error(&self, whole: &Estimate, of_group: impl Fn(&[u32], u32) -> Estimate) -> f64 {
        if self.of_rows.is_empty() || whole.error == 0.0 {
            return bounded(whole.mean, whole.error);
        }
        let g = self.n_groups as f64;
        let (mut between, mut within) = (0.0, 0.0);
        for partition in &self.of_rows {
            let groups: Vec<Estimate> =
                (0..self.n_groups as u32).map(|group| of_group(partition, group)).collect();
            let mean = groups.iter().map(|group| group.mean).sum::<f64>() / g;
            between += groups.iter().map(|group| (group.mean - mean).powi(2)).sum::<f64>() / (g - 1.0);
            within += groups.iter().map(|group| group.error * group.error).sum::<f64>() / g;
        }
        let count = self.of_rows.len() as f64;
        let (variance, alone) = (between / (g * count), within / (g * count));
        // Why a root: of the growth of the terms' own variance with n, about half is growth of the variance of their mean.
        let growth = if alone > 0.0 { whole.error / alone.sqrt() } else { 1.0 };
        bounded(whole.mean, (variance * growth).sqrt())
    }
}

/// The standard deviation of max(0, x) for normal x of this standard deviation, (S28).
///
/// Why twice the mean: the mean is an estimate itself, and its noise would smooth the step from 0 to 1 that this factor is.
pub(super) fn bounded(mean: f64, deviation: f64) -> f64 {
    let z = 2.0 * mean / deviation;
    if z.is_nan() || z > 8.0 {
        return deviation;
    }
    let z = z.max(LEAST);
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    let tail = 0.5 * chi_squared_tail(1.0, z * z);
    let below = if z > 0.0 { 1.0 - tail } else { tail };
    let first = z * below + density;
    let second = (z * z + 1.0) * below + z * density;
    deviation * (second - first * first).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    // √(1/2 − 1/(2π)) at 0; moments of max(0, x) by Simpson's rule elsewhere.
    #[test]
    fn bounded_deviations_are_those_of_the_integral() {
        assert!((bounded(0.0, 2.0) - 2.0 * (0.5 - 0.5 / PI).sqrt()).abs() < 1e-14);
        for mean in [-0.4, 0.3, 1.0, 2.5] {
            let z: f64 = 2.0 * mean;
            let (n, low, high) = (200_000, -z, 12.0);
            let step = (high - low) / f64::from(n);
            let moment = |power: i32| {
                let f = |x: f64| (x + z).powi(power) * (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
                let weight = |i: i32| if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                (0..=n).map(|i| weight(i) * f(low + f64::from(i) * step)).sum::<f64>() * step / 3.0
            };
            let known = (moment(2) - moment(1).powi(2)).sqrt();
            assert!((bounded(3.0 * mean, 3.0) - 3.0 * known).abs() < 1e-9, "{mean}");
        }
        assert_eq!(bounded(10.0, 0.5), 0.5);
        assert_eq!(bounded(0.0, 0.0), 0.0);
    }

    #[test]
    fn groups_are_equal_and_enough() {
        for (n, groups, partitions) in
            [(8, 2, 32), (300, 2, 32), (1000, 5, 8), (6600, 33, 1), (50_000, 33, 1)]
        {
            let found = Partitions::new(n);
            assert_eq!((found.n_groups, found.of_rows.len()), (groups, partitions), "{n}");
            for partition in &found.of_rows {
                let sizes: Vec<usize> = (0..groups as u32)
                    .map(|group| partition.iter().filter(|other| **other == group).count())
                    .collect();
                assert!(sizes.iter().all(|size| *size == n / groups || *size == n / groups + 1), "{sizes:?}");
            }
        }
        assert!(Partitions::new(7).of_rows.is_empty());
    }

    // Means of independent numbers: the variance between groups is that of the numbers, whatever the groups.
    #[test]
    fn independent_terms_have_the_usual_error() {
        let mut stream = Stream::new(1, Purpose::Synthetic);
        for n in [60, 900, 10_000] {
            let x: Vec<f64> = (0..n).map(|_| 5.0 + stream.gaussian()).collect();
            let of = |kept: &[f64]| {
                let m = kept.len() as f64;
                let mean = kept.iter().sum::<f64>() / m;
                let variance = kept.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / m;
                Estimate { value: mean, mean, error: (variance / m).sqrt() }
            };
            let whole = of(&x);
            let error = Partitions::new(n).error(&whole, |partition, group| {
                of(&x
                    .iter()
                    .zip(partition)
                    .filter(|(_, g)| **g == group)
                    .map(|(x, _)| *x)
                    .collect::<Vec<_>>())
            });
            // Three standard errors of 12.5 %.
            assert!((error / whole.error - 1.0).abs() < 0.375, "{n}: {error} {whole:?}");
        }
    }
}
