//! Gavish and Donoho's rule: singular values above a threshold that noise alone does not reach.

use super::spectrum::Spectrum;

/// Intervals of the integral of the Marchenko–Pastur density.
const INTERVALS: usize = 256;
/// Width in θ at which the bisection ends.
const MEDIAN_WIDTH: f64 = 1e-13;

/// The number of eigenvalues above the optimal hard threshold for noise of unknown size, and that threshold as an
/// eigenvalue λ.
///
/// Of the centred matrix with singular values σ = √(nλ), those above τ = ω(β)·median(σ) are kept, with β the ratio of the
/// shorter to the longer side of n − 1 rows (one is lost to centring) and d columns. For a low-rank matrix in white noise
/// no other threshold has a smaller worst-case error as the sides grow.
///
/// `None` when min(n − 1, d) < 2 or when too few eigenvalues are known to tell their median: half of them and one suffice.
/// Eigenvalues that are rounding are never counted.
///
/// # References
/// M. Gavish and D. L. Donoho, *The optimal hard threshold for singular values is 4/√3*, IEEE Trans. Inf. Theory 2014.
pub fn gavish_donoho(spectrum: &Spectrum<'_>) -> Option<(usize, f64)> {
    let (most, rows) = (spectrum.most(), spectrum.n_samples.saturating_sub(1));
    if most < 2 || spectrum.values.len() <= most / 2 {
        return None;
    }
    let ratio = most as f64 / rows.max(spectrum.n_features) as f64;
    let root = |at: usize| spectrum.values[at].max(0.0).sqrt();
    let median = 0.5 * (root((most - 1) / 2) + root(most / 2));
    let threshold = (omega(ratio) * median).powi(2).max(spectrum.rounding());
    let count = spectrum.values.iter().take(most).take_while(|v| **v > threshold).count();
    threshold.is_finite().then_some((count, threshold))
}

/// ω(β) = λ*(β)/√μ_β with λ*(β) = √(2(β+1) + 8β/((β+1) + √(β²+14β+1))).
fn omega(ratio: f64) -> f64 {
    let b = ratio;
    let known_noise = (2.0 * (b + 1.0) + 8.0 * b / (b + 1.0 + (b * b + 14.0 * b + 1.0).sqrt())).sqrt();
    known_noise / marchenko_pastur_median(b).sqrt()
}

/// μ_β, the median of the Marchenko–Pastur law with ratio β ≤ 1.
///
/// With x = 1 + β + 2√β·cos θ the share above x is ∫₀^θ (2/π)·sin²φ/(1 + β + 2√β·cos φ) dφ, whose integrand is smooth
/// up to the median; Simpson's rule and bisection in θ give 1e-10.
fn marchenko_pastur_median(ratio: f64) -> f64 {
    let place = |angle: f64| 1.0 + ratio + 2.0 * ratio.sqrt() * angle.cos();
    let density = |angle: f64| std::f64::consts::FRAC_2_PI * angle.sin().powi(2) / place(angle);
    let above = |angle: f64| {
        let step = angle / INTERVALS as f64;
        let inner: f64 = (1..INTERVALS).map(|i| (2 + 2 * (i % 2)) as f64 * density(i as f64 * step)).sum();
        (density(0.0) + inner + density(angle)) * step / 3.0
    };
    // The median lies at θ = π/2 for β → 0 and at θ = 2.31 for β = 1.
    let (mut low, mut high) = (1.5, 2.4);
    while high - low > MEDIAN_WIDTH {
        let middle = 0.5 * (low + high);
        if above(middle) < 0.5 {
            low = middle;
        } else {
            high = middle;
        }
    }
    place(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    // At β = 1 the median solves θ − sin θ = π/2, so ω = (4/√3)/√(2 + 2cos θ).
    #[test]
    fn the_factor_of_square_matrices_is_the_known_one() {
        let mut angle = 2.3f64;
        for _ in 0..50 {
            angle -= (angle - angle.sin() - std::f64::consts::FRAC_PI_2) / (1.0 - angle.cos());
        }
        let exact = 4.0 / 3f64.sqrt() / (2.0 + 2.0 * angle.cos()).sqrt();
        assert!((omega(1.0) - exact).abs() < 1e-10, "{} {exact}", omega(1.0));
        assert!((omega(1.0) - 2.858).abs() < 5e-4);
    }

    // By scipy 1.17.1: brentq on quad of the density, both to 1e-12.
    const MEDIANS: [(f64, f64); 7] = [
        (0.01, 0.996665676339),
        (0.1, 0.966565147403),
        (0.25, 0.916004070687),
        (0.5, 0.830465881581),
        (0.75, 0.742948487007),
        (0.9, 0.689222098354),
        (0.99, 0.656445906144),
    ];

    #[test]
    fn medians_agree_with_numerical_integration_of_the_density() {
        for (ratio, median) in MEDIANS {
            let got = marchenko_pastur_median(ratio);
            assert!((got - median).abs() < 1e-10, "{ratio}: {got} {median}");
        }
    }

    // The published polynomial is within 0.02 of ω.
    #[test]
    fn factors_follow_the_published_polynomial() {
        for i in 1..=100 {
            let b = f64::from(i) / 100.0;
            let published = 0.56 * b.powi(3) - 0.95 * b * b + 1.82 * b + 1.43;
            assert!((omega(b) - published).abs() < 0.02, "{b}: {} {published}", omega(b));
        }
        // Noise of one direction among very many: all singular values are equal, and ω = √2.
        assert!((omega(1e-12) - 2f64.sqrt()).abs() < 1e-5);
    }

    fn of(values: &[f64], n_samples: usize, n_features: usize) -> Spectrum<'_> {
        Spectrum { values, n_samples, n_features, total: values.iter().sum() }
    }

    #[test]
    fn half_of_the_values_suffice_and_scale_does_not_matter() {
        let values: Vec<f64> =
            (0..20).map(|j| if j < 3 { 50.0 } else { 1.5 - 0.05 * f64::from(j) }).collect();
        let (m, threshold) = gavish_donoho(&of(&values, 200, 20)).unwrap();
        assert_eq!(m, 3);
        assert_eq!(gavish_donoho(&of(&values[..11], 200, 20)).unwrap().0, 3);
        assert_eq!(gavish_donoho(&of(&values[..10], 200, 20)), None);
        for power in [-900, -40, 40, 900] {
            let factor = 2f64.powi(power);
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            assert_eq!(gavish_donoho(&of(&scaled, 200, 20)), Some((m, threshold * factor)));
        }
    }

    #[test]
    fn noiseless_and_degenerate_spectra_are_answered_or_left() {
        let values = [5.0, 2.0, 1e-18, 1e-18, 0.0, 0.0];
        assert_eq!(gavish_donoho(&of(&values, 50, 6)).unwrap().0, 2);
        assert_eq!(gavish_donoho(&of(&[0.0; 6], 50, 6)), Some((0, 0.0)));
        assert_eq!(gavish_donoho(&of(&[7.0], 50, 1)), None);
        assert_eq!(gavish_donoho(&of(&[7.0], 2, 9)), None);
        assert_eq!(gavish_donoho(&of(&[], 0, 9)), None);
    }
}
