//! Lloyd's iteration on features: rows to their nearest centre, centres to the mean of their rows, (C41).

use super::rows::Rows;
use super::seeds::{SAME, seeds};
use crate::error::{Error, Result};
use crate::features::dot;
use crate::linalg::{Factor, Onto, gemm};
use crate::matrix::{MatRef, Matrix};
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// Rows that one thread assigns at a time.
const PIECE_ROWS: usize = 256;
/// Columns that one thread sums at a time.
const PIECE_COLUMNS: usize = 128;

/// What a run of the iteration needs to know.
pub(super) struct Lloyd<'a> {
    pub(super) clusters: usize,
    pub(super) max_steps: usize,
    pub(super) watch: &'a Watch,
}

/// What a run leaves.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// A row for each cluster.
    pub(super) centres: Matrix<f64>,
    pub(super) labels: Vec<u32>,
    /// Σ‖f − c‖².
    pub(super) inertia: f64,
    pub(super) steps: usize,
    pub(super) converged: bool,
}

/// Rows and their nearest centres.
struct Assigned {
    labels: Vec<u32>,
    /// ‖f − c‖² of each row.
    squares: Vec<f64>,
    sums: Sums,
}

/// Σf over the rows of each cluster.
struct Sums {
    sizes: Vec<usize>,
    /// Columns side by side, so that threads can share the work and the order of sums stays the same.
    blocks: Vec<Matrix<f64>>,
}

impl Lloyd<'_> {
    /// The best of several starts, made on `sample` and continued on all rows where there is one.
    pub(super) fn best_of(
        &self,
        rows: &Rows<'_>,
        sample: Option<&Matrix<f64>>,
        starts: usize,
        seed: u64,
    ) -> Result<Outcome> {
        let on = match (sample, rows) {
            (Some(sample), _) => sample,
            (None, Rows::Held(all)) => *all,
            (None, Rows::Read(_)) => return Err(no_rows_held()),
        };
        let silent = self.watch.silent();
        let quiet = Lloyd { clusters: self.clusters, max_steps: self.max_steps, watch: &silent };
        let mut best: Option<Outcome> = None;
        for start in 0..starts {
            self.watch.step("k-means starts", start, starts)?;
            let mut random = Stream::numbered(seed, Purpose::ClusterStarts, start as u32);
            let centres = seeds(on, self.clusters, &mut random, self.watch)?;
            let outcome = quiet.run(&Rows::Held(on), centres)?;
            if best.as_ref().is_none_or(|best| outcome.inertia < best.inertia) {
                best = Some(outcome);
            }
        }
        let best = best.ok_or_else(no_rows_held)?;
        if sample.is_some() { self.run(rows, best.centres) } else { Ok(best) }
    }

    /// One run from clusters that are given.
    pub(super) fn run_from(&self, rows: &Rows<'_>, labels: &[u32]) -> Result<Outcome> {
        let sums = Sums::of(rows, self.clusters, labels)?;
        self.run(rows, sums.means(None))
    }

    fn run(&self, rows: &Rows<'_>, mut centres: Matrix<f64>) -> Result<Outcome> {
        let mut labels = Vec::new();
        for step in 0..self.max_steps {
            self.watch.step("k-means steps", step, self.max_steps)?;
            let assigned = self.assign(rows, &centres)?;
            if assigned.labels == labels {
                let inertia = assigned.squares.iter().sum();
                return Ok(Outcome { centres, labels, inertia, steps: step, converged: true });
            }
            centres = assigned.sums.means(Some(&centres));
            labels = assigned.labels;
        }
        let last = self.assign(rows, &centres)?;
        let converged = last.labels == labels;
        let inertia = last.squares.iter().sum();
        Ok(Outcome { centres, labels: last.labels, inertia, steps: self.max_steps, converged })
    }

    /// Each row goes to its nearest centre, the first of equals; a cluster without rows takes the row that is furthest from
    /// its centre. When every row is at its centre, there are fewer different rows than clusters, and it stays empty.
    ///
    /// Cost: 2·n·m·(clusters + 1) flops.
    fn assign(&self, rows: &Rows<'_>, centres: &Matrix<f64>) -> Result<Assigned> {
        let nearest = Nearest::new(centres);
        let mut assigned = Assigned {
            labels: Vec::with_capacity(rows.n_rows()),
            squares: Vec::with_capacity(rows.n_rows()),
            sums: Sums::empty(self.clusters, rows.dimension()),
        };
        rows.each(&mut |first, features| {
            self.watch.check()?;
            for (label, square) in nearest.of(features) {
                assigned.labels.push(label);
                assigned.squares.push(square);
            }
            assigned.sums.add(features, &assigned.labels[first..]);
            Ok(())
        })?;
        if assigned.sums.sizes.contains(&0) {
            self.fill_empty(&mut assigned);
            assigned.sums = Sums::of(rows, self.clusters, &assigned.labels)?;
        }
        Ok(assigned)
    }

    fn fill_empty(&self, assigned: &mut Assigned) {
        let Assigned { labels, squares, sums } = assigned;
        let mut order: Vec<usize> = (0..labels.len()).filter(|i| squares[*i] > 0.0).collect();
        order.sort_by(|a, b| squares[*b].total_cmp(&squares[*a]));
        let mut furthest = order.into_iter();
        for cluster in 0..self.clusters {
            if sums.sizes[cluster] > 0 {
                continue;
            }
            let Some(row) = furthest.by_ref().find(|i| sums.sizes[labels[*i] as usize] > 1) else { return };
            sums.sizes[labels[row] as usize] -= 1;
            sums.sizes[cluster] = 1;
            labels[row] = cluster as u32;
            squares[row] = 0.0;
        }
    }
}

fn no_rows_held() -> Error {
    Error::memory(
        "no features that starts could be made on",
        "the features of some rows must be held",
        "Use fewer landmarks, or allow more memory",
    )
}

/// Centres to be compared with.
struct Nearest {
    /// A column for each centre.
    columns: Matrix<f64>,
    /// ‖c‖².
    squares: Vec<f64>,
}

impl Nearest {
    fn new(centres: &Matrix<f64>) -> Self {
        Self {
            columns: Matrix::from_fn(centres.n_cols(), centres.n_rows(), |j, c| centres[(c, j)]),
            squares: (0..centres.n_rows()).map(|c| dot(centres.row(c), centres.row(c))).collect(),
        }
    }

    /// The nearest centre of each row and the squared distance to it, ‖f‖² − 2⟨f,c⟩ + ‖c‖².
    fn of(&self, rows: MatRef<'_, f64>) -> Vec<(u32, f64)> {
        let n = rows.n_rows();
        let pieces = (0..n.div_ceil(PIECE_ROWS)).into_par_iter().map(|piece| {
            let own = rows.rows(piece * PIECE_ROWS..((piece + 1) * PIECE_ROWS).min(n));
            let mut products = Matrix::zeros(own.n_rows(), self.squares.len());
            let (left, right) = (Factor::Plain(own), Factor::Plain(self.columns.view()));
            gemm(products.view_mut(), Onto::Replace, 1.0, left, right);
            (0..own.n_rows()).map(|i| self.nearest(products.row(i), own.row(i))).collect::<Vec<_>>()
        });
        pieces.collect::<Vec<_>>().concat()
    }

    fn nearest(&self, products: &[f64], row: &[f64]) -> (u32, f64) {
        let mut best = (f64::INFINITY, 0);
        for (c, (product, square)) in products.iter().zip(&self.squares).enumerate() {
            let relative = square - 2.0 * product;
            if relative < best.0 {
                best = (relative, c);
            }
        }
        let norm = dot(row, row);
        let square = norm + best.0;
        let rounding = SAME * (norm + self.squares.get(best.1).copied().unwrap_or(0.0));
        (best.1 as u32, if square <= rounding { 0.0 } else { square })
    }
}

impl Sums {
    fn empty(clusters: usize, dimension: usize) -> Self {
        let width = |from: usize| PIECE_COLUMNS.min(dimension - from);
        let blocks = (0..dimension).step_by(PIECE_COLUMNS).map(|from| Matrix::zeros(clusters, width(from)));
        Self { sizes: vec![0; clusters], blocks: blocks.collect() }
    }

    fn of(rows: &Rows<'_>, clusters: usize, labels: &[u32]) -> Result<Self> {
        let mut sums = Self::empty(clusters, rows.dimension());
        rows.each(&mut |first, features| {
            sums.add(features, &labels[first..first + features.n_rows()]);
            Ok(())
        })?;
        Ok(sums)
    }

    fn add(&mut self, rows: MatRef<'_, f64>, labels: &[u32]) {
        labels.iter().for_each(|label| self.sizes[*label as usize] += 1);
        self.blocks.par_iter_mut().enumerate().for_each(|(block, sums)| {
            let from = block * PIECE_COLUMNS;
            let mut sums = sums.view_mut();
            for (i, label) in labels.iter().enumerate() {
                let sum = sums.row_mut(*label as usize);
                sum.iter_mut().zip(&rows.row(i)[from..]).for_each(|(sum, f)| *sum += f);
            }
        });
    }

    /// The mean of each cluster; one without rows keeps its former centre.
    fn means(&self, former: Option<&Matrix<f64>>) -> Matrix<f64> {
        let m = self.blocks.iter().map(Matrix::n_cols).sum();
        Matrix::from_fn(self.sizes.len(), m, |c, j| match (self.sizes[c], former) {
            (0, Some(former)) => former[(c, j)],
            (size, _) => self.blocks[j / PIECE_COLUMNS][(c, j % PIECE_COLUMNS)] / size.max(1) as f64,
        })
    }
}
