//! Sums over rows from which principal components follow.

use super::sums::{self, ColumnMoments, Weighted};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::linalg::column_norms;
use crate::moments::{Directions, Partial, Triangle};
use crate::progress::Watch;

/// What is summed.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Covariance(Partial),
    Triangle(Triangle),
    Directions(Directions),
    /// Of columns alone, for iterations over the rows.
    Columns(ColumnMoments),
}

/// Sums over some rows. Those of two sets of rows merge.
#[derive(Clone, Debug)]
pub struct RowSums {
    pub(crate) kind: Kind,
    /// Whether rows came with weights.
    pub(crate) weighted: bool,
    /// Whether all rows came in single precision.
    pub(crate) single: bool,
}

impl RowSums {
    /// Of no rows yet.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, weighted: false, single: true }
    }

    /// Rows added so far.
    pub fn count(&self) -> u64 {
        match &self.kind {
            Kind::Covariance(sum) => sum.count(),
            Kind::Triangle(sum) => sum.count(),
            Kind::Directions(sum) => sum.count(),
            Kind::Columns(sum) => sum.count as u64,
        }
    }

    /// Columns of a row.
    pub fn n_cols(&self) -> usize {
        match &self.kind {
            Kind::Covariance(sum) => sum.dimension(),
            Kind::Triangle(sum) => sum.mean().len(),
            Kind::Directions(sum) => sum.mean().len(),
            Kind::Columns(sum) => sum.mean.len(),
        }
    }

    /// Refuses rows of other columns, and weights that cannot be.
    pub(crate) fn check(&self, data: Weighted<'_>) -> Result<()> {
        if data.n_cols() == self.n_cols() {
            return data.check();
        }
        Err(Error::data(
            format!("rows of {} columns", data.n_cols()),
            format!("earlier ones have {}", self.n_cols()),
            "Give the same columns in every piece",
        ))
    }

    /// Adds rows, which are checked.
    ///
    /// Cost: n·d² flops; twice that by triangles; 12·n·d·ℓ by a sketch of ℓ rows.
    pub(crate) fn add(&mut self, data: Weighted<'_>, watch: &Watch) -> Result<()> {
        match &mut self.kind {
            Kind::Covariance(sum) => sum.merge(&sums::moments(data, watch)?)?,
            Kind::Triangle(sum) => {
                let part = sums::triangle(data, watch)?;
                // Why: the triangle of one piece is that piece's own, to the last bit.
                if sum.count() == 0 { *sum = part } else { sum.merge(&part)? }
            }
            Kind::Directions(sum) => {
                // Why a copy: what is cancelled half way leaves no rows behind.
                let mut next = sum.clone();
                sums::add_to_directions(&mut next, data, watch)?;
                *sum = next;
            }
            Kind::Columns(sum) => sum.merge(sums::column_moments(data)?),
        }
        self.single &= matches!(data.rows, AnyPoints::F32(_));
        self.weighted |= data.weights.is_some();
        Ok(())
    }

    /// Adds the rows of another part.
    ///
    /// # Errors
    /// When the parts are of other columns, or were summed another way.
    pub fn merge(&mut self, other: &RowSums) -> Result<()> {
        match (&mut self.kind, &other.kind) {
            (Kind::Covariance(sum), Kind::Covariance(part)) => sum.merge(part)?,
            (Kind::Triangle(sum), Kind::Triangle(part)) => sum.merge(part)?,
            (Kind::Directions(sum), Kind::Directions(part)) => sum.merge(part)?,
            (Kind::Columns(sum), Kind::Columns(part)) => sum.merge_checked(part)?,
            _ => {
                return Err(Error::setting(
                    "parts of two routes",
                    "both must be made by covariance, both by tsqr, or both by directions",
                    "Give both parts the same route",
                ));
            }
        }
        self.weighted |= other.weighted;
        self.single &= other.single;
        Ok(())
    }

    /// Mean of each column so far, and Σw(x − mean)².
    pub fn columns(&self) -> (&[f64], Vec<f64>) {
        match &self.kind {
            Kind::Covariance(sum) => {
                (sum.mean(), (0..sum.dimension()).map(|j| sum.scatter()[(j, j)]).collect())
            }
            Kind::Triangle(sum) => {
                (sum.mean(), column_norms(sum.r().view()).iter().map(|norm| norm * norm).collect())
            }
            Kind::Directions(sum) => (sum.mean(), sum.squares().to_vec()),
            Kind::Columns(sum) => (&sum.mean, sum.squares.clone()),
        }
    }

    /// Mean and spread of each column.
    pub(crate) fn column_moments(&self) -> ColumnMoments {
        let (mean, squares) = self.columns();
        let weight = match &self.kind {
            Kind::Covariance(sum) => sum.weight(),
            Kind::Triangle(sum) => sum.weight(),
            Kind::Directions(sum) => sum.weight(),
            Kind::Columns(sum) => sum.weight,
        };
        ColumnMoments { count: self.count() as usize, weight, mean: mean.to_vec(), squares }
    }
}
