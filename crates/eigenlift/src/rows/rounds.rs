//! Randomly pivoted Cholesky of rows that lie elsewhere, in rounds of many candidates, (K25), (K26).

use super::{Partitions, PivotDraw, Pivots};
use crate::data::AnySamples;
use crate::error::{Error, Result};
use crate::features::{Against, Features, LandmarkFeatures, RowFeatures, dot, draws_at_a_time, reject};
use crate::kernel::Kernel;
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};

/// The pivots that the same draws give on one machine, whatever the partitions.
///
/// A round asks each partition what the landmarks so far leave out of its rows, draws candidates by these sums, has the
/// partitions find them, and lets a Cholesky of the candidates among themselves decide which stay.
///
/// Why features anew in each round: nothing has to live on a machine between rounds. Cost: about 4·n·m² + 11·n·m·d flops for n rows of the
/// sample and m landmarks, in 10 to 15 rounds; b·d numbers up and m(d + m) down in each.
pub(super) fn pivots_of_partitions(
    partitions: &dyn Partitions,
    kernel: &Kernel,
    draw: &PivotDraw<'_>,
) -> Result<Pivots> {
    let n = draw.sample.map_or(partitions.n_rows(), <[usize]>::len);
    let rank = draw.stop.rank.min(n);
    let mut random = Stream::new(draw.seed, Purpose::Pivots);
    partitions.begin_rounds(draw.sample)?;
    let mut rounds = Rounds {
        kernel,
        single: partitions.precision() == "f32",
        rows: Matrix::zeros(0, partitions.n_cols()),
        root: Matrix::zeros(0, 0),
        pivots: Vec::new(),
        spent: Vec::new(),
    };
    let mut left = rounds.left_out(partitions)?;
    let whole: f64 = left.iter().sum();
    while rounds.pivots.len() < rank && left.iter().sum::<f64>() > draw.stop.complete() * whole {
        draw.watch.step("landmarks", rounds.pivots.len(), rank)?;
        let targets = targets(&left, draws_at_a_time(rank), &mut random);
        let found = partitions.locate(&targets)?;
        let shape = (found.rows.len(), found.entries.n_rows(), found.entries.n_cols());
        if shape != (targets.len(), targets.len(), partitions.n_cols()) {
            return Err(Error::data(
                format!("{} rows of {} columns for {} places", shape.1, shape.2, targets.len()),
                format!("there must be one of {} columns for each", partitions.n_cols()),
                "The rows must stay the same while they are read",
            ));
        }
        let mut candidates: Vec<(usize, usize)> = Vec::new();
        for (at, row) in found.rows.iter().enumerate() {
            let Some(row) = row else { continue };
            if candidates.iter().all(|(_, known)| known != row) {
                candidates.push((at, *row));
            }
        }
        rounds.take(&candidates, &found.entries, rank, &mut random)?;
        left = rounds.left_out(partitions)?;
    }
    let landmarks = rounds.samples(rounds.rows.clone());
    Ok(Pivots { rows: rounds.pivots, landmarks, root: rounds.root })
}

/// Pieces and places within them, drawn in proportion to what is left of them.
fn targets(left: &[f64], count: usize, random: &mut Stream) -> Vec<(usize, f64)> {
    let mut running = Vec::with_capacity(left.len());
    let mut total = 0.0;
    for sum in left {
        total += sum;
        running.push(total);
    }
    (0..count)
        .map(|_| {
            let target = random.uniform() * total;
            let partition = running.partition_point(|sum| *sum <= target).min(left.len().saturating_sub(1));
            let before = if partition == 0 { 0.0 } else { running[partition - 1] };
            (partition, (target - before).max(0.0))
        })
        .collect()
}

/// Landmarks so far.
struct Rounds<'a> {
    kernel: &'a Kernel,
    single: bool,
    rows: Matrix<f64>,
    root: Matrix<f64>,
    pivots: Vec<usize>,
    /// Rows that are not drawn any more.
    spent: Vec<usize>,
}

impl Rounds<'_> {
    /// Rows in the precision of the data.
    fn samples(&self, rows: Matrix<f64>) -> AnySamples {
        let rows: AnySamples = rows.into();
        if self.single { rows.to_single() } else { rows }
    }

    fn features(&self) -> LandmarkFeatures {
        let landmarks = self.samples(self.rows.clone());
        LandmarkFeatures::with_root(
            Against::Rows { kernel: self.kernel.clone(), landmarks },
            self.root.clone(),
        )
    }

    fn left_out(&self, partitions: &dyn Partitions) -> Result<Vec<f64>> {
        let features = RowFeatures::new(Features::Landmarks(self.features()), 0);
        let left = partitions.left_out(&features, &self.spent)?;
        match left.iter().position(|sum| !sum.is_finite()) {
            None => Ok(left),
            Some(partition) => Err(Error::data(
                format!(
                    "kernel values k(x,x) whose sum is not finite, in part {partition} of the rows (counted from 0)"
                ),
                "kernel values must stay within double precision",
                "Look for entries of extreme size, or change the kernel's parameters",
            )),
        }
    }

    /// Lets the candidates, given by their place among `entries` and their number, become landmarks or not.
    fn take(
        &mut self,
        candidates: &[(usize, usize)],
        entries: &Matrix<f64>,
        rank: usize,
        random: &mut Stream,
    ) -> Result<()> {
        let (b, d, m) = (candidates.len(), entries.n_cols(), self.pivots.len());
        let rows = self.samples(Matrix::from_fn(b, d, |i, j| entries[(candidates[i].0, j)]));
        let features = self.features().rows(rows.points(), 0, &Watch::default())?.features;
        let mut own = vec![0.0; b];
        let mut corner = match &rows {
            AnySamples::F32(x) => {
                self.kernel.diagonal(x.points(), &mut own);
                self.kernel.matrix(x.points(), x.points())
            }
            AnySamples::F64(x) => {
                self.kernel.diagonal(x.points(), &mut own);
                self.kernel.matrix(x.points(), x.points())
            }
        };
        for i in 0..b {
            corner[(i, i)] = own[i];
            (0..b).for_each(|j| corner[(i, j)] -= dot(features.row(i), features.row(j)));
        }
        let (kept, lower) = reject(&corner, &own, rank - m, random);
        if kept.is_empty() {
            // Every candidate was a combination of earlier pivots: what is left of the diagonal is rounding there.
            self.spent.extend(candidates.iter().map(|(_, row)| *row));
            return Ok(());
        }
        let grown = m + kept.len();
        self.root = Matrix::from_fn(grown, grown, |i, j| match (i.checked_sub(m), j.checked_sub(m)) {
            (None, None) => self.root[(i, j)],
            (None, Some(_)) => 0.0,
            (Some(i), None) => features[(kept[i], j)],
            (Some(i), Some(j)) => lower[(i, j)],
        });
        self.rows = Matrix::from_fn(grown, d, |i, j| match i.checked_sub(m) {
            None => self.rows[(i, j)],
            Some(i) => entries[(candidates[kept[i]].0, j)],
        });
        let accepted = kept.iter().map(|at| candidates[*at].1);
        self.spent.extend(accepted.clone());
        self.pivots.extend(accepted);
        Ok(())
    }
}
