//! The Gram matrix of samples with themselves.

use super::schedule::Tournament;
use super::{BLOCK_ROWS, Scratch, TileSpace, block_rows};
use crate::data::{Points, Samples};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Workspace};
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatMut, MatRef, Matrix};
use crate::memory::{collected, resize, zeroed};
use crate::operator::{GramOperator, GramSummary, LinearOperator};
use crate::progress::Watch;
use crate::real::Real;
use crate::simd::{Vectorised, dispatch};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Tiles between two reports of progress.
const REPORT_EVERY: usize = 32;

/// How two samples are compared.
#[derive(Clone, Debug)]
pub enum Similarity {
    /// By a kernel of their rows.
    Kernel(Kernel),
    /// The samples are the rows of the Gram matrix itself.
    Precomputed,
}

/// Whether tiles are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// The upper half is computed once and kept: n²/2 numbers.
    Stored,
    /// Tiles are computed anew in every pass: a few tiles per thread, for any n.
    Tiled,
}

/// Bytes that the tiles of [`Storage::Stored`] take.
pub fn stored_bytes(n: usize, bytes_per_number: usize) -> u128 {
    let blocks = n.div_ceil(BLOCK_ROWS) as u128;
    let n = n as u128;
    // Upper tiles: half of n² and half a tile for each block on the diagonal.
    (n * n + n * BLOCK_ROWS.min(n as usize) as u128).div_ceil(2).min(n * n).max(blocks)
        * bytes_per_number as u128
}

/// The symmetric matrix K of one set of samples. Each pass touches only tiles on and above the diagonal and uses each twice.
pub struct SymmetricGram<T> {
    similarity: Similarity,
    samples: Samples<T>,
    tiles: Option<Vec<OnceLock<Vec<T>>>>,
    scratch: Scratch<TileSpace<T>>,
}

fn lock<'a, X>(slot: &'a Mutex<X>) -> MutexGuard<'a, X> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Real> SymmetricGram<T> {
    /// Describes the matrix; tiles are computed when first needed.
    ///
    /// # Errors
    /// When a precomputed matrix is not square.
    pub fn new(similarity: Similarity, samples: Samples<T>, storage: Storage) -> Result<Self> {
        let n = samples.n_rows();
        if matches!(similarity, Similarity::Precomputed) && samples.n_cols() != n {
            return Err(Error::data(
                format!("a precomputed Gram matrix of {n} rows and {} columns", samples.n_cols()),
                "it must be square, one row and one column for each sample",
                "Pass the n × n matrix of kernel values, or choose a kernel to compute it from rows",
            ));
        }
        let blocks = n.div_ceil(BLOCK_ROWS);
        // Why: a precomputed matrix is in memory already.
        let keep = storage == Storage::Stored && matches!(similarity, Similarity::Kernel(_));
        let tiles = keep.then(|| (0..blocks * (blocks + 1) / 2).map(|_| OnceLock::new()).collect());
        Ok(Self { similarity, samples, tiles, scratch: Scratch::default() })
    }

    fn n_blocks(&self) -> usize {
        self.samples.n_rows().div_ceil(BLOCK_ROWS)
    }

    /// Computes tile (i, j), i ≤ j. The diagonal is exact and tiles on the diagonal are symmetric to the bit.
    fn compute(&self, i: usize, j: usize, tile: &mut [T], work: &mut Workspace<T>) {
        let n = self.samples.n_rows();
        let points = self.samples.points();
        let (rows, columns) = (block_rows(i, n), block_rows(j, n));
        let width = columns.len();
        match &self.similarity {
            Similarity::Kernel(kernel) => {
                let (x, y) = (points.rows(rows.clone()), points.rows(columns));
                kernel.tile(x, y, tile, work);
            }
            Similarity::Precomputed => copy_entries(points, rows.clone(), columns, tile),
        }
        if i != j {
            return;
        }
        for a in 1..width {
            for b in 0..a {
                tile[a * width + b] = tile[b * width + a];
            }
        }
        if let Similarity::Kernel(kernel) = &self.similarity {
            let mut diagonal = vec![0.0; width];
            kernel.diagonal(points.rows(rows), &mut diagonal);
            diagonal.iter().enumerate().for_each(|(a, value)| tile[a * width + a] = T::of(*value));
        }
    }

    /// out ← K·block, and sums over K if there is a place for them.
    fn multiply(
        &self,
        block: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        sums: Option<&[Mutex<BlockSums>]>,
        watch: &Watch,
    ) -> Result<()> {
        let n = self.samples.n_rows();
        out.fill(0.0);
        let results: Vec<Mutex<MatMut<'_, f64>>> =
            out.row_chunks(BLOCK_ROWS).into_iter().map(Mutex::new).collect();
        let mut space = Matrix::default();
        let block = rounded(block, &mut space)?;
        self.sweep("pass over the Gram matrix", watch, |i, j, tile, space| {
            let (v_i, v_j) = (block.rows(block_rows(i, n)), block.rows(block_rows(j, n)));
            accumulate(Factor::Plain(tile), v_j, lock(&results[i]).reborrow(), &mut space.product)?;
            if i != j {
                accumulate(Factor::Transposed(tile), v_i, lock(&results[j]).reborrow(), &mut space.product)?;
            }
            if let Some(sums) = sums {
                let mut down = vec![0.0; tile.n_cols()];
                let mut squares = 0.0;
                let mut own = lock(&sums[i]);
                dispatch(TileSums { tile, across: &mut own.rows, down: &mut down, squares: &mut squares });
                own.squares += if i == j { squares } else { 2.0 * squares };
                drop(own);
                if i != j {
                    lock(&sums[j]).rows.iter_mut().zip(&down).for_each(|(s, d)| *s += d);
                }
            }
            Ok(())
        })
    }

    /// Calls `visit(i, j, tile, space)` for every tile on and above the diagonal; the calls that concern one block come one
    /// after the other, always in the same order.
    fn sweep(
        &self,
        stage: &str,
        watch: &Watch,
        visit: impl Fn(usize, usize, MatRef<'_, T>, &mut TileSpace<T>) -> Result<()> + Sync,
    ) -> Result<()> {
        let (n, order) = (self.samples.n_rows(), Tournament::new(self.n_blocks()));
        order.run(|at, meeting, turn| {
            let (i, j) = (meeting.first, meeting.second);
            let shape = (block_rows(i, n).len(), block_rows(j, n).len());
            if at % REPORT_EVERY == 0 {
                watch.step(stage, at, order.len())?
            } else {
                watch.check()?
            }
            self.scratch.with(|space| {
                if let Some(tiles) = &self.tiles {
                    let kept = &tiles[order.tile_index(i, j)];
                    let tile = kept.get_or_init(|| {
                        let mut tile = zeroed(shape.0 * shape.1);
                        self.compute(i, j, &mut tile, &mut space.kernel);
                        tile
                    });
                    let tile = MatRef::new(tile, shape.0, shape.1)?;
                    return turn.take(|| visit(i, j, tile, space));
                }
                let mut tile = std::mem::take(&mut space.tile);
                resize(&mut tile, shape.0 * shape.1, T::ZERO);
                self.compute(i, j, &mut tile, &mut space.kernel);
                let view = MatRef::new(&tile, shape.0, shape.1)?;
                let result = turn.take(|| visit(i, j, view, space));
                space.tile = tile;
                result
            })
        })?;
        watch.step(stage, order.len(), order.len())
    }
}

fn copy_entries<T: Real>(
    points: Points<'_, T>,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    out: &mut [T],
) {
    let mut buffer = vec![T::ZERO; points.n_cols()];
    for (row, out) in rows.zip(out.chunks_mut(columns.len().max(1))) {
        if let Points::Dense(m) = points {
            out.copy_from_slice(&m.row(row)[columns.clone()]);
        } else {
            points.copy_row(row, &mut buffer);
            out.copy_from_slice(&buffer[columns.clone()]);
        }
    }
}

/// A block of vectors in the precision of the tiles: as it is, or rounded once for all tiles.
pub(super) fn rounded<'a, T: Real>(v: MatRef<'a, f64>, space: &'a mut Matrix<T>) -> Result<MatRef<'a, T>> {
    if let Some(buffer) = T::from_f64(v.buffer()) {
        return MatRef::strided(buffer, v.n_rows(), v.n_cols(), v.row_stride());
    }
    let numbers = (0..v.n_rows()).flat_map(|i| v.row(i)).map(|x| T::of(*x));
    let numbers = collected(v.n_rows() * v.n_cols(), numbers);
    *space = Matrix::from_vec(numbers, v.n_rows(), v.n_cols())?;
    Ok(space.view())
}

/// y ← y + P·v, P in tile precision and y in double precision.
pub(super) fn accumulate<T: Real>(
    tile: Factor<'_, T>,
    v: MatRef<'_, T>,
    mut y: MatMut<'_, f64>,
    product: &mut Vec<T>,
) -> Result<()> {
    let (Factor::Plain(m) | Factor::Transposed(m)) = tile;
    if let (Some(numbers), Some(vectors)) = (T::as_f64(m.buffer()), T::as_f64(v.buffer())) {
        let m = MatRef::strided(numbers, m.n_rows(), m.n_cols(), m.row_stride())?;
        let v = MatRef::strided(vectors, v.n_rows(), v.n_cols(), v.row_stride())?;
        let tile = if matches!(tile, Factor::Plain(_)) { Factor::Plain(m) } else { Factor::Transposed(m) };
        gemm(y, Onto::Add, 1.0, tile, Factor::Plain(v));
        return Ok(());
    }
    let (n, b) = (y.n_rows(), v.n_cols());
    resize(product, n * b, T::ZERO);
    gemm(MatMut::strided(product, n, b, b)?, Onto::Replace, 1.0, tile, Factor::Plain(v));
    for (i, product) in product.chunks(b.max(1)).enumerate().take(n) {
        y.row_mut(i).iter_mut().zip(product).for_each(|(y, p)| *y += p.f64());
    }
    Ok(())
}

impl<T: Real> LinearOperator for SymmetricGram<T> {
    fn n_rows(&self) -> usize {
        self.samples.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.samples.n_rows()
    }

    fn unit_roundoff(&self) -> f64 {
        T::UNIT_ROUNDOFF
    }

    fn apply(&self, block: MatRef<'_, f64>, out: MatMut<'_, f64>, watch: &Watch) -> Result<()> {
        self.multiply(block, out, None, watch)
    }

    fn to_dense(&self, watch: &Watch) -> Result<Matrix<f64>> {
        let n = self.n_rows();
        let mut dense = Matrix::try_zeros(n, n)?;
        let bands: Vec<Mutex<MatMut<'_, f64>>> =
            dense.view_mut().row_chunks(BLOCK_ROWS).into_iter().map(Mutex::new).collect();
        self.sweep("Gram matrix", watch, |i, j, tile, _| {
            let (columns, rows) = (block_rows(j, n), block_rows(i, n));
            for a in 0..tile.n_rows() {
                let mut band = lock(&bands[i]);
                let out = &mut band.row_mut(a)[columns.clone()];
                out.iter_mut().zip(tile.row(a)).for_each(|(o, x)| *o = x.f64());
            }
            if i != j {
                let mut band = lock(&bands[j]);
                for b in 0..tile.n_cols() {
                    let out = &mut band.row_mut(b)[rows.clone()];
                    out.iter_mut().enumerate().for_each(|(a, o)| *o = tile.row(a)[b].f64());
                }
            }
            Ok(())
        })?;
        drop(bands);
        Ok(dense)
    }
}

/// What a block of rows collects for the summary.
#[derive(Clone, Default)]
struct BlockSums {
    rows: Vec<f64>,
    squares: f64,
}

impl<T: Real> GramOperator for SymmetricGram<T> {
    fn diagonal(&self, out: &mut [f64]) -> Result<()> {
        let points = self.samples.points();
        match &self.similarity {
            Similarity::Kernel(kernel) => kernel.diagonal(points, out),
            Similarity::Precomputed => {
                let mut row = vec![0.0; points.n_cols()];
                for (i, value) in out.iter_mut().enumerate() {
                    points.copy_row(i, &mut row);
                    *value = row[i];
                }
            }
        }
        // Why: the entry as the tiles hold it, rounded to their precision.
        out.iter_mut().for_each(|x| *x = T::of(*x).f64());
        Ok(())
    }

    fn corner(&self, indices: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        let chosen = self.samples.gather(indices);
        let m = indices.len();
        let mut tile = zeroed(m * m);
        match &self.similarity {
            Similarity::Kernel(kernel) => {
                kernel.tile(chosen.points(), chosen.points(), &mut tile, &mut Default::default());
                let mut diagonal = vec![0.0; m];
                kernel.diagonal(chosen.points(), &mut diagonal);
                diagonal.iter().enumerate().for_each(|(a, value)| tile[a * m + a] = T::of(*value));
            }
            Similarity::Precomputed => {
                let mut line = vec![T::ZERO; self.samples.n_rows()];
                for a in 0..m {
                    chosen.points().copy_row(a, &mut line);
                    indices.iter().enumerate().for_each(|(b, j)| tile[a * m + b] = line[*j]);
                }
            }
        }
        for a in 0..m {
            let row = &tile[a * m..(a + 1) * m];
            out.row_mut(a).iter_mut().zip(row).for_each(|(o, x)| *o = x.f64());
        }
        Ok(())
    }

    fn columns(&self, indices: &[usize], out: MatMut<'_, f64>) -> Result<()> {
        let points = self.samples.points();
        let n = points.n_rows();
        let chosen = self.samples.gather(indices);
        let mut diagonal = vec![0.0; indices.len()];
        if let Similarity::Kernel(kernel) = &self.similarity {
            kernel.diagonal(chosen.points(), &mut diagonal);
        }
        out.row_chunks(BLOCK_ROWS).into_par_iter().enumerate().try_for_each(|(block, mut out)| {
            let rows = block_rows(block, n);
            self.scratch.with(|space| {
                resize(&mut space.tile, rows.len() * indices.len(), T::ZERO);
                match &self.similarity {
                    Similarity::Kernel(kernel) => {
                        let x = points.rows(rows.clone());
                        kernel.tile(x, chosen.points(), &mut space.tile, &mut space.kernel);
                    }
                    // The matrix is symmetric: entry (row, index) stands in the gathered row of that index.
                    Similarity::Precomputed => {
                        let mut line = vec![T::ZERO; n];
                        for at in 0..indices.len() {
                            chosen.points().copy_row(at, &mut line);
                            rows.clone().enumerate().for_each(|(a, row)| {
                                space.tile[a * indices.len() + at] = line[row];
                            });
                        }
                    }
                }
                for (a, row) in rows.enumerate() {
                    let tile = &space.tile[a * indices.len()..(a + 1) * indices.len()];
                    for (at, (o, x)) in out.row_mut(a).iter_mut().zip(tile).enumerate() {
                        let exact = indices[at] == row && matches!(self.similarity, Similarity::Kernel(_));
                        *o = if exact { T::of(diagonal[at]).f64() } else { x.f64() };
                    }
                }
                Ok(())
            })
        })
    }

    fn apply_and_sum(
        &self,
        block: MatRef<'_, f64>,
        out: MatMut<'_, f64>,
        watch: &Watch,
    ) -> Result<GramSummary> {
        let sums = self.block_sums();
        self.multiply(block, out, Some(&sums), watch)?;
        self.summarise(&sums)
    }

    fn summary(&self, watch: &Watch) -> Result<GramSummary> {
        let n = self.n_rows();
        let sums = self.block_sums();
        self.sweep("Gram matrix", watch, |i, j, tile, _| {
            let mut down = vec![0.0; tile.n_cols()];
            let mut squares = 0.0;
            let mut own = lock(&sums[i]);
            for a in 0..tile.n_rows() {
                let row = tile.row(a);
                let (sum, square) = sum_and_squares(row);
                if !sum.is_finite() {
                    return Err(not_finite(block_rows(i, n).start + a, block_rows(j, n).start, row));
                }
                own.rows[a] += sum;
                squares += square;
                if i != j {
                    down.iter_mut().zip(row).for_each(|(d, x)| *d += x.f64());
                }
            }
            own.squares += if i == j { squares } else { 2.0 * squares };
            drop(own);
            if i != j {
                lock(&sums[j]).rows.iter_mut().zip(&down).for_each(|(s, d)| *s += d);
            }
            Ok(())
        })?;
        self.summarise(&sums)
    }

    fn release(&mut self) {
        self.tiles = None;
        self.scratch = Scratch::default();
    }
}

impl<T: Real> SymmetricGram<T> {
    fn block_sums(&self) -> Vec<Mutex<BlockSums>> {
        let n = self.samples.n_rows();
        let empty = |b: usize| BlockSums { rows: vec![0.0; block_rows(b, n).len()], squares: 0.0 };
        (0..self.n_blocks()).map(|b| Mutex::new(empty(b))).collect()
    }

    fn summarise(&self, sums: &[Mutex<BlockSums>]) -> Result<GramSummary> {
        let n = self.samples.n_rows();
        let sums: Vec<BlockSums> = sums.iter().map(|s| lock(s).clone()).collect();
        let row_means: Vec<f64> = sums.iter().flat_map(|s| s.rows.iter().map(|x| x / n as f64)).collect();
        let mut diagonal = vec![0.0; n];
        self.diagonal(&mut diagonal)?;
        Ok(GramSummary {
            grand_mean: row_means.iter().sum::<f64>() / n.max(1) as f64,
            row_means,
            trace: diagonal.iter().sum(),
            squared_norm: sums.iter().map(|s| s.squares).sum(),
        })
    }
}

/// Adds the sums of a tile's rows to `across`, of its columns to `down` and of its squares to `squares`.
pub(super) struct TileSums<'a, T> {
    pub(super) tile: MatRef<'a, T>,
    pub(super) across: &'a mut [f64],
    pub(super) down: &'a mut [f64],
    pub(super) squares: &'a mut f64,
}

impl<T: Real> Vectorised for TileSums<'_, T> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (a, across) in self.across.iter_mut().enumerate() {
            let row = self.tile.row(a);
            let (sum, squares) = sum_and_squares(row);
            *across += sum;
            *self.squares += squares;
            self.down.iter_mut().zip(row).for_each(|(d, x)| *d += x.f64());
        }
    }
}

/// Sum and sum of squares of a row, eight running sums each so that the compiler can use vectors.
#[inline(always)]
fn sum_and_squares<T: Real>(row: &[T]) -> (f64, f64) {
    let (mut sums, mut squares) = ([0.0f64; 8], [0.0f64; 8]);
    let strips = row.chunks_exact(8);
    let rest = strips.remainder();
    for strip in strips {
        for lane in 0..8 {
            let x = strip[lane].f64();
            sums[lane] += x;
            squares[lane] += x * x;
        }
    }
    for (lane, x) in rest.iter().enumerate() {
        sums[lane] += x.f64();
        squares[lane] += x.f64() * x.f64();
    }
    (sums.iter().sum(), squares.iter().sum())
}

fn not_finite<T: Real>(row: usize, first_column: usize, values: &[T]) -> Error {
    let at = values.iter().position(|x| !x.finite()).unwrap_or(0);
    Error::kernel(
        format!("the kernel of rows {} and {} is {}", row + 1, first_column + at + 1, values[at]),
        "kernel values must be finite",
        "Scale the data down or change the kernel's parameters",
    )
}
