//! How many shortest paths take an edge.

use super::trust::Numbered;
use crate::error::Result;
use crate::graph::paths::shortest_paths;
use crate::graph::symmetric::Graph;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use rayon::prelude::*;

/// Vertices from which paths are counted.
const SOURCES: usize = 64;
/// Trees between two reports of progress.
const ROUND: usize = 8;

/// For each edge the number of shortest paths from 64 drawn vertices that take it, divided by the median over edges that any
/// path takes; and the number of sources, (G25).
///
/// Cost: 64 searches over all vertices. Numerics: counts are integers, so their sum has no order.
pub(super) fn of_edges(
    graph: &Graph,
    edges: &Numbered,
    seed: u64,
    watch: &Watch,
) -> Result<(Vec<f64>, usize)> {
    let sources = Stream::new(seed, Purpose::FlowSources).rows(graph.n_vertices(), SOURCES);
    let mut counts = vec![0u64; edges.list.len()];
    for (round, block) in sources.chunks(ROUND).enumerate() {
        watch.step("flow over edges", round * ROUND, sources.len())?;
        let loads: Vec<Vec<(u32, u32)>> =
            block.par_iter().map(|source| loads(graph, edges, *source)).collect();
        loads.iter().flatten().for_each(|(edge, paths)| counts[*edge as usize] += u64::from(*paths));
    }
    let mut used: Vec<u64> = counts.iter().copied().filter(|count| *count > 0).collect();
    let middle = used.len() / 2;
    let median = if used.is_empty() { 1 } else { *used.select_nth_unstable(middle).1 };
    Ok((counts.iter().map(|count| *count as f64 / median as f64).collect(), sources.len()))
}

/// The edges of one tree of shortest paths, each with the number of vertices beyond it.
fn loads(graph: &Graph, edges: &Numbered, source: usize) -> Vec<(u32, u32)> {
    let tree = shortest_paths(graph, source);
    let mut beyond = vec![1u32; graph.n_vertices()];
    let mut loads = Vec::with_capacity(tree.order.len());
    for v in tree.order.iter().rev().map(|v| *v as usize) {
        let parent = tree.parents[v] as usize;
        if parent != v {
            beyond[parent] += beyond[v];
            if let Some(edge) = edges.between(graph, v, parent) {
                loads.push((edge, beyond[v]));
            }
        }
    }
    loads
}
