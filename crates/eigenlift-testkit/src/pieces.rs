//! Rows in memory, cut into partitions that are only ever asked for what the trait allows.

use eigenlift::data::AnySamples;
use eigenlift::engine::Cpu;
use eigenlift::error::{Error, Result};
use eigenlift::features::{FeatureSums, RowFeatures};
use eigenlift::gram::Pair;
use eigenlift::kernel::Kernel;
use eigenlift::matrix::{MatRef, Matrix};
use eigenlift::methods::pca::PcaStream;
use eigenlift::progress::Watch;
use eigenlift::rows::{Fitted, Found, GramPass, Partitions, RowSums, centered_product};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A sample of rows in each piece, and what is left of each row.
#[derive(Default)]
struct Round {
    sample: Vec<Vec<usize>>,
    left: Vec<Vec<f64>>,
}

/// Rows cut into pieces.
pub struct Cut {
    pieces: Vec<AnySamples>,
    starts: Vec<usize>,
    round: Mutex<Round>,
    rounds: AtomicUsize,
    gathered: AtomicUsize,
}

fn failed(what: &str) -> Error {
    Error::Source(what.into())
}

impl Cut {
    /// Cuts before the rows named.
    pub fn new(x: &AnySamples, cuts: &[usize]) -> Self {
        let mut starts = vec![0];
        starts.extend_from_slice(cuts);
        let ends = cuts.iter().copied().chain([x.n_rows()]);
        let pieces =
            starts.iter().zip(ends).map(|(from, to)| x.gather(&(*from..to).collect::<Vec<_>>())).collect();
        starts.push(x.n_rows());
        let (round, rounds, gathered) = Default::default();
        Self { pieces, starts, round, rounds, gathered }
    }

    /// How often what is left was asked for.
    pub fn rounds(&self) -> usize {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Rows that left their piece.
    pub fn gathered(&self) -> usize {
        self.gathered.load(Ordering::Relaxed)
    }

    fn piece_of(&self, row: usize) -> (usize, usize) {
        let piece = self.starts.partition_point(|start| *start <= row) - 1;
        (piece, row - self.starts[piece])
    }

    fn row(&self, row: usize, out: &mut [f64]) {
        let (piece, at) = self.piece_of(row);
        self.pieces[piece].points().copy_row(at, out);
    }

    fn in_precision(&self, piece: usize, single: bool) -> AnySamples {
        if single { self.pieces[piece].to_single() } else { self.pieces[piece].clone() }
    }

    fn part(&self, block: MatRef<'_, f64>, piece: usize) -> Matrix<f64> {
        block.rows(self.starts[piece]..self.starts[piece + 1]).to_matrix()
    }
}

/// Merges neighbours, level by level.
fn tree<T>(mut parts: Vec<T>, merge: impl Fn(&mut T, &T) -> Result<()>) -> Result<T> {
    while parts.len() > 1 {
        let mut next = Vec::new();
        let mut rest = parts.into_iter();
        while let Some(mut first) = rest.next() {
            if let Some(second) = rest.next() {
                merge(&mut first, &second)?;
            }
            next.push(first);
        }
        parts = next;
    }
    parts.pop().ok_or_else(|| failed("no pieces"))
}

impl Partitions for Cut {
    fn n_rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn n_cols(&self) -> usize {
        self.pieces[0].n_cols()
    }

    fn precision(&self) -> &'static str {
        self.pieces[0].precision()
    }

    fn place(&self) -> String {
        format!("{} pieces in memory", self.pieces.len())
    }

    fn gather(&self, rows: &[usize]) -> Result<Matrix<f64>> {
        assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows must ascend");
        self.gathered.fetch_add(rows.len(), Ordering::Relaxed);
        let mut out = Matrix::zeros(rows.len(), self.n_cols());
        rows.iter().enumerate().for_each(|(i, row)| self.row(*row, out.view_mut().row_mut(i)));
        Ok(out)
    }

    fn row_sums(&self, empty: RowSums) -> Result<RowSums> {
        // What is sent is a stream that rows are added to.
        let stream = PcaStream::of_sums(empty, Arc::new(Cpu::new(1)?));
        let parts: Result<Vec<PcaStream>> = self
            .pieces
            .iter()
            .map(|piece| {
                let mut sums = stream.clone();
                sums.partial_fit(piece.points()).map(|()| sums)
            })
            .collect();
        tree(parts?, PcaStream::merge).map(PcaStream::into_sums)
    }

    fn centered_product(&self, center: &[f64], block: MatRef<'_, f64>) -> Result<Matrix<f64>> {
        let parts: Result<Vec<Matrix<f64>>> =
            self.pieces.iter().map(|piece| centered_product(piece.points(), None, center, block)).collect();
        tree(parts?, |into, part| {
            into.as_mut_slice().iter_mut().zip(part.as_slice()).for_each(|(a, b)| *a += b);
            Ok(())
        })
    }

    fn feature_sums(&self, features: &RowFeatures) -> Result<FeatureSums> {
        // What is sent is made again from its parts.
        let (parts, by_kernel) = features.parts()?;
        let sent = RowFeatures::from_parts(parts, by_kernel)?;
        let sums: Result<Vec<FeatureSums>> = self
            .pieces
            .iter()
            .zip(&self.starts)
            .map(|(piece, first)| sent.sums(piece.points(), *first, &Watch::default()))
            .collect();
        tree(sums?, FeatureSums::merge)
    }

    fn begin_rounds(&self, sample: Option<&[usize]>) -> Result<()> {
        let all: Vec<usize> = (0..self.n_rows()).collect();
        let mut round = Round { sample: vec![Vec::new(); self.pieces.len()], left: Vec::new() };
        sample.unwrap_or(&all).iter().for_each(|row| round.sample[self.piece_of(*row).0].push(*row));
        *self.round.lock().map_err(|_| failed("poisoned"))? = round;
        Ok(())
    }

    fn left_out(&self, features: &RowFeatures, spent: &[usize]) -> Result<Vec<f64>> {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        let mut round = self.round.lock().map_err(|_| failed("poisoned"))?;
        let left: Result<Vec<Vec<f64>>> = round
            .sample
            .iter()
            .enumerate()
            .map(|(piece, rows)| {
                let places: Vec<usize> = rows.iter().map(|row| row - self.starts[piece]).collect();
                let taken = self.pieces[piece].gather(&places);
                let mut left = features.left_out(taken.points(), &Watch::default())?;
                left.iter_mut().zip(rows).filter(|(_, row)| spent.contains(row)).for_each(|(l, _)| *l = 0.0);
                Ok(left)
            })
            .collect();
        round.left = left?;
        Ok(round.left.iter().map(|left| left.iter().sum()).collect())
    }

    fn locate(&self, targets: &[(usize, f64)]) -> Result<Found> {
        let round = self.round.lock().map_err(|_| failed("poisoned"))?;
        let (mut rows, mut entries) = (Vec::new(), Matrix::zeros(targets.len(), self.n_cols()));
        for (i, (piece, target)) in targets.iter().enumerate() {
            let (left, mut running) = (&round.left[*piece], 0.0);
            let at = left.iter().position(|l| {
                running += l;
                running > *target
            });
            let at = at.unwrap_or(left.len() - 1);
            let row = round.sample[*piece][at];
            rows.push((left[at] > 0.0).then_some(row));
            self.row(row, entries.view_mut().row_mut(i));
        }
        self.gathered.fetch_add(targets.len(), Ordering::Relaxed);
        Ok(Found { rows, entries })
    }

    fn gram_pass(&self, kernel: &Kernel, block: MatRef<'_, f64>, single: bool) -> Result<GramPass> {
        let n = self.n_rows();
        let mut pass =
            GramPass { product: Matrix::zeros(n, block.n_cols()), row_sums: vec![0.0; n], squared_norm: 0.0 };
        for i in 0..self.pieces.len() {
            for j in i..self.pieces.len() {
                let (x, y) = (self.in_precision(i, single), self.in_precision(j, single));
                let (a, b) = (self.part(block, i), self.part(block, j));
                let pair = Pair { x: (&x, a.view()), y: (&y, b.view()) };
                let found = pair.products(kernel, &Watch::default())?;
                add(&mut pass, self.starts[i], &found.across, &found.row_sums);
                pass.squared_norm += found.squares;
                if i != j {
                    add(&mut pass, self.starts[j], &found.down, &found.column_sums);
                    pass.squared_norm += found.squares;
                }
            }
        }
        Ok(pass)
    }

    fn kernel_columns(&self, kernel: &Kernel, with: &Matrix<f64>, single: bool) -> Result<Matrix<f64>> {
        let values = |i: usize, j: usize| {
            let mut row = vec![0.0; self.n_cols()];
            self.row(i, &mut row);
            let value = kernel.pair(&row, with.row(j));
            if single { f64::from(value as f32) } else { value }
        };
        Ok(Matrix::from_fn(self.n_rows(), with.n_rows(), values))
    }

    fn kernel_diagonal(&self, kernel: &Kernel, _: bool) -> Result<Vec<f64>> {
        let mut row = vec![0.0; self.n_cols()];
        Ok((0..self.n_rows())
            .map(|i| {
                self.row(i, &mut row);
                kernel.pair(&row, &row)
            })
            .collect())
    }

    fn project(&self, model: &dyn Fitted) -> Result<Matrix<f64>> {
        let mut numbers = Vec::new();
        for piece in &self.pieces {
            numbers.extend(model.project(piece.points(), &Watch::default())?.into_vec());
        }
        Matrix::from_vec(numbers, self.n_rows(), model.n_outputs())
    }
}

fn add(pass: &mut GramPass, first: usize, product: &Matrix<f64>, sums: &[f64]) {
    let mut out = pass.product.view_mut();
    for (i, sum) in sums.iter().enumerate() {
        out.row_mut(first + i).iter_mut().zip(product.row(i)).for_each(|(o, p)| *o += p);
        pass.row_sums[first + i] += sum;
    }
}
