//! Distances from one row to sixteen samples at once.

use super::Metric;
use crate::simd::Vectorised;

/// Samples side by side in a strip.
pub(super) const LANES: usize = 16;

/// Column l of the samples stands in `strip[16·l..]`.
pub(super) fn fill_strip(strip: &mut [f64], lane: usize, row: &[f64]) {
    strip.chunks_exact_mut(LANES).zip(row).for_each(|(places, x)| places[lane] = *x);
}

/// Σ(xₗ−yₗ)², or Σ|xₗ−yₗ| when `ABSOLUTE`, for each sample of a strip.
///
/// Numerics: one sum for each sample in the order of the columns, without fused operations: the bits of
/// [`Metric::distance`].
#[inline(always)]
pub(super) fn sums<const ABSOLUTE: bool>(x: &[f64], strip: &[f64]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for (x, places) in x.iter().zip(strip.chunks_exact(LANES)) {
        for (sum, y) in sums.iter_mut().zip(places) {
            let difference = x - y;
            *sum += if ABSOLUTE { difference.abs() } else { difference * difference };
        }
    }
    sums
}

/// Distances of some rows, one after another in `rows`, to the samples of a strip.
pub(super) struct ToStrip<'a> {
    pub(super) metric: Metric,
    pub(super) rows: &'a [f64],
    pub(super) strip: &'a [f64],
    /// Sums as [`sums`] gives them.
    pub(super) out: &'a mut [[f64; LANES]],
}

impl Vectorised for ToStrip<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let width = (self.strip.len() / LANES).max(1);
        for (out, row) in self.out.iter_mut().zip(self.rows.chunks_exact(width)) {
            *out = match self.metric {
                Metric::Manhattan => sums::<true>(row, self.strip),
                _ => sums::<false>(row, self.strip),
            };
        }
    }
}
