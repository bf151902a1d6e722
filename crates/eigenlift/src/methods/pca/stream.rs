//! Principal components of rows that come in pieces, brought by the caller.

use super::sums::{self, Weighted};
use super::{FittedPca, Pca, PcaPlan, PcaRoute, axes, schedule};
use crate::data::AnyPoints;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::moments::{Partial, Triangle};
use std::sync::Arc;

/// Sums of the rows so far.
#[derive(Clone, Debug)]
enum Sums {
    Covariance(Partial),
    Triangle(Triangle),
}

/// Principal components of rows that come in pieces. The result is that of all rows at once, whatever the pieces.
///
/// Parts that were made on different machines merge; rows can be taken out again.
///
/// ```
/// use eigenlift::{data, methods::Pca};
/// let iris = data::iris()?.samples;
/// let mut all = Pca::new(2).stream(4)?;
/// all.partial_fit(iris.points().rows(0..70))?;
/// let mut rest = Pca::new(2).stream(4)?;
/// rest.partial_fit(iris.points().rows(70..150))?;
/// all.merge(&rest)?;
/// let (model, whole) = (all.finish()?, Pca::new(2).fit(iris)?);
/// assert!((model.variances()[1] - whole.variances()[1]).abs() < 1e-12);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[doc(alias = "IncrementalPca")]
#[derive(Clone, Debug)]
pub struct PcaStream {
    settings: Pca,
    n_features: usize,
    sums: Sums,
    engine: Arc<dyn Engine>,
    weighted: bool,
    single: bool,
}

impl PcaStream {
    pub(super) fn new(settings: Pca, n_features: usize) -> Result<Self> {
        settings.check(false)?;
        if settings.n_components.is_none() {
            return Err(Error::setting(
                "a number of components that rules choose, for rows that come in pieces",
                "some of the rules need the rows",
                "Give a number of components, or use fit or fit_source",
            ));
        }
        let sums = match settings.route {
            None | Some(PcaRoute::Covariance) => Sums::Covariance(Partial::empty(n_features)),
            Some(PcaRoute::Tsqr) => Sums::Triangle(Triangle::empty(n_features)),
            Some(route) => {
                return Err(Error::setting(
                    format!("the {route} route for rows that come in pieces"),
                    "it must be covariance or tsqr",
                    "Leave it out",
                ));
            }
        };
        let engine = settings.running_engine()?;
        let stream = Self { settings, n_features, sums, engine, weighted: false, single: true };
        stream.plan(&stream.with_route())?;
        Ok(stream)
    }

    /// The settings, with the route that the sums go.
    fn with_route(&self) -> Pca {
        let route = match self.sums {
            Sums::Covariance(_) => PcaRoute::Covariance,
            Sums::Triangle(_) => PcaRoute::Tsqr,
        };
        self.settings.clone().route(route)
    }

    fn plan(&self, settings: &Pca) -> Result<PcaPlan> {
        let request = schedule::Request {
            n_samples: self.count() as usize,
            n_features: self.n_features,
            precision: if self.single && self.count() > 0 { "f32" } else { "f64" },
            in_memory: false,
            sparse: false,
            weighted: self.weighted,
            bytes_allowed: 0,
            settings,
        };
        schedule::plan(&request, &*self.engine)
    }

    /// Adds rows.
    ///
    /// Cost: n·d² flops; twice that by triangles.
    ///
    /// # Errors
    /// Rows of another number of columns, entries that are not finite.
    pub fn partial_fit<'a>(&mut self, rows: impl Into<AnyPoints<'a>>) -> Result<()> {
        self.add(Weighted { rows: rows.into(), weights: None })
    }

    /// Adds rows, each counted as often as its weight says.
    ///
    /// # Errors
    /// As [`PcaStream::partial_fit`], and weights that are negative, not finite, or not one for each row.
    pub fn partial_fit_weighted<'a>(
        &mut self,
        rows: impl Into<AnyPoints<'a>>,
        weights: &[f64],
    ) -> Result<()> {
        self.add(Weighted { rows: rows.into(), weights: Some(weights) })
    }

    fn check_rows(&self, data: Weighted<'_>) -> Result<()> {
        if data.n_cols() == self.n_features {
            return data.check();
        }
        Err(Error::data(
            format!("rows of {} columns", data.n_cols()),
            format!("earlier ones have {}", self.n_features),
            "Give the same columns in every piece",
        ))
    }

    fn add(&mut self, data: Weighted<'_>) -> Result<()> {
        self.check_rows(data)?;
        let (mut result, watch) = (Ok(()), self.settings.watch.clone());
        let (engine, sums) = (self.engine.clone(), &mut self.sums);
        engine.run(&mut || {
            result = match sums {
                Sums::Covariance(sum) => sums::moments(data, &watch).and_then(|part| sum.merge(&part)),
                Sums::Triangle(sum) => sums::triangle(data, &watch).and_then(|part| sum.merge(&part)),
            };
        });
        result?;
        self.single &= matches!(data.rows, AnyPoints::F32(_));
        self.weighted |= data.weights.is_some();
        Ok(())
    }

    /// Adds the rows of another part.
    ///
    /// # Errors
    /// When the parts have other columns, or went other routes.
    pub fn merge(&mut self, other: &PcaStream) -> Result<()> {
        match (&mut self.sums, &other.sums) {
            (Sums::Covariance(sum), Sums::Covariance(part)) => sum.merge(part),
            (Sums::Triangle(sum), Sums::Triangle(part)) => sum.merge(part),
            _ => Err(Error::setting(
                "parts of two routes",
                "both must be made by covariance, or both by tsqr",
                "Give both parts the same route",
            )),
        }?;
        self.weighted |= other.weighted;
        self.single &= other.single;
        Ok(())
    }

    /// Takes out rows that were added before.
    ///
    /// # Errors
    /// Rows of another number of columns, more rows than were added, rows that hold nearly all variance, or a stream by
    /// triangles, from which nothing can be taken out.
    pub fn remove<'a>(&mut self, rows: impl Into<AnyPoints<'a>>) -> Result<()> {
        let data = Weighted { rows: rows.into(), weights: None };
        self.check_rows(data)?;
        let Sums::Covariance(sum) = &mut self.sums else {
            return Err(Error::setting(
                "rows to take out of a triangle",
                "only sums by covariance can be reversed",
                "Use the covariance route, or fit the remaining rows anew",
            ));
        };
        let (mut result, watch) = (Ok(()), self.settings.watch.clone());
        self.engine.run(&mut || result = sums::moments(data, &watch).and_then(|part| sum.remove(&part)));
        result
    }

    /// Rows added so far.
    pub fn count(&self) -> u64 {
        match &self.sums {
            Sums::Covariance(sum) => sum.count(),
            Sums::Triangle(sum) => sum.count(),
        }
    }

    /// The model of all rows so far; more can be added afterwards.
    ///
    /// # Errors
    /// As [`Pca::fit`].
    pub fn finish(&self) -> Result<FittedPca> {
        let settings = self.with_route();
        let mut plan = self.plan(&settings)?;
        plan.reasons.push("rows came in pieces".into());
        let (k, scaled) = (settings.wanted(self.n_features), settings.standardize);
        let mut result = Err(Error::Cancelled);
        self.engine.run(&mut || {
            result = match &self.sums {
                Sums::Covariance(sum) => axes::of_covariance(sum, k, scaled, &settings.watch),
                Sums::Triangle(sum) => axes::of_triangle(sum, k, scaled),
            };
        });
        FittedPca::new(&settings, result?, (plan, None), self.engine.clone())
    }
}
