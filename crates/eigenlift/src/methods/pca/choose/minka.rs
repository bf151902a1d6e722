//! Minka's rule: the evidence of probabilistic PCA by Laplace's approximation.

use super::spectrum::Spectrum;

/// Noise variances below this count as this, as in scikit-learn.
const LEAST_NOISE: f64 = 1e-15;

/// The number of components with the largest evidence, and the log evidences of m = 1, 2, … d − 1.
///
/// The data are taken for m Gaussian components in round Gaussian noise of unknown variance (Minka 2000, the formula of
/// scikit-learn's `n_components="mle"`). Noise that is not round, the rule of real data, lets it ask for many components.
/// m = 0 is not tried.
///
/// `None` when an eigenvalue is not known, when n ≤ d (then some directions are empty for want of rows, and the evidence
/// has no bound), or when fewer than two directions hold any variance. Where d − r directions are empty though n > d, as
/// constant columns make them, data without noise explain the rows, so the answer is r; m > r has the evidence −∞.
///
/// Cost: 3·d² logarithms.
///
/// # References
/// T. P. Minka, *Automatic choice of dimensionality for PCA*, NIPS 2000.
pub fn minka(spectrum: &Spectrum<'_>) -> Option<(usize, Vec<f64>)> {
    let (n, d) = (spectrum.n_samples, spectrum.n_features);
    if !spectrum.is_whole() || n <= d || d < 2 {
        return None;
    }
    let evidences = Evidence::of(spectrum, d)?.all();
    let mut best = 0;
    for (at, evidence) in evidences.iter().enumerate() {
        if *evidence > evidences[best] {
            best = at;
        }
    }
    Some((best + 1, evidences))
}

/// The spectrum in the scale of the formula.
struct Evidence {
    /// Eigenvalues ℓ of the covariance divided by n − 1, those that are rounding set to 0.
    values: Vec<f64>,
    /// How many of them are not 0.
    rank: usize,
    n: f64,
    /// Least noise variance.
    floor: f64,
    /// Least difference between two eigenvalues: below it they are equal up to rounding.
    least_gap: f64,
}

impl Evidence {
    fn of(spectrum: &Spectrum<'_>, d: usize) -> Option<Self> {
        let n = spectrum.n_samples as f64;
        let (to_unbiased, rounding) = (n / (n - 1.0), spectrum.rounding());
        let values: Vec<f64> =
            spectrum.values[..d].iter().map(|v| if *v > rounding { v * to_unbiased } else { 0.0 }).collect();
        let rank = values.iter().take_while(|v| **v > 0.0).count();
        let largest = *values.first()?;
        // Why: the floor is scikit-learn's for data of ordinary size, and follows the scale of smaller ones.
        let floor = LEAST_NOISE * largest.min(1.0);
        (rank >= 2 && largest.is_finite()).then(|| {
            let least_gap = f64::EPSILON * largest;
            Self { values, rank, n, floor, least_gap }
        })
    }

    /// ln(ℓ_i − ℓ_j) for i < j.
    fn log_gap(&self, i: usize, j: usize) -> f64 {
        (self.values[i] - self.values[j]).max(self.least_gap).ln()
    }

    /// ln p(X | m) for m = 1 … d − 1, up to a constant:
    ///
    ///   ln p(U) − (n/2)·Σ_{j≤m} ln ℓ_j − (n(d−m)/2)·ln v + ((M+m)/2)·ln 2π − ½·ln|A| − (m/2)·ln n,
    ///
    /// with v = Σ_{j>m} ℓ_j/(d−m), M = dm − m(m+1)/2, ln p(U) = Σ_{i≤m} (lnΓ((d−i+1)/2) − ((d−i+1)/2)·ln π) − m·ln 2,
    /// and ln|A| = Σ_{i≤m} Σ_{j>i} (ln((1/ℓ̂_j − 1/ℓ̂_i)(ℓ_i − ℓ_j)) + ln n), where ℓ̂ is ℓ up to m and v beyond.
    fn all(&self) -> Vec<f64> {
        let (d, n) = (self.values.len(), self.n);
        let log_gamma = log_gamma_of_halves(d);
        let (mut prior, mut logs, mut inside, mut across) = (0.0, 0.0, 0.0, 0.0);
        let noise = self.noise();
        let mut evidences = vec![f64::NEG_INFINITY; d - 1];
        for m in 1..=self.rank.min(d - 1) {
            let (last, degrees) = (m - 1, (d - m + 1) as f64);
            prior += log_gamma[d - m + 1] - 0.5 * degrees * std::f64::consts::PI.ln() - 2f64.ln();
            for i in 0..last {
                let gap = self.log_gap(i, last);
                inside += 2.0 * gap - self.values[i].ln() - self.values[last].ln();
                across -= gap;
            }
            logs += self.values[last].ln();
            across += (m..d).map(|j| self.log_gap(last, j)).sum::<f64>();
            let (kept, rest) = (m as f64, (d - m) as f64);
            let free = d as f64 * kept - kept * (kept + 1.0) / 2.0;
            let hessian = inside + across + rest * self.against_noise(m, noise[m]) + free * n.ln();
            evidences[last] = prior - 0.5 * n * logs - 0.5 * n * rest * noise[m].ln()
                + 0.5 * (free + kept) * std::f64::consts::TAU.ln()
                - 0.5 * hessian
                - 0.5 * kept * n.ln();
        }
        evidences
    }

    /// v for m = 0 … d − 1, at least the floor; tails are added from the small end.
    fn noise(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let mut means: Vec<f64> = self
            .values
            .iter()
            .rev()
            .enumerate()
            .map(|(at, value)| {
                sum += value;
                (sum / (at + 1) as f64).max(self.floor)
            })
            .collect();
        means.reverse();
        means
    }

    /// Σ_{i≤m} ln(1/v − 1/ℓ_i).
    fn against_noise(&self, m: usize, noise: f64) -> f64 {
        let gap = |value: f64| (value - noise).max(self.least_gap);
        self.values[..m].iter().map(|v| (gap(*v) / (v * noise)).ln()).sum()
    }
}

/// lnΓ(k/2) for k = 0 … d (the entry of 0 is not used), by Γ(x + 1) = x·Γ(x) from Γ(½) = √π and Γ(1) = 1.
fn log_gamma_of_halves(d: usize) -> Vec<f64> {
    let mut table = vec![0.0, 0.5 * std::f64::consts::PI.ln(), 0.0];
    for k in 3..=d {
        table.push(table[k - 2] + (0.5 * (k - 2) as f64).ln());
    }
    table
}

#[cfg(test)]
mod tests;
