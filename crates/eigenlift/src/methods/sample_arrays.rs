//! Samples as arrays of a model file.

use crate::data::{AnySamples, Csr, Points, Samples};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::model::{Array, ModelReader, Number, Numbers};
use crate::real::Real;
use std::borrow::Cow;

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
            vec![Array::new(name("samples"), &[n, rows.n_cols()], wrap(Cow::Borrowed(rows.buffer())))]
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
                Array::new(name("samples.offsets"), &[n + 1], Numbers::U64(offsets.into())),
                Array::new(name("samples.columns"), &[entries], Numbers::U32(columns.into())),
                Array::new(name("samples.values"), &[entries], wrap(values.into())),
            ]
        }
    }
}

/// The samples that [`sample_arrays`] wrote, checked; names of the arrays that were read are added to `expected`.
pub(super) fn read_samples(
    file: &mut ModelReader<'_>,
    prefix: &str,
    shape: (usize, usize),
    precision: &str,
    expected: &mut Vec<String>,
) -> Result<AnySamples> {
    let samples: AnySamples = match precision {
        "f32" => read_in::<f32>(file, prefix, shape, expected)?.into(),
        _ => read_in::<f64>(file, prefix, shape, expected)?.into(),
    };
    samples.points().check().map_err(|why| {
        Error::model(
            format!("samples that cannot be used ({why})"),
            "they must be those of a fit",
            "Save the model again with eigenlift",
        )
    })?;
    Ok(samples)
}

fn read_in<T: Real + Number>(
    file: &mut ModelReader<'_>,
    prefix: &str,
    (n, d): (usize, usize),
    expected: &mut Vec<String>,
) -> Result<Samples<T>> {
    let name = |what: &str| format!("{prefix}{what}");
    let dense = name("samples");
    if file.header().arrays.iter().any(|array| array.name == dense) {
        expected.push(dense.clone());
        if let Some(buffer) = file.shared::<T>(&dense, &[n, d])? {
            return Samples::shared(buffer, n, d);
        }
        return Ok(Matrix::from_vec(file.numbers::<T>(&dense, &[n, d])?, n, d)?.into());
    }
    let entries = file.length(&name("samples.values"))?;
    let offsets: Vec<u64> = file.numbers(&name("samples.offsets"), &[n.saturating_add(1)])?;
    let offsets = offsets.into_iter().map(|at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    let columns = file.numbers(&name("samples.columns"), &[entries])?;
    let values = file.numbers(&name("samples.values"), &[entries])?;
    expected.extend(["samples.offsets", "samples.columns", "samples.values"].map(name));
    Ok(Csr::new(offsets, columns, values, d)?.into())
}
