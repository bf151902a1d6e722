//! Rows in memory.

use super::chunks::{self, Chunks};
use super::row_sums::RowSums;
use super::sums::{Weighted, all_finite};
use super::{Fitted, Pass, PivotDraw, Pivots, Place, Rows};
use crate::data::{AnyPoints, AnySamples, CentredRows};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureRows, FeatureSums, RowFeatures, pivoted_cholesky_until};
use crate::gram::{CrossGram, Similarity, Storage, SymmetricGram, diagonal_of};
use crate::kernel::Kernel;
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::operator::{GramOperator, LinearOperator};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Rows whose k(x,x) one thread computes at a time.
const DIAGONAL_ROWS: usize = 512;

/// The rows, shared or borrowed.
pub(crate) enum Held<'a> {
    Samples(AnySamples),
    Points(AnyPoints<'a>),
}

impl From<AnySamples> for Held<'_> {
    fn from(samples: AnySamples) -> Self {
        Self::Samples(samples)
    }
}

impl From<&AnySamples> for Held<'_> {
    fn from(samples: &AnySamples) -> Self {
        Self::Samples(samples.clone())
    }
}

impl<'a> From<AnyPoints<'a>> for Held<'a> {
    fn from(points: AnyPoints<'a>) -> Self {
        Self::Points(points)
    }
}

/// The engine, shared or lent.
pub(crate) enum Hands<'a> {
    Shared(Arc<dyn Engine>),
    Lent(&'a dyn Engine),
}

impl From<&Arc<dyn Engine>> for Hands<'_> {
    fn from(engine: &Arc<dyn Engine>) -> Self {
        Self::Shared(engine.clone())
    }
}

impl<'a> From<&'a dyn Engine> for Hands<'a> {
    fn from(engine: &'a dyn Engine) -> Self {
        Self::Lent(engine)
    }
}

/// Rows in memory, worked on by an engine.
pub(super) struct MemoryRows<'a> {
    held: Held<'a>,
    weights: Option<&'a [f64]>,
    engine: Hands<'a>,
}

impl<'a> MemoryRows<'a> {
    /// Rows, each counted as often as its weight says, or once.
    pub(super) fn new(held: Held<'a>, weights: Option<&'a [f64]>, engine: Hands<'a>) -> Self {
        Self { held, weights, engine }
    }

    fn rows(&self) -> AnyPoints<'_> {
        match &self.held {
            Held::Samples(samples) => samples.points(),
            Held::Points(points) => *points,
        }
    }

    fn all(&self) -> AnySamples {
        match &self.held {
            Held::Samples(samples) => samples.clone(),
            Held::Points(points) => points.gather(&(0..points.n_rows()).collect::<Vec<usize>>()),
        }
    }

    fn data(&self) -> Weighted<'_> {
        Weighted { rows: self.rows(), weights: self.weights }
    }
}

impl Chunks for MemoryRows<'_> {
    fn engine(&self) -> &dyn Engine {
        match &self.engine {
            Hands::Shared(engine) => &**engine,
            Hands::Lent(engine) => *engine,
        }
    }

    fn each(
        &self,
        range: Range<usize>,
        pass: &Pass<'_>,
        visit: &mut dyn FnMut(AnyPoints<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let (rows, step, end) = (self.rows(), pass.chunk_rows.max(1), range.end.min(self.n_rows()));
        for from in (range.start..end).step_by(step) {
            visit(rows.rows(from..from.saturating_add(step).min(end)), from)?;
        }
        Ok(())
    }
}

impl Rows for MemoryRows<'_> {
    fn n_rows(&self) -> usize {
        self.rows().n_rows()
    }

    fn n_cols(&self) -> usize {
        self.rows().n_cols()
    }

    fn precision(&self) -> &'static str {
        if matches!(self.rows(), AnyPoints::F32(_)) { "f32" } else { "f64" }
    }

    fn place(&self) -> Place {
        Place::Memory
    }

    fn weighted(&self) -> bool {
        self.weights.is_some()
    }

    fn points(&self) -> Option<(AnyPoints<'_>, Option<&[f64]>)> {
        Some((self.rows(), self.weights))
    }

    fn gather(&self, rows: &[usize], _: &Pass<'_>) -> Result<AnySamples> {
        Ok(self.rows().gather(rows))
    }

    fn samples(&self, _: &Pass<'_>) -> Result<AnySamples> {
        Ok(self.all())
    }

    fn gram<'b>(
        &'b self,
        similarity: &'b Similarity,
        storage: Storage,
        draft: bool,
    ) -> Result<Box<dyn GramOperator + 'b>> {
        let samples = self.all();
        match similarity {
            Similarity::Kernel(kernel) if draft => {
                let (kernel, samples) = kernel.in_single(&samples);
                symmetric(&Similarity::Kernel(kernel), &samples, storage)
            }
            _ => symmetric(similarity, &samples, storage),
        }
    }

    fn cross<'b>(
        &'b self,
        kernel: &'b Kernel,
        samples: &'b AnySamples,
    ) -> Result<Box<dyn LinearOperator + 'b>> {
        Ok(match samples {
            AnySamples::F32(samples) => Box::new(CrossGram::new(kernel, self.rows(), samples)),
            AnySamples::F64(samples) => Box::new(CrossGram::new(kernel, self.rows(), samples)),
        })
    }

    fn diagonal(&self, similarity: &Similarity, pass: &Pass<'_>) -> Result<Vec<f64>> {
        pass.watch.check()?;
        let (x, mut own) = (self.rows(), vec![0.0; self.n_rows()]);
        self.engine().run(&mut || {
            own.par_chunks_mut(DIAGONAL_ROWS).enumerate().for_each(|(chunk, out)| {
                let from = chunk * DIAGONAL_ROWS;
                diagonal_of(similarity, x.rows(from..from + out.len()), from, out);
            });
        });
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
        chunks::feature_sums(self, self.n_rows(), features, pass)
    }

    fn pivots(&self, similarity: &Similarity, draw: &PivotDraw<'_>) -> Result<Pivots> {
        let samples = match draw.sample {
            Some(places) => self.rows().gather(places),
            None => self.all(),
        };
        let gram = symmetric(similarity, &samples, Storage::Tiled)?;
        let factor =
            self.engine().complete(|| pivoted_cholesky_until(&*gram, draw.stop, draw.seed, draw.watch))?;
        let (chosen, m) = (&factor.pivots, factor.pivots.len());
        let rows = match draw.sample {
            Some(places) => chosen.iter().map(|at| places[*at]).collect(),
            None => chosen.clone(),
        };
        let root = Matrix::from_fn(m, m, |i, j| factor.factor[(chosen[i], j)]);
        Ok(Pivots { rows, landmarks: samples.gather(chosen), root })
    }

    fn row_sums(&self, mut sums: RowSums, pass: &Pass<'_>) -> Result<RowSums> {
        self.engine().complete(|| {
            sums.check(self.data())?;
            sums.add(self.data(), pass.watch)?;
            Ok(sums)
        })
    }

    fn centered_product(
        &self,
        center: &[f64],
        block: MatRef<'_, f64>,
        pass: &Pass<'_>,
    ) -> Result<Matrix<f64>> {
        pass.watch.check()?;
        let mut out = Matrix::zeros(self.n_cols(), block.n_cols());
        self.engine().run(&mut || add_centered_product(self.data(), center, block, out.view_mut()));
        Ok(out)
    }

    fn project(&self, model: &dyn Fitted, pass: &Pass<'_>) -> Result<Matrix<f64>> {
        model.project_on(self.engine(), self.rows(), pass.watch)
    }
}

/// The matrix of samples with themselves.
fn symmetric(
    similarity: &Similarity,
    x: &AnySamples,
    storage: Storage,
) -> Result<Box<dyn GramOperator + 'static>> {
    Ok(match x {
        AnySamples::F32(x) => Box::new(SymmetricGram::new(similarity.clone(), x.clone(), storage)?),
        AnySamples::F64(x) => Box::new(SymmetricGram::new(similarity.clone(), x.clone(), storage)?),
    })
}

/// out ← out + Σw(x − c)(x − c)ᵀB over some rows.
pub(super) fn add_centered_product(
    data: Weighted<'_>,
    center: &[f64],
    block: MatRef<'_, f64>,
    out: MatMut<'_, f64>,
) {
    let rows = CentredRows::new(data.rows, center);
    let mut along = Matrix::zeros(data.n_rows(), block.n_cols());
    rows.times(block, along.view_mut());
    if let Some(weights) = data.weights {
        let mut view = along.view_mut();
        weights.iter().enumerate().for_each(|(i, w)| view.row_mut(i).iter_mut().for_each(|x| *x *= w));
    }
    rows.add_transposed_times(along.view(), out);
}

/// Σw(x − c)(x − c)ᵀB over some rows.
///
/// Cost: 4·n·d·b flops.
///
/// # Errors
/// When center, block or weights do not fit the rows, or entries are not finite.
pub fn centered_product<'a>(
    rows: impl Into<AnyPoints<'a>>,
    weights: Option<&'a [f64]>,
    center: &[f64],
    block: MatRef<'_, f64>,
) -> Result<Matrix<f64>> {
    let data = Weighted { rows: rows.into(), weights };
    data.check()?;
    let d = data.n_cols();
    if center.len() != d || block.n_rows() != d {
        return Err(Error::data(
            format!("a center of {} numbers and a block of {} rows", center.len(), block.n_rows()),
            format!("the rows have {d} columns"),
            "Give the same columns everywhere",
        ));
    }
    let mut out = Matrix::zeros(d, block.n_cols());
    add_centered_product(data, center, block, out.view_mut());
    data.explain(out, |out| all_finite(out.as_slice()))
}
