//! Samples whose mean is far larger than their spread, for kernels of inner products: what all kernel values have in common hides the rest.
//!
//! Numerics: with R = mean²/variance a kernel value is about R times as large as what centering leaves of it, so that a roundoff u becomes
//! R·u there: 0.5 in single precision for samples of spread 1 around 2000.

use crate::data::AnySamples;
use crate::gram::Similarity;
use crate::real::Real;

/// Rounding of a kernel value in units of roundoff, with room.
const ROUNDING: f64 = 32.0;
/// From this share of the largest component on, rounding in double precision is warned of.
const SEEN: f64 = 1e-6;

/// R, where it is large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FarFromOrigin(Option<f64>);

impl FarFromOrigin {
    /// Cost: two readings of the samples, for kernels of inner products alone.
    pub(super) fn of(similarity: &Similarity, x: &AnySamples) -> Self {
        match similarity {
            Similarity::Kernel(kernel) => Self(kernel.common_part(x.points())),
            Similarity::Precomputed => Self(None),
        }
    }

    /// Whether kernel values of these samples are to be computed in double precision though the samples are not.
    pub(super) fn needs_double(self, x: &AnySamples) -> bool {
        self.0.is_some() && matches!(x, AnySamples::F32(_))
    }

    /// Why they are.
    pub(super) fn reason(self, x: &AnySamples) -> Option<String> {
        self.needs_double(x).then(|| {
            "the mean of the samples is far larger than their spread: kernel values need double precision"
                .into()
        })
    }

    /// What even double precision loses.
    pub(super) fn warning(self) -> Option<String> {
        let ratio = self.0?;
        let lost = ROUNDING * ratio * f64::UNIT_ROUNDOFF;
        (lost > SEEN).then(|| {
            format!(
                "kernel values have a common part about {ratio:.0e} times as large as what centering leaves: results are off by up to \
                 {:.0e} of the largest component, and smaller ones are lost in rounding; center or standardize the columns",
                lost.min(1.0)
            )
        })
    }
}
