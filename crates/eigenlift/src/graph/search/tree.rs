//! A k-d tree: exact neighbours in few dimensions.

use super::Metric;
use super::best::{Best, Found};
use super::rows::{Job, row_of};
use super::strip::{LANES, fill_strip, sums};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::memory::{collected, filled, joined};
use crate::simd::{Vectorised, dispatch};
use rayon::prelude::*;

/// Rows that are looked up together.
const ROWS: usize = 64;
/// Levels at most: a stack holds one node for each and one more.
const MOST_LEVELS: usize = 40;

/// Exact neighbours by a k-d tree, (G3): samples are halved at the median of their widest column until 16 are left, and a
/// box is passed by when no point of it can be a neighbour.
///
/// Cost: n·log₂(n/16)·d to build; about k·log n·d for a row in few dimensions, all n in many. Memory: the samples once more in
/// double precision and their boxes.
///
/// Why up to 8 columns by default: seconds of processor time for 10 neighbours of all rows, Gaussian columns (rows near a
/// surface favour the tree), by tree and by all distances: 20 000 rows of 3 columns 0.06 and 0.49, of 8 columns 0.62 and
/// 0.48, of 16 columns more than 6 and 0.8; 100 000 rows of 8 columns 8.0 and 9.5.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn search(job: &Job<'_>) -> Result<Vec<Vec<Found>>> {
    let tree = Tree::new(job)?;
    let n = job.rows.n_rows();
    let order: Option<&[u32]> = job.themselves.as_ref().map(|_| tree.order.as_slice());
    let lists = job.in_blocks(ROWS, |range| {
        job.watch.check()?;
        // Why in the order of the leaves: rows near each other read the same boxes.
        let rows: Vec<usize> = range.map(|at| order.map_or(at, |order| order[at] as usize)).collect();
        let mut out = Vec::with_capacity(rows.len());
        let lookup = LookUp { tree: &tree, job, rows: &rows, out: &mut out };
        dispatch(lookup);
        Ok(out)
    })?;
    let lists = joined(lists);
    let Some(order) = order else { return Ok(lists) };
    let mut sorted = vec![Vec::new(); n];
    order.iter().zip(lists).for_each(|(i, list)| sorted[*i as usize] = list);
    Ok(sorted)
}

/// Node p of level v holds places n·p/2ᵛ up to n·(p+1)/2ᵛ of the order.
struct Tree {
    n: usize,
    d: usize,
    order: Vec<u32>,
    /// A strip for each leaf.
    strips: Vec<f64>,
    /// For each level the smallest and the largest value of each column in each node.
    boxes: Vec<Vec<f64>>,
}

fn border(n: usize, level: usize, p: usize) -> usize {
    ((n as u128 * p as u128) >> level) as usize
}

impl Tree {
    fn new(job: &Job<'_>) -> Result<Self> {
        let (n, d) = (job.samples.n_rows(), job.samples.n_cols());
        let mut rows = Matrix::<f64>::zeros(n, d);
        let mut view = rows.view_mut();
        let mut buffer = vec![0.0; d];
        (0..n).for_each(|i| view.row_mut(i).copy_from_slice(row_of(job.samples, i, &mut buffer)));
        let mut order = collected(n, 0..n as u32);
        let mut boxes = Vec::new();
        let leaf_level =
            (0..MOST_LEVELS).find(|level| n.div_ceil(1 << level) <= LANES).unwrap_or(MOST_LEVELS);
        for level in 0..=leaf_level {
            job.watch.check()?;
            let mut nodes = Vec::with_capacity(1 << level);
            let mut rest = order.as_mut_slice();
            for p in 0..1usize << level {
                let (node, after) = rest.split_at_mut(border(n, level, p + 1) - border(n, level, p));
                nodes.push((node, border(n, level + 1, 2 * p + 1) - border(n, level, p)));
                rest = after;
            }
            let found: Vec<Vec<f64>> = nodes
                .into_par_iter()
                .map(|(node, half)| {
                    let bounds = bounds(&rows, node);
                    if level < leaf_level {
                        halve(&rows, node, half, &bounds);
                    }
                    bounds
                })
                .collect();
            boxes.push(found.concat());
        }
        let mut strips = filled(f64::INFINITY, (d * LANES) << leaf_level);
        strips.par_chunks_mut(d * LANES).enumerate().for_each(|(p, strip)| {
            let leaf = border(n, leaf_level, p)..border(n, leaf_level, p + 1);
            order[leaf]
                .iter()
                .enumerate()
                .for_each(|(lane, i)| fill_strip(strip, lane, rows.row(*i as usize)));
        });
        Ok(Self { n, d, order, strips, boxes })
    }

    /// A lower bound of the sum of [`sums`] from `row` to any point of a node.
    ///
    /// Numerics: the same operations in the same order as for a point; each of them rounds monotonically, so the bound holds
    /// for computed sums too.
    #[inline(always)]
    fn bound<const ABSOLUTE: bool>(&self, level: usize, p: usize, row: &[f64]) -> f64 {
        let bounds = &self.boxes[level][2 * self.d * p..2 * self.d * (p + 1)];
        let (low, high) = bounds.split_at(self.d);
        let mut sum = 0.0;
        for ((x, low), high) in row.iter().zip(low).zip(high) {
            let outside = (low - x).max(x - high).max(0.0);
            sum += if ABSOLUTE { outside } else { outside * outside };
        }
        sum
    }

    #[inline(always)]
    fn look_up<const ABSOLUTE: bool>(&self, row: &[f64], own: Option<u32>, best: &mut Best) {
        let leaf_level = self.boxes.len() - 1;
        let mut stack = [(0usize, 0usize, 0.0f64); MOST_LEVELS + 2];
        let mut height = 1;
        let mut most = if ABSOLUTE { best.limit() } else { best.limit_of_squares() };
        while height > 0 {
            height -= 1;
            let (mut level, mut p, bound) = stack[height];
            if bound > most {
                continue;
            }
            while level < leaf_level {
                level += 1;
                let left = self.bound::<ABSOLUTE>(level, 2 * p, row);
                let right = self.bound::<ABSOLUTE>(level, 2 * p + 1, row);
                let (near, far, far_bound) =
                    if left <= right { (2 * p, 2 * p + 1, right) } else { (2 * p + 1, 2 * p, left) };
                if far_bound <= most {
                    stack[height] = (level, far, far_bound);
                    height += 1;
                }
                p = near;
            }
            let strip = &self.strips[p * self.d * LANES..(p + 1) * self.d * LANES];
            let sums = sums::<ABSOLUTE>(row, strip);
            if sums.iter().fold(true, |none, sum| none & (*sum > most)) {
                continue;
            }
            let leaf = &self.order[border(self.n, leaf_level, p)..border(self.n, leaf_level, p + 1)];
            for (sum, sample) in sums.iter().zip(leaf) {
                if *sum <= most && own != Some(*sample) {
                    best.offer(if ABSOLUTE { *sum } else { sum.sqrt() }, *sample);
                    most = if ABSOLUTE { best.limit() } else { best.limit_of_squares() };
                }
            }
        }
    }
}

/// Smallest and largest values of the columns.
fn bounds(rows: &Matrix<f64>, node: &[u32]) -> Vec<f64> {
    let d = rows.n_cols();
    let mut bounds = vec![f64::INFINITY; 2 * d];
    bounds[d..].fill(f64::NEG_INFINITY);
    let (low, high) = bounds.split_at_mut(d);
    for i in node {
        for ((x, low), high) in rows.row(*i as usize).iter().zip(low.iter_mut()).zip(high.iter_mut()) {
            *low = low.min(*x);
            *high = high.max(*x);
        }
    }
    bounds
}

/// Puts the `half` samples with the smallest values of the widest column first.
///
/// Why by place and not by value: duplicates are halved too, and the depth is bounded.
fn halve(rows: &Matrix<f64>, node: &mut [u32], half: usize, bounds: &[f64]) {
    let (low, high) = bounds.split_at(rows.n_cols());
    let spread = |j: usize| high[j] - low[j];
    let widest = (1..low.len()).fold(0, |best, j| if spread(j) > spread(best) { j } else { best });
    if half > 0 && half < node.len() {
        let value = |i: &u32| rows.row(*i as usize)[widest];
        node.select_nth_unstable_by(half, |a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
    }
}

/// Looks up some rows.
struct LookUp<'a> {
    tree: &'a Tree,
    job: &'a Job<'a>,
    rows: &'a [usize],
    out: &'a mut Vec<Vec<Found>>,
}

impl Vectorised for LookUp<'_> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let mut row = vec![0.0; self.tree.d];
        for i in self.rows {
            self.job.rows.copy_row(*i, &mut row);
            let (mut best, own) = (Best::new(self.job.reach), self.job.own(*i));
            if self.job.metric == Metric::Manhattan {
                self.tree.look_up::<true>(&row, own, &mut best);
            } else {
                self.tree.look_up::<false>(&row, own, &mut best);
            }
            self.out.push(best.into_list());
        }
    }
}
