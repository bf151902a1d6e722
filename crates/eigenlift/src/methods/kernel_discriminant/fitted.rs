//! The model that discriminants leave.

use super::classify::{Rule, most_probable};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::Result;
use crate::factor::RegularizationCurve;
use crate::matrix::Matrix;
use crate::model::{Model, Projection};
use crate::progress::Watch;
use serde::{Deserialize, Serialize};

/// What was found beside the directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// κ.
    pub(super) regularization: f64,
    /// Folds that were held out in turn.
    pub(super) folds: usize,
    pub(super) training_accuracy: f64,
    /// Accuracy on held-out rows and its standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held_out: Option<(f64, f64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) curve: Option<RegularizationCurve>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) left_out: Option<f64>,
}

/// A fitted kernel discriminant analysis.
pub type FittedKernelDiscriminant = Model<KernelDiscriminantBody>;

/// What a fit of kernel discriminant analysis leaves.
#[derive(Clone, Debug)]
pub struct KernelDiscriminantBody {
    /// All directions.
    pub(super) projection: Projection,
    /// Directions that scores are given along.
    pub(super) n_components: usize,
    pub(super) rule: Rule,
    pub(super) counts: Vec<u64>,
    pub(super) ratios: Vec<f64>,
    pub(super) facts: Facts,
    pub(super) class_names: Vec<String>,
}

impl FittedKernelDiscriminant {
    /// Directions that scores are given along.
    pub fn n_components(&self) -> usize {
        self.n_components
    }

    /// Directions that classification goes by: along all others class means coincide.
    pub fn rank(&self) -> usize {
        self.ratios.len()
    }

    /// Classes.
    pub fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// Names of the classes, in the order of their numbers.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// Rows of each class in the fit.
    pub fn class_counts(&self) -> &[u64] {
        &self.counts
    }

    /// Class means along all directions, a row for each class.
    pub fn class_means(&self) -> &Matrix<f64> {
        &self.rule.means
    }

    /// Shares of the rows that the classes have.
    pub fn priors(&self) -> &[f64] {
        &self.rule.priors
    }

    /// κ.
    pub fn regularization(&self) -> f64 {
        self.facts.regularization
    }

    /// Accuracy on held-out rows for each κ that was tried, when κ was chosen.
    pub fn curve(&self) -> Option<&RegularizationCurve> {
        self.facts.curve.as_ref()
    }

    /// Folds that were held out in turn; 0 for none.
    pub fn folds(&self) -> usize {
        self.facts.folds
    }

    /// Share of held-out rows that were classified rightly, mean over folds, and its standard error.
    ///
    /// Where κ was chosen, this is the unbiased (nested cross-validation) estimate: each fold is judged with the κ that models which saw no
    /// row of it choose on the other folds, (C67). It takes 3 folds. The curve has the accuracy of the chosen κ, which is optimistically biased.
    pub fn held_out_accuracy(&self) -> Option<(f64, f64)> {
        self.facts.held_out
    }

    /// Share of the rows of the fit that it classifies rightly.
    pub fn training_accuracy(&self) -> f64 {
        self.facts.training_accuracy
    }

    /// Along each direction, variance between classes over κ plus that within, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.ratios
    }

    /// What landmarks leave out of Σk(x,x), or the relative error of random features; `None` when features are exact.
    pub fn left_out(&self) -> Option<f64> {
        self.facts.left_out
    }

    /// y(x) = lift(x)ᵀA − c along all directions.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Places of rows along the directions.
    ///
    /// Cost: n·m(2d + 2k) flops and the profile with m landmarks.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that the kernel cannot take.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelDiscriminant::transform`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::transform`], and cancellation.
    pub fn transform_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Matrix<f64>> {
        Ok(self.projection.project(engine, x, watch)?.into_first_columns(self.n_components))
    }

    /// Logarithms of the probabilities of the classes, a row for each row and a column for each class, (C24).
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::transform`].
    pub fn log_probabilities<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.log_probabilities_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelDiscriminant::log_probabilities`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::transform_on`].
    pub fn log_probabilities_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        let places = self.projection.project(engine, x, watch)?;
        let mut out = Matrix::zeros(0, 0);
        engine.run(&mut || out = self.rule.log_probabilities(&places));
        Ok(out)
    }

    /// The most probable class of each row.
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::transform`].
    pub fn predict<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Vec<u32>> {
        self.predict_on(&*self.engine, x.into(), &Watch::default())
    }

    /// As [`FittedKernelDiscriminant::predict`], there and watched.
    ///
    /// # Errors
    /// As [`FittedKernelDiscriminant::transform_on`].
    pub fn predict_on(&self, engine: &dyn Engine, x: AnyPoints<'_>, watch: &Watch) -> Result<Vec<u32>> {
        let found = self.log_probabilities_on(engine, x, watch)?;
        Ok((0..found.n_rows()).map(|i| most_probable(found.row(i))).collect())
    }
}
