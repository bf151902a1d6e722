//! Whether reference samples follow the distributions that parametric limits assume: Anderson and Darling's test.

use super::Novelty;
use super::reference::mean_and_variance;
use crate::stats::{chi_squared_tail, f_tail};

/// Most reference samples that are tested, evenly spaced: what so many do not show changes no limit by much.
const MOST_TESTED: usize = 1000;
/// Fewest samples for which the test says something.
const FEWEST_TESTED: usize = 20;
/// What A² exceeds with probability 0.01 for a distribution that is known (Stephens 1974). For the squared prediction error, whose mean and
/// variance are those of the sample, 1.09 would be that; the rest is room for Box' approximation, which is not exact for Gaussian data either.
const MOST: f64 = 3.857;

/// A sentence where the reference samples do not follow (C55) and (C56), (C62), or their scores are not Gaussian, (C64).
pub(super) fn not_gaussian(reference: &Novelty, (n, k): (usize, usize)) -> Option<String> {
    let Novelty { t_squared, spe, scores } = reference;
    if t_squared.len() < FEWEST_TESTED || k == 0 || n <= k {
        return None;
    }
    let (n, k) = (n as f64, k as f64);
    let f = |t: f64| f_tail(k, n - k, t * (n - k) / (k * (n + 1.0)));
    let (of_t, tested) = statistic(t_squared, f);
    // Why: T² of all these samples is made of the same estimated variances, whose error shows in m samples as m/n does.
    let most_of_t = MOST * (1.0 + tested / n);
    let (mean, variance) = mean_and_variance(spe);
    let of_spe = (mean > 0.0 && variance > 0.0).then(|| {
        let (g, h) = (variance / (2.0 * mean), 2.0 * mean * mean / variance);
        statistic(spe, |s| chi_squared_tail(h, s / g)).0
    });
    let mut found = Vec::new();
    if let Some((component, skewness, kurtosis)) = scores.not_gaussian(MOST_TESTED) {
        found.push(format!(
            "scores of component {component} have skewness {skewness:.2} and kurtosis {kurtosis:.2} (0 and 3 if Gaussian)"
        ));
    }
    if of_t > most_of_t {
        found.push(format!(
            "T² does not follow its F distribution (Anderson-Darling statistic {of_t:.1}, above {most_of_t:.1})"
        ));
    }
    if let Some(of_spe) = of_spe.filter(|a| *a > MOST) {
        found.push(format!(
            "the squared prediction error does not follow its χ² distribution (Anderson-Darling statistic {of_spe:.1}, above {MOST:.1})"
        ));
    }
    (!found.is_empty()).then(|| {
        format!(
            "parametric limits assume Gaussian scores, but in the reference samples {}: the false-alarm rate may differ from the one \
             requested; use the quantile rule",
            found.join("; ")
        )
    })
}

/// A² = −m − Σ (2i − 1)/m·(ln u₍ᵢ₎ + ln(1 − u₍ₘ₊₁₋ᵢ₎)) of the tail probabilities u, and m.
fn statistic(values: &[f64], tail: impl Fn(f64) -> f64) -> (f64, f64) {
    let step = values.len().div_ceil(MOST_TESTED).max(1);
    let mut u: Vec<f64> = values.iter().step_by(step).map(|value| tail(*value)).collect();
    u.sort_by(f64::total_cmp);
    let m = u.len() as f64;
    let ln = |x: f64| x.max(f64::MIN_POSITIVE).ln();
    let term = |(i, low): (usize, &f64)| (2.0 * i as f64 + 1.0) * (ln(*low) + ln(1.0 - u[u.len() - 1 - i]));
    (-m - u.iter().enumerate().map(term).sum::<f64>() / m, m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// A² of 0.1, 0.2, …, 0.9 as uniform numbers, term by term.
    #[test]
    fn the_statistic_is_that_of_the_formula() {
        let values: Vec<f64> = (1..10).map(|i| f64::from(i) / 10.0).collect();
        let by_hand: f64 = -9.0
            - (1..=9)
                .map(|i| {
                    let (low, high) = (f64::from(i) / 10.0, f64::from(10 - i) / 10.0);
                    f64::from(2 * i - 1) / 9.0 * (low.ln() + (1.0 - high).ln())
                })
                .sum::<f64>();
        assert!((statistic(&values, |x| x).0 - by_hand).abs() < 1e-12);
        assert!(by_hand < 0.2, "evenly spaced numbers are uniform: {by_hand}");
    }

    /// Of Gaussian samples 1 in 100 is called something else; of heavy tails nearly all.
    #[test]
    fn gaussian_samples_pass_and_heavy_tails_do_not() {
        let mut random = Stream::new(3, Purpose::Probes);
        let mut called = [0; 2];
        for _ in 0..100 {
            for (heavy, called) in called.iter_mut().enumerate() {
                let mut sample = || {
                    let scale = if heavy == 1 { (-random.uniform().max(1e-12).ln()).powf(-0.5) } else { 1.0 };
                    let mut square = || (scale * random.gaussian()).powi(2);
                    (square() + square() + square(), square() + square() + square() + square())
                };
                let (t_squared, spe) = (0..300).map(|_| sample()).unzip();
                let numbers = Novelty { t_squared, spe, ..Novelty::default() };
                // So many samples in the fit that F is χ² of 3 degrees.
                *called += usize::from(not_gaussian(&numbers, (1_000_000, 3)).is_some());
            }
        }
        // Tests of level 0.01 and less: 1 expected, and 5 are four standard deviations more.
        assert!(called[0] <= 5, "{called:?}");
        assert!(called[1] >= 95, "{called:?}");
    }
}
