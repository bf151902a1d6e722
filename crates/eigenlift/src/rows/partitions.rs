//! Rows in partitions that others hold, such as the machines of a cluster.

use super::chunks::{self, ChunkedCross, Chunks};
use super::partitions_gram::PartitionsGram;
use super::rounds::pivots_of_partitions;
use super::{Fitted, Pass, PivotDraw, Pivots, Place, RowSums, Rows, no_gram_matrix};
use crate::data::{AnyPoints, AnySamples};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureRows, FeatureSums, RowFeatures};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::matrix::{MatRef, Matrix};
use crate::operator::{GramOperator, LinearOperator};
use std::ops::Range;
use std::sync::Arc;

/// What one pass over the Gram matrix of all rows gives.
#[derive(Clone, Debug, PartialEq)]
pub struct GramPass {
    /// K·B.
    pub product: Matrix<f64>,
    /// Σⱼ Kᵢⱼ.
    pub row_sums: Vec<f64>,
    /// ‖K‖²_F.
    pub squared_norm: f64,
}

/// Candidates for pivots that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Numbers of the rows; `None` where nothing is left of the row.
    pub rows: Vec<Option<usize>>,
    /// The rows themselves, one for each, whatever is left of it.
    pub entries: Matrix<f64>,
}

/// Who holds the partitions, and answers for all of them together. A fit asks for sums and products over all rows and for single rows,
/// never for the rows as a whole, unless its model holds them.
///
/// The partitions have an order, and sums are merged in an order that depends on it alone: then the result does too. Where `single` is
/// asked for, kernel values are computed in single precision.
pub trait Partitions: Send + Sync {
    /// Rows of all partitions.
    fn n_rows(&self) -> usize;

    /// Columns.
    fn n_cols(&self) -> usize;

    /// Precision of the rows, `f32` or `f64`.
    fn precision(&self) -> &'static str;

    /// Whether rows have weights.
    fn weighted(&self) -> bool {
        false
    }

    /// Where the rows are, for the reasons of a plan.
    fn place(&self) -> String;

    /// The rows of these numbers, which ascend.
    ///
    /// # Errors
    /// When the rows cannot be read.
    fn gather(&self, rows: &[usize]) -> Result<Matrix<f64>>;

    /// The sums with all rows added: each partition to a copy of them, and the copies merged.
    ///
    /// # Errors
    /// When rows cannot be read or added.
    fn row_sums(&self, empty: RowSums) -> Result<RowSums>;

    /// Σw(x − c)(x − c)ᵀB over all rows; [`super::centered_product`] gives that of a partition.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn centered_product(&self, center: &[f64], block: MatRef<'_, f64>) -> Result<Matrix<f64>>;

    /// Moments of features of all rows: [`RowFeatures::sums`] of each partition, merged.
    ///
    /// # Errors
    /// When rows cannot be read, or features not be computed.
    fn feature_sums(&self, features: &RowFeatures) -> Result<FeatureSums>;

    /// Pivots will be drawn from these rows, or from all.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn begin_rounds(&self, sample: Option<&[usize]>) -> Result<()>;

    /// For each partition, what features leave out of the rows of the sample, added up in their order; rows that are `spent` count
    /// as 0.
    ///
    /// # Errors
    /// As [`Partitions::feature_sums`].
    fn left_out(&self, features: &RowFeatures, spent: &[usize]) -> Result<Vec<f64>>;

    /// In each partition named, the first row of the sample at which the running sum of what the last [`Partitions::left_out`] found
    /// exceeds the target.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn locate(&self, targets: &[(usize, f64)]) -> Result<Found>;

    /// One pass over the Gram matrix.
    ///
    /// # Errors
    /// As [`Partitions::feature_sums`].
    fn gram_pass(&self, kernel: &Kernel, block: MatRef<'_, f64>, single: bool) -> Result<GramPass>;

    /// Kernel values of all rows with these.
    ///
    /// # Errors
    /// As [`Partitions::feature_sums`].
    fn kernel_columns(&self, kernel: &Kernel, with: &Matrix<f64>, single: bool) -> Result<Matrix<f64>>;

    /// k(x,x) of all rows.
    ///
    /// # Errors
    /// As [`Partitions::feature_sums`].
    fn kernel_diagonal(&self, kernel: &Kernel, single: bool) -> Result<Vec<f64>>;

    /// Scores of all rows.
    ///
    /// # Errors
    /// As [`Partitions::feature_sums`].
    fn project(&self, model: &dyn Fitted) -> Result<Matrix<f64>>;
}

/// Rows in partitions; what is small is worked on here.
pub(super) struct PartitionRows<'a> {
    partitions: &'a dyn Partitions,
    engine: Arc<dyn Engine>,
}

impl<'a> PartitionRows<'a> {
    pub(super) fn new(partitions: &'a dyn Partitions, engine: &Arc<dyn Engine>) -> Self {
        Self { partitions, engine: engine.clone() }
    }
}

impl Chunks for PartitionRows<'_> {
    fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The rows of a chunk are brought here; features and kernel values would be more numbers than rows.
    fn each(
        &self,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut dyn FnMut(AnyPoints<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let (end, step) = (range.end.min(self.n_rows()), pass.chunk_rows.max(1));
        for from in (range.start..end).step_by(step) {
            let numbers: Vec<usize> = (from..from.saturating_add(step).min(end)).collect();
            visit(self.gather(&numbers, pass)?.points(), from)?;
        }
        Ok(())
    }
}

impl Rows for PartitionRows<'_> {
    fn n_rows(&self) -> usize {
        self.partitions.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.partitions.n_cols()
    }

    fn precision(&self) -> &'static str {
        self.partitions.precision()
    }

    fn place(&self) -> Place {
        Place::Partitions(self.partitions.place())
    }

    fn weighted(&self) -> bool {
        self.partitions.weighted()
    }

    fn gather(&self, rows: &[usize], pass: &Pass<'_>) -> Result<AnySamples> {
        pass.watch.check()?;
        let found: AnySamples = self.partitions.gather(rows)?.into();
        Ok(if self.precision() == "f32" { found.to_single() } else { found })
    }

    fn gram<'b>(
        &'b self,
        similarity: &'b Similarity,
        _: Storage,
        draft: bool,
    ) -> Result<Box<dyn GramOperator + 'b>> {
        match similarity {
            Similarity::Kernel(kernel) => Ok(Box::new(PartitionsGram::new(self.partitions, kernel, draft))),
            Similarity::Precomputed => Err(no_gram_matrix()),
        }
    }

    fn cross<'b>(
        &'b self,
        kernel: &'b Kernel,
        samples: &'b AnySamples,
    ) -> Result<Box<dyn LinearOperator + 'b>> {
        Ok(Box::new(ChunkedCross { rows: self, n_rows: self.n_rows(), kernel, samples }))
    }

    fn diagonal(&self, similarity: &Similarity, pass: &Pass<'_>) -> Result<Vec<f64>> {
        pass.watch.check()?;
        match similarity {
            Similarity::Kernel(kernel) => self.partitions.kernel_diagonal(kernel, false),
            Similarity::Precomputed => Err(no_gram_matrix()),
        }
    }

    fn features(
        &self,
        features: &RowFeatures,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut (dyn FnMut(usize, FeatureRows) -> Result<()> + Send),
    ) -> Result<()> {
        chunks::features(self, features, range, pass, visit)
    }

    fn feature_sums(&self, features: &RowFeatures, pass: &Pass<'_>) -> Result<FeatureSums> {
        pass.watch.check()?;
        let sum = self.partitions.feature_sums(features)?;
        self.engine.complete(|| Ok(features.finish(sum)))
    }

    fn pivots(&self, similarity: &Similarity, draw: &PivotDraw<'_>) -> Result<Pivots> {
        match similarity {
            Similarity::Kernel(kernel) => {
                self.engine.complete(|| pivots_of_partitions(self.partitions, kernel, draw))
            }
            Similarity::Precomputed => Err(no_gram_matrix()),
        }
    }

    fn row_sums(&self, sums: RowSums, pass: &Pass<'_>) -> Result<RowSums> {
        pass.watch.check()?;
        self.partitions.row_sums(sums)
    }

    fn centered_product(
        &self,
        center: &[f64],
        block: MatRef<'_, f64>,
        pass: &Pass<'_>,
    ) -> Result<Matrix<f64>> {
        pass.watch.check()?;
        let product = self.partitions.centered_product(center, block)?;
        let (shape, wanted) = ((product.n_rows(), product.n_cols()), (self.n_cols(), block.n_cols()));
        if shape == wanted {
            return Ok(product);
        }
        Err(Error::data(
            format!("a product of {} × {}", shape.0, shape.1),
            format!("it must be {} × {}", wanted.0, wanted.1),
            "The rows must stay the same while they are read",
        ))
    }

    fn project(&self, model: &dyn Fitted, pass: &Pass<'_>) -> Result<Matrix<f64>> {
        pass.watch.check()?;
        self.partitions.project(model)
    }
}
