//! What a model file holds of the samples of the fit.

use super::reference::MOST_KEPT;
use super::scores::NUMBERS as MOMENTS;
use super::{FitRows, Novelty, Reference, ScoreMoments};
use crate::error::{Error, Result};
use crate::methods::FittedKernelPca;
use crate::model::{Array, Header, Lift, ModelReader, Numbers};
use std::borrow::Cow;

/// T² of samples of the fit, then their squared prediction errors.
const NOVELTY_FIT: &str = "novelty.fit";
/// The same by cross-validation.
const NOVELTY_FOLDS: &str = "novelty.folds";
/// Moments of the scores of these samples.
const NOVELTY_SCORES: &str = "novelty.scores";
/// Arrays about the samples of the fit. The last two are those of earlier versions, which told T² and errors apart; they are not read.
pub(in crate::methods) const NOVELTY_ARRAYS: [&str; 5] =
    [NOVELTY_FIT, NOVELTY_FOLDS, NOVELTY_SCORES, "novelty.moments", "novelty.quantiles"];

impl FittedKernelPca {
    /// The array, where something is known that the samples in the file do not tell.
    pub(in crate::methods) fn novelty_arrays(&self) -> Vec<Array<'static>> {
        let (name, reference) = match &self.reference {
            Some(reference) => (NOVELTY_FOLDS, (**reference).clone()),
            None if matches!(self.projection.lift, Lift::Kernel { .. }) && self.holds_samples() => {
                return Vec::new();
            }
            None => match self.fit_reference() {
                Some(reference) => (NOVELTY_FIT, reference.kept(self.plan.seed)),
                None => return Vec::new(),
            },
        };
        let rows = reference.n_samples();
        let Novelty { t_squared, spe, scores } = reference.numbers;
        let (numbers, moments) = ([t_squared, spe].concat(), scores.numbers());
        let shape = [moments.len() / MOMENTS, MOMENTS];
        let mut arrays = vec![Array::new(name, &[2, rows], Numbers::F64(Cow::Owned(numbers)))];
        if shape[0] > 0 {
            arrays.push(Array::new(NOVELTY_SCORES, &shape, Numbers::F64(Cow::Owned(moments))));
        }
        arrays
    }
}

/// What the file knows; files of earlier versions and fits of rows in pieces know nothing.
pub(in crate::methods) fn read_fit_rows(
    file: &mut ModelReader<'_>,
    header: &Header,
) -> Result<(FitRows, Option<Box<Reference>>)> {
    let found = |name: &str| header.arrays.iter().find(|array| array.name == name);
    let Some(array) = found(NOVELTY_FOLDS).or_else(|| found(NOVELTY_FIT)) else {
        return Ok((FitRows::Unknown, None));
    };
    let (name, shape) = (array.name.clone(), array.shape.clone());
    let folds = name == NOVELTY_FOLDS;
    let rows = shape.get(1).copied().unwrap_or(0);
    let reference = match shape.as_slice() {
        [2, _] if rows <= MOST_KEPT && rows <= header.n_samples => {
            let numbers = file.numbers::<f64>(&name, &[2, rows])?;
            let scores = match found(NOVELTY_SCORES).map(|array| array.shape.clone()) {
                Some(shape) if shape.len() == 2 && shape[1] == MOMENTS && shape[0] <= header.n_samples => {
                    ScoreMoments::from_numbers(&file.numbers::<f64>(NOVELTY_SCORES, &shape)?)
                }
                _ => ScoreMoments::default(),
            };
            Reference::from_numbers(&numbers, scores, folds)
        }
        _ => None,
    };
    match reference.map(Box::new) {
        Some(reference) if folds => Ok((FitRows::Unknown, Some(reference))),
        Some(reference) => Ok((FitRows::Known(reference), None)),
        None => Err(Error::model(
            format!("an array {name} of the shape {shape:?} that no samples have"),
            format!(
                "it holds T² and squared prediction errors, not negative, of 1 to {} samples",
                header.n_samples.min(MOST_KEPT)
            ),
            "Save the model again with eigenlift",
        )),
    }
}
