//! The projection on axes over features.

use crate::features::{Against, Features};
use crate::matrix::Matrix;
use crate::model::{Lift, Projection};

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
