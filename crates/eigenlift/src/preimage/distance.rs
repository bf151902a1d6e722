//! A row from its distances to samples nearby, in closed form (Kwok and Tsang), docs/theory (K54).

use super::anchors::Anchors;
use super::target::{Space, each_block};
use crate::error::Result;
use crate::kernel::{DistanceProfile, Kernel};
use crate::linalg::{inner, symmetric_eigen};
use crate::matrix::Matrix;

/// Kernel values below this say nothing of a distance.
const LEAST_VALUE: f64 = 1e-6;
/// Directions in which neighbours spread less than this share of the most are left out.
const FLAT: f64 = 1e-10;

/// The row in the span of the samples nearby whose distances to them are those of P.
pub(super) fn row_by_distances(
    (kernel, factor, profile): (&Kernel, f64, DistanceProfile),
    anchors: &Anchors<'_>,
    which: &[u32],
    (weights, square): (&[f64], f64),
) -> Result<Vec<f64>> {
    let near = anchors.rows(which);
    let images = images(kernel, anchors, &near, weights);
    // ‖P − φ(x)‖² = ‖P‖² + a − 2⟨P, φ(x)⟩, which for P = φ(y) would be 2a − 2k(y,x).
    let squares: Vec<f64> = images
        .iter()
        .map(|image| {
            let apart = square + factor - 2.0 * image;
            profile.invert((1.0 - apart / (2.0 * factor)).clamp(LEAST_VALUE, 1.0))
        })
        .collect();
    let (m, d) = (near.n_rows(), near.n_cols());
    let mean: Vec<f64> = (0..d).map(|c| (0..m).map(|i| near[(i, c)]).sum::<f64>() / m as f64).collect();
    let centred = Matrix::from_fn(d, m, |c, i| near[(i, c)] - mean[c]);
    let gram = inner(centred.view(), centred.view());
    let target: Vec<f64> = (0..m).map(|i| 0.5 * (gram[(i, i)] - squares[i])).collect();
    let (values, vectors) = symmetric_eigen(&gram)?;
    let floor = FLAT * values.first().copied().unwrap_or(0.0);
    let mut row = mean;
    for (at, value) in values.iter().enumerate().filter(|(_, value)| **value > floor) {
        let along: f64 = (0..m).map(|i| vectors[(i, at)] * target[i]).sum::<f64>() / value;
        for (c, y) in row.iter_mut().enumerate() {
            *y += along * (0..m).map(|i| centred[(c, i)] * vectors[(i, at)]).sum::<f64>();
        }
    }
    Ok(row)
}

/// ⟨P, φ(x)⟩ for each row x.
fn images(kernel: &Kernel, anchors: &Anchors<'_>, x: &Matrix<f64>, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; x.n_rows()];
    each_block((kernel, anchors.samples), x, &mut Space::default(), |range, _, space| {
        for (j, sum) in sums.iter_mut().enumerate() {
            let terms = space.tile.row(j).iter().zip(&weights[range.clone()]);
            *sum += terms.map(|(k, c)| k * c).sum::<f64>();
        }
    });
    sums
}
