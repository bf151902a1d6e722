//! Logarithmic axes: ranges and ticks in decimal logarithms, labels in numbers.

use crate::axis::{Range, Ticks, superscript};
use crate::frame::TICK_SIZE;

/// A range has at least this many decades.
const LEAST_DECADES: f64 = 0.3;

/// The decimal logarithm of a positive finite number.
pub(crate) fn log10(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.log10())
}

/// The range of logarithms from the least, but not below `floor`, to the largest; 0 to 1 without any.
pub(crate) fn range(logs: impl IntoIterator<Item = f64>, floor: f64) -> Range {
    let found = Range::of(logs.into_iter().map(|v| v.max(floor)));
    let wide = if found.width() < LEAST_DECADES { found.with_width(LEAST_DECADES) } else { found };
    wide.padded(0.05)
}

/// Ticks for as much room above each other as `length` has: powers of ten over many decades, their multiples
/// by 2 and 5 or by 3 over few, and round numbers over still less.
pub(crate) fn ticks(range: &Range, length: f64) -> Ticks {
    let most = ((length / (2.0 * TICK_SIZE)) as usize).clamp(3, 8);
    let (first, last) = (range.lo.ceil() as i32, range.hi.floor() as i32);
    let n_decades = usize::try_from(last - first + 1).unwrap_or(0);
    if n_decades >= 3 {
        let step = n_decades.div_ceil(most).max(1);
        return labelled((first..=last).filter(|k| k.rem_euclid(step as i32) == 0).map(|k| (1, k)));
    }
    for factors in [&[1, 2, 5][..], &[1, 3]] {
        let all = (first - 1..=last).flat_map(|k| factors.iter().map(move |factor| (*factor, k)));
        let inside: Vec<(u32, i32)> = all.filter(|tick| range.contains(log_of(*tick))).collect();
        if (3..=most + 1).contains(&inside.len()) {
            return labelled(inside.into_iter());
        }
    }
    let numbers = Range::between(10.0_f64.powf(range.lo), 10.0_f64.powf(range.hi));
    let tries = (3..=most + 4).map(|target| Ticks::new(&numbers, target));
    let round =
        tries.into_iter().find(|ticks| ticks.values.len() >= 3).unwrap_or_else(|| Ticks::new(&numbers, most));
    // Zero has no place on the axis.
    let (values, labels) = round
        .values
        .iter()
        .zip(&round.labels)
        .filter_map(|(value, label)| Some((log10(*value)?, label.clone())))
        .unzip();
    Ticks { values, labels, ..round }
}

fn log_of((factor, power): (u32, i32)) -> f64 {
    f64::from(factor).log10() + f64::from(power)
}

/// Ticks at factor·10ᵏ.
fn labelled(ticks: impl Iterator<Item = (u32, i32)>) -> Ticks {
    let (values, labels) = ticks.map(|tick| (log_of(tick), label(tick))).unzip();
    Ticks { values, labels, ..Ticks::default() }
}

fn label((factor, power): (u32, i32)) -> String {
    match power {
        0..=4 => format!("{factor}{}", "0".repeat(power.unsigned_abs() as usize)),
        -3..=-1 => format!("0.{}{factor}", "0".repeat(power.unsigned_abs() as usize - 1)),
        _ if factor == 1 => format!("10{}", superscript(power)),
        _ => format!("{factor}·10{}", superscript(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_numbers_at_their_ticks() {
        for (lo, hi) in
            [(-2.0, 3.0), (0.1, 1.2), (-0.2, 0.15), (1.95, 2.01), (-12.0, 5.0), (-7.3, -6.1), (0.1, 2.9)]
        {
            let range = range([lo, hi], f64::NEG_INFINITY);
            let ticks = ticks(&range, 130.0);
            assert!((2..=6).contains(&ticks.values.len()), "{range:?}: {ticks:?}");
            for (value, label) in ticks.values.iter().zip(&ticks.labels) {
                assert!(range.contains(*value), "{range:?}: {label}");
                if let Ok(number) = label.parse::<f64>() {
                    let shown = number * 10.0_f64.powi(ticks.exponent) + ticks.offset;
                    assert!((shown.log10() - value).abs() < 1e-9, "{label} at {value}");
                }
            }
        }
        assert_eq!(
            [(1, 0), (5, 3), (2, -2), (1, -5), (2, 7)].map(label),
            ["1", "5000", "0.02", "10⁻⁵", "2·10⁷"]
        );
    }

    #[test]
    fn ranges_are_wide_and_keep_their_floor() {
        assert!(range([2.0], 0.0).width() >= LEAST_DECADES);
        assert!(range([], 0.0).contains(0.5));
        let cut = range([3.0, -17.0], -5.0);
        assert!(cut.lo > -6.0 && cut.contains(3.0) && !cut.contains(-17.0));
        assert_eq!([0.0, -1.0, f64::NAN, f64::INFINITY].map(log10), [None; 4]);
    }
}
