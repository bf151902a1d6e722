//! Moments of features of all rows, and the projection on axes over features.

use crate::data::RowSource;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{Against, FeatureSums, Features};
use crate::matrix::Matrix;
use crate::model::{Lift, Projection};
use crate::progress::Watch;

impl Features {
    /// y(x) = (f(x) − mean)ᵀW as an affine function of the lift.
    pub(crate) fn affine(&self, axes: &Matrix<f64>, mean: &[f64]) -> Projection {
        let (lift, coefficients) = match self {
            Self::Landmarks(map) => {
                let over_landmarks = map.over_landmarks(axes);
                match map.against() {
                    Against::Rows { kernel, landmarks } => {
                        let lift = Lift::Kernel { kernel: kernel.clone(), samples: landmarks.clone() };
                        (lift, over_landmarks)
                    }
                    Against::Columns { chosen, n_samples } => {
                        let mut all = Matrix::zeros(*n_samples, axes.n_cols());
                        for (row, at) in chosen.iter().enumerate() {
                            all.view_mut().row_mut(*at).copy_from_slice(over_landmarks.row(row));
                        }
                        (Lift::Precomputed { n_samples: *n_samples }, all)
                    }
                }
            }
            Self::Map(kernel, map) => {
                (Lift::Features { kernel: kernel.clone(), map: map.clone() }, axes.clone())
            }
        };
        let offset = (0..axes.n_cols()).map(|j| mean.iter().enumerate().map(|(i, m)| m * axes[(i, j)]).sum());
        Projection { offset: offset.collect(), lift, coefficients }
    }
}

/// Reads all rows once, from the first on.
pub(super) fn accumulate(
    features: &Features,
    source: &mut dyn RowSource,
    chunk_rows: usize,
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<FeatureSums> {
    let total = source.n_rows()?;
    source.rewind()?;
    let by_kernel = features.by_kernel_moments(total).is_some();
    let mut sum = FeatureSums::empty(features.dimension());
    loop {
        let at = sum.count() as usize;
        watch.step("moments of features", at, total)?;
        let more = source.next_rows(chunk_rows, &mut |rows| {
            let mut result = Ok(());
            engine.run(&mut || {
                result = features.sums_of(by_kernel, rows, at, watch).and_then(|part| sum.merge(&part));
            });
            result
        })?;
        if more {
            continue;
        }
        let mut whole = None;
        engine.run(&mut || {
            let raw = std::mem::replace(&mut sum, FeatureSums::empty(0));
            whole = Some(features.finish_sums(by_kernel, raw));
        });
        return whole.ok_or(Error::Cancelled);
    }
}
