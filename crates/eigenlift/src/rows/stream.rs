//! Rows that are read from the first to the last, a piece at a time.

use super::chunks::{self, ChunkedCross, Chunks};
use super::data::in_memory;
use super::memory::add_centered_product;
use super::row_sums::RowSums;
use super::sums::Weighted;
use super::{Fitted, Pass, PivotDraw, Pivots, Place, Rows, no_gram_matrix};
use crate::data::{AnyPoints, AnySamples, Points, RowSource, gather};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureRows, FeatureSums, RowFeatures, counted_from};
use crate::gram::{Similarity, Storage};
use crate::kernel::Kernel;
use crate::matrix::{MatRef, Matrix};
use crate::operator::{GramOperator, LinearOperator};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A source, read once for each question.
pub(super) struct StreamRows<'a> {
    source: Mutex<&'a mut dyn RowSource>,
    n_rows: usize,
    n_cols: usize,
    most_rows: usize,
    precision: &'static str,
    /// Whether the last column holds weights.
    weighted: bool,
    engine: Arc<dyn Engine>,
}

impl<'a> StreamRows<'a> {
    pub(super) fn new(
        source: &'a mut dyn RowSource,
        weighted: bool,
        engine: &Arc<dyn Engine>,
    ) -> Result<Self> {
        if weighted && source.n_cols() < 2 {
            return Err(Error::data(
                "one column, which holds weights",
                "at least one column of data is needed beside it",
                "Select data columns",
            ));
        }
        Ok(Self {
            n_rows: source.n_rows()?,
            n_cols: source.n_cols() - usize::from(weighted),
            most_rows: source.most_rows(),
            precision: source.precision(),
            source: Mutex::new(source),
            weighted,
            engine: engine.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, &'a mut dyn RowSource> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads all rows once; `visit` is told how many came before.
    fn read(&self, pass: &Pass<'_>, visit: &mut dyn FnMut(Weighted<'_>, usize) -> Result<()>) -> Result<()> {
        let (mut source, mut at) = (self.lock(), 0);
        source.rewind()?;
        while source.next_rows(pass.chunk_rows, &mut |rows| {
            let n = rows.n_rows();
            split_weights(rows, self.weighted, |data| visit(data, at))?;
            at += n;
            Ok(())
        })? {}
        Ok(())
    }

    fn in_own_precision(&self, rows: Matrix<f64>) -> AnySamples {
        let rows: AnySamples = match self.weighted {
            true => rows.into_first_columns(self.n_cols).into(),
            false => rows.into(),
        };
        if self.precision == "f32" { rows.to_single() } else { rows }
    }
}

impl Chunks for StreamRows<'_> {
    fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    fn each(
        &self,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut dyn FnMut(AnyPoints<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        self.read(pass, &mut |data, at| {
            pass.watch.check()?;
            let (from, to) = (range.start.max(at), range.end.min(at + data.n_rows()));
            if from >= to {
                return Ok(());
            }
            visit(data.rows.rows(from - at..to - at), from)
        })
    }
}

impl Rows for StreamRows<'_> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn precision(&self) -> &'static str {
        self.precision
    }

    fn place(&self) -> Place {
        Place::Chunks { most_rows: self.most_rows }
    }

    fn weighted(&self) -> bool {
        self.weighted
    }

    fn gather(&self, rows: &[usize], pass: &Pass<'_>) -> Result<AnySamples> {
        let found = gather(&mut **self.lock(), rows, pass.chunk_rows)?;
        Ok(self.in_own_precision(found))
    }

    fn gram<'b>(&'b self, _: &'b Similarity, _: Storage, _: bool) -> Result<Box<dyn GramOperator + 'b>> {
        Err(Error::setting(
            "the kernel matrix of rows that are read a piece at a time",
            "it needs all rows in memory",
            "Allow more memory, or use landmarks",
        ))
    }

    fn cross<'b>(
        &'b self,
        kernel: &'b Kernel,
        samples: &'b AnySamples,
    ) -> Result<Box<dyn LinearOperator + 'b>> {
        Ok(Box::new(ChunkedCross { rows: self, n_rows: self.n_rows, kernel, samples }))
    }

    fn diagonal(&self, similarity: &Similarity, pass: &Pass<'_>) -> Result<Vec<f64>> {
        if matches!(similarity, Similarity::Precomputed) {
            return Err(no_gram_matrix());
        }
        let mut own = Vec::with_capacity(self.n_rows);
        self.read(pass, &mut |data, _| {
            own.extend(in_memory(data.rows, &self.engine).diagonal(similarity, pass)?);
            Ok(())
        })?;
        Ok(own)
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
        chunks::feature_sums(self, self.n_rows, features, pass)
    }

    /// The rows of the sample are read once, and the pivots drawn in memory.
    fn pivots(&self, similarity: &Similarity, draw: &PivotDraw<'_>) -> Result<Pivots> {
        let pass = Pass::new(draw.watch);
        let samples = match draw.sample {
            Some(places) => self.gather(places, &pass)?,
            None => self.samples(&pass)?,
        };
        let whole = PivotDraw { sample: None, ..*draw };
        let mut found = in_memory(samples, &self.engine).pivots(similarity, &whole)?;
        if let Some(places) = draw.sample {
            found.rows.iter_mut().for_each(|row| *row = places[*row]);
        }
        Ok(found)
    }

    fn row_sums(&self, mut sums: RowSums, pass: &Pass<'_>) -> Result<RowSums> {
        let silent = pass.watch.silent();
        pass.watch.step("moments of rows", 0, self.n_rows)?;
        self.read(pass, &mut |data, at| {
            self.engine
                .complete(|| sums.check(data).and_then(|()| sums.add(data, &silent)))
                .map_err(|error| counted_from(error, at))?;
            pass.watch.step("moments of rows", at + data.n_rows(), self.n_rows)
        })?;
        Ok(sums)
    }

    fn centered_product(
        &self,
        center: &[f64],
        block: MatRef<'_, f64>,
        pass: &Pass<'_>,
    ) -> Result<Matrix<f64>> {
        let mut out = Matrix::zeros(self.n_cols, block.n_cols());
        self.read(pass, &mut |data, _| {
            pass.watch.check()?;
            self.engine.run(&mut || add_centered_product(data, center, block, out.view_mut()));
            Ok(())
        })?;
        Ok(out)
    }

    fn project(&self, model: &dyn Fitted, pass: &Pass<'_>) -> Result<Matrix<f64>> {
        chunks::stacked(self, (self.n_rows, model.n_outputs()), pass, &mut |chunk, _| {
            model.project_on(&*self.engine, chunk, pass.watch)
        })
    }
}

/// Takes the last column of rows as their weights, if it holds them.
fn split_weights(
    rows: AnyPoints<'_>,
    weighted: bool,
    visit: impl FnOnce(Weighted<'_>) -> Result<()>,
) -> Result<()> {
    if !weighted {
        return visit(Weighted { rows, weights: None });
    }
    let d = rows.n_cols().saturating_sub(1);
    let mut row = vec![0.0; d + 1];
    let weights: Vec<f64> = (0..rows.n_rows())
        .map(|i| {
            rows.copy_row(i, &mut row);
            row[d]
        })
        .collect();
    let rows = match rows {
        AnyPoints::F32(Points::Dense(x)) => AnyPoints::F32(Points::Dense(x.first_columns(d))),
        AnyPoints::F64(Points::Dense(x)) => AnyPoints::F64(Points::Dense(x.first_columns(d))),
        _ => {
            return Err(Error::data(
                "sparse rows with weights in their last column",
                "weights of sparse rows are given beside them",
                "Fit the rows in memory together with their weights",
            ));
        }
    };
    visit(Weighted { rows, weights: Some(&weights) })
}
