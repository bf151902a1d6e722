//! One column of numbers in order.

use super::ball::Around;

/// Powers of ten tried on columns of decimal numbers.
const MOST_DECIMALS: i32 = 6;
/// Whole numbers up to here have exact differences.
const MOST_WHOLE: f64 = 4_503_599_627_370_496.0;
/// Larger numbers are made smaller, so that differences and squares stay finite.
const LARGE: f64 = 1e150;

/// A column with equal distances between its values where they are equal on paper.
///
/// Numerics: 0.3 − 0.2 and 0.2 − 0.1 differ by rounding, which would break ties at random. Decimal numbers of few places become
/// whole numbers. No estimate depends on the unit.
pub(super) fn exact(column: &[f64]) -> Vec<f64> {
    let largest = column.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest > LARGE {
        return column.iter().map(|x| x / largest + 0.0).collect();
    }
    let whole = |factor: f64| {
        let near = |x: &f64| {
            let y = x * factor;
            (y - y.round()).abs() <= 2.0 * f64::EPSILON * y.abs()
        };
        largest * factor < MOST_WHOLE && column.iter().all(near)
    };
    // Why `+ 0.0`: −0 is 0.
    match (0..=MOST_DECIMALS).map(|places| 10f64.powi(places)).find(|factor| whole(*factor)) {
        Some(factor) => column.iter().map(|x| (x * factor).round() + 0.0).collect(),
        None => column.iter().map(|x| x + 0.0).collect(),
    }
}

/// One over the standard deviation; 1 for a constant column.
pub(super) fn weight(column: &[f64]) -> f64 {
    let n = column.len() as f64;
    let Some(first) = column.first() else { return 1.0 };
    let largest = column.iter().fold(0.0f64, |m, x| m.max((x - first).abs()));
    if largest == 0.0 {
        return 1.0;
    }
    let mean = column.iter().map(|x| (x - first) / largest).sum::<f64>() / n;
    let square = |x: &f64| ((x - first) / largest - mean).powi(2);
    let weight = 1.0 / (largest * (column.iter().map(square).sum::<f64>() / n).sqrt());
    if weight.is_finite() && weight > 0.0 { weight } else { 1.0 }
}

/// The values of a column in order, and the row that each comes from.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) values: Vec<f64>,
    pub(super) order: Vec<u32>,
}

impl Line {
    /// Cost: O(n log n).
    pub(super) fn new(column: &[f64]) -> Self {
        Self::of_exact(&exact(column))
    }

    /// The same of a column that [`exact`] made.
    pub(super) fn of_exact(column: &[f64]) -> Self {
        let mut pairs: Vec<(u64, u32)> = column.iter().zip(0..).map(|(x, i)| (key(*x), i)).collect();
        pairs.sort_unstable();
        let order: Vec<u32> = pairs.iter().map(|(_, i)| *i).collect();
        Self { values: order.iter().map(|i| column[*i as usize]).collect(), order }
    }

    /// The rows of a group, numbered anew in their order.
    pub(super) fn of_group(values: &[f64], order: &[u32], (groups, group): (&[u32], u32)) -> Self {
        let mut number = 0;
        let numbers: Vec<u32> = groups
            .iter()
            .map(|other| {
                number += u32::from(*other == group);
                number.wrapping_sub(1)
            })
            .collect();
        let kept = values.iter().zip(order).filter(|(_, row)| groups[**row as usize] == group);
        let (values, order) = kept.map(|(value, row)| (*value, numbers[*row as usize])).unzip();
        Self { values, order }
    }

    /// Entropy of the values as they stand.
    pub(super) fn entropy(&self) -> f64 {
        entropy_of_sorted(&self.values)
    }
}

/// Whole numbers in the same order as the numbers.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Plug-in entropy of sorted values.
pub(super) fn entropy_of_sorted(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let runs = values.chunk_by(|a, b| a == b);
    let (mut single, mut sum) = (0usize, 0.0);
    for run in runs {
        match run.len() {
            1 => single += 1,
            m => sum += m as f64 * (n / m as f64).ln(),
        }
    }
    if values.is_empty() { 0.0 } else { (sum + single as f64 * n.ln()) / n }
}

/// Rows of `sorted` around `at` (a place in it) that are nearer than `radius` times one over the weight, or as near where
/// `inclusive`; itself included.
pub(super) fn around(sorted: &[f64], at: usize, (radius, weight): (f64, f64), inclusive: bool) -> usize {
    let x = sorted[at];
    let near = |y: f64| {
        let distance = (y - x).abs() * weight;
        distance < radius || (inclusive && distance == radius)
    };
    // Why: ranges hold few rows in the usual case, so steps that double from the place are quicker than halves of the whole.
    let (mut step, mut from) = (1, at);
    while from >= step && near(sorted[from - step]) {
        from -= step;
        step *= 2;
    }
    let lowest = from.saturating_sub(step);
    let low = lowest + sorted[lowest..from].partition_point(|y| !near(*y));
    let (mut step, mut to) = (1, at);
    while to + step < sorted.len() && near(sorted[to + step]) {
        to += step;
        step *= 2;
    }
    let highest = (to + step).min(sorted.len());
    let high = to + 1 + sorted[(to + 1).min(highest)..highest].partition_point(|y| near(*y));
    // A radius of 0 holds nothing strictly, but a row is always its own.
    high.max(at + 1) - low.min(at)
}

/// Rows of `sorted` around `at` strictly nearer than the radius, itself counted, and exactly at it.
pub(super) fn both_around(sorted: &[f64], at: usize, scale: (f64, f64)) -> Around {
    let within = around(sorted, at, scale, false);
    Around { within: within as u32, at: (around(sorted, at, scale, true) - within) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_are_whole_numbers() {
        assert_eq!(exact(&[0.3, 0.2, -0.1, -0.0]), [3.0, 2.0, -1.0, 0.0]);
        assert_eq!(exact(&[0.3, 1.0 / 3.0]), [0.3, 1.0 / 3.0]);
    }

    #[test]
    fn lines_are_in_order() {
        let line = Line::new(&[0.5, -1.25, 3.0, -7.0, -0.0]);
        assert_eq!(line.order, [3, 1, 4, 0, 2]);
        assert!(line.values.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn groups_are_lines_of_their_rows() {
        let (column, groups) = ([0.5, -1.25, 3.0, -7.0, -0.5], [1, 0, 1, 1, 0]);
        let line = Line::new(&column);
        for group in 0..2 {
            let kept: Vec<f64> =
                column.iter().zip(groups).filter(|(_, g)| *g == group).map(|(x, _)| *x).collect();
            let (found, known) =
                (Line::of_group(&line.values, &line.order, (&groups, group)), Line::of_exact(&kept));
            // Numbers of few places are whole numbers in the whole column: the unit differs.
            assert_eq!(found.order, known.order);
            assert_eq!(found.values.len(), kept.len());
        }
    }

    #[test]
    fn counts_around_a_place_agree_with_a_look_at_all() {
        let sorted: Vec<f64> = [0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 5, 8, 8, 9, 12].map(f64::from).into();
        for at in 0..sorted.len() {
            for radius in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 20.0] {
                let strict = sorted.iter().filter(|y| 0.5 * (**y - sorted[at]).abs() < radius).count().max(1);
                let all = sorted.iter().filter(|y| 0.5 * (**y - sorted[at]).abs() <= radius).count();
                assert_eq!(around(&sorted, at, (radius, 0.5), false), strict, "{at} {radius}");
                assert_eq!(around(&sorted, at, (radius, 0.5), true), all, "{at} {radius}");
            }
        }
    }

    #[test]
    fn large_numbers_have_a_weight() {
        let column = exact(&[1e308, -1e308, 0.0]);
        assert!((weight(&column) * (2.0f64 / 3.0).sqrt() - 1.0).abs() < 1e-15);
        assert!((weight(&[1e-200, -1e-200]) / 1e200 - 1.0).abs() < 1e-14);
        assert_eq!(weight(&[2.0, 2.0]), 1.0);
    }
}
