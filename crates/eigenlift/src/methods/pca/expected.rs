//! How many readings of the rows the block Krylov iteration takes, as far as that can be known before it runs.

use super::PcaPlan;
use super::axes::MOST_PASSES;
use crate::eigen::{Entries, basis_columns, block_columns};
use crate::error::Result;
use crate::linalg::{Factor, Onto, column_means, gemm, shift_columns, symmetric_eigenvalues};
use crate::matrix::Matrix;
use crate::operator::IDENTITY_COLUMNS;
use crate::random::{Purpose, Stream};
use crate::rows::{Pass, Rows, scales};

/// Readings beside the products of the iteration: for the sums of columns, and for the residuals.
const BESIDE: usize = 2;
/// White noise of m directions takes NOISE·m^⅓/√(b^⅔ − k^⅔) − NOISE_FEWER products for six digits: eigenvalues at the edge lie m^(−⅔)
/// apart, and the iteration takes 1/√gap. Cost: measured for 100 to 2000 directions, within 25 %.
const NOISE: f64 = 5.9;
const NOISE_FEWER: f64 = 4.8;
/// A sample whose spectrum predicts this share of the products of noise counts as noise.
const LIKE_NOISE: f64 = 0.7;
/// Products that the block takes to turn from a random one.
const TURN: f64 = 2.0;
/// Fewest products where the search space does not hold all directions.
const FEWEST: f64 = 3.0;
/// Most rows of the sample that is looked at.
const SAMPLE_ROWS: usize = 256;

/// Passes over the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passes {
    pub(super) expected: usize,
    /// From and to how many they are as a rule; `None` where their number is known.
    pub(super) likely: Option<(usize, usize)>,
    /// When the iteration gives up; `None` where their number is known.
    pub(super) most: Option<usize>,
}

impl Passes {
    pub(super) fn exactly(expected: usize) -> Self {
        Self { expected, likely: None, most: None }
    }

    fn about(expected: f64, (low, high): (f64, f64)) -> Self {
        let whole = |products: f64| (products.round() as usize).clamp(1, MOST_PASSES) + BESIDE;
        Self {
            expected: whole(expected),
            likely: Some((whole(low), whole(high))),
            most: Some(MOST_PASSES + BESIDE),
        }
    }

    /// Of k pairs of an n × d table, when nothing is known of its spectrum: from one that decays fast to that of noise.
    pub(super) fn of_krylov((n, d): (usize, usize), k: usize, tolerance: f64) -> Self {
        let k = k.min(d).min(n.saturating_sub(1)).max(1);
        if Entries::Passes.direct(d, k).is_some() {
            return Self::exactly(d.div_ceil(IDENTITY_COLUMNS) + BESIDE);
        }
        let (m, block) = (n.saturating_sub(1).min(d), block_columns(d, k));
        if m <= basis_columns(d, k) {
            // The search space comes to hold all directions, by blocks that become narrower as pairs are found.
            let all = m.div_ceil(block) as f64;
            return Self::about(all + 2.0, ((0.8 * (all + 1.0)).floor(), 2.5 * all + 2.0));
        }
        let high = 1.2 * of_noise(m, (block, k), tolerance);
        let low = (high / 4.0).max(FEWEST);
        Self::about((low * high).sqrt(), (low, high))
    }
}

/// Products for a table of noise.
fn of_noise(m: usize, (block, k): (usize, usize), tolerance: f64) -> f64 {
    let root = |x: usize| (x as f64).powf(1.0 / 3.0);
    let apart = (root(block).powi(2) - root(k).powi(2)).max(0.1).sqrt();
    let six = NOISE * root(m) / apart - NOISE_FEWER;
    (six * digits(tolerance) / digits(1e-6)).max(FEWEST)
}

/// ln(2/ε).
fn digits(tolerance: f64) -> f64 {
    (2.0 / tolerance).ln()
}

/// Puts what a sample of rows in memory says about the spectrum into the plan: whether it decays, and how fast.
pub(super) fn look(plan: &mut PcaPlan, rows: &dyn Rows, pass: &Pass<'_>) -> Result<()> {
    let (n, d) = (plan.n_samples, plan.n_features);
    let (Some(k), Some(_)) = (plan.n_components, plan.likely_passes) else { return Ok(()) };
    let k = k.min(d).min(n.saturating_sub(1)).max(1);
    let block = block_columns(d, k);
    // Two copies of the sample, in what the fit takes anyway.
    let affordable = plan.bytes_needed / (2 * 8 * d.max(1) as u64);
    let count = n.min(SAMPLE_ROWS.max(4 * block)).min(affordable as usize);
    let known = n.saturating_sub(1).min(d) <= basis_columns(d, k);
    if rows.points().is_none() || plan.weighted || known || count < 3 * block {
        return Ok(());
    }
    let places = Stream::new(plan.seed, Purpose::SampleRows).rows(n, count);
    let sample = rows.gather(&places, pass)?.points().to_dense::<f64>();
    let values = spectrum(sample, plan.standardized)?;
    let floor = values.get(d.min(count - 1).saturating_sub(1)).copied().unwrap_or(0.0).max(0.0);
    let (first, after) = (values[k - 1] - floor, values[block] - floor);
    if !(first > 0.0 && first.is_finite()) {
        return Ok(());
    }
    // Chebyshev: residuals fall by T_q(2/ρ − 1) in q products, for ρ between the eigenvalue after the block and the last wanted one.
    let ratio = (after / first).clamp(1e-12, 0.999);
    let products = TURN + digits(plan.tolerance) / (2.0 / ratio - 1.0).acosh();
    let noise = |m: usize| of_noise(m, (block, k), plan.tolerance);
    let as_noise = products >= LIKE_NOISE * noise(d.min(count - 1));
    let all = noise(d.min(n - 1));
    let (expected, low) = if as_noise { (all, 0.5 * all) } else { (products.min(all), 0.55 * products) };
    let passes = Passes::about(expected, (low.min(0.55 * all), 1.6 * expected));
    (plan.expected_passes, plan.likely_passes) = (passes.expected, passes.likely);
    plan.reasons.push(format!(
        "eigenvalue {} of {count} rows is {ratio:.2} of eigenvalue {k}: the iteration needs {} passes",
        block + 1,
        if as_noise { "many" } else { "few" }
    ));
    Ok(())
}

/// Eigenvalues of the centred products of rows, largest first.
fn spectrum(mut sample: Matrix<f64>, standardized: bool) -> Result<Vec<f64>> {
    let means = column_means(sample.view());
    let shift: Vec<f64> = means.iter().map(|m| -m).collect();
    shift_columns(sample.view_mut(), &shift);
    let count = sample.n_rows();
    if standardized {
        let squares = crate::linalg::column_norms(sample.view()).into_iter().map(|x| x * x);
        let inverse: Vec<f64> = scales(&means, squares, count as f64).iter().map(|s| 1.0 / s).collect();
        crate::linalg::scale_columns(sample.view_mut(), &inverse);
    }
    let mut products = Matrix::zeros(count, count);
    let (left, right) = (Factor::Plain(sample.view()), Factor::Transposed(sample.view()));
    gemm(products.view_mut(), Onto::Replace, 1.0, left, right);
    symmetric_eigenvalues(&products)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_tables_are_known_and_others_have_a_range() {
        let of = |n, d, k| Passes::of_krylov((n, d), k, 1e-6);
        // 20 columns are fewer than five for each component: one product with the identity.
        assert_eq!(of(100_000, 20, 5), Passes::exactly(3));
        assert_eq!(of(100_000, 1000, 300), Passes::exactly(6));
        for (n, d) in [(100_000, 30), (100, 5000), (100_000, 100), (2000, 20_000), (1 << 20, 1 << 17)] {
            for k in [1, 5] {
                let passes = of(n, d, k);
                let (low, high) = passes.likely.unwrap();
                assert!(low <= passes.expected && passes.expected <= high, "{n} × {d}: {passes:?}");
                assert!(low >= 3 && low < high && high <= 4 * low, "{n} × {d}: {passes:?}");
                assert!(Some(high) <= passes.most, "{passes:?}");
            }
        }
    }

    #[test]
    fn noise_takes_what_was_measured() {
        // Products counted in fits of white noise, the last for the residuals left out.
        for (m, block_and_k, counted) in [(100, (16, 5), 10.0), (1000, (16, 5), 27.0), (2000, (40, 20), 25.0)]
        {
            let found = of_noise(m, block_and_k, 1e-6);
            assert!((found / counted - 1.0_f64).abs() < 0.25, "{m}: {found} of {counted}");
        }
    }
}
