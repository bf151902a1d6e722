//! Projections of kernelised methods in a model file.

use super::plan::FactorPlan;
use crate::error::{Error, Result};
use crate::features::{Approximation, FeatureMap};
use crate::kernel::{Kernel, KernelSpec};
use crate::matrix::Matrix;
use crate::methods::sample_arrays::{read_samples, sample_arrays};
use crate::model::{Array, Lift, ModelReader, Numbers, Projection};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What to do about a file that no version of eigenlift wrote.
pub(crate) const SAVE_AGAIN: &str = "Save the model again with eigenlift";

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
    /// How features are made again; by landmarks otherwise.
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

pub(crate) fn wrong(found: impl Into<String>, required: &str) -> Error {
    Error::model(found.into(), required, SAVE_AGAIN)
}

/// What a record says cannot be used.
fn unusable(why: Error) -> Error {
    wrong(format!("a record that cannot be used ({why})"), "it must be one that a fit leaves")
}

impl LiftRecord {
    /// # Errors
    /// When the kernel is a function.
    pub(crate) fn of(projection: &Projection, plan: &FactorPlan) -> Result<Self> {
        let (kernel, map) = match &projection.lift {
            Lift::Kernel { kernel, .. } => (Some(kernel), None),
            Lift::Features { kernel, .. } => {
                let map = match plan.approximation {
                    Some(Approximation::Fourier) => MapRecord::Fourier { seed: plan.seed },
                    Some(Approximation::TensorSketch) => MapRecord::TensorSketch { seed: plan.seed },
                    _ => MapRecord::Exact,
                };
                (Some(kernel), Some(map))
            }
            _ => (None, None),
        };
        let precision = match &projection.lift {
            Lift::Kernel { samples, .. } => samples.precision(),
            _ => "f64",
        };
        Ok(Self {
            kernel: kernel.map_or_else(|| Ok(KernelSpec::Precomputed.to_string()), written)?,
            n_features: projection.lift.n_features(),
            n_lifted: projection.coefficients.n_rows(),
            precision: precision.into(),
            map,
        })
    }
}

fn written(kernel: &Kernel) -> Result<String> {
    kernel.spec().map(KernelSpec::to_string).ok_or_else(|| {
        Error::model(
            format!("the kernel {kernel} is a function"),
            "a model file holds kernels that can be written down, and no code",
            "Write it as expr(…) or map(…)",
        )
    })
}

/// Numbers under a name with a prefix.
pub(crate) fn doubles<'a>(prefix: &str, what: &str, shape: &[usize], numbers: &'a [f64]) -> Array<'a> {
    Array::new(format!("{prefix}{what}"), shape, Numbers::F64(Cow::Borrowed(numbers)))
}

/// The arrays of a projection, `prefix` before each name: `coefficients`, `offset`, and `samples` where it has landmarks.
pub(crate) fn projection_arrays<'a>(prefix: &str, projection: &'a Projection) -> Vec<Array<'a>> {
    let Projection { lift, coefficients, offset } = projection;
    let shape = [coefficients.n_rows(), coefficients.n_cols()];
    let mut arrays = vec![
        doubles(prefix, "coefficients", &shape, coefficients.as_slice()),
        doubles(prefix, "offset", &[offset.len()], offset),
    ];
    if let Lift::Kernel { samples, .. } = lift {
        arrays.extend(sample_arrays(prefix, samples));
    }
    arrays
}

/// Reads arrays by name and remembers the names, so that others can be refused.
pub(crate) struct Arrays<'a, 'b> {
    pub(crate) file: &'a mut ModelReader<'b>,
    pub(crate) expected: Vec<String>,
}

impl<'a, 'b> Arrays<'a, 'b> {
    pub(crate) fn new(file: &'a mut ModelReader<'b>) -> Self {
        Self { file, expected: Vec::new() }
    }

    /// # Errors
    /// When the array is missing, has another shape, or numbers that are not finite.
    pub(crate) fn doubles(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        self.expected.push(name.into());
        self.file.numbers(name, shape)
    }

    /// # Errors
    /// As [`Arrays::doubles`].
    pub(crate) fn matrix(&mut self, name: &str, n_rows: usize, n_cols: usize) -> Result<Matrix<f64>> {
        Matrix::from_vec(self.doubles(name, &[n_rows, n_cols])?, n_rows, n_cols)
    }

    /// Refuses arrays that were not asked for.
    ///
    /// # Errors
    /// When there are such.
    pub(crate) fn finish(self) -> Result<()> {
        self.file.expect_only(&self.expected.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The projection that [`projection_arrays`] wrote, with `columns` components.
    ///
    /// # Errors
    /// When record and arrays do not agree, or the kernel cannot take the landmarks.
    pub(crate) fn projection(
        &mut self,
        prefix: &str,
        record: &LiftRecord,
        columns: usize,
    ) -> Result<Projection> {
        let coefficients = self.matrix(&format!("{prefix}coefficients"), record.n_lifted, columns)?;
        let offset = self.doubles(&format!("{prefix}offset"), &[columns])?;
        let lift = self.lift(prefix, record)?;
        Ok(Projection { lift, coefficients, offset })
    }

    fn lift(&mut self, prefix: &str, record: &LiftRecord) -> Result<Lift> {
        let (d, m) = (record.n_features, record.n_lifted);
        let spec: KernelSpec = record.kernel.parse().map_err(unusable)?;
        if spec.is_precomputed() {
            if record.map.is_some() || d != m {
                return Err(wrong(
                    format!("a precomputed kernel of {m} samples and rows of {d}"),
                    "a row holds one number for each sample",
                ));
            }
            return Ok(Lift::Precomputed { n_samples: m });
        }
        let kernel = Kernel::new(&spec, d).map_err(unusable)?;
        if let Some(map) = record.map {
            let map = match map {
                MapRecord::Exact => FeatureMap::exact(&spec, d, m).ok_or_else(|| {
                    wrong(format!("{spec} without {m} explicit features"), "it must have them")
                })?,
                MapRecord::Fourier { seed } => FeatureMap::fourier(&spec, d, m, seed).map_err(unusable)?,
                MapRecord::TensorSketch { seed } => {
                    FeatureMap::tensor_sketch(&spec, d, m, seed).map_err(unusable)?
                }
            };
            if map.dimension() != m {
                return Err(wrong(
                    format!("{} features with {m} coefficients", map.dimension()),
                    "they must agree",
                ));
            }
            return Ok(Lift::Features { kernel, map });
        }
        let samples = read_samples(self.file, prefix, (m, d), &record.precision, &mut self.expected)?;
        kernel.check_points(samples.points()).map_err(unusable)?;
        Ok(Lift::Kernel { kernel, samples })
    }
}
