//! Rows that lie in pieces: what principal components ask of all of them together.

use super::PcaStream;
use super::axes::add_rows;
use super::sums::{self, Weighted};
use crate::data::{AnyPoints, Points, RowSource, gather};
use crate::error::{Error, Result};
use crate::matrix::{MatRef, Matrix};
use crate::progress::Watch;
use crate::rows::Pieces;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What principal components ask of rows that lie in pieces.
pub trait PcaPieces: Pieces {
    /// The stream with all rows added: each piece to a copy of it, and the copies merged.
    ///
    /// # Errors
    /// When rows cannot be read or added.
    fn pca_sums(&self, empty: PcaStream) -> Result<PcaStream>;

    /// Σw(x − c)(x − c)ᵀB over all rows; [`centred_product`] gives that of a piece.
    ///
    /// # Errors
    /// When rows cannot be read.
    fn centred_product(&self, centre: &[f64], block: MatRef<'_, f64>) -> Result<Matrix<f64>>;
}

/// Σw(x − c)(x − c)ᵀB over some rows.
///
/// Cost: 4·n·d·b flops.
///
/// # Errors
/// When centre, block or weights do not fit the rows, or entries are not finite.
pub fn centred_product<'a>(
    rows: impl Into<AnyPoints<'a>>,
    weights: Option<&'a [f64]>,
    centre: &[f64],
    block: MatRef<'_, f64>,
) -> Result<Matrix<f64>> {
    let data = Weighted { rows: rows.into(), weights };
    data.check()?;
    let d = data.n_cols();
    if centre.len() != d || block.n_rows() != d {
        return Err(Error::data(
            format!("a centre of {} numbers and a block of {} rows", centre.len(), block.n_rows()),
            format!("the rows have {d} columns"),
            "Give the same columns everywhere",
        ));
    }
    let mut out = Matrix::zeros(d, block.n_cols());
    add_rows(data, centre, block, out.view_mut());
    data.explain(out, |out| sums::all_finite(out.as_slice()))
}

/// A source, read from the first row to the last for each sum and each product.
pub(super) struct SourcePieces<'a> {
    source: Mutex<&'a mut dyn RowSource>,
    n_rows: usize,
    n_cols: usize,
    chunk_rows: usize,
    /// Whether the last column holds weights.
    weighted: bool,
    precision: &'static str,
    watch: Watch,
}

impl<'a> SourcePieces<'a> {
    pub(super) fn new(
        source: &'a mut dyn RowSource,
        n_rows: usize,
        chunk_rows: usize,
        weighted: bool,
        watch: Watch,
    ) -> Self {
        let n_cols = source.n_cols() - usize::from(weighted);
        let precision = source.precision();
        Self { source: Mutex::new(source), n_rows, n_cols, chunk_rows, weighted, precision, watch }
    }

    fn lock(&self) -> MutexGuard<'_, &'a mut dyn RowSource> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads all rows once.
    fn each(&self, visit: &mut dyn FnMut(Weighted<'_>, usize) -> Result<()>) -> Result<()> {
        let (mut source, mut at) = (self.lock(), 0);
        source.rewind()?;
        while source.next_rows(self.chunk_rows, &mut |rows| {
            let n = rows.n_rows();
            split_weights(rows, self.weighted, |data| visit(data, at))?;
            at += n;
            Ok(())
        })? {}
        Ok(())
    }
}

impl Pieces for SourcePieces<'_> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn precision(&self) -> &'static str {
        self.precision
    }

    fn weighted(&self) -> bool {
        self.weighted
    }

    fn place(&self) -> String {
        "rows are read a piece at a time".into()
    }

    fn gather(&self, rows: &[usize]) -> Result<Matrix<f64>> {
        gather(&mut **self.lock(), rows, self.chunk_rows)
    }
}

impl PcaPieces for SourcePieces<'_> {
    fn pca_sums(&self, mut stream: PcaStream) -> Result<PcaStream> {
        stream.watched_by(self.watch.silent());
        self.watch.step("moments of rows", 0, self.n_rows)?;
        self.each(&mut |data, at| {
            data.check().and_then(|()| stream.add(data)).map_err(|error| sums::counted_from(error, at))?;
            self.watch.step("moments of rows", at + data.n_rows(), self.n_rows)
        })?;
        Ok(stream)
    }

    fn centred_product(&self, centre: &[f64], block: MatRef<'_, f64>) -> Result<Matrix<f64>> {
        let mut out = Matrix::zeros(self.n_cols, block.n_cols());
        self.each(&mut |data, _| {
            self.watch.check()?;
            add_rows(data, centre, block, out.view_mut());
            Ok(())
        })?;
        Ok(out)
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
                "Use fit_weighted",
            ));
        }
    };
    visit(Weighted { rows, weights: Some(&weights) })
}
