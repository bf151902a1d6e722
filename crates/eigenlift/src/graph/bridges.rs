//! The fewest shortest edges that join a graph's components.

mod groups;
mod round;
mod rows;
#[cfg(test)]
mod tests;

use super::symmetric::Edge;
use super::{Components, Space};
use crate::data::AnyPoints;
use crate::error::{Error, Result};
use crate::progress::Watch;
use groups::GroupTree;
use rayon::prelude::*;
use round::Round;
use rows::BridgeRows;
use std::cmp::Ordering;

const STAGE: &str = "bridges";

/// A minimum spanning tree between components: count − 1 edges, each the shortest between two sets of components, (G4).
///
/// Edges are ordered by (length, from, to) with from < to, which makes the tree unique; they come in that order. It grows
/// in at most log₂ count rounds, in each of which every set but the largest finds its shortest edge outwards (Borůvka).
///
/// Cost: for components that lie apart, each round takes a few n·d for each pair of neighboring ones; components that lie
/// within each other cost at worst all distances between them. Memory: a copy of the rows, or one row of distances on each
/// thread.
///
/// # Errors
/// When neighbours came as lists, `x` has another number of rows than the graph, or the work is cancelled.
pub(crate) fn bridges(
    space: &Space,
    x: AnyPoints<'_>,
    components: &Components,
    watch: &Watch,
) -> Result<Vec<Edge>> {
    check(space, x, components)?;
    if components.count() <= 1 {
        return Ok(Vec::new());
    }
    match space {
        Space::Rows { metric, .. } => {
            let rows = BridgeRows::new(x, *metric);
            let tree = GroupTree::new(&rows, components);
            span(components, watch, |sets| Round::new(&rows, &tree, sets, watch).shortest_outwards())
        }
        _ => span(components, watch, |sets| shortest_by_distances(x, sets, watch)),
    }
}

fn check(space: &Space, x: AnyPoints<'_>, components: &Components) -> Result<()> {
    let (n, count) = (components.labels().len(), components.count());
    if matches!(space, Space::Lists { .. }) && count > 1 {
        return Err(Error::data(
            format!("the graph has {count} components (number of connected components is {count})"),
            "bridges between them need distances between rows, and neighbours were given as lists",
            "Give the rows, or treat components as separate, keep the largest, or stop with an error",
        ));
    }
    let square = !matches!(space, Space::Distances { .. }) || x.n_cols() == n;
    if count > 1 && (x.n_rows() != n || !square) {
        return Err(Error::data(
            format!("{} × {} numbers for a graph of {n} rows", x.n_rows(), x.n_cols()),
            format!("bridges need the {n} rows of the graph, or all distances between them"),
            "Give the rows that the graph was made of",
        ));
    }
    Ok(())
}

/// Which set each row is in while sets are being joined.
struct Sets {
    /// The set of each row; a set is named by one of its components.
    of_rows: Vec<u32>,
    /// The largest set, the first of several. It need not search: every other set finds its way out.
    largest: u32,
    /// Sets and names of former ones.
    n_names: usize,
}

/// Joins sets by the edges that `shortest` finds outwards of each until one is left.
fn span(
    components: &Components,
    watch: &Watch,
    shortest: impl Fn(&Sets) -> Result<Vec<Option<Edge>>>,
) -> Result<Vec<Edge>> {
    let count = components.count();
    let mut names: Vec<u32> = (0..count as u32).collect();
    let mut chosen = Vec::with_capacity(count - 1);
    while chosen.len() + 1 < count {
        watch.step(STAGE, chosen.len(), count - 1)?;
        let mut sizes = vec![0usize; count];
        names.iter().zip(components.sizes()).for_each(|(name, size)| sizes[*name as usize] += size);
        let size = sizes.iter().copied().max().unwrap_or(0);
        let largest = sizes.iter().position(|s| *s == size).unwrap_or(0) as u32;
        let of_rows = components.labels().iter().map(|label| names[*label as usize]).collect();
        let sets = Sets { of_rows, largest, n_names: count };
        let mut found: Vec<Edge> = shortest(&sets)?.into_iter().flatten().collect();
        found.sort_by(order);
        let before = chosen.len();
        for edge in found {
            let name = |row: usize| names[components.labels()[row] as usize];
            let (kept, gone) = (name(edge.from), name(edge.to));
            if kept != gone {
                names.iter_mut().filter(|name| **name == gone).for_each(|name| *name = kept);
                chosen.push(edge);
            }
        }
        if chosen.len() == before {
            break;
        }
    }
    chosen.sort_by(order);
    watch.step(STAGE, count - 1, count - 1)?;
    Ok(chosen)
}

/// By length, then by ends.
fn order(a: &Edge, b: &Edge) -> Ordering {
    a.length.total_cmp(&b.length).then((a.from, a.to).cmp(&(b.from, b.to)))
}

/// Takes the edge between i and j if it comes before the best so far.
#[inline]
fn offer(best: &mut Option<Edge>, i: usize, j: usize, length: f64) {
    let edge = Edge { from: i.min(j), to: i.max(j), length };
    if best.as_ref().is_none_or(|best| order(&edge, best) == Ordering::Less) {
        *best = Some(edge);
    }
}

/// The first edge out of each set among those found for single rows.
fn first_of_sets(found: Vec<(u32, Option<Edge>)>, n_names: usize) -> Vec<Option<Edge>> {
    let mut best = vec![None; n_names];
    for (set, edge) in found {
        if let Some(edge) = edge {
            offer(&mut best[set as usize], edge.from, edge.to, edge.length);
        }
    }
    best
}

/// Reads the distances row by row.
fn shortest_by_distances(x: AnyPoints<'_>, sets: &Sets, watch: &Watch) -> Result<Vec<Option<Edge>>> {
    let n = sets.of_rows.len();
    let searching: Vec<usize> = (0..n).filter(|i| sets.of_rows[*i] != sets.largest).collect();
    let found: Result<Vec<(u32, Option<Edge>)>> = searching
        .par_iter()
        .map_init(
            || vec![0.0; n],
            |row, i| {
                watch.check()?;
                x.copy_row(*i, row);
                let (own, mut best) = (sets.of_rows[*i], None);
                for (j, length) in row.iter().enumerate() {
                    if sets.of_rows[j] != own {
                        offer(&mut best, *i, j, *length);
                    }
                }
                Ok((own, best))
            },
        )
        .collect();
    Ok(first_of_sets(found?, sets.n_names))
}
