//! Sources spread over a graph.

use super::dijkstra::Dijkstra;
use super::{STAGE, distances_to};
use crate::error::Result;
use crate::graph::Graph;
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};

/// `count` vertices spread over the graph in the order of choice, and the n × `count` matrix of distances to them.
///
/// The first half is drawn uniformly. Each further one is the vertex farthest from those chosen so far, argmax_v
/// min_s d(s, v), (G22); ties go to the smaller number, and a vertex that none reaches counts as farthest. At most all
/// vertices are chosen.
///
/// Cost: of the choice one search over the graph, then for each vertex n steps and a search that is cut off where another
/// chosen vertex is as near; then as [`distances_to`].
///
/// Numerics: the cut is exact. Rounded addition is monotone, so a path that is no shorter than another at some vertex is
/// no shorter beyond it.
///
/// # Errors
/// When the work is cancelled.
pub fn spread_sources(
    graph: &Graph,
    count: usize,
    seed: u64,
    watch: &Watch,
) -> Result<(Vec<usize>, Matrix<f64>)> {
    let n = graph.n_vertices();
    let count = count.min(n);
    let mut chosen = Stream::new(seed, Purpose::Landmarks).rows(n, count.div_ceil(2));
    let mut search = Dijkstra::new(n);
    chosen.iter().for_each(|source| search.add(*source));
    search.finish(graph);
    // Chosen vertices are at −1, so that they come after copies of themselves.
    let mut nearest = search.distances.clone();
    chosen.iter().for_each(|source| nearest[*source] = -1.0);
    while chosen.len() < count {
        watch.check()?;
        let source = farthest(&nearest);
        chosen.push(source);
        search.clear();
        search.add(source);
        while let Some(v) = search.next(graph, |to, through| through < nearest[to]) {
            nearest[v] = search.distances[v];
        }
        nearest[source] = -1.0;
    }
    watch.step(STAGE, 0, count)?;
    let distances = distances_to(graph, &chosen, watch)?;
    Ok((chosen, distances))
}

/// The first of the largest.
fn farthest(nearest: &[f64]) -> usize {
    let largest = nearest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    nearest.iter().position(|d| *d == largest).unwrap_or(0)
}
