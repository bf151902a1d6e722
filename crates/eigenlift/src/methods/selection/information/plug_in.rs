//! Information of columns that are counted.

use super::Estimate;

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
/// if wanted and the standard error (S3).
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
    let terms: Vec<(f64, f64)> = cells.iter().map(term).collect();
    let mean = terms.iter().map(|(m, c)| m * c).sum::<f64>() / n;
    let variance = terms.iter().map(|(m, c)| m * (c - mean) * (c - mean)).sum::<f64>() / n;
    let mut value = mean;
    if corrected {
        let occurring = |sizes: &[u32]| sizes.iter().filter(|m| **m > 0).count() as f64;
        let excess = occurring(&of_a) + occurring(&of_b) - cells.len() as f64 - 1.0;
        value += excess / (2.0 * n);
    }
    let value = value.min(entropy(&of_a).min(entropy(&of_b))).max(0.0);
    Estimate { value, error: (variance / n).sqrt() }
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
        let variance = c.iter().map(|(m, q)| m * q * q).sum::<f64>() / 10.0 - value * value;
        let found = information((&a, 2), (&b, 2), false);
        assert!((found.value - value).abs() < 1e-15);
        assert!((found.error - (variance / 10.0).sqrt()).abs() < 1e-15);
        let corrected = information((&a, 2), (&b, 2), true);
        assert!((corrected.value - (value - 1.0 / 20.0)).abs() < 1e-15);
    }

    #[test]
    fn nothing_of_nothing() {
        assert_eq!(information((&[], 0), (&[], 0), true), Estimate::default());
        assert_eq!(information((&[0, 0], 1), (&[0, 1], 2), false).value, 0.0);
    }
}
