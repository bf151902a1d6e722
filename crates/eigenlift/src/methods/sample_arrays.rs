//! Samples as arrays of a model file.

use crate::data::{AnySamples, Points};
use crate::model::{Array, Numbers};
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
