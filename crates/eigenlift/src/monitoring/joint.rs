//! Two limits that normal samples exceed with one probability together, from order statistics.

use super::limits::above;

/// A statistic of reference samples in ascending order, and the rank of the limit on it, counted from 1.
struct Ranked<'a> {
    values: &'a [f64],
    order: Vec<usize>,
    /// One more than there are samples for no limit yet.
    rank: usize,
    /// Whether a tie of more samples than are allowed is in the way of a lower limit.
    blocked: bool,
}

impl<'a> Ranked<'a> {
    fn new(values: &'a [f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        Self { values, order, rank: values.len() + 1, blocked: false }
    }

    /// Samples that a limit one rank lower would be exceeded by, had it been taken from the others; none where the sample at that rank ties
    /// with one below it. `None` at the smallest. Samples tie where none is above the next lower one, as limits are judged.
    fn next(&self) -> Option<&[usize]> {
        let at = self.rank.checked_sub(2)?;
        let value = |place: usize| self.values[self.order[place]];
        if at > 0 && !above(value(at), value(at - 1)) {
            return Some(&[]);
        }
        let next = (at + 1..self.order.len()).find(|place| above(value(*place), value(place - 1)));
        Some(&self.order[at..next.unwrap_or(self.order.len())])
    }

    /// The limit; the largest where there is none.
    fn limit(&self) -> f64 {
        let at = self.rank.min(self.values.len()).saturating_sub(1);
        self.order.get(at).map_or(f64::INFINITY, |row| self.values[*row])
    }

    fn is_limited(&self) -> bool {
        self.rank <= self.values.len()
    }
}

/// Limits on T² and on the squared prediction error, (C54), and whether there are enough samples for them. The second is meaningless where
/// there are no errors.
///
/// Ranks go down from the largest in turn, by one each, as long as no more than α(m + 1) samples would exceed either limit taken from the
/// other m − 1. Ranks of the two differ by one at most, unless one of the two has no more samples to give, or a tie of more samples than are
/// allowed: then the other goes on alone.
pub(super) fn joint_quantiles(t_squared: &[f64], spe: &[f64], alpha: f64) -> ((f64, f64), bool) {
    let n = t_squared.len();
    let allowed = (alpha * (n as f64 + 1.0) + 1e-9).floor() as usize;
    // The squared prediction error first: it finds samples that are like no other.
    let mut ranked = match spe.is_empty() {
        true => vec![Ranked::new(t_squared)],
        false => vec![Ranked::new(spe), Ranked::new(t_squared)],
    };
    let (mut exceeds, mut count) = (vec![false; n], 0);
    'lower: while ranked.iter().any(|statistic| !statistic.blocked) {
        for statistic in ranked.iter_mut().filter(|statistic| !statistic.blocked) {
            let Some(next) = statistic.next() else { break 'lower };
            let more: Vec<usize> = next.iter().copied().filter(|row| !exceeds[*row]).collect();
            if count + more.len() > allowed {
                if next.len() == 1 {
                    break 'lower;
                }
                statistic.blocked = true;
                continue;
            }
            count += more.len();
            more.iter().for_each(|row| exceeds[*row] = true);
            statistic.rank -= 1;
        }
    }
    let enough = ranked.iter().all(Ranked::is_limited);
    let limit = |at: usize| ranked.get(at).map_or(f64::INFINITY, Ranked::limit);
    (if spe.is_empty() { (limit(0), f64::INFINITY) } else { (limit(1), limit(0)) }, enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    #[test]
    fn one_statistic_has_the_order_statistic_of_the_formula() {
        let values: Vec<f64> = (1..=99).map(f64::from).collect();
        // (99 + 1)(1 − 0.05) = 95.
        assert_eq!(joint_quantiles(&values, &[], 0.05), ((95.0, f64::INFINITY), true));
        assert_eq!(joint_quantiles(&values, &[], 0.01), ((99.0, f64::INFINITY), true));
        assert_eq!(joint_quantiles(&values[..98], &[], 0.01), ((98.0, f64::INFINITY), false));
        // Errors that are all the same exceed nothing, and T² has all of α.
        assert_eq!(joint_quantiles(&values, &[0.0; 99], 0.05).0.0, 95.0);
        // Two statistics in the same order are one.
        assert_eq!(joint_quantiles(&values, &values, 0.05), ((95.0, 95.0), true));
    }

    #[test]
    fn two_opposite_statistics_share_the_level() {
        let up: Vec<f64> = (1..=99).map(f64::from).collect();
        let down: Vec<f64> = (1..=99).rev().map(f64::from).collect();
        // Five of a hundred: three by the error, which comes first, and two by T².
        assert_eq!(joint_quantiles(&up, &down, 0.05), ((98.0, 97.0), true));
        assert_eq!(joint_quantiles(&up, &down, 0.01), ((99.0, 99.0), false));
    }

    /// Errors of samples beyond the reach of a kernel are one number up to rounding, which no limit splits: T² has what is left of α.
    #[test]
    fn a_tie_that_is_too_large_leaves_the_level_to_the_other_statistic() {
        let t_squared: Vec<f64> = (1..=99).map(f64::from).collect();
        let errors = |tied: usize| -> Vec<f64> {
            let last = |i: usize| 1.0 + 1e-13 * (i % 3) as f64;
            (0..99).map(|i| if i < tied { last(i) } else { 0.5 - 1e-3 * i as f64 }).collect()
        };
        // Five of a hundred: all by T², then the tie as a whole beside T².
        assert_eq!(joint_quantiles(&t_squared, &errors(6), 0.05).0.0, 95.0);
        assert_eq!(joint_quantiles(&t_squared, &errors(4), 0.05).0.0, 95.0);
        let ((t_limit, error_limit), _) = joint_quantiles(&t_squared, &errors(2), 0.05);
        assert!(t_limit == 98.0 && error_limit < 0.5, "{t_limit} {error_limit}");
    }

    /// The mean false-alarm rate over many reference sets is α within three standard errors, whatever the dependence.
    #[test]
    fn new_samples_exceed_either_limit_with_probability_alpha() {
        let mut random = Stream::new(7, Purpose::Probes);
        for dependence in [0.0, 0.6, -0.9] {
            for (alpha, n) in [(0.05, 99), (0.02, 199)] {
                let sets = 600;
                let mut rates = Vec::new();
                let draw = |random: &mut Stream| {
                    let (a, b) = (random.gaussian(), random.gaussian());
                    (a.exp(), dependence * a + (1.0f64 - dependence * dependence).sqrt() * b)
                };
                for _ in 0..sets {
                    let (t, s): (Vec<f64>, Vec<f64>) = (0..n).map(|_| draw(&mut random)).unzip();
                    let ((t_limit, s_limit), enough) = joint_quantiles(&t, &s, alpha);
                    assert!(enough);
                    let above = |(t, s): (f64, f64)| t > t_limit || s > s_limit;
                    let alarms = (0..200).filter(|_| above(draw(&mut random))).count();
                    rates.push(alarms as f64 / 200.0);
                }
                let mean = rates.iter().sum::<f64>() / f64::from(sets);
                let squares: f64 = rates.iter().map(|r| (r - mean) * (r - mean)).sum();
                let error = (squares / f64::from(sets * (sets - 1))).sqrt();
                assert!((mean - alpha).abs() < 3.0 * error, "{dependence} {alpha}: {mean} ± {error}");
            }
        }
    }
}
