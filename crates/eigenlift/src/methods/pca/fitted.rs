//! Fitted principal components.

use super::axes::Axes;
use super::choose::Choice;
use super::{Pca, PcaPlan, PcaRoute};
use crate::data::{AnyPoints, CentredRows};
use crate::eigen::{Certificate, Grounds, SolveStats};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::linalg::{Onto, combine, shift_columns};
use crate::matrix::Matrix;
use crate::model::{Lift, Model, Projection};
use crate::progress::Watch;
use rayon::prelude::*;
use std::sync::Arc;

/// Numbers, and most rows, that are put together again at a time by a thread.
const PIECE_NUMBERS: usize = 1 << 17;
const PIECE_ROWS: usize = 4096;

/// Fitted principal components: projection of rows, their reconstruction, and how the components were found.
pub type FittedPca = Model<PcaBody>;

/// What a fit of principal components leaves.
#[derive(Clone, Debug)]
pub struct PcaBody {
    /// y(x) = (x − x̄)ᵀD⁻¹U, (P4).
    pub(super) projection: Projection,
    /// Diagonal of D.
    pub(super) scale: Option<Vec<f64>>,
    /// All nλ that are known, those of the components first.
    pub(super) spectrum: Vec<f64>,
    pub(super) is_whole: bool,
    /// n: the sum of the weights of the rows.
    pub(super) weight: f64,
    /// n·tr C.
    pub(super) total: f64,
    pub(super) certificate: Certificate,
    pub(super) stats: SolveStats,
    pub(super) choice: Option<Choice>,
}

/// What is lost when rows are put together again from their scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Reconstruction {
    /// ‖D⁻¹(x − x̂)‖² of each row, (P27).
    pub per_row: Vec<f64>,
    /// Their mean. Over the rows of the fit, equally weighted, it is J(k) = Σ_{j>k} λⱼ, (P6).
    pub total: f64,
}

/// How columns take part in a component, (P14).
#[derive(Clone, Debug, PartialEq)]
pub struct Loadings {
    /// uᵢⱼ√λⱼ: one row for each column of the data, one column for each component.
    pub loadings: Matrix<f64>,
    /// uᵢⱼ²: the share of component j that column i has; they sum to 1 over columns.
    pub contributions: Matrix<f64>,
}

impl FittedPca {
    pub(super) fn new(
        settings: &Pca,
        axes: Axes,
        (plan, choice): (PcaPlan, Option<Choice>),
        engine: Arc<dyn Engine>,
    ) -> Self {
        let mut warnings = Vec::new();
        let k = axes.values.len();
        if let Some(asked) = settings.n_components.filter(|asked| *asked > k) {
            let all = k == axes.mean.len().min(axes.count.saturating_sub(1));
            warnings.push(match axes.certificate.bounds.grounds {
                Grounds::Sketch if !axes.is_whole => format!(
                    "{asked} components were asked for and the sketch holds {k}: the variance of the rest is bounded, not found; give it more rows"
                ),
                _ if all || plan.route == PcaRoute::Tsqr => format!(
                    "{asked} components were asked for and {k} exist: the rest have variance zero up to rounding"
                ),
                _ => format!(
                    "{asked} components were asked for and {k} found: the {} route cannot tell the rest from rounding",
                    plan.route
                ),
            });
        }
        if choice.as_ref().is_some_and(|choice| choice.consensus == 0) {
            warnings.push(
                "no component stands out from noise: the mean of each column does as well; 1 component is kept".into(),
            );
        }
        let residuals = &axes.certificate.residuals;
        if let Some(first) =
            residuals.iter().position(|r| *r > plan.tolerance).filter(|_| plan.route == PcaRoute::Krylov)
        {
            warnings.push(format!(
                "from component {} on residuals exceed the tolerance: rounding allows no better by the krylov route",
                first + 1
            ));
        }
        let mut coefficients = axes.vectors;
        if let Some(scale) = &axes.scale {
            let mut rows = coefficients.view_mut();
            scale.iter().enumerate().for_each(|(j, s)| rows.row_mut(j).iter_mut().for_each(|x| *x /= s));
        }
        let body = PcaBody {
            projection: Projection {
                lift: Lift::Rows { center: axes.mean },
                coefficients,
                offset: vec![0.0; k],
            },
            scale: axes.scale,
            spectrum: axes.spectrum,
            is_whole: axes.is_whole,
            weight: axes.weight,
            total: axes.trace,
            certificate: axes.certificate,
            stats: axes.stats,
            choice,
        };
        Self { plan, warnings, column_names: settings.column_names.clone(), engine, body }
    }

    /// Components kept; may be fewer than asked for, see [`FittedPca::warnings`].
    pub fn n_components(&self) -> usize {
        self.projection.coefficients.n_cols()
    }

    /// The first `k` components alone; all when there are no more, or k is 0. The plan then says that so many were asked for. The spectrum stays whole.
    pub fn keeping(mut self, k: usize) -> Self {
        if k == 0 {
            return self;
        }
        self.plan.n_components = Some(k);
        if k >= self.n_components() {
            return self;
        }
        self.projection.coefficients = self.projection.coefficients.view().first_columns(k).to_matrix();
        self.projection.offset.truncate(k);
        self.certificate.keep(k);
        self
    }

    /// n, by which variances are divided: the number of rows, or the sum of their weights.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// x̄.
    pub fn mean(&self) -> &[f64] {
        match &self.projection.lift {
            Lift::Rows { center } => center,
            _ => &[],
        }
    }

    /// Standard deviations (1/n) that columns were divided by, when they were.
    pub fn scale(&self) -> Option<&[f64]> {
        self.scale.as_deref()
    }

    /// The orthonormal axes u, one row each, (P3). The entry of largest magnitude is positive.
    pub fn components(&self) -> Matrix<f64> {
        let a = &self.projection.coefficients;
        Matrix::from_fn(a.n_cols(), a.n_rows(), |j, i| a[(i, j)] * self.scale.as_ref().map_or(1.0, |s| s[i]))
    }

    /// nλ: eigenvalues of the scatter matrix, largest first.
    pub fn eigenvalues(&self) -> &[f64] {
        &self.spectrum[..self.n_components()]
    }

    /// λ: variances along the axes, divided by n.
    pub fn variances(&self) -> Vec<f64> {
        self.eigenvalues().iter().map(|v| v / self.weight).collect()
    }

    /// All λ that are known, those of the components first. [`FittedPca::is_whole`] says whether there are others.
    pub fn spectrum(&self) -> Vec<f64> {
        self.spectrum.iter().map(|v| v / self.weight).collect()
    }

    /// Whether [`FittedPca::spectrum`] holds every λ above rounding.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// tr C: the variance of all columns together (of standardised ones, when they are).
    pub fn total_variance(&self) -> f64 {
        self.total / self.weight
    }

    /// Share of the total variance that each component holds.
    pub fn explained_variance_ratio(&self) -> Vec<f64> {
        self.eigenvalues().iter().map(|v| v / self.total).collect()
    }

    /// J(m) for m = 0 … k: the mean squared error of rows put together from m components, Σ_{j>m} λⱼ, (P6).
    ///
    /// Numerics: a sum of the eigenvalues left out where all are known, else the total minus those kept. By
    /// [`super::PcaRoute::Directions`] the eigenvalues are lower bounds and so this is an upper bound, on the least error there
    /// can be and on that of these axes: both are at least this minus m·Δ/n, (P13).
    pub fn residual_errors(&self) -> Vec<f64> {
        let mut errors = self.errors_of_spectrum();
        errors.truncate(self.n_components() + 1);
        errors
    }

    /// As [`FittedPca::residual_errors`], for every m up to the number of eigenvalues known.
    pub fn errors_of_spectrum(&self) -> Vec<f64> {
        let mut errors = Vec::with_capacity(self.spectrum.len() + 1);
        if self.is_whole {
            let mut tail = 0.0;
            errors.push(tail);
            for value in self.spectrum.iter().rev() {
                tail += value;
                errors.push(tail / self.weight);
            }
            errors.reverse();
            return errors;
        }
        let mut rest = self.total;
        errors.push(rest / self.weight);
        for value in &self.spectrum {
            rest = (rest - value).max(0.0);
            errors.push(rest / self.weight);
        }
        errors
    }

    /// J(k): what is lost with the components that are kept.
    pub fn residual_error(&self) -> f64 {
        self.residual_errors().last().copied().unwrap_or(0.0)
    }

    /// Loadings and contributions of the columns, (P14).
    pub fn loadings(&self) -> Loadings {
        let u = self.components();
        let roots: Vec<f64> = self.variances().iter().map(|v| v.sqrt()).collect();
        let (d, k) = (u.n_cols(), u.n_rows());
        Loadings {
            loadings: Matrix::from_fn(d, k, |i, j| u[(j, i)] * roots[j]),
            contributions: Matrix::from_fn(d, k, |i, j| u[(j, i)] * u[(j, i)]),
        }
    }

    /// Scores of rows, (P4).
    ///
    /// Cost: 2·n·d·k flops; memory a tile for each thread and the result.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that are not finite.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_watched(x, &Watch::default())
    }

    /// As [`FittedPca::transform`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedPca::transform`], and cancellation.
    pub fn transform_watched<'a>(&self, x: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Matrix<f64>> {
        self.projection.project(&*self.engine, x.into(), watch)
    }

    /// Rows put together from scores: x̂ = x̄ + DUy, (P5).
    ///
    /// Cost: 2·n·d·k flops.
    ///
    /// # Errors
    /// When there is not one score for each component, or one is not finite.
    pub fn inverse_transform(&self, scores: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.inverse_on(&*self.engine, scores)
    }

    pub(in crate::methods) fn inverse_on(
        &self,
        engine: &dyn Engine,
        scores: &Matrix<f64>,
    ) -> Result<Matrix<f64>> {
        check_scores(scores, self.n_components())?;
        let mut axes = self.components();
        if let Some(scale) = &self.scale {
            crate::linalg::scale_columns(axes.view_mut(), scale);
        }
        let mut out = Matrix::zeros(scores.n_rows(), self.n_features());
        engine.run(&mut || {
            combine(out.view_mut(), Onto::Replace, 1.0, scores.view(), axes.view());
            shift_columns(out.view_mut(), self.mean());
        });
        Ok(out)
    }

    /// What is lost of each row, and in the mean: the residual (x − x̄) − x̂ is formed, in standardised columns when they are.
    ///
    /// Cost: 4·n·d·k flops; memory a piece of rows.
    ///
    /// # Errors
    /// As [`FittedPca::transform`].
    pub fn reconstruction<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Reconstruction> {
        let x = x.into();
        let scores = self.transform(x)?;
        self.reconstruction_from(x, &scores)
    }

    /// As [`FittedPca::reconstruction`], with scores that are known.
    ///
    /// # Errors
    /// When rows or scores do not fit the model.
    pub fn reconstruction_from<'a>(
        &self,
        x: impl Into<AnyPoints<'a>>,
        scores: &Matrix<f64>,
    ) -> Result<Reconstruction> {
        let x = x.into();
        check_scores(scores, self.n_components())?;
        if (x.n_rows(), x.n_cols()) != (scores.n_rows(), self.n_features()) {
            return Err(Error::data(
                format!("{} × {} rows with {} rows of scores", x.n_rows(), x.n_cols(), scores.n_rows()),
                format!("there must be scores for each row, and {} columns", self.n_features()),
                "Give the scores of these rows",
            ));
        }
        let axes = self.components();
        let mut per_row = vec![0.0; x.n_rows()];
        let columns = self.n_features();
        let height = (PIECE_NUMBERS / columns.max(1)).clamp(8, PIECE_ROWS);
        self.engine.run(&mut || {
            per_row.par_chunks_mut(height).enumerate().for_each(|(piece, out)| {
                let rows = piece * height..piece * height + out.len();
                let mut rest = CentredRows::new(x, self.mean()).tile(rows.clone(), 0..columns);
                if let Some(scale) = &self.scale {
                    let mut view = rest.view_mut();
                    for i in 0..out.len() {
                        view.row_mut(i).iter_mut().zip(scale).for_each(|(x, s)| *x /= s);
                    }
                }
                combine(rest.view_mut(), Onto::Add, -1.0, scores.view().rows(rows), axes.view());
                out.iter_mut().enumerate().for_each(|(i, e)| *e = rest.row(i).iter().map(|x| x * x).sum());
            });
        });
        let total = per_row.iter().sum::<f64>() / per_row.len().max(1) as f64;
        Ok(Reconstruction { per_row, total })
    }

    /// T² = Σ yⱼ²/λⱼ of each row of scores, (P27).
    ///
    /// # Errors
    /// When there is not one score for each component.
    pub fn t_squared(&self, scores: &Matrix<f64>) -> Result<Vec<f64>> {
        check_scores(scores, self.n_components())?;
        let variances = self.variances();
        let row = |i: usize| scores.row(i).iter().zip(&variances).map(|(y, v)| y * y / v).sum();
        Ok((0..scores.n_rows()).map(row).collect())
    }

    /// y(x) = lift(x)ᵀA − c.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What is proved about the eigenvalues nλ.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// What the solve took.
    pub fn stats(&self) -> SolveStats {
        self.stats
    }

    /// How the number of components was chosen, when rules chose it.
    pub fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }
}

/// Refuses scores of another model and scores that are not finite.
pub(super) fn check_scores(scores: &Matrix<f64>, k: usize) -> Result<()> {
    if scores.n_cols() != k {
        return Err(Error::data(
            format!("rows of {} scores", scores.n_cols()),
            format!("the model has {k} components"),
            "Give the scores that transform wrote, all columns of them",
        ));
    }
    match scores.as_slice().iter().position(|y| !y.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::data(
            format!("row {}, column {} is {}", at / k + 1, at % k + 1, scores.as_slice()[at]),
            "every score must be finite",
            "Leave that row out",
        )),
    }
}
