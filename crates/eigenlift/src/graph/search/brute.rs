//! All distances: products choose candidates, formulas decide.

use super::best::Found;
use super::rows::{Frame, Job};
use super::sieve::{Gauge, Scan, Sieve};
use super::{Metric, Reach, direct};
use crate::data::{AnyPoints, Points};
use crate::error::Result;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::Matrix;
use crate::memory::joined;
use crate::real::Real;
use crate::simd::dispatch;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a tile.
const TILE_ROWS: usize = 128;
/// Samples of a tile.
const TILE_SAMPLES: usize = 512;
/// With fewer rows, making samples ready for products costs more than products save.
const FEW_ROWS: usize = 16;

/// Exact neighbours from all distances, (G3).
///
/// For rows put into a [`Frame`], ‖x̂‖² + ‖ŷ‖² − 2⟨x̂, ŷ⟩ in tiles names every sample that may be a neighbour, whatever the
/// roundings; `Metric::distance` then decides among these. Tiles are in single precision first; a block of rows for which
/// too many samples lie within its roundings is done again in double precision.
/// Cost: 2·n·m·d flops for m rows and n samples. Memory: dense samples once more in single precision, sparse ones a tile at
/// a time.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn search(job: &Job<'_>) -> Result<Vec<Vec<Found>>> {
    let direct = job.metric == Metric::Manhattan || job.rows.n_rows() < FEW_ROWS;
    let frame = if direct { None } else { Frame::new(job) };
    let lists = match frame {
        None => joined(job.in_blocks(direct::ROWS, |range| direct::search(job, range))?),
        Some(frame) => by_products(job, &frame)?,
    };
    Ok(lists)
}

fn by_products(job: &Job<'_>, frame: &Frame) -> Result<Vec<Vec<Found>>> {
    let single = Tiles::<f32>::new(job, frame);
    let mut blocks = match single.is_hopeless() {
        true => vec![None; job.rows.n_rows().div_ceil(TILE_ROWS)],
        false => job.in_blocks(TILE_ROWS, |range| single.block(range, true))?,
    };
    drop(single);
    let again: Vec<usize> = (0..blocks.len()).filter(|block| blocks[*block].is_none()).collect();
    if !again.is_empty() {
        let double = Tiles::<f64>::new(job, frame);
        for some in again.chunks((8 * rayon::current_num_threads()).max(16)) {
            job.watch.step("looking for neighbours", some[0] * TILE_ROWS, job.rows.n_rows())?;
            let rows = |block: usize| block * TILE_ROWS..((block + 1) * TILE_ROWS).min(job.rows.n_rows());
            let found = some.par_iter().map(|block| double.block(rows(*block), false));
            let found: Vec<_> = found.collect::<Result<_>>()?;
            some.iter().zip(found).for_each(|(block, lists)| blocks[*block] = lists);
        }
    }
    Ok(joined(blocks.into_iter().flatten().collect()))
}

/// Some samples ready for products, (−2ŷ, ‖ŷ‖² − e) in each row, and the allowances e for their roundings.
struct Ready<T> {
    rows: Matrix<T>,
    allowances: Vec<T>,
}

/// Tiles of products in one precision.
struct Tiles<'a, T> {
    job: &'a Job<'a>,
    frame: &'a Frame,
    gauge: Gauge,
    kept: Vec<Ready<T>>,
}

impl<'a, T: Real> Tiles<'a, T> {
    fn new(job: &'a Job<'a>, frame: &'a Frame) -> Self {
        let gauge = Gauge::new::<T>(frame.width(job.samples.n_cols()));
        let mut tiles = Self { job, frame, gauge, kept: Vec::new() };
        let dense =
            matches!(job.samples, AnyPoints::F32(Points::Dense(_)) | AnyPoints::F64(Points::Dense(_)));
        if dense && !tiles.is_hopeless() {
            let pieces = job.samples.n_rows().div_ceil(TILE_SAMPLES);
            tiles.kept = (0..pieces).into_par_iter().map(|piece| tiles.ready(piece)).collect();
        }
        tiles
    }

    /// Whether the radius is lost in roundings of rows of length 1.
    fn is_hopeless(&self) -> bool {
        let within = |radius| self.frame.square_of(radius) < 8.0 * self.gauge.allowance(1.0);
        T::UNIT_ROUNDOFF > f64::UNIT_ROUNDOFF && matches!(self.job.reach, Reach::Within(r) if within(r))
    }

    fn samples(&self, piece: usize) -> Range<usize> {
        piece * TILE_SAMPLES..((piece + 1) * TILE_SAMPLES).min(self.job.samples.n_rows())
    }

    fn ready(&self, piece: usize) -> Ready<T> {
        let (range, d) = (self.samples(piece), self.job.samples.n_cols());
        let width = self.frame.width(d);
        let (mut rows, mut row) = (Matrix::zeros(range.len(), width + 1), vec![0.0; d]);
        let mut view = rows.view_mut();
        let allowances = range.enumerate().map(|(at, j)| {
            self.job.samples.copy_row(j, &mut row);
            let out = view.row_mut(at);
            let square = self.frame.place(&mut row, &mut out[..width]);
            let allowance = self.gauge.allowance(square);
            out[..width].iter_mut().for_each(|x| *x *= T::of(-2.0));
            out[width] = T::of(square - allowance);
            T::of(allowance)
        });
        let allowances = allowances.collect();
        Ready { rows, allowances }
    }

    /// Neighbours of the rows in `range`; `None` when `may_give_up` and roundings hide too much.
    fn block(&self, range: Range<usize>, may_give_up: bool) -> Result<Option<Vec<Vec<Found>>>> {
        let Some(sieves) = self.candidates(range.clone(), may_give_up)? else { return Ok(None) };
        let d = self.job.samples.n_cols();
        let (mut row, mut buffer) = (vec![0.0; d], vec![0.0; d]);
        let lists = range.zip(&sieves).map(|(i, sieve)| {
            self.job.rows.copy_row(i, &mut row);
            self.job.nearest_of(i, &row, sieve.candidates(), &mut buffer)
        });
        Ok(Some(lists.collect()))
    }

    /// Rows ready for products, (x̂, 1) in each, and a sieve for each.
    fn queries(&self, range: Range<usize>) -> (Matrix<T>, Vec<Sieve<T>>) {
        let d = self.job.samples.n_cols();
        let width = self.frame.width(d);
        let (mut rows, mut row) = (Matrix::<T>::zeros(range.len(), width + 1), vec![0.0; d]);
        let mut view = rows.view_mut();
        let sieves = range.enumerate().map(|(at, i)| {
            self.job.rows.copy_row(i, &mut row);
            let out = view.row_mut(at);
            let square = self.frame.place(&mut row, &mut out[..width]);
            out[width] = T::ONE;
            let radius = match self.job.reach {
                Reach::Nearest(_) => None,
                Reach::Within(radius) => Some(self.frame.square_of(radius)),
            };
            Sieve::new(self.job.reach, &self.gauge, square, radius)
        });
        let sieves = sieves.collect();
        (rows, sieves)
    }

    fn candidates(&self, range: Range<usize>, may_give_up: bool) -> Result<Option<Vec<Sieve<T>>>> {
        let (rows, mut sieves) = self.queries(range.clone());
        let (mut tile, mut hits) = (Matrix::<T>::zeros(range.len(), TILE_SAMPLES), Vec::new());
        for piece in 0..self.job.samples.n_rows().div_ceil(TILE_SAMPLES) {
            self.job.watch.check()?;
            let fresh;
            let ready = match self.kept.get(piece) {
                Some(ready) => ready,
                None => {
                    fresh = self.ready(piece);
                    &fresh
                }
            };
            let (from, many) = (piece * TILE_SAMPLES, ready.rows.n_rows());
            let out = tile.view_mut().columns(0..many);
            let (a, b) = (Factor::Plain(rows.view()), Factor::Transposed(ready.rows.view()));
            gemm(out, Onto::Replace, 1.0, a, b);
            for (at, sieve) in sieves.iter_mut().enumerate() {
                let scores = &tile.row(at)[..many];
                dispatch(Scan { scores, most: sieve.most(), hits: &mut hits });
                let own = self.job.own(range.start + at);
                for hit in hits.drain(..).filter(|hit| own != Some(from as u32 + hit)) {
                    let at = hit as usize;
                    sieve.offer(from as u32 + hit, scores[at], ready.allowances[at]);
                }
                if may_give_up && sieve.is_clogged() {
                    return Ok(None);
                }
            }
        }
        sieves.iter_mut().for_each(Sieve::tighten);
        Ok(Some(sieves))
    }
}
