//! Whether scores are Gaussian, from their first four moments: D'Agostino and Pearson's test of each component, (C64).

use crate::matrix::Matrix;
use crate::stats::chi_squared_above;

/// Numbers of a component, see [`ScoreMoments::NUMBERS`].
const NUMBERS: usize = ScoreMoments::NUMBERS;
/// Fewest samples for which the approximations of the test hold.
const FEWEST: f64 = 20.0;
/// Level of the test of all components together.
const LEVEL: f64 = 0.01;

/// Sums of powers of the standardized scores y/√λ of some samples, for each component; none where scores are not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreMoments {
    sums: Vec<[f64; NUMBERS]>,
}

impl ScoreMoments {
    /// Numbers of a component: how many scores, and the sums of their first to fourth powers.
    pub(crate) const NUMBERS: usize = 5;

    /// Of scores, one row for each sample, with the variances of the components. Cost: 4 products for each score.
    pub(crate) fn of(scores: &Matrix<f64>, variances: &[f64]) -> Self {
        let mut sums = vec![[0.0; NUMBERS]; variances.len()];
        for i in 0..scores.n_rows() {
            for ((sums, y), variance) in sums.iter_mut().zip(scores.row(i)).zip(variances) {
                let z = y / variance.abs().sqrt();
                let powers = [1.0, z, z * z, z * z * z, z * z * z * z];
                sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            }
        }
        Self { sums }
    }

    /// Adds those of further samples of the same model.
    pub(super) fn append(&mut self, more: &Self) {
        if self.sums.is_empty() {
            self.sums.clone_from(&more.sums);
            return;
        }
        for (sums, more) in self.sums.iter_mut().zip(&more.sums) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }

    /// The numbers one component after the other, five each.
    pub fn numbers(&self) -> Vec<f64> {
        self.sums.concat()
    }

    /// From what [`ScoreMoments::numbers`] gave; nothing is known where they are not five finite numbers for each component.
    pub fn from_numbers(numbers: &[f64]) -> Self {
        let (sums, rest) = numbers.as_chunks::<NUMBERS>();
        let sound = rest.is_empty() && numbers.iter().all(|value| value.is_finite());
        Self { sums: if sound { sums.to_vec() } else { Vec::new() } }
    }

    /// The component furthest from a Gaussian distribution, counted from 1, with skewness and kurtosis, where one is beyond chance;
    /// no more than `most` samples count. The test of all k has the level 0.01, each 0.01/k.
    pub(super) fn not_gaussian(&self, most: usize) -> Option<(usize, f64, f64)> {
        let limit = chi_squared_above(2.0, LEVEL / self.sums.len().max(1) as f64);
        let tested = self.sums.iter().enumerate().filter_map(|(at, sums)| {
            let (n, skewness, kurtosis) = shape(sums)?;
            let n = n.min(most as f64);
            let k2 = skewness_score(n, skewness).powi(2) + kurtosis_score(n, kurtosis).powi(2);
            Some((k2, (at + 1, skewness, kurtosis)))
        });
        let worst = tested.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (worst.0 > limit).then_some(worst.1)
    }
}

/// Number, skewness m₃/m₂^(3/2) and kurtosis m₄/m₂² with central moments m; `None` where they say nothing.
fn shape(&[n, s1, s2, s3, s4]: &[f64; NUMBERS]) -> Option<(f64, f64, f64)> {
    if n < FEWEST {
        return None;
    }
    let (mean, b, c, d) = (s1 / n, s2 / n, s3 / n, s4 / n);
    let m2 = b - mean * mean;
    let m3 = c - 3.0 * mean * b + 2.0 * mean.powi(3);
    let m4 = d - 4.0 * mean * c + 6.0 * mean * mean * b - 3.0 * mean.powi(4);
    // Numerics: scores far from 0 leave rounding alone; T² then shows that they are.
    let known = m2 > 1e-6 * b && m4 > 0.0;
    let found = (n, m3 / m2.powf(1.5), m4 / (m2 * m2));
    (known && found.1.is_finite() && found.2.is_finite()).then_some(found)
}

/// Skewness of n Gaussian numbers as a standard normal number (D'Agostino 1970).
fn skewness_score(n: f64, skewness: f64) -> f64 {
    let y = skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
    let beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0)
        / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
    let w2 = (2.0 * (beta - 1.0)).sqrt() - 1.0;
    (y * ((w2 - 1.0) / 2.0).sqrt()).asinh() / (0.5 * w2.ln()).sqrt()
}

/// Kurtosis of n Gaussian numbers as a standard normal number (Anscombe and Glynn 1983).
fn kurtosis_score(n: f64, kurtosis: f64) -> f64 {
    let mean = 3.0 * (n - 1.0) / (n + 1.0);
    let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0).powi(2) * (n + 3.0) * (n + 5.0));
    let x = (kurtosis - mean) / variance.sqrt();
    let root = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
        * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
    let a = 6.0 + 8.0 / root * (2.0 / root + (1.0 + 4.0 / (root * root)).sqrt());
    let ratio = (1.0 - 2.0 / a) / (1.0 + x * (2.0 / (a - 4.0)).sqrt());
    (1.0 - 2.0 / (9.0 * a) - ratio.cbrt()) / (2.0 / (9.0 * a)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    fn moments(n: usize, mut draw: impl FnMut() -> f64) -> ScoreMoments {
        ScoreMoments::of(&Matrix::from_fn(n, 3, |_, _| 2.0 * draw()), &[4.0; 3])
    }

    /// Scores of skewness and kurtosis as `scipy.stats.skewtest` and `kurtosistest` (SciPy 1.17.1) give them for 50 of i²/100.
    #[test]
    fn scores_are_those_of_scipy() {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i * i) / 100.0).collect();
        let mut at = 0;
        let found = ScoreMoments::of(
            &Matrix::from_fn(50, 1, |_, _| {
                at += 1;
                values[at - 1]
            }),
            &[1.0],
        );
        let (n, skewness, kurtosis) = shape(&found.sums[0]).unwrap();
        let scores = (skewness_score(n, skewness), kurtosis_score(n, kurtosis));
        assert!(
            (scores.0 - 1.963_727_156_493_21).abs() < 1e-9 && (scores.1 + 1.661_229_969_005_975).abs() < 1e-9,
            "{scores:?}"
        );
    }

    /// Of Gaussian scores 1 set in 100 is called something else; of a mixture of two, of uniform numbers and of Laplace's nearly all.
    #[test]
    fn gaussian_scores_pass_and_others_do_not() {
        let mut random = Stream::new(11, Purpose::Probes);
        let mut called = [0; 4];
        for _ in 0..200 {
            let sets = [
                moments(300, || random.gaussian()),
                moments(300, || (random.gaussian() + if random.uniform() < 0.5 { 2.5 } else { -2.5 }) / 2.7),
                moments(300, || 3.46 * (random.uniform() - 0.5)),
                moments(300, || {
                    -(random.uniform().max(1e-12)).ln() * 0.7 * (random.uniform() - 0.5).signum()
                }),
            ];
            sets.iter().zip(&mut called).for_each(|(set, called)| {
                *called += usize::from(set.not_gaussian(1000).is_some());
            });
        }
        // 2 expected at the level 0.01; 7 are more than three standard deviations above.
        assert!(called[0] <= 7, "{called:?}");
        assert!(called[1..].iter().all(|count| *count >= 190), "{called:?}");
    }

    #[test]
    fn sums_add_up_and_survive_as_numbers() {
        let mut random = Stream::new(2, Purpose::Probes);
        let all = Matrix::from_fn(60, 2, |_, _| random.gaussian());
        let part = |rows: std::ops::Range<usize>| {
            let from = rows.start;
            ScoreMoments::of(&Matrix::from_fn(rows.len(), 2, |i, j| all[(from + i, j)]), &[1.0, 2.0])
        };
        let mut sum = ScoreMoments::default();
        [0..20, 20..60].into_iter().for_each(|rows| sum.append(&part(rows)));
        let whole = part(0..60);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
        assert!(sum.numbers().iter().zip(whole.numbers()).all(|(a, b)| near(*a, b)));
        assert_eq!(ScoreMoments::from_numbers(&whole.numbers()), whole);
        assert_eq!(ScoreMoments::from_numbers(&whole.numbers()[1..]), ScoreMoments::default());
        assert_eq!(ScoreMoments::default().not_gaussian(1000), None);
    }
}
