//! Information of columns that are counted.

use super::Estimate;
use super::standard_error::bounded;

/// Tables of at most so many entries, or four for each row, are counted in place; others by sorting.
const DENSE: usize = 4096;

/// Cells of a table of counts that are not empty: row, column and count, in their order.
fn cells((a, n_a): (&[u32], usize), (b, n_b): (&[u32], usize)) -> Vec<(u32, u32, u32)> {
    let size = n_a.saturating_mul(n_b);
    if size <= DENSE.max(4 * a.len()) {
        let mut table = vec![0u32; size];
        a.iter().zip(b).for_each(|(i, j)| table[*i as usize * n_b + *j as usize] += 1);
        let found = table.iter().enumerate().filter(|(_, count)| **count > 0);
        return found.map(|(at, count)| ((at / n_b) as u32, (at % n_b) as u32, *count)).collect();
    }
    let mut pairs: Vec<(u32, u32)> = a.iter().copied().zip(b.iter().copied()).collect();
    pairs.sort_unstable();
    pairs.chunk_by(|x, y| x == y).map(|run| (run[0].0, run[0].1, run.len() as u32)).collect()
}

/// How often each value occurs.
pub(super) fn sizes(codes: &[u32], n_codes: usize) -> Vec<u32> {
    let mut sizes = vec![0u32; n_codes];
    codes.iter().for_each(|code| sizes[*code as usize] += 1);
    sizes
}

/// Plug-in entropy: −Σ p ln p over the values that occur.
pub(super) fn entropy(sizes: &[u32]) -> f64 {
    let n: f64 = sizes.iter().map(|m| f64::from(*m)).sum();
    let term = |m: &u32| f64::from(*m) / n * (n / f64::from(*m)).ln();
    sizes.iter().filter(|m| **m > 0).map(term).sum()
}

/// Mutual information of two counted columns, (S1): Σ p(a, b) ln(p(a, b)/(p(a)·p(b))), with Miller and Madow's correction (S2)
/// if wanted and the standard error by the jackknife, (S3).
///
/// Cost: O(n + K_A·K_B), or O(n log n) where there are many values.
pub(super) fn information(a: (&[u32], usize), b: (&[u32], usize), corrected: bool) -> Estimate {
    let n = a.0.len() as f64;
    if a.0.is_empty() {
        return Estimate::default();
    }
    let (of_a, of_b) = (sizes(a.0, a.1), sizes(b.0, b.1));
    let cells = cells(a, b);
    let term = |(i, j, m): &(u32, u32, u32)| {
        let expected = f64::from(of_a[*i as usize]) * f64::from(of_b[*j as usize]);
        (f64::from(*m), (n * f64::from(*m) / expected).ln())
    };
    let mut mean = cells.iter().map(term).map(|(m, c)| m * c).sum::<f64>() / n;
    let occurring = |sizes: &[u32]| sizes.iter().filter(|m| **m > 0).count() as f64;
    let excess = occurring(&of_a) + occurring(&of_b) - cells.len() as f64 - 1.0;
    if corrected {
        mean += excess / (2.0 * n);
    }
    mean = mean.min(entropy(&of_a).min(entropy(&of_b)));
    // The estimate without one row of a cell, times n − 1 and up to a constant.
    let without = |(i, j, m): &(u32, u32, u32)| {
        let sizes = [*m, of_a[*i as usize], of_b[*j as usize]];
        let single = sizes.map(|size| if size == 1 && corrected { 0.5 } else { 0.0 });
        let [m, a, b] = sizes.map(|size| change(f64::from(size)));
        (f64::from(sizes[0]), a + b - m + single[0] - single[1] - single[2])
    };
    let jackknife = jackknife(&cells.iter().map(without).collect::<Vec<_>>(), n);
    // Degrees of freedom of the table: its quadratic part has the variance −excess/(2n²), of which the jackknife counts twice as much.
    let variance = (jackknife + excess / (2.0 * n * n)).max(0.5 * jackknife);
    let error = variance.sqrt();
    Estimate { value: mean.max(0.0), mean, error: if corrected { bounded(mean, error) } else { error } }
}

/// m ln m − (m − 1) ln(m − 1).
///
/// Numerics: without the difference of large numbers.
fn change(m: f64) -> f64 {
    if m > 1.0 { m.ln() - (m - 1.0) * (-1.0 / m).ln_1p() } else { 0.0 }
}

/// Variance by the jackknife, Σ m (t − t̄)²/(n(n − 1)), of estimates t without a row that occur m times, each times n − 1, (S3).
fn jackknife(without: &[(f64, f64)], n: f64) -> f64 {
    if n < 2.0 {
        return 0.0;
    }
    let mean = without.iter().map(|(m, t)| m * t).sum::<f64>() / n;
    without.iter().map(|(m, t)| m * (t - mean) * (t - mean)).sum::<f64>() / (n * (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_dense_tables_are_the_same() {
        let a: Vec<u32> = (0..500).map(|i| i * 7 % 13).collect();
        let b: Vec<u32> = (0..500).map(|i| i * i % 11).collect();
        assert_eq!(cells((&a, 13), (&b, 11)), cells((&a, 1000), (&b, 1000)));
    }

    // A table of counts 3, 1, 1, 5 by hand.
    #[test]
    fn a_table_by_hand() {
        let a = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
        let b = [0, 0, 0, 1, 0, 1, 1, 1, 1, 1];
        let c = [(3.0, 30.0 / 16.0), (1.0, 10.0 / 24.0), (1.0, 10.0 / 24.0), (5.0, 50.0 / 36.0)]
            .map(|(m, q): (f64, f64)| (m, q.ln()));
        let value = c.iter().map(|(m, q)| m * q).sum::<f64>() / 10.0;
        let found = information((&a, 2), (&b, 2), false);
        assert!((found.value - value).abs() < 1e-15);
        let corrected = information((&a, 2), (&b, 2), true);
        assert!((corrected.value - (value - 1.0 / 20.0)).abs() < 1e-15);
    }

    // Each row left out in turn, and the estimate taken again.
    #[test]
    fn errors_are_those_of_the_jackknife() {
        let a: Vec<u32> = (0..60).map(|i| i * 7 % 4).collect();
        let b: Vec<u32> = (0..60).map(|i| if i % 5 == 0 { i % 3 } else { (i * 7 % 4 + i % 2) % 5 }).collect();
        for corrected in [false, true] {
            let whole = information((&a, 4), (&b, 5), corrected);
            let without = |row: usize| {
                let keep = |x: &[u32]| -> Vec<u32> { (0..60).filter(|i| *i != row).map(|i| x[i]).collect() };
                information((&keep(&a), 4), (&keep(&b), 5), corrected).mean
            };
            let values: Vec<f64> = (0..60).map(without).collect();
            let mean = values.iter().sum::<f64>() / 60.0;
            let jackknife = values.iter().map(|t| (t - mean).powi(2)).sum::<f64>() * 59.0 / 60.0;
            let n_cells = cells((&a, 4), (&b, 5)).len() as f64;
            let occurring = |sizes: Vec<u32>| sizes.iter().filter(|m| **m > 0).count() as f64;
            let freedom = n_cells - occurring(sizes(&a, 4)) - occurring(sizes(&b, 5)) + 1.0;
            assert!(freedom >= 4.0, "{freedom}");
            let known = (jackknife - freedom / 7200.0).max(0.5 * jackknife).sqrt();
            let known = if corrected { bounded(whole.mean, known) } else { known };
            assert!((whole.error - known).abs() < 1e-13, "{whole:?} {known}");
            assert!(whole.error > 0.01);
        }
    }

    #[test]
    fn nothing_of_nothing() {
        assert_eq!(information((&[], 0), (&[], 0), true), Estimate::default());
        assert_eq!(information((&[0, 0], 1), (&[0, 1], 2), false).value, 0.0);
    }
}
