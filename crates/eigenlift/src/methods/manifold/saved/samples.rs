//! Samples as arrays of a model file.

use super::name;
use crate::data::{AnySamples, Points};
use crate::model::{Array, Numbers};
use crate::real::Real;
use std::borrow::Cow;

/// The arrays of a part's samples.
pub(super) fn add_samples<'a>(number: usize, samples: &'a AnySamples, arrays: &mut Vec<Array<'a>>) {
    match samples {
        AnySamples::F32(x) => sample_arrays(number, x.points(), Numbers::F32, arrays),
        AnySamples::F64(x) => sample_arrays(number, x.points(), Numbers::F64, arrays),
    }
}

/// Dense samples as they lie in memory; sparse ones as offsets, columns and values.
fn sample_arrays<'a, T: Real>(
    number: usize,
    points: Points<'a, T>,
    wrap: fn(Cow<'a, [T]>) -> Numbers<'a>,
    arrays: &mut Vec<Array<'a>>,
) {
    let n = points.n_rows();
    match points {
        Points::Dense(rows) => {
            let numbers = wrap(Cow::Borrowed(rows.buffer()));
            arrays.push(Array::new(name(number, "samples"), &[n, rows.n_cols()], numbers));
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
            arrays.push(Array::new(name(number, "samples.offsets"), &[n + 1], Numbers::U64(offsets.into())));
            arrays.push(Array::new(
                name(number, "samples.columns"),
                &[entries],
                Numbers::U32(columns.into()),
            ));
            arrays.push(Array::new(name(number, "samples.values"), &[entries], wrap(values.into())));
        }
    }
}
