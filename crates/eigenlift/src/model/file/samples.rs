//! Samples as arrays of a model file.

use super::arrays::Number;
use super::{Array, ModelReader, Numbers, SAVE_AGAIN};
use crate::data::{AnySamples, Csr, Points, Samples};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::real::Real;
use std::borrow::Cow;

const DENSE: &str = "samples";
const OFFSETS: &str = "samples.offsets";
const COLUMNS: &str = "samples.columns";
const VALUES: &str = "samples.values";

/// Dense samples as they lie in memory, under the name `samples`; sparse ones as `samples.offsets`, `samples.columns` and
/// `samples.values`. `prefix` stands before each name.
pub(super) fn sample_arrays<'a>(prefix: &str, samples: &'a AnySamples) -> Vec<Array<'a>> {
    match samples {
        AnySamples::F32(x) => arrays(prefix, x.points(), Numbers::F32),
        AnySamples::F64(x) => arrays(prefix, x.points(), Numbers::F64),
    }
}

fn arrays<'a, T: Real>(
    prefix: &str,
    points: Points<'a, T>,
    wrap: fn(Cow<'a, [T]>) -> Numbers<'a>,
) -> Vec<Array<'a>> {
    let (n, name) = (points.n_rows(), |what: &str| format!("{prefix}{what}"));
    match points {
        Points::Dense(rows) => {
            vec![Array::new(name(DENSE), &[n, rows.n_cols()], wrap(Cow::Borrowed(rows.buffer())))]
        }
        Points::Sparse(rows) => {
            let (mut offsets, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
            for i in 0..n {
                let (places, entries) = rows.row(i);
                columns.extend_from_slice(places);
                values.extend_from_slice(entries);
                offsets.push(values.len() as u64);
            }
            let entries = values.len();
            vec![
                Array::new(name(OFFSETS), &[n + 1], Numbers::U64(offsets.into())),
                Array::new(name(COLUMNS), &[entries], Numbers::U32(columns.into())),
                Array::new(name(VALUES), &[entries], wrap(values.into())),
            ]
        }
    }
}

impl ModelReader<'_> {
    /// Names of the arrays that hold the samples: those of sparse ones where the file has their offsets.
    pub(super) fn sample_names(&self, prefix: &str) -> Vec<String> {
        let name = |what: &str| format!("{prefix}{what}");
        if self.shape(&name(OFFSETS)).is_some() {
            return [OFFSETS, COLUMNS, VALUES].map(name).to_vec();
        }
        vec![name(DENSE)]
    }
}

/// The samples that [`sample_arrays`] wrote, checked.
pub(super) fn read_samples(
    file: &mut ModelReader<'_>,
    prefix: &str,
    shape: (usize, usize),
    precision: &str,
) -> Result<AnySamples> {
    let samples: AnySamples = match precision {
        "f32" => read_in::<f32>(file, prefix, shape)?.into(),
        _ => read_in::<f64>(file, prefix, shape)?.into(),
    };
    samples.points().check().map_err(in_samples)?;
    Ok(samples)
}

/// Whatever was wrong with samples, it is the model file that is wrong.
pub(crate) fn in_samples(why: Error) -> Error {
    match why {
        Error::Kernel { found, required, .. } | Error::Data { found, required, .. } => {
            Error::model(format!("the samples: {found}"), required, SAVE_AGAIN)
        }
        other => other,
    }
}

fn read_in<T: Real + Number>(
    file: &mut ModelReader<'_>,
    prefix: &str,
    (n, d): (usize, usize),
) -> Result<Samples<T>> {
    let name = |what: &str| format!("{prefix}{what}");
    let dense = name(DENSE);
    if file.shape(&name(OFFSETS)).is_none() {
        if let Some(buffer) = file.shared::<T>(&dense, &[n, d])? {
            return Samples::shared(buffer, n, d).map_err(in_samples);
        }
        return Ok(Matrix::from_vec(file.numbers::<T>(&dense, &[n, d])?, n, d).map_err(in_samples)?.into());
    }
    let entries = file.length(&name(VALUES))?;
    let offsets: Vec<u64> = file.numbers(&name(OFFSETS), &[n.saturating_add(1)])?;
    let offsets = offsets.into_iter().map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    let columns = file.numbers(&name(COLUMNS), &[entries])?;
    let values = file.numbers(&name(VALUES), &[entries])?;
    Ok(Csr::new(offsets, columns, values, d).map_err(in_samples)?.into())
}
