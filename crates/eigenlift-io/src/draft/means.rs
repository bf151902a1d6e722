//! Means of columns, for filling gaps.

/// Running means of the places of rows; NaN is passed over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Means {
    means: Vec<f64>,
    counts: Vec<usize>,
}

impl Means {
    pub(crate) fn new(width: usize) -> Self {
        Self { means: vec![0.0; width], counts: vec![0; width] }
    }

    /// Adds rows.
    ///
    /// Numerics: a running mean, since the sum of large entries may overflow.
    pub(crate) fn add(&mut self, values: &[f64]) {
        for row in values.chunks_exact(self.means.len().max(1)) {
            for ((&value, mean), count) in row.iter().zip(&mut self.means).zip(&mut self.counts) {
                if !value.is_nan() {
                    *count += 1;
                    let weight = 1.0 / *count as f64;
                    *mean += value * weight - *mean * weight;
                }
            }
        }
    }

    /// Fills NaN in rows of these places with the means, and counts how many were filled.
    pub(crate) fn fill(&self, values: &mut [f64], places: &[usize]) -> usize {
        let means: Vec<f64> =
            places.iter().map(|&place| self.means.get(place).copied().unwrap_or_default()).collect();
        let mut n_filled = 0;
        for row in values.chunks_exact_mut(means.len().max(1)) {
            for (value, &mean) in row.iter_mut().zip(&means) {
                if value.is_nan() {
                    *value = mean;
                    n_filled += 1;
                }
            }
        }
        n_filled
    }
}
