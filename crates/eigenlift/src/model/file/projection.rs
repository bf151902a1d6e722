//! Projections of kernel methods in a model file: y(x) = lift(x)ᵀA − c with a lift by kernel, features or rows of a Gram matrix.

use super::samples::in_samples;
use super::{Arrays, Declared, Dim, Out, SAVE_AGAIN, Table};
use crate::error::{Error, Result};
use crate::features::{Approximation, FeatureMap};
use crate::kernel::{Kernel, KernelSpec};
use crate::model::{Lift, Projection};
use serde::{Deserialize, Serialize};

/// Mark of tables whose lift is by samples or landmarks.
const BY_SAMPLES: &str = "by samples";

/// A: a row for each coordinate of the lift, a column for each of the scores. c: one number for each of the scores.
const PROJECTION: [Declared; 3] = [
    Declared::samples(&[Dim::Of("lifted"), Dim::Of("row")]).with(BY_SAMPLES),
    Declared::f64("coefficients", &[Dim::Of("lifted"), Dim::Of("scores")]),
    Declared::f64("offset", &[Dim::Of("scores")]),
];

/// A lift in words; its numbers are arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LiftRecord {
    /// The kernel with every parameter known.
    pub(crate) kernel: String,
    /// Numbers in a row.
    pub(crate) n_features: usize,
    /// Coordinates of the lift: rows of A.
    pub(crate) n_lifted: usize,
    /// Precision of landmarks.
    pub(crate) precision: String,
    /// How features are made again; by samples or landmarks otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) map: Option<MapRecord>,
}

/// Features that are made again from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MapRecord {
    Exact,
    Fourier { seed: u64 },
    TensorSketch { seed: u64 },
}

impl MapRecord {
    /// The features of this approximation.
    pub(crate) fn of(approximation: Option<Approximation>, seed: u64) -> Option<Self> {
        match approximation {
            Some(Approximation::Fourier) => Some(Self::Fourier { seed }),
            Some(Approximation::TensorSketch) => Some(Self::TensorSketch { seed }),
            _ => None,
        }
    }
}

/// Whatever was wrong with a kernel, it is the model file that is wrong.
pub(crate) fn in_kernel(why: Error) -> Error {
    match why {
        Error::Kernel { found, required, .. } | Error::Data { found, required, .. } => {
            Error::model(format!("the kernel in the header cannot be used: {found}"), required, SAVE_AGAIN)
        }
        other => other,
    }
}

/// A kernel as text.
///
/// # Errors
/// When it is a function.
pub(crate) fn kernel_text(kernel: &Kernel) -> Result<String> {
    kernel.spec().map(KernelSpec::to_string).ok_or_else(|| {
        Error::model(
            format!("the kernel {kernel} is a function"),
            "a model file holds kernels that can be written down, and no code",
            "Write it as expr(…) or map(…), or fit with the precomputed Gram matrix",
        )
    })
}

impl LiftRecord {
    /// What is to be written of a projection whose features, if it has such, are those of this approximation.
    ///
    /// # Errors
    /// When the kernel is a function.
    pub(crate) fn of(
        projection: &Projection,
        approximation: Option<Approximation>,
        seed: u64,
    ) -> Result<Self> {
        let lift = &projection.lift;
        let (kernel, precision, map) = match lift {
            Lift::Kernel { kernel, samples } => (kernel_text(kernel)?, samples.precision(), None),
            Lift::Features { kernel, .. } => {
                let map = MapRecord::of(approximation, seed).unwrap_or(MapRecord::Exact);
                (kernel_text(kernel)?, "f64", Some(map))
            }
            _ => (KernelSpec::Precomputed.to_string(), "f64", None),
        };
        Ok(Self {
            kernel,
            n_features: lift.n_features(),
            n_lifted: projection.coefficients.n_rows(),
            precision: precision.into(),
            map,
        })
    }

    /// Whether rows hold kernel values.
    pub(crate) fn is_precomputed(&self) -> bool {
        self.kernel == KernelSpec::Precomputed.to_string()
    }

    /// The arrays of the projection with this many scores.
    pub(crate) fn table(&self, prefix: impl Into<String>, n_scores: usize) -> Table {
        Table::new(prefix, &PROJECTION, &self.precision)
            .mark(BY_SAMPLES, self.map.is_none() && !self.is_precomputed())
            .dim("lifted", self.n_lifted)
            .dim("row", self.n_features)
            .dim("scores", n_scores)
    }

    /// The projection.
    ///
    /// # Errors
    /// When record and arrays do not agree, or the kernel cannot take the samples.
    pub(crate) fn projection(&self, arrays: &mut Arrays) -> Result<Projection> {
        let coefficients = arrays.matrix("coefficients")?;
        let offset = arrays.f64("offset")?;
        Ok(Projection { lift: self.lift(arrays)?, coefficients, offset })
    }

    fn lift(&self, arrays: &mut Arrays) -> Result<Lift> {
        let (d, m) = (self.n_features, self.n_lifted);
        let spec: KernelSpec = self.kernel.parse().map_err(in_kernel)?;
        if spec.is_precomputed() {
            if self.map.is_some() || d != m {
                return Err(Error::model(
                    format!("a precomputed kernel with {d} features and {m} samples"),
                    "a row holds one number for each sample",
                    SAVE_AGAIN,
                ));
            }
            return Ok(Lift::Precomputed { n_samples: m });
        }
        let kernel = Kernel::new(&spec, d).map_err(in_kernel)?;
        let Some(map) = self.map else {
            let samples = arrays.samples()?;
            kernel.check_points(samples.points()).map_err(in_samples)?;
            return Ok(Lift::Kernel { kernel, samples });
        };
        let map = match map {
            MapRecord::Exact => FeatureMap::exact(&spec, d, m).ok_or_else(|| {
                Error::kernel(
                    format!("{spec} without {m} explicit features"),
                    "a model of exact features has a kernel with a finite map",
                    SAVE_AGAIN,
                )
            }),
            MapRecord::Fourier { seed } => FeatureMap::fourier(&spec, d, m, seed),
            MapRecord::TensorSketch { seed } => FeatureMap::tensor_sketch(&spec, d, m, seed),
        };
        let map = map.map_err(in_kernel)?;
        if map.dimension() == m {
            return Ok(Lift::Features { kernel, map });
        }
        Err(Error::model(
            format!("{} features with {m} coefficients", map.dimension()),
            "there is a row of coefficients for each feature",
            SAVE_AGAIN,
        ))
    }
}

impl<'a> Out<'a> {
    /// The arrays of a projection.
    pub(crate) fn projection(&mut self, projection: &'a Projection) -> &mut Self {
        self.matrix("coefficients", &projection.coefficients).f64("offset", &projection.offset[..]);
        if let Lift::Kernel { samples, .. } = &projection.lift {
            self.samples(samples);
        }
        self
    }
}
