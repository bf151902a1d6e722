//! What a model file holds of the rows of the fit.

use super::{FitRows, Reference, Spread};
use crate::error::{Error, Result};
use crate::methods::FittedKernelPca;
use crate::model::{Array, Header, ModelReader, Numbers};
use std::borrow::Cow;

/// Mean and variance of T², then of the squared prediction error.
pub(in crate::methods) const NOVELTY_MOMENTS: &str = "novelty.moments";
/// Quantiles of T², then of the squared prediction error.
pub(in crate::methods) const NOVELTY_QUANTILES: &str = "novelty.quantiles";

impl FittedKernelPca {
    /// The arrays, where something is known.
    pub(in crate::methods) fn novelty_arrays(&self) -> Vec<Array<'static>> {
        let Some(Reference { t_squared, spe, .. }) = self.fit_reference() else { return Vec::new() };
        let moments = vec![t_squared.mean, t_squared.variance, spe.mean, spe.variance];
        let kept = t_squared.quantiles.len();
        let quantiles = [t_squared.quantiles, spe.quantiles].concat();
        vec![
            Array::new(NOVELTY_MOMENTS, &[2, 2], Numbers::F64(Cow::Owned(moments))),
            Array::new(NOVELTY_QUANTILES, &[2, kept], Numbers::F64(Cow::Owned(quantiles))),
        ]
    }
}

/// What the file knows; files of earlier versions and fits of rows in pieces know nothing.
pub(in crate::methods) fn read_fit_rows(file: &mut ModelReader<'_>, header: &Header) -> Result<FitRows> {
    if header.arrays.iter().all(|array| array.name != NOVELTY_MOMENTS) {
        return Ok(FitRows::Unknown);
    }
    let (rows, kept) = (header.n_samples, Spread::kept(header.n_samples));
    let moments: Vec<f64> = file.numbers(NOVELTY_MOMENTS, &[2, 2])?;
    let quantiles: Vec<f64> = file.numbers(NOVELTY_QUANTILES, &[2, kept])?;
    let spread = |at: usize| {
        Spread::from_parts(rows, moments.get(2 * at..2 * at + 2)?, quantiles.get(at * kept..(at + 1) * kept)?)
    };
    match (spread(0), spread(1)) {
        (Some(t_squared), Some(spe)) => {
            Ok(FitRows::Summary(Box::new(Reference { rows, in_sample: true, t_squared, spe })))
        }
        _ => Err(Error::model(
            format!("arrays {NOVELTY_MOMENTS} and {NOVELTY_QUANTILES} that no rows have"),
            "means, variances and quantiles are not negative, and quantiles are in ascending order",
            "Save the model again with eigenlift",
        )),
    }
}
