//! The limit of the squared prediction error of Gaussian samples, from a spectrum alone.

use crate::stats::chi_squared_above;

/// Sampling error of a gap between eigenvalues: gaps below √(this·λᵢλⱼ/n) tell nothing of the true gap.
const GAP: f64 = 2.0;

/// Variances of a new sample along the discarded components, (C65): λⱼ(n + 1)/(n − 1), and what leading axes that are turned by chance
/// leave to them, 2/n·Σᵢ λᵢλⱼ/(λᵢ − λⱼ).
///
/// Cost: one term for each pair of a leading and a discarded component.
fn of_new_samples(spectrum: &[f64], k: usize, n: usize) -> Vec<f64> {
    let n = n as f64;
    let (leading, rest) = spectrum.split_at(k.min(spectrum.len()));
    let turned = |j: f64| -> f64 {
        let term = |i: &f64| {
            let (product, gap) = (i * j, i - j);
            // Why: for gaps within their sampling error the expansion fails; the term then fades with the gap.
            let scale = gap * gap + GAP * product / n;
            if scale > 0.0 { product * gap / scale } else { 0.0 }
        };
        leading.iter().map(term).sum()
    };
    rest.iter().map(|j| j * (n + 1.0) / (n - 1.0).max(1.0) + 2.0 / n * turned(*j)).collect()
}

/// c₁ + √(c₂/h)·(χ²_{h; 1−α} − h) with cᵣ = Σ λʳ and h = c₂³/c₃², (C66): the quantile of Σ λⱼzⱼ² by a χ² distribution with the
/// same mean, variance and skewness; exact for equal λ.
pub(crate) fn spe_limit_of_spectrum((spectrum, k): (&[f64], usize), n: usize, alpha: f64) -> f64 {
    // Numerics: powers of variances of any unit neither overflow nor vanish when counted in the largest.
    let unit = spectrum.get(k).copied().unwrap_or(0.0);
    if unit <= 0.0 {
        return 0.0;
    }
    let scaled: Vec<f64> = spectrum.iter().map(|v| v.max(0.0) / unit).collect();
    let variances = of_new_samples(&scaled, k, n);
    let sum = |power: i32| variances.iter().map(|v| v.powi(power)).sum::<f64>();
    let (c1, c2, c3) = (sum(1), sum(2), sum(3));
    let h = c2.powi(3) / (c3 * c3);
    unit * (c1 + (c2 / h).sqrt() * (chi_squared_above(h, alpha) - h)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    /// So many samples that the spectrum is the true one: χ² for equal variances, and a simulated quantile for others.
    #[test]
    fn the_quantile_is_that_of_the_sum_of_squares() {
        let n = 1_000_000_000;
        let limit = spe_limit_of_spectrum((&[9.0, 2.0, 2.0, 2.0], 1), n, 0.01);
        assert!((limit / (2.0 * chi_squared_above(3.0, 0.01)) - 1.0).abs() < 1e-6, "{limit}");
        let variances = [1.0, 0.5, 0.2, 0.1];
        let mut random = Stream::new(4, Purpose::Probes);
        let mut draw = || variances.iter().map(|v| v * random.gaussian().powi(2)).sum::<f64>();
        for alpha in [0.05, 0.01] {
            let limit = spe_limit_of_spectrum((&[9.0, 1.0, 0.5, 0.2, 0.1], 1), n, alpha);
            let above = (0..200_000).filter(|_| draw() > limit).count() as f64 / 200_000.0;
            // The standard error of the rate is 0.0005 and 0.0002; three moments leave 3 % of the rate.
            assert!((above / alpha - 1.0).abs() < 0.1, "{alpha} {above}");
        }
        // Any unit, and nothing left.
        let small = spe_limit_of_spectrum((&[9e-200, 2e-200, 2e-200, 2e-200], 1), n, 0.01);
        assert!((small / 1e-200 / (2.0 * chi_squared_above(3.0, 0.01)) - 1.0).abs() < 1e-6, "{small}");
        assert_eq!(spe_limit_of_spectrum((&[9.0, 0.0], 1), n, 0.01), 0.0);
    }

    #[test]
    fn new_samples_have_more_variance_off_the_axes() {
        let (found, n) = (of_new_samples(&[4.0, 1.0], 1, 100), 100.0f64);
        let turned = 4.0 * 3.0 / (9.0 + GAP * 4.0 / n);
        assert!((found[0] - (101.0 / 99.0 + 2.0 / n * turned)).abs() < 1e-12);
        assert_eq!(of_new_samples(&[1.0, 1.0], 1, 101), [1.02]);
    }
}
