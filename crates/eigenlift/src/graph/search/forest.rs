//! Trees of random planes: a start for neighbours of neighbours.

use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// Rows grouped by random planes: rows of one group are likely to be near each other.
pub(super) struct Grouping {
    order: Vec<u32>,
    /// Where each group begins, and the end.
    borders: Vec<usize>,
    /// The group of each row.
    group: Vec<u32>,
}

impl Grouping {
    /// The rows of row i's group, itself among them.
    pub(super) fn mates(&self, i: usize) -> &[u32] {
        let group = self.group[i] as usize;
        &self.order[self.borders[group]..self.borders[group + 1]]
    }
}

/// `count` groupings into groups of at most `most` rows. Each half is the half of its parent that lies further along the
/// line through two of its rows, drawn at random.
///
/// Cost: 2·n·d·log₂(n/most) flops for each.
///
/// # Errors
/// When the work is cancelled.
pub(super) fn forest(
    rows: &Matrix<f32>,
    count: u32,
    most: usize,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<Grouping>> {
    (0..count)
        .into_par_iter()
        .map(|number| {
            let mut stream = Stream::numbered(seed, Purpose::Forest, number);
            let n = rows.n_rows();
            let mut order: Vec<u32> = (0..n as u32).collect();
            let mut waiting = vec![(0, n)];
            let (mut borders, mut keys) = (vec![0], vec![0.0f32; n]);
            while let Some((start, end)) = waiting.pop() {
                if end - start <= most.max(1) {
                    borders.push(end);
                    continue;
                }
                watch.check()?;
                let node = &mut order[start..end];
                split(rows, node, &mut keys, &mut stream);
                let middle = start + (end - start) / 2;
                waiting.push((middle, end));
                waiting.push((start, middle));
            }
            let mut group = vec![0; n];
            for (at, pair) in borders.windows(2).enumerate() {
                order[pair[0]..pair[1]].iter().for_each(|i| group[*i as usize] = at as u32);
            }
            Ok(Grouping { order, borders, group })
        })
        .collect()
}

/// Puts the half that lies further back first.
fn split(rows: &Matrix<f32>, node: &mut [u32], keys: &mut [f32], stream: &mut Stream) {
    let first = stream.below(node.len());
    let second = (first + 1 + stream.below(node.len() - 1)) % node.len();
    let (a, b) = (rows.row(node[first] as usize), rows.row(node[second] as usize));
    let line: Vec<f32> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    for i in node.iter() {
        keys[*i as usize] = inner(rows.row(*i as usize), &line);
    }
    let key = |i: &u32| keys[*i as usize];
    node.select_nth_unstable_by(node.len() / 2, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
}

fn inner(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let rest = x.len() / 8 * 8;
    for (x, y) in x.chunks_exact(8).zip(y.chunks_exact(8)) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    let tail: f32 = x[rest..].iter().zip(&y[rest..]).map(|(x, y)| x * y).sum();
    tail + sums.iter().sum::<f32>()
}
