//! What can be fitted: everything that rows can be made of.

use super::Rows;
use super::memory::{Hands, Held, MemoryRows};
use super::partitions::{PartitionRows, Partitions};
use super::stream::StreamRows;
use crate::data::{AnyPoints, AnySamples, Csr, RowSource, Samples};
use crate::engine::Engine;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::real::Real;
use std::sync::Arc;

/// Rows to be fitted, wherever they lie. Samples, matrices, borrowed rows, sources and partitions turn into it by themselves.
pub enum Data<'a> {
    /// In memory, shared with the model.
    Samples(AnySamples),
    /// In memory, borrowed, perhaps with a weight for each.
    Points(AnyPoints<'a>, Option<&'a [f64]>),
    /// Read from the first to the last, a piece at a time.
    Source(&'a mut dyn RowSource),
    /// In partitions that others hold.
    Partitions(&'a dyn Partitions),
    /// Somewhere else.
    Rows(Box<dyn Rows + 'a>),
}

/// Rows in memory. With [`Data::rows`] the only place where what lies in memory becomes rows.
pub(crate) fn in_memory<'a>(held: impl Into<Held<'a>>, engine: impl Into<Hands<'a>>) -> Box<dyn Rows + 'a> {
    weighted(held.into(), None, engine.into())
}

fn weighted<'a>(held: Held<'a>, weights: Option<&'a [f64]>, engine: Hands<'a>) -> Box<dyn Rows + 'a> {
    Box::new(MemoryRows::new(held, weights, engine))
}

impl<'a> Data<'a> {
    /// The rows, to be worked on with this engine where they are in memory or read. With `weights_last` the last column of a source
    /// holds weights and is no data.
    ///
    /// # Errors
    /// When the rows of a source cannot be counted.
    pub fn rows(self, engine: &Arc<dyn Engine>, weights_last: bool) -> Result<Box<dyn Rows + 'a>> {
        Ok(match self {
            Self::Samples(samples) => in_memory(samples, engine),
            Self::Points(points, weights) => weighted(points.into(), weights, engine.into()),
            Self::Source(source) => Box::new(StreamRows::new(source, weights_last, engine)?),
            Self::Partitions(partitions) => Box::new(PartitionRows::new(partitions, engine)),
            Self::Rows(rows) => rows,
        })
    }
}

impl From<AnySamples> for Data<'_> {
    fn from(samples: AnySamples) -> Self {
        Self::Samples(samples)
    }
}

impl From<&AnySamples> for Data<'_> {
    fn from(samples: &AnySamples) -> Self {
        Self::Samples(samples.clone())
    }
}

impl<T: Real> From<Samples<T>> for Data<'_>
where
    AnySamples: From<Samples<T>>,
{
    fn from(samples: Samples<T>) -> Self {
        Self::Samples(samples.into())
    }
}

impl<T: Real> From<Matrix<T>> for Data<'_>
where
    AnySamples: From<Samples<T>>,
{
    fn from(rows: Matrix<T>) -> Self {
        Samples::from(rows).into()
    }
}

impl<T: Real> From<Csr<T>> for Data<'_>
where
    AnySamples: From<Samples<T>>,
{
    fn from(rows: Csr<T>) -> Self {
        Samples::from(rows).into()
    }
}

impl<'a> From<AnyPoints<'a>> for Data<'a> {
    fn from(points: AnyPoints<'a>) -> Self {
        Self::Points(points, None)
    }
}

impl<'a, T: Real> From<&'a Matrix<T>> for Data<'a>
where
    AnyPoints<'a>: From<&'a Matrix<T>>,
{
    fn from(rows: &'a Matrix<T>) -> Self {
        Self::Points(rows.into(), None)
    }
}

impl<'a, P: Into<AnyPoints<'a>>> From<(P, Option<&'a [f64]>)> for Data<'a> {
    fn from((points, weights): (P, Option<&'a [f64]>)) -> Self {
        Self::Points(points.into(), weights)
    }
}

impl<'a, S: RowSource> From<&'a mut S> for Data<'a> {
    fn from(source: &'a mut S) -> Self {
        Self::Source(source)
    }
}

impl<'a> From<&'a mut dyn RowSource> for Data<'a> {
    fn from(source: &'a mut dyn RowSource) -> Self {
        Self::Source(source)
    }
}

impl<'a, P: Partitions> From<&'a P> for Data<'a> {
    fn from(partitions: &'a P) -> Self {
        Self::Partitions(partitions)
    }
}

impl<'a> From<&'a dyn Partitions> for Data<'a> {
    fn from(partitions: &'a dyn Partitions) -> Self {
        Self::Partitions(partitions)
    }
}

impl<'a> From<Box<dyn Rows + 'a>> for Data<'a> {
    fn from(rows: Box<dyn Rows + 'a>) -> Self {
        Self::Rows(rows)
    }
}
