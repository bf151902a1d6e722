//! Squared distances from rows to centres.

use crate::data::Points;
use crate::matrix::Matrix;
use crate::real::Real;
use crate::simd::Vectorised;

/// Lowers each distance to ‖x − c‖² where that is smaller; a slice of distances for each centre.
///
/// Numerics: dense rows through Σ(xᵢ−cᵢ)²; sparse rows through ‖x‖² − 2⟨x,c⟩ + ‖c‖², summed in one order, so that a row and
/// its copy are at distance 0.
pub(super) struct Nearer<'a, T> {
    pub(super) points: Points<'a, T>,
    pub(super) rows: &'a [usize],
    pub(super) centres: &'a Matrix<f64>,
    pub(super) distances: Vec<&'a mut [f64]>,
}

impl<T: Real> Vectorised for Nearer<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (c, distances) in self.distances.into_iter().enumerate() {
            let centre = self.centres.row(c);
            let square: f64 = centre.iter().filter(|v| **v != 0.0).map(|v| v * v).sum();
            for (distance, i) in distances.iter_mut().zip(self.rows) {
                let found = match self.points {
                    Points::Dense(m) => squared_difference::<T, FMA>(m.row(*i), centre),
                    Points::Sparse(m) => {
                        let (columns, values) = m.row(*i);
                        let (mut own, mut inner) = (0.0, 0.0);
                        for (column, value) in columns.iter().zip(values) {
                            own += value.f64() * value.f64();
                            inner += value.f64() * centre[*column as usize];
                        }
                        (own - inner + (square - inner)).max(0.0)
                    }
                };
                *distance = if found.is_nan() { found } else { distance.min(found) };
            }
        }
    }
}

#[inline(always)]
fn squared_difference<T: Real, const FMA: bool>(x: &[T], y: &[f64]) -> f64 {
    // Why eight sums: they form a vector, and none waits for another.
    let mut sums = [0.0; 8];
    let (strips, rest) = (x.chunks_exact(8), x.len() / 8 * 8);
    for (x, y) in strips.zip(y.chunks_exact(8)) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            let difference = x.f64() - y;
            *sum = difference.multiply_add::<FMA>(difference, *sum);
        }
    }
    let tail: f64 = x[rest..].iter().zip(&y[rest..]).map(|(x, y)| (x.f64() - y).powi(2)).sum();
    tail + sums.into_iter().sum::<f64>()
}
