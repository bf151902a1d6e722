//! Neighbours of neighbours: an approximate search, and its recall.

use super::best::Found;
use super::forest::{Grouping, forest};
use super::rows::{Frame, Job, check_finite, placed};
use super::{Metric, Reach, brute};
use crate::data::AnySamples;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::random::{Purpose, Stream};
use crate::simd::{Vectorised, dispatch};
use rayon::prelude::*;

/// Trees of random planes for the start.
const TREES: u32 = 6;
/// Rounds at most.
const ROUNDS: usize = 12;
/// The search ends when less than this share of all neighbours is new.
const STILL: f64 = 0.001;
/// Rows that one thread handles at a time.
const PIECE: usize = 128;
/// Rows on which the recall is measured.
const RECALL_ROWS: usize = 1000;

/// A neighbour in a list: its distance in single precision, its number, and whether it came in the last round.
type Entry = (f32, u32, bool);

/// Approximate neighbours, (G3): rows of the same leaves of random trees to begin with, and then in rounds the neighbours of
/// neighbours, those that name a row counted among its neighbours, for as long as lists improve. Rounds read the lists of the
/// round before, so the order of work does not matter. Final distances are those of the formula.
///
/// Cost: about n·(2k)²·d flops for the first round, less for each that follows. Memory: the samples in single precision.
///
/// # Errors
/// When the work is cancelled or a distance is not finite.
pub(super) fn search(job: &Job<'_>, seed: u64) -> Result<Vec<Vec<Found>>> {
    let Reach::Nearest(k) = job.reach else { return brute::search(job) };
    // Rows whose squares are extreme are searched exactly.
    let Some(frame) = Frame::new(job) else { return brute::search(job) };
    let rows = placed(job.samples, &frame);
    // Lists are longer than asked for: neighbours of neighbours then reach further.
    let net = Net {
        rows: &rows,
        absolute: job.metric == Metric::Manhattan,
        k: (k + k / 2).max(15).min(rows.n_rows() - 1),
    };
    let groupings = forest(&rows, TREES, (2 * k).clamp(24, 64), seed, job.watch)?;
    let mut lists = net.start(&groupings, job)?;
    for round in 0..ROUNDS {
        job.watch.step("neighbours of neighbours", round, ROUNDS)?;
        let (next, changes) = net.round(&lists, job)?;
        lists = next;
        if (changes as f64) < STILL * (rows.n_rows() * net.k) as f64 {
            break;
        }
    }
    let found = job.in_blocks(PIECE, |range| {
        let d = job.samples.n_cols();
        let (mut row, mut buffer) = (vec![0.0; d], vec![0.0; d]);
        let exact = range.map(|i| {
            job.rows.copy_row(i, &mut row);
            job.nearest_of(i, &row, lists[i].iter().map(|entry| entry.1), &mut buffer)
        });
        Ok(exact.collect::<Vec<_>>())
    })?;
    let found = found.concat();
    check_finite(&found)?;
    Ok(found)
}

/// The share of neighbours that are as near as the true ones, on up to 1000 rows drawn at random.
///
/// Cost: 2·1000·n·d flops.
///
/// # Errors
/// When the work is cancelled or a distance is not finite.
pub(super) fn recall(job: &Job<'_>, samples: &AnySamples, lists: &[Vec<Found>], seed: u64) -> Result<f64> {
    let drawn = Stream::new(seed, Purpose::Recall).rows(lists.len(), RECALL_ROWS);
    let some = samples.gather(&drawn);
    let themselves = Some(drawn.iter().map(|i| *i as u32).collect());
    let exact = brute::search(&Job { rows: some.points(), themselves, samples: job.samples, ..*job })?;
    let (mut hits, mut total) = (0, 0);
    for (i, truth) in drawn.iter().zip(&exact) {
        let last = truth.last().map_or(0.0, |found| found.0);
        hits += lists[*i].iter().filter(|found| found.0 <= last).count();
        total += truth.len();
    }
    Ok(if total == 0 { 1.0 } else { hits as f64 / total as f64 })
}

/// Rows and the length of their lists.
struct Net<'a> {
    rows: &'a Matrix<f32>,
    absolute: bool,
    k: usize,
}

impl Net<'_> {
    fn start(&self, groupings: &[Grouping], job: &Job<'_>) -> Result<Vec<Vec<Entry>>> {
        let empty = vec![Vec::new(); self.rows.n_rows()];
        let (lists, _) = self.improve(&empty, job, |i, seen| {
            groupings.iter().for_each(|grouping| grouping.mates(i).iter().for_each(|j| seen.meet(*j)));
        })?;
        Ok(lists)
    }

    /// The next lists, and how many of their entries are new.
    fn round(&self, lists: &[Vec<Entry>], job: &Job<'_>) -> Result<(Vec<Vec<Entry>>, usize)> {
        let around = self.around(lists);
        self.improve(lists, job, |i, seen| {
            lists[i].iter().for_each(|entry| seen.pass(entry.1));
            for (u, fresh) in &around[i] {
                if *fresh {
                    seen.meet(*u);
                }
                for (v, also) in &around[*u as usize] {
                    if *fresh || *also {
                        seen.meet(*v);
                    }
                }
            }
        })
    }

    /// For each row its neighbours and the k nearest rows that name it, and whether that is new.
    fn around(&self, lists: &[Vec<Entry>]) -> Vec<Vec<(u32, bool)>> {
        let mut reverse: Vec<Vec<Entry>> = vec![Vec::new(); lists.len()];
        for (list, i) in lists.iter().zip(0u32..) {
            list.iter().for_each(|(distance, j, fresh)| reverse[*j as usize].push((*distance, i, *fresh)));
        }
        reverse
            .into_par_iter()
            .zip(lists)
            .map(|(mut reverse, list)| {
                reverse.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                reverse.truncate(self.k);
                let known: Vec<u32> = list.iter().map(|entry| entry.1).collect();
                let more = reverse.iter().filter(|entry| !known.contains(&entry.1));
                list.iter().chain(more).map(|entry| (entry.1, entry.2)).collect()
            })
            .collect()
    }

    /// Offers to each row's list what `meet` names.
    fn improve(
        &self,
        lists: &[Vec<Entry>],
        job: &Job<'_>,
        meet: impl Fn(usize, &mut Seen) + Sync,
    ) -> Result<(Vec<Vec<Entry>>, usize)> {
        let n = self.rows.n_rows();
        let pieces: Vec<(Vec<Vec<Entry>>, usize)> = (0..n.div_ceil(PIECE))
            .into_par_iter()
            .map_init(
                || Seen { stamps: vec![u32::MAX; n], now: 0, met: Vec::new() },
                |seen, piece| {
                    job.watch.check()?;
                    let range = piece * PIECE..((piece + 1) * PIECE).min(n);
                    let mut out = Vec::with_capacity(range.len());
                    let mut changes = 0;
                    for i in range {
                        seen.begin(i as u32);
                        meet(i, seen);
                        let (list, fresh) = self.merged(i, &lists[i], &seen.met);
                        changes += fresh;
                        out.push(list);
                    }
                    Ok((out, changes))
                },
            )
            .collect::<Result<_>>()?;
        let changes = pieces.iter().map(|piece| piece.1).sum();
        Ok((pieces.into_iter().flat_map(|piece| piece.0).collect(), changes))
    }

    /// The k nearest of a list and of `met`, and how many of them are new.
    fn merged(&self, i: usize, list: &[Entry], met: &[u32]) -> (Vec<Entry>, usize) {
        let mut distances = vec![0.0f32; met.len()];
        dispatch(Distances { rows: self.rows, absolute: self.absolute, i, met, out: &mut distances });
        let limit =
            if list.len() < self.k { f32::INFINITY } else { list.last().map_or(f32::INFINITY, |l| l.0) };
        let mut all: Vec<Entry> = list.iter().map(|entry| (entry.0, entry.1, false)).collect();
        let near = distances.iter().zip(met).filter(|(distance, _)| **distance <= limit);
        all.extend(near.map(|(distance, j)| (*distance, *j, true)));
        let order = |a: &Entry, b: &Entry| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if all.len() > self.k {
            all.select_nth_unstable_by(self.k - 1, order);
            all.truncate(self.k);
        }
        all.sort_unstable_by(order);
        let fresh = all.iter().filter(|entry| entry.2).count();
        (all, fresh)
    }
}

/// Rows met by one row, each once.
struct Seen {
    stamps: Vec<u32>,
    now: u32,
    met: Vec<u32>,
}

impl Seen {
    fn begin(&mut self, i: u32) {
        self.now = i;
        self.met.clear();
        self.pass(i);
    }

    fn pass(&mut self, j: u32) {
        self.stamps[j as usize] = self.now;
    }

    fn meet(&mut self, j: u32) {
        if std::mem::replace(&mut self.stamps[j as usize], self.now) != self.now {
            self.met.push(j);
        }
    }
}

/// Squares or absolute sums of differences from row i to others.
struct Distances<'a> {
    rows: &'a Matrix<f32>,
    absolute: bool,
    i: usize,
    met: &'a [u32],
    out: &'a mut [f32],
}

impl Vectorised for Distances<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let x = self.rows.row(self.i);
        for (out, j) in self.out.iter_mut().zip(self.met) {
            let y = self.rows.row(*j as usize);
            *out = if self.absolute { sum::<true>(x, y) } else { sum::<false>(x, y) };
        }
    }
}

#[inline(always)]
fn sum<const ABSOLUTE: bool>(x: &[f32], y: &[f32]) -> f32 {
    // Why eight sums: they form a vector, and none waits for another.
    let mut sums = [0.0f32; 8];
    let rest = x.len() / 8 * 8;
    let term = |x: f32, y: f32| if ABSOLUTE { (x - y).abs() } else { (x - y) * (x - y) };
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += term(*x, *y));
    }
    let tail: f32 = x[rest..].iter().zip(&y[rest..]).map(|(x, y)| term(*x, *y)).sum();
    tail + sums.iter().sum::<f32>()
}
