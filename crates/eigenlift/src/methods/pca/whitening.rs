//! Whitening: coordinates in which the rows have the identity as covariance.

mod cholesky;

pub(super) use cholesky::Triangular;

use super::fitted::check_scores;
use super::{FittedPca, Pca, PcaRoute};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::linalg::{Onto, combine, shift_columns};
use crate::matrix::Matrix;
use crate::model::{Job, Lift, Model, Projection};
use crate::progress::Watch;
use crate::rows::Data;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Most columns of a whitening whose matrix is square and has no smaller form.
const MOST_COLUMNS: usize = 8192;

/// Which whitening: all are rotations of each other, (P21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhiteningMethod {
    /// Λ^(−1/2)Uᵀ: coordinates along the principal axes, largest variance first, (P16).
    Pca,
    /// C^(−1/2): the whitening that moves the data least, (P17), (P18).
    Zca,
    /// An upper triangle, (P19): coordinate i depends on columns i and after.
    Cholesky,
    /// As `Pca`, of standardised columns, (P20).
    PcaCor,
    /// As `Zca`, of standardised columns, (P20): closest to them.
    ZcaCor,
}

impl WhiteningMethod {
    const ALL: [(&'static str, WhiteningMethod); 5] = [
        ("pca", Self::Pca),
        ("zca", Self::Zca),
        ("cholesky", Self::Cholesky),
        ("pca-cor", Self::PcaCor),
        ("zca-cor", Self::ZcaCor),
    ];

    /// Words that stand for methods.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(name, _)| name)
    }

    fn standardizes(self) -> bool {
        matches!(self, Self::PcaCor | Self::ZcaCor)
    }
}

impl std::fmt::Display for WhiteningMethod {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, method)| method == self).map_or("", |(name, _)| name))
    }
}

impl std::str::FromStr for WhiteningMethod {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, method)| *method).ok_or_else(|| {
            Error::setting(
                format!("whitening \"{text}\""),
                "it must be pca, zca, cholesky, pca-cor or zca-cor",
                "Use zca to stay close to the data, pca for few coordinates",
            )
        })
    }
}

/// Settings of whitening. [`Whitening::fit`] gives the model.
///
/// ```
/// use eigenlift::{data, methods::pca::{Whitening, WhiteningMethod}};
/// let iris = data::iris()?.samples;
/// let model = Whitening::new(WhiteningMethod::Zca).fit(iris.clone())?;
/// let z = model.transform(iris.points())?;
/// let covariance: f64 = (0..150).map(|i| z[(i, 0)] * z[(i, 1)]).sum::<f64>() / 150.0;
/// assert!(covariance.abs() < 1e-12);
/// let back = model.inverse_transform(&z)?;
/// assert!((back[(0, 0)] - 5.1).abs() < 1e-12);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Whitening {
    method: WhiteningMethod,
    ridge: f64,
    n_components: Option<usize>,
    pca: Pca,
}

impl Whitening {
    /// Whitens all directions in which rows vary, without ridge.
    pub fn new(method: WhiteningMethod) -> Self {
        Self { method, ridge: 0.0, n_components: None, pca: Pca::new(1) }
    }

    /// Adds ε to every variance first, so that faint directions are not blown up; in units of the variances, or of the
    /// standardised ones for the correlation methods, (P22).
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// Keeps only the directions of largest variance.
    pub fn components(mut self, n_components: usize) -> Self {
        self.n_components = Some(n_components);
        self
    }

    /// Everything else is set as for principal components: route, memory, threads, engine, names, watch.
    pub fn with(mut self, change: impl FnOnce(Pca) -> Pca) -> Self {
        self.pca = change(self.pca);
        self
    }

    fn settings(&self, n_features: usize) -> Result<Pca> {
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            return Err(Error::setting(
                format!("ridge {}", self.ridge),
                "it must be 0 or a positive number",
                "Use a small share of the largest variance",
            ));
        }
        if self.method == WhiteningMethod::Cholesky && self.n_components.is_some() {
            return Err(Error::setting(
                "a number of components for whitening by Cholesky",
                "its triangle needs all columns",
                "Use pca or zca, or leave the number out",
            ));
        }
        if self.method == WhiteningMethod::Cholesky && n_features > MOST_COLUMNS {
            return Err(Error::setting(
                format!("whitening by Cholesky of {n_features} columns"),
                format!("its square matrix is made for up to {MOST_COLUMNS}"),
                "Use pca or zca, whose matrices stay in factors",
            ));
        }
        if self.pca.route == Some(PcaRoute::Directions) {
            return Err(Error::setting(
                "whitening by the directions route",
                "a sketch bounds variances, and dividing by a bound does not make 1",
                "Use krylov with a number of components, or leave the route out",
            ));
        }
        let mut pca = self.pca.clone();
        pca.n_components = Some(self.n_components.unwrap_or(n_features.max(1)));
        pca.standardize = self.method.standardizes();
        // Axes stretched, turned back, and once more while they are multiplied; or a triangle, its inverse and what they are made in.
        pca.further_copies = if self.method == WhiteningMethod::Cholesky { 6 } else { 3 };
        Ok(pca)
    }

    /// Plans a fit, which [`Job::run`] then does; of rows as [`Pca::prepare`] takes them.
    ///
    /// # Errors
    /// As [`Whitening::fit`], as far as they can be known in advance.
    pub fn prepare<'a>(&self, data: impl Into<Data<'a>>) -> Result<Job<'a, WhiteningBody>> {
        let engine = self.pca.running_engine()?;
        let rows = data.into().rows(&engine, self.pca.weights_last)?;
        let job = self.settings(rows.n_cols())?.engine(engine).prepare(rows)?;
        let (method, ridge, all) = (self.method, self.ridge, self.n_components.is_none());
        Ok(Job::new(job.plan().clone(), move |_| FittedWhitening::new(job.run()?, method, ridge, all)))
    }

    /// Fits the model: what [`Whitening::prepare`] plans.
    ///
    /// Cost: that of all principal components, [`Pca::fit`].
    ///
    /// # Errors
    /// As [`Pca::fit`]; a ridge that is negative; Cholesky of rank-deficient rows without ridge.
    pub fn fit<'a>(&self, data: impl Into<Data<'a>>) -> Result<FittedWhitening> {
        self.prepare(data)?.run()
    }
}

/// A fitted whitening: z = W·D⁻¹(x − x̄), its inverse, and how it was found.
pub type FittedWhitening = Model<WhiteningBody>;

/// What a fit of a whitening leaves.
#[derive(Clone, Debug)]
pub struct WhiteningBody {
    pub(super) pca: FittedPca,
    pub(super) method: WhiteningMethod,
    pub(super) ridge: f64,
    pub(super) triangular: Option<Triangular>,
    /// Whether every direction with variance is kept.
    pub(super) all_directions: bool,
    /// Up to the rotation: all of W where that is smaller, else Λ^(−1/2)Uᵀ.
    forward: Projection,
    /// What remains to be multiplied with, when W stays in factors: r × d.
    turn: Option<Matrix<f64>>,
}

/// "1 direction", "2 directions".
fn counted(n: usize) -> String {
    if n == 1 { "1 direction".into() } else { format!("{n} directions") }
}

impl FittedWhitening {
    fn new(pca: FittedPca, method: WhiteningMethod, ridge: f64, all_directions: bool) -> Result<Self> {
        let mut pca = pca;
        if all_directions {
            // Fewer directions than columns is what the rank says; it is told below, not as a missing component.
            pca.warnings.clear();
        }
        let triangular = match method {
            WhiteningMethod::Cholesky => Some(Triangular::of(&pca, ridge)?),
            _ => None,
        };
        let (rank, d) = (pca.n_components(), pca.n_features());
        if all_directions && rank < d {
            let fate = match method {
                WhiteningMethod::Cholesky => {
                    format!("the ridge alone whitens the other {}", counted(d - rank))
                }
                _ => format!("they are whitened in the {} with variance alone", counted(rank)),
            };
            pca.warnings.push(format!("the rows have rank {rank} of {d}: {fate}"));
        }
        let (plan, warnings) = (pca.plan.clone(), pca.warnings.clone());
        let (column_names, engine) = (pca.column_names.clone(), Arc::clone(&pca.engine));
        let body = WhiteningBody::assemble(pca, method, ridge, (triangular, all_directions));
        Ok(Self { plan, warnings, column_names, engine, body })
    }
}

impl WhiteningBody {
    /// From its parts, as a fit or a file gives them.
    pub(super) fn assemble(
        pca: FittedPca,
        method: WhiteningMethod,
        ridge: f64,
        (triangular, all_directions): (Option<Triangular>, bool),
    ) -> Self {
        let (r, d) = (pca.n_components(), pca.n_features());
        let stretch: Vec<f64> = pca.variances().iter().map(|v| 1.0 / (v + ridge).sqrt()).collect();
        let lift = Lift::Rows { center: pca.mean().to_vec() };
        let mut narrow = pca.projection.coefficients.clone();
        crate::linalg::scale_columns(narrow.view_mut(), &stretch);
        let turn = match method {
            WhiteningMethod::Zca | WhiteningMethod::ZcaCor => Some(pca.components()),
            _ => None,
        };
        let (coefficients, turn) = match (&triangular, turn) {
            (Some(both), _) => {
                let scale = |j: usize| pca.scale.as_ref().map_or(1.0, |s| s[j]);
                (Matrix::from_fn(d, d, |j, i| both.forward[(i, j)] / scale(j)), None)
            }
            // Why: one product with d × d costs less than two with d × r when r is more than half of d.
            (None, Some(turn)) if 2 * r > d => {
                let mut whole = Matrix::zeros(d, d);
                combine(whole.view_mut(), Onto::Replace, 1.0, narrow.view(), turn.view());
                (whole, None)
            }
            (None, turn) => (narrow, turn),
        };
        let offset = vec![0.0; coefficients.n_cols()];
        let forward = Projection { lift, coefficients, offset };
        Self { pca, method, ridge, triangular, all_directions, forward, turn }
    }

    /// Coordinates of a whitened row: all columns, or the rank for `pca` and `pca-cor`.
    pub(super) fn n_outputs(&self) -> usize {
        match self.method {
            WhiteningMethod::Pca | WhiteningMethod::PcaCor => self.pca.n_components(),
            _ => self.pca.n_features(),
        }
    }
}

impl FittedWhitening {
    /// Which whitening it is.
    pub fn method(&self) -> WhiteningMethod {
        self.method
    }

    /// ε.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Directions that are whitened.
    pub fn rank(&self) -> usize {
        if self.triangular.is_some() { self.pca.n_features() } else { self.pca.n_components() }
    }

    /// Coordinates of a whitened row: all columns, or the rank for `pca` and `pca-cor`.
    pub fn n_outputs(&self) -> usize {
        self.body.n_outputs()
    }

    /// The principal components it rests on.
    pub fn pca(&self) -> &FittedPca {
        &self.pca
    }

    /// In one sentence, which rank was used and what became of the rest.
    pub fn statement(&self) -> String {
        let (rank, d) = (self.pca.n_components(), self.pca.n_features());
        let ridge = if self.ridge > 0.0 {
            format!("; ridge {:e} makes the variance of a direction λ/(λ + ridge) instead of 1", self.ridge)
        } else {
            String::new()
        };
        let (number, verb) = (counted(rank), if rank == 1 { "is" } else { "are" });
        let directions = if rank == d {
            format!("{}{number} {verb} whitened", if d == 1 { "its " } else { "all " })
        } else if self.triangular.is_some() {
            format!(
                "rank {rank} of {d}: all directions are mapped, those without variance by the ridge alone"
            )
        } else if self.all_directions {
            format!("rank {rank} of {d}: the {number} with variance {verb} whitened, the others left out")
        } else {
            format!("the {number} of largest variance of {d} {verb} whitened, the others left out")
        };
        format!("{directions}{ridge}")
    }

    /// Mean of ‖z − D⁻¹(x − x̄)‖² over the rows of the fit, (P18): how far whitening moves them. Coordinates that `pca`
    /// leaves out count as zero.
    pub fn distance(&self) -> f64 {
        let (pca, variances) = (&self.pca, self.pca.variances());
        let u = pca.components();
        let (r, d) = (u.n_rows(), u.n_cols());
        let along = |j: usize| variances[j] / (variances[j] + self.ridge).sqrt();
        // tr(WC) for W = QΛ^(−1/2)Uᵀ.
        let overlap: f64 = match (&self.triangular, self.method) {
            (Some(both), _) => (0..d)
                .map(|i| (i..d).map(|l| both.forward[(i, l)] * covariance(&u, &variances, l, i)).sum::<f64>())
                .sum(),
            (None, WhiteningMethod::Zca | WhiteningMethod::ZcaCor) => (0..r).map(along).sum(),
            (None, _) => (0..r).map(|j| along(j) * u[(j, j)]).sum(),
        };
        let spread: f64 = variances.iter().map(|v| v / (v + self.ridge)).sum();
        pca.total_variance() + spread - 2.0 * overlap
    }

    /// Whitened rows.
    ///
    /// Cost: 2·n·d² flops, or 4·n·d·r while the matrix stays in factors.
    ///
    /// # Errors
    /// When rows have another number of columns, or entries that are not finite.
    pub fn transform<'a>(&self, x: impl Into<AnyPoints<'a>>) -> Result<Matrix<f64>> {
        self.transform_watched(x, &Watch::default())
    }

    /// As [`FittedWhitening::transform`], observed and cancellable.
    ///
    /// # Errors
    /// As [`FittedWhitening::transform`], and cancellation.
    pub fn transform_watched<'a>(&self, x: impl Into<AnyPoints<'a>>, watch: &Watch) -> Result<Matrix<f64>> {
        self.transform_on(&*self.engine, x.into(), watch)
    }

    pub(in crate::methods) fn transform_on(
        &self,
        engine: &dyn Engine,
        x: AnyPoints<'_>,
        watch: &Watch,
    ) -> Result<Matrix<f64>> {
        let narrow = self.forward.project(engine, x, watch)?;
        let Some(turn) = &self.turn else { return Ok(narrow) };
        let mut out = Matrix::zeros(narrow.n_rows(), turn.n_cols());
        engine.run(&mut || combine(out.view_mut(), Onto::Replace, 1.0, narrow.view(), turn.view()));
        Ok(out)
    }

    /// Rows from whitened ones: x = x̄ + D·W⁺z, exact for rows in the directions that were kept, (P22).
    ///
    /// # Errors
    /// When there is not one number for each output, or one is not finite.
    pub fn inverse_transform(&self, z: &Matrix<f64>) -> Result<Matrix<f64>> {
        self.inverse_on(&*self.engine, z)
    }

    pub(in crate::methods) fn inverse_on(&self, engine: &dyn Engine, z: &Matrix<f64>) -> Result<Matrix<f64>> {
        check_scores(z, self.n_outputs())?;
        let pca = &self.pca;
        let d = pca.n_features();
        let mut out = Matrix::zeros(z.n_rows(), d);
        let scale = |j: usize| pca.scale.as_ref().map_or(1.0, |s| s[j]);
        engine.run(&mut || {
            if let Some(both) = &self.triangular {
                let back = Matrix::from_fn(d, d, |i, j| both.back[(j, i)] * scale(j));
                combine(out.view_mut(), Onto::Replace, 1.0, z.view(), back.view());
            } else {
                let u = pca.components();
                let variances = pca.variances();
                let back = Matrix::from_fn(u.n_rows(), d, |i, j| {
                    u[(i, j)] * (variances[i] + self.ridge).sqrt() * scale(j)
                });
                let narrow = match self.method {
                    WhiteningMethod::Zca | WhiteningMethod::ZcaCor => {
                        let across = Matrix::from_fn(d, u.n_rows(), |j, i| u[(i, j)]);
                        let mut narrow = Matrix::zeros(z.n_rows(), u.n_rows());
                        combine(narrow.view_mut(), Onto::Replace, 1.0, z.view(), across.view());
                        narrow
                    }
                    _ => z.clone(),
                };
                combine(out.view_mut(), Onto::Replace, 1.0, narrow.view(), back.view());
            }
            shift_columns(out.view_mut(), pca.mean());
        });
        Ok(out)
    }
}

/// Entry (i, j) of C = UΛUᵀ.
fn covariance(u: &Matrix<f64>, variances: &[f64], i: usize, j: usize) -> f64 {
    variances.iter().enumerate().map(|(l, v)| u[(l, i)] * v * u[(l, j)]).sum()
}
