//! The model that canonical correlation leaves.

use super::permute::Significance;
use crate::data::{AnyPoints, AnySamples, Points};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::factor::RegularizationCurve;
use crate::matrix::Matrix;
use crate::model::{Model, Projection};
use crate::progress::Watch;
use crate::real::Real;
use std::ops::Range;

/// Fitted kernel canonical correlations.
pub type FittedKernelCca = Model<KernelCcaBody>;

/// What a fit of kernel canonical correlations leaves.
#[derive(Clone, Debug)]
pub struct KernelCcaBody {
    pub(super) projections: Vec<Projection>,
    pub(super) correlations: Vec<f64>,
    pub(super) training: Vec<f64>,
    pub(super) held_out: Vec<f64>,
    pub(super) held_out_errors: Vec<f64>,
    pub(super) kappas: Vec<f64>,
    pub(super) curve: Option<RegularizationCurve>,
    pub(super) significance: Option<Significance>,
    pub(super) ranks: Vec<usize>,
    pub(super) left_out: Vec<Option<f64>>,
    pub(super) widths: Vec<usize>,
    /// The views it was fitted on; a file does not hold them.
    pub(super) samples: Option<Vec<AnySamples>>,
}

impl FittedKernelCca {
    /// Views.
    pub fn n_views(&self) -> usize {
        self.projections.len()
    }

    /// Components kept; may be fewer than asked for, see [`FittedKernelCca::warnings`].
    pub fn n_components(&self) -> usize {
        self.correlations.len()
    }

    /// ρ, regularised: largest first, what the directions make as large as possible, (C5). Below the plain correlation of
    /// scores where κ > 0.
    pub fn correlations(&self) -> &[f64] {
        &self.correlations
    }

    /// Plain correlations of the scores of the rows it was fitted on; for more than two views the mean over pairs.
    pub fn training_correlations(&self) -> &[f64] {
        &self.training
    }

    /// The same on held-out rows, mean over folds: what new rows may be expected to have. Empty when there were too few rows.
    pub fn held_out_correlations(&self) -> &[f64] {
        &self.held_out
    }

    /// Standard errors of the held-out correlations over folds.
    pub fn held_out_errors(&self) -> &[f64] {
        &self.held_out_errors
    }

    /// κ of each view.
    pub fn regularization(&self) -> &[f64] {
        &self.kappas
    }

    /// What was found for each κ that was tried; `None` when it was given.
    pub fn curve(&self) -> Option<&RegularizationCurve> {
        self.curve.as_ref()
    }

    /// Correlations compared with those of shuffled rows; `None` when not asked for.
    pub fn significance(&self) -> Option<&Significance> {
        self.significance.as_ref()
    }

    /// Directions in which the features of each view vary.
    pub fn ranks(&self) -> &[usize] {
        &self.ranks
    }

    /// What the features of each view leave out of its kernel: the share of Σk(x,x) for landmarks, the relative error on
    /// sampled pairs for random features; `None` where they are exact.
    pub fn left_out(&self) -> &[Option<f64>] {
        &self.left_out
    }

    /// y(x) = lift(x)ᵀA − c of each view.
    pub fn projections(&self) -> &[Projection] {
        &self.projections
    }

    /// Columns of each view.
    pub fn widths(&self) -> Vec<usize> {
        self.widths.clone()
    }

    /// Names of the columns of a view, counted from 0; empty when none were given.
    pub fn view_names(&self, view: usize) -> &[String] {
        if view >= self.widths.len() {
            return &[];
        }
        self.column_names.get(self.columns_of(view)).unwrap_or_default()
    }

    /// Where the columns of a view stand when all views are side by side.
    fn columns_of(&self, view: usize) -> Range<usize> {
        let from = self.widths.iter().take(view).sum();
        from..from + self.widths.get(view).copied().unwrap_or(0)
    }

    /// Scores of rows of a view, counted from 0; one column for each component.
    ///
    /// # Errors
    /// When there is no such view, rows have another number of columns, or entries that the kernel cannot take.
    pub fn transform<'a>(&self, view: usize, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_on(&*self.engine, view, x.into(), &Watch::default())
    }

    /// As [`FittedKernelCca::transform`], on this engine.
    ///
    /// # Errors
    /// As [`FittedKernelCca::transform`], and cancellation.
    pub fn transform_on(
        &self,
        engine: &dyn Engine,
        view: usize,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        let Some(projection) = self.projections.get(view) else {
            return Err(Error::setting(
                format!("view {}", view + 1),
                format!("the model has views 1 to {}", self.n_views()),
                "Name one of them",
            ));
        };
        projection.project(engine, x, watch).map_err(|error| super::in_view(error, view))
    }

    /// Scores of the rows it was fitted on, view after view.
    ///
    /// Cost: that of projecting them.
    ///
    /// # Errors
    /// When the model comes from a file, which does not hold these rows.
    pub fn scores(&self) -> Result<Vec<Matrix<f64>>> {
        let Some(samples) = &self.samples else {
            return Err(Error::model(
                "a model from a file",
                "the rows it was fitted on are not in it",
                "Give the rows to transform",
            ));
        };
        samples.iter().enumerate().map(|(view, x)| self.transform(view, x.points())).collect()
    }

    /// Scores of rows that hold the columns of all views side by side: those of the first view, then those of the second, and so on.
    pub(super) fn all_views_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        if x.n_cols() != self.n_features() {
            return Err(Error::data(
                format!("rows of {} columns", x.n_cols()),
                format!("the views of the model have {} together", self.n_features()),
                "Give the columns of all views side by side, in the same order as in fit",
            ));
        }
        let (n, k) = (x.n_rows(), self.n_components());
        let mut out = Matrix::zeros(n, self.n_views() * k);
        for view in 0..self.n_views() {
            let scores = self.transform_on(engine, view, self.columns(x, view)?, watch)?;
            out.view_mut().columns(view * k..(view + 1) * k).copy_from(scores.view());
        }
        Ok(out)
    }

    fn columns<'a>(&self, x: AnyPoints<'a>, view: usize) -> Result<AnyPoints<'a>> {
        let range = self.columns_of(view);
        match x {
            AnyPoints::F32(x) => some_columns(x, range).map(AnyPoints::F32),
            AnyPoints::F64(x) => some_columns(x, range).map(AnyPoints::F64),
        }
    }
}

fn some_columns<T: Real>(x: Points<'_, T>, range: Range<usize>) -> Result<Points<'_, T>> {
    match x {
        Points::Dense(x) => Ok(Points::Dense(x.columns(range))),
        Points::Sparse(_) => Err(Error::data(
            "sparse rows of all views side by side",
            "rows that are divided into views must be dense",
            "Give each view's rows by themselves, or dense rows",
        )),
    }
}
