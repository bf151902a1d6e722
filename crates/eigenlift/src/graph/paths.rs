//! Shortest paths.

mod dijkstra;
mod groups;
mod links;
mod relaxation;
mod spread;
#[cfg(test)]
mod tests;

pub use spread::spread_sources;

use super::symmetric::Graph;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Watch;
use dijkstra::Dijkstra;
use groups::Groups;
use rayon::prelude::*;
use relaxation::{LANES, Relaxation};

const STAGE: &str = "shortest paths";

/// Fewer sources than this are searched one by one. Why 8: below it a batch costs more than its searches.
const FEWEST_TOGETHER: usize = 8;

/// From this many sources on, [`LARGE_GROUP`] of them share an order of the vertices.
const MANY: usize = 1024;
const LARGE_GROUP: usize = 4 * LANES;

/// Groups between two reports of progress.
const ROUND: usize = 32;

/// Shortest paths from one vertex.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathTree {
    /// Distance to each vertex; infinite where there is no path.
    pub distances: Vec<f64>,
    /// The vertex before each on its path; itself at the source, `u32::MAX` where there is no path.
    pub parents: Vec<u32>,
    /// Vertices that can be reached, nearest first.
    pub order: Vec<u32>,
}

/// Shortest paths from `source`, (G5); a source that is no vertex reaches none.
///
/// Of several shortest paths the one is taken whose last vertex was reached first; of vertices at the same distance the one
/// with the smaller number.
///
/// Cost: O(edges + vertices · log vertices).
pub(crate) fn shortest_paths(graph: &Graph, source: usize) -> PathTree {
    let mut search = Dijkstra::new(graph.n_vertices());
    search.add(source);
    search.finish(graph);
    PathTree { distances: search.distances, parents: search.parents, order: search.order }
}

/// Distances from each of `sources` to every vertex, one row for each source; infinite where there is no path.
///
/// From 8 sources on, near-by ones are relaxed together in batches of 16, (G6); fewer are searched one by one, (G5). Both
/// give the same bits.
///
/// Cost: a search for each batch (for every fourth from 1024 sources on) and 4 to 8 sweeps over the edges; more where
/// sources are far apart. Memory beside the result: on each thread 190 bytes for each vertex, of which 128 are the batch, and
/// 24 for each edge; once more 24 for each edge.
///
/// # Errors
/// When a source is no vertex, or the work is cancelled.
pub fn distances_from(graph: &Graph, sources: &[usize], watch: &Watch) -> Result<Matrix<f64>> {
    check(graph, sources)?;
    if sources.len() < FEWEST_TOGETHER {
        return one_by_one(graph, sources, watch);
    }
    let size = if sources.len() < MANY { LANES } else { LARGE_GROUP };
    let plan = Groups::new(graph, sources, size);
    let n = graph.n_vertices();
    let mut out = Matrix::zeros(sources.len(), n);
    let mut rows: Vec<Option<&mut [f64]>> = out.as_mut_slice().chunks_mut(n.max(1)).map(Some).collect();
    for (round, groups) in plan.groups.chunks(ROUND).enumerate() {
        watch.step(STAGE, round * ROUND, plan.groups.len())?;
        let mut own = |m: &u32| rows[*m as usize].take();
        let work: Vec<_> = groups
            .iter()
            .map(|group| (group, group.members.iter().filter_map(&mut own).collect::<Vec<_>>()))
            .collect();
        work.into_par_iter().try_for_each_init(
            || Relaxation::new(n),
            |relaxation, (group, mut rows)| {
                relaxation.arrange(&plan, group);
                for (members, rows) in group.members.chunks(LANES).zip(rows.chunks_mut(LANES)) {
                    relaxation.relax(members.iter().map(|m| sources[*m as usize]), watch)?;
                    relaxation.write(rows);
                }
                Ok::<(), Error>(())
            },
        )?;
    }
    watch.step(STAGE, plan.groups.len(), plan.groups.len())?;
    Ok(out)
}

/// Distances between all vertices, n × n, as [`distances_from`] gives them.
///
/// # Errors
/// When the work is cancelled.
pub fn all_distances(graph: &Graph, watch: &Watch) -> Result<Matrix<f64>> {
    distances_from(graph, &(0..graph.n_vertices()).collect::<Vec<_>>(), watch)
}

/// The transpose of [`distances_from`]: a row for each vertex, a column for each source, without a second copy.
///
/// Cost and memory: as [`distances_from`]; below 8 sources a second copy is made after all.
///
/// # Errors
/// As [`distances_from`].
pub fn distances_to(graph: &Graph, sources: &[usize], watch: &Watch) -> Result<Matrix<f64>> {
    check(graph, sources)?;
    let n = graph.n_vertices();
    if sources.len() < FEWEST_TOGETHER {
        let rows = one_by_one(graph, sources, watch)?;
        return Ok(Matrix::from_fn(n, sources.len(), |v, source| rows[(source, v)]));
    }
    let plan = Groups::new(graph, sources, LANES);
    let mut out = Matrix::zeros(n, sources.len());
    // Why as many as threads: only memory depends on it, not one bit of the result.
    let together = rayon::current_num_threads().min(plan.groups.len());
    let mut workers: Vec<Relaxation> = (0..together).map(|_| Relaxation::new(n)).collect();
    for (round, groups) in plan.groups.chunks(together.max(1)).enumerate() {
        watch.step(STAGE, round * together, plan.groups.len())?;
        // Sources at one vertex may fill a group further than its lanes.
        let passes = groups.iter().map(|group| group.members.len().div_ceil(LANES)).max().unwrap_or(0);
        workers.par_iter_mut().zip(groups).for_each(|(worker, group)| worker.arrange(&plan, group));
        for pass in 0..passes {
            let members =
                |group: &'_ groups::Group| group.members.chunks(LANES).nth(pass).unwrap_or(&[]).to_vec();
            let batches: Vec<Vec<u32>> = groups.iter().map(members).collect();
            workers.par_iter_mut().zip(&batches).try_for_each(|(worker, batch)| {
                worker.relax(batch.iter().map(|m| sources[*m as usize]), watch)
            })?;
            out.as_mut_slice().par_chunks_mut(sources.len()).with_min_len(256).enumerate().for_each(
                |(v, row)| {
                    for (worker, batch) in workers.iter().zip(&batches) {
                        batch.iter().zip(worker.lanes(v)).for_each(|(m, d)| row[*m as usize] = *d);
                    }
                },
            );
        }
    }
    watch.step(STAGE, plan.groups.len(), plan.groups.len())?;
    Ok(out)
}

fn one_by_one(graph: &Graph, sources: &[usize], watch: &Watch) -> Result<Matrix<f64>> {
    watch.step(STAGE, 0, sources.len())?;
    let n = graph.n_vertices();
    let mut out = Matrix::zeros(sources.len(), n);
    out.as_mut_slice().par_chunks_mut(n.max(1)).zip(sources).try_for_each_init(
        || Dijkstra::new(n),
        |search, (row, source)| {
            watch.check()?;
            search.clear();
            search.add(*source);
            search.finish(graph);
            row.copy_from_slice(&search.distances);
            Ok::<(), Error>(())
        },
    )?;
    watch.step(STAGE, sources.len(), sources.len())?;
    Ok(out)
}

fn check(graph: &Graph, sources: &[usize]) -> Result<()> {
    match sources.iter().find(|source| **source >= graph.n_vertices()) {
        None => Ok(()),
        Some(source) => Err(Error::data(
            format!("row {} as a source of paths", source + 1),
            format!("the graph has {} rows", graph.n_vertices()),
            "Name rows of the graph",
        )),
    }
}
