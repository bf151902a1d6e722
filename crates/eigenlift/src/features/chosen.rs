//! Features that were chosen: landmarks, or a map that is written out.

use super::{Against, FeatureKind, FeatureMap, FeatureRows, LandmarkFeatures, SampledError, dot};
use crate::data::{AnyPoints, AnySamples};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::progress::Watch;
use rayon::prelude::*;

/// Flops from which it is worth to leave out the solve for every row.
const WORTH_FLOPS: usize = 2_000_000_000;
/// Rounding of moments, relative to the trace, that may be had for it.
const MOMENT_ROUNDING: f64 = 1e-8;

/// Features f with ⟨f(x), f(y)⟩ equal or close to k(x, y).
#[derive(Clone, Debug)]
pub(crate) enum Features {
    Landmarks(LandmarkFeatures),
    Map(Kernel, FeatureMap),
}

impl Features {
    /// Columns that a row must have.
    pub(crate) fn n_cols(&self) -> usize {
        match self {
            Self::Landmarks(map) => match map.against() {
                Against::Rows { landmarks, .. } => landmarks.n_cols(),
                Against::Columns { n_samples, .. } => *n_samples,
            },
            Self::Map(_, map) => map.n_features(),
        }
    }

    pub(crate) fn kernel(&self) -> Option<&Kernel> {
        match self {
            Self::Landmarks(map) => match map.against() {
                Against::Rows { kernel, .. } => Some(kernel),
                Against::Columns { .. } => None,
            },
            Self::Map(kernel, _) => Some(kernel),
        }
    }

    pub(crate) fn kernel_name(&self) -> String {
        self.kernel().map_or_else(|| "precomputed".into(), Kernel::to_string)
    }

    pub(crate) fn check_points(&self, x: AnyPoints<'_>) -> Result<()> {
        self.kernel().map_or_else(|| x.check(), |kernel| kernel.check_points(x))
    }

    /// Whether two sets of features are the same: kernel and landmarks agree.
    pub(crate) fn same_as(&self, other: &Features) -> bool {
        let places = |features: &Features| match features {
            Self::Landmarks(map) => match map.against() {
                Against::Rows { landmarks, .. } => Some(landmarks.points().to_dense::<f64>()),
                Against::Columns { .. } => None,
            },
            Self::Map(..) => None,
        };
        self.kernel_name() == other.kernel_name()
            && self.dimension() == other.dimension()
            && places(self) == places(other)
    }

    /// Whether the kernel is positive semi-definite for any rows.
    pub(crate) fn known_valid(&self) -> bool {
        self.kernel().and_then(Kernel::spec).and_then(KernelSpec::is_mercer) == Some(true)
    }

    /// Landmarks whose moments may be taken of kernel values instead of features: when that saves work worth saving and
    /// rounding, which grows by ‖L⁻¹‖², stays far below the trace.
    pub(crate) fn by_kernel_moments(&self, n: usize) -> Option<&LandmarkFeatures> {
        let Self::Landmarks(map) = self else { return None };
        let m = map.dimension();
        let worth = n.saturating_mul(m).saturating_mul(m) > WORTH_FLOPS;
        let safe = || 4.0 * f64::EPSILON * map.condition() * m as f64 <= MOMENT_ROUNDING;
        (worth && self.known_valid() && safe()).then_some(map)
    }

    /// The error of random features on pairs of these rows; `None` for features whose error is known otherwise.
    pub(crate) fn sampled_error(&self, rows: &AnySamples, seed: u64) -> Result<Option<SampledError>> {
        match self {
            Self::Map(kernel, map) if map.kind() != FeatureKind::Exact => {
                map.sampled_error(kernel, rows.points(), seed).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn dimension(&self) -> usize {
        match self {
            Self::Landmarks(map) => map.dimension(),
            Self::Map(_, map) => map.dimension(),
        }
    }

    /// Features of rows, the first of which is row `first_row` of all.
    pub(crate) fn rows(&self, x: AnyPoints<'_>, first_row: usize, watch: &Watch) -> Result<FeatureRows> {
        match self {
            Self::Landmarks(map) => map.rows(x, first_row, watch),
            Self::Map(_, map) => {
                watch.check()?;
                let features = map.apply(x)?;
                check_finite(&features, first_row)?;
                let trace = features
                    .as_slice()
                    .par_chunks(1 << 16)
                    .map(|piece| dot(piece, piece))
                    .collect::<Vec<_>>();
                Ok(FeatureRows { residuals: Vec::new(), trace: trace.iter().sum(), features })
            }
        }
    }
}

fn check_finite(features: &Matrix<f64>, first_row: usize) -> Result<()> {
    let at = features.as_slice().iter().position(|x| !x.is_finite());
    at.map_or(Ok(()), |at| {
        Err(Error::data(
            format!("row {} has features that are not finite", first_row + at / features.n_cols() + 1),
            "features must stay within double precision",
            "Look for entries of extreme size in that row, or change the kernel's parameters",
        ))
    })
}

/// Rows in messages are counted from the start of the piece; this says where it starts.
pub(crate) fn counted_from(error: Error, first_row: usize) -> Error {
    match error {
        Error::Data { found, required, action } if first_row > 0 => {
            Error::Data { found: format!("{found} (counted after row {first_row})"), required, action }
        }
        other => other,
    }
}
